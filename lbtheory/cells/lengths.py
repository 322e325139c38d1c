"""Lengths of requests from a trace: prompt and output drawn together, so that what ties them stays."""

from dataclasses import dataclass

import numpy as np

from lbtheory.core import ParameterError, readonly
from lbtheory.decode.traces import Trace

Array = np.ndarray

LARGEST = 2**31 - 1
"""Tokens of a request, at most: the engine's table holds 32 bits."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TraceLengths:
    """Pairs of prefill and decode tokens, of which requests draw with replacement; the order and times of a trace are not used.

    Parameters
    ----------
    prefill, decode : int array (m,)
        Tokens, each from 1 to `LARGEST`; at least one pair.
    name : str
        Of the trace.

    Raises
    ------
    ParameterError
    """

    prefill: Array
    decode: Array
    name: str = "trace"

    def __post_init__(self) -> None:
        for key in ("prefill", "decode"):
            values = np.asarray(getattr(self, key))
            if values.ndim != 1 or not len(values) or values.dtype.kind not in "iu":
                raise ParameterError(f"`{key}` of `TraceLengths` must be whole numbers in one dimension, at least one.")
            for i in np.nonzero((values < 1) | (values > LARGEST))[0]:
                raise ParameterError(
                    f"`{key}` of `TraceLengths` must be from 1 to {LARGEST} tokens; got {values[i]} at index {i}."
                )
            object.__setattr__(self, key, readonly(values.astype(np.int32)))
        if len(self.prefill) != len(self.decode):
            raise ParameterError(
                f"`prefill` and `decode` of `TraceLengths` must be as long; got {len(self.prefill)} and {len(self.decode)}."
            )

    @classmethod
    def of(cls, trace: Trace) -> "TraceLengths":
        """Those of a trace that `read_trace` or `make_trace` gave."""
        return cls(prefill=trace.prompts, decode=trace.outputs, name=trace.name)

    @property
    def means(self) -> tuple[float, float]:
        """Mean prefill and decode tokens."""
        return float(self.prefill.mean()), float(self.decode.mean())

    def draw(self, rng: np.random.Generator, size: int) -> tuple[Array, Array]:
        """Prefill and decode tokens of ``size`` requests, int32 arrays (size,)."""
        at = rng.integers(0, len(self.prefill), size)
        return self.prefill[at], self.decode[at]
