"""The special method for a window ``H > 0``: the bound of a network flow with its multipliers, then sums hit exactly.

With ``x_f`` the total given to worker ``f`` (its growth is folded into the projected loads), relax "a sum of ``c_f`` waiting
requests" to ``bottom_f ≤ x_f ≤ top_f``, and their sum to that of the ``U`` smallest and largest. What is left,

    minimise ``Σ_h γ^h [G M_h − Σ_g A_{g,h} − Σ_f x_f]``,   ``M_h ≥ A_{f,h} + x_f``,   ``M_h ≥ P_h`` (full workers),

is L♮-convex while the sum is free, the dual of a network flow, so it then has integral solutions. Any ``λ_{f,h}, μ_h ≥ 0``
with ``Σ_f λ_{f,h} + μ_h = G γ^h`` bound it from below (`multiplier_bound`), and by duality some meet it. They come from a
linear program in doubles (GLOP); the flow is then solved again on its support in fractions, so the bound is exact (where the
sum binds, exact to rounding, and rounded up to the next possible value). At a common shift of all ``x_f`` values are equal
when no worker is full: `hit_levels` looks there for sums that exist. Source: ours, proved.
"""

from fractions import Fraction
from math import ceil, comb, prod

import numpy as np

from lbtheory.decode.exact.program import Program
from lbtheory.decode.exact.weights import kernel_weights, rounding
from lbtheory.decode.exact.zero import ROUNDS, Found, effort

FEW_NODES = 30_000
"""Nodes of the search with few free slots, some 5 milliseconds."""


def search_window(program: Program, start: np.ndarray, *, nodes: int = FEW_NODES) -> Found | None:
    """IO_H by search, from the class counts ``start``; None where that would take too long or pass 64 bits."""
    slots = np.array(program.slots, np.int64)
    order = np.argsort(slots, kind="stable")
    n, width, workers = len(program.sizes), len(slots), program.instance.workers
    ways = prod(comb(n + int(c) - 1, int(c)) for c in slots[order[:-1]])
    if ways > 20 * nodes:
        return None
    tops = [workers * program.most_peak(h) for h in range(program.offsets)]
    given = sum(program.largest(c) for c in program.slots)
    own = kernel_weights(program.instance.gamma, [width * (top + given) for top in tops])
    exact = None if own is None else rounding(own, tops)
    if own is None or exact is None:
        return None
    from lbtheory.decode.exact import _window

    peak = program.full.max(axis=0) if len(program.full) else np.zeros(program.offsets, np.int64)  # no load is below 0
    loads = program.base.sum(axis=0) + program.full.sum(axis=0)
    inner = np.zeros((width, n), np.int64)
    used = _window.search_window(
        program.sizes,
        program.counts,
        slots[order],
        np.ascontiguousarray(program.base[order]),
        np.ascontiguousarray(peak),
        np.array([*(workers * w for w in own.values), sum(own.values)], np.int64),
        workers,
        program.imbalances(start) + loads,
        exact,
        nodes,
        inner,
    )
    y = start
    if inner.any():
        y = np.empty_like(inner)
        y[order] = inner
    value = total_value(program, y)
    if used > nodes:
        return Found(y=y, value=value, bound=range_total(program), method="start")
    return Found(y=y, value=value, bound=value, method="search")


def special_window(program: Program, *, seed: int = 0, rounds: int = ROUNDS) -> Found | None:
    """What the special method knows of IO_H, None where the linear program fails; for programs that `applies_to_window`."""
    relaxed = _relax(program, joint=False)
    if relaxed is not None and not _sum_reachable(program, relaxed[0]):
        relaxed = _relax(program, joint=True)
    if relaxed is None:
        return None
    x, multipliers, shadow = relaxed
    bound = max(multiplier_bound(program, multipliers, shadow), range_total(program))
    step = program.instance.gamma.denominator ** (program.offsets - 1)  # every value is a multiple of 1 / step
    bound = Fraction(ceil(bound * step), step)
    low, high = _flat(program, x)
    from lbtheory.decode.exact import _zero
    from lbtheory.decode.exact._hit import hit_levels

    slots = np.array(program.slots, np.int64)
    rounds, _ = effort(len(program.instance.waiting), program.instance.admissions, rounds, 1)
    picks = np.zeros((len(slots), int(slots.max())), np.int64)
    if not hit_levels(program.queue, slots, -x, low, high, rounds, seed, picks):
        return Found(y=None, value=None, bound=bound, method="start")
    y = np.zeros((len(slots), len(program.sizes)), np.int64)
    _zero.record(picks, slots, program.sizes, y)
    value = total_value(program, y)
    return Found(y=y, value=value, bound=bound, method="window" if value == bound else "start")


def applies_to_window(program: Program) -> bool:
    """Whether the special method covers this program: a window, a queue that covers the free slots, nothing forced."""
    return program.offsets > 1 and program.filled and len(program.open) > 0 and not program.forced.any()


def total_value(program: Program, y: np.ndarray) -> Fraction:
    """``Σ_h γ^h I_h`` of class counts."""
    return _discounted(program, program.imbalances(y))


def range_total(program: Program) -> Fraction:
    """``Σ_h γ^h`` times the range bounds."""
    return _discounted(program, [program.range_bound(h) for h in range(program.offsets)])


def multiplier_bound(program: Program, multipliers: list[list[Fraction]], shadow: list[Fraction]) -> Fraction:
    """Lower bound of IO_H from multipliers ``λ`` (F × H+1) and ``μ`` (H+1).

    Negative entries count as 0, and each offset is scaled to ``Σ_f λ_{f,h} + μ_h = G γ^h`` (all of it on the largest reach
    where they are all 0), so that every input gives a true bound.
    """
    gamma, workers = program.instance.gamma, program.instance.workers
    width, offsets = len(program.open), program.offsets
    total = Fraction(0)
    reduced = [-sum((gamma**h for h in range(offsets)), Fraction(0))] * width
    for h in range(offsets):
        row = [max(Fraction(0), multipliers[f][h]) for f in range(width)]
        rest = max(Fraction(0), shadow[h]) if len(program.full) else Fraction(0)
        mass = sum(row, rest)
        if mass == 0:
            row[0] = mass = Fraction(1)
        scale = workers * gamma**h / mass
        for f in range(width):
            total += scale * row[f] * int(program.base[f, h])
            reduced[f] += scale * row[f]
        if rest:
            total += scale * rest * int(program.full[:, h].max())
        total -= gamma**h * (int(program.base[:, h].sum()) + int(program.full[:, h].sum()))
    return total + _least_cost(program, reduced)


def _least_cost(program: Program, reduced: list[Fraction]) -> Fraction:
    """``min Σ_f r_f x_f`` over the ranges of the ``x_f`` and of their sum: all at their better end, then the cheapest back."""
    lows, highs = [program.smallest(c) for c in program.slots], [program.largest(c) for c in program.slots]
    x = [low if r > 0 else high for r, low, high in zip(reduced, lows, highs, strict=True)]
    admissions = program.instance.admissions
    short, over = program.smallest(admissions) - sum(x), sum(x) - program.largest(admissions)
    total = sum((r * v for r, v in zip(reduced, x, strict=True)), Fraction(0))
    for f in sorted(range(len(x)), key=lambda f: reduced[f] if short > 0 else -reduced[f]):
        if short > 0:
            moved = min(short, highs[f] - x[f])
            short, total = short - moved, total + reduced[f] * moved
        elif over > 0:
            moved = min(over, x[f] - lows[f])
            over, total = over - moved, total - reduced[f] * moved
    return total


def _discounted(program: Program, values: list[int]) -> Fraction:
    return sum((program.instance.gamma**h * v for h, v in enumerate(values)), Fraction(0))


def _relax(program: Program, *, joint: bool) -> tuple[np.ndarray, list[list[Fraction]], list[Fraction]] | None:
    """An optimal ``x`` of the relaxation, with the limits of ``Σ x`` if ``joint``, and multipliers."""
    from ortools.linear_solver import pywraplp

    width, offsets, workers = len(program.open), program.offsets, program.instance.workers
    weights = [float(program.instance.gamma) ** h for h in range(offsets)]
    admissions = program.instance.admissions
    ends = [(program.smallest(c), program.largest(c)) for c in program.slots]
    solver = pywraplp.Solver.CreateSolver("GLOP")
    infinity = solver.infinity()
    sums = [solver.NumVar(low, high, "") for low, high in ends]
    floor = program.full.max(axis=0).tolist() if len(program.full) else [-infinity] * offsets
    peaks = [solver.NumVar(v, infinity, "") for v in floor]
    rows = []
    for f, base in enumerate(program.base.tolist()):
        for h in range(offsets):
            row = solver.Constraint(base[h], infinity)
            row.SetCoefficient(peaks[h], 1)
            row.SetCoefficient(sums[f], -1)
            rows.append(row)
    if joint:
        both = solver.Constraint(program.smallest(admissions), program.largest(admissions))
        for v in sums:
            both.SetCoefficient(v, 1)
    goal = solver.Objective()
    for v in sums:
        goal.SetCoefficient(v, -sum(weights))
    for v, w in zip(peaks, weights, strict=True):
        goal.SetCoefficient(v, workers * w)
    goal.SetMinimization()
    if solver.Solve() != pywraplp.Solver.OPTIMAL:
        return None
    x = np.array([min(max(round(v.solution_value()), low), high) for v, (low, high) in zip(sums, ends, strict=True)], np.int64)
    rough = np.array([row.dual_value() for row in rows]).reshape(width, offsets)
    shadow = np.array([v.reduced_cost() for v in peaks])
    exact = None if joint else _exact_flow(program, x, rough, shadow)
    if exact is not None:
        return x, *exact
    return x, [[Fraction(float(v)) for v in row] for row in rough], [Fraction(float(v)) for v in shadow]


def _exact_flow(
    program: Program, x: np.ndarray, rough: np.ndarray, shadow: np.ndarray
) -> tuple[list[list[Fraction]], list[Fraction]] | None:
    """The flow on the support of ``rough`` in fractions, by leaves; None where the support is no forest.

    Offset ``h`` sends ``G γ^h``; a worker inside its range takes ``Σ γ^h``, one at an end and the full workers take what comes.
    """
    gamma, workers = program.instance.gamma, program.instance.workers
    width, offsets = rough.shape
    small = 1e-9 * max(1.0, float(np.abs(rough).max()))
    arcs = {(f, h) for f in range(width) for h in range(offsets) if rough[f, h] > small}
    arcs |= {(width, h) for h in range(offsets) if shadow[h] > small}
    need: dict[tuple[str, int], Fraction] = {("h", h): workers * gamma**h for h in range(offsets)}
    for f in range(width):
        if program.smallest(program.slots[f]) < x[f] < program.largest(program.slots[f]):
            need["f", f] = sum((gamma**h for h in range(offsets)), Fraction(0))
    ends: dict[tuple[str, int], set[tuple[int, int]]] = {}
    for f, h in arcs:
        ends.setdefault(("f", f), set()).add((f, h))
        ends.setdefault(("h", h), set()).add((f, h))
    flow: dict[tuple[int, int], Fraction] = {}
    ready = [node for node in need if len(ends.get(node, ())) == 1]
    while ready:
        node = ready.pop()
        if len(ends[node]) != 1:
            continue
        (arc,) = ends[node]
        flow[arc] = need[node]
        for end in (("f", arc[0]), ("h", arc[1])):
            ends[end].discard(arc)
            if end in need:
                need[end] -= flow[arc]
                if len(ends[end]) == 1:
                    ready.append(end)
    if len(flow) < len(arcs) or any(v < 0 for v in flow.values()):
        return None
    exact = [[flow.get((f, h), Fraction(0)) for h in range(offsets)] for f in range(width)]
    return exact, [flow.get((width, h), Fraction(0)) for h in range(offsets)]


def _sum_reachable(program: Program, x: np.ndarray) -> bool:
    """Whether ``x``, shifted as `_flat` allows, has a sum that ``U`` waiting requests can have."""
    low, high = _flat(program, x)
    total, many, admissions = int(x.sum()), len(x), program.instance.admissions
    return total + many * high >= program.smallest(admissions) and total + many * low <= program.largest(admissions)


def _flat(program: Program, x: np.ndarray) -> tuple[int, int]:
    """The shifts of all ``x_f`` that stay in their ranges and change no value, from least to largest."""
    if len(program.open) < program.instance.workers:
        return 0, 0  # a full worker keeps its load, so every shift changes its distance
    ends = [(program.smallest(c), program.largest(c)) for c in program.slots]
    return (
        max(low - int(v) for v, (low, _) in zip(x, ends, strict=True)),
        min(high - int(v) for v, (_, high) in zip(x, ends, strict=True)),
    )
