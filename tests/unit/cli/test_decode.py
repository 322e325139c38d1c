"""``lbtheory decode``: what it prints, its defaults, real traces."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lbtheory.decode.traces import read_trace
from tests.unit.cli.conftest import Call

LAW = ("decode", "--workers", 2, "--slots", 4, "--p", "1/4", "--prompts", "uniform:8", "--steps", 400, "--warmup", 50)
INTERVAL = {"mean", "ci"}
METRICS: dict[str, Any] = {
    "finished": int,
    "iterations": int,
    "tokens": int,
    "imbalance_sum": INTERVAL,
    "imbalance_range": INTERVAL,
    "barrier_idle": float,
    "barrier_idle_time": float,
    "balance_ratio": float,
    "throughput": float,
    "tpot": {"mean", "p50", "p95", "p99", "undefined"},
    "tpot_iteration": {"mean", "p50", "p95", "p99", "undefined"},
    "ttft": {"mean", "p50", "p95", "p99"},
    "wait": {"mean", "p99", "max"},
    "wait_iterations": {"mean", "p99", "max"},
    "refused": int,
    "occupancy": float,
    "occupancy_max": int,
}


def test_keys_and_types(call: Call) -> None:
    """Every promised key, with the promised shape; the string as typed is the policy's key."""
    names = ["jsq", "br0:greedy=2", "level-plus", "brh:beta=14.67,gamma=0.64,horizon=5,predictor=survival"]
    result = call(*LAW, *[word for name in names for word in ("--policy", name)], "--json")
    assert result.code == 0 and result.err == ""
    out = result.json
    assert list(out["policies"]) == names and list(out["paired"]) == names[1:]
    for metrics in out["policies"].values():
        for key, shape in METRICS.items():
            assert set(metrics[key]) == shape if isinstance(shape, set) else isinstance(metrics[key], shape), key
    for pair in out["paired"].values():
        assert set(pair) == {"imbalance_sum_ratio", "imbalance_sum_difference"}
        assert all(set(value) == INTERVAL for value in pair.values())
    assert out["config"]["warmup"] == 50 and out["config"]["level"] == 0.95 and out["config"]["seed"] == 0
    assert out["config"]["overtake"] == dict(zip(names, [None, None, 64, None], strict=True))


def test_policies_that_solve_say_what_they_proved(call: Call) -> None:
    """Decisions, those without proof and what they may lose; in the table a line."""
    words = ("decode", "--workers", 3, "--slots", 8, "--p", "1/10", "--prompts", "uniform:50", "--steps", 40, "--warmup", 0)
    rules = ("--policy", "jsq", "--policy", "io", "--policy", "spread-lex:time_limit=1e-9")
    proofs = call(*words, *rules, "--json").json["proofs"]
    assert list(proofs) == ["io", "spread-lex:time_limit=1e-9"]
    assert proofs["io"]["unproved"] == proofs["io"]["gap"] == 0 < proofs["io"]["decisions"] <= 40
    limited = proofs["spread-lex:time_limit=1e-9"]
    assert 0 < limited["unproved"] <= limited["decisions"] and limited["gap"] >= 0
    shown = call(*words, *rules).out
    assert f"io: {proofs['io']['decisions']} decisions, {proofs['io']['decisions']} proved optimal\n" in shown
    assert f"the other {limited['unproved']} may lose" in shown


def test_defaults_of_a_saturated_run(call: Call) -> None:
    """20,000 iterations, 2,000 of warm-up, 64 waiting."""
    out = call("decode", "--workers", 2, "--slots", 2, "--p", "0.5", "--prompts", "uniform:3", "--policy", "jsq", "--json").json
    config = out["config"]
    assert (config["steps"], config["warmup"], config["queue"], config["release"]) == (20_000, 2_000, 64, "saturated")
    assert (config["t_fixed"], config["t_token"], config["t_mean"]) == (0.0523, 3.9e-7, 0)
    assert out["policies"]["jsq"]["iterations"] == 20_000 and out["policies"]["jsq"]["occupancy"] == 1


def test_short_saturated_runs_leave_out_half(call: Call) -> None:
    """The default warm-up is never longer than the run."""
    words = ("--workers", 2, "--slots", 2, "--p", "0.5", "--prompts", "uniform:3", "--policy", "jsq", "--steps", 101, "--json")
    config = call("decode", *words).json["config"]
    assert (config["steps"], config["warmup"]) == (101, 50)


def test_pairs_agree_with_the_means(call: Call) -> None:
    """Reference ÷ policy and reference − policy; the same seed gives the same output, another one does not."""
    words = (*LAW, "--policy", "jsq", "--policy", "br0", "--json")
    out = call(*words).json
    a, b = (out["policies"][name]["imbalance_sum"]["mean"] for name in ("jsq", "br0"))
    pair = out["paired"]["br0"]
    assert pair["imbalance_sum_ratio"]["mean"] == pytest.approx(a / b)
    assert pair["imbalance_sum_difference"]["mean"] == pytest.approx(a - b)
    assert pair["imbalance_sum_difference"]["ci"][0] > 0, "BR-0 is better on common random numbers"
    assert call(*words).json == out
    assert call(*words, "--seed", 1).json["policies"] != out["policies"]


@pytest.mark.parametrize(
    "words",
    [
        ("--release", "batched:5:2"),
        ("--release", "poisson:1.5"),
        ("--release", "poisson-clock:20"),
        ("--release", "poisson-clock:20", "--prefill", "2:4:0.05:1e-3"),
        ("--release", "bursts:30,10,60:20,7,1"),
        ("--release", "saturated", "--queue", 5, "--start", "residual"),
    ],
)
def test_release_forms(call: Call, words: tuple[Any, ...]) -> None:
    """Every request of the stream finishes once, whatever the releases (saturated streams end when they cannot refill)."""
    out = call(
        "decode", "--workers", 3, "--slots", 4, "--p", "1/5", "--prompts", "uniform:9", "--requests", 100, *words,
        "--warmup", 0, "--policy", "jsq", "--policy", "level-plus", "--json",
    ).json  # fmt: skip
    for metrics in out["policies"].values():
        assert metrics["finished"] == 100 or (words[1] == "saturated" and metrics["stopped"] == "exhausted")
        assert metrics["occupancy_max"] <= 4


def test_overtaking_cap_and_objectives(call: Call) -> None:
    """``--overtake`` replaces every policy's own cap; goodput counts the requests that meet all objectives."""
    words = (*LAW, "--policy", "br0", "--policy", "level", "--policy", "level:overtake=9", "--json")
    assert list(call(*words, "--overtake", 3).json["config"]["overtake"].values()) == [3, 3, 9]
    assert list(call(*words, "--overtake", "none").json["config"]["overtake"].values()) == [None, None, 9]
    free, strict = (call(*words, "--slo", slo).json["policies"]["br0"]["goodput"] for slo in ("ttft=1e9", "ttft=1.7,tpot=1"))
    assert free > strict > 0
    assert call(*words).json["policies"]["br0"]["goodput"] is None


def test_overtake_zero_is_fcfs_order(call: Call) -> None:
    """At ``D = 0`` nobody is overtaken: longest waits are those of FCFS."""
    out = call(*LAW, "--policy", "jsq", "--policy", "br0:overtake=0", "--json").json["policies"]
    assert out["br0:overtake=0"]["wait_iterations"] == out["jsq"]["wait_iterations"]


def test_records_are_written(call: Call, tmp_path: Path) -> None:
    """One folder a policy with both tables."""
    import pandas as pd

    for form in ("parquet", "csv"):
        folder = tmp_path / form
        result = call(
            *LAW, "--policy", "jsq", "--policy", "br0:greedy=2", "--records", folder, "--records-format", form, "--json"
        )
        files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.*"))
        assert files == [f"{name}/{table}.{form}" for name in ("br0_greedy=2", "jsq") for table in ("iterations", "requests")]
        read = pd.read_parquet if form == "parquet" else pd.read_csv
        table = read(folder / "jsq" / f"iterations.{form}")
        assert len(table) == 400 and {"load_0", "load_1", "imbalance_sum", "imbalance_range", "waiting"} <= set(table.columns)
        mean = result.json["policies"]["jsq"]["imbalance_sum"]["mean"]
        assert table["imbalance_sum"][50:].mean() == pytest.approx(mean)


def test_table_for_the_terminal(call: Call, trace: Path) -> None:
    """Without ``--json`` a table with a row a policy."""
    result = call("decode", "--workers", 2, "--slots", 2, "--trace", trace, "--policy", "jsq", "--policy", "token-jsq")
    assert result.code == 0 and "3 requests" in result.out
    assert all(name in result.out for name in ("jsq", "token-jsq", "imbalance", "longest wait"))


@pytest.mark.parametrize(
    ("file", "requests"),
    [
        ("azure_llm_2023/AzureLLMInferenceTrace_conv.csv.gz", 19_366),
        ("mooncake_fast25/conversation_trace.jsonl.gz", 12_031),
    ],
)
def test_public_traces_replay_whole(call: Call, shared_data: Path, file: str, requests: int) -> None:
    """Every request finishes once, tokens are conserved, occupancy stays within B, pairs carry intervals."""
    path = shared_data / file
    names = ["jsq", "rr", "random", "p2c", "token-jsq", "level-plus", "br0", "brh"]
    words = [word for name in names for word in ("--policy", name)]
    out = call("decode", "--workers", 8, "--slots", 32, "--trace", path, *words, "--json").json
    tokens = int(np.sum(read_trace(path).outputs))
    assert out["requests"] == requests
    for metrics in out["policies"].values():
        assert metrics["finished"] == requests and metrics["tokens"] == tokens and metrics["occupancy_max"] <= 32
    for pair in out["paired"].values():
        assert all(value["ci"][0] < value["mean"] < value["ci"][1] for value in pair.values())


def test_refused_prompts_are_counted(call: Call, trace: Path) -> None:
    """admitted + refused = n."""
    words = ("decode", "--workers", 2, "--slots", 2, "--trace", trace, "--policy", "jsq", "--json")
    out = call(*words, "--prompt-cap", 380).json
    assert out["requests"] == 3
    assert out["policies"]["jsq"]["finished"] == 2 and out["policies"]["jsq"]["refused"] == 1
    assert any("cap_prompts(380)" in note for note in out["config"]["notes"])
