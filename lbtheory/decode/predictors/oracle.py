"""Oracle: ``min(r_i, cap)`` from the trace."""

from typing import ClassVar

import numpy as np

from lbtheory.decode.predictors.base import InFlight, Predictor


class Oracle(Predictor):
    """Perfect forecasts, a reference."""

    name: ClassVar[str] = "oracle"
    oracle: ClassVar[bool] = True

    def predict(self, flight: InFlight, cap: int) -> np.ndarray:
        """``min(r_i, cap)``."""
        assert flight.remaining is not None
        return np.minimum(flight.remaining, cap).astype(float)
