"""Traces made from arrays, and the filters."""

import numpy as np
import pytest

from lbtheory.core import EmptyTraceError, ParameterError, SizeOverflowError
from lbtheory.decode.traces import Note, Trace, cap_prompts, first, make_trace, outputs_above, scale_rate, time_slice


@pytest.fixture
def trace() -> Trace:
    return make_trace([10, 20, 30, 40], [1, 2, 3, 4], arrivals=[5, 6, 8, 9], keys=[2**64 - 1, 7, 2**64 - 1, 0], name="four")


def test_make_trace_sorts_shifts_and_freezes(trace) -> None:
    assert (trace.n, len(trace), trace.timed, trace.span, trace.rate) == (4, 4, True, 4.0, 1.0)
    assert trace.arrivals.tolist() == [0, 1, 3, 4] and trace.keys.dtype == np.uint64
    for array in (trace.prompts, trace.outputs, trace.arrivals, trace.keys):
        assert not array.flags.writeable
    with pytest.raises(AttributeError):
        trace.name = "other"
    late = make_trace([1, 2, 3], [1, 1, 1], arrivals=[2, 1, 1], keys=[5, 6, 7])
    assert late.prompts.tolist() == [2, 3, 1] and late.keys.tolist() == [6, 7, 5] and late.sorted_rows == 2
    lengths = make_trace(np.array([1.0, 2.0]), [1, 2])
    assert lengths.prompts.dtype == np.int64 and lengths.span is None and lengths.rate is None
    assert make_trace([1, 2], [1, 2], arrivals=[3, 3]).rate is None
    source = np.array([1, 2])
    kept = make_trace(source, source)
    source[0] = 9
    assert kept.prompts.tolist() == [1, 2]


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ({"prompts": [1, 0]}, ParameterError, "`prompts` of `make_trace` must be ≥ 1 tokens; got 0 at index 1"),
        ({"prompts": [1, -3]}, ParameterError, "got -3 at index 1"),
        ({"prompts": [1, 1.5]}, ParameterError, "finite whole numbers; got 1.5 at index 1"),
        ({"prompts": [1, float("nan")]}, ParameterError, "finite whole numbers; got nan at index 1"),
        ({"prompts": [1, float("inf")]}, ParameterError, "finite whole numbers; got inf at index 1"),
        ({"prompts": ["1", "2"]}, ParameterError, "must be a list of whole numbers"),
        ({"prompts": [True, False]}, ParameterError, "must be a list of whole numbers"),
        ({"prompts": [[1, 2], [3, 4]]}, ParameterError, "must be a list of whole numbers"),
        ({"prompts": [1, None]}, ParameterError, "must hold numbers only"),
        ({"prompts": [1, 2**40]}, SizeOverflowError, "below 1099511627776 tokens; got 1099511627776 at index 1"),
        ({"prompts": [1, 2**63]}, SizeOverflowError, "at index 1"),
        ({"prompts": [1, 2**70]}, SizeOverflowError, "at index 1"),
        ({"outputs": [0, 1]}, ParameterError, "got 0 at index 0. Drop such requests with zero_outputs='drop'"),
        ({"outputs": [1]}, ParameterError, r"as many entries as `prompts` \(2\); got 1"),
        ({"arrivals": [0, float("nan")]}, ParameterError, "finite seconds; got nan at index 1"),
        ({"arrivals": ["a", "b"]}, ParameterError, "list of numbers of seconds"),
        ({"arrivals": [0]}, ParameterError, "`arrivals` of `make_trace` must have as many"),
        ({"keys": [1.0, 2.0]}, ParameterError, "floats lose digits"),
        ({"keys": np.array([1.0, 2.0])}, ParameterError, "floats lose digits"),
        ({"keys": [-1, 2**63]}, ParameterError, "must fit 64 bits"),
        ({"keys": [2**64, 1]}, ParameterError, "must fit 64 bits"),
        ({"prompts": [], "outputs": []}, EmptyTraceError, "holds no request"),
        ({"zero_outputs": "no"}, ParameterError, "'refuse' or 'drop'"),
    ],
)
def test_make_trace_refuses(arguments, error, message) -> None:
    with pytest.raises(error, match=message):
        make_trace(**{"prompts": [1, 2], "outputs": [1, 2], **arguments})


def test_zero_outputs_of_arrays() -> None:
    got = make_trace([1, 2, 3], [0, 4, 0], arrivals=[0, 5, 6], keys=[1, 2, 3], zero_outputs="drop")
    assert (got.prompts.tolist(), got.keys.tolist(), got.arrivals.tolist(), got.dropped) == ([2], [2], [0], 2)
    with pytest.raises(EmptyTraceError):
        make_trace([1], [0], zero_outputs="drop")


def test_keys_keep_all_64_bits() -> None:
    for keys in ([2**63, 1], [2**64 - 1, 2**64 - 2], [-(2**63), 2**63 - 1], np.array([2**64 - 1, 3], dtype=np.uint64)):
        assert make_trace([1, 2], [1, 2], keys=keys).keys.tolist() == [int(k) for k in keys]


def test_filters_keep_and_note(trace) -> None:
    long = outputs_above(trace, 2)
    assert long.prompts.tolist() == [30, 40] and long.arrivals.tolist() == [0, 1] and long.dropped == 2
    assert str(long.notes[-1]) == "outputs_above(2): 2 of 4 requests were dropped"
    assert first(trace, 2).keys.tolist() == [2**64 - 1, 7] and first(trace, 9).n == 4
    part = time_slice(trace, 1, 4)
    assert part.prompts.tolist() == [20, 30] and part.arrivals.tolist() == [0, 2]
    fast = scale_rate(trace, 2)
    assert fast.arrivals.tolist() == [0, 0.5, 1.5, 2] and fast.rate == 2 and fast.dropped == 0
    assert [n.kind for n in scale_rate(part, 2).notes] == ["dropped", "changed"]
    assert trace.notes == (), "the trace that went in is as it was"


def test_cap_prompts(trace) -> None:
    refused = cap_prompts(trace, 25)
    assert refused.n + refused.refused == 4 and refused.refused == 2 and refused.dropped == 0
    assert cap_prompts(trace, 25, "drop").dropped == 2
    cut = cap_prompts(trace, 25, "truncate")
    assert cut.prompts.tolist() == [10, 20, 25, 25] and cut.notes[-1] == Note(
        kind="truncated", count=2, what="cap_prompts(25): 2 prompts were cut to 25 tokens"
    )
    with pytest.raises(EmptyTraceError, match=r"cap_prompts\(9\).*smallest prompt has 10 tokens; all 4 requests were refused"):
        cap_prompts(trace, 9)
    with pytest.raises(ParameterError, match="'refuse', 'drop' or 'truncate'; got 'keep'"):
        cap_prompts(trace, 9, "keep")  # type: ignore[arg-type]


def test_filters_refuse(trace) -> None:
    lengths = make_trace([1], [1])
    for call in (
        lambda: time_slice(lengths, 0, 1),
        lambda: scale_rate(lengths, 2),
        lambda: time_slice(trace, 2, 2),
        lambda: time_slice(trace, float("nan"), 2),
        lambda: scale_rate(trace, 0),
        lambda: scale_rate(trace, float("inf")),
        lambda: scale_rate(trace, 1e-320),
        lambda: first(trace, 0),
        lambda: first(trace, 1.5),
        lambda: outputs_above(trace, -1),
        lambda: cap_prompts(trace, 0),
    ):
        with pytest.raises(ParameterError):
            call()
    with pytest.raises(EmptyTraceError, match=r"time_slice\(10, 20\).*spans 0 to 4 s; all 4 requests were dropped"):
        time_slice(trace, 10, 20)
    with pytest.raises(EmptyTraceError, match=r"outputs_above\(4\).*longest output has 4 tokens"):
        outputs_above(trace, 4)
    with pytest.raises(EmptyTraceError):
        trace.select([])
