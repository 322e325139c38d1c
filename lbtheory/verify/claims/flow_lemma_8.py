"""Lemmas 8 and 9 of the DLB paper: the bounded component and the tail of the mismatch; and that ``K_4`` is finite.

Lemma 8: ``∫ΣλΓ^β ≤ 2ΣA_i + η̄ T ΣA_i C_i + ¼(∫ΣD + H')`` for stepsizes up to the ``η_0`` of these thresholds. Lemma 9:
``∫ΣλΓ^e ≤ ¼∫ΣD + B + Σ_j E_j e_j(N_j(T) + 2vτ̄)``. With the paper's thresholds ``K_4 = 0`` as well: ``E_j e_j(N + 2vτ̄) ≤
Φ_j(N)``.
"""

import numpy as np

from lbtheory.fluid.guarantee import Guarantee
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.flow_cases import runs
from lbtheory.verify.flow_lemmas import Split, largest_stepsize, paper_thresholds, reach, split, splits
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, at_most, inapplicable, together

ORDER = 616


def bounded_right(one: Split) -> float:
    """Right side of Lemma 8; NaN where the stepsize is too large for it."""
    run, of = one.run, one.run.of
    A, C = reach(of, one.bars)
    if run.eta > largest_stepsize(of, one.bars):
        return float("nan")
    return 2 * float(A.sum()) + run.eta * run.horizon * float(A @ C) + one.gap / 4 + run.known.first.history


def stepsize(known: Guarantee) -> float:
    """The largest that Lemma 8 allows."""
    bars = paper_thresholds(known.gaps)
    return float("nan") if any(bars.why) else min(largest_stepsize(known.gaps, bars), 20.0)


def tail_right(one: Split) -> float:
    """Right side of Lemma 9."""
    run, of, top = one.run, one.run.of, one.bars.above
    longest = of.network.longest_latency
    past = run.start.before(of.network)[1].max(axis=0)
    early = np.maximum(of.cost(run.start.workloads + 2 * longest * of.offered) - top, 0)
    before = np.maximum(of.cost(past) - top, 0)
    late = np.maximum(of.cost(run.measured.last + one.bars.step) - top, 0)
    weight = of.arrivals @ of.latency
    return one.gap / 4 + float(weight @ (2 * early + before + late))


def check(laboratory: Laboratory) -> Verdict:
    """The shared trajectories, half of them started in the tails."""
    found = list(splits(laboratory))
    found += [one for one in map(split, runs(laboratory, "lemma 8", stepsize, 8, 200)) if one is not None]
    small = [one for one in found if np.isfinite(bounded_right(one))]
    if not small:
        return inapplicable("no trajectory has a stepsize small enough for Lemma 8")
    absorbed = []
    for one in found:
        of = one.run.of
        for factor in (0.5, 1.0, 2.0, 10.0):
            n = one.bars.workloads * factor
            e = np.maximum(of.cost(n + one.bars.step) - one.bars.above, 0)
            absorbed.append(float(((of.arrivals @ of.latency) * e - of.potential(n)).max()))
    return together(
        [
            at_most([one.bounded for one in small], [bounded_right(one) for one in small], "trajectories: bounded part", 1e-6),
            at_most([one.tail for one in found], [tail_right(one) for one in found], "trajectories: tail", 1e-6),
            at_most(absorbed, 0.0, "workloads: E e(N + 2vτ̄) ≤ Φ(N), so K_4 = 0"),
        ]
    )


CLAIM = Claim(
    id="flow-lemma-8",
    statement="∫Σ λΓ^β ≤ 2Σ A_i + ηT Σ A_i C_i + ¼(∫Σ D + history);  ∫Σ λΓ^e ≤ ¼∫Σ D + B + Σ E_j e_j(N_j(T) + 2vτ̄);  K_4 = 0",
    source="DLB paper, Lemmas 8 and 9 and the lemma on K_4",
    hypotheses=("Assumptions 1 to 3", "Lemma 8: stepsizes up to η_0"),
    kind=Kind.PROVED,
    check=check,
)
