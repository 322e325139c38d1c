"""Options of policies and predictors, read from text by their type."""

from types import UnionType
from typing import Any, get_args

from lbtheory.core import ParameterError


def read_option(owner: str, key: str, value: str, kind: Any) -> Any:
    """The value of option ``key`` of ``owner`` (for example ``policy 'brh'``) as its type says.

    Raises
    ------
    ParameterError
    """
    kinds = get_args(kind) if isinstance(kind, UnionType) else (kind,)
    try:
        if type(None) in kinds and value.lower() in ("none", "auto"):
            return None
        if bool in kinds:
            return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[value.lower()]
        if int in kinds:
            return int(value)
        if float in kinds:
            return float(value)
    except (ValueError, KeyError):
        wanted = " or ".join("none" if k is type(None) else k.__name__ for k in kinds)
        raise ParameterError(f"`{key}` of {owner} must be {wanted}; got {value!r}.") from None
    return value
