"""Paths at some sizes beside the fluid trajectory, and distances against the size."""

from lbtheory.plots.fluid_limit import limit_figure, limit_rates

TITLE = "The simulator scaled up converges to the fluid trajectory"
REFERENCE = "DLB paper, sections 2 and 4 (the fluid model); Kurtz (1970) for the limit; the figure is ours"

COLUMNS = {
    "system": "system",
    "measure": "distance",
    "slope": "slope on log m",
    "low": "95 % from",
    "high": "to",
    "size": "largest m",
    "distance": "distance there, requests/slot",
    "floor": "F², r.m.s.",
    "floor_low": "F², 95 % from",
    "floor_high": "F² to",
}


def draw(tables):
    """Paths, and a panel a system."""
    return limit_figure(tables["fluid-limit"])


def compare(tables):
    """Slopes and floors with intervals."""
    return limit_rates(tables["fluid-limit"])[[*COLUMNS]]


def numbers(tables):
    """What the caption says."""
    rows = compare(tables).set_index(["system", "measure"])
    pool, cells = rows.loc[("pool", "rms")], rows.loc[("cells", "rms")]
    most = rows.loc[("pool", "greatest")]
    return {
        "slope": pool["slope"],
        "low": pool["low"],
        "high": pool["high"],
        "most": most["slope"],
        "most_low": most["low"],
        "most_high": most["high"],
        "floor_low": pool["floor_low"],
        "floor_high": pool["floor_high"],
        "cells_slope": cells["slope"],
        "cells_low": cells["low"],
        "cells_high": cells["high"],
        "cells_distance": cells["distance"],
        "cells_floor": max(cells["floor"], 0.0) ** 0.5,
    }
