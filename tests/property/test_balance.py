"""BalanceRoute: BR-H at H = 0 is BR-0, the subset searches agree, a score is minus the change of imbalance; the size index."""

from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lbtheory.decode import engine_compiled
from lbtheory.decode.engine import simulate
from lbtheory.decode.instance import Assignment, DecodeInstance, decode_instance, imbalance, loads_after, objective
from lbtheory.decode.kernels import sizes, step
from lbtheory.decode.kernels import state as layout
from lbtheory.decode.policies import Policy, View, make_policy, view_of_instance
from lbtheory.decode.policies._balance import BalancePolicy, BalanceStep
from lbtheory.decode.predictors import History, Survival
from lbtheory.decode.stream import request_stream
from lbtheory.decode.timing import StepTime
from lbtheory.decode.traces.releases import at_iterations, saturated
from tests.reference.decode import score

F = Fraction


@st.composite
def instances(draw: st.DrawFn, horizon: int = 0, most: int = 9) -> DecodeInstance:
    """A small decision; few distinct numbers, so that ties and plateaus are common."""
    workers = draw(st.integers(1, 4))
    top = draw(st.sampled_from([3, 12, 1000]))
    numbers = st.integers(0, 2 * top)
    rows = [[draw(numbers) for _ in range(horizon + 1)] for _ in range(workers)]
    free = [draw(st.integers(0, 4)) for _ in range(workers)]
    waiting = draw(st.lists(st.integers(1, top), min_size=1, max_size=most))
    return decode_instance([row[0] for row in rows], free, waiting, projected=rows)


def decide(policy: Policy, instance: DecodeInstance) -> Assignment:
    """The decision of a policy on an instance."""
    rng = np.random.default_rng(0)
    return policy.assign(view_of_instance(instance, policy.information, rng), rng)


def view(policy: Policy, instance: DecodeInstance) -> View:
    """What the policy sees of an instance."""
    return view_of_instance(instance, policy.information, np.random.default_rng(0))


@pytest.mark.parametrize("options", ["", "greedy=0", "greedy=100,window=6", "overtake=2,greedy=3"])
@settings(max_examples=60, deadline=None)
@given(instance=instances())
def test_brh_without_window_is_br0(options: str, instance: DecodeInstance) -> None:
    """``BR-H(H = 0, β = G)`` and BR-0 take the same decision, whatever γ."""
    extra = f",{options}" if options else ""
    zero = make_policy(f"br0:{options}")
    for text in (
        f"brh:horizon=0{extra}",
        f"brh:horizon=0,gamma=.5,beta={instance.workers}{extra}",
        f"brh:horizon=0,score=exact{extra}",
    ):
        assert decide(make_policy(text), instance) == decide(zero, instance)


@pytest.mark.parametrize("engine", ["compiled", "plain"])
def test_brh_without_window_follows_br0(engine: str) -> None:
    """The same over whole runs."""
    rng = np.random.default_rng(3)
    requests = request_stream(rng.integers(1, 30, 200), rng.geometric(0.1, 200), saturated(9))
    for options in ("greedy=4", "greedy=0", "greedy=100,overtake=6"):
        a, b = (
            simulate(requests, make_policy(f"{text},{options}"), workers=4, slots=4, engine=engine, keep_loads=True)
            for text in ("brh:horizon=0,beta=4", "br0:window=4")
        )
        assert np.array_equal(a.iterations.loads, b.iterations.loads)
        assert np.array_equal(a.requests.admission_iteration, b.requests.admission_iteration)


@pytest.mark.parametrize("window", [1, 4, 6])
@pytest.mark.parametrize("form", ["simplified", "exact"])
@settings(max_examples=60, deadline=None)
@given(
    instance=instances(horizon=3),
    horizon=st.integers(0, 3),
    parameters=st.sampled_from(
        [
            ("1", "1"),
            ("1", "2"),
            ("1", "4"),
            ("1", "3"),
            (".5", "1.875"),
            (".5", "1"),
            (".86", "43"),
            (".64", "14.67"),
            (".9", "1"),
            ("1", "0"),
        ]
    ),
)
def test_subset_searches_agree(
    window: int, form: str, instance: DecodeInstance, horizon: int, parameters: tuple[str, str]
) -> None:
    """Enumeration and reachable sums choose the same sets, with plateaus (γ = 1 and β | H + 1, β = 1) and flat scores."""
    gamma, beta = parameters
    penalty = f",beta={beta}" if form == "simplified" else ""
    text = f"brh:horizon={horizon},gamma={gamma},score={form},greedy=100,window={window}{penalty}"
    cut = instance.with_horizon(horizon)
    chosen = [decide(make_policy(f"{text},search={search}"), cut) for search in ("enumeration", "reachable-sums")]
    assert chosen[0] == chosen[1]


@pytest.mark.parametrize("form", ["simplified", "exact"])
@settings(max_examples=100, deadline=None)
@given(
    instance=instances(horizon=2, most=6),
    gamma=st.sampled_from(["1", "0.5", "0.75"]),
    beta=st.sampled_from(["1", "1.75", "2", "6"]),
)
def test_chosen_subset_is_the_best(form: str, instance: DecodeInstance, gamma: str, beta: str) -> None:
    """All subsets in exact arithmetic: largest score, then fewest, then earliest; the best single where none is positive."""
    chosen_beta = f",beta={beta}" if form == "simplified" else ""
    policy = make_policy(f"brh:horizon=2,gamma={gamma},score={form},window=6{chosen_beta}")
    assert isinstance(policy, BalancePolicy)
    rows = instance.projected.T.tolist()
    seen = view(policy, instance)
    at = BalanceStep(policy, seen, rows)
    penalty = F(instance.workers) if form == "exact" else F(beta)
    for g in range(instance.workers):
        if not instance.free[g]:
            continue
        margins = [max(row) - row[g] for row in rows]
        values = {
            q: score(margins, [seen.prompts[i] for i in q], penalty, F(gamma), form == "exact")
            for n in range(1, min(int(instance.free[g]), len(seen.prompts)) + 1)
            for q in combinations(range(len(seen.prompts)), n)
        }
        best = min(values, key=lambda q: (-values[q], len(q), q))
        if values[best] <= 0:
            best = min((q for q in values if len(q) == 1), key=lambda q: (-values[q], q))
        assert tuple(at.best_subset(g)) == best


@pytest.mark.parametrize("engine", ["compiled", "plain"])
@pytest.mark.parametrize("greedy", [0, 4])
def test_equal_scores_with_decimal_parameters(engine: str, greedy: int) -> None:
    """γ = 0.9, β = 1.9 = 1 + γ: with margins 2 and 3 the sizes 2 and 3 both score 3.8, and the earlier request goes first."""
    requests = request_stream(np.array([1, 2, 3]), np.array([5, 2, 2]), at_iterations([1, 2, 2]))
    policy = make_policy(f"brh:horizon=1,gamma=.9,beta=1.9,greedy={greedy}")
    made = simulate(requests, policy, workers=2, slots=1, engine=engine)
    assert made.requests.admission_iteration.tolist() == [1, 2, 4]


@settings(max_examples=150, deadline=None)
@given(instance=instances(), data=st.data())
def test_f_score_is_minus_the_change_of_imbalance(instance: DecodeInstance, data: st.DataObject) -> None:
    """Admit set after set: each time ``F⁰ = −ΔI``, in integers, margins updated in between."""
    at = BalanceStep(make_policy("br0"), view(make_policy("br0"), instance), [instance.loads.tolist()])  # type: ignore[arg-type]
    while at.open() and at.queue:
        g = data.draw(st.sampled_from(at.open()))
        size = data.draw(st.integers(1, min(at.free[g], len(at.queue))))
        chosen = data.draw(st.permutations(at.queue))[:size]
        total = sum(at.view.prompts[i] for i in chosen)
        before = imbalance(np.array(at.loads[0]))
        value = at.score(g, total, size)
        for i in chosen:
            at.place(i, g)
        assert value == before - imbalance(np.array(at.loads[0]))


@settings(max_examples=150, deadline=None)
@given(instance=instances(), data=st.data())
def test_change_of_imbalance_of_simultaneous_admissions(instance: DecodeInstance, data: st.DataObject) -> None:
    """``ΔI = G max_g (b_g − m_g)_+ − Σ_g b_g``."""
    places = data.draw(
        st.lists(st.integers(0, instance.workers - 1), min_size=len(instance.waiting), max_size=len(instance.waiting))
    )
    chosen = tuple(tuple(i for i, g in enumerate(places) if g == j) for j in range(instance.workers))
    after = loads_after(instance, Assignment(workers=chosen))[:, 0]
    b = np.array([sum(int(instance.waiting[i]) for i in c) for c in chosen])
    margins = instance.loads.max() - instance.loads
    change = instance.workers * max(0, int((b - margins).max())) - int(b.sum())
    assert imbalance(after) - imbalance(instance.loads) == change


@settings(max_examples=150, deadline=None)
@given(instance=instances(horizon=4), gamma=st.sampled_from(["1", "0.5", "0.25"]), data=st.data())
def test_exact_score_is_minus_the_discounted_change(instance: DecodeInstance, gamma: str, data: st.DataObject) -> None:
    """The form before simplification with ``β = G`` is ``−Σ_h γ^h ΔI_h``."""
    discounted = decode_instance(
        instance.loads.tolist(),
        [9] * instance.workers,
        instance.waiting.tolist(),
        projected=instance.projected.tolist(),
        gamma=gamma,
    )
    policy = make_policy(f"brh:horizon=4,gamma={gamma},score=exact")
    assert isinstance(policy, BalancePolicy)
    at = BalanceStep(policy, view(policy, discounted), discounted.projected.T.tolist())
    g = data.draw(st.integers(0, instance.workers - 1))
    chosen = tuple(sorted(data.draw(st.sets(st.integers(0, len(instance.waiting) - 1), min_size=1))))
    nothing = Assignment(workers=((),) * instance.workers)
    placed = Assignment(workers=tuple(chosen if j == g else () for j in range(instance.workers)))
    change = objective(discounted, placed) - objective(discounted, nothing)
    total = sum(int(instance.waiting[i]) for i in chosen)
    assert F(at.score(g, total, len(chosen)), at.scale) == -change


@settings(max_examples=100, deadline=None)
@given(
    margins=st.lists(st.integers(0, 40), min_size=1, max_size=4),
    beta=st.sampled_from([F(0), F(1), F(5, 2), F(8)]),
    gamma=st.sampled_from([F(1), F(1, 2), F(43, 50)]),
)
def test_score_is_concave_and_affine_between_margins(margins: list[int], beta: Fraction, gamma: Fraction) -> None:
    """In the total ``b`` the simplified score is concave; its slope changes only at the margins."""
    values = [score(margins, [b], beta, gamma, False) for b in range(46)]
    slopes = [y - x for x, y in pairwise(values)]
    for b in range(1, len(slopes)):
        assert slopes[b] <= slopes[b - 1]
        if b not in margins:
            assert slopes[b] == slopes[b - 1]


@settings(max_examples=60, deadline=None)
@given(
    prompts=st.lists(st.integers(1, 12) | st.sampled_from([10**9, 10**9 + 1]), min_size=1, max_size=40),
    seed=st.integers(0, 2**32 - 1),
)
def test_size_index_equals_brute_force(prompts: list[int], seed: int) -> None:
    """`at_most`, `at_least` and `nearest` while requests join and leave."""
    requests = request_stream(np.array(prompts), np.ones(len(prompts), int), saturated())
    policy, rng = make_policy("br0"), np.random.default_rng(seed)
    rule = policy.compiled(1)
    assert rule is not None
    stream, limits, state = engine_compiled.layout_arrays(requests, policy, rule, 1, len(prompts) + 1, StepTime())
    state.ints[layout.ITERATION] = 1
    waiting: list[int] = []
    while state.ints[layout.RELEASED] < len(prompts) or waiting:
        for _ in range(rng.integers(0, len(prompts) - state.ints[layout.RELEASED] + 1)):
            waiting.append(int(state.ints[layout.RELEASED]))
            step._join(stream, limits, state, 1)
        for size in (1, 6, 12, 13, 10**9, int(rng.integers(0, 15))):
            low = [i for i in waiting if prompts[i] <= size]
            high = [i for i in waiting if prompts[i] >= size]
            assert sizes.at_most(stream, state, size) == min(low, key=lambda i: (-prompts[i], i), default=-1)
            assert sizes.at_least(stream, state, size) == min(high, key=lambda i: (prompts[i], i), default=-1)
        for want in (-3.5, 2.5, float(rng.integers(-8, 60)) / 4, 5e8 + 6.0):
            near = min(waiting, key=lambda i, w=want: (abs(prompts[i] - w), i), default=-1)
            assert sizes.nearest(stream, state, want) == near
        for _ in range(rng.integers(0, len(waiting) + 1)):
            size = prompts[rng.choice(waiting)]
            i = next(j for j in waiting if prompts[j] == size)  # within a size the earliest goes first
            step.admit(stream, limits, state, i, 0)
            waiting.remove(i)
        assert state.ints[layout.WAITING_SUM] == sum(prompts[i] for i in waiting)


@settings(max_examples=80, deadline=None)
@given(outputs=st.lists(st.integers(1, 14), min_size=1, max_size=30), cap=st.integers(0, 20))
def test_survival_equals_the_formula(outputs: list[int], cap: int) -> None:
    """``ĉ(a) = Σ_j (1 − F̂(a+j)) / (1 − F̂(a))`` and ``p̂_fin``, by counting; at ``F̂(a) = 1`` they are min(1, cap) and 1."""
    known = np.array(outputs)
    fitted = Survival(History(prompts=np.ones(len(outputs), int), outputs=known))
    values = fitted.curve.by_age(cap)
    assert len(values) == max(outputs) + 1, "ages past all history share the last entry"

    def above(a: int) -> int:
        return int((known > a).sum())

    for a, value in enumerate(values):
        finishing = fitted.curve.finishing(np.array([a]), cap)[0]
        if above(a):
            assert value == float(F(sum(above(a + j) for j in range(cap)), above(a)))
            assert finishing == pytest.approx(float(1 - F(above(a + cap), above(a))), abs=1e-15)
        else:
            assert value == min(1, cap) and finishing == 1
    assert fitted.curve.finishing(np.array([max(outputs) + 9]), cap)[0] == 1
