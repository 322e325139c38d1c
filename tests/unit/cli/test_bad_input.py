"""Bad input: exit code 2 and one clear message that names the file, line or key, and the remedy."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.conftest import AZURE, ROWS, Call

Write = Callable[..., Path]
DECODE = ("decode", "--workers", 2, "--slots", 2, "--policy", "jsq")
MOONCAKE = '{"timestamp": 0, "input_length": 600, "output_length": 5, "hash_ids": [1, 2]}\n'


def refused(call: Call, *words: Any, says: list[str]) -> None:
    """Exit 2, nothing on standard output, no traceback, and a message with all these parts."""
    result = call(*words)
    assert result.code == 2, result.out
    assert result.out == "" and "Traceback" not in result.err
    for part in says:
        assert part in result.err


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"TIMESTAMP,ContextTokens\n2023-11-16 18:15:46,5\n", ["bad.csv, line 1", "GeneratedTokens", "--columns"]),
        ((AZURE + ROWS + "2023-11-16 18:15:52,3").encode(), ["bad.csv, line 5", "cut short", "Complete or remove"]),
        ((AZURE + "2023-11-16 18:15:46,nan,4\n").encode(), ["bad.csv, line 2", "ContextTokens must be finite"]),
        ((AZURE + ROWS + "2023-11-16 18:15:52,-3,4\n").encode(), ["bad.csv, line 5", "must not be negative"]),
        ((AZURE + "2023-11-16 18:15:46,3.5,4\n").encode(), ["bad.csv, line 2", "whole number", "Round"]),
        ((AZURE + "2023-11-16 18:15:46,1e30,4\n").encode(), ["bad.csv, line 2", "stay below", "Scale"]),
        ((AZURE + "2023-11-16 18:15:46,3,0\n").encode(), ["bad.csv, line 2", "zero output tokens", "--zero-outputs drop"]),
        ((AZURE + "yesterday,3,4\n").encode(), ["bad.csv, line 2", "yesterday"]),
        (AZURE.encode(), ["bad.csv", "no request"]),
        (b"", ["bad.csv", "empty"]),
        (bytes(range(256)) * 4, ["bad.csv", "UTF-8"]),
        (MOONCAKE.replace("[1, 2]", "[1]").encode(), ["bad.csv, line 1", "hash"]),
        (b'{"timestamp": 0, "input_length": 600, "output_le', ["bad.csv, line 1"]),
    ],
    ids=[
        "columns",
        "cut",
        "nan",
        "negative",
        "fraction",
        "overflow",
        "zero",
        "time",
        "header",
        "empty",
        "binary",
        "hashes",
        "json",
    ],
)
def test_bad_trace_files(call: Call, write: Write, content: bytes, says: list[str]) -> None:
    """The file and the line are named."""
    refused(call, *DECODE, "--trace", write(content, "bad.csv"), says=says)


def test_duplicate_ids(call: Call, write: Write) -> None:
    """Both lines are named."""
    head = "request_id,request_type,application_id,arrival_timestamp,batch_size,prompt_size,token_size\n"
    path = write(head + "7,2,0,0.5,1,10,3\n8,2,0,0.6,1,10,3\n7,2,0,0.7,1,10,3\n", "ids.csv")
    refused(call, *DECODE, "--trace", path, says=["ids.csv, line 4", "7", "line 2"])


def test_missing_file_and_folder(call: Call, tmp_path: Path) -> None:
    """What cannot be opened is named."""
    refused(call, *DECODE, "--trace", tmp_path / "no.csv", says=["no.csv", "Check the path"])
    refused(call, *DECODE, "--trace", tmp_path, says=[tmp_path.name, "directory"])
    refused(call, "trace", "describe", tmp_path / "no.csv", says=["no.csv"])
    refused(call, "solve", tmp_path / "no.json", says=["no.json"])


def test_bom_and_crlf_are_accepted(call: Call, write: Write, trace: Path) -> None:
    """The same trace, and so the same output."""
    text = (AZURE + ROWS).replace("\n", "\r\n")
    other = write(b"\xef\xbb\xbf" + text.encode(), "crlf.csv")
    words = (*DECODE, "--policy", "br0", "--json", "--trace")
    assert call(*words, other).json["policies"] == call(*words, trace).json["policies"]


def test_unsorted_and_mixed_time_stamps(call: Call, write: Write) -> None:
    """Sorted and counted; any number of fractional digits."""
    path = write(AZURE + "2023-11-16 18:15:48,5,2\n2023-11-16 18:15:46.5,6,1\n2023-11-16 18:15:47.1234567,7,1\n")
    result = call("trace", "describe", path, "--json").json
    assert result["requests"] == 3 and result["span"] == 1.5 and "sorted" in result["notes"]
    out = call(*DECODE, "--trace", path, "--json").json
    assert out["policies"]["jsq"]["finished"] == 3 and any("arrival" in note for note in out["config"]["notes"])


def test_zero_outputs_dropped_and_counted(call: Call, write: Write) -> None:
    """With ``--zero-outputs drop``."""
    path = write(AZURE + "2023-11-16 18:15:46,5,0\n" + ROWS)
    out = call(*DECODE, "--trace", path, "--zero-outputs", "drop", "--json").json
    assert out["requests"] == 3 and any("zero output" in note and "1" in note for note in out["config"]["notes"])


def test_hash_ids_are_kept_whole(call: Call, write: Write) -> None:
    """Ids that differ in their last bit stay different, and equal ones equal."""
    ids = [2**63 - 1, 2**63 - 2, 2**63 - 1]
    rows = [{"timestamp": k, "input_length": 5, "output_length": 2, "hash_ids": [i]} for k, i in enumerate(ids)]
    path = write("".join(json.dumps(row) + "\n" for row in rows), "hashes.jsonl")
    from lbtheory.decode.traces import read_trace

    keys = read_trace(path).keys
    assert keys is not None and keys[0] == keys[2] != keys[1]
    assert call(*DECODE, "--trace", path).code == 0


def test_empty_after_a_filter(call: Call, shared_data: Path) -> None:
    """The Azure 2023 conversation file has no output above 1,000 tokens."""
    path = shared_data / "azure_llm_2023" / "AzureLLMInferenceTrace_conv.csv.gz"
    refused(call, *DECODE, "--trace", path, "--outputs-above", 1000, says=["outputs_above(1000)", "1000 tokens", "19366"])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--policy", "levl-plus"), ["'levl-plus'", "Did you mean 'level-plus'?"]),
        (("--policy", "br0:greed=2"), ["'greed'", "Did you mean 'greedy'?"]),
        (("--policy", "br0:greedy=x"), ["`greedy`", "'x'"]),
        (("--policy", "br0:greedy"), ["key=value"]),
        (("--policy", "br0:overtake=-1"), ["`overtake`", "-1"]),
        (("--policy", "jsq:overtake=1"), ["`overtake`", "first come"]),
        (("--policy", "jsq"), ["same policy twice"]),
        (("--policy", "brh:gamma=2"), ["`gamma`", "2"]),
        (("--policy", "brh:predictor=oracel"), ["'oracel'", "oracle"]),
        (("--p", "1/4"), ["--prompts"]),
        (("--p", "1/4", "--prompts", "uniform:4"), ["not both"]),
        (("--level", 2), ["`level`", "0.95"]),
        (("--warmup", 10**6), ["`warmup`", "Shorten"]),
        (("--steps", 5, "--warmup", 5), ["`warmup`", "less than"]),
        (("--release", "saturated"), ["68 requests", "--queue"]),
        (("--release", "sometimes"), ["--release", "'sometimes'"]),
        (("--slo", "speed=1"), ["'speed'"]),
        (("--slo", "ttft=fast"), ["ttft=fast"]),
        (("--columns", "a=b"), ["'a'", "prompt"]),
        (("--format", "azur"), ["'azur'", "Did you mean 'azure'?"]),
        (("--time-unit", "s"), ["`time_unit`"]),
        (("--t-token", "nan"), ["`t_token`"]),
        (("--t-fixed", -1), ["`t_fixed`"]),
        (("--overtake", "often"), ["--overtake", "'often'"]),
        (("--start", "warm"), ["--start", "'warm'"]),
        (("--first", "x"), ["--first", "'x'"]),
        (("--first", 0), ["first"]),
        (("--time-slice", "5"), ["--time-slice"]),
        (("--rate-scale", 0), ["scale_rate"]),
        (("--prompt-cap", "100:hide"), ["hide"]),
        (("--engine", "fast"), ["`engine`", "compiled"]),
        (("--engine", "compiled", "--policy", "io"), ["'io'", "auto or plain"]),
        (("--records-format", "xml"), ["parquet or csv"]),
        (("--workers", 0), ["--workers"]),
        (("--prefill", "1:2"), ["--prefill", "WORKERS:BATCH"]),
    ],
)
def test_bad_options(call: Call, trace: Path, words: tuple[Any, ...], says: list[str]) -> None:
    """The option and what is allowed are named."""
    refused(call, *DECODE, "--trace", trace, *words, says=says)


@pytest.mark.parametrize("p", ["0", "1", "-1/4", "abc", "1/0", "nan"])
def test_bad_probabilities(call: Call, p: str) -> None:
    """``p`` in (0, 1), as a number or a fraction."""
    refused(call, *DECODE, "--p", p, "--prompts", "uniform:4", says=["`p`"])


@pytest.mark.parametrize("law", ["unifrom:4", "uniform:0", "uniform:4:2", "constant:x", "lognormal:5:1", "pmf:/none"])
def test_bad_laws(call: Call, law: str) -> None:
    """The legal forms, or the file, are named."""
    refused(
        call,
        *DECODE,
        "--p",
        "1/4",
        "--prompts",
        law,
        says=[law.partition(":")[2] if law.startswith("pmf") else "uniform:LO:HI"],
    )


def test_a_run_that_is_too_large(call: Call) -> None:
    """Refused before memory runs out."""
    words = ("decode", "--workers", 4096, "--slots", 4096, "--policy", "jsq", "--p", "1/4", "--prompts", "uniform:4")
    refused(call, *words, says=["50000000", "--steps"])


GOOD: dict[str, Any] = {"loads": [5, 0, 3], "free": [0, 1, 1], "waiting": [1, 1, 2, 2]}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"loads": [5, -1, 3]}, ["`loads`", "index 1"]),
        ({"free": [0, 1]}, ["`free`", "(3)", "got 2"]),
        ({"waiting": [1, 0]}, ["`waiting`", "index 1"]),
        ({"waiting": [1.5]}, ["`waiting`", "whole"]),
        ({"waiting": [True]}, ["`waiting`", "True"]),
        ({"waiting": "12"}, ["`waiting`", "list"]),
        ({"waiting": [10**16]}, ["`waiting`", "Scale"]),
        ({"waiting": [2**52] * 4}, ["too large", "Scale"]),
        ({"loads": []}, ["`loads`", "at least one worker"]),
        ({"weighting": [1]}, ["'weighting'", "Did you mean 'waiting'?"]),
        ({"projected": [[5, 6], [0, 0]]}, ["`projected`", "one row a worker"]),
        ({"projected": [[5, 6], [0], [3, 4]]}, ["`projected`", "equal length"]),
        ({"projected": [[5, 6], [1, 2], [3, 4]]}, ["`projected` row 1", "loads[1]"]),
        ({"gamma": 0}, ["`gamma`"]),
        ({"gamma": "x/2"}, ["`gamma`"]),
    ],
)
def test_bad_instances(call: Call, write: Write, change: dict[str, Any], says: list[str]) -> None:
    """The file and the key are named."""
    refused(call, "solve", write(GOOD | change, "instance.json"), says=["instance.json", *says])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"loads": [1], "free": [1]}', ["'waiting'", "missing"]),
        ('{"loads": [NaN], "free": [1], "waiting": [1]}', ["NaN"]),
        ('{"loads": [1],\n "free": [1}', ["line 2", "JSON"]),
        ("[1, 2]", ["one JSON object"]),
    ],
)
def test_bad_instance_files(call: Call, write: Write, text: str, says: list[str]) -> None:
    """Not JSON, or not an instance."""
    refused(call, "solve", write(text, "instance.json"), says=["instance.json", *says])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--time-limit", 0), ["time_limit"]),
        (("--time-limit", "nan"), ["time_limit"]),
        (("--horizon", 1), ["`horizon`", "between 0 and 0"]),
        (("--horizon", -1), ["`horizon`"]),
        (("--policy", "oi"), ["'oi'", "'io'"]),
        (("--compare", "br00"), ["'br00'", "'br0'"]),
        (("--compare", "level-h"), ["level-h", "level-plus"]),
        (("--tie", "odd"), ["tie", "lexicographic"]),
        (("--policy", "min-max", "--tie", "random"), ["--tie", "io"]),
        (("--policy", "spread-lex", "--method", "binary"), ["--method", "io"]),
        (("--tie", ""), ["tie", "lexicographic"]),
        (("--compare", "br0,jsq,br0"), ["--compare", "twice"]),
    ],
)
def test_bad_solve_options(call: Call, write: Write, words: tuple[Any, ...], says: list[str]) -> None:
    """The option and the remedy are named."""
    refused(call, "solve", write(GOOD, "instance.json"), *words, says=says)


def test_reproduce_refuses_unknown_ids(call: Call) -> None:
    """With the nearest name."""
    refused(call, "reproduce", "decode-tabel3", says=["decode-tabel3", "decode-table3"])
    refused(call, "reproduce", "gap", "--scale", "huge", says=["scale", "quick"])


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("2263-01-01 00:00:00,3,1", ["line 2", "2262"]),
        ("2023-11-16 18:15:46,3,549755813888", ["outputs", "Remove"]),
    ],
)
def test_extreme_rows(call: Call, write: Write, row: str, says: list[str]) -> None:
    """A time beyond 64-bit nanoseconds; an output that no calendar could hold."""
    refused(call, *DECODE, "--trace", write(AZURE + row + "\n"), says=says)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--slo", "ttft=nan"), ["--slo"]),
        (("--slo", "ttft=-1"), ["--slo"]),
        (("--slo", "ttft=1,ttft=2"), ["--slo"]),
        (("--overtake", "²"), ["--overtake"]),
        (("--policy", "br0:overtake=99999999999999999999"), ["`overtake`"]),
        (("--workers", 99_999_999_999), ["`workers`"]),
    ],
)
def test_extreme_options(call: Call, trace: Path, words: tuple[Any, ...], says: list[str]) -> None:
    """Refused before anything is computed."""
    refused(call, *DECODE, "--trace", trace, *words, says=says)


def test_records_are_checked_first(call: Call, trace: Path) -> None:
    """A file where the folder should be; a probability that is 0 as a double; JSON that is nested too deeply."""
    refused(call, *DECODE, "--trace", trace, "--records", trace, says=["--records", "can be written"])
    refused(call, *DECODE, "--p", "1e-400", "--prompts", "uniform:4", says=["`p`"])
    deep = trace.with_name("deep.json")
    deep.write_text("[" * 100_000, encoding="utf-8")
    refused(call, "solve", deep, says=["deep.json", "nested"])
