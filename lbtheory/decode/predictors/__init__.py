"""Forecasts of completions for look-ahead policies, one predictor a file, and the reader of ``NAME[/key=value…]``."""

from inspect import signature
from typing import Any, get_type_hints

from lbtheory.core import ParameterError, UnknownNameError
from lbtheory.decode.options import read_option
from lbtheory.decode.predictors.base import CurveTable as CurveTable
from lbtheory.decode.predictors.base import Forecast as Forecast
from lbtheory.decode.predictors.base import ForecastTable as ForecastTable
from lbtheory.decode.predictors.base import History as History
from lbtheory.decode.predictors.base import InFlight as InFlight
from lbtheory.decode.predictors.base import Predictor as Predictor
from lbtheory.decode.predictors.base import Requests as Requests
from lbtheory.decode.predictors.exact_match import ExactMatch as ExactMatch
from lbtheory.decode.predictors.learned import Learned as Learned
from lbtheory.decode.predictors.noisy import NoisyOracle as NoisyOracle
from lbtheory.decode.predictors.oracle import Oracle as Oracle
from lbtheory.decode.predictors.survival import Survival as Survival

_KNOWN: dict[str, type[Predictor]] = {p.name: p for p in (Oracle, NoisyOracle, Survival, ExactMatch, Learned)}
PREDICTORS = tuple(_KNOWN)
"""Every built-in predictor by its name."""


def make_predictor(text: str, history: History | None = None) -> Predictor:
    """A predictor from ``NAME[/key=value…]``, for example ``"noisy/error=0.3"`` or ``"exact-match/key=prompt/minimum=20"``.

    Parameters
    ----------
    text : str
    history : History, optional
        Finished requests, for predictors that learn from some.

    Raises
    ------
    UnknownNameError, ParameterError
    """
    name, *items = text.split("/")
    if name not in _KNOWN:
        raise UnknownNameError("predictor", name, PREDICTORS)
    cls = _KNOWN[name]
    hints = {} if cls.__init__ is object.__init__ else get_type_hints(cls.__init__)
    known = {k: hints[k] for k in signature(cls).parameters if k != "history" and k in hints}
    values: dict[str, Any] = {}
    for item in items:
        key, equals, value = item.partition("=")
        if not equals:
            raise ParameterError(f"`predictor={text}`: {item!r} must be key=value. Options of {name!r}: {', '.join(known)}.")
        if key not in known:
            raise UnknownNameError(f"option of predictor {name!r}", key, known)
        values[key] = read_option(f"predictor {name!r}", key, value, known[key])
    if "history" in signature(cls).parameters:
        if history is None:
            raise ParameterError(f"`predictor={name}` needs a history of finished requests; got none.")
        return cls(history, **values)  # type: ignore[call-arg]
    return cls(**values)
