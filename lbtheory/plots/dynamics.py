"""Panels of the dynamics: stability and cycles of flow routing, oscillations. They read tidy tables."""

from typing import TYPE_CHECKING, Any

from lbtheory.plots import style
from lbtheory.plots.equilibria import COSTS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROUTINGS = {
    "discrete": ("Discrete", "#4d4d4d", "o"),
    "flow 0.25": ("Flow, gain ¼ (stable)", "#0072b2", "s"),
    "flow 1": ("Flow, gain 1 (unstable)", "#d55e00", "^"),
}
"""Label, colour and marker by routing and gain."""
FLOOR = 1e-4
"""Relative amplitudes below it are drawn there."""

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


def oscillations(table: "pd.DataFrame") -> "Figure":
    """Relative amplitude over the delay, a panel a kind of request.

    Parameters
    ----------
    table : DataFrame
        Columns ``kind``, ``service``, ``delay``, ``routing``, ``gain``, ``even``, ``amplitude``, ``bound``.
    """
    with style.context():
        figure = style.new_figure(style.TEXT_WIDTH, 2.9)
        kinds = list(dict.fromkeys(table["kind"]))
        axes = figure.subplots(1, len(kinds), sharey=True, squeeze=False)[0]
        for axis, kind in zip(axes, kinds, strict=True):
            part = table[table["kind"] == kind]
            axis.set(xscale="log", yscale="log", xlabel="one-way delay, s")
            axis.set_title(f"{kind}: idle latency {part['service'].iloc[0]:g} s")
            for (routing, gain), rows in part.groupby(["routing", "gain"], sort=False, dropna=False):
                label, colour, marker = ROUTINGS[routing if gain != gain else f"{routing} {gain:g}"]
                y = (rows["amplitude"] / (2 * rows["even"])).clip(lower=FLOOR)
                axis.plot(rows["delay"], y, color=colour, marker=marker, markersize=4, label=label)
            one = part.drop_duplicates("delay")
            axis.plot(one["delay"], one["bound"] / (2 * one["even"]), color=style.MUTED, ls=":", label="2λτ: one late switch")
        axes[0].set_ylabel("amplitude of N₁ − N₂ over N₁ + N₂")
        axes[0].set_ylim(FLOOR / 1.6, None)
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return figure
