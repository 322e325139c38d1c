"""Arrays of the compiled engine: everything a kernel reads or writes is in one of these named tuples (``st``, ``lim`` …).

A request has at most one event ahead of it, so the calendar and the queues of the servers link requests by ``next`` and need no
nodes of their own. Scalars of a run live in ``State.ints`` and ``State.floats`` under the indices below.
"""

import math
from typing import NamedTuple

import numpy as np

# kinds of events of requests, in the order in which they happen at equal times
PREFILL_END, DECODE_END, LEAF_ARRIVAL, CLIENT_RETURN = range(4)
# status of a request
FUTURE, ON_WIRE, WAITING, PREFILLING, BLOCKED, DECODING, SUCCESS_RETURNING, FAILURE_RETURNING, DONE, FAILED = range(10)
# why a request failed
NO_REASON, OVERFLOW, UNHEALTHY, SERVER_LOST, NO_LEAF, NO_ROOT = range(6)
# what happens in a disruption
(
    SET_REPLICAS,
    LOSE_REPLICAS,
    SET_FAILING,
    CRASH_LEAF,
    RESTART_LEAF,
    CRASH_ROOT,
    RESTART_ROOT,
    SET_PREFILL_TIME,
    SET_DECODE_TIME,
    START_STAGE,
) = range(10)
# mechanisms and costs
RANDOM, MNLB, DISCRETE, FLOW, LEAST_CONNECTIONS, POWER_OF_TWO, HOT_COLD, CLAIRVOYANT = range(8)
RIF, LATENCY, GRADIENT = range(3)
# where latency models come from
NO_MODEL, FIXED, ESTIMATED = range(3)
# affinity of sessions
NO_AFFINITY, HASHED, STICKY, CONDITIONAL = range(4)

# indices into State.ints
(
    UPCOMING,  # next request of the stream
    PENDING,  # events in the calendar
    CURSOR,  # bucket from which the calendar looks for its head
    EVENTS,
    ARRIVED,
    DONE_COUNT,
    FAILED_COUNT,
    OUTBOUND,  # requests between a root and a leaf
    INSIDE,  # requests in servers
    INBOUND,  # answers on their way back
    VIOLATIONS,  # events after which arrived ≠ done + failed + in flight
    SNAPSHOT,  # index of the last snapshot
    DISRUPTED,  # disruptions done
    SHARES,  # rounds done of each control loop
    ERROR_ROUNDS,
    FITS,
    PLANS,
    UPDATES,
    UNSERVED,  # programs of MNLB whose capacities were exceeded
    SCALINGS,  # rounds of the autoscaler
    STAGE,  # of the policy schedule, the latest that has started
) = range(21)
INTS = 21
# indices into State.floats
NOW, LOOP = range(2)  # LOOP: when a control loop or a disruption is due next
FLOATS = 2

LN2 = math.log(2.0)

# indices of a request's uniform numbers
U_ROUTE, U_SECOND, U_FAILURE, U_EXPLORE, U_STAGE, U_SERVER, U_DIVERSION = 0, 1, 2, 3, 4, 8, 1024
U_HASHED_SERVER, U_HASHED_CELL = 4095, 4096
"""Of the key of a session, which is its number."""

REQUEST = np.dtype(
    [
        ("time", np.float64),  # of its next event
        ("next", np.int32),  # in a bucket of the calendar, or in the queue of a server
        ("cell", np.int32),
        ("server", np.int32),
        ("leaf", np.int32),
        ("prefill", np.int32),  # tokens
        ("decode", np.int32),
        ("source", np.int32),
        ("root", np.int32),
        ("session", np.int32),  # −1 for none
        ("leaf_epoch", np.int32),
        ("root_epoch", np.int32),
        ("kind", np.int8),
        ("status", np.int8),
        ("reason", np.int8),
        ("hit", np.int8),  # 1 when it met the prefix
        ("key", np.uint64),  # of its uniform numbers
        ("accepted", np.float64),  # when a server took it
        ("load", np.float64),  # RIF per replica of the cell just after it was accepted
        ("prefilled", np.float64),
        ("finished", np.float64),  # end of decode, or the failure
        ("returned", np.float64),
        ("arrival", np.float64),  # at the root, seconds; infinite: injected by a closed loop
        ("saving", np.float64),  # share of the prefill that the prefix of its session saves
        ("target", np.int16),  # cell that a background probe is for, −1 for a request that is routed
        ("diverted", np.int8),  # 1 when error aversion changed its cell
    ],
    align=True,
)
"""128 bytes, two lines of a cache."""
SERVER = np.dtype(
    [
        ("head", np.int32),  # queue before the prefill engine
        ("tail", np.int32),
        ("waiting", np.int32),
        ("engine", np.int32),  # request that holds the prefill engine, or −1
        ("free", np.int32),  # decode slots
        ("tokens", np.int64),  # prefill tokens queued and in service
    ]
)
CELL = np.dtype(
    [
        ("first", np.int64),  # its servers are first … first + replicas − 1
        ("replicas", np.int64),
        ("most", np.int64),  # servers that it may have
        ("held", np.float64),  # sum of the RIF of snapshots since the last round of the autoscaler, and their number
        ("seen", np.int64),
        ("rif", np.int64),
        ("wire", np.int64),  # requests on their way to it
        ("shared", np.int64),  # sum of the counts of its leaves at their last exchange
        ("turn", np.int64),  # requests that its leaves were handed
        ("prefill_time", np.float64),  # seconds a token
        ("decode_time", np.float64),
        ("rate", np.float64),  # requests per second a server can serve
        ("failing", np.float64),  # share of its requests that fail at once
        ("errors", np.float64),  # decayed sums of outcomes, and when they were last changed
        ("outcomes", np.float64),
        ("outcome_time", np.float64),
        ("a", np.float64),  # published model of a replica
        ("b", np.float64),
        ("k", np.float64),
        ("w", np.float64),
    ]
)
LEAF = np.dtype([("count", np.int64), ("epoch", np.int64), ("alive", np.int8), ("crashed", np.float64)])
SNAP = np.dtype(
    [
        ("rif", np.float64),
        ("replicas", np.float64),
        ("error", np.float64),
        ("latency", np.float64),
        ("gradient", np.float64),
    ]
)
PHASE = np.dtype(
    [
        ("start", np.float64),
        ("ramp", np.float64),  # seconds over which its share of the requests grows to 1
        ("mechanism", np.int64),
        ("cost", np.int64),
        ("averse", np.int64),
    ]
)
DISRUPTION = np.dtype(
    [("time", np.float64), ("kind", np.int64), ("cell", np.int64), ("index", np.int64), ("value", np.float64)]
)


class Limits(NamedTuple):
    """What does not change in a run. ``n`` cells, ``s`` sources, ``m`` roots a source."""

    cells: int
    sources: int
    roots: int  # m
    leaves: int  # a cell
    shared_probes: bool
    queue: int  # Q; −1 for no bound
    choices: int  # d
    count_service: bool  # the choice among servers counts the tokens in service too
    slots: int
    plans: bool  # some stage goes by the program of MNLB
    flows: bool  # some stage is flow routing
    latencies: bool  # snapshots hold expected latencies
    gradients: bool  # snapshots hold marginal latencies
    models: int
    affinity: int
    mean_saving: float  # r E[P] of the conditional rule, tokens
    current: bool  # roots see current state instead of probes
    random_ties: bool
    aversion: bool
    closed: bool  # a finished request is replaced at once
    mixing: float  # share of traffic that explores: dithering
    quantile: float  # of hot cells
    probe_period: float
    share_period: float
    leaf_timeout: float
    error_period: float
    error_half_life: float
    idle_half_life: float
    aversion_gain: float
    aversion_decay: float
    aversion_step: float
    aversion_margin: float
    aversion_cap: float
    fit_period: float
    plan_period: float
    plan_capacity: float  # u_max
    overflow_price: float  # BigM
    flow_period: float
    scaling: bool  # replicas follow demand
    scale_period: float
    scale_target: float  # share of the slots in use
    end: float  # nothing happens later
    per_second: float  # buckets of the calendar a second
    mask: int  # buckets less one


class Network(NamedTuple):
    """Arcs."""

    latency: np.ndarray  # (s, n) one-way seconds
    allowed: np.ndarray  # (s, n) uint8
    stepsize: np.ndarray  # (stages, s) η; 0 where the stage is no flow routing


class State(NamedTuple):
    """What changes."""

    ints: np.ndarray
    floats: np.ndarray
    request: np.ndarray  # REQUEST, in order of arrival
    server: np.ndarray  # SERVER
    cell: np.ndarray  # CELL (n,)
    leaf: np.ndarray  # LEAF (n, leaves)
    bucket: np.ndarray  # int32: first request of each bucket of the calendar
    snap: np.ndarray  # SNAP (ring, n), the ring a power of two
    disruption: np.ndarray  # DISRUPTION, by time
    root_alive: np.ndarray  # int8 (s·m,)
    root_epoch: np.ndarray  # int32 (s·m,)
    stage: np.ndarray  # PHASE, policies by the time at which they start
    x: np.ndarray  # (stages, s·m, n) flow routing
    alpha: np.ndarray  # (s·m, n) aversion rates
    averse: np.ndarray  # int8 (s·m,): some aversion rate is positive
    open: np.ndarray  # int64 (s·m, n) requests without an answer
    weights: np.ndarray  # (s, n) of MNLB
    counts: np.ndarray  # int64 (s,) arrivals since the last program
    holder: np.ndarray  # int32 (n, sessions): server with the prefix of a session, −1 for none
    kept: np.ndarray  # int32 (s·m, sessions): cell of a session in the map of a root, −1 for none
    score: np.ndarray  # (n,) scratch: costs, or weights
    other: np.ndarray  # (n,) scratch
    refused: np.ndarray  # uint8 (n,) scratch
    starting: np.ndarray  # int64 (n, lag): servers that start, by the round modulo the lag in which they are ready
    sizes: np.ndarray  # int64 (rounds + 1, n) replicas after each round of the autoscaler, from the initial ones on
    pick: np.ndarray  # int64 (d,) scratch


class Planner(NamedTuple):
    """Scratch of the transportation program of MNLB."""

    supply: np.ndarray  # (s,)
    capacity: np.ndarray  # (n,)
    price: np.ndarray  # (s, n)
    flow: np.ndarray  # (s, n)
    room: np.ndarray  # (n,)
    excess: np.ndarray  # (n,)
    distance: np.ndarray  # (s + n,)
    parent: np.ndarray  # int64 (s + n,)
