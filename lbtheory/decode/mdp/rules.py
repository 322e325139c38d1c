"""Policies of the toolkit as rules of the decision process, one-step gaps, and where IO_0 errs."""

from dataclasses import dataclass

import numpy as np

from lbtheory.core import LBTheoryError, ParameterError
from lbtheory.decode.mdp.model import Model
from lbtheory.decode.mdp.solve import Average, optimal_fills
from lbtheory.decode.policies import Policy, View

TOLERANCE = 1e-7
"""Differences of relative values that count; values are right to the span, 1e-10, times a few hundred sweeps."""


def policy_mix(model: Model, policy: Policy) -> np.ndarray:
    """Which fill a policy takes in each state, float array (F,): its own code is asked, once for each set of load differences.

    In rich supply the policy sees ``n`` requests of every size, which stands for the size law only where that is uniform.
    Workers are in the order of their loads, requests in ascending order: that settles its ties. Ages are not known (taken as
    0).

    Raises
    ------
    ParameterError
        For a size law that is not uniform in rich supply.
    """
    one = model.system
    if one.queue is None and max(one.law) - min(one.law) > 1e-12:
        raise ParameterError(
            "`model` of `policy_mix` must have uniform sizes in rich supply: a policy sees a queue, not a law."
        )
    chosen = np.flatnonzero(np.diff(model.act) > 1)  # elsewhere there is nothing to decide
    rows, queues = model.slots_of(model.before[chosen])
    work = np.array([model.workload(a) for a in range(int(rows.max(initial=0)) + 1)])[rows]
    empty = work == 0
    loads, free = work.sum(axis=2), empty.sum(axis=2)
    mix = np.zeros(len(model.result))
    mix[model.act[:-1][np.diff(model.act) == 1]] = 1.0
    rng = np.random.default_rng(0)
    policy.reset(one.workers, one.slots)
    known: dict[tuple[object, ...], list[tuple[int, ...]]] = {}
    for i, x in enumerate(chosen.tolist()):
        order = np.argsort(loads[i], kind="stable")
        shifted = loads[i][order] - loads[i].min()
        key = (shifted.tobytes(), free[i][order].tobytes(), int(queues[i]))
        if key not in known:
            known[key] = _ask(model, policy, shifted.tolist(), free[i][order].tolist(), int(queues[i]), rng)
        mix[model.act[x] + _which(model, x, work[i][order], known[key])] = 1.0
    return mix


def _ask(
    model: Model, policy: Policy, loads: list[int], free: list[int], queue: int, rng: np.random.Generator
) -> list[tuple[int, ...]]:
    """Sizes that the policy gives each worker."""
    one = model.system
    counts = model.waiting(queue) if one.queue is not None else [one.workers * one.slots] * len(one.sizes)
    prompts = [size for size, many in zip(one.sizes, counts, strict=True) for _ in range(many)]
    view = View(
        policy.information,
        iteration=1,
        slots=one.slots,
        admitted=0,
        free=free,
        active=[one.slots - c for c in free],
        order=list(range(len(prompts))),
        loads=loads,
        ages=[0] * one.workers,
        prompts=prompts,
        prompt_mean=float(np.mean(prompts)),
        coins=rng.random((len(prompts), 3)),
        waited=[0] * len(prompts),
        weights=[1] * len(prompts),
    )
    chosen = policy.assign(view, rng).workers
    return [tuple(sorted(prompts[i] for i in requests)) for requests in chosen]


def _which(model: Model, x: int, work: np.ndarray, sizes: list[tuple[int, ...]]) -> int:
    """The fill of state ``x`` that puts these sizes on its workers."""
    filled = sorted(tuple(sorted([int(w) for w in row if w] + list(more))) for row, more in zip(work, sizes, strict=True))
    loads = sorted(map(sum, filled))
    slice_ = model.result[model.act[x] : model.act[x + 1]]
    candidates = np.flatnonzero((np.sort(model.loads[slice_], axis=1) == loads).all(axis=1))
    if len(candidates) == 1:
        return int(candidates[0])
    rows, _ = model.slots_of(model.after[slice_[candidates]])
    for c, symbols in zip(candidates, rows, strict=True):
        if sorted(tuple(sorted(model.workload(a) for a in row)) for row in symbols) == filled:
            return int(c)
    raise LBTheoryError(f"No fill of state {x} gives {filled}. Please report the system and the policy.")


def worst_gap(model: Model, mix: np.ndarray) -> int:
    """The largest ``I − min I`` of a deterministic rule in one step, over all states."""
    least = np.minimum.reduceat(model.cost[model.result], model.act[:-1])
    chosen = np.add.reduceat(model.cost[model.result] * mix, model.act[:-1])
    return round(float((chosen - least).max()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """A state in which no fill that minimises today's imbalance is best in the long run.

    Attributes
    ----------
    survivors : tuple of tuples of int
        Workloads of the requests that stay, by worker.
    queue : tuple of int
        Waiting requests by size class; empty in rich supply.
    myopic, best : tuple of tuples of int
        Workloads after the best fill of IO_0, and after the optimal one.
    today : (int, int)
        ``I`` of the two.
    later : (float, float)
        What follows: relative value less ``I``.
    states : int
        How many such states there are, with no workload above half the cap.
    """

    survivors: tuple[tuple[int, ...], ...]
    queue: tuple[int, ...]
    myopic: tuple[tuple[int, ...], ...]
    best: tuple[tuple[int, ...], ...]
    today: tuple[int, int]
    later: tuple[float, float]
    states: int

    def __str__(self) -> str:
        gained, lost = self.later[0] - self.later[1], self.today[1] - self.today[0]
        waiting = f", waiting {self.queue}" if self.queue else ""
        return (
            f"survivors {self.survivors}{waiting}: IO_0 makes {self.myopic} (I = {self.today[0]}), the optimum {self.best} "
            f"(I = {self.today[1]}): {lost} more today, {gained:.6g} less later"
        )


def deviation(model: Model, best: Average) -> Deviation | None:
    """The smallest state (least total load, then lowest code) where IO_0 is not optimal, None where there is none.

    States with a workload above half the cap are left out: near the cap capped values are not the true ones.
    """
    from lbtheory.decode.mdp import _states

    allowed = optimal_fills(model, "io")
    optimal, mine = np.empty(len(model.before)), np.empty(len(model.before))
    _states.least(best.values, model.act, model.result, np.ones_like(allowed), 1.0, optimal)
    _states.least(best.values, model.act, model.result, allowed, 1.0, mine)
    wrong = np.flatnonzero(mine > optimal + TOLERANCE)
    rows, queues = model.slots_of(model.before[wrong])
    work = np.array([model.workload(a) for a in range(int(rows.max(initial=0)) + 1)])[rows].reshape(
        len(rows), model.system.workers * model.system.slots
    )
    low = np.flatnonzero(work.max(axis=1, initial=0) <= model.system.cap // 2)
    if len(low) == 0:
        return None
    k = int(low[np.argmin(work[low].sum(axis=1))])
    x = wrong[k]
    fills = np.arange(model.act[x], model.act[x + 1])
    y_best, y_mine = (min(model.result[some], key=best.values.__getitem__) for some in (fills, fills[allowed[fills]]))

    def loads(symbols: np.ndarray) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(model.workload(a) for a in row if model.workload(a)) for row in symbols)

    after, _ = model.slots_of(model.after[[y_mine, y_best]])
    cost = model.cost[[y_mine, y_best]]
    return Deviation(
        survivors=loads(rows[k]),
        queue=model.waiting(int(queues[k])),
        myopic=loads(after[0]),
        best=loads(after[1]),
        today=(int(cost[0]), int(cost[1])),
        later=(float(best.values[y_mine] - cost[0]), float(best.values[y_best] - cost[1])),
        states=len(low),
    )
