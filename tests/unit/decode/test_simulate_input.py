"""Bad streams, releases, timings, options and engine arguments are named errors; an instance checks itself."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lbtheory.core import (
    EmptyTraceError,
    InformationError,
    InstanceError,
    ParameterError,
    SizeOverflowError,
    UnknownNameError,
)
from lbtheory.decode.engine import simulate
from lbtheory.decode.instance import (
    Assignment,
    check_assignment,
    decode_instance,
    imbalance,
    loads_after,
    objective,
    rational_gamma,
    read_instance,
)
from lbtheory.decode.policies import make_policy, options_of, view_of_instance
from lbtheory.decode.predictors import History, Survival
from lbtheory.decode.stream import RequestStream, request_stream
from lbtheory.decode.timing import StepTime
from lbtheory.decode.traces.releases import (
    at_iterations,
    at_times,
    batched,
    bursts,
    poisson_clock,
    poisson_iterations,
    saturated,
)


def good() -> RequestStream:
    """Two requests."""
    return request_stream(np.array([3, 1]), np.array([2, 1]), at_iterations([1, 1]))


@pytest.mark.parametrize(
    "arguments",
    [
        {"workers": 0},
        {"workers": -2},
        {"slots": 0},
        {"slots": 1.5},
        {"workers": True},
        {"steps": 0},
        {"engine": "fast"},
    ],
)
def test_simulate_names_a_bad_argument(arguments: dict[str, Any]) -> None:
    """The message names the argument."""
    (name,) = arguments
    with pytest.raises(ParameterError, match=f"`{name}` of `simulate`"):
        simulate(good(), make_policy("jsq"), **({"workers": 2, "slots": 1} | arguments))


@pytest.mark.parametrize(
    ("prompts", "outputs", "message"),
    [
        ([1, 2.5], [1, 1], "`prompts` must hold whole numbers; got 2.5 at index 1"),
        ([1, np.nan], [1, 1], "`prompts` must hold whole numbers; got nan at index 1"),
        ([1, 2], [1, np.inf], "`outputs` must hold whole numbers; got inf at index 1"),
        ([1, 2], [1, 0], "`outputs` must be ≥ 1; got 0 at index 1"),
        ([-4, 2], [1, 1], "`prompts` must be ≥ 1; got -4 at index 0"),
        ([1, 2], [1, 1, 1], "`outputs` must have as many entries"),
        ([[1, 2]], [1, 1], "one-dimensional"),
    ],
)
def test_bad_streams(prompts: list, outputs: list, message: str) -> None:
    """The entry is named."""
    with pytest.raises(ParameterError, match=message):
        request_stream(np.array(prompts), np.array(outputs), saturated())


def test_empty_and_too_large_streams() -> None:
    """No request, times of another length, sizes whose sums would overflow."""
    with pytest.raises(EmptyTraceError):
        request_stream(np.zeros(0, int), np.zeros(0, int), saturated())
    with pytest.raises(ParameterError, match="one time a request"):
        request_stream(np.array([1]), np.array([1]), at_times([0.0, 1.0]))
    with pytest.raises(SizeOverflowError):
        request_stream(np.array([2**42]), np.array([1]), saturated())


@pytest.mark.parametrize("name", ["t_fixed", "t_token", "t_mean"])
@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_bad_timing(name: str, value: float) -> None:
    """Finite, not negative."""
    with pytest.raises(ParameterError, match=name):
        StepTime(**{name: value})


def test_a_clock_that_stands_still_is_refused() -> None:
    """``t_fixed + t_token > 0``."""
    with pytest.raises(ParameterError, match="stand still"):
        StepTime(t_fixed=0.0, t_token=0.0, t_mean=1.0)


def test_releases() -> None:
    """Times are nondecreasing and in range; batches, bursts and Poisson releases have the stated shape."""
    for bad in ([2, 1], [0, 1], [1.5, 2]):
        with pytest.raises(ParameterError):
            at_iterations(bad)
    for bad_times in ([1.0, 0.5], [-1.0], [float("nan")], [float("inf")]):
        with pytest.raises(ParameterError):
            at_times(bad_times)
    with pytest.raises(ParameterError):
        saturated(-1)
    times = batched(7, 3, 4).times
    assert times is not None and times.tolist() == [1, 1, 1, 5, 5, 5, 9]
    times = bursts(6, sizes=[2, 1], gaps=[3, 1]).times
    assert times is not None and times.tolist() == [1, 1, 4, 5, 5, 8]
    for made in (poisson_iterations(500, 4.0, np.random.default_rng(1)), poisson_clock(500, 4.0, np.random.default_rng(1))):
        assert made.times is not None and len(made) == 500 and (np.diff(made.times) >= 0).all()
        assert made.times[-1] == pytest.approx(125, rel=0.25)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("jsk", UnknownNameError, "Did you mean 'jsq'"),
        ("brh:betta=3", UnknownNameError, "Did you mean 'beta'"),
        ("jsq:ties", ParameterError, "key=value"),
        ("jsq:ties=first", ParameterError, "ties"),
        ("jsq:overtake=3", ParameterError, "overtake"),
        ("br0:overtake=-1", ParameterError, "overtake"),
        ("br0:window=0", ParameterError, "window"),
        ("brh:gamma=0", ParameterError, "gamma"),
        ("io:time_limit=0", ParameterError, "`time_limit` of policy 'io'"),
        ("min-max:time_limit=nan", ParameterError, "`time_limit` of policy 'min-max'"),
        ("spread-lex:time_limit=-1", ParameterError, "`time_limit` of policy 'spread-lex'"),
        ("brh:gamma=nan", ParameterError, "gamma"),
        ("brh:horizon=1.5", ParameterError, "horizon"),
        ("brh:predictor=survival", ParameterError, "history"),
        ("brh:predictor=oracel", UnknownNameError, "Did you mean 'oracle'"),
        ("level-plus:lam=2", ParameterError, "lam"),
        ("level-plus:pairs=maybe", ParameterError, "pairs"),
        ("br0:search=greedy", ParameterError, "search"),
        ("jsq:stale=0", ParameterError, "stale"),
    ],
)
def test_bad_policy_strings(text: str, error: type[Exception], message: str) -> None:
    """One class a cause, and the nearest name."""
    with pytest.raises(error, match=message):
        make_policy(text)


def test_policy_options() -> None:
    """Text, the cap for all, and the defaults."""
    assert make_policy("level-plus:overtake=none").overtake is None
    assert make_policy("level-plus").overtake == 64 and make_policy("br0").overtake is None
    assert make_policy("br0", overtake=7).overtake is None, "a cap for all is asked for"
    assert make_policy("br0", overtake=7, cap_all=True).overtake == 7
    assert make_policy("br0:overtake=2", overtake=7, cap_all=True).overtake == 2
    assert make_policy("jsq", overtake=7, cap_all=True).overtake is None
    assert make_policy("level", overtake=None, cap_all=True).overtake is None
    assert set(options_of("br0")) == {"overtake", "greedy", "window", "search", "patience", "bonus", "pause"}


def test_survival_needs_history() -> None:
    """An empty history is refused."""
    with pytest.raises(ParameterError, match="at least one finished request"):
        Survival(History(prompts=np.zeros(0, int), outputs=np.zeros(0, int)))


def test_instance_objective_by_hand() -> None:
    """G = 2, H = 1, γ = 1/2: loads (3, 5), (4, 0); sizes 2 and 6 to worker 0 and 1.

    Offset 0: (5, 11), I = 6. Offset 1: (4 + 3, 0 + 7) = (7, 7), I = 0. The objective is 6. The other way round: (9, 7), I = 2
    and (11, 3), I = 8: 2 + 4 = 6.
    """
    instance = decode_instance([3, 5], [1, 1], [2, 6], projected=[[3, 4], [5, 0]], gamma="1/2")
    one, other = Assignment(workers=((0,), (1,))), Assignment(workers=((1,), (0,)))
    assert loads_after(instance, one).tolist() == [[5, 7], [11, 7]] and objective(instance, one) == 6
    assert loads_after(instance, other).tolist() == [[9, 11], [7, 3]] and objective(instance, other) == 6
    assert instance.admissions == 2 and instance.workers == 2 and instance.horizon == 1
    assert imbalance(np.array([4, 4, 1])) == 3
    assert instance.with_horizon(0).horizon == 0
    with pytest.raises(ParameterError):
        instance.with_horizon(2)
    with pytest.raises(InstanceError, match="exactly 2"):
        check_assignment(instance, Assignment(workers=((0,), ())))


@pytest.mark.parametrize(
    ("loads", "free", "waiting", "error"),
    [
        ([], [], [1], InstanceError),
        ([1], [1, 1], [1], InstanceError),
        ([-1], [1], [1], InstanceError),
        ([1], [1], [0], InstanceError),
        ([1], [1], [1.5], InstanceError),
        ([1], [1], [float("nan")], InstanceError),
        ([2**53], [1], [1], SizeOverflowError),
        ([2**52], [2], [2**52, 2**52], SizeOverflowError),
    ],
)
def test_bad_instances(loads: list, free: list, waiting: list, error: type[Exception]) -> None:
    """One class a cause."""
    with pytest.raises(error):
        decode_instance(loads, free, waiting)


def test_gamma_is_read_exactly() -> None:
    """0.9 is nine tenths, and the double nearest to a third is a third."""
    assert rational_gamma(0.9) == rational_gamma("9/10") and rational_gamma("9/10").denominator == 10
    assert rational_gamma(1 / 3) == Fraction(1, 3) and rational_gamma(0.333) == Fraction(333, 1000)
    assert rational_gamma(0.123456789) == Fraction(123456789, 10**9) and rational_gamma("0.3333333333333333") != Fraction(1, 3)
    for bad in (0, -1, 1.5, "x", "1/0", float("nan")):
        with pytest.raises(ParameterError):
            rational_gamma(bad)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"loads": [1], "free": [1]}', "'waiting' is missing"),
        ('{"loads": [1], "free": [1], "waiting": [1], "gama": 1}', "Did you mean 'gamma'"),
        ('{"loads": [1],\n "free": [1', "line 2"),
        ('{"loads": [NaN], "free": [1], "waiting": [1]}', "NaN"),
        ('{"loads": [1], "free": [1], "waiting": [1], "loads": [2]}', "'loads' comes twice"),
        ("[1]", "one JSON object"),
    ],
)
def test_instance_files(tmp_path: Path, text: str, message: str) -> None:
    """The file and the key or line are named; a byte order mark is accepted."""
    file = tmp_path / "instance.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InstanceError, match=message) as error:
        read_instance(file)
    assert "instance.json" in str(error.value)
    file.write_text('\ufeff{"loads": [1, 0], "free": [1, 2], "waiting": [4]}', encoding="utf-8")
    assert read_instance(file).loads.tolist() == [1, 0]


def test_view_of_an_instance() -> None:
    """Counts are relative, ages are unknown (0), and the information set holds here too."""
    instance = decode_instance([5, 7], [2, 1], [4, 4, 9])
    policy = make_policy("level")
    view = view_of_instance(instance, policy.information, np.random.default_rng(0))
    assert view.active == [0, 1] and view.loads == [5, 7] and view.ages == [0, 0] and view.prompts == [4, 4, 9]
    with pytest.raises(InformationError):
        view.forecast  # noqa: B018
    with pytest.raises(AttributeError):
        view.nonsense  # noqa: B018
