"""Control inside blocks of slots: policies whose imbalance is a number at real ``B`` (section 6.4.8, ours; exact).

In rich supply (every size ``low … high`` always waits in any number) every slot is always full, so coins and ages are
independent across slots, and a policy that looks only inside disjoint blocks of ``b`` slots has a product law: a worker's load
is a sum of ``⌊B/b⌋`` independent block loads, and of ``B mod b`` slots left over, which run a constant size. So
``Ī = G (E max_g L_g − E L)`` is a number.

- **Constant**: admit size ``t`` only. A slot holds ``t + A_*``; ``Ī`` does not depend on ``t``; the ratio of FCFS to it tends
  to ``sqrt(1 + p² Var S/q)`` as ``B → ∞``.
- **Pairs** with target ``T``: beside a survivor ``v`` admit ``f(v) = clamp(T − v, low, high)``; when both complete admit
  ``h = clamp(⌊T/2⌋)`` and ``f(h)``. After a refill both grow ``1 + j`` steps, ``P(j) = (1 − q²) q^{2j}``; then one completes
  with probability ``pq`` each, both with ``p²``, over ``1 − q²``: a chain in ``v``. The load is ``f(v) + v + 2j``.
- **Triples** with target ``T``: beside ``u, v`` admit ``clamp(T − u − v)``; beside ``w`` alone ``h = clamp(⌊(T − w)/2⌋)`` and
  then as beside ``h, w``; when all complete ``clamp(⌊T/3⌋)`` and then as beside it: a chain in two workloads.

A refill with nobody left has probability ``r`` (``p²/(1 − q²)``, ``p³/(1 − q³)``), so a law that one step changes by ``δ`` in
``ℓ¹`` is within ``δ/r`` of the stationary one. Workloads are capped where they no longer alter a decision: loads alone change.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log, log1p, sqrt

import numpy as np
from scipy.signal import lfilter

from lbtheory.core import ParameterError, readonly, whole_number
from lbtheory.theory._block_kernels import clamp, pair_chain, second, triple_chain, triple_loads
from lbtheory.theory._convolve import DEPTH, UNIT, Atoms, law_of_sum
from lbtheory.theory.arithmetic import probability
from lbtheory.theory.benchmark_law import LoadLaw, geometric
from lbtheory.theory.law import PromptLaw

STOP = 1e-15
"""Change in ``ℓ¹`` at which a chain is taken to be stationary."""
STATES = 20_000_000
"""Largest number of states of a chain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockLaw:
    """Stationary law of a block of slots. Made by `constant_block`, `pair_block`, `triple_block`.

    Attributes
    ----------
    p : Fraction
    slots : int
        ``b``, slots a block.
    low, high : int
        Sizes that may be admitted, tokens.
    target : int
        ``T`` of the block's load, tokens.
    leftover : int
        The constant size of slots that no block takes, tokens.
    offset : int
        The load, tokens, to which ``pmf[0]`` belongs.
    pmf : float64 array
        Law of the block's load.
    admitted : float64 array (high + 1,)
        Law of an admitted size ``0 … high``.
    error : float
        Bound of the Wasserstein distance between ``pmf`` and the true law, tokens.
    """

    p: Fraction
    slots: int
    low: int
    high: int
    target: int
    leftover: int
    offset: int
    pmf: np.ndarray
    admitted: np.ndarray
    error: float

    @property
    def mean(self) -> float:
        """Mean load, tokens: ``b (mean admitted size + q/p)`` up to the error."""
        return self.offset + float(self.pmf @ np.arange(len(self.pmf)))

    @property
    def variance(self) -> float:
        """Variance of the load, tokens²."""
        return float(self.pmf @ (self.offset + np.arange(len(self.pmf)) - self.mean) ** 2)

    @property
    def mean_admitted(self) -> float:
        """Mean admitted size, tokens."""
        return float(self.admitted @ np.arange(len(self.admitted)))

    def overload(self, law: PromptLaw) -> float:
        """``max_t P(admitted = t)/P(S = t)``: arrivals over ``n p`` that the choice of sizes needs; infinite if a size lacks.

        Raises
        ------
        ParameterError
            Not a `PromptLaw`.
        """
        if not isinstance(law, PromptLaw):
            raise ParameterError(f"`law` of `overload` must be a PromptLaw; got {law!r}.")
        supply = np.zeros(max(law.s, self.high) + 1)
        supply[: law.s + 1] = law.pmf
        wanted = np.flatnonzero(self.admitted)
        with np.errstate(divide="ignore"):
            return float(np.max(self.admitted[wanted] / supply[wanted]))


def constant_ratio(p: Fraction | float, law: PromptLaw) -> float:
    """Limit, as ``B → ∞``, of FCFS's imbalance over that of constant sizes: ``sqrt(1 + p² Var S/q)`` (ours; proved).

    Both loads are asymptotically normal, with variances ``B(Var S + q/p²)`` and ``B q/p²``.
    """
    exact = probability(p, "constant_ratio")
    return sqrt(1 + exact**2 * law.variance / (1 - exact))


def constant_block(p: Fraction | float, t: int) -> BlockLaw:
    """Blocks of one slot: admit size ``t`` only (ours; exact).

    Raises
    ------
    ParameterError
    """
    exact = probability(p, "constant_block")
    t = whole_number("t", "constant_block", t, 1)
    geometric(exact, "constant_block")
    decay = log1p(-float(exact))
    ages = float(exact) * np.exp(decay * np.arange(ceil(DEPTH / -decay)))
    admitted = np.zeros(t + 1)
    admitted[t] = 1.0
    return BlockLaw(
        p=exact,
        slots=1,
        low=t,
        high=t,
        target=t,
        leftover=t,
        offset=t,
        pmf=readonly(ages),
        admitted=readonly(admitted),
        error=float(np.exp(-DEPTH)) / float(exact),
    )


def pair_block(p: Fraction | float, low: int, high: int, target: int) -> BlockLaw:
    """Blocks of two slots with target ``T`` (ours; exact up to the stated error).

    Parameters
    ----------
    p : Fraction or float
    low, high : int
        Sizes in supply, ``1 ≤ low ≤ high``, tokens.
    target : int
        ``T ≥ 1``, tokens.

    Raises
    ------
    ParameterError
    """
    exact, low, high, target = _checked("pair_block", p, low, high, target)
    value = float(exact)
    cap = _cap("pair_block", value, low, high, target, DEPTH - 4)
    law, change = pair_chain(value, low, high, target, cap, STOP)
    v = np.arange(cap + 1)
    beside = np.clip(target - v, low, high)
    both, half = value / (2 - value), clamp(target // 2, low, high)
    admitted = np.bincount(beside, weights=law, minlength=high + 1)
    admitted[half] += both
    return _block(exact, 2, (low, high, target), np.bincount(beside + v, weights=law), admitted, change / both, cap)


def triple_block(p: Fraction | float, low: int, high: int, target: int, tolerance: float = 1e-9) -> BlockLaw:
    """Blocks of three slots with target ``T`` (ours; exact up to the stated error).

    Parameters
    ----------
    p, low, high, target
        As for `pair_block`.
    tolerance : float
        Probability with which a slot's age passes the cap of the two-dimensional chain, ``1e-15 ≤ tolerance ≤ 1e-3``.

    Raises
    ------
    ParameterError
        Also for chains of more than 20,000,000 states (about ``½ (high − log(tolerance)/p)²``).
    """
    exact, low, high, target = _checked("triple_block", p, low, high, target)
    if not (isinstance(tolerance, float) and 1e-15 <= tolerance <= 1e-3):
        raise ParameterError(f"`tolerance` of `triple_block` must be between 1e-15 and 1e-3; got {tolerance!r}.")
    value = float(exact)
    cap = _cap("triple_block", value, low, high, target, -log(tolerance), dimensions=2)
    law, lone, change = triple_chain(value, low, high, target, cap, STOP)
    loads, admitted = triple_loads(law, low, high, target, cap)
    halves = np.array([second(w, low, high, target) for w in range(cap + 1)])
    admitted += np.bincount(halves, weights=lone, minlength=high + 1)
    none, third = value**3 / (1 - (1 - value) ** 3), clamp(target // 3, low, high)
    for size in (third, second(third, low, high, target)):
        admitted[size] += none
    return _block(exact, 3, (low, high, target), loads, admitted, change / none, cap)


def block_law(block: BlockLaw, slots: int) -> LoadLaw:
    """Law of a worker of ``B`` slots run in independent blocks; ``B mod b`` slots run the constant size ``block.leftover``.

    Its error is that of the convolution alone; `block_imbalance` adds that of the block's law.

    Raises
    ------
    ParameterError
    """
    slots = whole_number("slots", "block_law", slots, 1)
    blocks, left = divmod(slots, block.slots) if block.slots > 1 else (0, slots)
    age = geometric(block.p, "block_law")
    q = 1 - block.p
    atoms = Atoms(block.offset + np.arange(len(block.pmf)), block.pmf)
    size = Atoms(np.array([block.leftover]), np.ones(1))
    return LoadLaw(
        slots=slots,
        mean=blocks * block.mean + float(left * (block.leftover + q / block.p)),
        variance=blocks * block.variance + float(left * q / block.p**2),
        window=law_of_sum([(atoms, blocks), (size, left), (age, left)]),
    )


def block_imbalance(block: BlockLaw, slots: int, workers: int) -> tuple[float, float]:
    """``Ī`` of ``G`` workers of ``B`` slots in blocks, tokens, and a bound of its error.

    Couple every block with its stated law: a load then moves by at most ``⌊B/b⌋ error`` in mean, their maximum by the sum over
    workers. So ``|ΔĪ| ≤ G (G + 1) ⌊B/b⌋ error`` beside the error of the convolution.

    Raises
    ------
    ParameterError
    """
    law = block_law(block, slots)
    value, error = law.imbalance(workers)
    moved = block.error * (slots // block.slots) if block.slots > 1 and workers > 1 else 0.0
    return value, error + workers * (workers + 1) * moved


@dataclass(frozen=True, slots=True, kw_only=True)
class BestBlock:
    """The best target that a search found.

    Attributes
    ----------
    block : BlockLaw
    imbalance, error : float
        ``Ī`` and the bound of its error, tokens.
    targets : int64 array
        Targets tried, increasing.
    imbalances : float64 array
        Their ``Ī``.
    """

    block: BlockLaw
    imbalance: float
    error: float
    targets: np.ndarray
    imbalances: np.ndarray


def best_pairs(p: Fraction | float, s: int, workers: int, slots: int) -> BestBlock:
    """Pairs of sizes ``1 … s`` with the target of least ``Ī`` that a search found (the search is heuristic, the value exact).

    Raises
    ------
    ParameterError
    """
    exact, s = probability(p, "best_pairs"), whole_number("s", "best_pairs", s, 1)
    return _best(lambda target: pair_block(exact, 1, s, target), 2, 2 * s + ceil(2 / exact), workers, slots)


def best_triples(p: Fraction | float, s: int, workers: int, slots: int) -> BestBlock:
    """Triples of sizes ``1 … s`` with the target of least ``Ī`` that a search found (the search is heuristic, the value exact).

    Raises
    ------
    ParameterError
    """
    exact, s = probability(p, "best_triples"), whole_number("s", "best_triples", s, 1)
    return _best(lambda target: triple_block(exact, 1, s, target), 3, 3 * s + ceil(3 / exact), workers, slots)


def _best(make: Callable[[int], BlockLaw], first: int, last: int, workers: int, slots: int) -> BestBlock:
    """Twelve equal steps over the range; around the best of them halve the step until it is one."""
    tried: dict[int, tuple[float, float]] = {}

    def value(target: int) -> float:
        if target not in tried:
            tried[target] = block_imbalance(make(target), slots, workers)
        return tried[target][0]

    step = max(1, (last - first) // 12)
    best = min(range(first, last + 1, step), key=value)
    while step > 1:
        step = (step + 1) // 2
        best = min((t for t in (best - step, best, best + step) if first <= t <= last), key=value)
    best = min((t for t in (best - 1, best, best + 1) if first <= t <= last), key=value)
    targets = np.array(sorted(tried))
    return BestBlock(
        block=make(best),
        imbalance=tried[best][0],
        error=tried[best][1],
        targets=readonly(targets),
        imbalances=readonly([tried[int(t)][0] for t in targets]),
    )


def _checked(function: str, p: Fraction | float, low: int, high: int, target: int) -> tuple[Fraction, int, int, int]:
    exact = probability(p, function)
    geometric(exact, function)
    low, high = whole_number("low", function, low, 1), whole_number("high", function, high, 1)
    if low > high:
        raise ParameterError(f"`high` of `{function}` must be at least `low`; got {low} and {high}.")
    return exact, low, high, whole_number("target", function, target, 1)


def _cap(function: str, p: float, low: int, high: int, target: int, depth: float, dimensions: int = 1) -> int:
    """Workload that a slot passes with probability at most ``e^{−depth}``, and from which on no decision depends on it."""
    cap = max(target - low, high + ceil(depth / -log1p(-p)), 2)
    states = cap if dimensions == 1 else (cap + 1) * (cap + 2) // 2
    if states > STATES:
        raise ParameterError(
            f"`p` and `high` of `{function}` must leave a chain of at most {STATES} states; got {states}. Take a larger `p`, "
            "smaller sizes, or smaller blocks."
        )
    return cap


def _block(
    p: Fraction, slots: int, rule: tuple[int, int, int], loads: np.ndarray, admitted: np.ndarray, distance: float, cap: int
) -> BlockLaw:
    """Add the ``b j`` tokens grown since the refill; sum up the errors."""
    low, high, target = rule
    decay = log1p(-float(p))
    stay = np.exp(slots * decay)
    grown = ceil(DEPTH / -decay)
    total = np.zeros((len(loads) // slots + 1) * slots + grown // slots * slots)
    total[: len(loads)] = loads
    for first in range(slots):
        total[first::slots] = lfilter([-np.expm1(slots * decay)], [1, -stay], total[first::slots])
    used = np.flatnonzero(total)
    pmf = total[used[0] : used[-1] + 1]
    beyond = np.exp(decay * (cap - high))
    return BlockLaw(
        p=p,
        slots=slots,
        low=low,
        high=high,
        target=target,
        leftover=clamp(target // slots, low, high),
        offset=int(used[0]),
        pmf=readonly(pmf / pmf.sum()),
        admitted=readonly(admitted / admitted.sum()),
        error=float((distance + 64 * UNIT) * (slots * cap + 2 / p) + 2 * slots * beyond / p),
    )
