"""``lbtheory cells``: bad input gives exit code 2 and one message with the line; overload is allowed with a warning."""

from pathlib import Path

import pytest

from tests.unit.cli.conftest import Call

BASE = "[scenario]\ncells = 2\nduration = 8.0\nwarmup = 1.0\n"
EXPLICIT = """
[scenario]
duration = 8.0
warmup = 1.0
utilisation = 0.5
[[cell]]
name = "a"
servers = 2
prefill_token_time = 0.0002
decode_token_time = 0.0032
[network]
latency = [[0.001]]
"""
OUTAGES = "".join(f'[[event]]\nkind = "outage"\nstart = 1.0\nend = 2.0\ncell = "cell-{j}"\n' for j in range(2))


@pytest.mark.parametrize(
    ("text", "options", "says"),
    [
        (BASE.replace("cells = 2", "cells = 0"), ["rand"], ["line 2", "`cells`", "≥ 1"]),
        ("[scenario]\nduration = 8.0\nwarmup = 1.0\n", ["rand"], ["at least one cell"]),
        (EXPLICIT.replace("servers = 2", "servers = 0"), ["rand"], ["line 8", "≥ 1"]),
        (BASE + OUTAGES, ["rand"], ["line 5", "outage of all cells", "leave at least one"]),
        (BASE + "[prefill_tokens]\nscale = -225.0\n", ["rand"], ["line 6", "`scale`", "≥ 0"]),
        (BASE + "[decode_tokens]\nshift = -20.0\n", ["rand"], ["line 6", "`shift`", "≥ 0"]),
        (BASE + "[decode_tokens]\nshift = 0\nscale = 0\n", ["rand"], ["positive mean"]),
        (BASE + "utilization = 0.8\n", ["rand"], ["line 5", "utilisation"]),
        (BASE + "[parameters]\nprobe_periods = 0.1\n", ["rand"], ["line 6", "probe_period"]),
        (BASE + "[session]\nshare = 0.1\n", ["rand"], ["line 5", "sessions"]),
        (BASE, ["flow-gard"], ["flow-grad"]),
        (BASE, ["mnlb,flow-grad"], ["NAME,NAME@START"]),
        (BASE, ["schedule"], ["[[stage]]"]),
        (BASE, ["rand", "--policy", "rand"], ["twice"]),
        (BASE, ["disc-grad", "--models", "none"], ["calibrated"]),
        (BASE, ["rand", "--trials", "0"], ["--trials"]),
        (BASE + "scenario = 3\n", ["rand"], ["scenario"]),
        ("cells = 2\n", ["rand"], ["scenario"]),
        ("[scenario\n", ["rand"], ["line 1"]),
    ],
)
def test_bad_input(call: Call, tmp_path: Path, text: str, options: list[str], says: list[str]) -> None:
    path = tmp_path / "s.toml"
    path.write_text(text)
    result = call("cells", path, "--policy", *options)
    assert result.code == 2 and result.out == "" and "Traceback" not in result.err
    for part in says:
        assert part in result.err


def test_overload_is_allowed_with_a_warning(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(BASE + "utilisation = 1.3\n")
    result = call("cells", path, "--policy", "rand", "--json")
    assert result.code == 0 and "warning: utilisation is 1.3" in result.err
    assert "utilisation is 1.3" in result.json["config"]["notes"][0]
