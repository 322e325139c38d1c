"""Policies by time: a roll-out from one to the next, at once or as a ramp.

Written ``mnlb,flow-grad@180`` (a switch at 180 s) or ``disc-rif,disc-grad@60+120`` (from 60 s on a share of the requests that
grows linearly to all at 180 s). A name alone is a schedule of one policy.
"""

import re
from dataclasses import dataclass
from math import isfinite

from lbtheory.cells.policies.base import Policy
from lbtheory.core import ParameterError, UnknownNameError


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """From ``start`` on, a share of the requests that grows linearly to 1 in ``ramp`` seconds goes by ``policy``.

    The others go by the stage before. Flow routing starts each of its stages in proportion to the replicas.
    """

    policy: Policy
    start: float = 0.0
    ramp: float = 0.0

    def __post_init__(self) -> None:
        for name in ("start", "ramp"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or value < 0:
                raise ParameterError(f"`{name}` of a stage must be finite seconds ≥ 0; got {value!r}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySchedule:
    """Stages by time; the first starts at 0 without a ramp, and each after the ramp before it has ended."""

    stages: tuple[Stage, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "stages", tuple(self.stages))
        if not self.stages:
            raise ParameterError("`stages` of `PolicySchedule` must hold at least one stage; got none.")
        if self.stages[0].start != 0 or self.stages[0].ramp != 0:
            raise ParameterError("the first stage of a policy schedule must start at 0 without a ramp: it has none before it.")
        end = 0.0
        for k, stage in enumerate(self.stages[1:], 1):
            if stage.start < end or stage.start <= self.stages[k - 1].start:
                raise ParameterError(
                    f"`start` of stage {k} ({stage.policy.name}) must be after the stage before it and its ramp ({end:g} s); "
                    f"got {stage.start:g}."
                )
            end = stage.start + stage.ramp

    @property
    def name(self) -> str:
        """As it is written."""
        parts = [self.stages[0].policy.name]
        for stage in self.stages[1:]:
            parts.append(f"{stage.policy.name}@{stage.start:.12g}" + (f"+{stage.ramp:.12g}" if stage.ramp else ""))
        return ",".join(parts)

    @property
    def policies(self) -> tuple[Policy, ...]:
        """Of the stages."""
        return tuple(stage.policy for stage in self.stages)

    @property
    def needs_model(self) -> bool:
        """Whether some policy does."""
        return any(policy.needs_model for policy in self.policies)


_STAGE = re.compile(r"\s*([^@,+\s]+)\s*(?:@\s*([0-9.eE]+)\s*(?:\+\s*([0-9.eE]+))?)?\s*")


def parse_schedule(text: str, known: dict[str, Policy]) -> PolicySchedule:
    """A schedule as it is written.

    Raises
    ------
    UnknownNameError
        With the nearest name.
    ParameterError
        Not of the form ``NAME,NAME@START+RAMP,…``, or what `PolicySchedule` refuses.
    """
    if not isinstance(text, str):
        raise ParameterError(f"a policy must be given as a text; got {text!r}.")
    stages = []
    for k, part in enumerate(text.split(",")):
        found = _STAGE.fullmatch(part)
        if found is None or (k > 0) != (found[2] is not None):
            raise ParameterError(
                f"a policy must be NAME, or a schedule NAME,NAME@START[+RAMP],… in seconds; got {text!r}. "
                "Example: mnlb,flow-grad@180+60"
            )
        if found[1] not in known:
            raise UnknownNameError("policy", found[1], known)
        try:
            start, ramp = float(found[2] or 0), float(found[3] or 0)
        except ValueError:
            raise ParameterError(f"times of a policy schedule must be numbers of seconds; got {part.strip()!r}.") from None
        stages.append(Stage(policy=known[found[1]], start=start, ramp=ramp))
    return PolicySchedule(stages=tuple(stages))
