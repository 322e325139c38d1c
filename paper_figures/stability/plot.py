"""Critical and proved stepsizes against the slack, and limit cycles below the critical stepsize."""

from lbtheory.plots.dynamics import stability_figure

TITLE = "Local stability of flow routing, and its limits"
REFERENCE = "DLB paper, section 4; ours beyond it"

COLUMNS = {
    "cost": "cost",
    "slope": "d log η_c/d log(1 − ρ), heaviest loads",
    "theory": "theory",
    "sharpness": "η_c ÷ (S), least",
    "theorem1": "η_c ÷ η_0, least",
    "onset": "least η ÷ η_c with a cycle from afar",
}
SLOPES = {"rif": 2, "latency": 2, "gradient": 3}


def draw(tables):
    """Three panels."""
    return stability_figure(tables["stability"])


def compare(tables):
    """Exponent of the loss of stability beside theory, conservatism, and where cycles begin."""
    import numpy as np
    import pandas as pd

    data = tables["stability"]
    rows = []
    for cost, part in data[data["what"] == "load"].groupby("cost", sort=False):
        part = part.sort_values("load")
        x, y = np.log(1 - part["load"].to_numpy(float)[-2:]), np.log(part["critical"].to_numpy(float)[-2:])
        far = data[(data["what"] == "cycle") & (data["cost"] == cost) & (data["start"] == 1)]
        cycles = far[far["cycles"].astype(str) == "True"]
        rows.append(
            {
                "cost": cost,
                "slope": (y[1] - y[0]) / (x[1] - x[0]),
                "theory": SLOPES[cost],
                "sharpness": (part["critical"] / part["sufficient"]).min(),
                "theorem1": (part["critical"] / part["eta0"].astype(float)).min(),
                "onset": cycles["ratio"].min() if len(cycles) else None,
            }
        )
    return pd.DataFrame(rows)


def numbers(tables):
    """What the caption says."""
    rows = compare(tables).set_index("cost")
    data = tables["stability"]
    near = data[(data["what"] == "cycle") & (data["ratio"] < 1) & (data["start"] == data["start"].min())]
    return {
        "slope_latency": rows.loc["latency", "slope"],
        "slope_gradient": rows.loc["gradient", "slope"],
        "onset_latency": rows.loc["latency", "onset"],
        "onset_gradient": rows.loc["gradient", "onset"],
        "near": (near["cycles"].astype(str) == "True").sum(),
        "theorem1": rows["theorem1"].min(),
    }
