"""Claims on flow routing: each holds, and a broken statement of each is found."""

import importlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lbtheory.verify import Laboratory, Outcome
from lbtheory.verify.ledger import all_claims

LABORATORY = Laboratory()


def weakened(name: str, factor: float) -> Callable[[Any, Any], None]:
    """Multiply a side of the claim."""

    def apply(module: Any, patch: pytest.MonkeyPatch) -> None:
        side = getattr(module, name)
        patch.setattr(module, name, lambda one: factor * side(one))

    return apply


def returning(name: str, value: Any) -> Callable[[Any, Any], None]:
    """Put a constant in place of a side."""

    def apply(module: Any, patch: pytest.MonkeyPatch) -> None:
        patch.setattr(module, name, lambda *given: value)

    return apply


def without_faces(module: Any, patch: pytest.MonkeyPatch) -> None:
    """Project onto the hyperplane ``Σ u = 0`` only."""
    patch.setattr(module, "tangent_projection", lambda x, z: z - z.mean())


def without_slack(module: Any, patch: pytest.MonkeyPatch) -> None:
    """An identity that forgets a tenth of its right side."""
    side = module.lyapunov

    def short(*given: Any) -> Any:
        found = side(*given)
        return replace(found, residual=found.change - 0.9 * (found.change - found.residual))

    patch.setattr(module, "lyapunov", short)


def only_gaps(module: Any, patch: pytest.MonkeyPatch) -> None:
    """The corollary without the workloads that drain."""
    patch.setattr(module, "right", lambda run: run.measured.left_bounded - 1.0)


BROKEN: dict[str, Callable[[Any, Any], None]] = {
    "flow-tangent": without_faces,
    "flow-stationarity": returning("defect", 0.0),
    "flow-drift": without_slack,
    "flow-lemma-4": returning("least", 1.0),
    "flow-proposition-1": lambda module, patch: patch.setattr(module, "TWO", 0.5),
    "flow-lemma-8": returning("tail_right", -1.0),
    "flow-theorem-1": weakened("right", 0.1),
    "flow-theorem-1b": weakened("right", 0.25),
    "flow-theorem-2": weakened("right", 0.05),
    "flow-theorem-3": weakened("right", 0.01),
    "flow-corollary": only_gaps,
    "flow-lower-bound": returning("left", np.inf),
    "flow-condition-s": weakened("bound", 40.0),
}


def test_every_flow_claim_is_here() -> None:
    """One broken statement for each claim on flow routing."""
    assert set(BROKEN) == {name for name in all_claims() if name.startswith("flow-")}


HEAVY = {"flow-drift", "flow-lemma-4", "flow-lemma-8", "flow-theorem-2", "flow-condition-s", "flow-theorem-3"}


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow) if name in HEAVY else name for name in BROKEN])
def test_a_broken_claim_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Violated, with a negative margin and a reason."""
    module = importlib.import_module(f"lbtheory.verify.claims.{name.replace('-', '_')}")
    BROKEN[name](module, monkeypatch)
    verdict = module.check(LABORATORY)
    assert verdict.outcome is Outcome.VIOLATED and verdict.reason
    assert verdict.margin is not None and verdict.margin < 0
