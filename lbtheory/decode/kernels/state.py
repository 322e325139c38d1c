"""The arrays that the compiled engine works on, grouped in named tuples (numba compiles them field by field).

The scalars of a run live in ``State.ints`` and ``State.floats`` under the indices below, so that a run can stop after any
iteration and go on later.
"""

from typing import NamedTuple

import numpy as np

# indices into State.ints
ITERATION, HEAD, TAIL, RELEASED, ADMITTED, WAITING, WAITING_SUM, ACTIVE, POINTER, FINISHED, REFRESHED, RELEASED_SUM = range(12)
INTS = 12
# indices into State.floats
NOW = 0
# release kinds
SATURATED, BY_ITERATION, BY_CLOCK = range(3)
# why a run stopped
RUNNING, DRAINED, EXHAUSTED = range(3)
# forecasts
NO_FORECAST, ORACLE, TABLE, HAZARD = range(4)
NEVER = np.iinfo(np.int64).max


WORKER = np.dtype(
    [
        ("count", np.int64),  # active requests
        ("base", np.int64),  # Σ (S_i − x_i): the load is base + k · count
        ("entered", np.int64),  # Σ x_i: the sum of ages is k · count − entered
        ("load", np.int64),
        ("seen_count", np.int64),  # counts and loads as a router with stale counts sees them
        ("seen_load", np.int64),
        ("seen_new", np.int64),  # own assignments since the refresh
        ("late_count", np.int64),  # requests that outlived their forecast, and their Σ (S_i − x_i)
        ("late_base", np.int64),
        ("level", np.float64),  # scratch of the LEVEL rules: E_g, T − E_g, requests still to be given, urgency
        ("need", np.float64),
        ("quota", np.int64),
        ("urgency", np.float64),
        ("expected", np.int64),  # departures expected so far in the window, in units of 1/ONE
    ]
)
REQUEST = np.dtype(
    [
        ("prompt", np.int64),
        ("output", np.int64),
        ("release_iteration", np.int64),  # used when releases go by iteration
        ("release_time", np.float64),  # seconds, used when releases go by the clock
        ("rank", np.int64),  # rank of the prompt among the distinct sizes
        ("worker", np.int64),
        ("admitted", np.int64),  # admission iteration (plus the iterations paused), 0 before
        ("released", np.int64),  # release iteration, 0 before
        ("after", np.int64),  # neighbours in the queue, −1 for none
        ("before", np.int64),
        ("chain", np.int64),  # next request that leaves at the same iteration, −1 for none
        ("leaves", np.int64),  # forecast departure iteration, NEVER when it stays
        ("place", np.int64),  # index in State.members
        ("table_start", np.int64),  # where its own forecasts by age start in Stream.table (or its curve in Stream.alive),
        ("table_first", np.int64),  # the age of the first of them,
        ("table_length", np.int64),  # and how many there are
        ("table_last", np.int64),  # the last entry of its curve, counted from the start
        ("paused", np.int64),  # iterations that it was paused; `admitted` moves on with each, so that ages stay right
        ("paused_at", np.int64),  # the last of them, 0 before
    ]
)
ROW = np.dtype(
    [
        ("maximum", np.int64),
        ("minimum", np.int64),
        ("total", np.int64),
        ("square", np.float64),  # Σ L_g²
        ("admitted", np.int64),
        ("waiting", np.int64),
        ("active", np.int64),
        ("fullest", np.int64),  # most requests on one worker
        ("start", np.float64),
        ("duration", np.float64),
        ("paused", np.int64),  # requests in flight that were left out of the step
    ]
)


class Stream(NamedTuple):
    """What does not change: draws, the classes of equal prompts, forecasts by age."""

    coins: np.ndarray  # float64 (n, 3) in [0, 1); (0, 3) when no policy draws
    sizes: np.ndarray  # distinct prompt sizes, ascending; empty when no size index is kept
    class_start: np.ndarray  # class r holds class_order[class_start[r]:class_start[r + 1]], release order
    class_order: np.ndarray
    table: np.ndarray  # float64: forecasts ĉ by age, tables laid end to end, the first one common to all requests
    alive: np.ndarray  # int64: survival curves, laid out likewise
    common: int  # length of the first table or curve


class Limits(NamedTuple):
    """Numbers that do not change in a run."""

    workers: int
    slots: int
    release: int
    queue: int
    t_fixed: float
    t_token: float
    t_mean: float
    overtake: int  # cap D; −1 for none
    patience: int  # cap on the iterations that a request waits; −1 for none
    indexed: bool  # keep the index of waiting sizes
    forecast: int  # NO_FORECAST, ORACLE, TABLE or HAZARD
    horizon: int
    cap: int  # forecasts are E min(r, cap); cap is H or H + 1
    refresh_each: bool  # forecasts are refreshed every iteration, else every H iterations
    listed: bool  # keep the list of active requests
    pause: float  # a worker above (1 + pause) times the mean load pauses requests; below 0 for never


class State(NamedTuple):
    """What changes. ``R`` is a power of two above the longest output, ``P`` one above the window."""

    ints: np.ndarray
    floats: np.ndarray
    worker: np.ndarray  # WORKER (G,)
    request: np.ndarray  # REQUEST (n,), release order
    free: np.ndarray  # (G,) workers with a free slot, ascending; valid inside an iteration
    head: np.ndarray  # (R,) first request that leaves at an iteration, −1 for none
    class_head: np.ndarray  # (classes,) position in class_order of the first request not admitted
    tree: np.ndarray  # (classes + 1,) Fenwick tree over the classes that have a waiting request
    ring_count: np.ndarray  # (G, P) forecast departures by iteration; with HAZARD expected ones by offset, in units of 1/ONE
    ring_base: np.ndarray  # (G, P) their Σ (S_i − x_i)
    members: np.ndarray  # (G·B,) active requests, in no order; kept when listed


class Records(NamedTuple):
    """One row an iteration, for a chunk of iterations."""

    row: np.ndarray  # ROW (chunk,)
    loads: np.ndarray  # (chunk, G), or (0, G) when not kept
