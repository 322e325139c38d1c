"""Short trials of random scenarios of cells, for the empirical claims about routing between them."""

import warnings
from collections.abc import Sequence
from typing import Any

from lbtheory.cells import Event, Parameters, Scenario, sample_scenario
from lbtheory.cells.calibration import oracle_models
from lbtheory.cells.summary import Summary, compare_policies
from lbtheory.fluid.rates import Softplus
from lbtheory.verify.laboratory import Laboratory

CELLS = 6
WARMUP, DURATION = 20.0, 80.0
COMPLETIONS = 1000
"""Of each closed loop that the latency models are calibrated with."""


def scenario_of(laboratory: Laboratory, name: str, k: int, **changes: Any) -> Scenario:
    """The ``k``-th random scenario of a claim; ``changes`` are keywords of `sample_scenario`, which leave all other draws."""
    seed = int(laboratory.rng(name, k).integers(2**31))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return sample_scenario(seed, **{"cells": CELLS, "duration": DURATION, "warmup": WARMUP, **changes})


def trial(
    scenario: Scenario,
    policies: Sequence[str],
    *,
    events: tuple[Event, ...] = (),
    models: list[Softplus] | None = None,
    parameters: Parameters | None = None,
) -> dict[str, Summary]:
    """One trial of these policies and of random routing, by default with models calibrated before the events."""
    known = models or oracle_models(scenario, completions=COMPLETIONS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        disturbed = scenario.changed(events=events) if events else scenario
        return compare_policies(disturbed, policies, models=known, parameters=parameters).trials[0]
