"""One decision of a policy in plain arrays, by its compiled rule: for searches that ask for many decisions."""

import numpy as np

from lbtheory.decode.engine_compiled import compiled_rule, layout_arrays
from lbtheory.decode.instance import decode_instance
from lbtheory.decode.policies.base import Policy, view_of_instance
from lbtheory.decode.stream import request_stream
from lbtheory.decode.timing import StepTime
from lbtheory.decode.traces.releases import at_iterations


def decide_once(policy: Policy, loads: np.ndarray, free: np.ndarray, waiting: np.ndarray) -> np.ndarray:
    """Worker of each waiting request, −1 where it waits on; what ``assign`` answers to `view_of_instance`.

    Nothing was admitted before and ages are 0. A policy without a compiled rule is asked in plain Python.

    Parameters
    ----------
    policy : Policy
        Without forecasts and without draws of its own.
    loads, free : int64 arrays (G,)
        ``a_g`` in tokens, and ``c_g``, some of them positive.
    waiting : int64 array (R,)
        Sizes in release order, tokens, ``R ≥ 1``.

    Returns
    -------
    int64 array (R,)
    """
    workers, slots = len(loads), int(free.max())
    policy.reset(workers, slots)
    ones = np.ones(len(waiting), np.int64)
    stream = request_stream(waiting, ones, at_iterations(ones))
    rule = compiled_rule(stream, policy, workers)
    if rule is None:
        return _plainly(policy, loads, free, waiting)
    from lbtheory.decode.kernels import state as layout

    arrays, limits, state = layout_arrays(stream, policy, rule, workers, slots, StepTime())
    count = slots - free
    # in iteration 1 a load is base + count, and ages sum to count − entered
    state.worker["count"], state.worker["base"], state.worker["entered"] = count, loads - count, count
    state.ints[layout.ACTIVE] = count.sum()
    records = layout.Records(row=np.zeros(1, layout.ROW), loads=np.zeros((0, workers), np.int64))
    rule.run(arrays, limits, rule.rule, state, records, 1)
    return np.where(state.request["admitted"] > 0, state.request["worker"], -1)


def _plainly(policy: Policy, loads: np.ndarray, free: np.ndarray, waiting: np.ndarray) -> np.ndarray:
    """The same by the policy's ``assign``."""
    rng = np.random.default_rng(0)
    instance = decode_instance(loads, free, waiting)
    worker = np.full(len(waiting), -1, np.int64)
    for g, chosen in enumerate(policy.assign(view_of_instance(instance, policy.information, rng), rng).workers):
        worker[list(chosen)] = g
    return worker
