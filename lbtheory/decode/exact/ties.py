"""Tie rules among the optimal assignments of IO_H, whose optimum is often not unique.

=================  ==========================================================================================================
``none``           whatever the search found (deterministic for a seed and one thread)
``lexicographic``  the lexicographically smallest (sizes of worker 0, sizes of worker 1, …), each list ascending and a list
                   before its extensions; independent of solver, seed and formulation
``smallest-total`` the smallest total admitted size
``random``         the smallest ``Σ r_{g,t} y_{g,t}`` for seeded random integers ``r``
=================  ==========================================================================================================
"""

import numpy as np

from lbtheory.core import SolverStatus
from lbtheory.decode.exact.model import CountModel, Linear, Search
from lbtheory.decode.exact.program import Program
from lbtheory.decode.exact.weights import Weights

TIES = ("lexicographic", "smallest-total", "random", "none")

RANDOM_LIMIT = 2**20


def tie_weights(program: Program, tie: str, rng: np.random.Generator | None) -> np.ndarray | None:
    """Linear tie weights (F, n) of the rule ``tie``, None where it has none."""
    shape = (len(program.open), len(program.sizes))
    if tie == "smallest-total":
        return np.tile(program.sizes, (shape[0], 1))
    if tie == "random" and rng is not None:
        return rng.integers(0, RANDOM_LIMIT, size=shape)
    return None


def break_ties(
    program: Program, weights: Weights, y: np.ndarray, tie: str, linear: np.ndarray | None, search: Search
) -> tuple[np.ndarray, bool]:
    """Among the assignments as good as the optimal ``y``, the one that the rule ``tie`` takes.

    Returns
    -------
    y : int array (F, n)
    proved : bool
        False when time ran out first; ``y`` is then optimal all the same.
    """
    if tie == "none" or (tie == "smallest-total" and not program.filled):
        return y, True
    if tie == "lexicographic":
        return _lexicographic(program, weights, y, search)
    if search.clock.over or linear is None:
        return y, False
    model = CountModel(program)
    model.at_most(model.discounted(weights), weights.value(program.imbalances(y)))
    model.hint(y)
    found = model.minimise(model.on_counts(linear), search)
    return (y if found.y is None else found.y), found.status is SolverStatus.OPTIMAL


def _lexicographic(program: Program, weights: Weights, y: np.ndarray, search: Search) -> tuple[np.ndarray, bool]:
    """Fix the lists of sizes element by element, each the smallest possible.

    One solve an element, and none where nothing smaller is left to try.
    """
    best = weights.value(program.imbalances(y))
    lower = np.zeros_like(y)
    upper = np.minimum(program.counts[None, :], np.array(program.slots)[:, None])
    for f, slots in enumerate(program.slots):
        first, used = 0, 0
        while not (program.filled and used == slots):
            following = _next_class(y[f] - lower[f])
            if following is None and not program.filled:
                break
            smallest = first + int(np.argmax((upper - lower)[f, first:] > 0))
            if not (program.filled and following == smallest):
                if search.clock.over:
                    return y, False
                found, proved = _smaller(program, weights, best, y, lower, upper, f, first, used, search)
                y = found
                if not proved:
                    return y, False
                following = _next_class(y[f] - lower[f])
                if following is None:
                    break
            assert following is not None
            lower[f, following] += 1
            upper[f, :following] = lower[f, :following]
            first, used = following, used + 1
        upper[f] = lower[f] = y[f]
    return y, True


def _next_class(extra: np.ndarray) -> int | None:
    """The smallest class with more requests than are fixed, None at the end of the list."""
    where = np.flatnonzero(extra)
    return int(where[0]) if len(where) else None


def _smaller(
    program: Program,
    weights: Weights,
    best: int,
    y: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    f: int,
    first: int,
    used: int,
    search: Search,
) -> tuple[np.ndarray, bool]:
    """An optimal assignment whose list on worker ``f``, fixed up to ``used`` requests, ends or goes on as small as it can."""
    model = CountModel(program, lower=lower, upper=upper)
    model.at_most(model.discounted(weights), best)
    classes = [t for t in range(first, len(program.sizes)) if upper[f, t] > lower[f, t]]
    picks = [model.model.new_bool_var("") for _ in classes]
    for pick, t in zip(picks, classes, strict=True):
        model.at_least(Linear([model.y[f][t], pick], [1, -1]), int(lower[f, t]))
    if program.filled:
        model.model.add_exactly_one(picks)
    else:
        end = model.model.new_bool_var("")
        model.at_most(Linear([model.n[f], end], [1, program.slots[f] - used]), program.slots[f])
        model.model.add_exactly_one([*picks, end])
    model.hint(y)
    found = model.minimise(Linear(picks, list(range(1, len(picks) + 1))), search)
    return (y if found.y is None else found.y), found.status is SolverStatus.OPTIMAL
