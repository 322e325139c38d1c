"""The panels of networks plot what their tables say."""

import numpy as np
import pandas as pd
import pytest

from lbtheory.plots.equilibria import COSTS, anarchy, network_map


def table() -> pd.DataFrame:
    """Two cells on either side of the Pacific and one in between, one flow over the date line."""
    common = {"cost": "latency", "mean_latency": 0.5, "price": 1.25}
    cells = [
        {"kind": "cell", "source": name, "cell": name, "latitude": 10.0, "longitude": at, "side": "above"}
        | {"arrival_rate": 9.0, "capacity": 16.0, "flow": flow, "latency": 0.2}
        for name, at, flow in (("west", 140.0, 4.0), ("east", -120.0, 14.0), ("middle", 0.0, 9.0))
    ]
    arcs = [{"kind": "arc", "source": a, "cell": b, "flow": f} for a, b, f in (("west", "east", 5.0), ("west", "west", 4.0))]
    return pd.DataFrame([common | row for row in cells + arcs])


def test_map() -> None:
    """Areas are in proportion to rates; a flow takes the short way, over the edge; one that stays at home is not drawn."""
    (axis,) = network_map(table()).axes
    assert axis.get_title(loc="left") == "latency cost: mean latency 500 ms, price of anarchy 1.250"
    sizes = [line.get_markersize() for line in axis.lines if line.get_marker() == "o"]
    assert (sizes[1] / sizes[0]) ** 2 == pytest.approx(4 / 16) and (sizes[2] / sizes[0]) ** 2 == pytest.approx(9 / 16)
    ends = sorted(patch._posA_posB[1][0] for patch in axis.patches)
    assert ends == [-120.0, 240.0]
    assert {text.get_text() for text in axis.texts} == {f"{name}\n200 ms" for name in ("west", "east", "middle")}


def test_anarchy() -> None:
    """Prices less 1 on logarithmic axes, nothing at 1; the search beside its supremum."""
    loads = pd.DataFrame(
        [
            {"cost": cost, "spread": spread, "load": load, "price": 1 + 0.1 * at * load, "most": 1 + 0.2 * at * load}
            for at, cost in enumerate(reversed(COSTS))
            for spread in (0.0, 0.5, 1.0)
            for load in (0.5, 0.9)
        ]
    )
    worst = pd.DataFrame([{"cost": "rif", "load": 0.5, "price": 49.0, "supremum": 50.0}])
    noise = pd.DataFrame([{"cost": "latency", "noise": e, "price": 1 + e, "low": 1.0, "high": 1 + 2 * e} for e in (0.0, 0.5)])
    by_load, by_spread, by_search, by_noise = anarchy(loads, worst, noise).axes
    drawn = {
        line.get_color(): line.get_ydata() for line in by_load.lines if line.get_linestyle() == "-" and len(line.get_ydata())
    }
    assert set(drawn) == {COSTS["rif"][1], COSTS["latency"][1]}
    assert drawn[COSTS["rif"][1]] == pytest.approx([0.1, 0.18]) and len(by_spread.lines) == 6
    assert [float(line.get_ydata()[0]) for line in by_search.lines if len(line.get_ydata())] == [49.0, 48.0]
    assert np.concatenate([line.get_ydata() for line in by_noise.lines]) == pytest.approx([1.0, 1.5])
