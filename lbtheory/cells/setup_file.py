"""Everything about a simulation from one TOML file: the scenario (`lbtheory.cells.scenario_file`), and

::

    [parameters]              # optional: fields of `Parameters`
    queue = 16
    affinity = "conditional"
    autoscale = true

    [sessions]                # optional: fields of `Sessions`; without the table, no request is in a session
    share = 0.65

    [calibration]             # optional: closed loops of `--models calibrated`
    levels = [1, 3, 6, 9, 12, 16, 24]
    completions = 4000

    [[stage]]                 # optional: a policy schedule, which the command line calls `schedule`
    policy = "mnlb"

    [[stage]]
    policy = "flow-grad"
    start = 180.0
    ramp = 60.0
"""

from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from lbtheory.cells.calibration import COMPLETIONS, LEVELS
from lbtheory.cells.disruptions import disruption_rows
from lbtheory.cells.parameters import Parameters
from lbtheory.cells.policies import PolicySchedule, Stage, make_policy, make_schedule
from lbtheory.cells.scenario import Scenario, ScenarioError
from lbtheory.cells.scenario_file import SCENARIO_TABLES, SETUP_TABLES, build, scenario_of
from lbtheory.cells.sessions import Sessions
from lbtheory.core import InputError
from lbtheory.core.toml_file import Misplaced, check_keys, one_table, read_toml, tables


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """A scenario and how it is simulated.

    Attributes
    ----------
    scenario : Scenario
    parameters : Parameters
    sessions : Sessions or None
    schedule : PolicySchedule or None
    levels : tuple of float
        ``N/R`` of the closed loops of calibrated models.
    completions : int
        Counted a level.
    """

    scenario: Scenario
    parameters: Parameters
    sessions: Sessions | None
    schedule: PolicySchedule | None
    levels: tuple[float, ...]
    completions: int


def read_setup(path: str | Path, *, seed: int | None = None) -> Setup:
    """Read a file; see the module for its form.

    Parameters
    ----------
    path : path
    seed : int, optional
        In place of the file's.

    Raises
    ------
    FileFormatError
        Names the file and the line: TOML that cannot be parsed, unknown keys (with the nearest known one), and whatever the
        objects refuse, alone or together.
    """
    return read_toml(path, lambda data: _setup(data, seed, Path(path).parent))


def _setup(data: dict[str, Any], seed: int | None, folder: Path) -> Setup:
    check_keys(data, SCENARIO_TABLES + SETUP_TABLES, needed=("scenario",))
    p = build(Parameters, one_table(data, "parameters"), "parameters") if "parameters" in data else Parameters()
    sessions = build(Sessions, one_table(data, "sessions"), "sessions") if "sessions" in data else None
    if p.affinity != "none" and sessions is None:
        raise Misplaced("`affinity` needs [sessions]: without them there is nothing to be true to.", "parameters", "affinity")
    schedule = _schedule(data)
    levels, completions = _calibration(one_table(data, "calibration") if "calibration" in data else {})
    scenario = scenario_of(data, seed, folder, p.slots)
    try:
        disruption_rows(scenario, schedule or make_schedule("rand"), p)
    except ScenarioError as error:
        raise Misplaced(error, *error.where) from None
    return Setup(scenario=scenario, parameters=p, sessions=sessions, schedule=schedule, levels=levels, completions=completions)


def _schedule(data: dict[str, Any]) -> PolicySchedule | None:
    stages: list[Stage] = []
    for i, one in enumerate(tables(data, "stage")):
        try:
            policy = make_policy(one["policy"]) if "policy" in one else None
        except InputError as error:
            raise Misplaced(error, "stage", i, "policy") from None
        stages.append(build(Stage, {**one, "policy": policy} if policy else one, "stage", i))
        try:
            PolicySchedule(stages=tuple(stages))
        except InputError as error:
            raise Misplaced(error, "stage", i, "start") from None
    return PolicySchedule(stages=tuple(stages)) if stages else None


def _calibration(table: dict[str, Any]) -> tuple[tuple[float, ...], int]:
    check_keys(table, ("levels", "completions"), "calibration")
    levels, completions = table.get("levels", list(LEVELS)), table.get("completions", COMPLETIONS)
    if isinstance(completions, bool) or not isinstance(completions, int) or completions < 1:
        raise Misplaced(f"`completions` must be a whole number ≥ 1; got {completions!r}.", "calibration", "completions")
    good = isinstance(levels, list) and len(levels) >= 4
    for value in levels if good else ():
        good = good and isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) and value > 0
    if not good:
        raise Misplaced(f"`levels` must be at least 4 numbers > 0; got {levels!r}.", "calibration", "levels")
    return tuple(float(value) for value in levels), completions
