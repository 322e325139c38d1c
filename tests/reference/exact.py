"""Plain brute force over all maximal assignments of small instances, by request: the oracle of the exact policies."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product


def assignments(
    free: list[int], waiting: list[int], must: frozenset[int] = frozenset()
) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Every way to admit exactly ``min(waiting, free slots)`` requests that includes ``must``: a tuple of indices a worker."""
    admissions = min(len(waiting), sum(free))

    def fill(g: int, left: tuple[int, ...], to_place: int) -> Iterator[tuple[tuple[int, ...], ...]]:
        if g == len(free):
            if to_place == 0:
                yield ()
            return
        for k in range(min(free[g], to_place) + 1):
            if to_place - k > sum(free[g + 1 :]):
                continue
            for chosen in combinations(left, k):
                rest = tuple(i for i in left if i not in chosen)
                for others in fill(g + 1, rest, to_place - k):
                    yield (chosen, *others)

    for found in fill(0, tuple(range(len(waiting))), admissions):
        if must <= {i for chosen in found for i in chosen}:
            yield found


def loads_at(projected: list[list[int]], waiting: list[int], assignment: tuple[tuple[int, ...], ...], h: int) -> list[int]:
    """Loads after admission at offset ``h``."""
    return [row[h] + sum(waiting[i] + h for i in chosen) for row, chosen in zip(projected, assignment, strict=True)]


def imbalance(loads: list[int]) -> int:
    """``G max − Σ``."""
    return len(loads) * max(loads) - sum(loads)


def value(projected: list[list[int]], waiting: list[int], assignment: tuple[tuple[int, ...], ...], gamma: Fraction) -> Fraction:
    """``Σ_h γ^h I_h``."""
    total = Fraction(0)
    for h in range(len(projected[0])):
        total += gamma**h * imbalance(loads_at(projected, waiting, assignment, h))
    return total


def min_max_key(loads: list[int]) -> tuple[int, int]:
    """``(M, I)``."""
    return max(loads), imbalance(loads)


def spread_key(loads: list[int]) -> tuple[int, int, int]:
    """``(D, N_max, I)``."""
    return max(loads) - min(loads), loads.count(max(loads)), imbalance(loads)


def size_lists(waiting: list[int], assignment: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
    """For each worker the ascending list of its sizes."""
    return tuple(tuple(sorted(waiting[i] for i in chosen)) for chosen in assignment)


def value_with_lives(
    projected: list[list[int]], waiting: list[int], lives: list[int], assignment: tuple[tuple[int, ...], ...], gamma: Fraction
) -> Fraction:
    """``Σ_h γ^h I_h`` where request ``i`` adds ``(S_i + h) 1{r_i > h}``."""
    total = Fraction(0)
    for h in range(len(projected[0])):
        loads = [
            row[h] + sum(waiting[i] + h for i in chosen if lives[i] > h)
            for row, chosen in zip(projected, assignment, strict=True)
        ]
        total += gamma**h * imbalance(loads)
    return total


def largest_total(waiting: list[int], slots: list[int], low: list[int], high: list[int]) -> int | None:
    """The largest total of disjoint sets of ``c_f`` requests with sums in ``low_f … high_f``; None where there are none."""
    totals = [
        sum(waiting[i] for chosen in found for i in chosen)
        for found in assignments(slots, waiting)
        if all(
            a <= sum(waiting[i] for i in chosen) <= b and len(chosen) == c
            for chosen, a, b, c in zip(found, low, high, slots, strict=True)
        )
    ]
    return max(totals, default=None)


def ceiling(peak: int, base: list[int], slots: list[int], waiting: list[int]) -> int:
    """``min_S [Σ_{f∉S} (M − a_f) + top(c(S))]`` over all sets of workers."""
    ordered = sorted(waiting, reverse=True)
    best = sum(ordered)
    for k in range(len(base) + 1):
        for inside in combinations(range(len(base)), k):
            outside = sum(peak - base[f] for f in range(len(base)) if f not in inside)
            best = min(best, outside + sum(ordered[: sum(slots[f] for f in inside)]))
    return best


def placements(free: list[int], many: int) -> Iterator[tuple[int, ...]]:
    """Every way to give each of ``many`` requests a worker within its free slots."""
    for chosen in product(range(len(free)), repeat=many):
        if all(chosen.count(g) <= c for g, c in enumerate(free)):
            yield chosen


def least_peaks(paths: list[list[int]], loads: list[list[int]], free: list[int], floor: list[int], gamma: Fraction) -> Fraction:
    """The least ``Σ_h γ^h max(floor_h, max_f L_{f,h})`` with every request placed, each adding its path."""
    totals = []
    for chosen in placements(free, len(paths)):
        total = Fraction(0)
        for h, low in enumerate(floor):
            rows = [load[h] + sum(p[h] for p, g in zip(paths, chosen, strict=True) if g == f) for f, load in enumerate(loads)]
            total += gamma**h * max(low, *rows)
        totals.append(total)
    return min(totals)
