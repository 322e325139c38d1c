"""Tables for the terminal."""

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from lbtheory.decode.comparison import Comparison


def number(value: float | int | None, digits: int = 4) -> str:
    """A number with so many significant digits and thousands separators; an en dash for nothing."""
    if value is None or value != value:
        return "–"
    if isinstance(value, int) or abs(value) >= 10**digits:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def comparison_table(comparison: Comparison, level: float) -> Table:
    """One row a policy: imbalance with its interval, ratio to the reference, idle shares, throughput, latencies, waits."""
    table = Table(title=f"{comparison.reference} is the reference; intervals at {level:.0%}", title_justify="left")
    table.add_column("policy", no_wrap=True)
    heads = (
        "imbalance",
        f"{comparison.reference} ÷",
        "idle",
        "idle time",
        "tok/s",
        "TPOT p95 ms",
        "TTFT p95 s",
        "longest wait s",
        "finished",
    )
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    for name, s in comparison.summaries.items():
        pair = comparison.paired.get(name)
        ratio = pair.imbalance_sum_ratio if pair is not None else None
        table.add_row(
            name,
            _interval(s.imbalance_sum.mean, s.imbalance_sum.low, s.imbalance_sum.high),
            "1" if pair is None else "–" if ratio is None else _interval(ratio.mean, ratio.low, ratio.high, 3),
            f"{s.barrier_idle:.3f}",
            f"{s.barrier_idle_time:.3f}",
            number(s.throughput),
            number(1000 * s.tpot.p95),
            number(s.ttft.p95),
            number(s.wait.maximum),
            number(s.finished),
        )
    return table


def proofs_lines(comparison: Comparison) -> list[str]:
    """One line a policy that solves a program at every step: decisions, and how many of them without proof."""
    lines = []
    for name, p in comparison.proofs.items():
        rest = f"; the other {p.unproved:,} may lose {number(p.gap / p.unproved)} each on average" if p.unproved else ""
        lines.append(f"{name}: {p.decisions:,} decisions, {p.decisions - p.unproved:,} proved optimal{rest}")
    return lines


def tenants_table(comparison: Comparison) -> Table:
    """One row a policy and tenant: waits of the requests released after the warm-up."""
    table = Table(title="waits by tenant, iterations", title_justify="left")
    for head in ("policy", "weight", "released", "admitted", "mean", "p99", "longest"):
        table.add_column(head, justify="left" if head == "policy" else "right", no_wrap=True)
    for name, s in comparison.summaries.items():
        for one in s.tenants:
            waits = one.wait_iterations
            values = (waits.mean, waits.p99, waits.maximum)
            table.add_row(name, str(one.weight), number(one.released), f"{one.admitted:.1%}", *map(number, values))
    return table


def solutions_table(answers: Mapping[str, Mapping[str, Any]]) -> Table:
    """One row an answer of ``lbtheory solve``."""
    table = Table()
    table.add_column("policy", no_wrap=True)
    for head in ("status", "objective", "bound", "gap", "imbalance", "ms"):
        table.add_column(head, justify="right", no_wrap=True)
    for name, a in answers.items():
        values = [number(a[key], 8) for key in ("objective", "bound", "gap", "imbalance")]
        table.add_row(name, a["status"], *values, number(1000 * a["seconds"], 3))
    return table


def description_table(description: Mapping[str, Any]) -> Table:
    """Prompt and output lengths of a trace."""
    table = Table(title=f"{description['format']}: {description['requests']:,} requests", title_justify="left")
    table.add_column("tokens")
    for head in ("mean", "p50", "p95", "p99", "max"):
        table.add_column(head, justify="right")
    for name in ("prompt", "output"):
        table.add_row(name, *(number(description[name][key], 6) for key in ("mean", "p50", "p95", "p99", "max")))
    return table


def _interval(mean: float, low: float | None, high: float | None, digits: int = 4) -> str:
    if low is None or high is None:
        return number(mean, digits)
    return f"{number(mean, digits)} ± {number((high - low) / 2, 2)}"
