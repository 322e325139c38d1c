"""Versions of tasks: part of the name under which results are stored."""

from collections.abc import Callable
from typing import TypeVar

Function = TypeVar("Function", bound=Callable[..., object])


def task_version(number: int) -> Callable[[Function], Function]:
    """Mark a task's version: raise it whenever a change alters its records, so that stored results are made again."""

    def mark(function: Function) -> Function:
        function.task_version = number  # type: ignore[attr-defined]
        return function

    return mark
