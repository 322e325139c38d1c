"""Traces: what is written is read back by every reader, and filters lose no request without counting it."""

import csv
import gzip
import io
import json
from collections.abc import Callable
from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lbtheory.core import EmptyTraceError
from lbtheory.decode.traces import cap_prompts, describe, first, make_trace, outputs_above, read_trace, scale_rate, time_slice

QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

rows = st.lists(
    st.tuples(
        st.integers(1, 2**40 - 1),  # prompt
        st.integers(1, 10_000),  # output
        st.integers(0, 10**6),  # arrival in ms
        st.integers(0, 2**64 - 1),  # key
    ),
    min_size=1,
    max_size=25,
).map(lambda found: sorted(found, key=lambda row: row[2]))


def table(header: str, lines: list[list]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header.split(","))
    writer.writerows(lines)
    return out.getvalue()


def seconds(ms: int) -> str:
    return f"{ms // 1000}.{ms % 1000:03d}"


def stamp(ms: int) -> str:
    return (datetime(2023, 11, 16) + timedelta(milliseconds=ms)).isoformat(sep=" ")


WRITERS: dict[str, Callable[[list], str]] = {
    "azure": lambda r: table("TIMESTAMP,ContextTokens,GeneratedTokens", [[stamp(t), p, o] for p, o, t, _ in r]),
    "burstgpt": lambda r: table(
        "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type",
        [[seconds(t), "GPT-4", p, o, p + o, 'API "log", x'] for p, o, t, _ in r],
    ),
    "vidur": lambda r: table("arrived_at,num_prefill_tokens,num_decode_tokens", [[seconds(t), p, o] for p, o, t, _ in r]),
    "splitwise": lambda r: table(
        "request_id,request_type,application_id,arrival_timestamp,batch_size,prompt_size,token_size",
        [[i, 2, 0, seconds(t), 1, p, o] for i, (p, o, t, _) in enumerate(r)],
    ),
    "mooncake": lambda r: "".join(
        json.dumps({"timestamp": t, "input_length": p, "output_length": o}) + "\n" for p, o, t, _ in r
    ),
    "llmservingsim": lambda r: "".join(
        json.dumps({"input_toks": p, "output_toks": o, "arrival_time_ns": t * 10**6}) + "\n" for p, o, t, _ in r
    ),
    "plain-json": lambda r: json.dumps(
        {"data": [{"input_length": p, "output_length": o, "arrival": t / 1000} for p, o, t, _ in r]}
    ),
}


@pytest.mark.parametrize("form", WRITERS)
@QUICK
@given(found=rows, packed=st.booleans(), bom=st.booleans(), crlf=st.booleans())
def test_round_trip(tmp_path, form: str, found: list, packed: bool, bom: bool, crlf: bool) -> None:
    data = WRITERS[form](found).encode()
    data = (b"\xef\xbb\xbf" if bom else b"") + (data.replace(b"\n", b"\r\n") if crlf else data)
    path = tmp_path / "trace"
    path.write_bytes(gzip.compress(data) if packed else data)
    trace = read_trace(path)
    start = found[0][2]
    assert trace.format == form
    assert list(zip(trace.prompts.tolist(), trace.outputs.tolist(), strict=True)) == [(p, o) for p, o, _, _ in found]
    assert trace.arrivals.tolist() == [(t - start) / 1000 for _, _, t, _ in found]
    d = describe(path)
    assert (d.requests, d.problem_count, d.prompt.max) == (len(found), 0, max(p for p, *_ in found))


@QUICK
@given(found=rows, order=st.randoms(use_true_random=False))
def test_shuffled_rows_with_keys(tmp_path, found: list, order) -> None:
    order.shuffle(found)
    path = tmp_path / "trace"
    path.write_text(table("when,p,o,id", [[t, p, o, k] for p, o, t, k in found]))
    trace = read_trace(path, columns="arrival=when,prompt=p,output=o,key=id", time_unit="ms")
    want = sorted(found, key=lambda row: row[2])
    assert trace.keys.tolist() == [k for *_, k in want] and trace.prompts.tolist() == [p for p, *_ in want]
    highest = np.maximum.accumulate([t for _, _, t, _ in found])
    assert trace.sorted_rows == sum(t < top for (_, _, t, _), top in zip(found[1:], highest, strict=False))


@QUICK
@given(found=rows, data=st.data())
def test_filters_conserve_counts(found: list, data) -> None:
    p, o, t, k = (list(column) for column in zip(*found, strict=True))
    trace = make_trace(p, o, arrivals=np.array(t) / 1000, keys=k)
    steps = [
        lambda x: outputs_above(x, data.draw(st.integers(0, 10_001))),
        lambda x: first(x, data.draw(st.integers(1, 30))),
        lambda x: cap_prompts(x, data.draw(st.integers(1, 2**40)), data.draw(st.sampled_from(["refuse", "drop", "truncate"]))),
        lambda x: time_slice(x, data.draw(st.floats(0, 500)), data.draw(st.floats(500.5, 1001))),
        lambda x: scale_rate(x, data.draw(st.floats(0.01, 100))),
    ]
    current = trace
    for step in data.draw(st.permutations(steps)):
        before = current
        try:
            current = step(before)
        except EmptyTraceError:
            continue
        assert len(current.notes) == len(before.notes) + 1
        assert current.arrivals[0] == 0 and np.all(np.diff(current.arrivals) >= 0)
        assert set(current.keys.tolist()) <= set(before.keys.tolist())
    assert current.n + current.dropped + current.refused == trace.n == len(found)


@QUICK
@given(text=st.text(max_size=200), good=st.booleans())
def test_any_text_is_read_or_refused_by_name(tmp_path, text: str, good: bool) -> None:
    from lbtheory.core import InputError

    path = tmp_path / "trace"
    path.write_bytes((("num_prefill_tokens,num_decode_tokens\n" if good else "") + text).encode(errors="surrogatepass"))
    for call in (read_trace, describe):
        try:
            call(path)
        except InputError as error:
            assert str(path) in str(error)
