# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Three equilibria
#
# Cells far apart serve each other's requests. Cell $j$ with $N_j$ requests in flight serves $\mu_j(N_j)$ a second, a request
# there takes $\ell_j(N_j) = N_j/\mu_j(N_j)$, and the way from source $i$ costs $\tau_{ij}$ each way. Every source shifts its
# requests towards the cells that look cheapest. What "cheap" means is the choice:
#
# | cost | $f_j(N)$ | on an arc | equilibrium |
# | --- | --- | --- | --- |
# | RIF | $N/k_j$ | $0$ | equal requests in flight a replica |
# | latency | $N/\mu_j(N)$ | $2\tau_{ij}$ | Wardrop: nobody can do better alone |
# | gradient | $1/\mu_j'(N)$ | $2\tau_{ij}$ | the least possible number of requests in flight |
#
# All three are minimisers of one convex program, $\min \sum_j p_j(z_j) + \sum_{ij}\lambda_i g_{ij}x_{ij}$ with
# $p_j(z) = \int_0^z f_j(\mu_j^{-1}(s))\,ds$. For the gradient cost the objective is the number of requests in flight itself.
# Each claim below is asserted.

# %%
import math

import numpy as np
import pandas as pd
from IPython.display import display

from lbtheory.core import ParameterError
from lbtheory.fluid import Cell, Network, Source, cell_cost, check_assumptions, check_rate, make_rate
from lbtheory.fluid.equilibrium import (
    check_uniqueness,
    equilibrium,
    in_flight_range,
    measured,
    price_of_anarchy,
    sensitivity,
)
from lbtheory.fluid.mnlb import mnlb_weights
from lbtheory.plots import style
from lbtheory.plots.equilibria import COSTS

# %matplotlib inline
INF = math.inf


def cell(name, arrival_rate, replicas=1, family="mm1", **parameters):
    """A cell with a rate family by name."""
    return Cell(name=name, arrival_rate=arrival_rate, replicas=replicas, rate=make_rate({"family": family, **parameters}))


def show(figure):
    """Display a figure in the style of the toolkit."""
    with style.context():
        display(figure)


# %% [markdown]
# ## Two cells, by hand
#
# M/M/1 cells of capacity 2 and 1 without latencies share 1.5 requests a second. In flight: $N = z/(\bar\mu - z)$.
#
# - RIF: $N_1 = N_2$, so $z_1 = 2 z_2$: $z = (1, ½)$.
# - Wardrop: $1/(2 - z_1) = 1/(1 - z_2)$: $z_1 = 5/4$, 2 requests in flight.
# - Optimum: $2/(2 - z_1)^2 = 1/(1 - z_2)^2$: $z_1 = (2 + \sqrt2/2)/(1 + \sqrt2)$. The price of anarchy of Wardrop is
#   $3\sqrt2/4 \approx 1.06$.

# %%
pair = Network(
    cells=[cell("big", 0.0, capacity=2.0, half=1.0), cell("small", 0.0, capacity=1.0, half=1.0)],
    sources=[Source(name="users", arrival_rate=1.5)],
    latency=[[0, INF], [INF, 0], [0, 0]],
)
anarchy = price_of_anarchy(pair, tolerance=1e-13)
share = {name: float(one.inflow[0]) for name, one in anarchy.equilibria.items()}
assert abs(share["rif"] - 1) < 1e-9 and abs(share["latency"] - 5 / 4) < 1e-9
assert abs(share["gradient"] - (2 + math.sqrt(2) / 2) / (1 + math.sqrt(2))) < 1e-9
assert abs(anarchy.price["latency"] - 3 * math.sqrt(2) / 4) < 1e-9

# %%
with style.context():
    figure = style.new_figure(6.9, 2.7)
    left, right = figure.subplots(1, 2)
    z = np.linspace(0.55, 1.45, 300)
    for name, (label, tint, _) in COSTS.items():
        first, second = (cell_cost(name, one.rate) for one in pair.cells)
        left.plot(z, first.potential_slope(z) - second.potential_slope(1.5 - z), color=tint, label=label)
        left.plot(share[name], 0, "o", color=tint)
    left.axhline(0, color=style.MUTED, linewidth=0.7)
    left.set_ylim(-6, 6)
    left.set_title("big cell's cost less small cell's")
    left.set_xlabel("requests per second to the big cell")
    left.legend()
    total = z / (2 - z) + (1.5 - z) / (z - 0.5)
    right.plot(z, total, color=style.INK)
    for name, (_, tint, _) in COSTS.items():
        right.plot(share[name], anarchy.equilibria[name].in_flight, "o", color=tint)
    right.set_ylim(1.8, 3)
    right.set_title("requests in flight")
    right.set_xlabel("requests per second to the big cell")
show(figure)

# %% [markdown]
# ## A certificate, and what it catches
#
# A solver's word is not enough. From the flows alone we recompute the Wardrop gap
# $\sum y_{ij}(c_{ij} - c_i)/\sum y_{ij}c_{ij}$, which is 0 exactly at an equilibrium, and the relative gap, which bounds how
# far the objective is from its minimum. Two methods that share no code agree; flows that are slightly wrong are caught.

# %%
residency = Network(
    cells=[
        cell("west", 1.6, 4, capacity=2.0, half=1.0),
        cell("middle", 0.9, 2, capacity=1.5, half=0.5),
        cell("east", 0.5, 3, capacity=1.8, half=2.0),
    ],
    latency=[[0, 0.1, INF], [INF, 0, 0.15], [INF, INF, 0]],
)
rows = []
for cost in COSTS:
    fast = equilibrium(residency, cost, method="fast", tolerance=1e-12)
    conic = equilibrium(residency, cost, method="cvxpy")
    assert np.allclose(fast.workloads, conic.workloads, rtol=1e-6)
    flows = residency.arrivals[:, None] * fast.routing
    flows[0] += [-0.01, 0.01, 0]
    wrong = measured(residency, cost, flows, tolerance=1e-6, method="perturbed", iterations=0, seconds=0.0)
    assert fast.wardrop_gap < 1e-11 and wrong.wardrop_gap > 1e-5 and wrong.status.value == "feasible"
    rows.append(
        {
            "cost": cost,
            "west → middle": fast.routing[0, 1],
            "middle → east": fast.routing[1, 2],
            "mean latency": fast.mean_latency,
            "Wardrop gap": fast.wardrop_gap,
            "gap of wrong flows": wrong.wardrop_gap,
        }
    )
table = pd.DataFrame(rows).set_index("cost")
display(table)

# %% [markdown]
# Latency-based routing is no compromise between the other two: here it is the worst of the three. It sends nothing from the
# middle to the east, where a request would find a shorter queue but a longer way.

# %%
latency = table["mean latency"]
assert latency["gradient"] < latency["rif"] < latency["latency"]
assert np.allclose(latency[["rif", "latency", "gradient"]], [1.4209331872, 1.5071116020, 1.4105672884], atol=1e-9)
assert table["middle → east"]["latency"] == 0

# %% [markdown]
# ## How bad can it get?
#
# *Selfish routing.* One cell of capacity 1 and, behind a long way, a cell so large that it costs a constant. If the way costs
# exactly what the full cell would, everybody stays, and the price is the anarchy value of M/M/1 delays
# $\tfrac12\bigl(1 + 1/\sqrt{1-\lambda}\bigr)$ (Roughgarden, 2005): finite for each $\lambda$, without bound as $\lambda \to 1$.

# %%
for load in (0.5, 0.9, 0.99):
    delay = 1 / (1 - load)
    net = Network(
        cells=[cell("near", load, capacity=1.0, half=1.0), cell("far", 0.0, capacity=1e7, half=1.0)],
        latency=[[0, delay / 2], [INF, 0]],
    )
    price = price_of_anarchy(net, tolerance=1e-12).price["latency"]
    bound = (1 + 1 / math.sqrt(1 - load)) / 2
    print(f"load {load}: price {price:.6f}, formula {bound:.6f}")
    assert abs(price / bound - 1) < 1e-5

# %% [markdown]
# *Blind routing.* RIF does not see distance. Two equal cells far apart, equal demand: workloads are unique, but whether the
# requests stay at home or are all exchanged makes no difference to RIF. Its equilibria form a whole face, and their price
# runs from 1 to 4; two linear programs over the face give the ends. The other two costs see the way, and all their equilibria
# have the same total.

# %%
twins = Network(cells=[cell(name, 0.5, capacity=1.0, half=1.0) for name in "ab"], latency=[[0, 3.0], [3.0, 0]])
found = equilibrium(twins, "rif", method="fast")
low, high = in_flight_range(twins, found)
assert np.allclose(found.workloads, 1) and abs(low - 2) < 1e-6 and abs(high - 8) < 1e-6
assert check_uniqueness(twins, found).neutral_dimension == 1
print(f"in flight between {low:.3f} and {high:.3f} at the same workloads {found.workloads}")

# %% [markdown]
# ## Where the theory needs its assumptions
#
# The work-conserving softplus latency $\ell = a + bw\log(1 + e^{(N-k)/w})$ with $a = bk$ breaks the slow variation of the
# gradient cost, with $a < bk$ even monotony: the rate peaks and falls, and the gradient cost is infinite there. A free fit, or
# a little noise on the parameters, can land on either side.

# %%
for a in (0.76, 0.8, 0.84):
    rate = make_rate({"family": "softplus", "a": a, "b": 0.1, "k": 8.0, "w": 2.0})
    report = check_rate(rate, "gradient")
    print(f"a/(bk) = {a / 0.8:.2f}: assumption 1 {report.rate_check.holds}, assumption 3 {report.cost_check.holds}")
    assert report.rate_check.holds == (a >= 0.8) and report.cost_check.holds == (a > 0.8)

# %% [markdown]
# Convex service (Hill with power 2) makes latency fall at first, and uniqueness is gone: two equal cells, one request a second
# in all, and every $(N, 1/N)$ is an equilibrium, for $\ell = N + 1/N$ in both and $\mu(N) + \mu(1/N) = 1$.

# %%
hill = make_rate({"family": "hill", "capacity": 1.0, "half": 1.0, "power": 2.0})
n = np.geomspace(0.01, 100, 9)
assert np.allclose(hill.latency(n), hill.latency(1 / n)) and np.allclose(hill.rate(n) + hill.rate(1 / n), 1)
assert not check_rate(hill, "latency").cost_check.holds
crowd = Network(
    cells=[cell(name, 0.5, family="hill", capacity=1.0, half=1.0, power=2.0) for name in "ab"], latency=np.zeros((2, 2))
)
assert not check_assumptions(crowd, "latency").holds
try:
    price_of_anarchy(crowd)
except ParameterError as error:
    print(error)
else:
    raise AssertionError("a price without an increasing marginal cost")

# %% [markdown]
# ## Prices of capacity
#
# At the optimum a source's multiplier is what one more request a second from there adds to the requests in flight: the envelope
# theorem. The implicit derivatives say so, and a finite difference agrees.

# %%
best = equilibrium(residency, "gradient", method="fast", tolerance=1e-12)
moves = sensitivity(residency, best)
assert np.allclose(moves.in_flight_by_arrival, best.multipliers, rtol=1e-6)
more = Network(cells=[cell("west", 1.6 + 1e-4, 4, capacity=2.0, half=1.0), *residency.cells[1:]], latency=residency.latency)
change = (equilibrium(more, "gradient", method="fast", tolerance=1e-12).in_flight - best.in_flight) / 1e-4
print(f"one more request a second from the west: {best.multipliers[0]:.4f} more in flight, by difference {change:.4f}")
assert abs(change / best.multipliers[0] - 1) < 1e-3

# %% [markdown]
# The balancer that such cells used before is a linear program: least network latency within capacities, solved now and then,
# its weights held in between. It fills near cells to the brim and knows nothing of what that does to their latency.

# %%
legacy = mnlb_weights([7.0, 3.0, 1.0], [4.0, 4.0, 3.2], [[0, 20.0, 60.0], [20.0, 0, 30.0], [60.0, 30.0, 0]])
print(legacy.weights.round(4), legacy.capacity_duals)
assert np.allclose(legacy.weights, [[4 / 7, 3 / 7, 0], [0, 1 / 3, 2 / 3], [0, 0, 1]])
