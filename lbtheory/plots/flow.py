"""Panels of the stability of flow routing. They read tidy tables."""

from typing import TYPE_CHECKING, Any

from lbtheory.plots import style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COSTS = {"rif": ("RIF", "#4d4d4d", "o"), "latency": ("latency", "#0072b2", "s"), "gradient": ("gradient", "#d55e00", "D")}
"""Label, colour and marker of each cost, one everywhere."""

CYCLE = "#882255"
"""Colour of limit cycles."""


def stability_figure(table: "pd.DataFrame") -> "Figure":
    """Stepsizes against the slack, and swings over (stepsize, start) for the latency and the gradient cost.

    Parameters
    ----------
    table : DataFrame
        Columns ``what`` (load or cycle), ``cost``, ``load``, ``critical``, ``sufficient``, ``eta0``; ``ratio``, ``start``,
        ``amplitude``, ``cycles``.
    """
    with style.context():
        figure = style.new_figure(style.TEXT_WIDTH, 3.0)
        axes = figure.subplots(1, 3, width_ratios=[1.25, 1, 1])
        _stepsizes(axes[0], table[table["what"] == "load"])
        cycles = table[table["what"] == "cycle"]
        largest = float(cycles["amplitude"].max())
        for axis, cost in zip(axes[1:], ("latency", "gradient"), strict=True):
            _cycles(axis, cycles[cycles["cost"] == cost], largest)
            axis.set_title(f"{COSTS[cost][0]} cost, load 0.8")
        axes[1].set_ylabel("start (0: equilibrium, 1: far)")
        _legend(figure)
    return figure


def _stepsizes(axis: "Axes", rows: "pd.DataFrame") -> None:
    """Critical (line with marks), (S) (dashed) and Theorem 1 (dotted)."""
    axis.set_xscale("log")
    axis.set_yscale("log")
    for cost, part in rows.groupby("cost", sort=False):
        _, tint, sign = COSTS[str(cost)]
        slack = 1 - part["load"]
        axis.plot(slack, part["critical"], color=tint, marker=sign, markersize=3.5, markeredgewidth=0)
        axis.plot(slack, part["sufficient"], color=style.INK, linestyle=(0, (4, 1.5)), linewidth=0.9, zorder=4)
        axis.plot(slack, part["eta0"].astype(float), color=tint, linestyle=(0, (1.2, 1.2)), linewidth=0.9)
    axis.invert_xaxis()
    ticks = [0.8, 0.4, 0.2, 0.1, 0.05, 0.02]
    axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.xaxis.minorticks_off()
    axis.set_xlabel("slack 1 − ρ")
    axis.set_ylabel("stepsize η")
    axis.set_title("Critical stepsize")


def _cycles(axis: "Axes", rows: "pd.DataFrame", largest: float) -> None:
    """One mark a run: open where it settles, filled with area by the swing where it cycles."""
    moving = rows["cycles"].astype(str) == "True"
    rest, swings = rows[~moving], rows[moving]
    axis.axvline(1, color=style.MUTED, linewidth=0.8)
    axis.plot(rest["ratio"], rest["start"], "o", color=style.MUTED, markersize=3.5, markerfacecolor="white")
    size = 12 + 70 * swings["amplitude"] / largest
    axis.scatter(swings["ratio"], swings["start"], s=size, color=CYCLE, linewidths=0, zorder=3)
    axis.set_ylim(0, 1.1)
    axis.set_xlabel("stepsize η ÷ critical")


def _legend(figure: "Figure") -> None:
    from matplotlib.lines import Line2D

    mark: dict[str, Any] = {"linestyle": "none", "marker": "o"}
    handles = [
        Line2D([], [], color=tint, marker=sign, markersize=4, markeredgewidth=0, label=f"{text} cost")
        for text, tint, sign in COSTS.values()
    ]
    handles += [
        Line2D([], [], color=style.INK, linestyle=(0, (4, 1.5)), linewidth=0.9, label="sufficient (S)"),
        Line2D([], [], color=style.INK, linestyle=(0, (1.2, 1.2)), linewidth=0.9, label="allowed by Theorem 1"),
        Line2D([], [], color=style.MUTED, markerfacecolor="white", markersize=4, label="settles", **mark),
        Line2D([], [], color=CYCLE, markersize=6, markeredgewidth=0, label="limit cycle (area: swing)", **mark),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, handlelength=2.0)
