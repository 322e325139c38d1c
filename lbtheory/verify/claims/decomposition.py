"""Decomposition of a step: what survives is the old load, contracted, plus noise of the coins."""

from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, close, together

ORDER = 130


def check(laboratory: Laboratory) -> Verdict:
    """Pathwise, at iterations that follow a full one."""
    loads, slots = [], []
    for run in laboratory.runs("io", "spread-lex", "jsq", "random"):
        q, size = float(run.system.q), run.system.slots
        full = run.full[:-1]
        made = q * (run.loads[:-1] + size) + run.noise(0)
        loads += list(zip(run.survivors[1:][full].ravel(), made[full].ravel(), strict=True))
        slots += list(zip(run.free[1:][full].ravel(), run.coins[1:].sum(axis=2)[full].ravel(), strict=True))
    return together(
        [close(loads, 1e-12, "loads of survivors"), close([(float(a), float(b)) for a, b in slots], 0.0, "c_g = Σ_b ξ_gb")]
    )


CLAIM = Claim(
    id="decomposition",
    statement="a_g = q(L_g^old + B) + ζ_g,  ζ_g = −Σ_b (ξ_gb − p)(w_gb + 1) = E_g(0),  c_g = Σ_b ξ_gb",
    source="decode paper, EC.1.2",
    hypotheses=("the system is full at k−1",),
    kind=Kind.PROVED,
    check=check,
)
