"""Sharper bounds on the second moment of the noise, and on its excess."""

import numpy as np

from lbtheory.theory.excess import computed_excess
from lbtheory.theory.theorem1 import second_moment, sharper, system
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, mean_at_most, together

ORDER = 410


def check(laboratory: Laboratory) -> Verdict:
    """Draws with prompts of any size and with every prompt at its worst; the excess where it is neither 0 nor trivial."""
    base, parts = laboratory.systems[0], []
    rng, p, s, count = laboratory.rng("sharper"), float(base.p), base.s, laboratory.size(1500, 20_000)
    for slots in (6, 60, 600):
        of = system(base.p, base.law, 4, slots)
        mu2 = float(second_moment(of.p, s))
        square = s**2 * (1 - float(of.q) ** (s + 1)) + float(of.q) ** (s + 1) * mu2
        bound = 2 * of.n * p * (1 - p) * (mu2 + square)
        excess = min(computed_excess(of), sharper(of).epsilon)
        for name, prompts in (("uniform prompts", None), ("every prompt s", s), ("every prompt 1", 1)):
            shape = (count, 4, slots)
            w = (rng.integers(1, s + 1, shape) if prompts is None else prompts) + rng.geometric(p, shape) - 1
            coins = (rng.random(shape) < p) - p
            noise = np.concatenate([(coins * (t - w - 1)).sum(axis=2) for t in (0, s + 1)], axis=1)
            spread = noise.max(axis=1) - noise.min(axis=1)
            parts.append(mean_at_most(spread**2, bound, f"E u*², B = {slots}, {name}"))
            parts.append(mean_at_most(np.maximum(spread - slots * p, 0), excess, f"E(u*−Bp)₊, B = {slots}, {name}"))
    return together(parts, f"{len(parts)} moments over {count:,} draws")


CLAIM = Claim(
    id="sharper-moment",
    statement="E u*² ≤ 2npq(μ₂ + E max(s, A_*)²) ≤ 4npq μ₂;  E(u* − Bp)₊ ≤ Σ_{g,t} min_θ (bounds from the ghost-age law)",
    source="ours (section 6.4.2)",
    hypotheses=("every policy of the model",),
    kind=Kind.OURS,
    check=check,
)
