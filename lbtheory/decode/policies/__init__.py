"""Policies by name, one a file, and the reader of ``NAME[:key=value,…]``."""

from dataclasses import fields
from functools import cache
from typing import Any, get_type_hints

from lbtheory.core import ParameterError, UnknownNameError
from lbtheory.decode.options import read_option
from lbtheory.decode.policies.base import InformationSet as InformationSet
from lbtheory.decode.policies.base import Policy as Policy
from lbtheory.decode.policies.base import View as View
from lbtheory.decode.policies.base import view_of_instance as view_of_instance
from lbtheory.decode.predictors import PREDICTORS as PREDICTORS
from lbtheory.decode.predictors import History, Predictor, make_predictor


@cache
def known_policies() -> dict[str, type[Policy]]:
    """Every built-in policy by its name."""
    from lbtheory.decode.policies import (
        br0,
        brh,
        exact,
        fcfs,
        level,
        level_h,
        level_plus,
        level_x,
        separate,
        spread_lex,
        token_jsq,
    )

    classes: list[type[Policy]] = [
        fcfs.CountJsq,
        fcfs.RoundRobin,
        fcfs.RandomWorker,
        fcfs.PowerOfTwo,
        fcfs.VllmScore,
        token_jsq.TokenJsq,
        separate.SeparateQueues,
        br0.Br0,
        brh.BrH,
        level.Level,
        level_plus.LevelPlus,
        level_h.LevelH,
        level_x.LevelX,
        exact.ExactIo,
        exact.MinMax,
        spread_lex.SpreadLex,
    ]
    return {c.name: c for c in classes}


def options_of(name: str) -> dict[str, type]:
    """Options of a policy and their types."""
    hints = get_type_hints(known_policies()[name])
    return {f.name: hints[f.name] for f in fields(known_policies()[name]) if not f.name.startswith("_") and f.name != "history"}  # type: ignore[arg-type]


def make_policy(text: str, *, history: History | None = None, overtake: int | None = None, cap_all: bool = False) -> Policy:
    """A policy from ``NAME[:key=value,…]``.

    Parameters
    ----------
    text : str
        For example ``"brh:beta=14.67,gamma=0.64"`` or ``"level-plus:overtake=none"``.
    history : History, optional
        Finished requests for predictors and rules that learn from some.
    overtake : int, optional
        Cap ``D`` for policies that choose by size, where the text sets none and ``cap_all`` is true.
    cap_all : bool
        Whether ``overtake`` (also None, for no cap) replaces the policies' own defaults.

    Raises
    ------
    UnknownNameError, ParameterError
    """
    name, _, rest = text.partition(":")
    if name not in known_policies():
        raise UnknownNameError("policy", name, known_policies())
    cls, known = known_policies()[name], options_of(name)
    values: dict[str, Any] = {}
    for item in filter(None, rest.split(",")):
        key, equals, value = item.partition("=")
        if not equals:
            raise ParameterError(f"`--policy {text}`: {item!r} must be key=value. Options of {name!r}: {', '.join(known)}.")
        if key == "overtake" and not cls.sized:
            raise ParameterError(
                f"`overtake` does not apply to policy {name!r}: it admits first come, first served. Leave it out."
            )
        if key not in known:
            raise UnknownNameError(f"option of policy {name!r}", key, known)
        values[key] = _value(name, key, value, known[key], history)
    if cap_all and cls.sized:
        values.setdefault("overtake", overtake)
    if any(f.name == "history" for f in fields(cls)):  # type: ignore[arg-type]
        values["history"] = history
    return cls(**values)


def _value(policy: str, key: str, value: str, kind: Any, history: History | None) -> Any:
    """Read an option by its type."""
    if kind is Predictor:
        return make_predictor(value, history)
    return read_option(f"policy {policy!r}", key, value, kind)
