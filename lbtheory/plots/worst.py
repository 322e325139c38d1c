"""The worst decisions that a search found, beside random ones. It reads a tidy table."""

from typing import TYPE_CHECKING, Any

from lbtheory.core import ParameterError
from lbtheory.plots import style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

KNEE = 0.01
"""Share up to which the axis is linear."""


def worst_beside_mean(table: "pd.DataFrame") -> "Figure":
    """Marks on an axis of shares, a row a system, in it a line a rule: filled the worst decision, hollow the mean one.

    Parameters
    ----------
    table : DataFrame
        Columns ``system``, ``policy`` (its options do not show), ``share`` and ``mean_share``: gaps over the largest of any
        assignment.

    Raises
    ------
    ParameterError
        The table is empty.
    """
    if len(table) == 0:
        raise ParameterError("`table` of `worst_beside_mean` must have rows; got none. Run the experiment first.")
    systems, policies = list(dict.fromkeys(table["system"])), list(dict.fromkeys(map(style.base_name, table["policy"])))
    with style.context():
        figure = style.new_figure(style.TEXT_WIDTH, 1.0 + 0.088 * (len(policies) + 1) * len(systems))
        axis = figure.subplots()
        for number, policy in enumerate(policies):
            rows = table[table["policy"].map(style.base_name) == policy]
            place = [systems.index(s) + 0.135 * (number - (len(policies) - 1) / 2) for s in rows["system"]]
            tint = style.color(policy)
            look: dict[str, Any] = {"marker": style.marker(policy), "linestyle": "none", "markersize": 4}
            axis.hlines(place, rows["mean_share"], rows["share"], color=tint, linewidth=0.7, alpha=0.6)
            axis.plot(rows["share"], place, color=tint, label=style.label(policy), clip_on=False, zorder=3, **look)
            axis.plot(rows["mean_share"], place, color=tint, markerfacecolor="white", clip_on=False, zorder=3, **look)
        axis.set_xscale("symlog", linthresh=KNEE, linscale=0.5)
        axis.set_xticks([0, 0.01, 0.03, 0.1, 0.3, 1], ["0", "0.01", "0.03", "0.1", "0.3", "1"])
        axis.set_xticks([], minor=True)
        axis.set_xlim(0, 1)
        for edge in range(len(systems) - 1):
            axis.axhline(edge + 0.5, color=style.RULE, linewidth=0.6)
        axis.set_yticks(range(len(systems)), systems)
        axis.set_ylim(len(systems) - 0.5, -0.5)
        axis.grid(axis="y", visible=False)
        axis.tick_params(axis="y", length=0)
        axis.set_xlabel(
            "gap I − I* of one decision ÷ largest gap of any assignment\nfilled: worst found; hollow: mean of random instances"
        )
        figure.legend(loc="outside upper center", ncols=len(policies))
    return figure
