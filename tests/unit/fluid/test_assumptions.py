"""Assumptions 1 to 3: which hold, the witnesses, and the cut of an infeasible network."""

import json
from itertools import combinations
from math import e, isnan
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lbtheory.core import InfeasibleError, UnknownNameError
from lbtheory.fluid import (
    COSTS,
    Cell,
    Network,
    Source,
    check_assumptions,
    check_feasibility,
    check_rate,
    make_rate,
    require_feasible,
)

HOLD: list[tuple[dict[str, Any], bool, tuple[bool, bool, bool]]] = [  # Assumption 1; Assumption 3 for rif, latency, gradient
    ({"family": "mm1", "capacity": 2.0, "half": 1.0}, True, (True, True, True)),
    ({"family": "smooth_min", "service": 0.5, "slots": 2.0, "half": 0.3}, True, (True, True, True)),
    ({"family": "exponential", "capacity": 2.0, "scale": 1.5}, True, (True, True, False)),
    ({"family": "hill", "capacity": 2.0, "half": 1.0, "power": 0.5}, True, (True, True, True)),
    ({"family": "hill", "capacity": 2.0, "half": 1.0, "power": 1.0}, True, (True, True, True)),
    ({"family": "hill", "capacity": 2.0, "half": 1.0, "power": 2.0}, True, (True, False, False)),
    ({"family": "mmc", "service": 0.5, "servers": 4}, True, (True, True, True)),
    ({"family": "softplus", "a": 1.0, "b": 0.1, "k": 8.0, "w": 2.0}, True, (True, True, True)),
    ({"family": "softplus", "a": 1.0, "b": 0.125, "k": 8.0, "w": 2.0}, True, (True, True, False)),
    ({"family": "softplus", "a": 0.3, "b": 0.1, "k": 3.0, "w": 0.5}, True, (True, True, False)),
    ({"family": "softplus", "a": 1.0, "b": 0.2, "k": 8.0, "w": 2.0}, False, (True, True, False)),
    ({"family": "capped_linear", "service": 0.5, "slots": 2.0}, False, (True, False, False)),
    ({"family": "table", "points": [[1, 1], [2, 1.5], [4, 1.9], [8, 2.1]]}, True, (True, True, True)),
    ({"family": "table", "points": [[1, 1], [2, 1.2], [3, 1.5], [8, 1.9]]}, True, (True, True, False)),
    ({"family": "table", "points": [[1, 1], [2, 1.2], [3, 4.0], [8, 5.1]]}, True, (True, False, False)),
    ({"family": "table", "points": [[2, 1]]}, True, (True, False, False)),
]


@pytest.mark.parametrize(("parameters", "one", "three"), HOLD, ids=lambda value: str(value)[:60])
def test_which_hold(parameters: dict[str, Any], one: bool, three: tuple[bool, bool, bool]) -> None:
    """Every family and cost; a witness of each failure does what it claims, and its reason is given."""
    rate = make_rate(parameters)
    for cost, holds in zip(COSTS, three, strict=True):
        report = check_rate(rate, cost, cell="here")
        assert (report.cell, report.family, report.cost) == ("here", parameters["family"], cost)
        assert report.rate_check.holds == one and report.cost_check.holds == holds and report.holds == (one and holds)
        assert report.rate_check.why and report.cost_check.why
        if one:
            assert report.rate_check.witness is None
        else:
            witness = report.rate_check.witness
            assert witness is not None and witness.step > 0 and witness.after <= witness.before
            assert witness.after == float(rate.rate(witness.requests + witness.step))
        witness = report.cost_check.witness
        if holds:
            assert witness is None
        elif rate.cost_shape(cost).increasing:
            assert witness is not None and witness.limit is not None and witness.limit > 1
            assert witness.ratio == pytest.approx(witness.limit, rel=0.02)
        else:
            assert witness is not None and witness.step > 0 and witness.after <= witness.before and witness.limit is None


def test_softplus_on_its_boundary() -> None:
    """``a = bk``: ``f(N + Δ)/f(N)`` tends to ``e^{Δ/w}``; the decimal reading finds 0.3 = 0.1 × 3."""
    check = check_rate(make_rate({"family": "softplus", "a": 0.3, "b": 0.1, "k": 3.0, "w": 2.0}), "gradient").cost_check
    assert check.witness is not None and check.witness.limit == pytest.approx(e**2)
    assert "a = bk" in check.why and "Remedy: a > bk" in check.why


def test_unknown_cost() -> None:
    """The nearest is offered."""
    with pytest.raises(UnknownNameError, match=r"unknown cost 'gradent'.*Did you mean 'gradient'"):
        check_rate(make_rate({"family": "mm1", "capacity": 2.0, "half": 1.0}), "gradent")


def network(arrivals: list[float], capacities: list[float], allowed: Any) -> Network:
    """M/M/1 cells; sources beyond the cells are named ``s…``."""
    n = len(capacities)
    rates = [make_rate({"family": "mm1", "capacity": capacity, "half": 1.0}) for capacity in capacities]
    return Network(
        cells=tuple(Cell(name=f"c{j}", arrival_rate=arrivals[j], rate=rates[j]) for j in range(n)),
        sources=tuple(Source(name=f"s{i}", arrival_rate=arrivals[i]) for i in range(n, len(arrivals))),
        latency=np.zeros((len(arrivals), n)),
        allowed=allowed,
    )


def heaviest(of: Network) -> float:
    """``max_S Σ_S λ / Σ_{C⁺(S)} μ̄`` by trying every set of sources."""
    live = [i for i, rate in enumerate(of.arrivals) if rate > 0]
    sets = (list(chosen) for size in range(1, len(live) + 1) for chosen in combinations(live, size))
    return max((float(of.arrivals[s].sum() / of.capacities[of.allowed[s].any(axis=0)].sum()) for s in sets), default=0.0)


@st.composite
def networks(draw: st.DrawFn) -> Network:
    """Up to four cells and three more sources, rates over twelve orders of magnitude or equal, some at rest, any arcs."""
    n, more = draw(st.integers(1, 4)), draw(st.integers(0, 3))
    size = st.floats(-6, 6).map(lambda power: float(10**power)) | st.sampled_from([1.0, 2.0, 3.0])
    capacities = draw(st.lists(size, min_size=n, max_size=n))
    arrivals = draw(st.lists(size | st.just(0.0), min_size=n + more, max_size=n + more))
    allowed = np.array(draw(st.lists(st.booleans(), min_size=n * (n + more), max_size=n * (n + more)))).reshape(-1, n)
    allowed[np.arange(n), np.arange(n)] = True
    allowed[n:, 0] = True
    return network(arrivals, capacities, allowed)


@given(networks())
@settings(max_examples=150, deadline=None)
def test_feasibility_is_that_of_the_worst_set(of: Network) -> None:
    """The set named is the most loaded of all sets; the routing proves the other side."""
    found, right = check_feasibility(of), heaviest(of)
    assert found.cut_utilisation == pytest.approx(right, rel=1e-7)
    assert found.cut_utilisation <= right * (1 + 1e-12) and found.utilisation >= right * (1 - 1e-12)
    assert found.utilisation == pytest.approx(right, rel=1e-6)
    if abs(right - 1) > 1e-6:
        assert found.holds == (right < 1)
    live = of.arrivals > 0
    assert found.routing.sum(axis=1) == pytest.approx(live.astype(float)) and (found.routing[~of.allowed] == 0).all()
    assert found.routing.min(initial=0.0) >= 0
    if live.any():
        rows = [of.source_names.index(name) for name in found.sources]
        assert set(found.cells) == {of.cell_names[j] for j in np.nonzero(of.allowed[rows].any(axis=0))[0]}
        assert found.load / found.capacity == found.cut_utilisation


def test_the_cut_is_named() -> None:
    """Two sources confined to one cell overload it while the network as a whole has room."""
    of = network(
        [0.9, 0.2, 0.1, 0.7],
        [1.5, 8.0, 1.0],
        [[True, False, False], [True, True, True], [False, True, True], [True, False, False]],
    )
    with pytest.raises(
        InfeasibleError, match=r"'c0', 's3' send 1.6 requests per second to 'c0' alone, with capacity 1.5"
    ) as caught:
        require_feasible(of)
    assert "Remedy" in str(caught.value) and caught.value.exit_code == 2
    found = check_feasibility(of)
    assert (found.sources, found.cells, found.holds) == (("c0", "s3"), ("c0",), False)


def test_exactly_at_capacity() -> None:
    """Strict inequality is needed: load equal to capacity is refused."""
    assert not check_feasibility(network([1.0, 2.0], [1.0, 2.0], np.ones((2, 2), dtype=bool))).holds
    assert not check_feasibility(network([1.0], [1.0], [[True]])).holds
    require_feasible(network([1.0 - 1e-9], [1.0], [[True]]))


def test_without_arrivals() -> None:
    """Nothing to route, nothing to refuse."""
    of = network([0.0, 0.0], [1.0, 2.0], np.ones((2, 2), dtype=bool))
    require_feasible(of)
    found = check_feasibility(of)
    assert found.holds and found.utilisation == 0 and found.sources == () and not found.routing.any()


def test_long_lists_are_cut() -> None:
    """A message names eight and counts the rest."""
    of = network([1.0] * 12, [0.5] * 12, np.ones((12, 12), dtype=bool))
    with pytest.raises(InfeasibleError, match="'c7' and 4 more"):
        require_feasible(of)


def test_json() -> None:
    """Plain and without NaN, whatever fails."""
    cells = tuple(Cell(name=f"{i}", arrival_rate=0.01, rate=make_rate(parameters)) for i, (parameters, _, _) in enumerate(HOLD))
    of = Network(cells=cells, latency=np.zeros((len(cells), len(cells))))
    for cost in COSTS:
        found = check_assumptions(of, cost)
        made = json.loads(json.dumps(found.as_json(), allow_nan=False))
        assert made["cost"] == cost and made["holds"] is False and made["feasibility"]["holds"] is True
        assert [cell["cell"] for cell in made["cells"]] == list(of.cell_names)
        for cell, report in zip(made["cells"], found.cells, strict=True):
            assert [check["assumption"] for check in cell["checks"]] == [1, 3]
            assert [check["holds"] for check in cell["checks"]] == [report.rate_check.holds, report.cost_check.holds]
            assert all(check["why"] for check in cell["checks"])
    good = Network(cells=cells[:1], latency=[[0.0]])
    assert check_assumptions(good, "latency").holds


def test_ratio_of_an_infinite_value() -> None:
    """Hill with a power above 1: the marginal cost is infinite at 0, which the witness avoids."""
    check = check_rate(make_rate({"family": "hill", "capacity": 1.0, "half": 1.0, "power": 3.0}), "gradient").cost_check
    assert check.witness is not None and not isnan(check.witness.ratio) and check.witness.ratio < 1
