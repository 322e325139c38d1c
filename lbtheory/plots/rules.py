"""Rules beside one another: imbalance relative to one of them, and what long runs do to the queue."""

from typing import TYPE_CHECKING

from lbtheory.plots import style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def relative(table: "pd.DataFrame", *, xlabel: str, height: float = 0.23) -> "Figure":
    """Marks with intervals on a logarithmic axis, a panel a value of ``part``, in it a row a ``system``.

    Parameters
    ----------
    table : DataFrame
        Columns ``part``, ``system``, ``policy``, ``value``, ``low``, ``high``, in the order of the picture.
    xlabel : str
    height : float
        Of a row, in inches.
    """
    parts, policies = list(dict.fromkeys(table["part"])), list(dict.fromkeys(table["policy"]))
    rows = [len(set(table.loc[table["part"] == part, "system"])) for part in parts]
    with style.context():
        figure = style.new_figure(style.TEXT_WIDTH, 0.9 + 0.25 * len(parts) + height * sum(rows))
        axes = figure.subplots(len(parts), 1, squeeze=False, sharex=True, gridspec_kw={"height_ratios": rows})[:, 0]
        for axis, part in zip(axes, parts, strict=True):
            mine = table[table["part"] == part]
            systems = list(dict.fromkeys(mine["system"]))
            for number, policy in enumerate(policies):
                marks = mine[mine["policy"] == policy]
                place = [systems.index(s) + 0.14 * (number - (len(policies) - 1) / 2) for s in marks["system"]]
                _marks(axis, marks, place, policy)
            _log_rows(axis, systems)
            axis.set_title(part)
        figure.supxlabel(xlabel, fontsize=8)
        handles, texts = axes[0].get_legend_handles_labels()
        figure.legend(handles, texts, loc="outside upper right", ncols=len(policies))
    return figure


def _marks(axis: "Axes", rows: "pd.DataFrame", place: list[float], policy: str) -> None:
    """Marks of one policy with their intervals."""
    tint = style.color(policy)
    axis.hlines(place, rows["low"], rows["high"], color=tint, linewidth=1.0)
    axis.plot(
        rows["value"], place, linestyle="none", marker=style.marker(policy), color=tint, markersize=4, label=style.label(policy)
    )


def _log_rows(axis: "Axes", names: list[str]) -> None:
    """Rows with names, a logarithmic axis of ratios with a line at 1."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_xscale("log")
    low, high = axis.get_xlim()
    axis.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 60 * low else (1.0,), numticks=12))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.axvline(1.0, color=style.MUTED, linewidth=0.8)
    axis.set_yticks(range(len(names)), names)
    axis.set_ylim(len(names) - 0.5, -0.5)
    axis.grid(axis="y", visible=False)
    axis.tick_params(axis="y", length=0)


def long_runs(table: "pd.DataFrame", drift: "pd.DataFrame") -> "Figure":
    """Three panels a system: imbalance over that of IO, the queue's mean size in time, longest waits.

    In the last the tick is the longest wait of an admitted request, the dot that of the oldest that waits at the end.

    Parameters
    ----------
    table : DataFrame
        Columns ``system``, ``policy``, ``value``, ``low``, ``high`` (ratios), ``wait_max``, ``oldest`` (iterations).
    drift : DataFrame
        Columns ``system``, ``policy``, ``time`` (share of the run), ``size`` (over the mean size of the stream).
    """
    from matplotlib.ticker import FuncFormatter

    systems, policies = list(dict.fromkeys(table["system"])), list(dict.fromkeys(table["policy"]))
    with style.context():
        figure = style.new_figure(style.TEXT_WIDTH, 0.5 + (0.75 + 0.17 * len(policies)) * len(systems))
        grid = figure.subplots(len(systems), 3, squeeze=False)
        for row, system in zip(grid, systems, strict=True):
            mine, course = table[table["system"] == system], drift[drift["system"] == system]
            names = list(mine["policy"])
            for place, name in enumerate(names):
                one = mine[mine["policy"] == name]
                _marks(row[0], one, [place], name)
                ends = sorted([max(1.0, float(one["wait_max"].iloc[0])), max(1.0, float(one["oldest"].iloc[0]))])
                row[2].hlines(place, *ends, color=style.color(name), linewidth=1.0)
                row[2].plot(
                    one["wait_max"].clip(lower=1), [place], "|", color=style.color(name), markersize=7, markeredgewidth=1.4
                )
                row[2].plot(one["oldest"].clip(lower=1), [place], "o", color=style.color(name), markersize=3.5)
                path = course[course["policy"] == name]
                row[1].plot(path["time"], path["size"], color=style.color(name), marker=style.marker(name), markersize=2.5)
            _log_rows(row[0], [style.label(name.split(":")[0]) for name in names])
            row[1].axhline(1.0, color=style.MUTED, linewidth=0.8)
            row[2].set_xscale("log")
            row[2].xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            row[2].set_yticks(range(len(names)), [])
            row[2].set_ylim(len(names) - 0.5, -0.5)
            row[2].grid(axis="y", visible=False)
            row[0].set_title(system)
        for axis, text in zip(
            grid[-1],
            ("imbalance ÷ that of IO", "share of the run", "wait, iterations"),
            strict=True,
        ):
            axis.set_xlabel(text)
        for row in grid:
            row[1].set_ylabel("mean size waiting ÷ offered")
    return figure
