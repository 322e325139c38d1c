"""The projection onto the tangent cone: Lemma 10 of the DLB paper, and the oscillation bound.

Checked by hand: Moreau's decomposition; ``θ`` is a mean of active values, so a component is at most the oscillation of ``z``.
"""

import numpy as np

from lbtheory.fluid.dynamics import tangent_projection
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, at_most, together

ORDER = 605


def check(laboratory: Laboratory) -> Verdict:
    """Points inside, on faces and at vertices; ties in the target; other points of the simplex drawn and at vertices."""
    rng = laboratory.rng("flow", "tangent")
    contraction, sizes, paper, moreau, feasible = [], [], [], [], []
    for _ in range(laboratory.size(3000, 30000)):
        d = int(rng.integers(2, 9))
        x, other = rng.dirichlet(np.ones(d)), rng.dirichlet(0.3 * np.ones(d))
        x[rng.random(d) < 0.4] = 0.0
        x = np.eye(d)[0] if x.sum() == 0 else x / x.sum()
        z = rng.integers(-3, 4, d) * 1.0 if rng.random() < 0.3 else rng.normal(0, 3, d)
        v = tangent_projection(x, z)
        points = np.vstack([other, np.eye(d)])
        contraction.append(float(((x - points) @ (v - z)).max()))
        sizes.append(float(np.abs(v).max() - (z.max() - z.min())))
        paper.append(float(np.abs(v).max() - 2 * np.abs(z).max()))
        moreau.append(abs(float(v @ (z - v))))
        feasible.append(max(abs(float(v.sum())), float(-v[x == 0].min(initial=0.0))))
    rounding = 1e-12
    return together(
        [
            at_most(contraction, rounding, "pairs: (x − x')ᵀv ≤ (x − x')ᵀz"),
            at_most(sizes, rounding, "‖v‖_∞ ≤ max z − min z"),
            at_most(paper, rounding, "‖v‖_∞ ≤ 2‖z‖_∞"),
            at_most(moreau, rounding, "vᵀ(z − v) = 0"),
            at_most(feasible, rounding, "v in the tangent cone"),
        ],
        f"{len(sizes):,} projections: contraction, both sizes, Moreau, membership",
    )


CLAIM = Claim(
    id="flow-tangent",
    statement="v = Π_T(x)(z): (x − x')ᵀv ≤ (x − x')ᵀz for x' in the simplex; ‖v‖_∞ ≤ max z − min z ≤ 2‖z‖_∞",
    source="DLB paper, Lemma 10; the oscillation bound ours",
    hypotheses=("x in the simplex",),
    kind=Kind.PROVED,
    check=check,
)
