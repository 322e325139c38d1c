"""What affinity saves and what it costs."""

from lbtheory.plots.cells import affinity_panels

TITLE = "Affinity: prefixes met, prefill saved, and what it costs"
REFERENCE = "DLB paper, section 3.5; the figure is ours"

COLUMNS = {
    "utilisation": "utilisation without reuse",
    "hot": "hot",
    "affinity": "affinity",
    "hit": "prefix met",
    "saved": "prefill saved",
    "hottest": "hottest server / mean",
    "mean": "mean latency, s",
    "p90": "p90 latency, s",
    "errors": "errors",
}


def draw(tables):
    """A column a quantity, a row without and with hot sessions."""
    return affinity_panels(tables["affinity"])


def compare(tables):
    """Means over scenarios."""
    keys = ["utilisation", "hot", "affinity"]
    return tables["affinity"].groupby(keys, sort=False, as_index=False)[list(COLUMNS)[3:]].mean()


def numbers(tables):
    """Numbers of the caption."""
    rows = compare(tables).set_index(["utilisation", "hot", "affinity"])
    found = {}
    for kind in ("none", "conditional", "sticky", "hash"):
        cool, hot = rows.loc[(0.8, 0.0, kind)], rows.loc[(0.8, 0.1, kind)]
        found |= {
            f"{kind}_hit": cool["hit"],
            f"{kind}_mean": cool["mean"],
            f"{kind}_hot": hot["mean"],
            f"{kind}_errors": hot["errors"],
        }
        found[f"{kind}_saved"] = cool["saved"]
    return found
