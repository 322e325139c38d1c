"""The comparator lemma, checked by finite enumeration in whole numbers (decode paper, EC.1.2).

A decision: worker ``g`` has load ``a_g`` and ``c_g`` free slots, ``C = Σ_g c_g``; the queue ``R`` has sizes in ``1 … s``,
``R(t)`` are those of size ``t``; ``T_g`` are those admitted to ``g``, ``L_g = a_g + Σ_{T_g} S``. Assignments are maximal:
``min(|R|, C)`` are admitted. ``D = max L − min L``, ``N`` is the number of workers at the maximum, ``I = G max L − Σ L``.

*Lemma (paper, proved).* If ``|R∖R(t)| ≥ C`` for every ``t``, a ``(D, N, I)``-optimal assignment has, for every ``r`` at the
maximum and every ``g`` with ``L_r − L_g > s``, a whole number ``0 ≤ θ ≤ s`` with ``Σ_{T_r} S − Σ_{T_g} S ≤ θ c_r − (θ+1) c_g``.

*Order (paper, proved).* For such ``r`` and ``g``: ``max T_r ≤ min T_g``. This needs nothing of the queue: otherwise swap the
two requests; ``L_r`` falls and ``L_g`` rises by less than ``s``, so both end strictly between the old minimum and maximum,
and ``D`` or ``N`` falls.

*Weaker hypothesis (ours, proved).* ``|R| ≥ C`` and ``|R∖R(t)| ≥ C − 1`` for every ``t`` are enough. All slots are filled. If
``c_r = 0``, ``θ = 0`` will do; if ``c_g = 0``, ``θ = s``; otherwise, if ``max T_r < min T_g``, ``θ = max T_r``. There remains
``max T_r = min T_g = t``. At most ``C − 2`` requests of other sizes are admitted, so one waits. Let it replace a ``t``, on
``r`` if it is smaller, on ``g`` if it is larger: the first lowers ``D`` or ``N``, the second lowers ``I`` and raises neither
``D`` nor ``N``, a contradiction. ``C − 2`` is not enough: loads 0, 3, one free slot each, queue 1, 1 (s = 2).
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement, product
from math import comb, prod

import numpy as np

from lbtheory.core import ParameterError, UnknownNameError, whole_number
from lbtheory.theory._comparator_kernel import EVERY, ORDER, SOME, UNIQUE, Block, Range, all_profiles, judged

KEYS = ("D,N,I", "I", "I,D,N", "D")
"""What is minimised, lexicographically."""

KINDS = {"some": SOME, "every": EVERY, "unique": UNIQUE}

VISIT_LIMIT = 200_000
"""Most assignments, by a bound, that `check_instance` agrees to visit."""

Sizes = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """A pair that has no ``θ``, or breaks the order, in one optimal assignment.

    ``assignment``: sizes admitted to each worker, ascending; ``loads``: the ``L`` (tokens); ``r, g``: indices of workers.
    """

    assignment: tuple[Sizes, ...]
    loads: tuple[int, ...]
    r: int
    g: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparatorResult:
    """All optimal assignments of one decision, judged; assignments that differ as lists of sizes are different.

    Attributes
    ----------
    key : str
        One of `KEYS`.
    loads, free, queue : tuple of int
        ``a``, ``c`` and the sizes in ``R``, ascending.
    s, slots, supply : int
        Largest size (tokens), ``C``, ``min_t |R∖R(t)|``.
    hypothesis : bool
        Whether ``supply ≥ C``.
    optimum : tuple of int
        The least value of the key.
    optima, failing_optima : int
        Optimal assignments, and those with a failing maximum. A maximum ``r`` fails if some ``g`` has no ``θ``.
    maxima, failing_maxima : int
        Pairs of an optimal assignment and a maximum, and those that fail.
    breaches, order_breaches : tuple of Breach
        Pairs ``r, g`` that have no ``θ``, and pairs with ``max T_r > min T_g``.
    """

    key: str
    loads: tuple[int, ...]
    free: tuple[int, ...]
    queue: Sizes
    s: int
    slots: int
    supply: int
    hypothesis: bool
    optimum: tuple[int, ...]
    optima: int
    failing_optima: int
    maxima: int
    failing_maxima: int
    breaches: tuple[Breach, ...]
    order_breaches: tuple[Breach, ...]

    @property
    def holds(self) -> bool:
        """Whether no maximum of any optimum fails."""
        return not self.breaches

    @property
    def ordered(self) -> bool:
        """Whether ``max T_r ≤ min T_g`` for every pair of every optimum."""
        return not self.order_breaches

    @property
    def every_fails(self) -> bool:
        """Whether every maximum of every optimum fails: then no rule for ties helps."""
        return self.failing_maxima == self.maxima

    @property
    def unique_fails(self) -> bool:
        """Whether there is one optimum, with one maximum, and it fails."""
        return self.failing_maxima == self.maxima == 1


@dataclass(frozen=True, slots=True, kw_only=True)
class EnumerationReport:
    """What `enumerate_instances` found. Counts are of instances, workers being told apart and queues having their full counts.

    Attributes
    ----------
    key, workers, s, largest_free, largest_load, total_free, shortfall
        The arguments.
    instances, satisfying : int
        All; those whose queue meets the hypothesis (the other counts are among these).
    failures, every_failures, unique_failures : int
        Some maximum of some optimum has no ``θ``; every maximum of every optimum; the only maximum of the only optimum.
    order_failures : int
        Some pair of some optimum has ``max T_r > min T_g``.
    representatives : int
        Instances judged: one of each set of equivalent ones.
    example : ComparatorResult or None
        The first failure, in the order of `search_counterexample`.
    """

    key: str
    workers: int
    s: int
    largest_free: int
    largest_load: int
    total_free: int | None
    shortfall: int
    instances: int
    satisfying: int
    failures: int
    every_failures: int
    unique_failures: int
    order_failures: int
    representatives: int
    example: ComparatorResult | None
    seconds: float = field(compare=False)
    """Time taken; left out of comparisons."""


def check_instance(
    loads: Sequence[int], free: Sequence[int], queue: Sequence[int], key: str = "D,N,I", *, s: int | None = None
) -> ComparatorResult:
    """Judge every assignment of one decision that is optimal for ``key``, by visiting all (proved lemma, see the module).

    Parameters
    ----------
    loads, free : sequence of int, one a worker
        ``a_g ≥ 0`` (tokens) and ``c_g ≥ 0``.
    queue : sequence of int
        Sizes in ``1 … s`` (tokens), in any order; fewer than ``C`` may wait.
    key : str
        One of `KEYS`.
    s : int, optional
        Largest size; the largest in ``queue`` by default.

    Raises
    ------
    ParameterError, UnknownNameError
        Also where more than `VISIT_LIMIT` assignments may have to be visited.
    """
    _check_key(key)
    a, c = _whole("loads", loads, 0), _whole("free", free, 0)
    sizes = tuple(sorted(_whole("queue", queue, 1)))
    if not a or len(a) != len(c):
        raise ParameterError(f"`loads` and `free` of `check_instance` must have one entry a worker; got {len(a)}, {len(c)}.")
    if s is None and not sizes:
        raise ParameterError("`s` of `check_instance` must be given where `queue` is empty; got None.")
    s = whole_number("s", "check_instance", sizes[-1] if s is None else s, max(sizes, default=1))
    optimum, best = _optima(key, a, c, sizes)
    breaches, disorder = [], []
    for assignment, after in best:
        for r, g in _pairs(after, s):
            breach = Breach(assignment=assignment, loads=after, r=r, g=g)
            surplus = sum(assignment[r]) - sum(assignment[g])
            if not any(surplus <= theta * c[r] - (theta + 1) * c[g] for theta in range(s + 1)):
                breaches.append(breach)
            if max(assignment[r], default=0) > min(assignment[g], default=s):
                disorder.append(breach)
    slots, supply = sum(c), len(sizes) - max(Counter(sizes).values(), default=0)
    return ComparatorResult(
        key=key,
        loads=a,
        free=c,
        queue=sizes,
        s=s,
        slots=slots,
        supply=supply,
        hypothesis=supply >= slots,
        optimum=optimum,
        optima=len(best),
        failing_optima=len({breach.assignment for breach in breaches}),
        maxima=sum(after.count(max(after)) for _, after in best),
        failing_maxima=len({(breach.assignment, breach.r) for breach in breaches}),
        breaches=tuple(breaches),
        order_breaches=tuple(disorder),
    )


def enumerate_instances(
    workers: int,
    s: int,
    *,
    key: str = "D,N,I",
    largest_free: int = 2,
    largest_load: int | None = None,
    total_free: int | None = None,
    shortfall: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> EnumerationReport:
    """Judge every decision in a finite range (proved lemma, see the module; for other keys the counts are empirical facts).

    The range: free slots ``0 … largest_free`` a worker, loads ``0 … largest_load`` with least load 0, and every queue of class
    counts ``0 … 2C + 1`` that meets the hypothesis. Nothing is sampled. Equivalent instances are judged once and all counted:

    - renaming workers renames assignments, and a common shift of all loads changes no key: least load 0, one of each orbit;
    - no assignment takes more than ``C`` of a class, so counts ``C … 2C + 1`` allow the same assignments; nor does the
      hypothesis tell them apart, as ``C`` requests of one class are already as many as it asks for.

    Parameters
    ----------
    workers, s : int
        ``G`` and the largest size (tokens), each ≥ 1.
    key : str
        One of `KEYS`.
    largest_free : int
        Most free slots of a worker.
    largest_load : int, optional
        Tokens; ``2s + 1`` by default.
    total_free : int, optional
        Only instances with this ``C``.
    shortfall : int
        ``d`` in the hypothesis ``|R| ≥ C`` and ``|R∖R(t)| ≥ C − d`` for every ``t``; 0 is the lemma's.
    progress : callable, optional
        Called with (done, all) after each choice of loads and free slots.

    Raises
    ------
    ParameterError, UnknownNameError
    """
    start = time.perf_counter()
    bounds = _range("enumerate_instances", key, workers, s, largest_free, largest_load, total_free, shortfall)
    totals = dict.fromkeys((SOME, EVERY, UNIQUE, ORDER), 0)
    instances = satisfying = representatives = 0
    example = None
    profiles = all_profiles(bounds)
    for done, block in enumerate(judged(bounds, KEYS.index(key), profiles), 1):
        instances += block.orbit * (2 * sum(block.free) + 2) ** bounds.s
        satisfying += block.orbit * int(block.weights.sum())
        representatives += len(block.queues)
        for bit in totals:
            totals[bit] += block.orbit * int(block.weights[(block.flags & bit) > 0].sum())
        if example is None:
            example = _first(block, SOME, key, s)
        if progress is not None:
            progress(done, len(profiles))
    return EnumerationReport(
        key=key,
        **bounds._asdict(),
        instances=instances,
        satisfying=satisfying,
        failures=totals[SOME],
        every_failures=totals[EVERY],
        unique_failures=totals[UNIQUE],
        order_failures=totals[ORDER],
        representatives=representatives,
        example=example,
        seconds=time.perf_counter() - start,
    )


def search_counterexample(
    key: str,
    workers: int,
    s: int,
    *,
    kind: str = "some",
    largest_free: int = 2,
    largest_load: int | None = None,
    total_free: int | None = None,
    shortfall: int = 0,
) -> ComparatorResult | None:
    """The smallest failure of the lemma's conclusion in the range of `enumerate_instances`, or None (exhaustive).

    Smallest: least ``C``, then largest load, sum of loads, (load, free) pairs ascending, requests waiting, their sum, class
    counts. What it finds is an empirical fact. Proved (ours): a failure needs ``c_r, c_g ≥ 1``, hence ``C ≥ 2``, and at
    ``G = 2`` every key here has the same optima, as ``I = D`` and ``N = 1`` unless ``D = 0``.

    Parameters
    ----------
    key, workers, s, largest_free, largest_load, total_free, shortfall
        As in `enumerate_instances`.
    kind : "some", "every" or "unique"
        Some maximum of some optimum has no ``θ``; every maximum of every optimum; the only maximum of the only optimum.

    Raises
    ------
    ParameterError, UnknownNameError
    """
    bounds = _range("search_counterexample", key, workers, s, largest_free, largest_load, total_free, shortfall)
    if kind not in KINDS:
        raise UnknownNameError("kind of failure", kind, tuple(KINDS))
    blocks = judged(bounds, KEYS.index(key), all_profiles(bounds))
    found = (_first(block, KINDS[kind], key, s) for block in blocks)
    return next((result for result in found if result is not None), None)


def _first(block: Block, bit: int, key: str, s: int) -> ComparatorResult | None:
    """The first queue whose flags have ``bit``, judged by `check_instance`."""
    hits = np.flatnonzero(block.flags & bit)
    if len(hits) == 0:
        return None
    queue = np.repeat(np.arange(1, s + 1), block.queues[hits[0]])
    return check_instance(block.loads, block.free, queue.tolist(), key, s=s)


def _optima(key: str, a: Sizes, c: Sizes, sizes: Sizes) -> tuple[Sizes, list[tuple[tuple[Sizes, ...], Sizes]]]:
    """The least key of all maximal assignments, and every assignment that has it, with its loads."""
    counts = Counter(sizes)
    bound = prod(1 + sum(comb(len(counts) + k - 1, k) for k in range(1, min(n, len(sizes)) + 1)) for n in c)
    if bound > VISIT_LIMIT:
        raise ParameterError(
            f"`free` of `check_instance` must leave at most {VISIT_LIMIT} assignments; "
            f"got up to {bound}. Take fewer slots or sizes."
        )
    visited = []
    for assignment in _assignments(c, counts, min(len(sizes), sum(c))):
        after = tuple(load + sum(admitted) for load, admitted in zip(a, assignment, strict=True))
        visited.append((_value(key, after), assignment, after))
    least = min(value for value, _, _ in visited)
    return least, [(assignment, after) for value, assignment, after in visited if value == least]


def _assignments(free: Sizes, counts: Counter[int], admit: int) -> Iterator[tuple[Sizes, ...]]:
    """Every way to give ``admit`` requests to workers with ``free`` slots, as ascending sizes a worker."""
    if not free:
        yield ()
        return
    for n in range(max(0, admit - sum(free[1:])), min(free[0], admit) + 1):
        for chosen in combinations_with_replacement(sorted(counts), n):
            taken = Counter(chosen)
            if taken <= counts:
                for others in _assignments(free[1:], counts - taken, admit - n):
                    yield (chosen, *others)


def _value(key: str, after: Sequence[int]) -> tuple[int, ...]:
    """The key of loads ``after``."""
    peak = max(after)
    values = {"D": peak - min(after), "N": list(after).count(peak), "I": len(after) * peak - sum(after)}
    return tuple(values[name] for name in key.split(","))


def _pairs(after: tuple[int, ...], s: int) -> Iterator[tuple[int, int]]:
    """Every ``r`` at the maximum with every ``g`` more than ``s`` below it."""
    peak = max(after)
    for r, g in product(range(len(after)), repeat=2):
        if after[r] == peak and peak - after[g] > s:
            yield r, g


def _check_key(key: str) -> None:
    if key not in KEYS:
        raise UnknownNameError("key", key, KEYS)


def _whole(name: str, values: Sequence[int], low: int) -> tuple[int, ...]:
    return tuple(whole_number(f"{name}[{i}]", "check_instance", value, low) for i, value in enumerate(values))


def _range(
    function: str, key: str, workers: int, s: int, free: int, load: int | None, total: int | None, shortfall: int
) -> Range:
    """The bounds of an enumeration, once the arguments are checked."""
    _check_key(key)
    s = whole_number("s", function, s, 1)
    return Range(
        workers=whole_number("workers", function, workers, 1),
        s=s,
        largest_free=whole_number("largest_free", function, free, 0),
        largest_load=whole_number("largest_load", function, 2 * s + 1 if load is None else load, 0),
        total_free=None if total is None else whole_number("total_free", function, total, 0),
        shortfall=whole_number("shortfall", function, shortfall, 0),
    )
