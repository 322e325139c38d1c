"""A pool of prefill workers in front of the decode workers: it turns arrivals into releases, batch by batch.

A worker that is free takes up to ``batch`` waiting requests in order of arrival, works ``fixed + per_token · Σ prompts``
seconds and releases the whole batch together. Batches of different workers may overtake each other, so the release order is a
permutation of the order of arrival.
"""

import heapq
from typing import NamedTuple

import numpy as np

from lbtheory.core import ParameterError, readonly, whole_number


class PrefillResult(NamedTuple):
    """What comes out of the pool.

    Attributes
    ----------
    times : float64 array (n,)
        Release times in release order, seconds, nondecreasing.
    order : int64 array (n,)
        ``order[k]`` is the index of the request released ``k``-th; equal times keep the order of arrival.
    """

    times: np.ndarray
    order: np.ndarray


def prefill_pool(
    arrivals: np.ndarray, prompts: np.ndarray, *, workers: int, batch: int, fixed: float, per_token: float
) -> PrefillResult:
    """Release times of requests that pass through a first-come-first-served pool.

    Parameters
    ----------
    arrivals : float array (n,)
        Seconds, nondecreasing.
    prompts : int array (n,)
        Tokens.
    workers : int
        Prefill workers, ≥ 1.
    batch : int
        Most requests a worker takes at once, ≥ 1.
    fixed, per_token : float
        Seconds a batch and seconds a prompt token, ≥ 0.

    Raises
    ------
    ParameterError
    """
    times, sizes = np.asarray(arrivals, dtype=np.float64), np.asarray(prompts)
    _check(times, sizes, workers=workers, batch=batch, fixed=fixed, per_token=per_token)
    n = len(times)
    release = np.empty(n, dtype=np.float64)
    free = [-np.inf] * min(workers, max(n, 1))
    at, lengths = times.tolist(), sizes.tolist()
    i = 0
    while i < n:
        start = max(heapq.heappop(free), at[i])
        j, tokens = i, 0
        while j < n and j - i < batch and at[j] <= start:
            tokens += lengths[j]
            j += 1
        end = start + fixed + per_token * tokens
        release[i:j] = end
        heapq.heappush(free, end)
        i = j
    order = np.argsort(release, kind="stable")
    return PrefillResult(times=readonly(release[order]), order=readonly(order, dtype=np.int64))


def _check(times: np.ndarray, sizes: np.ndarray, *, workers: int, batch: int, fixed: float, per_token: float) -> None:
    for name, value in (("workers", workers), ("batch", batch)):
        whole_number(name, "prefill_pool", value, 1)
    for name, seconds in (("fixed", fixed), ("per_token", per_token)):
        if not (np.isfinite(seconds) and seconds >= 0):
            raise ParameterError(f"`{name}` of `prefill_pool` must be finite seconds ≥ 0; got {seconds!r}.")
    if times.ndim != 1 or sizes.shape != times.shape:
        raise ParameterError(
            f"`prompts` of `prefill_pool` must have as many entries as `arrivals`; got {sizes.shape}, {times.shape}."
        )
    if sizes.size and (sizes.dtype.kind not in "iu" or sizes.min() < 1):
        raise ParameterError("`prompts` of `prefill_pool` must be whole numbers of tokens ≥ 1.")
    if not np.isfinite(times).all() or (times[1:] < times[:-1]).any():
        raise ParameterError(
            "`arrivals` of `prefill_pool` must be finite and nondecreasing seconds. Sort the requests by arrival."
        )
