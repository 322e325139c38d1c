"""IO_H where waiting requests may finish inside the window: a class for each size and ``min(life, H+1)``.

A request of size ``t`` and life ``r`` adds ``(t + h) 1{r > h}`` at offset ``h``, so ``Σ_g L_{g,h}`` and the growth depend on
who is admitted and every offset has its own sum: the bounds and shortcuts for requests that stay do not hold. Where all
waiting requests are admitted `place_all` searches; CP-SAT solves what that cannot prove, and everything else from a greedy
start. Source: ours (the decode paper lets requests admitted now stay).
"""

from fractions import Fraction
from typing import Any

import numpy as np

from lbtheory.core import SolverStatus
from lbtheory.decode.exact.model import Search, run_cp_sat
from lbtheory.decode.exact.place import Placed
from lbtheory.decode.exact.result import Solution, no_solution, solution
from lbtheory.decode.exact.weights import Weights, scaled_weights
from lbtheory.decode.instance import Assignment, DecodeInstance, imbalance, loads_after, objective


def solve_with_lives(
    instance: DecodeInstance, must: frozenset[int], warm_start: Assignment | None, search: Search, placed: Placed | None = None
) -> Solution:
    """Solve IO_H for an instance with lives; see `solve_io`. ``placed`` is what `place_all` knows of it."""
    admissions, clock = instance.admissions, search.clock
    if len(must) > admissions:
        return no_solution("io", SolverStatus.INFEASIBLE, seconds=clock.seconds, horizon=instance.horizon)
    starts = [_largest_first(instance, must)] + ([] if warm_start is None else [warm_start])
    starts = starts if placed is None else [placed.assignment, *starts]
    start = min(starts, key=lambda a: objective(instance, a))
    value, bound, method = objective(instance, start), Fraction(0) if placed is None else placed.bound, "start"
    if placed is not None and placed.proved:
        method = placed.method
    elif admissions == 0 or instance.workers == 1 or value == 0:
        bound, method = value, "trivial"
    elif not clock.over:
        found, low = _cp_sat(instance, must, start, search)
        bound = max(bound, low)
        method = "cp-sat"
        if found is not None and objective(instance, found) <= value:
            start = found
    return solution(instance, start, policy="io", bound=bound, seconds=clock.seconds, method=method)


def _largest_first(instance: DecodeInstance, must: frozenset[int]) -> Assignment:
    """What FCFS admits, the largest first, each to the least loaded worker with a free slot."""
    rest = [i for i in range(len(instance.waiting)) if i not in must]
    chosen = sorted(must) + rest[: instance.admissions - len(must)]
    load, free = instance.loads.tolist(), instance.free.tolist()
    lists: list[list[int]] = [[] for _ in free]
    for i in sorted(chosen, key=lambda i: (-int(instance.waiting[i]), i)):
        g = min((g for g, c in enumerate(free) if c > 0), key=lambda g: load[g])
        lists[g].append(i)
        load[g] += int(instance.waiting[i])
        free[g] -= 1
    return Assignment(workers=tuple(tuple(sorted(one)) for one in lists))


def _classes(instance: DecodeInstance, must: frozenset[int]) -> list[tuple[int, int, list[int]]]:
    """``(size, life, members)``; those that must be admitted first, then the earliest."""
    assert instance.lives is not None
    groups: dict[tuple[int, int], list[int]] = {}
    rest = [i for i in range(len(instance.waiting)) if i not in must]
    for i in [*sorted(must), *rest]:
        key = (int(instance.waiting[i]), min(int(instance.lives[i]), instance.horizon + 1))
        groups.setdefault(key, []).append(i)
    return [(size, life, members) for (size, life), members in sorted(groups.items())]


def _cp_sat(
    instance: DecodeInstance, must: frozenset[int], start: Assignment, search: Search
) -> tuple[Assignment | None, Fraction]:
    """Best assignment found and a proved bound."""
    from ortools.sat.python import cp_model

    linear, model = cp_model.LinearExpr, cp_model.CpModel()
    classes = _classes(instance, must)
    opened = [g for g in range(instance.workers) if instance.free[g] > 0]
    y = [[model.new_int_var(0, min(len(m), int(instance.free[g])), "") for _, _, m in classes] for g in opened]
    for f, g in enumerate(opened):
        model.add(linear.sum(y[f]) <= int(instance.free[g]))
    for c, (_, _, members) in enumerate(classes):
        forced = sum(i in must for i in members)
        model.add_linear_constraint(linear.sum([row[c] for row in y]), forced, len(members))
    model.add(linear.sum([v for row in y for v in row]) == instance.admissions)
    place = {i: c for c, (_, _, members) in enumerate(classes) for i in members}
    for f, g in enumerate(opened):
        for c in range(len(classes)):
            model.add_hint(y[f][c], sum(place[i] == c for i in start.workers[g]))
    sizes = sorted((size for size, _, members in classes for _ in members), reverse=True)
    heaviest = sum(sizes[: int(instance.free.max())]) + int(instance.free.max()) * instance.horizon
    shifted = instance.projected - instance.projected.min(axis=0)
    tops = [int(shifted[:, h].max()) + heaviest for h in range(instance.horizon + 1)]
    weights = scaled_weights(instance.gamma, [1 + 2 * instance.workers * t for t in tops], function=search.function)
    variables: list[Any] = []
    coefficients: list[int] = []
    constant = 0
    for h, w in enumerate(weights.values):
        peak = model.new_int_var(int(shifted[:, h].max()), tops[h], "")
        growth = [size + h if life > h else 0 for size, life, _ in classes]
        for f, g in enumerate(opened):
            model.add(linear.weighted_sum(y[f], growth) + int(shifted[g, h]) <= peak)
            variables += y[f]
            coefficients += [-w * v for v in growth]
        variables.append(peak)
        coefficients.append(w * instance.workers)
        constant -= w * int(shifted[:, h].sum())
    model.minimize(linear.weighted_sum(variables, coefficients))
    return _read(model, y, classes, instance, opened, weights, constant, search)


def _read(
    model: Any,
    y: list[list[Any]],
    classes: list[tuple[int, int, list[int]]],
    instance: DecodeInstance,
    opened: list[int],
    weights: Weights,
    constant: int,
    search: Search,
) -> tuple[Assignment | None, Fraction]:
    """Solve the model and read its assignment and bound."""
    solver, status = run_cp_sat(model, search)
    if status is SolverStatus.UNKNOWN:
        return None, Fraction(0)
    chosen: list[list[int]] = [[] for _ in range(instance.workers)]
    for c, (_, _, members) in enumerate(classes):
        counts = [solver.value(row[c]) for row in y]
        earliest = iter(sorted(members[: sum(counts)]))
        for g, many in zip(opened, counts, strict=True):
            chosen[g] += [next(earliest) for _ in range(many)]
    found = Assignment(workers=tuple(tuple(sorted(one)) for one in chosen))
    # the solver's bound is a double, which may lie above the true one by rounding: lowered by far more than that
    double = solver.best_objective_bound
    bound = int(np.floor(double - 1e-9 * abs(double) - 1)) + constant
    if status is SolverStatus.OPTIMAL:
        bound = _value(instance, found, weights)
    return found, max(Fraction(0), weights.true_bound(bound))


def _value(instance: DecodeInstance, assignment: Assignment, weights: Weights) -> int:
    """``Σ_h w_h I_h`` of an assignment."""
    after = loads_after(instance, assignment)
    return weights.value([imbalance(after[:, h]) for h in range(after.shape[1])])
