"""Small systems: rules above the best long-run average. It reads a tidy table."""

from typing import TYPE_CHECKING

import pandas as pd

from lbtheory.core import ParameterError
from lbtheory.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RULES = {
    # column: (label, policy whose colour and marker it has)
    "io": ("IO$_0$, best ties", "io"),
    "io_h": ("IO$_H$, best ties", "brh"),
    "spread": ("SpreadLex, best ties", "spread-lex"),
    "level": ("LEVEL", "level"),
    "level_plus": ("LEVEL+", "level-plus"),
    "br0": ("BR-0", "br0"),
    "first_come": ("first come", "jsq"),
}
GROUPS = ("Every size in supply: G × B, p, sizes", "Finite queue", "Lives known H iterations ahead")
KNEE = 0.1
"""Percent up to which the axis is linear."""


def above_optimum(table: pd.DataFrame) -> "Figure":
    """Percent above the optimum, a row a system: marks are rules, the bar goes from the best to the worst ties of IO_0.

    Parameters
    ----------
    table : DataFrame
        Columns ``workers``, ``slots``, ``p``, ``sizes``, ``queue`` (missing: every size in supply), ``look``, ``optimum``,
        ``io_worst`` and those of `RULES`; missing where a rule is not defined.

    Raises
    ------
    ParameterError
        The table is empty.
    """
    if len(table) == 0:
        raise ParameterError("`table` of `above_optimum` must have rows; got none. Run the experiment first.")
    group = (table["look"] > 0) * 2 + ((table["look"] == 0) & table["queue"].notna())
    sizes = [int((group == k).sum()) for k in range(3)]
    with style.context():
        figure = style.new_figure(style.TEXT_WIDTH, 1.6 + 0.155 * len(table))
        axes = figure.subplots(3, 1, sharex=True, squeeze=False, height_ratios=[n + 1.2 for n in sizes])[:, 0]
        for k, axis in enumerate(axes):
            _systems(axis, table[group == k], GROUPS[k])
        axes[-1].set_xlabel("long-run average imbalance above the optimum, %")
        handles = dict(zip(*(reversed(axes[-1].get_legend_handles_labels())), strict=True))
        handles |= dict(zip(*(reversed(axes[0].get_legend_handles_labels())), strict=True))
        figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4)
    return figure


def _systems(axis: "Axes", part: pd.DataFrame, title: str) -> None:
    """One group of systems."""
    places = range(len(part))
    axis.set_xscale("symlog", linthresh=KNEE, linscale=0.5)
    optimum = part["optimum"].to_numpy(float)
    bars = [100 * (part[name].to_numpy(float) / optimum - 1) for name in ("io", "io_worst")]
    axis.hlines(places, *bars, color=style.INK, alpha=0.35, linewidth=3.0, label="IO$_0$, best to worst ties")
    for column, (name, policy) in RULES.items():
        loss = 100 * (part[column].to_numpy(float) / optimum - 1)
        if pd.isna(loss).all():
            continue
        sign = style.marker(policy)
        axis.plot(
            loss.clip(min=0),
            places,
            sign,
            color=style.color(policy),
            markersize=6.5 if sign == "*" else 4,
            markeredgecolor="white",
            markeredgewidth=0.3,
            linestyle="none",
            label=name,
            zorder=4 if column == "io" else 3,
        )
    axis.set_yticks(places, [_name(row) for row in part.to_dict("records")])
    axis.set_ylim(len(part) - 0.4, -0.6)
    axis.set_xlim(-0.02, None)
    axis.set_xticks([0, 0.1, 1, 10, 100, 1000], ["0", "0.1", "1", "10", "100", "1000"])
    axis.tick_params(axis="y", length=0)
    axis.set_title(title)


def _name(row: dict[str, object]) -> str:
    """``G × B, p, sizes`` and what is particular."""
    text = f"{row['workers']} × {row['slots']}, p = {row['p']}, 1…{str(row['sizes']).split(',')[-1]}"
    if not pd.isna(row["queue"]):
        text += f", {int(str(row['queue']).split('.')[0])} wait"
    return text + (f", H = {row['look']}" if row["look"] else "")
