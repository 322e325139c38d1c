"""Where the integrator steps: one width on which the delays are whole numbers of steps, or breakpoint by breakpoint.

A jump of a history, of an arrival rate or of a capacity at ``b``, and the start itself, put a bend into the solution at
``b + τ``, a weaker one at ``b + τ + τ'``, and so on. A method of order 4 keeps its order when it steps onto them. With delays
that are multiples of one step this happens by itself; otherwise the mesh holds up to `GENERATIONS` of them.
"""

from dataclasses import dataclass

import numpy as np

from lbtheory.core import ParameterError, readonly

Array = np.ndarray

GENERATIONS = 3
MOST_BREAKPOINTS = 4096
"""A generation that would bring more is left out."""
FINEST = 8.0
"""An even mesh is chosen by itself if it needs at most so many times the steps that were asked for."""
SAME = 1e-9
"""Times nearer than this share of a step are one."""
MOST_STEPS = 50_000_000
KINDS = ("auto", "even", "breakpoints")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mesh:
    """Nodes of the integrator.

    Attributes
    ----------
    kind : str
        ``even`` or ``breakpoints``.
    times : float array
        Seconds; the history first.
    base : int
        Index of time 0.
    step : float
        Greatest width.
    generations : int
        Of breakpoints that are nodes; 0 on an even mesh.
    """

    kind: str
    times: Array
    base: int
    step: float
    generations: int

    @property
    def steps(self) -> int:
        """From time 0 on."""
        return len(self.times) - 1 - self.base

    def refined(self) -> "Mesh":
        """Every interval cut in two."""
        if self.kind == "even":
            return _even(self.step / 2, self.steps * 2, self.base * 2)
        middle = (self.times[:-1] + self.times[1:]) / 2
        times = np.empty(2 * len(self.times) - 1)
        times[::2], times[1::2] = self.times, middle
        return Mesh(kind=self.kind, times=readonly(times), base=2 * self.base, step=self.step / 2, generations=self.generations)


def make_mesh(
    delays: Array,
    t_end: float,
    step: float,
    *,
    breaks: Array,
    history_jumps: Array,
    period: float | None,
    kind: str = "auto",
) -> Mesh:
    """Nodes of width at most ``step`` for positive or zero ``delays``.

    Parameters
    ----------
    delays : float array
    t_end, step : float
        Seconds.
    breaks : float array
        Jumps of rates and capacities, any sign.
    history_jumps : float array
        Below 0.
    period : float, optional
        Of updates, which are nodes.
    kind : str
        ``auto`` takes an even mesh if all of these are multiples of a width not below ``step``/8.

    Raises
    ------
    ParameterError
        For more than `MOST_STEPS` steps.
    """
    _check_count(int(min(t_end / step, 1e18)))
    positive = np.unique(delays[delays > 0])
    longest = float(positive[-1]) if positive.size else 0.0
    inner = np.unique(np.r_[breaks, history_jumps])
    inner = inner[(inner > -longest) & (inner < t_end) & (inner != 0)]
    if kind in ("auto", "even"):
        wanted = np.r_[positive, np.abs(inner), t_end, [period] if period else []]
        width = _common_divisor(wanted, max(SAME * step, 4e-16 * float(wanted.max())))
        if width * FINEST >= step:
            return _even_of(width / np.ceil(width / step - SAME), t_end, longest)
    if kind == "even":
        width = period if period else t_end
        return _even_of(width / np.ceil(width / step - SAME), t_end, longest)
    return _breakpoints(positive, t_end, step, inner, longest, period)


def _common_divisor(values: Array, near: float) -> float:
    """Greatest number of which all values are multiples, up to ``near``; 0 if there is none above ``100 near``."""
    common = 0.0
    for value in values:
        a, b = max(common, value), min(common, value)
        while b > near:
            rest = a % b
            a, b = b, 0.0 if b - rest <= near else rest
        common = float(a)
        if common < 100 * near:
            return 0.0
    # the divisor carries the rounding of the smallest; fit it to all
    counts = np.rint(values / common)
    fitted = float(counts @ values / (counts @ counts))
    return fitted if np.all(np.abs(values - counts * fitted) <= near) else 0.0


def _even_of(width: float, t_end: float, longest: float) -> Mesh:
    return _even(width, int(np.ceil(t_end / width - 1e-6)), int(np.ceil(longest / width - 1e-6)) + 1)


def _even(width: float, steps: int, base: int) -> Mesh:
    _check_count(steps)
    times = width * np.arange(-base, steps + 1)
    return Mesh(kind="even", times=readonly(times), base=base, step=width, generations=0)


def _check_count(steps: int) -> None:
    if steps > MOST_STEPS:
        raise ParameterError(f"`step` of `simulate` must need at most {MOST_STEPS:,} steps; got {steps:,}. Take a larger step.")


def _breakpoints(positive: Array, t_end: float, step: float, inner: Array, longest: float, period: float | None) -> Mesh:
    width = min(step, float(positive[0])) if positive.size else step
    near = SAME * width
    last = np.r_[0.0, inner]
    found, generations = inner, 0
    for _ in range(GENERATIONS if positive.size else 0):
        following = _distinct((last[:, None] + positive).ravel(), near)
        following = following[(following > near) & (following < t_end - near)]
        if len(found) + len(following) > MOST_BREAKPOINTS and generations:
            break
        found, last, generations = np.r_[found, following], following, generations + 1
    updates = period * np.arange(1, int(t_end / period + SAME) + 1) if period else np.empty(0)
    fixed = np.r_[0.0, t_end, updates]
    extra = found[(found > 0) & (found < t_end)]
    after = _filled(_merged(fixed, extra, near), width)
    before = _filled(np.unique(np.r_[-longest - width, -longest, inner[inner < 0], 0.0]), width)
    times = np.r_[before[:-1], after]
    _check_count(len(after))
    return Mesh(kind="breakpoints", times=readonly(times), base=len(before) - 1, step=width, generations=generations)


def _distinct(values: Array, near: float) -> Array:
    """Sorted, without those that lie within ``near`` of the one before."""
    ordered = np.sort(values)
    return ordered[np.r_[True, np.diff(ordered) > near]] if ordered.size else ordered


def _merged(fixed: Array, extra: Array, near: float) -> Array:
    """Both sorted, without an extra value within ``near`` of a fixed one."""
    fixed, extra = np.unique(fixed), _distinct(extra, near)
    place = np.searchsorted(fixed, extra)
    gap = np.minimum(np.abs(extra - fixed[np.maximum(place - 1, 0)]), np.abs(fixed[np.minimum(place, len(fixed) - 1)] - extra))
    return np.sort(np.r_[fixed, extra[gap > near]])


def _filled(nodes: Array, width: float) -> Array:
    """Equal parts of at most ``width`` between nodes."""
    counts = np.maximum(np.ceil(np.diff(nodes) / width - SAME), 1).astype(np.int64)
    start = np.repeat(nodes[:-1], counts)
    offset = np.arange(counts.sum()) - np.repeat(np.r_[0, np.cumsum(counts)[:-1]], counts)
    return np.r_[start + offset * np.repeat(np.diff(nodes) / counts, counts), nodes[-1]]
