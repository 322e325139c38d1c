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
# # What a forecast of completions is worth
#
# BR-H and LEVEL-H+ look ahead: they project the load of every worker over offsets $h = 0 \dots H$, and for that they need to
# know which requests in flight will have left by then. The target of a forecast (Chen, Bu and Song, arXiv 2601.17855, EC.4) is
#
# $$c_i = \mathbb E[\min(r_i, H) \mid \text{history}],$$
#
# $r_i$ the remaining length. With $\hat S(a)$ an estimate of $P(O > a)$, Survival says, for a request of age $a$,
#
# $$\hat c(a) = \sum_{j=0}^{H-1} \frac{\hat S(a+j)}{\hat S(a)}, \qquad
#   \hat p_{\mathrm{fin}}(a) = 1 - \frac{\hat S(a+H)}{\hat S(a)}.$$
#
# This notebook shows what such a forecast knows, what the paper's *cutoff* projection makes of it, what running requests do to
# it, and what it is worth in imbalance.

# %%
import numpy as np
import pandas as pd
from IPython.display import Markdown, display

from lbtheory.decode import compare, make_policy, make_workload, simulate
from lbtheory.decode.known import known_at
from lbtheory.decode.predictors import ExactMatch, History, InFlight, Oracle, Requests, Survival
from lbtheory.decode.predictors.accuracy import accuracy, looks
from lbtheory.decode.traces import synthetic
from lbtheory.decode.workload import Source
from lbtheory.plots import style
from lbtheory.plots.sweeps import curves

# %matplotlib inline


def show(figure):
    """Display a figure in the style of the toolkit."""
    with style.context():
        display(figure)


def seen(ages):
    """Requests of these ages."""
    n = len(ages)
    return InFlight(ids=np.arange(n), ages=np.asarray(ages), prompts=np.ones(n, int))


# %% [markdown]
# ## 1. Memoryless outputs: every request looks the same
#
# With $O \sim \mathrm{Geo}(p)$ the age says nothing: $\hat c = (1-q^H)/p$ for every request. For $p = 1/100$, $H = 80$ that is
# 55.2. The cutoff path keeps a request's whole load up to offset $\hat c$ and nothing after: with equal forecasts *all*
# requests vanish at once. The expected path (the *hazard* projection, ours) weighs it with $\hat S(a+h)/\hat S(a) = q^h$.

# %%
H, p = 80, 1 / 100
rng = np.random.default_rng(5)
drawn = rng.geometric(p, 200_000)
survival = Survival(History(prompts=np.ones(len(drawn), int), outputs=drawn))
forecast = survival.predict(seen([0, 50, 150]), H)
exact = (1 - (1 - p) ** H) / p
print(f"ĉ at ages 0, 50, 150: {forecast.round(1)}; exactly {exact:.1f}")
assert np.allclose(forecast, exact, rtol=0.01)

h = np.arange(H + 1)
table = survival.curve_table(Requests(prompts=np.ones(1, int)))
expected = np.array(table.surviving(0, 50, H)) / 2**20
assert np.abs(expected - (1 - p) ** h).max() < 0.01
paths = pd.concat(
    [
        pd.DataFrame({"h": h, "share": (h < forecast[1]).astype(float), "path": "cutoff (paper)"}),
        pd.DataFrame({"h": h, "share": expected, "path": "hazard (ours)"}),
    ]
)
figure = curves(
    paths,
    x="h",
    y="share",
    series="path",
    labels={name: name for name in paths["path"].unique()},
    tints={"cutoff (paper)": "#0072b2", "hazard (ours)": "#d55e00"},
    xlabel="offset h",
    ylabel="share of today's requests still there",
)
for line in figure.axes[0].get_lines():
    line.set_marker("")
show(figure)

# %% [markdown]
# Forecasts are made every $H$ iterations. At $j$ iterations after that, what is left of a forecast is $\max(1, \hat c - j)$, so
# from $j = 55$ on every request that was in flight is taken to leave at the next iteration: for a third of the time the
# projection is empty but for the newest requests. This is worse than no forecast at all. Eight workers of 64 slots, one stream:

# %%
work = make_workload(Source(p="1/100", prompts="uniform:100"), workers=8, slots=64, queue=64, steps=7_000, seed=1)
names = {
    "none (BR-0)": "br0",
    "oracle": "brh:beta=43,gamma=0.86",
    "Survival, every H iterations": "brh:beta=43,gamma=0.86,predictor=survival",
    "Survival, every iteration": "brh:beta=43,gamma=0.86,predictor=survival,refresh=iteration,cap=1",
    "Survival, hazard projection": "brh:beta=43,gamma=0.86,predictor=survival,projection=hazard,horizon=20",
}
policies = {label: make_policy(text, history=work.history, overtake=64, cap_all=True) for label, text in names.items()}
result = compare(work.stream, policies, workers=8, slots=64, steps=7_000, warmup=1_000)
rows = []
for label in names:
    pair = result.paired.get(label)
    ratio = pair.imbalance_sum_ratio if pair else None
    rows.append(
        {
            "forecast": label,
            "mean imbalance": result.summaries[label].imbalance_sum.mean,
            "none ÷": ratio.mean if ratio else 1.0,
            "low": ratio.low if ratio else None,
            "high": ratio.high if ratio else None,
        }
    )
gains = pd.DataFrame(rows).set_index("forecast")
display(gains.round(2))
assert gains.loc["oracle", "low"] > 1.2
assert gains.loc["Survival, every H iterations", "high"] < 0.95, "worse than no forecast"
assert gains.loc["Survival, every iteration", "none ÷"] > gains.loc["Survival, every H iterations", "none ÷"] + 0.1
assert abs(gains.loc["Survival, hazard projection", "none ÷"] - 1) < 0.15, "nothing to know, nothing lost"

# %% [markdown]
# ## 2. Requests that still run are data too
#
# A predictor that learns inside a run sees finished requests, and the short ones finish first. Requests still running say
# $O > a$: they are censored. The product-limit estimate (Kaplan and Meier, 1958) takes them into account.

# %%
young = make_workload(Source(trace="proprietary-like"), workers=8, slots=64, release="saturated", queue=64, seed=0)
run = simulate(young.stream, make_policy("jsq"), workers=8, slots=64, steps=3_200)
truth = Survival(History(prompts=young.stream.prompts, outputs=young.stream.outputs))
rows = []
for k in (200, 400, 800, 1_600, 3_200):
    admitted = run.requests.admission_iteration
    known = known_at(young.stream, np.where(admitted < k, admitted, 0), k)
    flight = seen(known.running_ages)
    row = {"iteration": k, "finished": len(known.outputs), "running": len(known.running_ages)}
    for estimate in ("empirical", "product-limit"):
        made = Survival(known, estimate=estimate)
        row[estimate] = (made.finishing(flight, H) - truth.finishing(flight, H)).mean()
    rows.append(row)
bias = pd.DataFrame(rows).set_index("iteration")
display(bias.round(3))
assert (bias["product-limit"].abs() < 0.1).all()
assert (bias["empirical"].loc[:1_600] > 0.2).all() and (bias["empirical"] > bias["product-limit"].abs()).all()

# %% [markdown]
# ## 3. Prompts that recur
#
# ExactMatch forecasts from the requests that share the prompt's hash, and is Survival where none does. Ages are where the
# difference is: nothing can be said about a request that is far from any end.

# %%
trace = synthetic("azure2024-like", 0, n=12_000, recurrence=0.9, output_correlation=0.98)
past, later = slice(0, 6_000), slice(6_000, 7_500)
history = History(prompts=trace.prompts[past], outputs=trace.outputs[past], keys=trace.keys[past])
flight, remaining = looks(Requests(prompts=trace.prompts[later], keys=trace.keys[later], outputs=trace.outputs[later]), 20)
predictors = {"oracle": Oracle(), "ExactMatch": ExactMatch(history, minimum=1), "Survival": Survival(history)}
buckets = {"below 900": (0, 900), "900 to 999": (900, 1_000), "1,000 and more": (1_000, 10**9)}
errors = pd.DataFrame(
    {
        name: {
            text: accuracy(made, flight, remaining, H, (flight.ages >= low) & (flight.ages < high)).mae
            for text, (low, high) in buckets.items()
        }
        for name, made in predictors.items()
    }
)
display(errors.round(2))
assert (errors["oracle"] == 0).all() and (errors.loc["below 900"] < 1e-9).all()
assert errors.loc["1,000 and more", "ExactMatch"] < 0.5 * errors.loc["1,000 and more", "Survival"]

known_key = np.isin(flight.keys, history.keys)
same = predictors["ExactMatch"].predict(flight, H) == predictors["Survival"].predict(flight, H)
print(f"{1 - known_key.mean():.1%} of the looks have a hash that never occurred: forecast exactly as by Survival")
assert same[~known_key].all() and not same[known_key].all()

# %% [markdown]
# ## 4. What it is worth
#
# The order of gains, oracle, ExactMatch, Survival, none, on one replay of this workload (128 slots a worker, so that several
# requests leave within the window's reach). One replay separates the ends of the order; the experiment `predictors` has the
# intervals over seeds, more forecasts and more workloads, and what the rules cost in waits.

# %%
source = Source(trace="azure2024-like", recurrence=0.9, output_correlation=0.98, requests=14_000)
work = make_workload(source, workers=8, slots=128, release="saturated", queue=64, start="residual", seed=0)
rule = "brh:beta=43,gamma=0.86,predictor="
names = {"none": "br0"} | {name: rule + name for name in ("oracle", "exact-match/minimum=1", "survival")}
names |= {"LEVEL+, no forecast": "level-plus"}
policies = {label: make_policy(text, history=work.history, overtake=64, cap_all=True) for label, text in names.items()}
result = compare(work.stream, policies, workers=8, slots=128, warmup=2_000)
mean = {name: s.imbalance_sum.mean for name, s in result.summaries.items()}
oracle, plus = (result.paired[name].imbalance_sum_ratio for name in ("oracle", "LEVEL+, no forecast"))
display(
    Markdown("\n".join(["| forecast | mean imbalance |", "| --- | ---: |", *(f"| {k} | {v:,.0f} |" for k, v in mean.items())]))
)
assert oracle.low > 1.05, "perfect forecasts help BR"
assert mean["oracle"] < mean["survival"] < 1.1 * mean["none"]
assert plus.mean > oracle.mean, "and levelling needs none"
