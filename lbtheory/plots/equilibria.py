"""Panels of equilibria: flows on a map, prices of anarchy. They read tidy tables."""

from typing import TYPE_CHECKING

from lbtheory.plots import style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COSTS = {
    "rif": ("RIF", "#8a8a2b", "D"),
    "latency": ("latency", "#0072b2", "o"),
    "gradient": ("gradient", "#d55e00", "s"),
}
"""Label, colour and marker of each cost, one everywhere."""

DEMAND, SERVED = "#e69f00", "#0072b2"
POINTS = 4.6
"""Radius in points of a circle that stands for one request per second is this times the square root of a quarter."""

NOTHING = 1e-7
"""A price nearer to 1 has no place on a logarithmic axis."""

SIDES = {
    "left": (-1, 0, "right", "center"),
    "right": (1, 0, "left", "center"),
    "above": (0, 1, "center", "bottom"),
    "below": (0, -1, "center", "top"),
}


def _radius(rate: float) -> float:
    """Points; areas are in proportion to rates."""
    return POINTS * (rate / 16) ** 0.5


def network_map(table: "pd.DataFrame") -> "Figure":
    """Cells on an equirectangular map and the flows between them, a panel a cost.

    Parameters
    ----------
    table : DataFrame
        Rows with ``kind`` ``cell`` (``cell``, ``latitude``, ``longitude``, ``arrival_rate``, ``capacity``, ``flow``,
        ``latency``, ``side``) and ``arc`` (``source``, ``cell``, ``flow``), each with ``cost``, ``mean_latency``, ``price``.
    """
    costs = [cost for cost in COSTS if cost in set(table["cost"])]
    with style.context():
        figure = style.new_figure(style.TEXT_WIDTH, 0.45 + 2.62 * len(costs))
        axes = figure.subplots(len(costs), 1, squeeze=False)[:, 0]
        for axis, cost in zip(axes, costs, strict=True):
            part = table[table["cost"] == cost]
            first = part.iloc[0]
            axis.set_title(
                f"{COSTS[cost][0]} cost: mean latency {1000 * first['mean_latency']:.0f} ms, "
                f"price of anarchy {first['price']:.3f}"
            )
            _globe(axis, part)
            _flows(axis, part)
            _cells(axis, part[part["kind"] == "cell"])
        _map_legend(figure)
    return figure


def _globe(axis: "Axes", part: "pd.DataFrame") -> None:
    """Meridians and parallels around the cells."""
    cells = part[part["kind"] == "cell"]
    axis.set_xlim(cells["longitude"].min() - 22, cells["longitude"].max() + 22)
    axis.set_ylim(cells["latitude"].min() - 16, cells["latitude"].max() + 15)
    axis.set_aspect(1.15)
    axis.set_xticks(range(-120, 181, 30), [])
    axis.set_yticks(range(-30, 61, 30), [])
    axis.axhline(0, color=style.RULE, linewidth=1.0, zorder=0)
    axis.tick_params(length=0)
    for spine in axis.spines.values():
        spine.set_visible(False)


def _flows(axis: "Axes", part: "pd.DataFrame") -> None:
    """Arrows from source to cell the short way round, their width in proportion to the flow; some leave at one edge and come
    back at the other.
    """
    from matplotlib.patches import FancyArrowPatch

    places = part[part["kind"] == "cell"].set_index("cell")
    arcs = part[(part["kind"] == "arc") & (part["source"] != part["cell"])].sort_values("flow")
    for _, arc in arcs.iterrows():
        start, end = places.loc[arc["source"]], places.loc[arc["cell"]]
        flow = float(arc["flow"])
        east = end["longitude"] - start["longitude"]
        turn = -360 if east > 180 else 360 if east < -180 else 0
        for shift in {0, turn}:
            arrow = FancyArrowPatch(
                (start["longitude"] - shift, start["latitude"]),
                (end["longitude"] + turn - shift, end["latitude"]),
                connectionstyle="arc3,rad=0.15",
                arrowstyle="-|>,head_length=3.2,head_width=1.6",
                mutation_scale=1.0,
                shrinkA=_radius(float(start["flow"])),
                shrinkB=_radius(float(end["capacity"])),
                linewidth=min(0.25 + 0.28 * flow, 4.0),
                color=style.INK,
                alpha=min(0.25 + 0.1 * flow, 0.8),
                zorder=2,
            )
            axis.add_patch(arrow)
            arrow.set_clip_path(axis.patch)


def _cells(axis: "Axes", cells: "pd.DataFrame") -> None:
    """Capacity as a white disc, inflow as a filled one, demand as a ring; name and latency beside."""
    for _, cell in cells.iterrows():
        x, y = float(cell["longitude"]), float(cell["latitude"])
        sizes = {name: 2 * _radius(float(cell[name])) for name in ("capacity", "flow", "arrival_rate")}
        axis.plot(
            x, y, "o", markersize=sizes["capacity"], color="white", markeredgecolor=style.INK, markeredgewidth=0.7, zorder=3
        )
        axis.plot(x, y, "o", markersize=sizes["flow"], color=SERVED, alpha=0.75, markeredgewidth=0, zorder=4)
        axis.plot(
            x,
            y,
            "o",
            markersize=sizes["arrival_rate"],
            color="none",
            markeredgecolor=DEMAND,
            markeredgewidth=1.2,
            zorder=5,
        )
        right, up, across, along = SIDES[str(cell["side"])]
        gap = max(sizes.values()) / 2 + 2
        axis.annotate(
            f"{cell['cell']}\n{1000 * cell['latency']:.0f} ms",
            (x, y),
            xytext=(right * gap, up * gap),
            textcoords="offset points",
            ha=across,
            va=along,
            fontsize=6.5,
            linespacing=1.05,
            zorder=6,
            bbox={"boxstyle": "square,pad=0.08", "facecolor": "white", "edgecolor": "none", "alpha": 0.75},
        )


def _map_legend(figure: "Figure") -> None:
    """What circles and arrows mean."""
    from matplotlib.lines import Line2D

    size = 8
    signs = [
        Line2D(
            [], [], marker="o", linestyle="", markersize=size, color="white", markeredgecolor=style.INK, markeredgewidth=0.7
        ),
        Line2D([], [], marker="o", linestyle="", markersize=size, color=SERVED, alpha=0.75, markeredgewidth=0),
        Line2D([], [], marker="o", linestyle="", markersize=size, color="none", markeredgecolor=DEMAND, markeredgewidth=1.2),
        Line2D([], [], color=style.INK, linewidth=1.6, alpha=0.6),
    ]
    labels = ["capacity", "served here", "arrives here", "sent elsewhere (width: flow)"]
    figure.legend(
        signs,
        labels,
        loc="outside lower center",
        ncols=4,
        handletextpad=0.6,
        columnspacing=2.0,
        title="under each name: latency inside the cell",
        title_fontsize=7,
    )


def anarchy(loads: "pd.DataFrame", worst: "pd.DataFrame", noise: "pd.DataFrame") -> "Figure":
    """Prices of anarchy against load and spread, the worst found beside its closed form, and prices under wrong models.

    Parameters
    ----------
    loads : DataFrame
        ``cost``, ``spread``, ``load``, ``price`` (mean), ``most`` (largest).
    worst : DataFrame
        ``cost``, ``load``, ``price`` (found), ``supremum``.
    noise : DataFrame
        ``cost``, ``noise``, ``price`` (mean), ``low``, ``high`` (its interval).
    """
    with style.context():
        figure = style.new_figure(style.TEXT_WIDTH, 5.2)
        (by_load, by_spread), (by_search, by_noise) = figure.subplots(2, 2)
        middle = sorted(loads["spread"].unique())[len(loads["spread"].unique()) // 2]
        for cost, (name, tint, sign) in COSTS.items():
            part = loads[loads["cost"] == cost]
            for axis, rows, by in (
                (by_load, part[part["spread"] == middle], "load"),
                (by_spread, part[part["load"] == 0.9], "spread"),
            ):
                rows = rows[rows["price"] > 1 + NOTHING].sort_values(by)
                axis.plot(rows[by], rows["price"] - 1, sign + "-", color=tint, markersize=3.5)
                axis.plot(rows[by], rows["most"] - 1, ":", color=tint, linewidth=1)
            part = worst[worst["cost"] == cost].sort_values("load")
            by_search.plot(part["load"], part["supremum"] - 1, "-", color=tint, linewidth=1)
            by_search.plot(part["load"], part["price"] - 1, sign, color=tint, markersize=4.5)
            part = noise[noise["cost"] == cost].sort_values("noise")
            by_noise.plot(part["noise"], part["price"], sign + "-", color=tint, markersize=3.5, label=name)
            by_noise.fill_between(part["noise"], part["low"], part["high"], color=tint, alpha=0.15, linewidth=0)
        by_load.set_title(f"random networks, spread {middle:g}")
        by_spread.set_title("random networks at load 0.9")
        by_search.set_title("two cells: worst found, supremum")
        by_noise.set_title("price with wrong models")
        for axis in (by_load, by_spread, by_search):
            axis.set_yscale("log")
            axis.set_ylabel("price of anarchy − 1")
        by_noise.set_ylabel("price of anarchy")
        by_load.set_xlabel("load of the network")
        by_spread.set_xlabel("spread of capacities and demand, σ of the logarithm")
        by_search.set_xlabel("load of the near cell, were all kept there")
        by_noise.set_xlabel("noise ε: models (1 + εξ) θ")
        figure.legend(
            loc="outside lower center",
            ncols=3,
            title="marks: means, or worst found; dotted: worst network; below: lines are suprema, tints 95 % intervals",
            title_fontsize=7,
        )
    return figure
