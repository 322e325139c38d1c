"""Eight worker trajectories for five policies."""

from lbtheory.plots.panels import trajectories

TITLE = "Figure 4: loads of eight workers"
REFERENCE = "decode paper, Figure 4"

LABELS = {"brh:beta=14.67,gamma=0.64": "BR-H oracle"}


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
        "brh": 100 * idle["brh:beta=14.67,gamma=0.64"],
        "level": 100 * idle["level-plus"],
    }
