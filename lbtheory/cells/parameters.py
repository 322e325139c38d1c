"""Named parameters of the simulator. "Paper" marks the DLB paper's value (appendix B); all others are ours."""

from dataclasses import dataclass, fields
from math import inf, isfinite
from typing import Any

from lbtheory.core import ParameterError, UnknownNameError


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """Everything about servers, routers and control loops that is no property of a scenario.

    Parameters
    ----------
    decode_engines, engine_slots : int
        Decode engines of a server and requests that each decodes at once (paper: 2 and 4).
    queue : int or None
        ``Q``: requests that may wait before the prefill engine; None for no bound.
    choices : int
        ``d`` servers among which a leaf chooses.
    count_service : bool
        That choice counts the prefill tokens in service (whole) with those queued.
    probe_period : float
        ``δ_p``, seconds (paper: a few milliseconds).
    roots, leaves : int
        Router replicas a cell.
    shared_probes : bool
        Roots of a cell take turns to probe and share what they see; otherwise each keeps its own probes.
    share_period, leaf_timeout : float
        Leaves exchange their counts so often; a request to a crashed leaf goes to a peer after this time since the crash.
    current_state : bool
        Roots see the current state instead of probes.
    affinity : str
        ``none``, ``hash`` (consistent hashing to a cell and a server), ``sticky`` (never leave the cell) or ``conditional``.
    expected_saving : float
        ``r`` of the conditional rule: share of a mean prefill (paper: 0.4 to 0.5).
    flow_period : float
        ``δ_u``, seconds.
    stepsize_gain, latency_floor, stepsize_load : float
        ``κ``, the least latency in ``η = κ s/Σ_k λ_k max(τ_k^max, floor)``, and the share of capacity at which ``s`` is taken.
    mixing : float
        Dithering: share of a root's requests (discrete routing, with ``random_ties``) or flow that is spread over all
        admissible cells.
    plan_period, plan_capacity, overflow_price : float
        Loop of MNLB (paper: 10 s); ``u_max``, by default ``max(0.9, 1.05 utilisation)``; price of a request above capacity,
        seconds.
    aversion : bool
        Error aversion, for every policy but MNLB.
    error_period, error_half_life, idle_half_life : float
        Of the aversion loop; of outcomes with traffic; of the error rate without traffic. Seconds.
    aversion_gain, aversion_margin, aversion_cap, aversion_decay, aversion_step : float
        ``α ← min(cap, α + gain·gap)`` for a gap in error rates above the margin, else ``max(0, decay·α − step)``.
    hot_quantile : float
        Cells above this quantile of RIF per replica are hot (Prequal's ``2^{−1/4}``).
    fit_period, fit_window, bin_width, bins, smoothing, pull, margin : float
        Estimation: period and window in seconds, bins of RIF per replica, weight of a new sample, prior pull, ``δ``.
    start_width : float
        ``w`` of the models before the first fit, requests.
    censored : bool
        In-flight requests that outlived the latency of their bin enter the fit with their age.
    project_noise : bool
        Models are projected again after noise.
    background_period : float or None
        Out-of-band probing: every cell serves a request of its own so often, seconds, whatever the roots route to it; the
        requests take part in its load and its estimates, not in a run's records. None: off.
    autoscale : bool
        Replicas follow demand: every ``scale_period`` a cell wants ``⌈mean RIF/(scale_target · slots)⌉`` servers.
    scale_period, scale_target, start_lag, scale_cap : float
        Seconds; share of decode slots in use; seconds until a new server serves, in whole periods, rounded up; most servers
        over those of the scenario, ≥ 1.
    random_ties : bool
        Equal costs are broken uniformly; otherwise by the lowest index.
    cap : float
        A run stops after this time even with requests in flight, seconds.
    """

    decode_engines: int = 2
    engine_slots: int = 4
    queue: int | None = 32
    choices: int = 2
    count_service: bool = True
    probe_period: float = 0.01
    roots: int = 1
    leaves: int = 1
    shared_probes: bool = True
    share_period: float = 0.05
    leaf_timeout: float = 0.1
    current_state: bool = False
    affinity: str = "none"
    expected_saving: float = 0.45
    flow_period: float = 0.1
    stepsize_gain: float = 0.1
    latency_floor: float = 0.05
    stepsize_load: float = 0.8
    mixing: float = 0.0
    plan_period: float = 10.0
    plan_capacity: float | None = None
    overflow_price: float = 1000.0
    aversion: bool = True
    error_period: float = 1.0
    error_half_life: float = 5.0
    idle_half_life: float = 10.0
    aversion_gain: float = 0.5
    aversion_margin: float = 0.01
    aversion_cap: float = 0.98
    aversion_decay: float = 0.8
    aversion_step: float = 0.01
    hot_quantile: float = 2**-0.25
    fit_period: float = 5.0
    fit_window: float = 60.0
    bin_width: float = 0.5
    bins: int = 128
    smoothing: float = 0.05
    pull: float = 1.0
    margin: float = 0.05
    start_width: float = 2.0
    censored: bool = False
    project_noise: bool = True
    background_period: float | None = None
    autoscale: bool = False
    scale_period: float = 60.0
    scale_target: float = 0.7
    start_lag: float = 300.0
    scale_cap: float = 2.0
    random_ties: bool = True
    cap: float = 1200.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "affinity":
                if value not in AFFINITIES:
                    raise UnknownNameError("affinity", str(value), AFFINITIES)
                continue
            if field.type in ("bool", bool):
                ok = isinstance(value, bool)
            elif value is None:
                ok = field.name in ("queue", "plan_capacity", "background_period")
            else:
                ok = _in_range(field.name, value)
            if not ok:
                low, high = _RANGES.get(field.name, _POSITIVE)
                raise ParameterError(
                    f"`{field.name}` of `Parameters` must be {_wanted(field.name, field.type, low, high)}; got {value!r}."
                )

    @property
    def slots(self) -> int:
        """Decode slots of a server."""
        return self.decode_engines * self.engine_slots


AFFINITIES = ("none", "hash", "sticky", "conditional")
_POSITIVE = (0.0, inf)
_RANGES = {
    "queue": (0, inf),
    "mixing": (0.0, 1.0),
    "expected_saving": (0.0, 1.0),
    "leaf_timeout": (0.0, inf),
    "aversion_gain": (0.0, inf),
    "aversion_margin": (0.0, 1.0),
    "aversion_cap": (0.0, 1.0),
    "aversion_decay": (0.0, 1.0),
    "aversion_step": (0.0, 1.0),
    "hot_quantile": (0.0, 1.0),
    "smoothing": (0.0, 1.0),
    "pull": (0.0, inf),
    "margin": (0.0, inf),
    "latency_floor": (0.0, inf),
    "stepsize_load": (0.01, 0.99),
    "start_lag": (0.0, inf),
    "scale_target": (0.01, 1.0),
    "scale_cap": (1.0, inf),
}
"""Closed ranges; every other number must be positive."""
_WHOLE = ("decode_engines", "engine_slots", "queue", "choices", "roots", "leaves", "bins")


def _in_range(name: str, value: Any) -> bool:
    kinds = (int,) if name in _WHOLE else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds) or not isfinite(value):
        return False
    if name in _RANGES:
        low, high = _RANGES[name]
        return low <= value <= high
    return value > 0


def _wanted(name: str, kind: Any, low: float, high: float) -> str:
    if kind in ("bool", bool):
        return "true or false"
    what = "a whole number" if name in _WHOLE else "a finite number"
    if name not in _RANGES:
        return f"{what} > 0"
    return f"{what} ≥ {low:g}" + ("" if high == inf else f" and ≤ {high:g}")
