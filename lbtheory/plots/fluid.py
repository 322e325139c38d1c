"""Figures of the fluid model."""

from typing import TYPE_CHECKING

from lbtheory.plots import style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

ROUTINGS = {
    "discrete": ("Discrete", "#4d4d4d", "o"),
    "flow 0.25": ("Flow, gain ¼ (stable)", "#0072b2", "s"),
    "flow 1": ("Flow, gain 1 (unstable)", "#d55e00", "^"),
}
"""Label, colour and marker by routing and gain."""
FLOOR = 1e-4
"""Relative amplitudes below it are drawn there."""


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
