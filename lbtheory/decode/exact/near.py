"""The last step of IO_H by CP-SAT where the weights had to be rounded: which of the assignments that look equal is best.

With ``w_h ≤ scale γ^h``, an assignment better than a known ``y`` has ``v ≤ Σ_h w_h I_h ≤ scale Σ_h γ^h I_h(y)``, ``v`` the
least rounded value. Few vectors ``(M_0, …, M_H)`` lie in so narrow a band, mostly one, and with the vector the total admitted
is fixed (another changes the rounded value by ``Σ_h w_h``, more than the band). CP-SAT looks for an assignment of the band
with another vector than those known, until there is none: the best of them is then proved. Source: ours, proved.
"""

from math import floor

import numpy as np

from lbtheory.decode.exact.model import CountModel, Linear, Search
from lbtheory.decode.exact.program import Program
from lbtheory.decode.exact.weights import Weights

VECTORS = 4
"""Vectors that are looked at; with more the answer stays unproved, by what rounding may take."""


def settle(program: Program, weights: Weights, y: np.ndarray, least: int, search: Search) -> tuple[np.ndarray, bool]:
    """The best class counts of the band and whether they are proved optimal.

    Parameters
    ----------
    program : Program
    weights : Weights
        Rounded down.
    y : int array (F, n)
        A known answer.
    least : int
        The least ``Σ_h w_h I_h`` of any assignment, proved.
    search : Search
    """
    known: list[list[int]] = []
    best = y
    while True:
        vector = _peaks(program, y)
        if vector in known:
            return best, False
        known.append(vector)
        best = min(best, y, key=lambda one: weights.true_value(program.imbalances(one)))
        most = floor(weights.scale * weights.true_value(program.imbalances(best)))
        if len(known) > VECTORS or most - least >= sum(weights.values) or search.clock.over:
            return best, False
        other, none = _other(program, weights, known, best, least, most, search)
        if none or other is None:
            return best, none
        y = other


def _peaks(program: Program, y: np.ndarray) -> list[int]:
    """``M_h`` of class counts, shifted."""
    return [max(program.loads(y, h)) for h in range(program.offsets)]


def _other(
    program: Program, weights: Weights, known: list[list[int]], y: np.ndarray, least: int, most: int, search: Search
) -> tuple[np.ndarray | None, bool]:
    """Class counts of the band with a vector that is not ``known``, and whether there are proved to be none."""
    model = CountModel(program)
    total = model.discounted(weights)
    model.at_least(total, least)
    model.at_most(total, most)
    model.hint(y)
    peaks = total.variables[: program.offsets]  # above the least possible one
    same = model.model.new_bool_var("")
    for vector in known:
        differ = [same]
        for h, v in enumerate(vector):
            above = v - program.least_peak(h)
            less, more = model.model.new_bool_var(""), model.model.new_bool_var("")
            model.model.add(peaks[h] <= above - 1).only_enforce_if(less)
            model.model.add(peaks[h] >= above + 1).only_enforce_if(more)
            differ += [less, more]
        model.model.add_bool_or(differ)
    found = model.minimise(Linear([same], [1]), search)
    return found.y, found.bound is not None and found.bound >= 1
