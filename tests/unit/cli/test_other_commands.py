"""``lbtheory solve``, ``trace describe``, ``reproduce --list`` and start-up."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Call

KEYS = ["policy", "status", "objective", "bound", "gap", "assignment", "loads", "imbalance", "seconds"]
INSTANCE = {"loads": [5, 0, 3], "free": [0, 1, 1], "waiting": [1, 1, 2, 2]}


def test_solve_with_comparison(call: Call, write: Callable[..., Path]) -> None:
    """The smallest case in which IO_0 and SpreadLex differ: I = 3 at loads (5, 2, 5)."""
    path = write(INSTANCE, "instance.json")
    names = "br0,brh:horizon=0,beta=3,level-plus,jsq,token-jsq,spread-lex"
    out = call("solve", path, "--compare", names, "--json").json
    assert list(out) == [*KEYS, "compare"]
    assert (out["status"], out["objective"], out["bound"], out["gap"]) == ("optimal", 3, 3, 0)
    assert out["loads"] == [5, 2, 5] and out["imbalance"] == 3 and out["assignment"][0] == []
    assert list(out["compare"]) == ["br0", "brh:horizon=0,beta=3", "level-plus", "jsq", "token-jsq", "spread-lex"]
    for answer in out["compare"].values():
        assert list(answer) == KEYS and answer["bound"] == 3 and answer["gap"] == answer["objective"] - 3 >= 0
    assert out["compare"]["spread-lex"]["objective"] == 4


def test_solve_over_a_window(call: Call, write: Callable[..., Path]) -> None:
    """γ is read as a fraction: objectives at 9/10 are exact tenths, and ``--horizon`` cuts the window."""
    projected = [[5, 6, 0], [0, 0, 0], [3, 4, 5]]
    path = write(INSTANCE | {"projected": projected, "gamma": 0.9}, "instance.json")
    whole, cut = call("solve", path, "--json").json, call("solve", path, "--horizon", 0, "--json").json
    assert whole["gap"] == 0 and whole["status"] == "optimal" and cut["objective"] == 3
    assert whole["objective"] * 100 == pytest.approx(round(whole["objective"] * 100))


def test_solve_time_limit_is_a_status(call: Call, write: Callable[..., Path]) -> None:
    """A limit that is reached exits 0, with a gap."""
    import numpy as np

    rng = np.random.default_rng(0)
    hard = {
        "loads": rng.integers(10_000, 40_000, 8).tolist(),
        "free": [8] * 8,
        "waiting": rng.integers(1, 4_001, 128).tolist(),
    }
    result = call("solve", write(hard, "hard.json"), "--time-limit", "0.05", "--tie", "none", "--json")
    assert result.code == 0 and result.json["status"] in ("feasible", "optimal")
    assert result.json["gap"] == result.json["objective"] - result.json["bound"] >= 0


@pytest.mark.parametrize("policy", ["io", "min-max", "spread-lex"])
def test_solve_one_worker(call: Call, write: Callable[..., Path], policy: str) -> None:
    """At ``G = 1`` the imbalance is 0."""
    path = write({"loads": [4], "free": [2], "waiting": [3, 1, 2]}, "one.json")
    out = call("solve", path, "--policy", policy, "--json").json
    assert out["imbalance"] == 0 and out["gap"] == 0 and len(out["assignment"][0]) == 2


def test_solve_table(call: Call, write: Callable[..., Path]) -> None:
    """For people."""
    result = call("solve", write(INSTANCE, "instance.json"), "--compare", "jsq")
    assert result.code == 0 and "optimal" in result.out and "worker 1" in result.out and "jsq" in result.out
    assert "settled by enumeration, ties lexicographic" in result.out


def test_solve_table_keeps_the_exact_row_beside_the_policy_of_that_name(call: Call, write: Callable[..., Path]) -> None:
    """The policy ``io`` has ``H = 0`` by default; the answer over the window is another one."""
    path = write(INSTANCE | {"projected": [[5, 6, 0], [0, 0, 0], [3, 4, 5]], "lives": [1, 2, 3, 3]}, "instance.json")
    out = call("solve", path, "--compare", "io").out
    assert "io, exact" in out and "optimal" in out and "feasible" in out


def test_describe(call: Call, shared_data: Path) -> None:
    """The published statistics of the Azure 2023 conversation trace."""
    path = shared_data / "azure_llm_2023" / "AzureLLMInferenceTrace_conv.csv.gz"
    out = call("trace", "describe", path, "--json").json
    assert list(out)[:7] == ["format", "requests", "prompt", "output", "rate", "span", "problems"]
    assert out["format"] == "azure" and out["requests"] == 19_366 and out["problems"] == []
    assert round(out["prompt"]["mean"], 1) == 1154.7 and round(out["output"]["mean"], 1) == 211.1
    assert round(out["rate"], 2) == 5.53 and round(out["span"], 1) == 3501.7
    assert "19,366 requests" in call("trace", "describe", path).out


def test_describe_lists_problems(call: Call, write: Callable[..., Path]) -> None:
    """Bad rows with their lines; the rest is described."""
    path = write("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46,5,3\n2023-11-16 18:15:47,x,3\n")
    out = call("trace", "describe", path, "--json").json
    assert out["requests"] == 1 and [problem["line"] for problem in out["problems"]] == [3]
    assert "line 3" in call("trace", "describe", path).out


def test_reproduce_lists_artefacts(call: Call) -> None:
    """The three artefacts of the decode core."""
    ids = {row["id"] for row in call("reproduce", "--list", "--json").json["artefacts"]}
    assert {"decode-table3", "decode-fig4", "gap"} <= ids
    assert "decode-table3" in call("reproduce", "--list").out


def test_help_answers_at_once() -> None:
    """No heavy library is imported for ``--help``."""
    began = time.perf_counter()
    shown = subprocess.run([sys.executable, "-m", "lbtheory.cli", "--help"], capture_output=True, text=True, check=True)
    assert time.perf_counter() - began < 3 and "decode" in shown.stdout
    heavy = "{'numba', 'ortools', 'pandas', 'matplotlib', 'scipy', 'pyarrow'}"
    script = f"import sys, lbtheory.cli; print({heavy} & set(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "set()"


def test_version(call: Call) -> None:
    """``--version``."""
    import lbtheory

    assert call("--version").out.strip() == lbtheory.__version__


def test_study_commands(call: Call, tmp_path: Path) -> None:
    """Status of an empty folder, nothing to resume, nothing to clean."""
    rows = call("study", "status", "--out", tmp_path, "--json").json["experiments"]
    assert {row["id"] for row in rows} >= {"decode-table3", "gap"} and all(row["stored"] == 0 for row in rows)
    assert "decode-fig4" in call("study", "status", "--out", tmp_path).out
    nothing = call("study", "resume", "--out", tmp_path)
    assert nothing.code == 2 and "lbtheory reproduce" in nothing.err
    assert call("reproduce", "decode-fig4", "--out", tmp_path / "made", "--engine", "serial").code == 0
    again = call("study", "resume", "--out", tmp_path / "made", "--json")
    assert again.code == 0 and {one["id"] for one in again.json["made"]} == {"decode-fig4"} and "1/1" in again.err
    assert call("study", "clean", "--out", tmp_path, "--json").json == {"removed": 0}
    listed = call("reproduce", "--list", "--out", tmp_path, "--json").json["artefacts"]
    assert all(row["state"] == "missing" and row["full_seconds"] >= row["quick_seconds"] > 0 for row in listed)
