"""The worst single decision of one rule in one system, by search, as a record."""

import json
from typing import Any

import numpy as np

from lbtheory.decode.adversary import largest_gap, search_worst
from lbtheory.decode.exact import compare, solve_io
from lbtheory.decode.instance import decode_instance
from lbtheory.decode.policies import make_policy, view_of_instance

Record = dict[str, Any]


def worst_gap(
    *, seed: int, policy: str, free: list[int], largest: int, queue: int, starts: int, climbs: int, moves: int
) -> list[Record]:
    """The worst decision that one group of restarts found; one record.

    The rule has no overtaking cap: nothing was admitted before. What is recorded is computed again from the instance: by the
    rule's plain code, and by `solve_io`, whose proof is recorded as ``status``.
    """
    rule = make_policy(policy, overtake=None, cap_all=True)
    found = search_worst(rule, free, largest, queue, starts=starts, climbs=climbs, moves=moves, seed=seed)
    instance = decode_instance(found.loads, found.free, found.waiting)
    exact = solve_io(instance, tie="none", seed=0)
    rule.reset(len(free), max(free))
    rng = np.random.default_rng(0)  # as in the search
    assignment = rule.assign(view_of_instance(instance, rule.information, rng), rng)
    answer = compare(instance, assignment, exact, policy, 0.0)
    assert answer.imbalance is not None and answer.gap is not None and exact.imbalance is not None
    bound = largest_gap(free, largest, queue)
    return [
        {
            "workers": len(free),
            "slots": sum(free),
            "largest": largest,
            "queue": queue,
            "policy": policy,
            "gap": int(answer.gap),
            "bound": bound,
            "imbalance": answer.imbalance,
            "optimum": exact.imbalance,
            "status": exact.status.value,
            "mean": found.mean,
            "evaluations": found.evaluations,
            "solved": found.solved,
            "unproved": found.unproved,
            "instance": json.dumps({k: getattr(instance, k).tolist() for k in ("loads", "free", "waiting")}),
        }
    ]
