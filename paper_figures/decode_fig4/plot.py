"""Eight worker trajectories for six policies."""

from lbtheory.plots.methods import BRH
from lbtheory.plots.panels import trajectories

TITLE = "Figure 4: loads of eight workers"
REFERENCE = "decode paper, Figure 4"

LABELS = {BRH: "BR-H oracle", "level-h": "LEVEL-H+ oracle"}


def draw(tables):
    """One panel a policy."""
    return trajectories(tables["decode-fig4"], labels=LABELS)


def numbers(tables):
    """Share of token work lost at the barrier, for the caption."""
    data = tables["decode-fig4"]
    loads = data[[c for c in data.columns if c.startswith("worker_")]]
    idle = (1 - loads.mean(axis=1) / loads.max(axis=1)).groupby(data["policy"], sort=False).mean()
    return {
        "jsq": 100 * idle["jsq"],
        "token": 100 * idle["token-jsq"],
        "br0": 100 * idle["br0"],
        "brh": 100 * idle[BRH],
        "level": 100 * idle["level-plus"],
        "level_h": 100 * idle["level-h"],
    }
