"""How good forecasts are, before any policy uses them (decode paper, EC.6: accuracy by age).

Requests of a later part of a trace are looked at after ``0, ΔT, 2ΔT, … < O`` iterations; the truth is ``min(r, H)`` and
``1{r ≤ H}``. The area under the curve (AUC) is the chance that of a request that finishes within ``H`` and one that does not
the first has the larger ``p̂_fin``, ties counted half (Mann and Whitney, 1947); it is None where one kind is missing.
"""

from dataclasses import dataclass

import numpy as np

from lbtheory.core import ParameterError
from lbtheory.decode.predictors.base import InFlight, Predictor, Requests

BINS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """Errors on one set of looks: ``ĉ`` in iterations, ``p̂_fin`` as a probability.

    ``calibration`` has one row a tenth of [0, 1]: looks, mean ``p̂_fin``, share that finished (NaN where there are no looks).
    """

    looks: int
    finishing: float
    mae: float
    rmse: float
    bias: float
    brier: float
    auc: float | None
    calibration: np.ndarray


def looks(requests: Requests, every: int) -> tuple[InFlight, np.ndarray]:
    """Requests at ages ``0, every, …`` below their output length, and their remaining lengths."""
    if requests.outputs is None or len(requests) == 0:
        raise ParameterError("`requests` of `looks` must have outputs, and at least one request.")
    counts = -(-requests.outputs // every)
    who = np.repeat(np.arange(len(requests)), counts)
    ages = every * (np.arange(len(who)) - np.repeat(np.cumsum(counts) - counts, counts))
    remaining = requests.outputs[who] - ages
    keys = None if requests.keys is None else requests.keys[who]
    return InFlight(ids=who, ages=ages, prompts=requests.prompts[who], keys=keys, remaining=remaining), remaining


def accuracy(predictor: Predictor, flight: InFlight, remaining: np.ndarray, horizon: int, chosen: np.ndarray) -> Accuracy:
    """Errors of a predictor on the chosen looks (a mask).

    Parameters
    ----------
    predictor : Predictor
    flight, remaining
        From `looks`.
    horizon : int
        ``H ≥ 1``.
    chosen : bool array
        At least one look.
    """
    if not chosen.any():
        raise ParameterError("`chosen` of `accuracy` must name at least one look.")
    truth, ends = np.minimum(remaining, horizon)[chosen], (remaining <= horizon)[chosen]
    error = predictor.predict(flight, horizon)[chosen] - truth
    chance = predictor.finishing(flight, horizon)[chosen]
    return Accuracy(
        looks=len(truth),
        finishing=float(ends.mean()),
        mae=float(np.abs(error).mean()),
        rmse=float(np.sqrt((error**2).mean())),
        bias=float(error.mean()),
        brier=float(((chance - ends) ** 2).mean()),
        auc=area(chance, ends),
        calibration=_calibration(chance, ends),
    )


def area(chance: np.ndarray, ends: np.ndarray) -> float | None:
    """AUC from ranks; ties share theirs."""
    from scipy.stats import rankdata

    yes = int(ends.sum())
    no = len(ends) - yes
    if yes == 0 or no == 0:
        return None
    return float((rankdata(chance)[ends].sum() - yes * (yes + 1) / 2) / (yes * no))


def _calibration(chance: np.ndarray, ends: np.ndarray) -> np.ndarray:
    place = np.minimum((chance * BINS).astype(int), BINS - 1)
    rows = np.full((BINS, 3), np.nan)
    for b in range(BINS):
        here = place == b
        rows[b, 0] = here.sum()
        if here.any():
            rows[b, 1:] = chance[here].mean(), ends[here].mean()
    return rows
