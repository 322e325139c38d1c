"""Speed of the delay integrator beside jitcdde (optional: the extra `benchmarks`), at equal error, on one network, in one run.

Run it with ``python -m experiments.bench_dde``. All-to-all networks of M/M/1 cells with flow routing on the latency cost,
started so that no share reaches zero: jitcdde knows no projection. Times are of the integration alone: no compilation, no
construction, and for ours no checks either (those are in the column "call"); least CPU seconds of a few runs. Each error is
against a run with an eighth of our least step. jitcdde is given its helpers form, in which each rate and each mean cost is
computed once.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from contextlib import chdir
from typing import Any

import numpy as np

from lbtheory.fluid import Cell, Network, make_rate
from lbtheory.fluid.dynamics import Trajectory, simulate
from lbtheory.fluid.dynamics.mesh import make_mesh
from lbtheory.fluid.dynamics.setting import make_setting
from lbtheory.fluid.dynamics.stepping import Stepper

T_END = 20.0
STEPS = (0.3, 0.2, 0.15, 0.1, 0.075, 0.05, 0.035, 0.025, 0.0125)
"""Ours, the longest first."""
TARGETS = {10: 25, 20: 100}


def eta(n: int) -> float:
    """So small that no share, ``1/n`` at first, reaches zero."""
    return 0.01 / n


def network(n: int) -> Network:
    """Delays of 0.3 to 1 s, cells about half loaded."""
    rng = np.random.default_rng(0)
    arrivals, capacity, half = rng.uniform(0.5, 1, n), rng.uniform(1.8, 2.2, n), rng.uniform(1, 2, n)
    cells = [
        Cell(name=f"c{j}", arrival_rate=float(r), rate=make_rate({"family": "mm1", "capacity": float(m), "half": float(h)}))
        for j, (r, m, h) in enumerate(zip(arrivals, capacity, half, strict=True))
    ]
    return Network(cells=cells, latency=rng.uniform(0.3, 1.0, (n, n)))


def seconds(run: Callable[[], Any], repeats: int = 5) -> float:
    """Least CPU seconds."""
    found = []
    for _ in range(repeats):
        began = time.process_time()
        run()
        found.append(time.process_time() - began)
    return min(found)


def stepping_seconds(net: Network, step: float, repeats: int = 25) -> tuple[float, int]:
    """Of our integration alone on an even mesh, and the number of steps."""
    setting = make_setting(
        net, "latency", "flow", eta=eta(len(net.cells)), t_end=T_END, period=None, ties="lowest", workloads=None, shares=None,
        past_workloads=None, past_routing=None, arrivals=None, capacity=None,
    )  # fmt: skip
    none = np.empty(0)
    mesh = make_mesh(setting.delays, T_END, step, breaks=none, history_jumps=none, period=None, kind="even")
    steppers = [Stepper(setting, mesh) for _ in range(repeats)]
    return seconds(lambda: steppers.pop().run(mesh.base, mesh.base + mesh.steps, mesh.steps), repeats), mesh.steps


def jitcdde_run(net: Network, rtol: float) -> tuple[Callable[[], np.ndarray], float]:
    """A function that integrates with jitcdde and returns the workloads at the end, and the seconds of its compilation."""
    import symengine
    from jitcdde import jitcdde, t, y

    n = len(net.cells)
    arrivals, tau = net.arrivals, net.latency
    capacity = [cell.rate.parameters()["capacity"] for cell in net.cells]
    half = [cell.rate.parameters()["half"] for cell in net.cells]
    rate, mean = symengine.symbols([f"r{j}" for j in range(n)]), symengine.symbols([f"m{i}" for i in range(n)])

    def cost(i: int, j: int) -> Any:
        return (y(j, t - tau[i, j]) + half[j]) / capacity[j] + 2 * tau[i, j]

    seen = [[symengine.Symbol(f"c{i}_{j}") for j in range(n)] for i in range(n)]
    helpers = [(rate[j], capacity[j] * y(j) / (y(j) + half[j])) for j in range(n)]
    helpers += [(seen[i][j], cost(i, j)) for i in range(n) for j in range(n)]
    helpers += [(mean[i], sum(seen[i]) / n) for i in range(n)]
    f = [sum(arrivals[i] * y(n + i * n + j, t - tau[i, j]) for i in range(n)) - rate[j] for j in range(n)]
    f += [-eta(n) * (seen[i][j] - mean[i]) for i in range(n) for j in range(n)]
    began = time.perf_counter()
    made = jitcdde(f, helpers=helpers, delays=[0.0, *np.unique(tau)], max_delay=float(tau.max()), verbose=False)
    with tempfile.TemporaryDirectory() as folder, chdir(folder):  # its build reads a pyproject.toml where it runs
        made.compile_C(simplify=False, verbose=False)
    compilation = time.perf_counter() - began
    start = np.r_[np.zeros(n), np.full(n * n, 1 / n)]

    def run() -> np.ndarray:
        made.purge_past()
        made.constant_past(start)
        made.set_integration_parameters(rtol=rtol, atol=rtol)
        made.reset_integrator()
        made.adjust_diff()
        return np.asarray(made.integrate(T_END))[:n]

    return run, compilation


def error(of: np.ndarray, exact: Trajectory) -> float:
    """Of workloads at the end."""
    return float(np.abs(of - exact.workloads[-1]).max())


def beside_jitcdde(n: int, rtol: float) -> None:
    """One row: our longest step whose error is no greater than that of jitcdde."""
    net = network(n)
    exact = simulate(net, "latency", eta=eta(len(net.cells)), t_end=T_END, step=STEPS[-1] / 8, mesh="even", every=1000)
    run, compilation = jitcdde_run(net, rtol)
    theirs = error(run(), exact)
    slow = seconds(run, 8)
    for step in STEPS:
        ours = error(
            simulate(net, "latency", eta=eta(len(net.cells)), t_end=T_END, step=step, mesh="even").workloads[-1], exact
        )
        if ours <= theirs:
            break
    fast, _ = stepping_seconds(net, step)
    call = seconds(lambda: simulate(net, "latency", eta=eta(len(net.cells)), t_end=T_END, step=step, mesh="even"))
    target = f"target {TARGETS[n]}" if n in TARGETS else ""
    print(
        f"{n:4} {theirs:10.1e} {1e3 * slow:9.2f} {compilation:10.1f} {ours:9.1e} {step:6} {1e3 * fast:9.3f} {1e3 * call:8.2f} "
        f"{slow / fast:7.0f} {target}"
    )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rtol", type=float, nargs="+", default=[1e-5, 1e-7], help="tolerances of jitcdde")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 20], help="cells beside jitcdde")
    options = parser.parse_args()
    simulate(network(3), "latency", eta=0.001, t_end=1, step=0.1, mesh="even")
    print("ours alone: flow routing with the test for events, nanoseconds of CPU an arc and step (target 12)")
    for n in (10, 20, 50, 100):
        found, steps = stepping_seconds(network(n), 0.05)
        print(f"{n:4} cells, {steps} steps: {1e3 * found:8.2f} ms, {1e9 * found / steps / n**2:6.1f} ns")
    try:
        import jitcdde  # noqa: F401
    except ImportError:
        print("jitcdde is not installed: pip install jitcdde to compare")
        return
    columns = ("n", "error", "jitcdde", "compile, s", "error", "step", "ours, ms", "call, ms", "ratio")
    print(" ".join(f"{name:>{width}}" for name, width in zip(columns, (4, 10, 9, 10, 9, 6, 9, 8, 7), strict=True)))
    for rtol in options.rtol:
        for n in options.sizes:
            beside_jitcdde(n, rtol)


if __name__ == "__main__":
    main()
