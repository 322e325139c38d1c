"""Tails and second moments of the noise."""

import math

import numpy as np

from lbtheory.theory.theorem1 import System, constants, second_moment, system
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, mean_at_most, together

ORDER = 170


def check(laboratory: Laboratory) -> Verdict:
    """At sizes where the bounds are not trivial, with every slot at its worst (``w = s + X``); moments also on trajectories."""
    of = laboratory.systems[0]
    large = system(of.p, of.law, 2, laboratory.size(30_000, 60_000))
    noise, drift = _noise(large, laboratory), large.slots * float(of.p)
    spread = noise.max(axis=(1, 2)) - noise.min(axis=(1, 2))
    tail = math.exp(-constants(large).kappa * large.slots)
    parts = [
        mean_at_most(noise[:, t, 0] > drift / 2, tail, f"P(E_g(t) > Bp/2) ≤ {tail:.3g}, B = {large.slots:,}") for t in (0, 1)
    ]
    parts.append(mean_at_most(spread > drift, min(1.0, 8 * tail), "P(u* > Bp)"))
    for one in laboratory.systems[:2]:
        bound = one.slots * float(one.p * one.q * second_moment(one.p, one.s))
        for policy in ("io", "jsq"):
            for t in (0, one.s + 1):
                moments = [
                    float(one.p * one.q) * ((t - run.workloads[1:] - 1.0) ** 2).sum(axis=2).mean()
                    for run in laboratory.short_runs(one, policy)
                ]
                parts.append(mean_at_most(moments, bound, f"E E_g({t})², {policy}"))
    return together(
        parts, f"{len(noise):,} draws at B = {large.slots:,}; {len(parts) - 3} moments over {len(moments)} independent runs"
    )


def _noise(of: System, laboratory: Laboratory) -> np.ndarray:
    """Draws of ``E_g(t)``, (replications, t, g), every slot at its worst."""
    rng, p = laboratory.rng("tail"), float(of.p)
    found = []
    for _ in range(laboratory.size(300, 2000)):
        w = of.s + rng.geometric(p, (of.workers, of.slots)) - 1
        coins = (rng.random((of.workers, of.slots)) < p) - p
        found.append([(coins * (t - w - 1)).sum(axis=1) for t in (0, of.s + 1)])
    return np.array(found)


CLAIM = Claim(
    id="tail",
    statement="P(E_g(t) > Bp/2) ≤ e^{−κB};  P(u* > Bp) ≤ min{1, 4G e^{−κB}};  E E_g(t)² ≤ B p q μ₂",
    source="decode paper, EC.1.3",
    hypotheses=("every policy of the model",),
    kind=Kind.PROVED,
    check=check,
)
