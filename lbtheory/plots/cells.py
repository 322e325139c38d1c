"""Panels of the cell simulations: policies over one variation, and cells over time. They read tables; nothing simulates."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lbtheory.plots import style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

METRICS = {
    "mean_ratio": "Mean latency / Rand",
    "p90_ratio": "p90 latency / Rand",
    "error_rate": "Error rate",
}
"""Columns that are drawn, with their labels."""


def over_scenarios(table: "pd.DataFrame", metric: str) -> "pd.DataFrame":
    """Mean over scenarios with its bootstrap interval, by value and policy: columns ``value, policy, mean, low, high``."""
    import pandas as pd

    from lbtheory.cells.intervals import bootstrap

    rows = []
    for (value, policy), part in table.groupby(["value", "policy"], sort=False):
        found = bootstrap(part[metric].to_numpy())
        rows.append({"value": value, "policy": policy, "mean": found.mean, "low": found.low, "high": found.high})
    return pd.DataFrame(rows)


def policy_curves(
    table: "pd.DataFrame",
    xlabel: str,
    *,
    policies: Sequence[str],
    metrics: Sequence[str] = tuple(METRICS),
    log: bool = False,
    percent: bool = False,
) -> "Figure":
    """One panel a metric: mean over scenarios against the value, a line a policy, bands for the 95 % bootstrap interval.

    Parameters
    ----------
    table : DataFrame
        Columns ``value``, ``policy``, ``scenario`` and the metrics; a row a scenario (trials averaged).
    xlabel : str
    policies : sequence of str
        In the order of the legend.
    metrics : sequence of str
        Keys of `METRICS`.
    log : bool
        Logarithmic axis of values.
    percent : bool
        Values are shares, shown in per cent.
    """
    from matplotlib.ticker import PercentFormatter

    with style.context():
        figure = style.new_figure(style.TEXT_WIDTH, 2.75)
        axes = figure.subplots(1, len(metrics), squeeze=False)[0]
        for axis, metric in zip(axes, metrics, strict=True):
            rows = over_scenarios(table, metric)
            for policy in policies:
                part = rows[rows["policy"] == policy].sort_values("value")
                tint = style.color(policy)
                axis.fill_between(part["value"], part["low"], part["high"], color=tint, alpha=0.12, linewidth=0)
                axis.plot(
                    part["value"],
                    part["mean"],
                    color=tint,
                    marker=style.marker(policy),
                    markersize=3.2,
                    label=style.label(policy),
                    linestyle="--" if policy in ("rand", "mnlb") else "-",
                )
            axis.set_title(METRICS[metric])
            if metric == "error_rate":
                axis.set_yscale("symlog", linthresh=1e-4)
                axis.set_ylim(bottom=0)
                axis.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
            if log:
                _log_values(axis, sorted(rows["value"].unique()))
            elif percent:
                axis.xaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
        figure.supxlabel(xlabel, fontsize=8)
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=min(len(policies), 8))
    return figure


def _log_values(axis: Any, values: Sequence[float]) -> None:
    """A logarithmic axis whose ticks are the values."""
    axis.set_xscale("log")
    axis.set_xticks(values, [f"{value:g}" for value in values])
    axis.minorticks_off()


def timelines(table: "pd.DataFrame", windows: Sequence[tuple[float, float, str]]) -> "Figure":
    """A column a run (policy, aversion), rows: RIF per replica, mean latency, error rate; a line a cell; events are shaded.

    Parameters
    ----------
    table : DataFrame
        Columns ``policy, aversion, cell, time, load, latency, errors``.
    windows : sequence of (start, end, text)
        Seconds.
    """
    from matplotlib.ticker import PercentFormatter

    runs = list(table.groupby(["policy", "aversion"], sort=False))
    rows = (("load", "RIF per replica"), ("latency", "Mean latency (s)"), ("errors", "Error rate"))
    tints = ("#0a5fa8", "#e8a33d", "#00664b", "#c47fae", "#64b7ea", "#7a1f3d")
    with style.context():
        figure = style.new_figure(style.TEXT_WIDTH, 4.6)
        axes = figure.subplots(len(rows), len(runs), sharex=True, sharey="row", squeeze=False)
        for column, ((policy, aversion), part) in enumerate(runs):
            for axis, (metric, label) in zip(axes[:, column], rows, strict=True):
                for tint, (cell, line) in zip(tints, part.groupby("cell", sort=False), strict=False):
                    axis.plot(line["time"], line[metric], color=tint, linewidth=0.9, label=str(cell))
                for start, end, _ in windows:
                    axis.axvspan(start, end, color=style.RULE, alpha=0.6, linewidth=0)
                if column == 0:
                    axis.set_ylabel(label)
                axis.set_ylim(bottom=0)
            axes[0, column].set_title(f"{style.label(policy)}, aversion {'on' if aversion else 'off'}")
            top = axes[0, column].get_ylim()[1]
            for start, end, text in windows:
                axes[0, column].text(
                    (start + end) / 2, 0.97 * top, text, ha="center", va="top", fontsize=6.5, color=style.MUTED
                )
        for axis in axes[2]:
            axis.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %", decimals=0))
        figure.supxlabel("Time (s)", fontsize=8)
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return figure
