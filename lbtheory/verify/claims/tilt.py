"""The tilted slot law: variance, drift and third moments."""

import math

import numpy as np

from lbtheory.theory.tilting import lambda_limit, lower_bound_constants, tilted_slot
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, at_most, together

ORDER = 230


def check(laboratory: Laboratory) -> Verdict:
    """On a grid of tilts for several systems; ball arithmetic certifies the same rows at given parameters."""
    rows: dict[str, tuple[list[float], list[float]]] = {}

    def add(name: str, small: float, large: float) -> None:
        rows.setdefault(name, ([], []))
        rows[name][0].append(small)
        rows[name][1].append(large)

    for of in [*laboratory.systems, *laboratory.published]:
        variance, limit, q = float(of.slot_variance), lambda_limit(of.p, of.s), float(of.q)
        explicit = lower_bound_constants(of).berry_esseen
        for tilt in np.linspace(0, limit, 17):
            slot = tilted_slot(of.p, of.law, float(tilt))
            tilted = q * math.exp(tilt)
            add("σ²/2 ≤ σ_λ²", variance / 2, slot.variance)
            add("σ_λ² ≤ 8σ²", slot.variance, 8 * variance)
            add("½σ²λ ≤ K'(λ)", variance * tilt / 2, slot.shift + 1e-9)
            add("K'(λ) ≤ 8σ²λ", slot.shift, 8 * variance * tilt + 1e-9)
            add("E_λ A³ ≤ 6 q_λ/p_λ³", slot.age_third, 6 * tilted / (1 - tilted) ** 3)
            add("Berry–Esseen ratio ≤ R_BE", slot.berry_esseen, explicit)
            add("e^λ ≤ √2", math.exp(tilt), math.sqrt(2) * (1 + 1e-15))
            add("q_λ ≤ 2q", tilted, 2 * q)
            add("p/2 ≤ p_λ", (1 - q) / 2, (1 - tilted) * (1 + 1e-12))
            add("2λ(s−1) ≤ log 2", 2 * tilt * (of.s - 1), math.log(2) * (1 + 1e-15))
    return together([at_most(small, np.array(large), name) for name, (small, large) in rows.items()], _tried(rows))


def _tried(rows: dict[str, tuple[list[float], list[float]]]) -> str:
    return f"{len(rows)} inequalities at {len(next(iter(rows.values()))[0])} tilts each"


CLAIM = Claim(
    id="tilt",
    statement="σ²/2 ≤ σ_λ² ≤ 8σ²;  ½σ²λ ≤ K'(λ) ≤ 8σ²λ;  E_λA³ = q_λ(1+4q_λ+q_λ²)/p_λ³ ≤ 6q_λ/p_λ³  for λ ≤ λ₀",
    source="decode paper, EC.1.5; λ₀ and R_BE are our explicit choices",
    hypotheses=("0 ≤ λ ≤ λ₀",),
    kind=Kind.PROVED,
    check=check,
)
