"""Worker loads over a segment of iterations, for artefacts that show one part of a table of trajectories.

Rows have the columns ``workers``, ``policy``, ``iteration`` and ``worker_0 …`` (blank beyond the number of workers).
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lbtheory.plots import style
from lbtheory.plots.panels import trajectories

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

COLUMNS = {
    "workers": "G",
    "method": "method",
    "published": "I published, whole run",
    "imbalance": "I of the segment",
    "idle": "idle, token work",
}
"""Headings of `segment_table`."""


def segment_figure(rows: "pd.DataFrame", labels: Mapping[str, str], *, columns: int = 3) -> "Figure":
    """A panel a number of workers and policy; the number ends the title where there are several.

    Parameters
    ----------
    rows : DataFrame
    labels : mapping of str to str
        What to write for a policy.
    columns : int
        Panels beside each other.
    """
    several, names = rows["workers"].nunique() > 1, {}
    keys = [f"{p}{',' if ':' in p else ':'}workers={g}" for p, g in zip(rows["policy"], rows["workers"], strict=True)]
    for key, policy, workers in zip(keys, rows["policy"], rows["workers"], strict=True):
        if key not in names:
            name = labels.get(policy) or style.label(policy)
            names[key] = f"{name}, {workers}" if several else name
    return trajectories(rows.assign(policy=keys), labels=names, columns=columns)


def segment_table(rows: "pd.DataFrame", labels: Mapping[str, str], published: "pd.DataFrame | None" = None) -> "pd.DataFrame":
    """Mean ``I = G max L − Σ L`` of the segment and the share of token work lost at the barrier, by workers and policy.

    Parameters
    ----------
    rows : DataFrame
    labels : mapping of str to str
        What to write for a policy.
    published : DataFrame, optional
        Columns ``workers``, ``policy`` and ``published``.
    """
    import pandas as pd

    loads = rows[[c for c in rows.columns if c.startswith("worker_")]].astype(float)
    top, keys = loads.max(axis=1), ["workers", "policy"]
    each = rows[keys].assign(imbalance=rows["workers"] * top - loads.sum(axis=1), idle=1 - loads.mean(axis=1) / top)
    means = each.groupby(keys, sort=False).mean().reset_index()
    means["method"] = means["policy"].map(lambda name: labels.get(name, name))
    if published is None:
        return pd.DataFrame(means[[name for name in COLUMNS if name != "published"]])
    return pd.DataFrame(means.merge(published, on=keys, how="left")[list(COLUMNS)])


def segment_idle(rows: "pd.DataFrame") -> dict[str, float]:
    """Percent of token work lost at the barrier under the rules without options, by ``RULE_WORKERS``, for captions."""
    table = segment_table(rows, {})
    plain = table[~table["method"].str.contains(":")]
    return {f"{row.method.replace('-', '_')}_{row.workers}": 100 * row.idle for row in plain.itertuples()}
