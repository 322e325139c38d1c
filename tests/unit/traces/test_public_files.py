"""The public files give the statistics that their README states."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from lbtheory.core import EmptyTraceError
from lbtheory.decode.traces import describe, outputs_above, read_trace

VIDUR = "vidur_arxiv_summarization/arxiv_summarization_stats_llama2_tokenizer_filtered_v2.csv.gz"
FILES = [
    # path, format, rows, prompt (mean, p50, p95, p99, max), output (…), span, rate, outputs > 1000
    (
        "azure_llm_2023/AzureLLMInferenceTrace_conv.csv.gz",
        "azure",
        19366,
        (1154.7, 1020, 4083, 4142, 14050),
        (211.1, 129, 451, 601, 1000),
        3501.7,
        5.530,
        0,
    ),
    (
        "azure_llm_2023/AzureLLMInferenceTrace_code.csv.gz",
        "azure",
        8819,
        (2047.8, 1469, 7303, 7436, 7437),
        (27.9, 13, 90, 251, 1899),
        3435.9,
        2.567,
        2,
    ),
    (
        "mooncake_fast25/conversation_trace.jsonl.gz",
        "mooncake",
        12031,
        (12035.1, 6909, 39550, 85400, 126195),
        (342.6, 350, 698, 1119, 2000),
        3537.0,
        3.402,
        161,
    ),
    (
        "mooncake_fast25/synthetic_trace.jsonl.gz",
        "mooncake",
        3993,
        (15325.5, 11587, 48905, 66456, 191378),
        (149.1, 69, 519, 768, 893),
        1022.0,
        3.907,
        0,
    ),
    (VIDUR, "vidur", 28257, (2588.1, 2730, 3813, 3933, 4054), (291.4, 167, 736, 3271, 4056), None, None, 1241),
    (
        "etalon_lengths/bwb_stats_llama2_tokenizer_filtered_v2.csv.gz",
        "vidur",
        33768,
        (1067.2, 1037, 1584, 1800, 3504),
        (1612.8, 1601, 2342, 2533, 2858),
        None,
        None,
        32154,
    ),
]


@pytest.mark.parametrize("path, form, rows, prompt, output, span, rate, long", FILES, ids=[f[0].split("/")[-1] for f in FILES])
def test_statistics(shared_data, path, form, rows, prompt, output, span, rate, long) -> None:
    d = describe(shared_data / path)
    assert (d.format, d.requests, d.problem_count, d.sorted_rows, d.dropped) == (form, rows, 0, 0, 0)
    for summary, want in ((d.prompt, prompt), (d.output, output)):
        assert summary.mean == pytest.approx(want[0], abs=0.051)
        assert [summary.p50, summary.p95, summary.p99] == pytest.approx(want[1:4], abs=0.51)
        assert summary.max == want[4]
    assert d.span == (None if span is None else pytest.approx(span, abs=0.051))
    assert d.rate == (None if rate is None else pytest.approx(rate, abs=0.001))
    trace = read_trace(shared_data / path)
    assert int((trace.outputs > 1000).sum()) == long
    assert trace.timed == (span is not None)


def test_gap_variation_and_whole_lists(shared_data) -> None:
    azure = read_trace(shared_data / "azure_llm_2023/AzureLLMInferenceTrace_conv.csv.gz")
    gaps = np.diff(azure.arrivals)
    assert gaps.std() / gaps.mean() == pytest.approx(1.09, abs=0.005)
    assert len(np.unique(azure.arrivals)) == azure.n and azure.keys is None
    mooncake = read_trace(shared_data / "mooncake_fast25/conversation_trace.jsonl.gz")
    assert len(np.unique(mooncake.arrivals)) == 1180
    assert mooncake.n - len(np.unique(mooncake.keys)) == 118, "requests whose whole hash list was seen before"
    synthetic = read_trace(shared_data / "mooncake_fast25/synthetic_trace.jsonl.gz")
    assert synthetic.n - len(np.unique(synthetic.keys)) == 213


def test_named_columns(shared_data) -> None:
    apex = read_trace(
        shared_data / "apex_traces/llama_lmsys_05.csv.gz",
        columns="arrival=start_time_offset_ns,prompt=prompt_tokens,output=output_tokens,key=prompt_id",
        time_unit="ns",
    )
    assert (apex.n, len(np.unique(apex.keys)), apex.prompts.max()) == (1024, 996, 1037)
    assert apex.span == pytest.approx(2023.5, abs=0.05) and apex.rate == pytest.approx(0.506, abs=0.001)
    servegen = read_trace(
        shared_data / "servegen_deepseek_r1/synthetic_10000.csv.gz",
        columns={"arrival": "arrival_s", "prompt": "prompt_tokens", "output": "output_tokens", "key": "client"},
    )
    assert servegen.prompts.mean() == pytest.approx(941.1, abs=0.05)
    assert servegen.span == pytest.approx(749.8, abs=0.05)
    assert (servegen.keys == 35).mean() == pytest.approx(0.56, abs=0.005), "integer keys are kept as they are"


def test_bom_and_line_ends_change_nothing(shared_data, tmp_path: Path) -> None:
    raw = gzip.decompress((shared_data / "azure_llm_2023/AzureLLMInferenceTrace_conv.csv.gz").read_bytes())
    assert b"\r\n" in raw and not raw.endswith(b"\n")
    want = read_trace(shared_data / "azure_llm_2023/AzureLLMInferenceTrace_conv.csv.gz")
    unix = raw.replace(b"\r\n", b"\n")
    for i, data in enumerate((raw, unix, b"\xef\xbb\xbf" + raw, b"\xef\xbb\xbf" + unix + b"\n")):
        path = tmp_path / f"{i}.csv"
        path.write_bytes(data)
        got = read_trace(path)
        assert np.array_equal(got.prompts, want.prompts) and np.array_equal(got.outputs, want.outputs)
        assert np.array_equal(got.arrivals, want.arrivals)


def test_the_2024_filter_leaves_the_2023_file_empty(shared_data) -> None:
    trace = read_trace(shared_data / "azure_llm_2023/AzureLLMInferenceTrace_conv.csv.gz")
    with pytest.raises(EmptyTraceError, match=r"outputs_above\(1000\).*longest output has 1000 tokens; all 19366"):
        outputs_above(trace, 1000)
