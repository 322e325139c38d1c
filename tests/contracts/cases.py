"""Policies with their options, shapes and streams that every contract is checked on."""

from functools import cache

import numpy as np

from lbtheory.decode.engine import simulate
from lbtheory.decode.policies import Policy, make_policy
from lbtheory.decode.predictors import History
from lbtheory.decode.records import Run
from lbtheory.decode.stream import RequestStream, request_stream
from lbtheory.decode.traces.releases import at_iterations, at_times, saturated

KINDS = ("saturated", "iteration", "clock")
SHAPES = tuple((workers, slots) for workers in (1, 3, 5) for slots in (1, 3, 5))
EXACT = ("io", "min-max", "spread-lex")

COUNT_RULES = (
    "jsq",
    "jsq:ties=rotating",
    "jsq:ties=random",
    "jsq:ties=random,stale=3",
    "jsq:stale=4,local=false",
    "rr",
    "random",
    "p2c",
    "p2c:ties=lowest,stale=2",
    "p2c:ties=rotating",
    "p2c:ties=random",
    "vllm",
    "vllm:stale=3,ties=rotating",
    "vllm:ties=random,stale=2,local=false",
)
SEPARATE = ("separate", "separate:bind=rr", "separate:bind=tokens")
PAUSED = (
    "jsq:pause=0",
    "jsq:pause=0.1,ties=random",
    "token-jsq:pause=0.02",
    "br0:pause=0.05",
    "br0:pause=0,greedy=0,overtake=3",
    "level-plus:pause=0.1",
)
FCFS = (*COUNT_RULES, "token-jsq", "token-jsq:ties=rotating,stale=2", "token-jsq:ties=random,stale=3,local=false")
SIZED = (
    "br0",
    "br0:greedy=0",
    "br0:greedy=100,window=6",
    "br0:overtake=0",
    "br0:overtake=1,greedy=100",
    "br0:overtake=5",
    "br0:patience=0",
    "br0:patience=6,overtake=9",
    "brh:horizon=8,patience=10,predictor=survival",
    "brh:horizon=0",
    "brh:horizon=8,gamma=.64,beta=14.67",
    "brh:horizon=8,gamma=.86,beta=43,overtake=7",
    "brh:horizon=8,refresh=iteration",
    "brh:horizon=8,cap=1,overtake=0",
    "brh:horizon=8,cap=1,refresh=iteration,greedy=100",
    "brh:horizon=8,beta=1,gamma=.9",
    "brh:horizon=7,beta=4,gamma=1,refresh=iteration,greedy=0",
    "brh:horizon=8,score=exact,greedy=3,window=5",
    "brh:horizon=1,score=exact,greedy=0,gamma=.5",
    "brh:horizon=8,predictor=survival",
    "brh:horizon=8,predictor=survival,refresh=iteration",
    "brh:horizon=8,predictor=survival,cap=1,overtake=3",
    "brh:horizon=60,predictor=survival,refresh=iteration,cap=1",
    "brh:horizon=8,predictor=survival/estimate=product-limit/refit=7",
    "brh:horizon=8,predictor=exact-match/minimum=2/refit=10,cap=1,refresh=iteration",
    "brh:horizon=8,predictor=exact-match/key=prompt/buckets=4",
    "brh:horizon=8,predictor=noisy/error=0.4",
    "brh:horizon=20,predictor=noisy/error=1.5/seed=2,cap=1,refresh=iteration",
    "brh:horizon=8,predictor=learned/trees=6/every=3/lag=5/buckets=4",
    "brh:horizon=8,predictor=survival,projection=hazard",
    "brh:horizon=30,predictor=exact-match/minimum=1/estimate=product-limit/refit=9,projection=hazard,score=exact",
    "level",
    "level:overtake=none",
    "level:overtake=0",
    "level:overtake=4,pairs=true",
    "level:window=5",
    "level:window=5,pairs=true,overtake=3",
    "level-plus",
    "level:patience=4,overtake=none",
    "level-plus:patience=9",
    "level-plus:overtake=0",
    "level-plus:overtake=8",
    "level-plus:overtake=none,lam=0.5,phi=.3",
    "level-plus:pairs=false,window=0",
    "level-plus:overtake=1,window=7",
    "level-x",
    "level-x:patience=6,window=3",
    "level-x:overtake=none,alpha=0,zeta=0,kappa=0",
    "level-x:overtake=0",
    "level-x:overtake=3,sweeps=1,phi=.3,lam=1",
    "level-x:overtake=8,window=0,kappa=3",
    "level-h:horizon=12",
    "level-h:horizon=12,predictor=survival",
    "level-h:horizon=12,predictor=exact-match/key=prompt/refit=5",
    "level-h:horizon=12,predictor=noisy/error=0.7",
    "level-h:horizon=40,predictor=survival,projection=hazard",
    "level-h:horizon=25,predictor=exact-match/refit=6/minimum=2,projection=hazard,overtake=4",
    "level-h:horizon=1,overtake=2",
    "level-h:horizon=200,overtake=10,gamma=1",
)
COMPILED = (*FCFS, *SIZED)
TINY = (
    "io",
    "io:overtake=0",
    "io:overtake=2,tie=lexicographic",
    "io:patience=3",
    "io:bonus=0.5",
    "io:bonus=2,overtake=3,horizon=2",
    "br0:bonus=0.5,overtake=6",
    "io:horizon=3,gamma=.9",
    "io:horizon=2,refresh=iteration,cap=1,tie=smallest-total",
    "io:horizon=2,predictor=survival",
    "io:tie=random",
    "min-max",
    "min-max:overtake=1",
    "spread-lex",
    "spread-lex:overtake=1",
)


def history() -> History:
    """Finished requests for predictors and rules that learn from some."""
    rng = np.random.default_rng(5)
    return History(prompts=rng.integers(1, 21, 399), outputs=rng.geometric(0.1, 399), keys=rng.integers(0, 9, 399))


def policy(text: str) -> Policy:
    """The policy that an option string names."""
    return make_policy(text, history=history())


@cache
def stream(kind: str, n: int = 70, seed: int = 0) -> RequestStream:
    """Mixed prompts, outputs that are geometric or short and bounded; bursts, empty iterations and empty periods."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    prompts = rng.integers(1, 21, n)
    outputs = np.where(rng.random(n) < 0.5, rng.geometric(0.15, n), rng.integers(1, 4, n))
    times = np.sort(rng.integers(1, n // 2, n))
    late = np.arange(n) > n // 2
    releases = {
        "saturated": lambda: saturated(int(rng.integers(0, 12))),
        "iteration": lambda: at_iterations(times + 40 * late),
        "clock": lambda: at_times(times * 0.04 + 60.0 * late),
    }[kind]()
    return request_stream(prompts, outputs, releases, keys=rng.integers(0, 12, n), seed=seed)


@cache
def run(text: str, kind: str, workers: int, slots: int, engine: str) -> Run:
    """A run with its loads, made once for all contracts."""
    return simulate(stream(kind), policy(text), workers=workers, slots=slots, engine=engine, keep_loads=True)
