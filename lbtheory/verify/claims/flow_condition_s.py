"""Condition (S): a stepsize that is locally stable whatever the delays.

Checked by hand: on the axis ``GᴴPG`` is real, so only ``|e^{−2iωτ} − 1| ≤ 2τ|ω|`` enters; it is monotone in the stepsize; and
for small stepsizes the slow roots lie left. Against an independent count of roots by the argument principle.
"""

from math import inf

from lbtheory.core import ParameterError
from lbtheory.fluid import COSTS
from lbtheory.fluid.equilibrium import equilibrium
from lbtheory.fluid.stability import Linearisation, count_unstable, linearise, sufficient_stepsize
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.flow_cases import SMOOTH, random_network
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, at_most

ORDER = 640


def bound(of: Linearisation) -> float:
    """``η_S``."""
    return sufficient_stepsize(of)


def check(laboratory: Laboratory) -> Verdict:
    """Unstable roots at 0.999 η_S, at a tenth and a hundredth of it, on random networks and costs."""
    rng, counts = laboratory.rng("flow", "condition (S)"), []
    for trial in range(laboratory.size(30, 1000)):
        network = random_network(rng, families=SMOOTH)
        try:
            of = linearise(network, equilibrium(network, COSTS[trial % 3], method="fast", tolerance=1e-12))
        except ParameterError:  # an arc that ties: no linearisation there
            continue
        top = bound(of)
        if top < inf:
            counts += [count_unstable(of.system(factor * top)) for factor in (0.999, 0.1, 0.01)]
    return at_most(counts, 0, "stepsizes up to 0.999 η_S: unstable roots")


CLAIM = Claim(
    id="flow-condition-s",
    statement="max_j (2b_j/a_j) Σ_{i: j∈A_i} λ_i η_i τ_i^max < 1  ⇒  every root but those at 0 lies in Re s < 0",
    source="ours (condition (S))",
    hypotheses=("strict complementarity", "a_j, b_j > 0"),
    kind=Kind.OURS,
    check=check,
)
