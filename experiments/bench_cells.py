"""Speed of the cell simulator: simulated seconds a second of one core, and growth in events with the number of cells.

    python -m experiments.bench_cells [--quick]

The main row is a baseline scenario with 6 cells at 80 % load and every control loop on (probes, flow updates, error aversion,
estimation). Times are of the process, compilation left out; drawing the requests is given apart and included in the rate.
"""

import argparse
import time
import warnings

from rich.console import Console
from rich.table import Table

from lbtheory.cells import ESTIMATE, draw_stream, make_policy, sample_scenario, simulate
from lbtheory.cells.scenario import Scenario

TARGET = 2000.0
"""Simulated seconds a second."""
POLICIES = ("rand", "mnlb", "disc-rif", "disc-grad", "flow-grad", "oracle")
GROWTH = (5, 10, 20, 50, 100)


def measure(scenario: Scenario, policy: str, repeats: int = 3) -> dict[str, float]:
    """Best of some runs: seconds of drawing and running, simulated seconds a second, nanoseconds an event."""
    draw, run, events = [], [], 0
    for _ in range(repeats):
        start = time.process_time()
        stream = draw_stream(scenario)
        middle = time.process_time()
        events = simulate(scenario, policy, stream=stream, models=ESTIMATE if make_policy(policy).needs_model else None).events
        draw.append(middle - start)
        run.append(time.process_time() - middle)
    seconds = min(draw) + min(run)
    return {
        "draw": min(draw),
        "run": min(run),
        "rate": scenario.duration / seconds,
        "events": float(events),
        "nanoseconds": 1e9 * min(run) / events,
    }


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="shorter runs")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore", UserWarning)
    began = time.process_time()
    simulate(sample_scenario(0, cells=2, duration=61.0), "flow-grad", models=ESTIMATE)
    console = Console()
    console.print(f"first run, with compilation or from its cache: {time.process_time() - began:.1f} s")
    base = sample_scenario(3, cells=6, duration=200.0 if quick else 600.0)
    table = Table("policy", "draw, s", "run, s", "events", "ns an event", "simulated s a second", f"≥ {TARGET:g}")
    for policy in POLICIES:
        found = measure(base, policy)
        table.add_row(
            policy,
            f"{found['draw']:.3f}",
            f"{found['run']:.3f}",
            f"{found['events']:,.0f}",
            f"{found['nanoseconds']:.0f}",
            f"{found['rate']:,.0f}",
            "yes" if found["rate"] >= TARGET else "no",
        )
    console.print(table)
    table = Table("cells", "requests a second", "events", "run, s", "ns an event", title="flow-grad, 100 s")
    for cells in GROWTH[:3] if quick else GROWTH:
        scenario = sample_scenario(5, cells=cells, duration=100.0)
        found = measure(scenario, "flow-grad", repeats=2)
        table.add_row(
            str(cells),
            f"{scenario.arrivals.sum():,.0f}",
            f"{found['events']:,.0f}",
            f"{found['run']:.3f}",
            f"{found['nanoseconds']:.0f}",
        )
    console.print(table)


if __name__ == "__main__":
    main()
