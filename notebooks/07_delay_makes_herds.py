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
# # Delay makes herds
#
# A source that sends every request to the cell that looked cheapest makes it the dearest, and learns so only after the
# news has crossed the network. Meanwhile everybody ran there. With one-way latencies $\tau_{ij}$ the workloads and the
# shares obey
#
# $$N_j'(t) = \sum_i \lambda_i x_{ij}(t-\tau_{ij}) - \mu_j(N_j(t)), \qquad \hat c_{ij}(t) = f_j(N_j(t-\tau_{ij})) + g_{ij}.$$
#
# *Discrete* routing puts all mass on the least $\hat c_{ij}$. *Flow* routing moves the shares downhill at a speed $\eta$,
# $x_i' = \Pi_{T(x_i)}(-\eta\,\hat c_i)$, the projection onto the tangent cone of the simplex. Does it settle? How fast
# may it move? Each claim below is asserted.

# %%
import math

import numpy as np
import pandas as pd
from IPython.display import display
from scipy.optimize import brentq

from lbtheory.fluid import Cell, Network, Source, make_rate
from lbtheory.fluid.dynamics import diagnose, lyapunov, oscillation, simulate
from lbtheory.fluid.equilibrium import equilibrium
from lbtheory.fluid.guarantee import guarantee, measure_upto
from lbtheory.fluid.stability import characteristic_roots, critical_stepsize, linearise, symmetric_critical
from lbtheory.plots import style

# %matplotlib inline
INF = math.inf
BLUE, RED, GREEN = "#0072b2", "#d55e00", "#009e73"


def twins(arrivals, *latency, capacity=1.0):
    """One source before two equal M/M/1 cells."""
    rate = make_rate({"family": "mm1", "capacity": capacity, "half": 1.0})
    return Network(
        cells=[Cell(name=name, arrival_rate=0.0, rate=rate) for name in "ab"],
        sources=[Source(name="users", arrival_rate=arrivals)],
        latency=[[0, INF], [INF, 0], list(latency)],
    )


def start(share):
    """Shares of the source; the cells send nothing."""
    return [[1, 0], [0, 1], [share, 1 - share]]


def show(figure):
    """Display a figure in the style of the toolkit."""
    with style.context():
        display(figure)


# %% [markdown]
# ## Discrete routing oscillates at every delay
#
# Two cells of capacity 1 share $\lambda = 1.6$ requests a second. A switch comes a round trip late: for $2\tau$ seconds
# after the workloads have crossed, everything still goes to the wrong cell, and $N_1 - N_2$ grows by at most $\lambda$ a
# second. So the amplitude is just under $2\lambda\tau$, at *every* delay: small delays make small herds, not none.
# (The computed switch is late by up to a step more.)

# %%
DELAYS, ARRIVALS = (0.05, 0.1, 0.2, 0.4), 1.6
KNOWN = dict(zip(DELAYS, (0.1597, 0.3187, 0.6349, 1.2596), strict=True))  # in the limit of small steps
rows, paths = [], {}
for tau in DELAYS:
    step = tau / 160
    run = simulate(twins(ARRIVALS, tau, tau), "latency", routing="discrete", t_end=40 * tau, step=step, workloads=[4.2, 3.9])
    late = run.times > 0.5 * run.end
    difference = run.workloads[:, 0] - run.workloads[:, 1]
    swing = oscillation(run.times[late], difference[late])
    rows.append({"delay": tau, "amplitude": swing.amplitude, "2λτ": 2 * ARRIVALS * tau, "period ÷ τ": swing.period / tau})
    paths[tau] = run.times, difference
    assert abs(swing.amplitude - KNOWN[tau]) < 2 * ARRIVALS * step  # a switch is late by up to a step
    assert swing.amplitude < 2 * ARRIVALS * (tau + step)
table = pd.DataFrame(rows).set_index("delay")
display(table)

# %%
with style.context():
    figure = style.new_figure(6.9, 2.4)
    axis = figure.subplots()
    for tau, tint in zip(DELAYS[1:], (GREEN, BLUE, RED), strict=True):
        times, difference = paths[tau]
        axis.plot(times / tau, difference, color=tint, label=f"τ = {tau:g} s")
        axis.axhline(2 * ARRIVALS * tau, color=tint, linestyle=":", linewidth=0.8)
    axis.set_xlabel("time ÷ τ")
    axis.set_ylabel("N₁ − N₂, requests")
    axis.set_title("Discrete routing (dotted: 2λτ)")
    axis.set_xlim(0, 40)
    figure.legend(loc="outside right upper")
show(figure)

# %% [markdown]
# ## Flow routing has a critical step
#
# Near the equilibrium the difference of the twins obeys $s^2 + as + \lambda\eta b\,e^{-2s\tau} = 0$ with the slopes $a =
# \mu'$ and $b = f'$. The rightmost root reaches the imaginary axis at $\omega_c = \theta/(2\tau)$ where $\theta\tan\theta
# = 2a\tau$, so
#
# $$\eta_c = \frac{a}{\lambda b\tau}\cdot\frac{\theta}{2\sin\theta}.$$
#
# Collocation of the delay equation on Chebyshev points, refined by Newton, finds the same roots without knowing the formula.

# %%
tau, arrivals = 0.5, 1.5
network, rows = twins(arrivals, tau, tau), []
for cost in ("rif", "latency", "gradient"):
    found = equilibrium(network, cost, method="fast", tolerance=1e-13)
    linear = linearise(network, found)
    critical = critical_stepsize(linear)
    n = 3.0
    a, b = 1 / (1 + n) ** 2, {"rif": 1.0, "latency": 1.0, "gradient": 2 * (1 + n)}[cost]
    theta = brentq(lambda x, a=a: x * math.tan(x) - 2 * a * tau, 1e-9, math.pi / 2 - 1e-9, xtol=1e-15)
    closed = a / (arrivals * b * tau) * theta / (2 * math.sin(theta))
    formula = symmetric_critical(service_slope=a, cost_slope=b, arrivals=arrivals, latency=tau)
    below, above = (characteristic_roots(linear, ratio * critical.eta).values[0] for ratio in (0.999, 1.001))
    rows.append(
        {"cost": cost, "closed form": closed, "by roots": critical.eta, "ω": critical.frequency, "(S)": critical.sufficient}
    )
    assert abs(critical.eta / closed - 1) < 1e-9 and abs(formula[0] / closed - 1) < 1e-12
    assert below.real < 0 < above.real and abs(abs(above.imag) / critical.frequency - 1) < 1e-3
    assert critical.below == 0 and critical.above > 0 and critical.sufficient < critical.eta
table = pd.DataFrame(rows).set_index("cost")
assert np.allclose(table["by roots"], [0.0420948573, 0.0420948573, 0.0052618572], atol=1e-10)
assert abs(table["ω"]["latency"] - 0.2474254652) < 1e-10
display(table)

# %% [markdown]
# A step in inverse proportion to the network latency is not enough. $\eta_c\tau$ hardly depends on $\tau$, but it falls
# with load, as the square of the slack for the latency cost and as the cube for the gradient cost. The more one follows
# the optimum, the slower one must go.

# %%
KNOWN = {"latency": (0.2599, 0.02517, 0.005565, 0.001316), "gradient": (0.06497, 0.002517, 0.0002782, 0.0000329)}
rows = []
for position, load in enumerate((0.5, 0.8, 0.9, 0.95)):
    slack = 1 - load
    row = {"load": load}
    for cost, values in KNOWN.items():
        a, b = slack**2, {"latency": 1.0, "gradient": 2 / slack}[cost]
        row[cost] = symmetric_critical(service_slope=a, cost_slope=b, arrivals=2 * load, latency=tau)[0]
        assert abs(row[cost] / values[position] - 1) < 5e-4
    rows.append(row)
display(pd.DataFrame(rows).set_index("load"))

# %% [markdown]
# ## Stable nearby is not stable
#
# At load 0.8 and nine tenths of the critical step, a start near the equilibrium settles. From a far one, ten requests in
# one cell and everything routed there, the same system cycles for ever: a limit cycle coexists with the stable point.

# %%
network = twins(1.6, tau, tau)
found = equilibrium(network, "latency", method="fast", tolerance=1e-13)
edge = critical_stepsize(linearise(network, found)).eta
runs = {}
for name, workloads, share in (("near", [4.3, 3.7], 0.5), ("far", [10.0, 0.0], 1.0)):
    run = simulate(network, "latency", t_end=2000, eta=0.9 * edge, step=0.05, workloads=workloads, shares=start(share), every=4)
    difference = run.workloads[:, 0] - run.workloads[:, 1]
    late = run.times > 0.85 * run.end
    runs[name] = run.times, difference, oscillation(run.times[late], difference[late])
near, far = runs["near"][2], runs["far"][2]
print(f"near: amplitude {near.amplitude:.2g}; far: amplitude {far.amplitude:.3f}, period {far.period:.2f} s")
assert near.amplitude < 0.05 < 0.6 and abs(far.amplitude - 8.33) < 0.05 and abs(far.period - 33) < 0.5
for ratio, amplitude in ((1.1, 7.738), (2.0, 6.239)):
    run = simulate(
        network, "latency", t_end=1000, eta=ratio * edge, step=0.05, workloads=[10.0, 0.0], shares=start(1.0), every=4
    )
    late = run.times > 0.8 * run.end
    swing = oscillation(run.times[late], (run.workloads[:, 0] - run.workloads[:, 1])[late])
    assert abs(swing.amplitude - amplitude) < 5e-3

# %%
with style.context():
    figure = style.new_figure(6.9, 2.5)
    left, right = figure.subplots(1, 2, sharey=True)
    for axis, span, title in ((left, (0, 250), "the beginning"), (right, (1750, 2000), "the end")):
        for name, tint in (("far", RED), ("near", BLUE)):
            times, difference, _ = runs[name]
            axis.plot(times, difference, color=tint, label=name)
        axis.set_xlim(*span)
        axis.set_xlabel("time, s")
        axis.set_title(f"0.9 of the critical step: {title}")
    left.set_ylabel("N₁ − N₂, requests")
    left.set_ylim(-9.5, 14)
    right.legend(loc="upper right", ncols=2)
show(figure)

# %% [markdown]
# ## What is guaranteed
#
# With $D_j = (f_j(N_j)-f_j^*)(\mu_j(N_j)-\mu_j^*) \ge 0$ and $S_i = \sum_j (c^*_{ij}-c_i)x_{ij} \ge 0$, Theorem 1 of the
# DLB paper bounds the time average of the gaps, for $\eta \le \eta_0$, here with every constant explicit:
#
# $$\frac1T\int_0^T\Bigl(\sum_j D_j + 2\sum_i\lambda_iS_i\Bigr)dt \le \frac{K_1}{T\eta} + G_1\eta + \frac KT.$$
#
# Where workloads are bounded (each cell could take everything), Theorem 1b says the same of $\sum D_j + \sum
# \lambda_iS_i$ for every $\eta$, with far smaller constants. Both rest on a Lyapunov function whose drift is known
# exactly: the residual of that identity along the computed trajectory is what the integration left.

# %%
network = twins(1.2, 0.1, 0.4, capacity=2.0)
given = {"workloads": [0.2, 3.0]}
known = guarantee(network, "latency", **given, routing=[[0, 0], [0, 0], [0.5, 0.5]])
first, within = known.first, known.bounded
assert abs(first.eta0 - 0.0223287464) < 1e-10 and abs(first.G1 - 41.0656332364) < 1e-9
assert abs(first.K1 - 0.4334609501) < 1e-10 and abs(first.K - 25.2746148915) < 1e-9
assert abs(within.G1 - 3.2907674426) < 1e-9 and abs(within.K - 5.5880419791) < 1e-9
eta = first.eta0
run = simulate(network, "latency", t_end=2000, eta=eta, step=0.1, shares=start(0.5), **given)
horizons = np.geomspace(2, 2000, 13)
seen = measure_upto(known.gaps, run, horizons)
for one in seen:
    assert one.left + one.error <= first.bound(one.horizon, eta, eta)
    assert one.left_bounded + one.error <= within.bound(one.horizon, eta, eta)
    assert one.regret_lower <= one.regret <= one.regret_upper
drift = lyapunov(run, known.gaps.equilibrium)
print(
    f"drift: V + Φ changes by {drift.change:.6f}, residual {drift.residual:.1e}; last distance {diagnose(run).distance[-1]:.1e}"
)
assert abs(drift.residual) < 1e-4 * abs(drift.change) and drift.least_slack > -1e-12

# %% [markdown]
# ## Without a floor
#
# $G_1\eta$ suggests that a fixed step leaves a residual for ever. It is an artefact of the proof. Theorem 2 (ours): for
# $\eta \le \eta_2$ the *integral* of the gaps stays below a constant for every $T$, so the average falls as $1/T$ and
# $N(t) \to N^*$.

# %%
second = known.second
assert abs(second.eta2 - 0.0105670286) < 1e-10
small = second.eta2
slow = simulate(network, "latency", t_end=4000, eta=small, step=0.1, shares=start(0.5), **given)
times = np.r_[np.geomspace(2, 2000, 13), 4000]
settled = measure_upto(known.gaps, slow, times)
integrals = np.array([one.left * one.horizon for one in settled])
assert (np.diff(integrals) >= -1e-12).all() and integrals[-1] - integrals[-2] < 1e-9
assert integrals[-1] <= second.bound(small) < first.G1 * small * times[-1]
assert np.allclose(slow.workloads[-1], known.gaps.workloads, atol=1e-8)
print(f"∫ gaps = {integrals[-1]:.4f} for ever; Theorem 2 allows {second.bound(small):.1f},")
print(f"the floor of Theorem 1 would allow {first.G1 * small * times[-1]:.0f} by T = {times[-1]:.0f} s")

# %%
with style.context():
    figure = style.new_figure(6.9, 2.7)
    left, right = figure.subplots(1, 2, sharey=True)
    left.plot(horizons, [first.bound(t, eta, eta) for t in horizons], color=RED, linestyle="--", label="Theorem 1")
    left.plot(horizons, [within.bound(t, eta, eta) for t in horizons], color=GREEN, linestyle="-.", label="Theorem 1b")
    left.plot(horizons, [one.left for one in seen], "o-", color=BLUE, markersize=3, label="measured")
    left.set_title("η = η₀")
    right.plot(times, [first.bound(t, small, small) for t in times], color=RED, linestyle="--", label="Theorem 1")
    right.plot(times, second.bound(small) / times, color=style.INK, linestyle=":", label="Theorem 2")
    right.plot(times, integrals / times, "o-", color=BLUE, markersize=3, label="measured")
    right.set_title("η = η₂")
    for axis in (left, right):
        axis.set(xscale="log", yscale="log", xlabel="horizon T, s")
        axis.legend(loc="lower left")
    left.set_ylabel("time-average gap")
show(figure)
