"""The two engines against an independent simulator that recomputes everything and decides by the written rules."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lbtheory.decode.engine import simulate
from lbtheory.decode.policies import InformationSet, View, make_policy
from lbtheory.decode.policies.level_h import LevelH
from lbtheory.decode.predictors import History
from lbtheory.decode.stream import RequestStream, request_stream
from lbtheory.decode.traces.releases import at_iterations, at_times, saturated
from tests.reference import decode as plain
from tests.reference.laws import forced_sequentially

F = Fraction
OUTPUTS = np.random.default_rng(5).geometric(0.2, 60)
"""History of the survival forecasts."""


def survival(age: int, remaining: int, cap: int) -> Fraction | int:
    """``Σ_j (1 − F̂(a + j)) / (1 − F̂(a))``, ``min(1, cap)`` past all history."""
    above = [int((age + j < OUTPUTS).sum()) for j in range(max(cap, 1))]
    return F(sum(above[:cap]), above[0]) if above[0] else min(1, cap)


# Discounts and penalties are dyadic, so that doubles are exact and equal scores are equal in both.
RULES: dict[str, plain.Rule] = {
    "jsq": plain.count_jsq(),
    "jsq:stale=3": plain.stale_jsq(3, True),
    "jsq:stale=4,local=false": plain.stale_jsq(4, False),
    "rr": plain.round_robin(),
    "random": plain.uniform(),
    "p2c": plain.power_of_two(),
    "token-jsq": plain.token_jsq(),
    "vllm": plain.vllm(),
    "br0": plain.balance(),
    "br0:greedy=0": plain.balance(greedy=0),
    "br0:overtake=0": plain.balance(overtake=0),
    "br0:overtake=5": plain.balance(overtake=5),
    "br0:greedy=100,window=5,overtake=9": plain.balance(greedy=100, window=5, overtake=9),
    "br0:greedy=100,window=6,search=reachable-sums": plain.balance(greedy=100, window=6),
    "brh:horizon=8,gamma=.5,beta=4": plain.balance(beta=F(4), gamma=F(1, 2), horizon=8),
    "brh:horizon=6,gamma=1,beta=3,refresh=iteration": plain.balance(beta=F(3), horizon=6, each=True),
    "brh:horizon=6,gamma=1,beta=7,cap=1,overtake=6": plain.balance(beta=F(7), horizon=6, extra=1, overtake=6),
    "brh:horizon=6,gamma=1,beta=1,greedy=100": plain.balance(beta=F(1), horizon=6, greedy=100),
    "brh:horizon=6,gamma=1,beta=3.5,greedy=2": plain.balance(beta=F(7, 2), horizon=6, greedy=2),
    "brh:horizon=6,gamma=.5,score=exact": plain.balance(gamma=F(1, 2), horizon=6, exact=True),
    "brh:horizon=5,gamma=1,score=exact,cap=1,greedy=100,refresh=iteration": plain.balance(
        horizon=5, extra=1, exact=True, greedy=100, each=True
    ),
    "brh:horizon=6,gamma=.5,predictor=survival": plain.balance(gamma=F(1, 2), horizon=6, forecast=survival),
    "brh:horizon=6,gamma=.5,predictor=survival,refresh=iteration": plain.balance(
        gamma=F(1, 2), horizon=6, forecast=survival, each=True
    ),
    "brh:horizon=6,gamma=.5,predictor=survival,cap=1,overtake=4": plain.balance(
        gamma=F(1, 2), horizon=6, forecast=survival, extra=1, overtake=4
    ),
    # The published penalties and discounts; scores of different sets are never equal on these streams.
    "brh:horizon=8,gamma=.86,beta=43": plain.balance(beta=F(43), gamma=F(43, 50), horizon=8),
    "brh:horizon=8,gamma=.64,beta=14.67,greedy=100": plain.balance(beta=F("14.67"), gamma=F(16, 25), horizon=8, greedy=100),
    "level": plain.level(exact=False),
    "level:overtake=none": plain.level(overtake=None, exact=False),
    "level:overtake=7,pairs=true": plain.level(overtake=7, pairs=True, exact=False),
    "level:window=5,overtake=2": plain.level(window=5, overtake=2, exact=False),
    "level-plus": plain.level_plus(exact=False),
    "level-plus:overtake=8": plain.level_plus(overtake=8, exact=False),
    "level-plus:overtake=0": plain.level_plus(overtake=0, exact=False),
    "level-plus:overtake=none,lam=0.5,phi=.25": plain.level_plus(overtake=None, lam=F(1, 2), phi=F(1, 4), exact=False),
    "level-plus:pairs=false,phi=.3": plain.level_plus(pairs=False, phi=F(3, 10), exact=False),
    "level-plus:window=0,overtake=20": plain.level_plus(window=0, overtake=20, exact=False),
    # Weights without common factors: no two exchanges are worth the same but for requests of one size on one worker.
    "level-x:lam=.1503,kappa=1.0107,alpha=2.0019,zeta=.12013": plain.level_x(
        lam=0.1503, kappa=1.0107, alpha=2.0019, zeta=0.12013
    ),
    "level-x:lam=.3301,kappa=.5003,alpha=.7101,zeta=.0217,overtake=5,window=3": plain.level_x(
        lam=0.3301, kappa=0.5003, alpha=0.7101, zeta=0.0217, overtake=5, window=3
    ),
    "level-x:lam=.5003,kappa=7.0301,alpha=.0313,zeta=0,overtake=none,phi=.3001,sweeps=3": plain.level_x(
        lam=0.5003, kappa=7.0301, alpha=0.0313, zeta=0.0, overtake=None, phi=0.3001, sweeps=3
    ),
}


@st.composite
def streams(draw: st.DrawFn, kinds: tuple[str, ...] = ("saturated", "iteration", "clock")) -> tuple[RequestStream, int, int]:
    """A stream, ``G`` and ``B``: few or many sizes, geometric or bounded outputs, bursts, empty iterations and periods."""
    n = draw(st.integers(2, 36))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    prompts = rng.integers(1, draw(st.sampled_from([1, 3, 8, 30])) + 1, n)
    outputs = rng.geometric(0.2, n) if draw(st.booleans()) else rng.integers(1, draw(st.sampled_from([1, 4, 8])) + 1, n)
    kind = draw(st.sampled_from(kinds))
    if kind == "saturated":
        releases = saturated(draw(st.integers(0, 8)))
    elif kind == "iteration":
        releases = at_iterations(np.sort(rng.integers(1, draw(st.sampled_from([1, 8, 40])) + 1, n)))
    else:
        releases = at_times(np.sort(rng.random(n)) * draw(st.sampled_from([0.0, 1.0, 6.0])))
    made = request_stream(prompts, outputs, releases, seed=int(rng.integers(1000)))
    return made, draw(st.integers(1, 5)), draw(st.integers(1, 5))


def follow(requests: RequestStream, rule: plain.Rule, workers: int, slots: int) -> plain.Trajectory:
    """The independent simulation of a stream."""
    releases = requests.releases
    return plain.simulate(
        requests.prompts.tolist(),
        requests.outputs.tolist(),
        rule,
        workers=workers,
        slots=slots,
        kind=releases.kind,
        queue=releases.queue,
        times=None if releases.times is None else releases.times.tolist(),
        coins=requests.coins(),
    )


@pytest.mark.parametrize("text", RULES)
@settings(max_examples=12, deadline=None)
@given(case=streams())
def test_against_the_independent_simulator(text: str, case: tuple[RequestStream, int, int]) -> None:
    """Loads, workers, admissions, releases and times of both engines equal the oracle's."""
    requests, workers, slots = case
    want = follow(requests, RULES[text], workers, slots)
    history = History(prompts=np.ones(len(OUTPUTS), int), outputs=OUTPUTS)
    policy = make_policy(text, history=history if "survival" in text else None)
    for engine in ("compiled", "plain"):
        made = simulate(requests, policy, workers=workers, slots=slots, engine=engine, keep_loads=True)
        assert made.requests.worker.tolist() == want.worker
        assert made.requests.admission_iteration.tolist() == want.admitted
        assert made.requests.release_iteration.tolist() == want.released
        assert len(made.iterations) == len(want.loads)
        if want.loads:
            assert made.iterations.loads is not None and made.iterations.loads.tolist() == want.loads
        assert made.iterations.start.tolist() == want.start and made.iterations.end.tolist() == want.end
        assert made.iterations.waiting.tolist() == want.waiting
        assert made.iterations.active.tolist() == [sum(counts) for counts in want.active]


@pytest.mark.parametrize("text", ["level", "level:overtake=none", "level-plus", "level-plus:overtake=8,lam=.25"])
@settings(max_examples=12, deadline=None)
@given(case=streams(kinds=("iteration",)), queue=st.integers(0, 8))
def test_level_in_exact_arithmetic(text: str, case: tuple[RequestStream, int, int], queue: int) -> None:
    """Where every division is by a power of two the doubles are exact: the rules in fractions give the same run."""
    requests, _, _ = case
    rules = {
        "level": plain.level(),
        "level:overtake=none": plain.level(overtake=None),
        "level-plus": plain.level_plus(lam=F(0)),
        "level-plus:overtake=8,lam=.25": plain.level_plus(overtake=8, lam=F(1, 4)),
    }
    # Equal outputs on G = 2, B = 2 free all four slots at once, and 4 + 4 or 4 + 12 requests wait.
    n = len(requests)
    fixed = request_stream(requests.prompts, np.full(n, 3), saturated(4 if queue < 4 else 12), seed=1)
    want = follow(fixed, rules[text], 2, 2)
    policy = make_policy("level-plus:lam=0" if text == "level-plus" else text)
    for engine in ("compiled", "plain"):
        made = simulate(fixed, policy, workers=2, slots=2, engine=engine)
        assert made.requests.worker.tolist() == want.worker
        assert made.requests.admission_iteration.tolist() == want.admitted


@settings(max_examples=200, deadline=None)
@given(
    gaps=st.lists(st.integers(0, 3), min_size=1, max_size=9),
    cap=st.integers(0, 12),
    free=st.integers(0, 9),
    pick=st.integers(0, 2**16),
    slack=st.integers(0, 12),
)
def test_forced_is_exact(gaps: list[int], cap: int, free: int, pick: int, slack: int) -> None:
    """`View.forced` counts the requests that the one-by-one rule forces whenever the others are chosen against it.

    Reachable states only: the oldest waiting request has been overtaken at most ``D`` times.
    """
    order = np.cumsum([0] + [g + 1 for g in gaps[1:]]).tolist()
    holes = order[-1] + 1 - len(order)
    # Everything before the oldest was admitted, and some later ones: at least the holes, at most D in all.
    later = holes + slack
    if later > cap:
        later = cap
    if later < holes:
        return
    first = slack
    order = [i + first for i in order]
    admitted = first + later
    view = View(
        InformationSet.NOTHING,
        iteration=1,
        slots=free,
        admitted=admitted,
        free=[free],
        active=[0],
        order=order,
        waited=[0] * len(order),
        weights=[1] * len(order),
    )
    forced = view.forced(cap)
    rng = np.random.default_rng(pick)
    must = set(order[:forced])
    # The worst chooser takes the youngest: whatever is admitted of the old ones was forced.
    youngest = list(forced_sequentially(order, admitted, view.admissions, cap, lambda queue: queue[-1]))
    taken = set(youngest) | set(order[len(order) - (view.admissions - len(youngest)) :])
    assert must <= taken
    assert set(youngest) <= must
    # Any chooser admits all of them, and is never forced beyond them.
    chosen: set[int] = set()

    def free_choice(queue: list[int]) -> int:
        i = int(rng.choice(queue))
        chosen.add(i)
        return i

    pushed = set(forced_sequentially(order, admitted, view.admissions, cap, free_choice))
    assert must <= pushed | chosen and pushed <= must
    assert view.forced(None) == 0


@settings(max_examples=15, deadline=None)
@given(case=streams(), horizon=st.sampled_from([1, 3, 12]), gamma=st.sampled_from([0.5, 0.97, 1.0]))
def test_projected_levels_of_level_h(case: tuple[RequestStream, int, int], horizon: int, gamma: float) -> None:
    """``E_g`` of LEVEL-H+ by definition: deviations before the worker's own next departure, the others' refilled."""
    requests, workers, slots = case
    seen: list[tuple[int, list[float]]] = []

    class Recorder(LevelH):
        """LEVEL-H+ that remembers its levels."""

        def levels(self, view: View) -> list[float]:
            """Levels."""
            values = LevelH.levels(self, view)
            seen.append((view.iteration, list(values)))
            return values

    policy = Recorder(horizon=horizon, gamma=gamma, phi=0.25)
    made = simulate(requests, policy, workers=workers, slots=slots, engine="plain")
    entered, worker = made.requests.admission_iteration, made.requests.worker
    for k, values in seen:
        flight = [
            [i for i in np.flatnonzero((entered > 0) & (entered < k) & (worker == g)) if entered[i] + requests.outputs[i] > k]
            for g in range(workers)
        ]
        left = {i: int(entered[i] + requests.outputs[i] - k) for row in flight for i in row}
        released = made.requests.release_iteration
        mean = requests.prompts[(released > 0) & (released <= k)].mean()
        size = {i: int(requests.prompts[i] + k - entered[i]) for row in flight for i in row}

        def at(g: int, h: int, flight: list = flight, left: dict = left, size: dict = size, mean: float = mean) -> float:
            return sum(size[i] + h if left[i] > h else mean + h - left[i] for i in flight[g])

        total = sum(size.values()) / workers
        for g in range(workers):
            own = min([left[i] for i in flight[g] if left[i] <= horizon], default=horizon + 1)
            weights = [gamma**h for h in range(own)]
            ahead = sum(w * (at(g, h) - sum(at(j, h) for j in range(workers)) / workers) for h, w in enumerate(weights))
            ages = sum(k - int(entered[i]) for i in flight[g])
            assert values[g] == pytest.approx(total + ahead / sum(weights) - 0.25 * ages, rel=1e-9, abs=1e-9)
