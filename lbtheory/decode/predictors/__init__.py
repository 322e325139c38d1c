"""Forecasts of completions for look-ahead policies."""

from lbtheory.decode.predictors.base import Forecast as Forecast
from lbtheory.decode.predictors.base import ForecastTable as ForecastTable
from lbtheory.decode.predictors.base import History as History
from lbtheory.decode.predictors.base import InFlight as InFlight
from lbtheory.decode.predictors.base import Predictor as Predictor
from lbtheory.decode.predictors.oracle import Oracle as Oracle
from lbtheory.decode.predictors.survival import Survival as Survival
