"""`lbtheory bounds`: right values, regime, certificates, bad input."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lbtheory.cli import app
from lbtheory.core.errors import InputError
from tests.theorems.test_theorem1 import RIGHT

KEYS = {
    "sigma", "rho", "mu2", "theta0", "V", "tau", "kappa", "epsilon", "io_upper", "jsq_lower", "ratio_lower", "lambda0", "B0",
    "B0_computed", "supply_rate", "jsq_exact", "idle_exact", "spread_upper", "regime", "certificates", "notes",
}  # fmt: skip
EXACT = {"1/4": 343.0412, "1/10": 8968.363, "1/100": 257860.717, "1/1000": 1160564.63}


def run(*arguments: str) -> dict:
    """The JSON of a call."""
    result = CliRunner().invoke(app, ["bounds", *arguments, "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def refused(*arguments: str) -> str:
    """The message of a call that must be refused as bad input."""
    result = CliRunner().invoke(app, ["bounds", *arguments])
    assert isinstance(result.exception, InputError) or result.exit_code == 2, result.output
    return str(result.exception) + result.output


@pytest.mark.parametrize("place", RIGHT, ids=lambda place: place[0])
def test_right_values(place: tuple[str, int, int, int]) -> None:
    """Ten digits of every stated constant, 1e-6 of the exact benchmark; the regime of all four is outside the theorem."""
    p, s, slots, workers = place
    found = run("--workers", str(workers), "--slots", str(slots), "--p", p, "--prompts", f"uniform:{s}", "--no-blocks")
    assert set(found) >= KEYS
    made = [found[key] for key in ("sigma", "V", "kappa", "epsilon", "io_upper", "jsq_lower", "ratio_lower")]
    assert made == pytest.approx([float(x) for x in RIGHT[place].split()], rel=3e-11)
    assert found["jsq_exact"] == pytest.approx(EXACT[p], rel=1e-6)
    assert found["regime"]["epsilon_le_s"] is False and found["regime"]["B_ge_B0"] is False
    assert found["idle_exact"] == pytest.approx(
        found["jsq_exact"] / (found["jsq_exact"] + workers * slots * _mean(p, s)), rel=1e-9
    )
    values = [one["value"] for one in found["certificates"]]
    assert values == sorted(values)
    for one in found["certificates"]:
        assert {"name", "value", "ratio", "kind", "supply", "hypotheses"} <= set(one)
        assert one["ratio"] == pytest.approx(found["jsq_exact"] / one["value"])


def _mean(p: str, s: int) -> float:
    """``E U``."""
    low, high = map(int, p.split("/"))
    return (s + 1) / 2 + (high - low) / low


def test_certificate_in_force() -> None:
    """At real ``B`` the certified LEVEL bound is in force and beats FCFS; the theorem's bound does not."""
    found = run("--workers", "8", "--slots", "64", "--p", "1/20", "--prompts", "uniform:50")
    names = {one["name"]: one for one in found["certificates"]}
    best = found["certificates"][0]
    assert best["name"] == "level" and best["kind"] == "ours, certified" and best["ratio"] >= 1.83 * 0.98
    assert names["pairs"]["value"] == pytest.approx(1521, rel=1e-3) and names["pairs"]["supply"] > 512 / 20
    assert names["constant size"]["value"] == pytest.approx(1846, rel=1e-3)
    assert names["theorem-1"]["ratio"] < 0.1


@pytest.mark.slow
def test_potential_where_it_does_not_apply() -> None:
    """Too few slots to steer: the reason is said, the other certificates stand."""
    found = run("--workers", "4", "--slots", "8", "--p", "1/10", "--prompts", "uniform:20", "--no-blocks", "--potential")
    assert "value iteration" in found["notes"]["level, potential"]
    assert "level" in {one["name"] for one in found["certificates"]}


@pytest.mark.slow
def test_potential_is_in_force_at_few_slots() -> None:
    """At B = 16, where Theorem A is above FCFS, the certified potential bound is 1.5 times below it."""
    found = run("--workers", "8", "--slots", "16", "--p", "1/20", "--prompts", "uniform:50", "--no-blocks", "--potential")
    best = found["certificates"][0]
    assert best["name"] == "level, potential" and best["kind"] == "ours, certified" and best["ratio"] > 1.5


def test_table_frontier_and_digits() -> None:
    """For a reader: the certificate in force by name, the frontier, forty digits."""
    arguments = ["bounds", "--workers", "8", "--slots", "64", "--p", "0.25", "--prompts", "uniform:4"]
    result = CliRunner().invoke(app, [*arguments, "--frontier", "--digits", "40"])
    assert result.exit_code == 0
    assert "in force: level (LEVEL)" in result.stdout and "334,131" in result.stdout
    assert "129.0481303286978" in result.stdout
    found = run(*arguments[1:], "--digits", "30", "--frontier")
    assert found["digits"]["V"].startswith("129.048130328697") and found["frontier"]["epsilon_below_s"] == 334_131


def test_certify() -> None:
    """Every inequality of the proof decided in balls; only the regime's conditions are refuted."""
    base = ["--workers", "8", "--slots", "64", "--p", "1/4", "--prompts", "uniform:4", "--no-blocks", "--certify"]
    rows = {row["id"]: row["outcome"] for row in run(*base)["certified"]}
    refuted = {name for name, outcome in rows.items() if outcome != "certified"}
    assert refuted == {"regime-epsilon", "regime-slots"} and len(rows) >= 25
    shown = CliRunner().invoke(app, ["bounds", *base])
    assert shown.exit_code == 0 and "decided in ball arithmetic" in shown.stdout and "refuted" in shown.stdout


def test_one_worker_and_other_laws(tmp_path: Path) -> None:
    """``G = 1``: imbalance 0, nothing is NaN, the reasons are said; a law with gaps has no rich supply."""
    found = run("--workers", "1", "--slots", "8", "--p", "1/4", "--prompts", "uniform:4")
    assert found["jsq_exact"] == 0 and found["io_upper"] == 0 and found["ratio_lower"] is None
    assert found["certificates"] == [] and "0/0" in found["notes"]["ratio_lower"]
    file = tmp_path / "law.csv"
    file.write_text("value,probability\n1,0.5\n3,0.5\n")
    found = run("--workers", "4", "--slots", "8", "--p", "1/4", "--prompts", f"pmf:{file}")
    assert "rich supply" in found["notes"] and found["rho"] == 0.5
    assert "level" not in {one["name"] for one in found["certificates"]}


def test_bad_input(tmp_path: Path) -> None:
    """Each named, with exit code 2."""
    base = {"--workers": "8", "--slots": "64", "--p": "1/4", "--prompts": "uniform:4"}

    def call(**changed: str) -> str:
        given = base | {f"--{key}": value for key, value in changed.items()}
        return refused(*[part for pair in given.items() for part in pair])

    for p in ("0", "1", "1.5", "-1/4", "nan"):
        assert "`p`" in call(p=p)
    assert "must not be constant" in call(prompts="constant:5")
    assert "LO ≤ HI" in call(prompts="uniform:0")
    assert "`workers`" in call(workers="0") and "`slots`" in call(slots="0")
    file = tmp_path / "law.csv"
    file.write_text("value,probability\n1,0.5\n3,0.4\n")
    assert "sum" in call(prompts=f"pmf:{file}")
    given = [part for pair in (base | {"--workers": "1"}).items() for part in pair]
    assert "`workers`" in refused(*given, "--frontier")
