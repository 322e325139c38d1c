"""Panels of the cell simulations: policies over one variation. They read tables; nothing simulates."""

from collections.abc import Mapping, Sequence
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


ORDER = ("rand", "mnlb", "disc-rif", "flow-rif", "disc-lat", "flow-lat", "disc-grad", "flow-grad")
"""Policies of the DLB paper in the order of the legends; those after the first two are DLB's."""


def by_scenario(data: "pd.DataFrame", vary: str, value: object, metric: str) -> "pd.DataFrame":
    """One variation and value: a row a scenario, a column a policy."""
    part = data[(data["vary"] == vary) & (data["value"].astype(str) == str(value))]
    return part.pivot(index="scenario", columns="policy", values=metric)


def all_variations(data: "pd.DataFrame", loads: "pd.DataFrame", metric: str) -> "Figure":
    """Conditions, utilisations and length scales of one metric, from the tables of all variations and of the utilisations."""
    conditions = data[data["vary"].isin(["disruption", "spread"])].copy()
    names = {"none": "baseline", "burst": "burst", "outage": "outage"}
    conditions["value"] = [names.get(str(value), "equal\nhardware") for value in conditions["value"]]
    lengths = data[data["vary"] == "length_scale"].copy()
    lengths["value"] = lengths["value"].astype(float)
    return variation_panels(conditions, loads[loads["value"] <= 0.95], lengths, metric, policies=ORDER)


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
    percent : bool
        Values are shares, shown in per cent.
    """
    with style.context():
        figure = style.new_figure(style.TEXT_WIDTH, 2.9)
        axes = figure.subplots(1, len(metrics), squeeze=False)[0]
        for axis, metric in zip(axes, metrics, strict=True):
            axis.set_title(METRICS[metric])
            _curves(axis, table, metric, policies)
            if percent:
                axis.xaxis.set_major_formatter(per_cent)
        figure.supxlabel(xlabel, fontsize=8)
        _legend(figure, axes[0])
    return figure


def variation_panels(
    conditions: "pd.DataFrame", loads: "pd.DataFrame", lengths: "pd.DataFrame", metric: str, *, policies: Sequence[str]
) -> "Figure":
    """Three panels of one metric: conditions as points beside each other, utilisation, and length scale.

    Parameters
    ----------
    conditions, loads, lengths : DataFrame
        As for `policy_curves`; the values of ``conditions`` are names, those of ``lengths`` are ``y``.
    metric : str
        One of `METRICS`.
    policies : sequence of str
    """
    with style.context():
        figure = style.new_figure(style.TEXT_WIDTH, 3.0)
        axes = figure.subplots(1, 3, width_ratios=[1.25, 1, 1])
        rows = over_scenarios(conditions, metric)
        names = list(dict.fromkeys(rows["value"]))
        for k, policy in enumerate(policies):
            part = rows[rows["policy"] == policy]
            at = [names.index(value) + 0.09 * (k - (len(policies) - 1) / 2) for value in part["value"]]
            spread = [part["mean"] - part["low"], part["high"] - part["mean"]]
            axes[0].errorbar(
                at,
                part["mean"],
                yerr=spread,
                fmt=style.marker(policy),
                color=style.color(policy),
                markersize=3.2,
                linewidth=0.8,
                label=style.label(policy),
            )
        axes[0].set_xticks(range(len(names)), names)
        axes[0].set_title("(a) Conditions")
        if metric == "error_rate":
            _error_axis(axes[0])
        _curves(axes[1], loads, metric, policies)
        axes[1].xaxis.set_major_formatter(per_cent)
        axes[1].set_title("(b) Utilisation")
        _curves(axes[2], lengths, metric, policies)
        _log_values(axes[2], sorted(lengths["value"].unique()))
        axes[2].set_title("(c) Length scale y")
        axes[0].set_ylabel(METRICS[metric])
        _legend(figure, axes[0])
    return figure


def _curves(axis: Any, table: "pd.DataFrame", metric: str, policies: Sequence[str]) -> None:
    """Lines with bands."""
    rows = over_scenarios(table, metric)
    for policy in policies:
        part = rows[rows["policy"] == policy].sort_values("value")
        tint = style.color(policy)
        axis.fill_between(part["value"], part["low"], part["high"], color=tint, alpha=0.1, linewidth=0)
        axis.plot(
            part["value"],
            part["mean"],
            color=tint,
            marker=style.marker(policy),
            markersize=3.2,
            label=style.label(policy),
            linestyle="--" if policy in ("rand", "mnlb") else "-",
        )
    if metric == "error_rate":
        _error_axis(axis)


def _error_axis(axis: Any) -> None:
    """Linear up to 0.01 %, then logarithmic."""
    axis.set_yscale("symlog", linthresh=1e-4)
    axis.set_ylim(bottom=0)
    axis.yaxis.set_major_formatter(per_cent)


def per_cent(value: float, _position: int | None = None) -> str:
    """A share, for an axis."""
    return f"{100 * value:.3g} %"


def _legend(figure: "Figure", axis: Any) -> None:
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4)


def _log_values(axis: Any, values: Sequence[float]) -> None:
    """A logarithmic axis whose ticks are the values."""
    axis.set_xscale("log")
    axis.set_xticks(values, [f"{value:g}" for value in values])
    axis.minorticks_off()


def period_curves(table: "pd.DataFrame", loops: Mapping[str, str]) -> "Figure":
    """Mean latency over errors against a period, a column a loop; a line a policy, dotted for gathered arrivals.

    Parameters
    ----------
    table : DataFrame
        Columns ``vary`` (loop), ``value`` (period, seconds), ``policy``, ``label`` (arrivals), ``scenario`` and the metrics.
    loops : mapping of str to str
        Names of the loops, in order.
    """
    from matplotlib.lines import Line2D

    with style.context():
        figure = style.new_figure(style.TEXT_WIDTH, 3.9)
        axes = figure.subplots(2, len(loops), sharex="col", sharey="row", squeeze=False)
        shown: dict[str, Any] = {}
        for column, (vary, name) in enumerate(loops.items()):
            for axis, metric in zip(axes[:, column], ("mean_ratio", "error_rate"), strict=True):
                for label, dashes in (("steady", "-"), ("gathered", ":")):
                    part = table[(table["vary"] == vary) & (table["label"] == label)]
                    rows = over_scenarios(part, metric)
                    for policy in dict.fromkeys(rows["policy"]):
                        line = rows[rows["policy"] == policy].sort_values("value")
                        look: dict[str, Any] = {"color": style.color(policy), "marker": style.marker(policy), "markersize": 3.0}
                        axis.plot(line["value"], line["mean"], linestyle=dashes, **look)
                        shown[policy] = Line2D([], [], label=style.label(policy), **look)
                        if label == "steady":
                            axis.fill_between(
                                line["value"], line["low"], line["high"], color=look["color"], alpha=0.1, linewidth=0
                            )
                axis.set_xscale("log")
                axis.minorticks_off()
            axes[1, column].set_xlabel(f"Period of {name} (s)")
        for axis in axes[1]:
            _error_axis(axis)
        axes[0, 0].set_ylabel(METRICS["mean_ratio"])
        axes[1, 0].set_ylabel(METRICS["error_rate"])
        patterns = [Line2D([], [], color=style.MUTED, linestyle=look, label=text) for text, look in _PATTERNS]
        figure.legend(handles=[*shown.values(), *patterns], loc="outside upper center", ncols=4)
    return figure


_PATTERNS: tuple[tuple[str, Any], ...] = (("Poisson arrivals", "-"), ("gathered at minute starts", ":"))

AFFINITY_LOOKS = {
    "none": ("#a8a8a8", "v", "no affinity"),
    "conditional": ("#00664b", "D", "conditional"),
    "sticky": ("#e8a33d", "o", "always sticky"),
    "hash": ("#0a5fa8", "s", "consistent hashing"),
}
AFFINITY_METRICS = {
    "hit": "Prefix met",
    "saved": "Prefill saved",
    "hottest": "Hottest server\n/ mean of its cell",
    "mean": "Mean latency (s)",
    "errors": "Error rate",
}


def affinity_panels(table: "pd.DataFrame") -> "Figure":
    """A column a quantity, a row a share of hot sessions, a line a rule, against utilisation.

    Parameters
    ----------
    table : DataFrame
        Columns ``utilisation, hot, affinity, scenario`` and the keys of `AFFINITY_METRICS`.
    """
    shares = list(dict.fromkeys(table["hot"]))
    with style.context():
        figure = style.new_figure(style.TEXT_WIDTH, 3.7)
        axes = figure.subplots(len(shares), len(AFFINITY_METRICS), sharex=True, sharey="col", squeeze=False)
        for row, share in enumerate(shares):
            for axis, (metric, title) in zip(axes[row], AFFINITY_METRICS.items(), strict=True):
                part = table[table["hot"] == share].rename(columns={"utilisation": "value", "affinity": "policy"})
                rows = over_scenarios(part, metric)
                for kind, (tint, mark, label) in AFFINITY_LOOKS.items():
                    line = rows[rows["policy"] == kind].sort_values("value")
                    axis.fill_between(line["value"], line["low"], line["high"], color=tint, alpha=0.12, linewidth=0)
                    axis.plot(line["value"], line["mean"], color=tint, marker=mark, markersize=3, label=label)
                axis.xaxis.set_major_formatter(per_cent)
                if metric in ("hit", "saved"):
                    axis.yaxis.set_major_formatter(per_cent)
                if row == 0:
                    axis.set_title(title, fontsize=7.5)
            axes[row, 0].set_ylabel("no hot sessions" if share == 0 else f"{share:.0%} in hot sessions")
        for axis in axes[:, -1]:
            _error_axis(axis)
        figure.supxlabel("Utilisation without reuse", fontsize=8)
        _legend(figure, axes[0, 0])
    return figure
