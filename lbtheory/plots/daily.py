"""A day of demand: rates, replicas, requests in flight and latency. It reads tidy tables."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from lbtheory.plots import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RELATIVE = {
    "rate": ("arrival rate", style.INK, "-"),
    "replicas": ("replicas", "#d55e00", "-"),
    "rif": ("requests in flight", "#0072b2", (0, (3, 1.2))),
}
LATENCIES = {"mean": ("mean latency", "#00664b", "-"), "p90": ("P90 latency", "#882255", (0, (4, 1.5)))}
"""Label, colour, dashes."""
ARMS = {"autoscaler": "Latency, autoscaler", "fixed": "Latency, fixed replicas"}


def elasticities(table: pd.DataFrame) -> pd.DataFrame:
    """Slope of the log of a quantity on the log of the rate over the bins, a row an arm and scenario, a column a quantity.

    NaN where a quantity does not vary (fixed replicas).
    """
    rows = []
    for (arm, scenario), part in table.groupby(["arm", "scenario"], sort=False):
        x = np.log(part["rate"].to_numpy(float))
        found: dict[str, object] = {"arm": arm, "scenario": scenario}
        for name in ("replicas", "rif", "mean", "p90"):
            y = part[name].to_numpy(float)
            found[name] = float(np.polyfit(x, np.log(y), 1)[0]) if np.ptp(y) > 0 else float("nan")
        rows.append(found)
    return pd.DataFrame(rows)


def daily_figure(table: pd.DataFrame) -> "Figure":
    """Rate, replicas and RIF with the autoscaler over their means of the day; mean and P90 latency with it and without.

    Lines are means over scenarios.

    Parameters
    ----------
    table : DataFrame
        Columns ``scenario``, ``arm``, ``time``, ``rate``, ``replicas``, ``rif``, ``mean``, ``p90``.
    """
    with style.context():
        figure = style.new_figure(style.TEXT_WIDTH, 2.7)
        first, *others = figure.subplots(1, 1 + len(ARMS))
        scaled = table[table["arm"] == "autoscaler"]
        for name, (label, tint, dashes) in RELATIVE.items():
            wide = scaled.pivot(index="time", columns="scenario", values=name)
            relative = (wide / wide.mean()).mean(axis=1)
            first.plot(relative.index, relative, color=tint, linestyle=dashes, label=label)
        first.set(ylabel="over its mean of the day", title="Autoscaler", ylim=(0, None))
        for axis, (arm, title) in zip(others, ARMS.items(), strict=True):
            for name, (label, tint, dashes) in LATENCIES.items():
                line = table[table["arm"] == arm].groupby("time")[name].mean()
                axis.plot(line.index, line, color=tint, linestyle=dashes, label=label)
            axis.sharey(others[0])
            axis.set(title=title)
        others[0].set_ylim(0, 1.1 * max(table["p90"].groupby([table["arm"], table["time"]]).mean()))
        others[0].set_ylabel("seconds")
        for axis in (first, *others):
            axis.set_xlabel("time, days")
        handles, labels = first.get_legend_handles_labels()
        more, names = others[0].get_legend_handles_labels()
        figure.legend(handles + more, labels + names, loc="outside lower center", ncols=5, columnspacing=1.2)
    return figure
