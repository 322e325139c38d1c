"""Lemmas 4 and 5 of the DLB paper: the drift with the mixed-delay routing gap, and how negative that gap can be in sum.

Lemma 4: ``V + Φ`` falls at least as fast as ``ΣD_j + Σλ_i S_i^τ − ΣλΓ^p``. As ``Γ^p = Γ + c*_ij (y_ij(t−τ) − y_ij(t))``, it
is the drift identity less the slack. Lemma 5: shifting time leaves two intervals of length at most ``τ_ij``.
"""

from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.flow_lemmas import Split, end_pieces, splits
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, at_most, together

ORDER = 612
KINKS = 2e-2
"""Of the trapezoidal rule, which is of first order in the step where a history jumps."""
ROUNDING = 1e-9


def least(one: Split) -> float:
    """Lemma 5: ``∫ΣλS ≥ 0`` at the current time, less the end pieces."""
    return -end_pieces(one.run.of)


def check(laboratory: Laboratory) -> Verdict:
    """Integrated over the shared trajectories: ``V + Φ`` at the end is not negative, so the drift bounds the gaps."""
    found = splits(laboratory)
    gaps, bounds = [], []
    for one in found:
        run, of = one.run, one.run.of
        start = float((of.arrivals * of.distance(run.start.routing)).sum()) / (2 * run.eta)
        mismatch = one.bounded + one.tail + (one.mixed - one.now)  # of the paper's Γ
        end = float((of.arrivals * of.distance(run.trajectory.routing[-1])).sum()) / (2 * run.eta)
        change = end + float(of.potential(run.measured.last).sum()) - start - run.known.first.initial
        scale = max(1.0, start + run.known.first.initial)
        gaps.append((change + one.gap + one.mixed - mismatch) / scale)
        bounds.append(KINKS)
    return together(
        [
            at_most(gaps, bounds, "trajectories: change of V + Φ against −∫(D + S^τ) + ∫Γ^p, relative to V + Φ at 0"),
            at_most([least(one) for one in found], [one.mixed + ROUNDING for one in found], "trajectories: ∫S^τ"),
        ]
    )


CLAIM = Claim(
    id="flow-lemma-4",
    statement="d/dt(V + Φ) ≤ −Σ D_j − Σ λ_i S_i^τ + Σ λ_i Γ^p_ij;  ∫Σ λ_i S_i^τ ≥ −2 Σ λ_i τ_ij c*_ij",
    source="DLB paper, Lemmas 4 and 5",
    hypotheses=("flow routing", "Assumptions 1 to 3"),
    kind=Kind.PROVED,
    check=check,
)
