"""Projected loads that a policy is shown: capped forecasts, what a window tells, refresh rules, arrivals since."""

from typing import ClassVar

import numpy as np
import pytest

from lbtheory.decode.engine import simulate
from lbtheory.decode.instance import Assignment
from lbtheory.decode.policies import View, make_policy
from lbtheory.decode.policies.brh import BrH
from lbtheory.decode.policies.exact import ExactIo
from lbtheory.decode.predictors import Forecast, History
from lbtheory.decode.stream import request_stream
from lbtheory.decode.traces.releases import at_iterations

HISTORY = History(prompts=np.array([3, 3, 3, 3]), outputs=np.array([1, 2, 2, 5]))


def shown(text: str, outputs: list[int], releases: list[int], workers: int = 1, slots: int = 2) -> dict[int, Forecast]:
    """The forecast of every iteration in which requests of 10 tokens each are admitted."""
    seen: dict[int, Forecast] = {}
    base = make_policy(text, history=HISTORY)
    assert isinstance(base, BrH | ExactIo)

    class Recorder(type(base)):  # type: ignore[misc]
        """The policy, remembering what it saw."""

        name: ClassVar[str] = "recorder"

        def assign(self, view: View, rng: np.random.Generator) -> Assignment:
            """Remember and decide."""
            seen[view.iteration] = view.forecast
            return type(base).assign(self, view, rng)

    options = {name: getattr(base, name) for name in ("horizon", "refresh", "cap", "predictor", "gamma")}
    requests = request_stream(np.full(len(outputs), 10), np.array(outputs), at_iterations(releases))
    simulate(requests, Recorder(**options), workers=workers, slots=slots, engine="plain")
    return seen


@pytest.mark.parametrize(("cap", "last"), [(0, 13), (1, 0)])
def test_the_cap_tells_departure_at_the_edge_only_above_it(cap: int, last: int) -> None:
    """With ``r = H = 2`` a forecast of ``min(r, H)`` keeps the request at ``h = H``; of ``min(r, H + 1)`` it does not."""
    seen = shown(f"brh:horizon=2,cap={cap},refresh=iteration", [3, 1], [1, 2])
    assert [row[0] for row in seen[2].loads] == [11, 12, last]


@pytest.mark.parametrize("rule", ["brh", "io"])
def test_a_departure_inside_the_window_is_seen(rule: str) -> None:
    """``r = 1`` of two: active at offset 0 only; the other stays."""
    seen = shown(f"{rule}:horizon=3,refresh=iteration", [2, 9, 1], [1, 1, 2], slots=3)
    assert [row[0] for row in seen[2].loads] == [22, 12, 13, 14]
    assert seen[2].next_departure == [1] and seen[2].leaving == [0, 1, 0, 0]


@pytest.mark.parametrize("rule", ["brh", "io"])
def test_the_window_shrinks_between_refreshes(rule: str) -> None:
    """Forecasts at 1 and 4 for ``H = 3``: at 2 and 3 the window reaches 2 and 1, and arrivals since the refresh stay."""
    seen = shown(f"{rule}:horizon=3", [2, 1, 1, 1, 1], [1, 2, 3, 4, 5], slots=5)
    assert [len(seen[k].loads) - 1 for k in (1, 2, 3, 4, 5)] == [3, 2, 1, 3, 2]
    assert [row[0] for row in seen[2].loads] == [11, 12, 13], "admitted at 1, after the refresh: taken to stay"
    assert [row[0] for row in seen[5].loads] == [0, 0, 0]


def test_a_request_that_outlived_its_forecast_stays_at_offset_zero() -> None:
    """``max(1, ĉ − j)``: the survival forecast at age 2 is 3, at 5 past all history 1; loads at offset 0 are always whole."""
    seen = shown("brh:horizon=4,predictor=survival", [9] + [1] * 7, [1, 2, 3, 4, 5, 6, 7, 8], slots=9)
    # Refreshed at 1 and 5 with age 4: N(4) = 1, N(5) = 0, so ĉ = 1 and the request is projected to leave at 6.
    assert [row[0] for row in seen[5].loads] == [14, 0, 0, 0, 0]
    assert [row[0] for row in seen[6].loads] == [15, 0, 0, 0]
    assert [row[0] for row in seen[8].loads] == [17, 0]


def test_survival_forecasts_round_up_to_whole_offsets() -> None:
    """At age 1, ``ĉ = (3 + 1 + 1 + 1)/3 = 2`` for ``H ≥ 4``: active at offsets 0 and 1, gone from 2."""
    seen = shown("brh:horizon=4,predictor=survival,refresh=iteration", [9, 1, 1], [1, 2, 3], slots=3)
    assert [row[0] for row in seen[2].loads] == [11, 12, 0, 0, 0]
    # At age 2: N = 1, 1, 1, 0, so ĉ = 3.
    assert [row[0] for row in seen[3].loads] == [12, 13, 14, 0, 0]


@pytest.mark.parametrize(("refresh", "beside"), [("window", 1), ("iteration", 0)])
def test_io_decides_by_what_its_refresh_rule_shows(refresh: str, beside: int) -> None:
    """Loads 13 and 11 when 3 tokens arrive; the 13 leave next, which only a forecast made anew can tell.

    Taken to stay: 13, 14 grow alike, ``I_h = 1``. Told: beside the 13, ``I = 5, 8, 8, 8``, beside the 11, ``1, 16, 18, 20``.
    """
    requests = request_stream(np.array([12, 10, 3]), np.array([2, 9, 9]), at_iterations([1, 1, 2]))
    run = simulate(requests, make_policy(f"io:horizon=3,refresh={refresh}"), workers=2, slots=2, engine="plain")
    assert run.requests.worker[2] == run.requests.worker[beside] != run.requests.worker[1 - beside]
