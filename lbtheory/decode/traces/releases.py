"""When requests join the queue: by iteration, by the clock, or whenever the queue has room (saturated).

Source: decode paper, section 2.1. Requests are indexed in release order, so times are nondecreasing. Iterations count from 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lbtheory.core import ParameterError, readonly, whole_number


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Releases:
    """Release rule of a stream of requests.

    Attributes
    ----------
    kind : {"saturated", "iteration", "clock"}
    queue : int
        Requests left waiting after admission when saturated; 0 otherwise.
    times : int64 array (n,) of iterations ≥ 1, float64 array (n,) of seconds ≥ 0, or None when saturated
        Nondecreasing.
    """

    kind: Literal["saturated", "iteration", "clock"]
    queue: int
    times: np.ndarray | None

    def __len__(self) -> int:
        return 0 if self.times is None else len(self.times)


def saturated(queue: int = 64) -> Releases:
    """Requests are released so that ``queue`` are left waiting after every admission (while the trace lasts)."""
    return Releases(kind="saturated", queue=whole_number("queue", "saturated", queue, 0), times=None)


def at_iterations(iterations: Sequence[int] | np.ndarray) -> Releases:
    """Release request ``i`` at iteration ``iterations[i]``.

    Raises
    ------
    ParameterError
        When an entry is not an integer ≥ 1 or less than the one before.
    """
    array = np.asarray(iterations)
    if array.dtype.kind == "f" and np.isfinite(array).all() and (array == np.trunc(array)).all() and (abs(array) < 2**53).all():
        array = array.astype(np.int64)
    if (
        array.ndim != 1
        or (array.dtype.kind not in "iu" and array.size)
        or (array.dtype == np.uint64 and (array >= 2**63).any())
    ):
        raise ParameterError("`iterations` of `at_iterations` must be a list of whole numbers ≥ 1.")
    array = array.astype(np.int64)
    _nondecreasing("iterations", "at_iterations", array, 1)
    return Releases(kind="iteration", queue=0, times=readonly(array))


def at_times(times: Sequence[float] | np.ndarray) -> Releases:
    """Release request ``i`` at ``times[i]`` seconds of the simulated clock.

    Raises
    ------
    ParameterError
        When an entry is not finite, negative or less than the one before.
    """
    try:
        array = np.array(times, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError("`times` of `at_times` must be a list of numbers of seconds.") from None
    if array.ndim != 1:
        raise ParameterError(f"`times` of `at_times` must be a list of seconds; got {array.ndim} dimensions.")
    if not np.isfinite(array).all():
        i = int((~np.isfinite(array)).argmax())
        raise ParameterError(f"`times` of `at_times` must be finite; got {array[i]} at index {i}.")
    _nondecreasing("times", "at_times", array, 0)
    return Releases(kind="clock", queue=0, times=readonly(array))


def batched(n: int, size: int, every: int) -> Releases:
    """``n`` requests, ``size`` of them at iterations 1, 1 + ``every``, 1 + 2 ``every``, … (the last batch may be smaller)."""
    whole_number("n", "batched", n, 1)
    whole_number("size", "batched", size, 1)
    whole_number("every", "batched", every, 1)
    return at_iterations(1 + (np.arange(n, dtype=np.int64) // size) * every)


def poisson_iterations(n: int, rate: float, rng: np.random.Generator) -> Releases:
    """``n`` requests of which a Poisson(``rate``) number, independent, joins at every iteration.

    Parameters
    ----------
    rate : float
        Mean number of requests an iteration, > 0.
    """
    times = _poisson("poisson_iterations", n, rate, rng)
    return at_iterations(1 + np.floor(times).astype(np.int64))


def poisson_clock(n: int, rate: float, rng: np.random.Generator) -> Releases:
    """``n`` requests of a Poisson process of ``rate`` requests a second that starts at time 0."""
    return at_times(_poisson("poisson_clock", n, rate, rng))


def size_paced(prompts: np.ndarray, rate: float, power: float, rng: np.random.Generator) -> Releases:
    """Releases that depend on sizes (ours): the gap before request ``i`` is ``∝ E_i S_i^power``, ``E_i ~ Exp(1)``.

    ``power = 0`` is a Poisson process, independent of sizes; at 1 tokens rather than requests come at a steady rate, as behind
    a prefill stage that is busy: small prompts come in bursts, and a large one leaves a gap before it. Gaps are scaled to
    ``rate`` requests an iteration over the whole stream. The decode paper's theorem fixes releases before sizes are drawn.

    Parameters
    ----------
    prompts : int array (n,)
        Sizes in the order of release.
    rate : float
        Mean number of requests an iteration, > 0.
    power : float
        Between 0 and 4.
    """
    if not 0 <= power <= 4:
        raise ParameterError(f"`power` of `size_paced` must be between 0 and 4; got {power}.")
    times = _poisson("size_paced", len(prompts), rate, rng)
    pace = np.asarray(prompts, float) ** power
    gaps = np.diff(times, prepend=0.0) * (pace / pace.mean())
    return at_iterations(1 + np.floor(np.cumsum(gaps)).astype(np.int64))


def bursts(n: int, sizes: Sequence[int], gaps: Sequence[int]) -> Releases:
    """``n`` requests in bursts: ``sizes[k]`` at once, the next burst ``gaps[k]`` iterations later; both lists repeat.

    A gap above 1 leaves empty iterations between bursts. The first burst comes at iteration 1; the last is cut to ``n`` in all.
    """
    whole_number("n", "bursts", n, 1)
    if len(sizes) == 0 or len(gaps) == 0:
        raise ParameterError("`sizes` and `gaps` of `bursts` must each hold at least one number.")
    for name, values in (("sizes", sizes), ("gaps", gaps)):
        for i, value in enumerate(values):
            whole_number(f"{name}[{i}]", "bursts", value, 1)
    times = np.empty(n, dtype=np.int64)
    done = burst = 0
    iteration = 1
    while done < n:
        size = int(sizes[burst % len(sizes)])
        times[done : done + size] = iteration
        done, iteration, burst = done + size, iteration + int(gaps[burst % len(gaps)]), burst + 1
    return at_iterations(times)


def _poisson(function: str, n: int, rate: float, rng: np.random.Generator) -> np.ndarray:
    whole_number("n", function, n, 1)
    if not (np.isfinite(rate) and rate > 0 and np.isfinite(1 / rate)):
        raise ParameterError(f"`rate` of `{function}` must be positive and finite; got {rate}.")
    return np.cumsum(rng.exponential(1 / rate, size=n))


def _nondecreasing(name: str, function: str, array: np.ndarray, low: int) -> None:
    if array.size and array.min() < low:
        i = int((array < low).argmax())
        raise ParameterError(f"`{name}` of `{function}` must be ≥ {low}; got {array[i]} at index {i}.")
    back = array[1:] < array[:-1]
    if back.any():
        i = int(back.argmax()) + 1
        raise ParameterError(
            f"`{name}` of `{function}` must be nondecreasing; got {array[i]} after {array[i - 1]} at index {i}. "
            "Sort the requests by release."
        )
