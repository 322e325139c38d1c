"""Bad input of the integrator, by name; what is allowed and flagged; histories, signals and meshes."""

import math
from typing import Any

import numpy as np
import pytest

from lbtheory.core import ParameterError, UnknownNameError
from lbtheory.fluid import Cell, Network, NetworkError, make_rate
from lbtheory.fluid.dynamics import (
    Signal,
    burst,
    daily_arrivals,
    diagnose,
    distance,
    oscillation,
    outage,
    simplex_projection,
    simulate,
    solve_dde,
    tangent_projection,
)
from lbtheory.fluid.dynamics.mesh import make_mesh
from lbtheory.fluid.equilibrium import equilibrium
from tests.unit.fluid.dynamics.networks import LINEAR, mm1, outer, residency, start

NAN, INF = math.nan, math.inf
NET = outer([mm1(1.0), mm1(1.0)], [0.8], [[0.1, 0.3]])
GOOD: dict[str, Any] = {"eta": 0.1, "t_end": 1.0, "step": 0.1}

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"eta": 0.0}, r"`eta` of `simulate` must be positive and finite; got 0.0 at index 0 \('c0'\)"),
    ({"eta": -1.0}, "`eta` .* must be positive"),
    ({"eta": [0.1, 0.1, NAN]}, r"got nan at index 2 \('s0'\)"),
    ({"eta": [0.1, 0.1]}, "`eta` of `simulate` must be a number or 3 of them"),
    ({"eta": None}, "`eta` of `simulate` must be given for flow routing"),
    ({"t_end": 0.0}, "`t_end` .* must be positive"),
    ({"t_end": NAN}, "`t_end` .* must be positive and finite"),
    ({"t_end": "long"}, "`t_end` .* must be a positive number"),
    ({"step": 0.11}, "`step` of `simulate` must be at most the smallest positive delay, 0.1 s; got 0.11"),
    ({"step": -0.1}, "`step` .* must be positive"),
    ({"step": 1e-9, "t_end": 1e3}, "must need at most 50,000,000 steps"),
    ({"tolerance": 1e-6}, "must not both be given"),
    ({"step": None, "tolerance": -1.0}, "`tolerance` .* must be positive"),
    ({"workloads": [1.0]}, "`workloads` of `simulate` must have one number a cell, 2"),
    ({"workloads": [1.0, -1.0]}, r"`workloads` .* ≥ 0; got -1.0 at index 1 \('c1'\)"),
    ({"workloads": [NAN, 1.0]}, "got nan at index 0"),
    ({"shares": [[1, 0], [0, 1], [0.6, 0.5]]}, r"row 2 \('s0'\) of `shares` .* must be on the simplex"),
    ({"shares": [[1, 0], [0, 1], [1.2, -0.2]]}, "must be on the simplex"),
    ({"shares": [[1, 0], [0, 1], [NAN, 1]]}, "must be on the simplex"),
    ({"shares": [[0, 1], [0, 1], [0.5, 0.5]]}, r"row 0 .* must be 0 off its arcs; got 1.0 to 'c1'"),
    ({"shares": [[1, 0], [0, 1]]}, "`shares` of `simulate` must have shape"),
    (
        {"workload_history": Signal.steps([-0.2], [[1.0, 1.0]])},
        "must cover .*0.3 s the longest latency; got .-0.2, inf.*from -0.3 on",
    ),
    ({"workload_history": Signal.linear([-0.3, -0.1], [[1.0, 1.0], [1.0, 1.0]])}, "must cover"),
    ({"workload_history": Signal.linear([-0.3, 0.0], [[1.0, -1.0], [1.0, 1.0]])}, "`workload_history` .* must be ≥ 0"),
    ({"workload_history": [1.0, NAN]}, "`workload_history` .* must be finite; got nan at index 1"),
    ({"workload_history": [1.0]}, "`workload_history` of `simulate` must be a Signal or 2 numbers"),
    ({"routing_history": [[1, 0], [0, 1], [0.5, 0.6]]}, "`routing_history` .* must be on the simplex"),
    ({"routing_history": Signal.steps([-0.3], [[1.0, 1.0, 0.7, 0.7]])}, "`routing_history` .* must be on the simplex"),
    ({"routing_history": Signal.steps([-0.1], [[1.0, 1.0, 0.5, 0.5]])}, "`routing_history` .* must cover"),
    ({"routing_history": Signal.constant([1.0, 1.0])}, "must have 4 components; got 2"),
    ({"arrivals": [1.0, -1.0, 1.0]}, "`arrivals` of `simulate` must be ≥ 0; got -1 for 'c1'"),
    ({"arrivals": [1.0, 1.0]}, "`arrivals` of `simulate` must be a Signal or 3 numbers"),
    ({"capacity": [1.0, 0.0]}, "`capacity` of `simulate` must be > 0; got 0 for 'c1'.*full outage"),
    ({"capacity": Signal.linear([0, 1], [[1.0, 1.0], [1.0, -1.0]])}, "`capacity` .* must be > 0"),
    ({"period": 0.5}, "`period` of `simulate` must be left out for flow routing"),
    ({"routing": "flow-periodic"}, "`period` of `simulate` must be given"),
    ({"routing": "flow-periodic", "period": 0.0}, "`period` .* must be positive"),
    ({"every": 0}, "`every` of `simulate` must be a whole number ≥ 1"),
    ({"settled_below": 0.0}, "`settled_below` .* must be positive"),
    ({"shares": "even"}, "shares"),
]


@pytest.mark.parametrize(("change", "message"), WRONG, ids=[str(k) for k in range(len(WRONG))])
def test_wrong_arguments(change: dict[str, Any], message: str) -> None:
    """One change to good arguments; the message names it."""
    with pytest.raises((ParameterError, ValueError), match=message):
        simulate(NET, "latency", **{**GOOD, **change})


@pytest.mark.parametrize(
    ("change", "nearest"),
    [
        ({"routing": "flows"}, "flow"),
        ({"mesh": "evn"}, "even"),
        ({"ties": "low"}, "lowest"),
        ({"cost": "latencies"}, "latency"),
    ],
)
def test_wrong_names(change: dict[str, Any], nearest: str) -> None:
    """The nearest legal name."""
    with pytest.raises(UnknownNameError, match=f"Did you mean '{nearest}'"):
        simulate(NET, **{"cost": "latency", **GOOD, **change})


@pytest.mark.parametrize("delay", [-0.1, NAN])
def test_delays_that_are_none(delay: float) -> None:
    """Of a network and of the general integrator."""
    cell = Cell(name="a", arrival_rate=0.5, rate=make_rate(mm1(1.0)))
    with pytest.raises(NetworkError, match="must be one-way seconds ≥ 0"):
        Network(cells=[cell], latency=[[delay]])
    with pytest.raises(ParameterError, match=r"`delays` of `solve_dde` must be finite and ≥ 0; got .* at index 1"):
        solve_dde(lambda t, y, d: -d[0], [1.0], [1.0, delay], t_end=1, step=0.1)


def test_general_input() -> None:
    """The general integrator names its arguments too."""

    def f(t: float, y: Any, d: Any) -> Any:
        return -d[0]

    with pytest.raises(ParameterError, match=r"at most the smallest positive delay, 0\.5; got 0\.6"):
        solve_dde(f, [1.0], [1.0, 0.5], t_end=1, step=0.6)
    with pytest.raises(ParameterError, match="`history` of `solve_dde` must cover the largest delay"):
        solve_dde(f, Signal.steps([-0.5], [[1.0]]), [1.0], t_end=1, step=0.1)
    with pytest.raises(ParameterError, match="must return 1 derivatives"):
        solve_dde(lambda t, y, d: np.zeros(2), [1.0], [1.0], t_end=1, step=0.1)
    with pytest.raises(ParameterError, match=r"must be finite along the solution; it is not near t = 0\.9"):
        solve_dde(lambda t, y, d: y * (np.inf if t > 0.95 else 1.0), [1.0], [1.0], t_end=2, step=0.1)
    with pytest.raises(ParameterError, match="at least one delay"):
        solve_dde(f, [1.0], [], t_end=1, step=0.1)
    found = solve_dde(f, lambda t: [math.cos(t)], [math.pi / 2], t_end=3, step=0.05, estimate_error=True)
    assert found(2.5)[0] == pytest.approx(math.cos(2.5), abs=1e-6) and found.error_estimate < 1e-6
    assert found(-1.0)[0] == pytest.approx(math.cos(1.0), abs=1e-6)
    with pytest.raises(ParameterError, match="at most 3"):
        found(4.0)


def test_zero_delay_of_the_general_integrator() -> None:
    """A delay of 0 is the present: ``y' = −y``."""
    found = solve_dde(lambda t, y, d: -d[0], [1.0], [0.0], t_end=1, step=0.02)
    assert found(1.0)[0] == pytest.approx(math.exp(-1), abs=1e-9)


def test_costs_that_become_infinite() -> None:
    """The cell, the time and why."""
    net = outer([{"family": "capped_linear", "service": 1.0, "slots": 2.0}, mm1(3.0)], [2.5], [[0.1, 0.1]])
    with pytest.raises(ParameterError, match=r"must be finite along the solution; the gradient cost of cell 'c0' is not at"):
        simulate(net, "gradient", eta=0.01, t_end=50, step=0.1, shares=start(net, [[1, 0]]), workloads=[1.9, 0])


def test_overload_is_flagged() -> None:
    """A network without capacity is integrated; the flag and the interval say so, and workloads grow."""
    net = outer([mm1(1.0)], [2.0], [[0.1]])
    run = simulate(net, "rif", eta=0.1, t_end=20, step=0.1)
    assert not run.feasible and run.infeasible == ((0.0, 20.0),) and run.workloads[-1, 0] > 15
    with pytest.raises(ParameterError, match=r"rates and capacities|capacity for its arrivals") as caught:
        diagnose(simulate(NET, "rif", eta=0.1, t_end=1, step=0.1, arrivals=burst(NET, {"s0": 3.0}, 0.2, 0.5)))
    assert caught.value.exit_code == 2
    windy = simulate(NET, "rif", eta=0.1, t_end=10, step=0.1, arrivals=daily_arrivals(NET, 1.0, period=10.0))
    assert windy.feasible


def test_prescribed_histories() -> None:
    """Requests on the wire and costs seen come from the history, jumps included; by hand for a linear cell."""
    net = outer([LINEAR], [2.0], [[1.0]])
    past = Signal.steps([-1.0, -0.5], [[1.0, 1.0], [1.0, 1.0]])
    rates = Signal.steps([-1.0, -0.5, 0.0], [[0.0, 1.0], [0.0, 3.0], [0.0, 2.0]])
    run = simulate(net, "rif", eta=0.1, t_end=2, step=0.25, routing_history=past, arrivals=rates)
    # N' = λ(t − 1) − N
    half = 1 - math.exp(-0.5)
    one = half * math.exp(-0.5) + 3 * half
    assert run.workloads_at(0.5)[0] == pytest.approx(half, abs=1e-4)
    assert run.workloads_at(1.0)[0] == pytest.approx(one, abs=1e-4)
    assert run.workloads_at(-0.3)[0] == 0
    with pytest.raises(ParameterError, match="at most 2"):
        run.workloads_at(2.5)


def test_equilibrium_stays() -> None:
    """From an equilibrium with its history nothing moves, and a run that has settled stops."""
    at = equilibrium(residency(), "gradient", method="fast", tolerance=1e-13)
    run = simulate(
        residency(), "gradient", eta=0.5, t_end=100, step=0.05, workloads=at.workloads, shares=at.routing, settled_below=1e-6
    )
    assert np.abs(run.workloads - at.workloads).max() < 1e-7 and run.converged and run.end < 10
    assert distance(run, at.workloads).max() < 1e-7 and diagnose(run, at).settling_time == 0


def test_progress_and_read_only() -> None:
    """Times rise to the end; results cannot be changed."""
    seen: list[tuple[float, float]] = []
    run = simulate(NET, "rif", eta=0.1, t_end=500, step=0.1, progress=lambda t, end: seen.append((t, end)))
    assert len(seen) == 3 and seen[-1] == (500.0, 500.0) and sorted(seen) == seen
    with pytest.raises(ValueError, match="read-only"):
        run.workloads[0] = 1
    assert run.routing.shape == (len(run.times), 3, 2) and run.routing_at([0.0, 1.0]).shape == (2, 3, 2)


def test_signals() -> None:
    """Values, jumps from both sides, ends."""
    one = Signal.linear([0, 1, 1, 2], [[0.0], [2.0], [5.0], [5.0]])
    assert one(0.5)[0] == 1 and one(1.0)[0] == 5 and one(1.0, left=True)[0] == 2 and one.jumps.tolist() == [1.0]
    two = Signal.sampled(lambda t: [math.sin(t), t**3], 0.0, 2.0, pieces=8, jumps=[0.3])
    assert two(1.234) == pytest.approx([math.sin(1.234), 1.234**3], abs=1e-5) and len(two.anchors) == 9
    three = Signal.daily([1.0, 2.0], 0.5, period=24.0, peak=[3.0, 5.0])
    assert three(3.0)[0] == pytest.approx(1.5, rel=1e-9) and three(17.0)[1] == pytest.approx(1.0, rel=1e-9)
    assert Signal.constant([1.0]).is_constant and not one.is_constant and one.held()(9.0)[0] == 5 and one.held()(-9.0)[0] == 0
    for make, message in (
        (lambda: Signal.steps([1.0, 1.0], [[0.0], [1.0]]), "must increase; got 1 after 1 at index 1"),
        (lambda: Signal.steps([1.0, NAN], [[0.0], [1.0]]), "finite seconds"),
        (lambda: Signal.steps([1.0], [[0.0], [1.0]]), "must have a row a time, 1; got 2"),
        (lambda: Signal.linear([0.0, 1.0], [[0.0], [INF]]), "must be finite; got inf"),
        (lambda: Signal.linear([0.0, 0.0], [[0.0], [1.0]]), "must span a time"),
        (lambda: Signal.constant([[0.0], [1.0, 2.0]]), "equally many numbers|rows of"),
        (lambda: Signal.daily(1.0, 1.5, period=1.0), "`swing` .* between −1 and 1"),
        (lambda: Signal.daily(1.0, 0.5, period=0.0), "must be positive"),
        (lambda: one(3.0), r"must be within \[0, 2\] s"),
        (lambda: burst(NET, {"s1": 2.0}, 0, 1), "Did you mean 's0'"),
        (lambda: burst(NET, {"s0": -2.0}, 0, 1), "must be finite and ≥ 0"),
        (lambda: outage(NET, {"c0": 0.0}, 0, 1), "must be finite and ≥ 1e-12"),
        (lambda: outage(NET, {"c0": 0.5}, 2, 1), "0 ≤ start < end"),
        (lambda: distance(simulate(NET, "rif", **GOOD), [1.0]), "must be 2 finite numbers"),
        (
            lambda: diagnose(simulate(NET, "rif", **GOOD), equilibrium(NET, "latency", method="fast")),
            "equilibrium of the rif cost",
        ),
        (lambda: oscillation([0.0, 1.0], [0.0]), "equally many finite numbers"),
        (lambda: simplex_projection([NAN, 1.0]), "vector of finite numbers"),
        (lambda: tangent_projection([0.5, 0.6], [1.0, 1.0]), "must be on the simplex"),
        (lambda: tangent_projection([0.5, 0.5], [1.0]), "must have 2 entries"),
    ):
        with pytest.raises((ParameterError, UnknownNameError), match=message):
            make()


def test_oscillation_of_a_wave() -> None:
    """A sine, and a constant that has none."""
    t = np.linspace(0, 50, 5001)
    found = oscillation(t, 3 + 2 * np.sin(2 * np.pi * t / 7 + 1))
    assert found.amplitude == pytest.approx(2, abs=1e-4) and found.period == pytest.approx(7, abs=1e-4) and found.crossings == 7
    assert math.isnan(oscillation(t, np.full(5001, 2.0)).period)


def test_meshes() -> None:
    """Commensurate delays make an even mesh; others step onto sums of up to three delays; updates and ends are nodes."""
    none = np.empty(0)
    even = make_mesh(np.array([0.1, 0.25, 1 / 3 * 0.3]), 1.0, 0.1, breaks=none, history_jumps=none, period=None)
    assert even.kind == "even" and even.step == pytest.approx(0.05) and even.times[-1] == pytest.approx(1.0)
    delays = np.array([0.3, math.sqrt(0.2)])
    mesh = make_mesh(delays, 2.0, 0.1, breaks=np.array([0.77]), history_jumps=np.array([-0.2]), period=0.5)
    assert mesh.kind == "breakpoints" and mesh.generations == 3 and mesh.times[mesh.base] == 0
    widths = np.diff(mesh.times)
    assert widths.max() <= 0.1 + 1e-12 and widths.min() > 1e-10 and mesh.times[0] <= -delays.max()
    d, e = delays
    for node in (d, e, d + e, 2 * d + e, 0.77, 0.77 + d, -0.2, -0.2 + e, 0.5, 1.0, 1.5, 2.0):
        assert np.abs(mesh.times - node).min() < 1e-12, node
    fine = mesh.refined()
    assert np.array_equal(fine.times[::2], mesh.times) and fine.times[fine.base] == 0
    assert make_mesh(delays, 2.0, 0.1, breaks=none, history_jumps=none, period=None, kind="even").kind == "even"
    forced = simulate(NET, "rif", eta=0.1, t_end=0.95, step=0.1, mesh="even")
    assert forced.snapped < 1e-12 and forced.end >= 0.95 - 1e-12
