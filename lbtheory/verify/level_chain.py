"""LEVEL with a constant target, and exact IO_0 in rich supply, simulated at any size (ours).

Every slot is full. With every size ``1 … s`` waiting in any number a worker with survivors ``a`` and ``c`` completions
reaches any load in ``[a + c, a + s c]`` (section 6.4.7): LEVEL takes ``clamp(T, ·)``, IO_0 takes ``min(m, a + s c)``,
``m = max_g (a_g + c_g)``, or the common load ``m`` where all reach it; the ``c`` prompts are as equal as their sum allows
(`rich_loads`). With supply as it comes LEVEL mixes requests of the smallest and the largest sizes (`supply_loads`, Theorem
S of `lbtheory.theory.levelling`).
"""

import numpy as np
from numba import njit

from lbtheory.core import ParameterError
from lbtheory.theory import PromptLaw
from lbtheory.theory.levelling import LevelSystem, SupplyBound


def rich_loads(of: LevelSystem, iterations: int, warmup: int, rng: np.random.Generator, *, rule: str = "level") -> np.ndarray:
    """Loads of every worker after the warm-up, int array (iterations, G), tokens; sizes are shifted to ``1 … s``.

    Starts from prompts of the middle size and geometric ages.

    Parameters
    ----------
    of : LevelSystem
    iterations, warmup : int
    rng : Generator
    rule : level | io
        ``level`` steers to `LevelSystem.target`.

    Raises
    ------
    ParameterError
    """
    if iterations < 1 or warmup < 0:
        raise ParameterError(f"`iterations` and `warmup` of `rich_loads` must be at least 1 and 0; got {iterations}, {warmup}.")
    if rule not in ("level", "io"):
        raise ParameterError(f"`rule` of `rich_loads` must be level or io; got {rule!r}.")
    workloads = (of.s + 1) // 2 + rng.geometric(float(of.p), (of.workers, of.slots)) - 1
    loads = np.empty((iterations, of.workers), np.int64)
    _run(workloads, float(of.p), of.s, of.shifted(of.target()) if rule == "level" else -1, warmup, loads, rng)
    return loads


@njit(cache=True)
def _run(
    workloads: np.ndarray, p: float, s: int, target: int, warmup: int, loads: np.ndarray, rng: np.random.Generator
) -> None:
    """Advance all workers; ``workloads`` (G, B) is overwritten, ``loads`` (K, G) filled; a negative target means IO_0."""
    workers, slots = workloads.shape
    free, count, survivors = np.empty((workers, slots), np.int64), np.empty(workers, np.int64), np.empty(workers, np.int64)
    for k in range(-warmup, len(loads)):
        level = target
        for g in range(workers):
            survivors[g], count[g] = 0, 0
            for b in range(slots):
                if rng.random() < p:
                    free[g, count[g]] = b
                    count[g] += 1
                else:
                    workloads[g, b] += 1
                    survivors[g] += workloads[g, b]
            if target < 0:
                level = max(level, survivors[g] + count[g])
        for g in range(workers):
            load = min(max(level, survivors[g] + count[g]), survivors[g] + s * count[g])
            for i in range(count[g]):
                total = load - survivors[g]
                workloads[g, free[g, i]] = total // count[g] + (1 if i < total % count[g] else 0)
            if k >= 0:
                loads[k, g] = load


def supply_loads(
    bound: SupplyBound, law: PromptLaw, workers: int, slots: int, iterations: int, warmup: int, rng: np.random.Generator
) -> np.ndarray:
    """Loads under Theorem S's rule, int array (iterations, G), tokens; both groups are served in order of arrival.

    A worker with ``c`` completions looks at the ``c`` oldest requests of each group, ``S ≤ lo`` and ``S ≥ hi``, and
    admits ``j`` of the large and ``c − j`` of the small, ``j`` minimising ``|L − T|``. Parameters are those of `bound` and
    `rich_loads`.
    """
    p = float(bound.above.p)
    sizes, weights = np.array(law.sizes), np.array([w / law.total for w in law.weights])
    groups = [(sizes[part], weights[part] / weights[part].sum()) for part in (sizes >= bound.top, sizes <= bound.bottom)]
    count = int((iterations + warmup) * workers * slots * p * 1.5) + 20 * slots
    large, small = (rng.choice(values, size=count, p=chance) for values, chance in groups)
    workloads = round(float(bound.centre)) + rng.geometric(p, (workers, slots)) - 1
    loads = np.empty((iterations, workers), np.int64)
    target = float(slots * (bound.centre + (1 - bound.above.p) / bound.above.p))
    used = _run_supply(workloads, p, target, warmup, loads, large, small, rng)
    if used > count:
        raise ParameterError(
            "`iterations` of `supply_loads` used more requests than were drawn. Ask for fewer workers or slots."
        )
    return loads


@njit(cache=True)
def _run_supply(
    workloads: np.ndarray,
    p: float,
    target: float,
    warmup: int,
    loads: np.ndarray,
    large: np.ndarray,
    small: np.ndarray,
    rng: np.random.Generator,
) -> int:
    """Advance all workers; returns how many requests of the busier group were used (more than there are: stopped)."""
    workers, slots = workloads.shape
    free = np.empty(slots, np.int64)
    first, second = 0, 0
    for k in range(-warmup, len(loads)):
        for g in range(workers):
            survivors, count = 0, 0
            for b in range(slots):
                if rng.random() < p:
                    free[count] = b
                    count += 1
                else:
                    workloads[g, b] += 1
                    survivors += workloads[g, b]
            if max(first, second) + count > len(large):
                return len(large) + 1
            load = survivors
            for i in range(count):
                load += small[second + i]
            best, chosen = load, 0
            for j in range(1, count + 1):  # the j oldest large ones, the count − j oldest small ones
                load += large[first + j - 1] - small[second + count - j]
                if abs(load - target) < abs(best - target):
                    best, chosen = load, j
            for i in range(count):
                workloads[g, free[i]] = large[first + i] if i < chosen else small[second + i - chosen]
            first += chosen
            second += count - chosen
            if k >= 0:
                loads[k, g] = best
    return max(first, second)
