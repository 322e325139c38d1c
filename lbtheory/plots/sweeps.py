"""Panels of sweeps: lines with intervals, and a matrix of numbers."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lbtheory.core import ParameterError
from lbtheory.plots import style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORECASTS = {
    "oracle": "#1a1a1a",
    "noisy": "#8a8a8a",
    "exact-match": "#009e73",
    "learned": "#cc79a7",
    "survival": "#0072b2",
    "hazard": "#56b4e9",
    "none": "#d55e00",
}
"""Colour of each forecast."""


def curves(
    table: "pd.DataFrame",
    *,
    x: str,
    y: str,
    series: str,
    panel: str | None = None,
    labels: Mapping[str, str] | None = None,
    tints: Mapping[str, str] | None = None,
    xlabel: str = "",
    ylabel: str = "",
    xlog: int | None = None,
    ylog: bool = False,
    reference: float | None = None,
    lines: bool = True,
    across: int = 3,
    height: float = 2.5,
    sharey: bool = True,
) -> "Figure":
    """A line (or marks) a series against ``x``, a panel a value of ``panel``.

    Columns ``low`` and ``high``, where the table has them, are drawn as intervals; ``published`` as a hollow mark.

    Parameters
    ----------
    table : DataFrame
    x, y, series : str
        Columns.
    panel : str, optional
        Column that says in which panel a row goes.
    labels, tints : mapping of str to str, optional
        What to write for a series, and its colour; by default those of the policy of that name.
    xlabel, ylabel : str
    xlog : int, optional
        Base of a logarithmic x-axis, whose ticks are the values of the table.
    ylog : bool
    reference : float, optional
        A horizontal line.
    lines : bool
        Whether marks are joined.
    across, height
        Most panels side by side, and the height of a row of panels in inches.
    sharey : bool

    Raises
    ------
    ParameterError
        The table is empty.
    """
    if len(table) == 0:
        raise ParameterError("`table` of `curves` must have a row at least; got none.")
    panels = list(dict.fromkeys(table[panel])) if panel else [None]
    names = list(dict.fromkeys(table[series]))
    columns = min(across, len(panels))
    rows = -(-len(panels) // columns)
    with style.context():
        figure = style.new_figure(style.TEXT_WIDTH if columns > 1 else 0.75 * style.TEXT_WIDTH, 0.55 + height * rows)
        grid = figure.subplots(rows, columns, squeeze=False, sharey=sharey)
        for axis, one in zip(grid.flat, panels, strict=False):
            part = table if one is None else table[table[panel] == one]
            if one is not None:
                axis.set_title(str(one))
            _scales(axis, part[x], xlog, ylog)
            if reference is not None:
                axis.axhline(reference, color=style.MUTED, linewidth=0.7)
            for number, name in enumerate(names):
                mine = part[part[series] == name]
                if len(mine):
                    tint = (tints or {}).get(str(name)) or style.color(str(name))
                    same = [n for n in names[:number] if ((tints or {}).get(str(n)) or style.color(str(n))) == tint]
                    text = (labels or {}).get(str(name)) or style.label(str(name))
                    _series(axis, mine, x, y, tint, style.marker(str(name)), text, len(same), lines)
            axis.set_xlabel(xlabel)
        for axis in grid.flat[len(panels) :]:
            axis.set_axis_off()
        for row in grid:
            row[0].set_ylabel(ylabel)
        entries: dict[str, Any] = {}
        for axis in grid.flat:
            for handle, text in zip(*axis.get_legend_handles_labels(), strict=True):
                entries.setdefault(text, handle)
        figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=min(4, len(entries)))
    return figure


def _scales(axis: "Axes", values: "pd.Series", xlog: int | None, ylog: bool) -> None:
    """Scales and ticks."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

    if xlog is not None:
        axis.set_xscale("symlog", base=xlog, linthresh=1) if (values <= 0).any() else axis.set_xscale("log", base=xlog)
        ticks = sorted(set(values))
        if len(ticks) <= 9:
            axis.set_xticks(ticks, _roomy(ticks, xlog))
        axis.xaxis.set_minor_locator(NullLocator())
        axis.xaxis.set_minor_formatter(NullFormatter())
    if ylog:
        axis.set_yscale("log")
        axis.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.yaxis.set_minor_formatter(NullFormatter())


def _roomy(ticks: list[float], base: int) -> list[str]:
    """Labels of ticks on a logarithmic (symmetric below 1) axis; those without room beside the one before are blank."""
    from math import log

    places = [log(max(tick, 1.0 / base if tick <= 0 else tick), base) for tick in ticks]
    texts, last = [], -float("inf")
    for tick, place in zip(ticks, places, strict=True):
        room = place - last >= 0.09 * (places[-1] - places[0])
        texts.append(f"{tick:g}" if room else "")
        last = place if room else last
    return texts


DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)))


def _series(
    axis: "Axes", rows: "pd.DataFrame", x: str, y: str, tint: str, sign: str, text: str, same: int, lines: bool
) -> None:
    """One series; a second one of the same colour is dashed and has hollow marks."""
    import numpy as np

    value = rows[y].to_numpy(dtype=float)
    error = None
    if "low" in rows and rows["low"].notna().any():
        error = np.vstack([value - rows["low"].to_numpy(dtype=float), rows["high"].to_numpy(dtype=float) - value])
        error = np.maximum(np.nan_to_num(error), 0.0)
    axis.errorbar(
        rows[x].to_numpy(dtype=float),
        value,
        yerr=error,
        marker=sign,
        color=tint,
        linestyle=DASHES[same % len(DASHES)] if lines else "none",
        markersize=4.5,
        linewidth=1.1,
        elinewidth=0.8,
        markerfacecolor="white" if same else tint,
        markeredgewidth=0.8,
        label=text,
    )
    if "published" in rows and rows["published"].notna().any():
        axis.plot(
            rows[x],
            rows["published"],
            marker=sign,
            color=tint,
            linestyle=(0, (1, 2)),
            linewidth=0.8,
            markersize=8,
            markerfacecolor="none",
            label=f"{text}, published",
        )


def matrix(
    values: "pd.DataFrame",
    *,
    labels: Mapping[str, str] | None = None,
    notes: "pd.DataFrame | None" = None,
    quantity: str = "",
    best: Sequence[str] | None = None,
    middle: float = 1.0,
) -> "Figure":
    """A matrix of ratios with its numbers: blue above ``middle``, red below, on a logarithmic scale; the best of a row is bold.

    Parameters
    ----------
    values : DataFrame
        Row and column names; NaN is left blank.
    labels : mapping of str to str, optional
        What to write for a column; by default the policy's label.
    notes : DataFrame, optional
        A second, smaller line in each cell (text), of the same shape.
    quantity : str
        What the numbers are.
    best : sequence of str, optional
        Columns among which the best of a row is sought; all by default.
    middle : float
        The ratio that is white.
    """
    import numpy as np

    with style.context():
        from matplotlib.colors import TwoSlopeNorm

        rows, columns = values.shape
        figure = style.new_figure(style.TEXT_WIDTH, 1.3 + 0.3 * rows)
        axis = figure.subplots()
        logs = np.log(values.to_numpy(dtype=float) / middle)
        reach = max(0.2, float(np.nanmax(np.abs(logs))))
        axis.imshow(logs, cmap="RdBu", norm=TwoSlopeNorm(0, -reach, reach), aspect="auto", alpha=0.75)
        among = list(values.columns) if best is None else list(best)
        for i in range(rows):
            top = values.iloc[i][among].astype(float).max()
            for j in range(columns):
                value = float(values.iat[i, j])
                if np.isfinite(value):
                    note = "" if notes is None else f"\n{notes.iat[i, j]}"
                    weight = "bold" if value == top and values.columns[j] in among else "normal"
                    tint = "white" if abs(np.log(value / middle)) > 0.75 * reach else style.INK
                    axis.text(j, i, f"{value:.2f}{note}", ha="center", va="center", fontsize=7, fontweight=weight, color=tint)
        heads = [(labels or {}).get(str(c)) or style.label(str(c)) for c in values.columns]
        axis.set_xticks(range(columns), heads, rotation=30, ha="left")
        axis.xaxis.tick_top()
        axis.set_yticks(range(rows), [str(r) for r in values.index])
        axis.tick_params(length=0)
        axis.grid(visible=False)
        for side in axis.spines.values():
            side.set_visible(False)
        figure.supxlabel(quantity, fontsize=8)
    return figure


def worker_loads(table: "pd.DataFrame") -> "Figure":
    """Bars of the loads of every worker in one iteration, a panel a workload, with their mean.

    Parameters
    ----------
    table : DataFrame
        Columns ``workload``, ``policy``, ``worker``, ``load`` (tokens).
    """
    names = list(dict.fromkeys(table["workload"]))
    with style.context():
        figure = style.new_figure(style.TEXT_WIDTH, 2.4)
        axes = figure.subplots(1, len(names), squeeze=False)[0]
        for axis, name in zip(axes, names, strict=True):
            part = table[table["workload"] == name]
            loads = part["load"].astype(float) / 1e3
            axis.bar(
                part["worker"].astype(int),
                loads.max() - loads,
                bottom=loads,
                color="#e8d9d2",
                width=0.8,
                label="idle at the barrier",
            )
            axis.bar(part["worker"].astype(int), loads, color=style.color(part["policy"].iloc[0]), width=0.8, label="load")
            axis.axhline(loads.mean(), color=style.INK, linewidth=0.9, dashes=(3, 1.5), label="mean load")
            axis.set_title(str(name))
            axis.set_xlabel("worker")
            axis.grid(axis="x", visible=False)
        axes[0].set_ylabel("load, thousand tokens")
        handles, texts = axes[0].get_legend_handles_labels()
        figure.legend(handles, texts, loc="outside lower center", ncols=3)
    return figure


def dots(
    table: "pd.DataFrame",
    *,
    row: str,
    value: str,
    series: str,
    panel: str,
    labels: Mapping[str, str] | None = None,
    tints: Mapping[str, str] | None = None,
    xlabel: str = "",
    reference: float = 0.0,
    across: int = 3,
) -> "Figure":
    """A mark with its interval (columns ``low``, ``high``) a row and series, a panel a value of ``panel``.

    Parameters
    ----------
    table : DataFrame
    row, value, series, panel : str
        Columns; order of first appearance is order in the picture.
    labels : mapping of str to str, optional
        What to write for a row.
    tints : mapping of str to str, optional
        Colour of a series.
    xlabel : str
    reference : float
        A vertical line.
    across : int
    """
    rows, names, panels = (list(dict.fromkeys(table[c])) for c in (row, series, panel))
    signs = ("o", "D", "s", "^")
    with style.context():
        lines = -(-len(panels) // across)
        figure = style.new_figure(style.TEXT_WIDTH, 0.6 + (0.5 + 0.16 * len(rows)) * lines)
        grid = figure.subplots(lines, min(across, len(panels)), squeeze=False, sharey=True)
        for axis, one in zip(grid.flat, panels, strict=False):
            axis.set_title(str(one))
            axis.axvline(reference, color=style.MUTED, linewidth=0.7)
            for number, name in enumerate(names):
                mine = table[(table[panel] == one) & (table[series] == name)]
                place = [rows.index(r) + 0.36 * (number - (len(names) - 1) / 2) for r in mine[row]]
                tint = (tints or {}).get(str(name)) or style.color(str(name))
                axis.hlines(place, mine["low"], mine["high"], color=tint, linewidth=1.1)
                axis.plot(mine[value], place, signs[number % 4], color=tint, markersize=3.5, label=str(name))
            axis.set_yticks(range(len(rows)), [(labels or {}).get(str(r), str(r)) for r in rows])
            axis.set_ylim(len(rows) - 0.4, -0.6)
            axis.grid(axis="y", visible=False)
            axis.tick_params(axis="y", length=0)
        for axis in grid.flat[len(panels) :]:
            axis.set_axis_off()
        figure.supxlabel(xlabel, fontsize=8)
        handles, texts = grid.flat[0].get_legend_handles_labels()
        figure.legend(handles, texts, loc="outside upper right", ncols=len(names))
    return figure
