"""Filters say what they removed, keep counts, and refuse to leave nothing."""

import numpy as np
import pytest

from lbtheory.core import EmptyTraceError, ParameterError
from lbtheory.decode.traces import Trace, cap_prompts, first, make_trace, outputs_above, scale_rate, time_slice


@pytest.fixture
def trace() -> Trace:
    """Six requests."""
    return make_trace([5, 50, 500, 5, 60, 7], [10, 20, 30, 40, 50, 60], arrivals=[0.0, 1, 2, 2, 4, 8], keys=[1, 2, 3, 1, 5, 6])


def test_each_filter_keeps_and_counts(trace: Trace) -> None:
    """Kept and removed requests add up; arrivals count from the first kept; keys go along."""
    cases = [
        (outputs_above(trace, 30), [3, 4, 5], [0, 2, 6]),
        (first(trace, 2), [0, 1], [0, 1]),
        (time_slice(trace, 1, 4), [1, 2, 3], [0, 1, 1]),
        (cap_prompts(trace, 50, "drop"), [0, 1, 3, 5], [0, 1, 2, 8]),
    ]
    for kept, index, arrivals in cases:
        assert kept.prompts.tolist() == trace.prompts[index].tolist() and kept.outputs.tolist() == trace.outputs[index].tolist()
        assert kept.arrivals is not None and kept.arrivals.tolist() == arrivals
        assert kept.keys is not None and trace.keys is not None and kept.keys.tolist() == trace.keys[index].tolist()
        assert kept.n + kept.dropped == 6 and f"{kept.dropped} of 6" in str(kept.notes[-1])


def test_prompts_above_a_capacity(trace: Trace) -> None:
    """Refused ones are counted apart: admitted + refused = n; truncated ones stay."""
    refused = cap_prompts(trace, 50)
    assert (refused.n, refused.refused, refused.dropped) == (4, 2, 0)
    cut = cap_prompts(trace, 50, "truncate")
    assert cut.n == 6 and cut.prompts.tolist() == [5, 50, 50, 5, 50, 7] and "2 prompts were cut" in str(cut.notes[-1])
    twice = outputs_above(refused, 20)
    assert twice.n + twice.refused + twice.dropped == 6


def test_rates(trace: Trace) -> None:
    """Twice the rate halves every time and removes nothing."""
    fast = scale_rate(trace, 2)
    assert fast.arrivals is not None and trace.arrivals is not None and trace.rate is not None
    assert np.allclose(fast.arrivals, trace.arrivals / 2) and fast.rate == pytest.approx(2 * trace.rate)


@pytest.mark.parametrize(
    ("apply", "says"),
    [
        (lambda t: outputs_above(t, 60), r"outputs_above\(60\).*longest output has 60.*all 6 requests"),
        (lambda t: time_slice(t, 100, 200), r"time_slice\(100, 200\).*0 to 8 s"),
        (lambda t: cap_prompts(t, 4), r"cap_prompts\(4\).*smallest prompt has 5"),
    ],
)
def test_nothing_left_is_an_error(trace: Trace, apply, says: str) -> None:  # type: ignore[no-untyped-def]
    """It names the filter and what it removed."""
    with pytest.raises(EmptyTraceError, match=says):
        apply(trace)


@pytest.mark.parametrize(
    "apply",
    [
        lambda t: outputs_above(t, -1),
        lambda t: first(t, 0),
        lambda t: first(t, 1.5),
        lambda t: time_slice(t, 3, 3),
        lambda t: time_slice(t, float("nan"), 3),
        lambda t: scale_rate(t, 0),
        lambda t: scale_rate(t, float("inf")),
        lambda t: cap_prompts(t, 0),
        lambda t: cap_prompts(t, 9, "hide"),
    ],
)
def test_bad_arguments(trace: Trace, apply) -> None:  # type: ignore[no-untyped-def]
    """Named errors."""
    with pytest.raises(ParameterError):
        apply(trace)


def test_times_are_needed() -> None:
    """A slice or a rate of a trace without times."""
    lengths = make_trace([1, 2], [1, 2])
    for apply in (lambda t: time_slice(t, 0, 1), lambda t: scale_rate(t, 2)):
        with pytest.raises(ParameterError, match="lengths only"):
            apply(lengths)
