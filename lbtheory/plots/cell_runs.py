"""Panels of single runs of the cell simulator: cells over time, estimation in the loop, estimated curves. They read tables."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lbtheory.plots import style
from lbtheory.plots.cells import per_cent

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def timelines(table: "pd.DataFrame", windows: Sequence[tuple[float, float, str]]) -> "Figure":
    """A column a run, rows: RIF per replica, mean latency, error rate; a line a cell; events are shaded, switches dashed.

    Parameters
    ----------
    table : DataFrame
        Columns ``policy, aversion, cell, time, load, latency, errors``.
    windows : sequence of (start, end, text)
        Seconds.
    """
    from lbtheory.cells import make_schedule

    runs = list(table.groupby(["policy", "aversion"], sort=False))
    rows = (("load", "RIF per replica"), ("latency", "Mean latency (s)"), ("errors", "Error rate"))
    tints = ("#0a5fa8", "#e8a33d", "#00664b", "#c47fae", "#64b7ea", "#7a1f3d")
    with style.context():
        figure = style.new_figure(style.TEXT_WIDTH, 4.6)
        axes = figure.subplots(len(rows), len(runs), sharex=True, sharey="row", squeeze=False)
        for column, ((policy, aversion), part) in enumerate(runs):
            for axis, (metric, label) in zip(axes[:, column], rows, strict=True):
                for tint, (cell, line) in zip(tints, part.groupby("cell", sort=False), strict=False):
                    axis.plot(line["time"], line[metric], color=tint, linewidth=0.9, label=str(cell))
                for start, end, _ in windows:
                    axis.axvspan(start, end, color=style.RULE, alpha=0.6, linewidth=0)
                for stage in make_schedule(str(policy)).stages[1:]:
                    axis.axvline(stage.start, color=style.MUTED, linestyle="--", linewidth=0.8)
                if column == 0:
                    axis.set_ylabel(label)
            names = ", then\n".join(style.label(one.name) for one in make_schedule(str(policy)).policies)
            axes[0, column].set_title(names + ("" if aversion else ",\nno aversion"))
            place: dict[str, Any] = {"transform": axes[0, column].get_xaxis_transform(), "ha": "center", "va": "bottom"}
            for letter, (start, end, _) in zip("ABCDEFGH", windows, strict=False):
                axes[0, column].text((start + end) / 2, 0.93, letter, fontsize=6.5, color=style.MUTED, **place)
        for axis in axes[2]:
            axis.yaxis.set_major_formatter(per_cent)
        for axis in axes[:, 0]:
            axis.set_ylim(0, 1.1 * axis.get_ylim()[1])
        key = ", ".join(f"{letter} {text}" for letter, (_, _, text) in zip("ABCDEFGH", windows, strict=False))
        figure.supxlabel(f"Time (s); shaded: {key}", fontsize=8)
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return figure


VARIANT_TINTS = ("#a8a8a8", "#2f2f2f", "#64b7ea", "#e8a33d", "#c47fae", "#7a1f3d", "#00664b")


def estimation_panels(table: "pd.DataFrame", window: tuple[float, float]) -> "Figure":
    """Share of the disturbed cell over latency, means over scenarios; a column a policy, a line a variant of the estimation.

    Parameters
    ----------
    table : DataFrame
        Columns ``policy, variant, scenario, time, share, latency``.
    window : (start, end)
        Shaded, seconds.
    """
    policies = list(dict.fromkeys(table["policy"]))
    with style.context():
        figure = style.new_figure(style.TEXT_WIDTH, 3.6)
        axes = figure.subplots(2, len(policies), sharex=True, sharey="row", squeeze=False)
        for column, policy in enumerate(policies):
            part = table[table["policy"] == policy]
            for axis, metric in zip(axes[:, column], ("share", "latency"), strict=True):
                for tint, (variant, rows) in zip(VARIANT_TINTS, part.groupby("variant", sort=False), strict=False):
                    line = rows.groupby("time")[metric].mean()
                    axis.plot(line.index, line.to_numpy(), color=tint, label=variant, linewidth=1.0)
                axis.axvspan(*window, color=style.RULE, alpha=0.6, linewidth=0)
            axes[0, column].set_title(style.label(policy))
        for axis in axes[:, 0]:
            axis.set_ylim(bottom=0)
        axes[0, 0].set_ylabel("Share of the cell\n/ its servers")
        axes[1, 0].set_ylabel("Mean latency (s)")
        figure.supxlabel("Time (s)", fontsize=8)
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return figure


def latency_curves(table: "pd.DataFrame", models: "pd.DataFrame") -> "Figure":
    """Smoothed latencies of the bins, closed-loop latencies and the fitted models, a panel a cell.

    Parameters
    ----------
    table : DataFrame
        Columns ``cell``, ``kind`` (``bin`` or ``closed loop``), ``load`` (RIF per replica), ``latency`` (seconds), ``count``.
    models : DataFrame
        Columns ``cell``, ``kind``, ``a``, ``b``, ``k``, ``w``.
    """
    import numpy as np

    from lbtheory.fluid.rates import Softplus

    cells = list(dict.fromkeys(table["cell"]))
    looks = {"bin": ("#64b7ea", "o", "smoothed latencies of a bin"), "closed loop": ("#2f2f2f", "s", "closed loop")}
    with style.context():
        figure = style.new_figure(style.TEXT_WIDTH, 2.6)
        axes = figure.subplots(1, len(cells), sharey=True, squeeze=False)[0]
        for axis, cell in zip(axes, cells, strict=True):
            for kind, (tint, mark, label) in looks.items():
                points = table[(table["cell"] == cell) & (table["kind"] == kind)]
                size = 4 + 2 * np.log1p(points["count"]) if kind == "bin" else 16
                axis.scatter(points["load"], points["latency"], s=size, color=tint, marker=mark, label=label, linewidth=0)
                row = models[(models["cell"] == cell) & (models["kind"] == kind)].iloc[0]
                n = np.linspace(0, table[table["cell"] == cell]["load"].max(), 200)
                curve = Softplus(a=row["a"], b=row["b"], k=row["k"], w=row["w"]).latency(n)
                axis.plot(n, curve, color=tint, label=f"softplus of {'the bins' if kind == 'bin' else 'the closed loop'}")
            axis.set_title(str(cell))
            axis.set_xlabel("RIF per replica")
            axis.set_ylim(bottom=0)
        axes[0].set_ylabel("Latency (s)")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=4)
    return figure
