"""`lbtheory fluid`: keys, every routing, saving, files with an initial state, and bad input."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.conftest import Call

NETWORK = """
[[cell]]
name = "west"
arrival_rate = 1.6
replicas = 4
rate = {family = "mm1", capacity = 2.0, half = 1.0}
[[cell]]
name = "east"
arrival_rate = 0.9
rate = {family = "softplus", a = 1.0, b = 0.1, k = 8.0, w = 2.0}
[[source]]
name = "edge"
arrival_rate = 0
[network]
latency = [[0.0, 0.1], [0.1, 0.0], [0.2, 0.2]]
allowed = [["west", "east"], ["east"], ["east"]]
[initial]
workloads = [3, 0.5]
routing = [[0.25, 0.75], [0, 1], [0, 1]]
workload_history = [2.0, 0.5]
"""
KEYS = {"times", "workloads", "routing", "distance", "gap", "regret", "settling_time", "amplitude", "period", "notes"}


@pytest.fixture
def network(tmp_path: Path) -> Path:
    """A file with an initial state and a source at rest."""
    path = tmp_path / "network.toml"
    path.write_text(NETWORK)
    return path


ROUTINGS = [
    ("flow", ["--eta", 0.1]),
    ("flow-projected", ["--eta", 0.1]),
    ("flow-periodic", ["--eta", 0.1, "--period", 0.5]),
    ("discrete", []),
    ("fixed", []),
    ("mnlb", []),
    ("random", []),
]


@pytest.mark.parametrize(("routing", "more"), ROUTINGS, ids=[name for name, _ in ROUTINGS])
def test_keys(call: Call, network: Path, tmp_path: Path, routing: str, more: list[Any]) -> None:
    """Every routing gives every key, from the state in the file; the saved answer is the same; the table too."""
    words = ["fluid", network, "--cost", "latency", "--routing", routing, "--t-end", 5, "--step", 0.05, *more]
    found = call(*words, "--save", tmp_path / "run.json", "--json")
    assert found.code == 0, found.err
    answer = found.json
    assert set(answer) >= KEYS and answer["times"][0] == 0 and answer["times"][-1] == 5
    assert answer["workloads"][0] == [3, 0.5] and len(answer["routing"][0]) == 3
    if routing not in ("mnlb", "random", "discrete"):
        assert answer["routing"][0][0] == [0.25, 0.75]
    assert len(answer["gap"]) == len(answer["times"]) == len(answer["regret"]) == len(answer["distance"])
    saved = json.loads((tmp_path / "run.json").read_text())
    assert saved["workloads"] == answer["workloads"]
    shown = call(*words)
    assert shown.code == 0 and "west" in shown.out and "settling time" in shown.out


def test_tolerance_and_early_end(call: Call, network: Path) -> None:
    """Steps are found by tolerance; a settled run stops; thinning keeps the last node."""
    found = call("fluid", network, "--eta", 0.05, "--t-end", 500, "--settled-below", 1e-6, "--every", 50, "--json").json
    assert found["error_estimate"] < 1e-6 and found["converged"] and found["times"][-1] < 500
    assert found["distance"][-1] < 1e-3


def test_overloaded(call: Call, network: Path) -> None:
    """Integrated all the same; what needs an equilibrium is null, with the reason."""
    network.write_text(NETWORK.replace("arrival_rate = 1.6", "arrival_rate = 16.0"))
    words = ["fluid", network, "--eta", 0.05, "--t-end", 10, "--step", 0.1]
    found = call(*words, "--json").json
    assert not found["feasible"] and found["infeasible"] == [[0, 10]] and found["distance"] is None
    assert "west" in found["notes"]["distance"]
    assert "not feasible from 0 to 10 s" in call(*words).out


BAD: list[tuple[str, str, list[Any], list[str]]] = [  # in the file replaced, by; more words; message
    ("", "", ["--eta", -1], ["`eta`", "-1.0", "west"]),
    ("", "", [], ["`eta` of `simulate` must be given"]),
    ("", "", ["--eta", 1, "--step", 0.3], ["`step`", "0.1 s"]),
    ("", "", ["--eta", 1, "--routing", "flwo"], ["'flwo'", "flow"]),
    ("", "", ["--eta", 1, "--every", 0], ["--every"]),
    ("", "", ["--eta", "nan"], ["`eta`", "nan"]),
    ("", "", ["--eta", 1, "--save", "/proc/none/run.json"], ["--save", "/proc/none/run.json"]),
    ("workloads = [3, 0.5]", "workload = [3, 0.5]", ["--eta", 1], ["line 18", "'workload'", "Did you mean 'workloads'"]),
    ("workloads = [3, 0.5]", "workloads = [3]", ["--eta", 1], ["line 18", "2 finite numbers"]),
    ("workloads = [3, 0.5]", "workloads = [3, -0.5]", ["--eta", 1], ["line 18", "cell 'east' must be ≥ 0"]),
    ("workloads = [3, 0.5]", "workloads = [3, nan]", ["--eta", 1], ["line 18", "finite"]),
    ("[0.25, 0.75]", "[0.25, 0.7]", ["--eta", 1], ["line 19", "'west' must be on the simplex"]),
    ("[0, 1], [0, 1]]", "[1, 0], [0, 1]]", ["--eta", 1], ["line 19", "'east' must be 0 to 'west': no arc"]),
    ("[[0.25, 0.75], [0, 1], [0, 1]]", "[[0.25, 0.75]]", ["--eta", 1], ["line 19", "must have 3 rows"]),
    ("[[0.25, 0.75], [0, 1], [0, 1]]", '"even"', ["--eta", 1], ["line 19", "must have 3 rows"]),
    ("workload_history = [2.0, 0.5]", "workload_history = 2", ["--eta", 1], ["line 20", "2 finite numbers"]),
    ("[initial]", "[[initial]]", ["--eta", 1], ["line 17", "`initial` must be one table"]),
    ("[initial]", "[intial]", ["--eta", 1], ["line 17", "'intial'", "Did you mean 'initial'"]),
]


@pytest.mark.parametrize(("old", "new", "words", "says"), BAD, ids=[str(k) for k in range(len(BAD))])
def test_bad_input(call: Call, network: Path, old: str, new: str, words: list[Any], says: list[str]) -> None:
    """Exit 2, one message that names the argument, or the file and the line."""
    assert old in NETWORK
    network.write_text(NETWORK.replace(old, new) if old else NETWORK)
    result = call("fluid", network, "--t-end", 2, *([] if "--step" in words else ["--step", 0.1]), *words)
    assert result.code == 2 and result.out == "" and "Traceback" not in result.err
    for part in says:
        assert part in result.err


def test_initial_leaves_other_commands_alone(call: Call, network: Path) -> None:
    """The equilibrium of the same file."""
    assert call("equilibrium", network, "--method", "fast", "--json").json["status"] == "optimal"
