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
# # Cells: the simulation behind the DLB figures
#
# A fluid model has no queues, no random lengths and no probes. Here requests are single: they arrive at the root of a cell, are
# sent to a cell by what the root saw of it one latency ago, wait before a prefill engine, decode in one of eight slots, and
# return. Every policy meets the same requests.

# %%
import warnings

import numpy as np
import pandas as pd
from IPython.display import display

from lbtheory.cells import Event, Parameters, sample_scenario, simulate
from lbtheory.cells.calibration import calibrate, oracle_models
from lbtheory.cells.stepsize import slope_ratio, stepsizes
from lbtheory.cells.summary import compare_policies
from lbtheory.estimate import perturb

warnings.simplefilter("ignore", UserWarning)
scenario = sample_scenario(3, cells=4, duration=120.0, warmup=30.0)
display(pd.DataFrame({"servers": scenario.servers, "demand": scenario.arrivals, "capacity": scenario.capacities}).round(1))
assert abs(scenario.utilisation - 0.8) < 1e-12

# %% [markdown]
# ## The curve that the theory means
#
# The theory needs $\ell_j(N)$, the latency of a cell that holds $N$ requests. Hold $N$ in a closed loop, and it is $N$ over the
# throughput. A softplus fits it to about 1 %, once it is constrained to $a \ge 1.05\,bk$; free fits end on either side of
# $a = bk$, and below it the processing rate $N/\ell(N)$ falls under load and the gradient cost $1/\mu'$ turns negative.

# %%
found = [calibrate(scenario, j) for j in range(4)]
models = [one.fit.model for one in found]
display(pd.DataFrame({"a/(bk), free": [one.fit.ratio for one in found], "error": [one.fit.relative_error for one in found]}))
assert max(one.fit.relative_error for one in found) < 0.03
assert min(one.fit.ratio for one in found) < 1.05
assert all(one.margin > 0 for one in models)
noisy = perturb(models[0], 1.3, projected=False)
assert noisy.margin < 0 and float(noisy.marginal(1.5 * noisy.peak)) < 0

# %% [markdown]
# ## Eight policies and an oracle
#
# Ratios of mean latency to weighted random routing. The oracle sees the current state, requests on their way included.

# %%
names = ["mnlb", "disc-rif", "disc-lat", "disc-grad", "flow-rif", "flow-lat", "flow-grad", "oracle"]
result = compare_policies(scenario, names, trials=2, models=models)
table = pd.DataFrame({name: result.averages(name) for name in names}).T[["normalised", "p90", "error_rate", "remote"]]
display(table.round(4))
dlb = table.loc[names[1:7], "normalised"]
assert dlb.max() < 1 and table.loc["oracle", "normalised"] < 1.02 * dlb.min()
assert dlb.mean() < table.loc["mnlb", "normalised"]

# %% [markdown]
# ## The stepsize
#
# $\eta = \kappa s/\sum_k\lambda_k\max(\tau_k^{\max}, 50\,\mathrm{ms})$ keeps the local stability condition
# $\max_j 2(f_j'/\mu_j')\sum_i\lambda_i\eta_i\tau_i^{\max} < 1$ with room to spare, for every cost.

# %%
for cost in ("rif", "latency", "gradient"):
    eta = stepsizes(scenario, models, cost, Parameters())
    gain = float((scenario.arrivals * eta * scenario.latency.max(axis=1)).sum())
    worst = max(
        2 * gain / slope_ratio(model, cell.servers, rate, cost)
        for model, cell, rate in zip(models, scenario.cells, scenario.server_rates, strict=True)
    )
    print(f"{cost:9s} η = {eta[0]:.3g}, condition {worst:.3f} < 1")
    assert worst <= 0.2 + 1e-9

# %% [markdown]
# ## Stale probes
#
# Discrete routing sends everything to the cell that looked best until the next probe. A second between probes is enough to make
# it worse than random routing; gradual routing suffers less.

# %%
stale = {}
for period in (0.01, 1.0):
    p = Parameters(probe_period=period)
    stale[period] = compare_policies(scenario, ["disc-rif", "flow-grad"], models=models, parameters=p)
display(pd.DataFrame({period: {n: one.averages(n)["normalised"] for n in one.policies} for period, one in stale.items()}))
assert stale[1.0].averages("disc-rif")["normalised"] > 1 > stale[0.01].averages("disc-rif")["normalised"]
assert stale[1.0].averages("flow-grad")["normalised"] < stale[1.0].averages("disc-rif")["normalised"]

# %% [markdown]
# ## A cell that fails fast looks idle
#
# Cell 1 fails half of its requests at once between 40 s and 80 s. Without error aversion it keeps attracting requests, for it
# is empty; with it, a trickle remains that notices the recovery.

# %%
sick = scenario.changed(events=(Event(kind="unhealthy", start=40.0, end=80.0, cell=1),))
shares = {}
for averse in (False, True):
    run = simulate(sick, "disc-rif", parameters=Parameters(aversion=averse))
    late = (run.arrival > 50) & (run.arrival < 80)
    after = run.arrival > 110
    shares[averse] = (float(run.failed[late].mean()), float((run.cell[after] == 1).mean()))
    print(f"aversion {averse}: {shares[averse][0]:.1%} fail; afterwards cell 1 gets {shares[averse][1]:.1%} of the requests")
assert shares[True][0] < 0.25 * shares[False][0]
assert shares[True][1] > 0.5 * shares[False][1]
assert np.isclose(oracle_models(scenario)[0].a, models[0].a)
