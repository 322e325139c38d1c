"""Tasks of the experiments on equilibria: what one cell of a sweep runs. Each returns a list of flat records."""

import math
from typing import Any

import numpy as np
from scipy.optimize import differential_evolution

from lbtheory.core import ParameterError, generator
from lbtheory.fluid.costs import COSTS
from lbtheory.fluid.equilibrium import check_uniqueness, equilibrium, price_of_anarchy
from lbtheory.fluid.geography import fibre_latency
from lbtheory.fluid.network import Cell, Network, Source
from lbtheory.fluid.rates import MM1, RateFamily, Softplus, make_rate

Record = dict[str, Any]

MARGIN = 1.05
"""A noisy softplus model is projected to ``a ≥ 1.05 b k``, so that its marginal cost increases without bound."""


def map_equilibria(*, seed: int, places: list[dict[str, Any]], allowed: dict[str, list[str]]) -> list[Record]:
    """All equilibria of cells on a map, a record a cell and one an arc with flow; ``seed`` is not used.

    ``places`` have name, latitude, longitude, arrival_rate, replicas, capacity, half (M/M/1) and side (of the label);
    ``allowed`` names the cells of a source that may not use all. The fast method's answer is shown, and ``apart`` is the
    largest relative difference of CVXPY's workloads from it.
    """
    del seed
    names = [one["name"] for one in places]
    latency = fibre_latency([one["latitude"] for one in places], [one["longitude"] for one in places])
    mask = [[target in allowed.get(source, names) for target in names] for source in names]
    cells = [
        Cell(
            name=one["name"],
            arrival_rate=one["arrival_rate"],
            replicas=one["replicas"],
            rate=make_rate({"family": "mm1", "capacity": one["capacity"], "half": one["half"]}),
        )
        for one in places
    ]
    net = Network(cells=tuple(cells), latency=latency, allowed=np.array(mask))
    anarchy, records = price_of_anarchy(net), []
    for cost, found in anarchy.equilibria.items():
        other = equilibrium(net, cost, method="cvxpy")
        common = {
            "cost": cost,
            "price": anarchy.price[cost],
            "worst": anarchy.worst[cost],
            "mean_latency": found.mean_latency,
            "wardrop_gap": found.wardrop_gap,
            "apart": float(np.max(np.abs(other.workloads / found.workloads - 1))),
            "unique": check_uniqueness(net, found).routing,
        }
        for j, one in enumerate(places):
            records.append(
                common
                | {"kind": "cell", "source": one["name"], "cell": one["name"]}
                | {name: one[name] for name in ("latitude", "longitude", "arrival_rate", "capacity", "side")}
                | {
                    "flow": float(found.inflow[j]),
                    "load": float(found.inflow[j] / one["capacity"]),
                    "in_flight": float(found.workloads[j]),
                    "latency": float(cells[j].rate.latency(found.workloads[j])),
                }
            )
        flows = net.arrivals[:, None] * found.routing
        for i, j in np.argwhere(flows > 1e-6 * net.total):
            records.append(
                common
                | {"kind": "arc", "source": names[i], "cell": names[j], "flow": float(flows[i, j])}
                | {"latency": float(2 * latency[i, j] + cells[j].rate.latency(found.workloads[j]))}
            )
    return records


def random_network(rng: np.random.Generator, cells: int, spread: float, load: float) -> Network:
    """M/M/1 cells with log-normal capacities (``σ`` = spread), demand of the same spread, every arc allowed.

    ``2τ`` is uniform up to four times the mean service time; loads are those of the whole network.
    """
    capacity, demand = np.exp(spread * rng.standard_normal(cells)), np.exp(spread * rng.standard_normal(cells))
    arrivals = demand * (load * capacity.sum() / demand.sum())
    latency = np.triu(rng.uniform(0, 2, (cells, cells)), 1)
    made = [
        Cell(name=f"c{j}", arrival_rate=float(arrivals[j]), rate=MM1(capacity=float(capacity[j]), half=1.0))
        for j in range(cells)
    ]
    return Network(cells=tuple(made), latency=latency + latency.T)


def prices(*, seed: int, cells: int, spread: float, load: float, networks: int) -> list[Record]:
    """Prices of anarchy of random networks, a record a network and cost. A seed gives the same networks at every load."""
    rng, records = generator(seed, "networks"), []
    for at in range(networks):
        anarchy = price_of_anarchy(random_network(rng, cells, spread, load))
        records += [{"network": at, "cost": cost, "price": anarchy.price[cost], "worst": anarchy.worst[cost]} for cost in COSTS]
    return records


def two_cells(load: float, capacity: float, half: float, detour: float) -> Network:
    """A source of rate ``load`` beside a cell ``N/(N+1)``, and a cell of other capacity and half behind ``2τ = detour``."""
    near, far = MM1(capacity=1.0, half=1.0), MM1(capacity=capacity, half=half)
    return Network(
        cells=(Cell(name="near", arrival_rate=0.0, rate=near), Cell(name="far", arrival_rate=0.0, rate=far)),
        sources=(Source(name="source", arrival_rate=load),),
        latency=np.array([[0, math.inf], [math.inf, 0], [0, detour / 2]]),
    )


def worst_price_in_closed_form(cost: str, load: float, longest: float) -> float:
    """Supremum over `two_cells` of capacity ≥ 1 and ``2τ ≤ longest`` at ``load < 1`` (proved for latency; empirical for RIF).

    The far cell becomes a constant: capacity to infinity, ``h/μ̄ → 0``, cost ``T = 2τ``. The optimum keeps
    ``z = min(load, 1 − T^{−1/2})`` near, ``C = z/(1 − z) + (load − z) T``.
    Latency: at ``T = 1/(1 − load)`` all stays near, and ``C_W/C = (1 + (1 − load)^{−1/2})/2``, the anarchy value of M/M/1
    delays (Roughgarden, *Selfish Routing and the Price of Anarchy*, 2005). RIF: equal ``N`` in an infinite cell leaves
    none near, ``C_R = load T``; the ratio grows with ``T``, so it is taken at ``T = longest``. A far cell that is smaller than
    the near one can be worse for latency without limit: one that nearly fills up.

    Raises
    ------
    ParameterError
        Latency with ``longest < 1/(1 − load)``, where the worst case is cut off.
    """
    if cost == "latency":
        if longest * (1 - load) < 1 - 1e-9:
            raise ParameterError(
                f"`longest` of `worst_price_in_closed_form` must be ≥ 1/(1 − load) = {1 / (1 - load):g}; got {longest!r}."
            )
        return (1 + 1 / math.sqrt(1 - load)) / 2
    z = min(load, 1 - 1 / math.sqrt(longest)) if longest > 1 else 0.0
    return load * longest / (z / (1 - z) + (load - z) * longest)


def worst_price(*, seed: int, cost: str, load: float, longest: float, smallest: float, generations: int) -> list[Record]:
    """The worst `two_cells` found by differential evolution, beside the supremum in closed form: one record.

    The far cell's capacity is at least ``smallest``; the closed form is for 1.
    """

    def of(point: np.ndarray) -> Network:
        return two_cells(load, 10 ** float(point[0]), 10 ** float(point[1]), 10 ** float(point[2]))

    def gain(point: np.ndarray) -> float:
        return -price_of_anarchy(of(point)).price[cost]

    box = [(math.log10(smallest), 6.0), (-3.0, 1.0), (-3.0, math.log10(longest))]
    found = differential_evolution(
        gain, box, maxiter=generations, popsize=8, tol=1e-12, seed=generator(seed, "search"), polish=False
    )
    capacity, half, detour = (10 ** float(value) for value in found.x)
    return [
        {
            "price": -float(found.fun),
            "supremum": worst_price_in_closed_form(cost, load, longest) if smallest >= 1 else None,
            "far_capacity": capacity,
            "far_half": half,
            "detour": detour,
            "searched": int(found.nfev),
        }
    ]


def noisy_network(rng: np.random.Generator, cells: int, load: float) -> Network:
    """Softplus cells with ``a`` a little above ``bk``, as fits of batch servers give; ``2τ`` up to half the base latency."""
    rates = []
    for _ in range(cells):
        b, k = float(rng.uniform(0.06, 0.2)), float(rng.uniform(6, 12))
        rates.append(Softplus(a=float(rng.uniform(1.05, 1.3)) * b * k, b=b, k=k, w=float(rng.uniform(1, 3))))
    capacity, demand = np.array([1 / one.b for one in rates]), rng.uniform(0.5, 1.5, cells)
    arrivals = demand * (load * capacity.sum() / demand.sum())
    latency = np.triu(rng.uniform(0, 0.25, (cells, cells)), 1)
    made = [Cell(name=f"c{j}", arrival_rate=float(arrivals[j]), rate=one) for j, one in enumerate(rates)]
    return Network(cells=tuple(made), latency=latency + latency.T)


def perturbed(model: Softplus, factor: float) -> tuple[Softplus, bool]:
    """``factor × θ`` projected to ``a ≥ 1.05 bk``, and whether its rate or its marginal cost was broken before that."""
    a, b, k, w = (factor * value for value in (model.a, model.b, model.k, model.w))
    return Softplus(a=max(a, MARGIN * b * k), b=b, k=k, w=w), a <= b * k


def misjudged(*, seed: int, cells: int, load: float, noise: float, networks: int) -> list[Record]:
    """In-flight totals when roots know ``(1 + εξ_j) θ_j``, ``ξ_j ~ U[−1, 1]`` a cell, over the optimum's.

    A record a network and cost; the seed gives the same networks and ``ξ`` at every ``ε``. ``broken`` is the share of models
    whose marginal cost would not increase without the projection.
    """
    records = []
    for at in range(networks):
        rng = generator(seed, "network", at)
        net = noisy_network(rng, cells, load)
        signs = rng.uniform(-1, 1, cells)
        models: list[RateFamily] = []
        broken = 0
        for cell, xi in zip(net.cells, signs, strict=True):
            if not isinstance(cell.rate, Softplus):
                raise ParameterError("`misjudged` needs softplus cells.")
            model, fails = perturbed(cell.rate, 1 + noise * float(xi))
            models.append(model)
            broken += fails
        least = equilibrium(net, "gradient", method="fast").in_flight
        for cost in COSTS:
            found = equilibrium(net, cost, method="fast", believed=models)
            records.append({"network": at, "cost": cost, "price": found.in_flight / least, "broken": broken / cells})
    return records
