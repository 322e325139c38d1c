"""Arrays inside results are read-only, so that a result cannot be changed by accident."""

from typing import Any

import numpy as np


def readonly(values: Any, dtype: Any = None) -> np.ndarray:
    """Return a read-only copy of ``values`` (a view when it is read-only already).

    Parameters
    ----------
    values : array_like
    dtype : numpy dtype, optional
        Type of the result; that of ``values`` by default.
    """
    array = np.asarray(values, dtype=dtype)
    if array.flags.writeable:
        array = array.copy()
        array.setflags(write=False)
    return array


def frozen(array: np.ndarray) -> np.ndarray:
    """The array itself, read-only from now on: for one just made, that nobody else holds."""
    array.setflags(write=False)
    return array
