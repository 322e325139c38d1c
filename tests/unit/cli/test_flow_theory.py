"""`lbtheory stability` and `lbtheory guarantee`: keys, values, notes and refusals."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lbtheory.cli import app
from lbtheory.core import InfeasibleError, InputError

NETWORK = """
[[cell]]
name = "west"
arrival_rate = 0
rate = {family = "mm1", capacity = 2.0, half = 1.0}
[[cell]]
name = "east"
arrival_rate = 0
rate = {family = "mm1", capacity = 2.0, half = 1.0}
[[source]]
name = "edge"
arrival_rate = 1.2
[network]
latency = [[0, inf], [inf, 0], [0.1, 0.4]]
[initial]
workloads = [0.2, 3.0]
"""
STABILITY = {"eta_critical", "frequency", "rightmost", "neutral", "eta_sufficient", "eta0", "eta2", "eta_s3", "notes"}
GUARANTEE = {"eta0", "G1", "K1", "K", "eta2", "bounded", "left", "right", "failed_assumptions", "notes"}


def run(path: Path, *words: str) -> Any:
    """Parsed answer; exit code 0, and the table can be printed too."""
    result = CliRunner().invoke(app, [words[0], str(path), *words[1:], "--json"])
    assert result.exit_code == 0, result.output
    shown = CliRunner().invoke(app, [words[0], str(path), *words[1:]])
    assert shown.exit_code == 0 and "stepsize" in shown.stdout
    return json.loads(result.stdout)


@pytest.fixture
def network(tmp_path: Path) -> Path:
    """The worked example."""
    path = tmp_path / "network.toml"
    path.write_text(NETWORK)
    return path


def test_stability(network: Path) -> None:
    """Half of the critical step by default; a root as [re, im]; unstable above."""
    found = run(network, "stability", "--cost", "latency")
    assert set(found) >= STABILITY and found["eta_critical"] == pytest.approx(3.5960187739, abs=1e-8)
    assert found["eta"] == pytest.approx(found["eta_critical"] / 2) and found["rightmost"][0] < 0 and found["neutral"] == 0
    assert found["eta_sufficient"] == pytest.approx(0.8251467593, abs=1e-9)
    assert (found["eta0"], found["eta2"]) == (pytest.approx(0.0223287464, abs=1e-9), pytest.approx(0.0105670286, abs=1e-9))
    assert found["eta_s3"] == pytest.approx(0.7416858092, abs=1e-9)
    above = run(network, "stability", "--cost", "latency", "--eta", "3.7")
    assert above["rightmost"][0] > 0 and above["unstable"] == 2


def test_guarantee(network: Path) -> None:
    """The worked constants, both sides, and a null right side beyond η_0 with its reason."""
    found = run(network, "guarantee", "--cost", "latency", "--eta", "0.02", "--t-end", "50")
    assert set(found) >= GUARANTEE and found["failed_assumptions"] == []
    for name, value in {"eta0": 0.0223287464, "G1": 41.0656332364, "K1": 0.4334609501, "K": 25.2746148915}.items():
        assert found[name] == pytest.approx(value, abs=1e-8)
    assert found["bounded"]["N_max"] == pytest.approx([1.5, 3]) and found["bounded"]["G1"] == pytest.approx(3.2907674426)
    assert 0 < found["left"] < found["right"] == pytest.approx(0.4334609501 / 1 + 41.0656332364 * 0.02 + 25.2746148915 / 50)
    assert found["left_bounded"] <= found["right_bounded"] and found["regret_floor"] <= found["regret"] <= found["regret_bound"]
    beyond = run(network, "guarantee", "--cost", "latency", "--eta", "0.5", "--t-end", "50")
    assert beyond["right"] is None and "eta0" in beyond["notes"]["right"] and beyond["left_bounded"] <= beyond["right_bounded"]


def test_failed_assumptions(network: Path) -> None:
    """Assumption 3 by number and cell; no number in place of what it leaves open."""
    network.write_text(NETWORK.replace('"mm1", capacity = 2.0, half = 1.0', '"exponential", capacity = 2.0, scale = 1.0'))
    found = run(network, "guarantee", "--cost", "gradient", "--eta", "0.01", "--t-end", "20")
    assert found["eta0"] is None and found["G1"] is None and found["right"] is None and found["bounded"] is not None
    assert [(row["assumption"], row["cell"]) for row in found["failed_assumptions"]] == [(3, "west"), (3, "east")]
    assert run(network, "stability", "--cost", "gradient")["eta0"] is None


def test_nothing_to_lose(network: Path) -> None:
    """Without delays there is no critical stepsize: null, and why."""
    network.write_text(NETWORK.replace("[0.1, 0.4]", "[0, 0]"))
    found = run(network, "stability", "--cost", "latency")
    assert found["eta_critical"] is None and found["frequency"] is None and "delay" in found["notes"]["eta_critical"]
    assert found["eta0"] is None and found["rightmost"][0] < 0


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("stability", "--eta", "-1"), "--eta"),
        (("stability", "--cost", "latencies"), "latency"),
        (("guarantee", "--eta", "0"), "--eta"),
        (("guarantee", "--eta", "nan"), "--eta"),
        (("guarantee", "--t-end", "inf"), "--t-end"),
        (("guarantee", "--cost", "speed"), "cost"),
    ],
)
def test_bad_options(network: Path, words: tuple[str, ...], named: str) -> None:
    """One message that names the option; exit 2 from the entry point."""
    result = CliRunner().invoke(app, [words[0], str(network), *words[1:]])
    assert isinstance(result.exception, InputError) and result.exception.exit_code == 2 and named in str(result.exception)


def test_bad_networks(network: Path) -> None:
    """Infeasible, decreasing service, a wrong start: refused by name."""
    network.write_text(NETWORK.replace("arrival_rate = 1.2", "arrival_rate = 12.0"))
    for command in ("stability", "guarantee"):
        assert isinstance(CliRunner().invoke(app, [command, str(network)]).exception, InfeasibleError)
    network.write_text(NETWORK.replace("[0.2, 3.0]", "[0.2, -3.0]"))
    result = CliRunner().invoke(app, ["guarantee", str(network)])
    assert isinstance(result.exception, InputError) and "line" in str(result.exception)
    network.write_text(NETWORK.replace('"mm1", capacity = 2.0, half = 1.0', '"softplus", a = 0.5, b = 0.1, k = 8.0, w = 2.0'))
    result = CliRunner().invoke(app, ["guarantee", str(network), "--cost", "gradient"])
    assert isinstance(result.exception, InputError) and "increasing" in str(result.exception)
