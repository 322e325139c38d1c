"""Rates of convergence: time-average gaps against the horizon, and their slopes. They read tidy tables."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from lbtheory.plots import style
from lbtheory.plots.equilibria import COSTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STEPSIZES = {
    "1.2 critical": ("1.2 × critical", "#882255", "^", 0.0),
    "0.5 critical": ("½ × critical", "#0072b2", "o", -1.0),
    "eta0": ("η₀ of Theorem 1", "#d55e00", "s", -1.0),
    "eta2": ("η₂ of Theorem 2", "#8a8a2b", "D", -1.0),
    "schedule": ("schedule T^(−1/2)", "#1a1a1a", "v", -0.5),
}
"""Label, colour, marker, and slope in the limit."""
BOUNDS = {
    "theorem1": ("eta0", (0, (4, 1.5)), "Theorem 1, at η₀"),
    "theorem2": ("eta2", (0, (1.2, 1.2)), "Theorem 2, at η₂"),
    "theorem1b": ("schedule", (0, (5, 1.5, 1.2, 1.5)), "Theorem 1b, schedule"),
}
"""Stepsize at which a bound is drawn, dashes, label."""
LATE = 1000.0
"""Horizons from which slopes are fitted, seconds."""


def slopes(table: pd.DataFrame, late: float = LATE) -> pd.DataFrame:
    """Slope of ``log left`` on ``log horizon`` from ``late`` on, a row a cost and stepsize.

    One least-squares slope a start; ``slope`` is their mean, ``low`` and ``high`` its 95 % t-interval (NaN for one start).
    """
    rows = []
    for (cost, stepsize), part in table[table["horizon"] >= late].groupby(["cost", "stepsize"], sort=False):
        rows.append(
            {
                "cost": cost,
                "stepsize": stepsize,
                "eta": float(part["eta"].iloc[-1]),
                **power(part, "horizon", "left", "start"),
                "theory": STEPSIZES[str(stepsize)][3],
            }
        )
    return pd.DataFrame(rows)


def power(part: pd.DataFrame, x: str, y: str, unit: str) -> dict[str, float]:
    """Slope of ``log y`` on ``log x``: one least-squares slope a ``unit``; their mean and its interval."""
    found = [np.polyfit(np.log(one[x].to_numpy(float)), np.log(one[y].to_numpy(float)), 1)[0] for _, one in part.groupby(unit)]
    return dict(zip(("slope", "low", "high"), mean_interval(found), strict=True))


def mean_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Mean and its 95 % t-interval, whose ends are NaN for one value."""
    from scipy.stats import t as student

    n, mean = len(values), float(np.mean(values))
    half = float(student.ppf(0.975, n - 1) * np.std(values, ddof=1) / np.sqrt(n)) if n > 1 else float("nan")
    return mean, mean - half, mean + half


def convergence_figure(table: pd.DataFrame) -> "Figure":
    """Gaps (marks), geometric means over starts, and bounds (broken lines), a panel a cost.

    Parameters
    ----------
    table : DataFrame
        Columns ``cost``, ``stepsize``, ``start``, ``horizon``, ``left``, ``theorem1``, ``theorem1b``, ``theorem2``.
    """
    with style.context():
        figure = style.new_figure(style.TEXT_WIDTH, 3.3)
        costs = list(dict.fromkeys(table["cost"]))
        axes = figure.subplots(1, len(costs), squeeze=False)[0]
        for axis, cost in zip(axes, costs, strict=True):
            _panel(axis, table[table["cost"] == cost])
            axis.set_title(f"{COSTS[cost][0]} cost")
        axes[0].set_ylabel("time-average gap, cost × requests/s")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, handlelength=2.6)
    return figure


def _panel(axis: "Axes", rows: pd.DataFrame) -> None:
    def mean(part: pd.DataFrame, column: str) -> pd.Series:
        values = part[["horizon"]].assign(log=np.log(part[column].astype(float)))
        return np.exp(values.groupby("horizon")["log"].mean())

    axis.set(xscale="log", yscale="log", xlabel="horizon T, s")
    for name, (label, tint, marker, _) in STEPSIZES.items():
        part = mean(rows[rows["stepsize"] == name], "left")
        axis.plot(part.index, part, color=tint, marker=marker, markersize=3.2, markeredgewidth=0, label=label)
    for column, (name, dashes, label) in BOUNDS.items():
        part = mean(rows[rows["stepsize"] == name], column)
        axis.plot(part.index, part, color=STEPSIZES[name][1], linestyle=dashes, linewidth=1.0, label=label)
