"""Prices of anarchy: limit cells, closed forms, several equilibria of the RIF cost, wrong models."""

import math

import numpy as np
import pytest

from lbtheory.core import ParameterError
from lbtheory.fluid import COSTS, Cell, Network, RateFamily, Source, cell_cost, make_rate
from lbtheory.fluid.costs import BelievedCost
from lbtheory.fluid.equilibrium import METHODS, Equilibrium, equilibrium, in_flight_range, price_of_anarchy
from lbtheory.fluid.tasks import misjudged, perturbed, prices, two_cells, worst_price, worst_price_in_closed_form
from tests.reference.fluid import PowerLatency, pigou_price, two_cell_split

INF = math.inf
MM1 = make_rate({"family": "mm1", "capacity": 1.0, "half": 1.0})


def parallel(first: RateFamily, second: RateFamily, total: float) -> Network:
    """One source between two cells without latencies."""
    return Network(
        cells=[Cell(name="a", arrival_rate=0.0, rate=first), Cell(name="b", arrival_rate=0.0, rate=second)],
        sources=[Source(name="s", arrival_rate=total)],
        latency=[[0, INF], [INF, 0], [0, 0]],
    )


def solved(net: Network, cost: str, method: str) -> Equilibrium:
    """As tightly as the method can."""
    return equilibrium(net, cost, method=method, tolerance={"cvxpy": None, "fast": 1e-13}[method])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("degree", "share", "total", "price"),
    [
        (1, 0.5, 0.75, 1.3333333333),
        (2, 0.5773502692, 0.6150998205, 1.6257523846),
        (3, 4 ** (-1 / 3), 1 / 1.89562820376, 1.89562820376),
        (4, 0.6687403050, 0.4650077560, 2.1505017649),
    ],
)
def test_pigou(degree: int, share: float, total: float, price: float, method: str) -> None:
    """Cost ``z^d`` against 1, unit demand: everybody takes the first road, the optimum ``(d + 1)^{−1/d}`` does."""
    net = parallel(PowerLatency(degree=degree), PowerLatency(degree=0), 1.0)
    best, selfish = solved(net, "gradient", method), solved(net, "latency", method)
    digits = 1e-9 if method == "fast" else 3e-6
    assert best.inflow[0] == pytest.approx(share, rel=digits) and best.in_flight == pytest.approx(total, rel=1e-9)
    assert selfish.in_flight == pytest.approx(1.0, rel=3e-6)  # a tie: an error of the root of the gap
    assert 1 / total == pytest.approx(price, rel=1e-9) == pytest.approx(pigou_price(degree), rel=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_mm1_pigou(method: str) -> None:
    """λ = .9 beside a capacity of 1 and a constant latency of 10: ½(1 + √(1/(1 − λ)))."""
    net = parallel(MM1, PowerLatency(degree=0, factor=10.0), 0.9)
    best, selfish = solved(net, "gradient", method), solved(net, "latency", method)
    assert best.inflow[0] == pytest.approx(0.6837722340, rel=1e-6 if method == "cvxpy" else 1e-9)
    assert best.in_flight == pytest.approx(4.3245553203, rel=1e-10)
    assert selfish.in_flight == pytest.approx(9.0, rel=3e-6)
    assert 9 / best.in_flight == pytest.approx(2.0811388301, rel=1e-10)


def test_limit_cells_fail_the_assumptions() -> None:
    """They are outside the theory, and no price is given for a flat cost."""
    with pytest.raises(ParameterError, match="increasing marginal cost"):
        price_of_anarchy(parallel(PowerLatency(degree=1), PowerLatency(degree=0), 1.0))


def test_search_meets_the_closed_form() -> None:
    """The worst two cells come near the supremum and stay below it; smaller cells break the bound of M/M/1 delays."""
    for cost in ("latency", "rif"):
        [found] = worst_price(seed=3, cost=cost, load=0.9, longest=100.0, smallest=1.0, generations=12)
        assert found["supremum"] * 0.97 < found["price"] <= found["supremum"] * (1 + 1e-9)
    small = price_of_anarchy(two_cells(0.3, 0.301, 0.001, 0.0011)).price["latency"]
    assert small > 8 > worst_price_in_closed_form("latency", 0.3, 100.0)


def test_closed_form_of_rif() -> None:
    """Against the equilibria of a far cell that is nearly a constant."""
    for load, longest in ((0.5, 100.0), (0.95, 100.0), (0.9, 3.0), (0.4, 0.5)):
        net = two_cells(load, 1e7, 1.0, longest)
        assert price_of_anarchy(net).price["rif"] == pytest.approx(worst_price_in_closed_form("rif", load, longest), rel=1e-4)


def test_price_of_latency_is_finite_but_unbounded() -> None:
    """Over instances with a far cell that is nearly a constant it goes as ``(1 − λ)^{−1/2}/2``; for each it is finite."""
    for load, right in ((0.9, 2.0811388301), (0.99, 5.5), (0.9999, 50.5)):
        found = price_of_anarchy(two_cells(load, 1e9, 1.0, 1 / (1 - load))).price["latency"]
        assert found == pytest.approx(right, rel=1e-3) == worst_price_in_closed_form("latency", load, 1e9)


def ring() -> Network:
    """Two equal cells with equal demand far apart: RIF does not mind if all requests are exchanged."""
    cells = [Cell(name=name, arrival_rate=0.5, rate=MM1) for name in "ab"]
    return Network(cells=cells, latency=[[0, 3.0], [3.0, 0]])


def test_rif_has_many_equilibria() -> None:
    """``N* = (1, 1)`` is unique; in flight 2 (all at home) to 2 + 6 (all exchanged). Other costs have one total."""
    net = ring()
    found = equilibrium(net, "rif", method="fast")
    assert found.workloads == pytest.approx([1, 1], rel=1e-9)
    assert in_flight_range(net, found) == pytest.approx((2, 8), rel=1e-6)
    anarchy = price_of_anarchy(net)
    assert anarchy.best["rif"] == pytest.approx(1, rel=1e-6) and anarchy.worst["rif"] == pytest.approx(4, rel=1e-6)
    assert anarchy.best["rif"] <= anarchy.price["rif"] <= anarchy.worst["rif"]
    for cost in ("latency", "gradient"):
        assert anarchy.best[cost] == anarchy.price[cost] == anarchy.worst[cost] == pytest.approx(1, rel=1e-9)


@pytest.mark.parametrize("cost", ["latency", "gradient"])
@pytest.mark.parametrize("method", METHODS)
def test_the_true_model_changes_nothing(cost: str, method: str) -> None:
    """``μ̂ = μ`` gives the equilibrium of the true costs, by tangents instead of cones."""
    net = two_cells(0.8, 0.7, 0.6, 0.4)
    true = solved(net, cost, method)
    believed = equilibrium(net, cost, method=method, believed=[cell.rate for cell in net.cells], tolerance=1e-9)
    assert believed.inflow == pytest.approx(true.inflow, rel=1e-6)
    assert believed.objective == pytest.approx(true.objective, rel=1e-8)


@pytest.mark.parametrize("cost", COSTS)
def test_wrong_models(cost: str) -> None:
    """The split equalises believed costs at true workloads (bisection); RIF needs no model; cells serve at true rates."""
    net = two_cells(0.8, 0.7, 0.6, 0.4)
    models = [
        make_rate({"family": "mm1", "capacity": 1.4, "half": 0.5}),
        make_rate({"family": "mm1", "capacity": 0.5, "half": 0.9}),
    ]
    if cost == "rif":
        costs = [cell_cost(cost, cell.rate) for cell in net.cells]
    else:
        costs = [BelievedCost(cost=cost, rate=c.rate, replicas=1, believed=m) for c, m in zip(net.cells, models, strict=True)]
    split = two_cell_split(costs, 0.8, (0.0, 0.0 if cost == "rif" else 0.4))
    for method in METHODS:
        found = equilibrium(net, cost, method=method, believed=models, tolerance=1e-8)
        assert found.inflow[0] == pytest.approx(split, rel=2e-5) and found.flow_residual < 1e-9
        assert found.workloads[0] == pytest.approx(split / (1 - split), rel=1e-4)


def test_models_must_have_increasing_costs() -> None:
    """A noisy softplus with ``a < bk`` is named with its remedy; a wrong number of models too."""
    net = two_cells(0.5, 1.0, 1.0, 0.1)
    bad = make_rate({"family": "softplus", "a": 0.9, "b": 0.125, "k": 8.0, "w": 2.0})
    with pytest.raises(ParameterError, match=r"cell 'near'.*raise a above b k"):
        equilibrium(net, "gradient", believed=[bad, bad])
    with pytest.raises(ParameterError, match="must be 2 rate families"):
        equilibrium(net, "gradient", believed=[bad])
    fixed, broken = perturbed(make_rate({"family": "softplus", "a": 1.0, "b": 0.1, "k": 9.0, "w": 2.0}), 1.5)  # type: ignore[arg-type]
    assert broken and fixed.a == pytest.approx(1.05 * fixed.b * fixed.k)
    assert equilibrium(net, "gradient", believed=[fixed, fixed], method="fast").relative_gap < 1e-8


def test_believed_potential_is_the_integral() -> None:
    """``p' = f̂ ∘ μ⁻¹`` by central differences; infinite at capacity."""
    model = make_rate({"family": "softplus", "a": 1.0, "b": 0.1, "k": 6.0, "w": 2.0})
    true = make_rate({"family": "softplus", "a": 1.2, "b": 0.11, "k": 8.0, "w": 1.5})
    for cost in ("latency", "gradient"):
        of = BelievedCost(cost=cost, rate=true, replicas=2, believed=model)
        for z in (0.5, 5.0, 8.0):
            slope = (of.potential(z + 1e-5) - of.potential(z - 1e-5)) / 2e-5
            assert float(slope) == pytest.approx(float(of.potential_slope(z)), rel=1e-8)
            curve = (of.potential_slope(z + 1e-6) - of.potential_slope(z - 1e-6)) / 2e-6
            assert float(curve) == pytest.approx(float(of.potential_curvature(z)), rel=1e-6)
        assert float(of.potential(true.capacity_limit)) == INF and float(of.potential(0.0)) == 0


def test_tasks_are_paired() -> None:
    """The same networks at every load and every noise; a network does not depend on how many follow."""
    few, many = (prices(seed=5, cells=3, spread=0.5, load=0.6, networks=count) for count in (2, 4))
    assert few == many[: len(few)]
    clean, noisy = (misjudged(seed=5, cells=3, load=0.6, noise=noise, networks=2) for noise in (0.0, 0.4))
    by_rif = [[row["price"] for row in rows if row["cost"] == "rif"] for rows in (clean, noisy)]
    assert by_rif[0] == by_rif[1]
    assert all(row["price"] == pytest.approx(1, abs=1e-9) for row in clean if row["cost"] == "gradient")
    assert np.mean([row["price"] for row in noisy if row["cost"] == "gradient"]) > 1
