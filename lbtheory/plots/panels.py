"""Reusable panels. Each takes plain tables or arrays and returns a figure; none of them simulates or reads a file.

Policies are named as on the command line (``jsq``, ``brh:beta=43,gamma=0.86`` …): the name before a colon sets the
colour, and ``labels`` may give what is written beside it.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lbtheory.core import ParameterError
from lbtheory.plots import style

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def trajectories(
    loads: "Mapping[str, np.ndarray] | pd.DataFrame",
    *,
    first_iteration: int = 0,
    labels: Mapping[str, str] | None = None,
    columns: int | None = None,
    unit: str = "thousand tokens",
    scale: float = 1e-3,
) -> "Figure":
    """Load of every worker over the iterations, a panel a policy, on one shared scale.

    Thin lines are workers, the strong line is the largest load (it sets the pace), the dashed line the mean; the tinted
    area between the two is what the barrier wastes. Each title gives the mean over the iterations of
    ``I = G max L − Σ L``, in thousands where names are long.

    Parameters
    ----------
    loads : mapping of str to ndarray of shape (K, G), or DataFrame
        Worker loads in tokens after admission. A table has the columns ``policy``, ``iteration`` and one
        ``worker_…`` a worker, a row an iteration.
    first_iteration : int
        Iteration of the first row (arrays only).
    labels : mapping of str to str, optional
        What to write for a policy instead of its usual label.
    columns : int, optional
        Panels beside each other; chosen by their number by default.
    unit : str
        Unit on the axis, after division.
    scale : float
        What loads in tokens are multiplied by to be in ``unit``.

    Raises
    ------
    ParameterError
        There is nothing to draw, or an array is not two-dimensional.
    """
    import numpy as np
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    series = _series(loads, first_iteration)
    count = len(series)
    across = columns or (count if count < 4 else (2 if count == 4 else 3))
    down = -(-count // across)
    long = any(len((labels or {}).get(policy) or style.label(policy)) > 45 // across for policy in series)
    with style.context():
        figure = style.new_figure(style.TEXT_WIDTH, 0.45 + 1.75 * down)
        axes = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
        for axis, (policy, (steps, values)) in zip(axes.flat, series.items(), strict=False):
            tint, top, mean = style.color(policy), values.max(axis=1) * scale, values.mean(axis=1) * scale
            axis.fill_between(steps, mean, top, color=tint, alpha=0.22, linewidth=0)
            axis.plot(steps, values * scale, color=tint, alpha=0.55, linewidth=0.4)
            axis.plot(steps, top, color=tint, linewidth=1.1)
            axis.plot(steps, mean, color=style.INK, linewidth=0.9, dashes=(3, 1.5))
            imbalance = float(np.mean(values.shape[1] * values.max(axis=1) - values.sum(axis=1)))
            axis.set_title((labels or {}).get(policy) or style.label(policy))
            text = f"I = {imbalance / 1e3:,.0f}k" if long else f"mean I = {imbalance:,.0f}"
            axis.set_title(text, loc="right", fontweight="normal", color=style.MUTED, fontsize=7.5)
            axis.set_xlim(steps[0], steps[-1])
            axis.xaxis.set_major_locator(MaxNLocator(4, integer=True))
            axis.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        axes[0, 0].set_ylim(bottom=0)
        _outer_labels(axes, count, across)
        figure.supylabel(f"Load of a worker ({unit})", fontsize=8)
        figure.supxlabel("Iteration", fontsize=8)
        _trajectory_legend(figure, axes, count)
    return figure


def _series(
    loads: "Mapping[str, np.ndarray] | pd.DataFrame", first_iteration: int
) -> "dict[str, tuple[np.ndarray, np.ndarray]]":
    """Iterations and loads of each policy, from either form that `trajectories` takes."""
    import numpy as np

    series: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    if not isinstance(loads, Mapping):
        _require(loads, ("policy", "iteration"), "loads", "trajectories")
        workers = [name for name in loads.columns if str(name).startswith("worker_")]
        for policy, rows in loads.groupby("policy", sort=False):
            present = rows[workers].dropna(axis=1, how="all")  # fewer workers than others have
            series[str(policy)] = (rows["iteration"].to_numpy(), present.to_numpy(dtype=float))
    else:
        for policy, values in loads.items():
            array = np.asarray(values, dtype=float)
            series[policy] = (first_iteration + np.arange(len(array)), array)
    for policy, (_, array) in series.items():
        if array.ndim != 2 or 0 in array.shape:
            raise ParameterError(
                f"`loads` of `trajectories` must hold arrays of shape (iterations, workers); got shape {array.shape} "
                f"for {policy!r}. Give a row an iteration and a column a worker."
            )
    if not series:
        raise ParameterError("`loads` of `trajectories` must name a policy at least; got none. Give one array a policy.")
    return series


def _outer_labels(axes: Any, count: int, across: int) -> None:
    """Hide panels that are not used, and put tick labels under the last panel of each column."""
    for index, axis in enumerate(axes.flat):
        if index >= count:
            axis.set_axis_off()
        elif index + across >= count:
            axis.tick_params(labelbottom=True)


def _trajectory_legend(figure: "Figure", axes: Any, count: int) -> None:
    """What the lines mean: in the free panel when there is one, else above the panels."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    grey = "#555555"
    handles = [
        Line2D([], [], color=grey, linewidth=1.3, label="largest load"),
        Line2D([], [], color=style.INK, linewidth=0.9, dashes=(3, 1.5), label="mean load"),
        Line2D([], [], color=grey, alpha=0.6, linewidth=0.5, label="one worker"),
        Patch(facecolor=grey, alpha=0.22, label="idle at the barrier"),
    ]
    if count < axes.size:
        axes.flat[-1].legend(handles=handles, loc="center", labelspacing=0.8, handlelength=2.4)
    else:
        figure.legend(handles=handles, loc="outside upper center", ncols=4, handlelength=2.4)


def published_beside_reproduced(
    table: "pd.DataFrame",
    *,
    labels: Mapping[str, str] | None = None,
    quantity: str = "Mean imbalance of JSQ ÷ that of the policy",
    reference: float = 1.0,
) -> "Figure":
    """Published ratios beside reproduced ones, a row a policy and a panel a workload, on a logarithmic axis.

    A hollow mark is published, a filled one reproduced (with its interval), and the line between them is the
    disagreement. A policy that was not published has a filled mark only, one that was not reproduced a hollow one.

    Parameters
    ----------
    table : DataFrame
        Columns ``workload``, ``policy``, ``published``, ``reproduced`` (ratios, positive; NaN where there is none) and,
        if known, ``low`` and ``high`` (interval of the reproduced ratio). Order of rows is order in the picture.
    labels : mapping of str to str, optional
        What to write for a policy instead of its usual label.
    quantity : str
        Title of the horizontal axis.
    reference : float
        Where to draw the line of no difference.

    Raises
    ------
    ParameterError
        A column is missing or the table is empty.
    """
    _require(table, ("workload", "policy", "published", "reproduced"), "table", "published_beside_reproduced")
    workloads = list(dict.fromkeys(table["workload"]))
    policies = list(dict.fromkeys(table["policy"]))
    with style.context():
        from matplotlib.lines import Line2D

        figure = style.new_figure(style.TEXT_WIDTH, 1.0 + 0.27 * len(policies))
        axes = figure.subplots(1, len(workloads), sharey=True, sharex=True, squeeze=False)[0]
        for axis, workload in zip(axes, workloads, strict=True):
            axis.set_title(str(workload))
            axis.axvline(reference, color=style.MUTED, linewidth=0.7)
            axis.grid(axis="y", visible=False)
            axis.tick_params(axis="y", length=0)
            for row in table[table["workload"] == workload].to_dict("records"):
                _ratio_row(axis, row, policies.index(row["policy"]), reference)
        _ratio_axis(axes[0], table, reference)
        axes[0].set_yticks(range(len(policies)), [(labels or {}).get(name) or style.label(name) for name in policies])
        axes[0].set_ylim(len(policies) - 0.4, -0.6)
        figure.supxlabel(f"{quantity} (logarithmic)", fontsize=8)
        handles = [
            Line2D([], [], marker="o", color="none", markerfacecolor="white", markeredgecolor=style.MUTED, label="published"),
            Line2D([], [], marker="o", color="none", markerfacecolor=style.MUTED, markeredgecolor="none", label="reproduced"),
        ]
        figure.legend(handles=handles, loc="outside upper right", ncols=2, handletextpad=0.2)
    return figure


def _ratio_axis(axis: "Axes", table: "pd.DataFrame", reference: float) -> None:
    """Limits and ticks of the shared logarithmic axis, with room for the numbers beside the outermost marks."""
    import numpy as np
    from matplotlib.ticker import NullFormatter, NullLocator

    columns = [name for name in ("published", "reproduced", "low", "high") if name in table.columns]
    values = np.append(table[columns].to_numpy(dtype=float).ravel(), reference)
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    room = (high / low) ** 0.24
    axis.set_xscale("log")
    axis.set_xlim(low / room, high * room)
    candidates = [factor * 10.0**power for power in range(-6, 7) for factor in (1, 2, 5)]
    ticks = [tick for tick in candidates if low / room <= tick <= high * room]
    ticks = ticks if len(ticks) < 8 else [tick for tick in ticks if f"{tick:e}".startswith("1")]
    axis.set_xticks(ticks, [f"{tick:g}×" for tick in ticks])
    axis.xaxis.set_minor_locator(NullLocator())
    axis.xaxis.set_minor_formatter(NullFormatter())


def _ratio_row(axis: "Axes", row: dict[str, Any], place: int, reference: float) -> None:
    """Marks and direct labels of one policy: the smaller number left of its mark, the larger one right."""
    from math import isfinite, nan

    tint, sign = style.color(row["policy"]), style.marker(row["policy"])
    published, reproduced = float(row["published"]), float(row["reproduced"])
    interval = [value for value in (float(row.get("low", nan)), float(row.get("high", nan))) if isfinite(value)]
    shown = sorted((value, value is published) for value in (published, reproduced) if isfinite(value))
    if len(shown) == 2:
        axis.plot([published, reproduced], [place, place], color=tint, linewidth=1.4, alpha=0.45, zorder=2)
    if len(interval) == 2:
        axis.plot(interval, [place, place], color=tint, linewidth=3.2, alpha=0.45, solid_capstyle="butt", zorder=2.5)
    if isfinite(reproduced):
        axis.plot(reproduced, place, sign, color=tint, markersize=5.5, markeredgewidth=0, zorder=4)
    if isfinite(published):
        axis.plot(published, place, sign, markerfacecolor="white", markeredgecolor=tint, markersize=7.5, zorder=3)
    if len(shown) == 2 and published != reproduced:
        value, is_published = shown[0]
        _beside(axis, min([value, *interval]), place, value, "right", is_published)
    if shown:
        value, is_published = shown[-1]
        both = published == reproduced == reference
        _beside(axis, max([value, *interval]), place, value, "left", is_published and not both)


def _beside(axis: "Axes", where: float, place: int, value: float, side: str, is_published: bool) -> None:
    """A number beside a mark; published ones are grey, reproduced ones black."""
    from matplotlib.patheffects import withStroke

    axis.annotate(
        f"{value:#.3g}" if value < 100 else f"{value:.0f}",
        (where, place),
        xytext=(-7 if side == "right" else 7, 0),
        textcoords="offset points",
        ha=side,
        va="center",
        fontsize=7,
        color=style.MUTED if is_published else style.INK,
        annotation_clip=False,
        path_effects=[withStroke(linewidth=2.0, foreground="white")],
        zorder=5,
    )


def gaps(
    table: "pd.DataFrame",
    *,
    labels: Mapping[str, str] | None = None,
    quantity: str = "Gap to the exact optimum (tokens)",
    exact: float = 0.5,
) -> "Figure":
    """How far each policy is from the exact optimum on the same states, and how long a decision takes.

    The thick bar holds the middle half of the states, the thin one 5 to 95 %; the mark is the mean, the tick the worst
    state. The axis is linear up to its first tick and logarithmic beyond. On the right: share of states decided optimally,
    mean, worst and median time.

    Parameters
    ----------
    table : DataFrame
        A row a state and policy: ``policy``, ``gap`` (non-negative, the unit of ``quantity``), ``seconds`` (time of the
        decision). Order of first appearance is order in the picture.
    labels : mapping of str to str, optional
        What to write for a policy instead of its usual label.
    quantity : str
        Title of the horizontal axis.
    exact : float
        A gap below this counts as optimal.

    Raises
    ------
    ParameterError
        A column is missing or the table is empty.
    """
    import numpy as np

    _require(table, ("policy", "gap", "seconds"), "table", "gaps")
    policies = list(dict.fromkeys(table["policy"]))
    with style.context():
        figure = style.new_figure(style.TEXT_WIDTH, 0.95 + 0.29 * len(policies))
        axis, numbers = figure.subplots(1, 2, sharey=True, width_ratios=(1, 0.62))
        numbers.set_axis_off()
        positive = table.loc[table["gap"] > exact, "gap"].to_numpy(dtype=float)
        knee = 10.0 ** np.floor(np.log10(np.quantile(positive, 0.05))) if len(positive) else 1.0
        axis.set_xscale("symlog", linthresh=knee, linscale=0.6)
        worst = max(float(table["gap"].max()), knee)
        axis.set_xlim(-0.15 * knee, worst * 1.6)
        for place, policy in enumerate(policies):
            rows = table[table["policy"] == policy]
            gap, seconds = rows["gap"].to_numpy(dtype=float), rows["seconds"].to_numpy(dtype=float)
            _gap_row(axis, place, policy, gap)
            texts = (f"{np.mean(gap < exact):.0%}", _short(gap.mean()), _short(gap.max()), _time(float(np.median(seconds))))
            _numbers(numbers, place, texts, style.INK)
        _numbers(numbers, -0.85, ("optimal", "mean", "worst", "median time"), style.MUTED)
        axis.set_yticks(range(len(policies)), [(labels or {}).get(name) or style.label(name) for name in policies])
        axis.set_ylim(len(policies) - 0.4, -0.6)
        axis.tick_params(axis="y", length=0)
        axis.grid(axis="y", visible=False)
        axis.set_xlabel(quantity)
    return figure


_GAP_COLUMNS = (0.14, 0.38, 0.64, 1.0)
"""Right edges of the columns of numbers of `gaps`, as shares of their width."""


def _gap_row(axis: "Axes", place: int, policy: str, gap: "np.ndarray") -> None:
    """Distribution of the gap of one policy."""
    import numpy as np

    tint, sign = style.color(policy), style.marker(policy)
    q05, q25, q75, q95 = np.quantile(gap, (0.05, 0.25, 0.75, 0.95))
    axis.plot([q05, q95], [place, place], color=tint, linewidth=1.4, solid_capstyle="butt")
    axis.plot([q25, q75], [place, place], color=tint, linewidth=6, alpha=0.55, solid_capstyle="butt")
    if gap.max() > gap.mean():
        axis.plot([gap.max()] * 2, [place - 0.2, place + 0.2], color=tint, linewidth=1.4)
    size = 9 if sign == "*" else 6
    axis.plot(gap.mean(), place, sign, color=tint, markersize=size, markeredgecolor="white", markeredgewidth=0.6)


def _numbers(axis: "Axes", place: float, texts: Sequence[str], tint: str) -> None:
    """One line of the columns of numbers of `gaps`."""
    for position, text in zip(_GAP_COLUMNS, texts, strict=True):
        axis.annotate(
            text,
            (position, place),
            xycoords=("axes fraction", "data"),
            ha="right",
            va="center",
            fontsize=7.5,
            color=tint,
            annotation_clip=False,
        )


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == round(value) else f"{value:.3g}"


def _time(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1 or unit == "µs":
            return f"{seconds * factor:.3g} {unit}"
    raise AssertionError("unreachable")


def _require(table: Any, columns: tuple[str, ...], argument: str, function: str) -> None:
    """Refuse a table without the columns that a panel draws, or without rows."""
    missing = [name for name in columns if name not in table.columns]
    if missing or len(table) == 0:
        got = f"no column {', '.join(missing)}" if missing else "an empty table"
        raise ParameterError(
            f"`{argument}` of `{function}` must have the columns {', '.join(columns)} and a row at least; got {got}. "
            "Make the table with the experiment that the figure reads."
        )
