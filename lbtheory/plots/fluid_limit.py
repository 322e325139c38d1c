"""The simulator scaled up beside its fluid trajectory. It reads tidy tables."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from lbtheory.plots import style
from lbtheory.plots.convergence import mean_interval, power

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SYSTEMS = {"pool": "M/M/c cells", "cells": "Cells of servers"}
MEASURES = {"greatest": ("greatest", "#d55e00", "o"), "rms": ("root mean square", "#0072b2", "s")}
"""Label, colour, marker."""
SHADES = ("#9ecae1", "#4292c6", "#084594")
LEAST = 4
"""Size from which slopes are fitted."""


def limit_rates(table: pd.DataFrame, least: int = LEAST) -> pd.DataFrame:
    """Slope of the log distance on ``log m`` and the distance at the largest size, a row a system and measure.

    ``floor`` is ``F²`` of ``rms² = F² + C/m``, least squares weighted by ``m`` (the spread of ``rms²`` is about ``1/m``), mean
    over trials with its 95 % t-interval; NaN for the greatest distance.
    """
    rows = []
    for system, part in table[table["rms"].notna()].groupby("system", sort=False):
        floor = mean_interval([_floor(one, least) for _, one in part.groupby("trial")])
        largest = part[part["size"] == part["size"].max()]
        for measure in MEASURES:
            rows.append(
                {
                    "system": system,
                    "measure": measure,
                    **power(part[part["size"] >= least], "size", measure, "trial"),
                    "size": int(largest["size"].iloc[0]),
                    "distance": float(largest[measure].mean()),
                    **dict(
                        zip(("floor", "floor_low", "floor_high"), floor if measure == "rms" else (np.nan,) * 3, strict=True)
                    ),
                }
            )
    return pd.DataFrame(rows)


def _floor(rows: pd.DataFrame, least: int) -> float:
    kept = rows[rows["size"] >= least]
    m = kept["size"].to_numpy(float)
    return float(np.polyfit(1 / m, kept["rms"].to_numpy(float) ** 2, 1, w=m)[1])


def limit_figure(table: pd.DataFrame) -> "Figure":
    """Paths of the first cell; then distances (means over trials, bars of two standard errors) against ``m``, a panel a system.

    Parameters
    ----------
    table : DataFrame
        Columns ``system``, ``size``, ``trial``, ``greatest``, ``rms``, ``time``, ``load``.
    """
    distances = table[table["rms"].notna()]
    names = [name for name in SYSTEMS if name in set(distances["system"])]
    with style.context():
        figure = style.new_figure(style.TEXT_WIDTH, 2.9)
        first, *others = figure.subplots(1, 1 + len(names))
        _paths(first, table[table["time"].notna()])
        for axis in others:
            axis.sharey(others[0])
        for axis, name in zip(others, names, strict=True):
            _distances(axis, distances[distances["system"] == name])
            axis.set_title(SYSTEMS[name])
        others[0].set_ylabel("distance, requests per slot")
        figure.legend(
            *first.get_legend_handles_labels(), loc="outside lower left", ncols=4, handlelength=1.6, columnspacing=1.2
        )
        figure.legend(
            *others[0].get_legend_handles_labels(), loc="outside lower right", ncols=3, handlelength=1.6, columnspacing=1.2
        )
    return figure


def _paths(axis: "Axes", rows: pd.DataFrame) -> None:
    sizes = sorted(set(rows["size"]) - {0})
    for m, shade in zip(sizes, SHADES[-len(sizes) :], strict=True):
        part = rows[rows["size"] == m]
        axis.plot(part["time"], part["load"], color=shade, linewidth=0.9, label=f"m = {m}")
    part = rows[rows["size"] == 0]
    axis.plot(part["time"], part["load"], color=style.INK, linestyle=(0, (4, 1.5)), linewidth=1.0, label="fluid")
    axis.set(xlabel="time, s", ylabel="N/m, requests per slot", title="M/M/c, first cell", ylim=(0, None))


def _distances(axis: "Axes", rows: pd.DataFrame) -> None:
    axis.set(xscale="log", yscale="log", xlabel="scale m")
    sizes = np.array(sorted(set(rows["size"])), dtype=float)
    for measure, (label, tint, sign) in MEASURES.items():
        found = rows.groupby("size")[measure]
        mean, error = found.mean(), 2 * found.std() / np.sqrt(found.count())
        axis.errorbar(
            mean.index,
            mean,
            yerr=error,
            color=tint,
            marker=sign,
            markersize=3.2,
            markeredgewidth=0,
            elinewidth=0.8,
            label=label,
        )
        axis.plot(
            sizes,
            mean[LEAST] * (sizes / LEAST) ** -0.5,
            color=style.MUTED,
            linestyle=(0, (1.2, 1.2)),
            linewidth=1.0,
            label="slope −1/2" if measure == "rms" else None,
        )
