"""`lbtheory equilibrium`: keys, both methods, infeasible and wrong files."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lbtheory.cli import app
from lbtheory.core.errors import InfeasibleError, InputError

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
"""
KEYS = {
    "cost", "status", "workloads", "inflow", "routing", "multipliers", "objective", "in_flight", "mean_latency",
    "wardrop_gap", "flow_residual", "relative_gap", "method", "seconds", "price_of_anarchy", "assumptions",
}  # fmt: skip


@pytest.fixture
def network(tmp_path: Path) -> Path:
    """A file with a source at rest."""
    path = tmp_path / "network.toml"
    path.write_text(NETWORK)
    return path


@pytest.mark.parametrize("cost", ["rif", "latency", "gradient"])
def test_keys_and_certificates(network: Path, cost: str) -> None:
    """Every key; a row a source in cell order, zeros for the one at rest; the table too."""
    call = ["equilibrium", str(network), "--cost", cost, "--method", "fast"]
    result = CliRunner().invoke(app, [*call, "--json"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert set(found) >= KEYS and found["status"] == "optimal" and found["relative_gap"] <= 1e-9
    assert len(found["routing"]) == 3 and found["routing"][2] == [0, 0] and found["multipliers"][2] is None
    assert found["routing"][1] == [0, 1] and found["price_of_anarchy"] >= 1 - 1e-9
    shown = CliRunner().invoke(app, call)
    assert shown.exit_code == 0 and "west" in shown.stdout and "Wardrop gap" in shown.stdout


def test_bad_networks(network: Path, tmp_path: Path) -> None:
    """Infeasible: the cut by name. A typo: its line. Neither gives a number."""
    path = tmp_path / "bad.toml"
    path.write_text(NETWORK.replace("arrival_rate = 1.6", "arrival_rate = 16.0"))
    result = CliRunner().invoke(app, ["equilibrium", str(path)])
    assert isinstance(result.exception, InfeasibleError) and "west" in str(result.exception)
    path.write_text(NETWORK.replace("replicas", "replcas"))
    result = CliRunner().invoke(app, ["equilibrium", str(path)])
    assert isinstance(result.exception, InputError) and "line 5" in str(result.exception)
    result = CliRunner().invoke(app, ["equilibrium", str(network), "--cost", "latencies"])
    assert isinstance(result.exception, InputError) and "latency" in str(result.exception)
