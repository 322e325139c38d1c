"""Checks of arguments that many functions share."""

from typing import Any

import numpy as np

from lbtheory.core.errors import ParameterError


def whole_number(name: str, function: str, value: Any, low: int) -> int:
    """``value`` as an int; raises `ParameterError` unless it is a whole number ≥ ``low`` (booleans are not numbers)."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
        raise ParameterError(f"`{name}` of `{function}` must be a whole number ≥ {low}; got {value!r}.")
    return int(value)
