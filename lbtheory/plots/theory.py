"""Panels of the theory's figures: chains of inequalities, frontiers, certified ratios, scaling. They read tidy tables."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lbtheory.plots import style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CERTIFICATES = {
    "epsilon_below_s": ("#bdbdbd", "|"),
    "theorem1": ("#4d4d4d", "o"),
    "theorem-1": ("#4d4d4d", "o"),
    "sharper": ("#8c8c8c", "s"),
    "computed": ("#0072b2", "D"),
    "spread_lex": ("#009e73", "h"),
    "rich": ("#000000", "*"),
    "rich supply": ("#000000", "*"),
    "level": ("#d55e00", "s"),
    "level, supply as it comes, α = 1/4": ("#e69f00", "v"),
    "pairs": ("#cc79a7", "^"),
}
"""Colour and marker of each certificate, one everywhere."""

TRUTH, UPPER, LOWER = "#1a1a1a", "#0072b2", "#d55e00"


def ladders(table: "pd.DataFrame") -> "Figure":
    """Chains from the truth to the bound, a row of the picture a system, on one logarithmic axis of imbalances.

    Parameters
    ----------
    table : DataFrame
        Columns ``p``, ``prompts``, ``workers``, ``slots``, ``side`` (upper or lower), ``step``, ``value``, ``lost``; the
        first row of each system and side is the truth.
    """
    groups = list(table.groupby(["p", "prompts", "workers", "slots"], sort=False))
    with style.context():
        rows = len(groups[0][1])
        figure = style.new_figure(style.TEXT_WIDTH, 0.55 + 0.19 * (rows + 1.6) * len(groups))
        axes = figure.subplots(len(groups), 1, sharex=True, squeeze=False)[:, 0]
        for axis, ((p, prompts, workers, slots), part) in zip(axes, groups, strict=True):
            axis.set_title(f"p = {p}, S ~ {_law(prompts)}, G = {workers}, B = {slots}")
            _ladder(axis, part)
        axes[-1].set_xlabel("imbalance Ī or bound, tokens (logarithmic); decades given away by each step beside its mark")
    return figure


def _ladder(axis: "Axes", part: "pd.DataFrame") -> None:
    """One system: the upper chain, then the lower one."""
    axis.set_xscale("log")
    names = []
    for place, (_, row) in enumerate(part.iterrows()):
        upper = row["side"] == "upper"
        tint = TRUTH if row["lost"] == 0 and "Ī of" in row["step"] else UPPER if upper else LOWER
        value = max(float(row["value"]), 1e-2)
        if tint != TRUTH:
            before = max(float(part["value"].iloc[place - 1]), 1e-2)
            axis.plot([before, value], [place, place], color=tint, linewidth=2.4, alpha=0.35, solid_capstyle="butt")
            text = f"{row['lost']:.1f}"
            right = value >= before
            axis.annotate(
                text,
                (value, place),
                xytext=(6 if right else -6, 0),
                textcoords="offset points",
                ha="left" if right else "right",
                va="center",
                fontsize=7,
                color=style.MUTED,
            )
        axis.plot(value, place, "o", color=tint, markersize=4.5)
        names.append(str(row["step"]))
    axis.set_yticks(range(len(names)), names, fontsize=7)
    axis.set_ylim(len(names) - 0.4, -0.6)
    axis.grid(axis="y", visible=False)
    axis.tick_params(axis="y", length=0)
    axis.margins(x=0.06)


def frontier_map(table: "pd.DataFrame", labels: Mapping[str, str]) -> "Figure":
    """Smallest ``B`` of each certificate, a row a system, on a logarithmic axis; sizes that run today are tinted.

    Parameters
    ----------
    table : DataFrame
        Columns ``p``, ``s``, ``workers``, ``certificate``, ``target``, ``slots``; only ``target = 1`` is drawn.
    labels : mapping of str to str
        Certificates in the order of the legend.
    """
    import numpy as np
    from matplotlib.lines import Line2D

    table = table[table["target"] == 1.0]
    systems = list(table.groupby(["workers", "p", "s"], sort=False).groups)
    with style.context():
        figure = style.new_figure(style.TEXT_WIDTH, 1.15 + 0.24 * len(systems))
        axis = figure.subplots()
        axis.set_xscale("log")
        axis.axvspan(64, 1024, color="#009e73", alpha=0.12, linewidth=0)
        axis.annotate("sizes that run today", (256, -0.75), ha="center", va="center", fontsize=7, color=style.MUTED)
        for place, (workers, p, s) in enumerate(systems):
            part = table[(table["workers"] == workers) & (table["p"] == p) & (table["s"] == s)]
            slots = part.set_index("certificate")["slots"].astype(float)
            axis.plot([np.nanmin(slots), np.nanmax(slots)], [place, place], color=style.RULE, linewidth=1, zorder=1)
            for name, value in slots.items():
                tint, sign = CERTIFICATES[str(name)]
                axis.plot(
                    value,
                    place,
                    sign,
                    color=tint,
                    markersize=6 if sign != "*" else 8,
                    markeredgewidth=1.2 if sign == "|" else 0,
                )
        axis.set_yticks(range(len(systems)), [f"p = {p}, s = {s}, G = {workers}" for workers, p, s in systems])
        axis.set_ylim(len(systems) - 0.4, -1.15)
        axis.grid(axis="y", visible=False)
        axis.tick_params(axis="y", length=0)
        axis.set_xlabel("smallest number of slots B (logarithmic)")
        handles = [
            Line2D(
                [], [], linestyle="none", marker=CERTIFICATES[name][1], color=CERTIFICATES[name][0], label=text, markersize=5.5
            )
            for name, text in labels.items()
            if name in set(table["certificate"])
        ]
        figure.legend(handles=handles, loc="outside upper center", ncols=4, handletextpad=0.2, columnspacing=1.2)
    return figure


def certified_ratios(table: "pd.DataFrame", shown: Mapping[str, str]) -> "Figure":
    """Exact FCFS over certified bounds (lines) and simulated imbalances (marks) against ``B``, a panel a system.

    Parameters
    ----------
    table : DataFrame
        Columns ``p``, ``prompts``, ``workers``, ``slots``, ``what`` (certificate or policy), ``name``, ``imbalance``, ``low``,
        ``high``, ``exact``, ``ratio``.
    shown : mapping of str to str
        Certificates to draw and what to write for them.
    """
    groups = list(table.groupby(["p", "prompts", "workers"], sort=False))
    with style.context():
        figure = style.new_figure(style.TEXT_WIDTH, 3.5)
        axes = figure.subplots(1, len(groups), sharey=True, squeeze=False)[0]
        for axis, ((p, prompts, workers), part) in zip(axes, groups, strict=True):
            axis.set_title(f"p = {p}, S ~ {_law(prompts)}, G = {workers}")
            axis.set_xscale("log", base=2)
            axis.set_yscale("log")
            axis.axhline(1, color=style.MUTED, linewidth=0.8)
            for name, text in shown.items():
                rows = part[(part["what"] == "certificate") & (part["name"] == name)].sort_values("slots")
                tint, _ = CERTIFICATES[name]
                axis.plot(rows["slots"], rows["ratio"], color=tint, label=text, linewidth=1.6)
            for policy, rows in part[part["what"] == "policy"].groupby("name", sort=False):
                _simulated(axis, str(policy), rows)
            slots = sorted(part["slots"].unique())
            axis.set_xticks(slots, [f"{b}" for b in slots])
            axis.minorticks_off()
            axis.set_xlabel("slots a worker B")
        _ratio_ticks(axes[0], table["ratio"])
        axes[0].set_ylabel("exact FCFS ÷ bound or imbalance")
        handles, names = axes[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=3, handlelength=1.8)
    return figure


def _simulated(axis: "Axes", policy: str, rows: "pd.DataFrame") -> None:
    """Marks with intervals of one policy; an arrow at the upper edge where no imbalance was seen."""
    import numpy as np

    balanced = rows["imbalance"] == 0
    for slots in rows.loc[balanced, "slots"]:
        axis.plot(slots, 0.97, marker="^", color=style.color(policy), markersize=6, transform=axis.get_xaxis_transform())
    rows = rows[~balanced]
    ratio = rows["ratio"].to_numpy(dtype=float)
    low, high = (rows["exact"] / rows["high"]).to_numpy(dtype=float), (rows["exact"] / rows["low"]).to_numpy(dtype=float)
    axis.errorbar(
        rows["slots"],
        ratio,
        yerr=np.abs(np.vstack([ratio - low, high - ratio])),
        fmt=style.marker(policy),
        color=style.color(policy),
        markersize=4.5,
        linewidth=0.8,
        markerfacecolor="white" if ":" in policy else style.color(policy),
        markeredgecolor=style.color(policy) if ":" in policy else "white",
        markeredgewidth=0.9 if ":" in policy else 0.4,
        label=f"{style.label(policy)}, simulated",
    )


def _ratio_ticks(axis: "Axes", ratios: "pd.Series") -> None:
    """Plain numbers at powers of ten and at 2 and 5 near 1."""
    from matplotlib.ticker import NullFormatter

    ratios = ratios[ratios < float("inf")]
    low, high = float(ratios.min()), float(ratios.max())
    wide = high / low > 300
    candidates = [factor * 10.0**power for power in range(-9, 9) for factor in ((1,) if wide else (1, 2, 5))]
    ticks = [tick for tick in candidates if low / 1.5 <= tick <= high * 1.5]
    axis.set_yticks(ticks, [f"{tick:g}×" for tick in ticks])
    axis.yaxis.set_minor_formatter(NullFormatter())


def _law(prompts: str) -> str:
    """``uniform:50`` as a reader writes it."""
    name, _, rest = prompts.partition(":")
    return f"U{{1..{rest}}}" if name == "uniform" and ":" not in rest else prompts


def scaling(table: "pd.DataFrame", laws: Mapping[str, str]) -> "Figure":
    """Imbalance against ``B`` at ``G = 8`` and, per worker, against ``G`` at ``B = 64``; policies as marks, laws as lines.

    Parameters
    ----------
    table : DataFrame
        Columns ``workers``, ``slots``, ``policy``, ``imbalance``, ``low``, ``high``, and one column a law.
    laws : mapping of str to str
        Columns to draw as lines, and what to write for them.
    """
    dashes = {"exact": (None, None), "diffusion": (4, 1.5), "renewed": (1.2, 1.2)}
    with style.context():
        figure = style.new_figure(style.TEXT_WIDTH, 3.6)
        axes = figure.subplots(1, 2)
        halves = (table[table["workers"] == 8], table[table["slots"] == 64])
        for axis, part, size in zip(axes, halves, ("slots", "workers"), strict=True):
            unit = part["workers"]
            axis.set_xscale("log", base=2)
            axis.set_yscale("log")
            one = part.drop_duplicates(size).sort_values(size)
            for law, text in laws.items():
                line = axis.plot(one[size], one[law] / one["workers"], color=style.INK, linewidth=1.1, label=text)[0]
                if dashes[law] != (None, None):
                    line.set_dashes(dashes[law])
            for policy, rows in part.groupby("policy", sort=False):
                value = rows["imbalance"] / unit[rows.index]
                error = [
                    (rows["imbalance"] - rows["low"]) / unit[rows.index],
                    (rows["high"] - rows["imbalance"]) / unit[rows.index],
                ]
                axis.errorbar(
                    rows[size],
                    value,
                    yerr=error,
                    fmt=style.marker(str(policy)),
                    color=style.color(str(policy)),
                    markersize=6 if style.marker(str(policy)) == "*" else 4.5,
                    linewidth=0.8,
                    markeredgecolor="white",
                    markeredgewidth=0.4,
                    label=style.label(str(policy)),
                )
            sizes = sorted(part[size].unique())
            axis.set_xticks(sizes, [str(value) for value in sizes])
            axis.xaxis.minorticks_off()
        axes[0].set_title("G = 8")
        axes[1].set_title("B = 64")
        axes[0].set_xlabel("slots a worker B")
        axes[1].set_xlabel("workers G")
        axes[0].set_ylabel("imbalance a worker Ī/G, tokens")
        handles: dict[str, Any] = {}
        for axis in axes:
            handles |= dict(zip(*axis.get_legend_handles_labels()[::-1], strict=True))
        figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=5, handlelength=2.0)
    return figure
