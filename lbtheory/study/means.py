"""Means over seeds, with the half-widths of independent runs combined in quadrature."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd


def over_seeds(
    data: "pd.DataFrame",
    keys: Sequence[str],
    means: Sequence[str],
    intervals: Sequence[str] = (),
    largest: Sequence[str] = (),
) -> "pd.DataFrame":
    """One row a group of equal ``keys``, in order of first appearance.

    Parameters
    ----------
    data : DataFrame
        One row a run; a quantity in ``intervals`` has columns ``NAME_low`` and ``NAME_high`` beside it.
    keys : sequence of str
    means : sequence of str
        Columns that are averaged; None counts as missing.
    intervals : sequence of str
        Columns that are averaged and get a half-width ``NAME_half``: the root of the sum of squares over the number of runs.
    largest : sequence of str
        Columns of which the largest is kept.
    """
    data = data.copy()
    for name in (*means, *intervals, *largest):
        data[name] = data[name].astype(float)
    for name in intervals:
        data[f"{name}_half"] = (data[f"{name}_high"].astype(float) - data[f"{name}_low"].astype(float)) / 2
    groups = data.groupby(list(keys), sort=False, dropna=False)
    result = groups[[*means, *intervals]].mean()
    for name in intervals:
        result[f"{name}_half"] = groups[f"{name}_half"].agg(lambda h: np.sqrt((h**2).sum()) / len(h)).fillna(0.0)
    for name in largest:
        result[name] = groups[name].max()
    return result.reset_index()


def cap_names(column: "pd.Series") -> "pd.Series":
    """Overtaking caps as text; ``none`` without one."""
    return column.map(lambda cap: "none" if cap is None or cap != cap else str(int(cap)))
