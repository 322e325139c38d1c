"""Amplitude against delay, sand beside boulders."""

from lbtheory.plots.dynamics import oscillations

TITLE = "Discrete routing oscillates with any delay; its size is what arrives in a round trip"
REFERENCE = "DLB paper, sections 1.1, 3.2 and 4"

COLUMNS = {
    "kind": "requests",
    "delay": "delay, s",
    "routing": "routing",
    "gain": "gain",
    "relative": "amplitude / (N₁ + N₂)",
    "excess": "excess in cells",
}


def draw(tables):
    """One panel a kind of request."""
    return oscillations(tables["oscillation"])


def compare(tables):
    """Relative amplitude and what it costs."""
    rows = tables["oscillation"].copy()
    rows["relative"] = rows["amplitude"] / (2 * rows["even"])
    return rows[list(COLUMNS)]


def numbers(tables):
    """At the delay nearest to 100 ms."""
    rows = compare(tables)
    at = rows[(rows["delay"] - 0.1).abs() < 1e-9].set_index(["kind", "routing", "gain"])["relative"]
    found = {(kind, routing, gain if gain == gain else 0): value for (kind, routing, gain), value in at.items()}
    return {
        "sand": 100 * found["sand", "discrete", 0],
        "boulders": 100 * found["boulders", "discrete", 0],
        "sand_flow": 100 * found["sand", "flow", 0.25],
        "sand_fast": 100 * found["sand", "flow", 1.0],
    }
