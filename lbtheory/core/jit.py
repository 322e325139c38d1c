"""How the kernels are compiled.

Kernels neither allocate nor keep arrays: these come from the driver, which owns them. So numba's reference counting (an atomic
operation at each access to a field of a tuple, each slice and many calls) is switched off; measured on an iteration of FCFS
with 256 workers it takes 20 µs of 22, and half of a step of the delay equations of ten cells. Compiled code is cached beside
the source.
"""

from collections.abc import Callable
from typing import Any

from numba import njit


def _compile(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        jit: Any = njit  # the stubs do not know the option
        try:
            return jit(cache=True, _nrt=False, **options)(function)
        except (KeyError, TypeError, NameError):  # a numba without it: correct, but slower
            return jit(cache=True, **options)(function)

    return decorate


kernel = _compile()
"""Decorator of the run loops and of larger functions."""

inlined = _compile(forceinline=True)
"""Decorator of small functions inside hot loops."""

arithmetic = _compile(error_model="numpy")
"""Decorator of kernels that calculate with floats: dividing by zero gives an infinity or NaN, as in NumPy, and no branch."""
