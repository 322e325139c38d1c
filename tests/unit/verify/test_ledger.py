"""The ledger: every claim is complete, a broken one is found, and what cannot be decided says so."""

import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from lbtheory.cli import app
from lbtheory.core import ParameterError, UnknownNameError
from lbtheory.verify import Claim, Kind, Laboratory, Outcome, Verdict, all_claims, run_ledger
from lbtheory.verify.ledger import select
from lbtheory.verify.verdict import at_most, close, inapplicable, interval, mean_at_least, mean_at_most, mean_equals, together

PROOF = {
    "supply", "comparator", "one-step", "decomposition", "ghost-ages", "mgf", "tail", "second-moment", "recursion",
    "supply-split", "order", "scaling-regime", "slot-law", "tilt", "large-deviation", "maximum",
}  # fmt: skip


def test_every_claim_is_complete() -> None:
    """Statement, source, hypotheses and kind; ids are hyphenated; every row of the proof is there."""
    claims = all_claims()
    for name, claim in claims.items():
        assert name == claim.id == name.lower() and "_" not in name and " " not in name
        assert claim.statement and claim.source and claim.hypotheses and isinstance(claim.kind, Kind)
    assert set(claims) >= PROOF


def test_a_broken_claim_is_found() -> None:
    """``I_new ≤ q I_old`` without the noise is false, and so is the reversed supply bound: the ledger says violated."""

    def check(laboratory: Laboratory) -> Verdict:
        left, right = [], []
        for run in laboratory.runs("io"):
            left.append(run.imbalance[1:])
            right.append(float(run.system.q) * run.imbalance[:-1])
        return at_most(np.concatenate(left), np.concatenate(right), "iterations")

    broken = replace(all_claims()["one-step"], id="one-step-without-noise", check=check)
    (entry,) = run_ledger([broken], Laboratory())
    assert entry.verdict.outcome is Outcome.VIOLATED and entry.verdict.reason is not None
    assert entry.verdict.margin is not None and entry.verdict.margin < 0
    json.dumps(entry.as_json())


def test_the_command_exits_with_1_on_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    """And with 0 when every claim holds; the JSON has every key."""
    fine = Claim(id="fine", statement="0 ≤ 1", source="none", hypotheses=("none",), kind=Kind.OURS, check=_fine)
    false = replace(fine, id="false", check=lambda laboratory: at_most([2.0], 1.0, "number"))
    monkeypatch.setattr("lbtheory.verify.ledger.all_claims", lambda: {"fine": fine, "false": false})
    run = CliRunner().invoke(app, ["verify", "fine", "--json"])
    assert run.exit_code == 0
    (row,) = json.loads(run.stdout)["claims"]
    assert {"id", "kind", "verdict", "lhs", "rhs", "margin", "uncertainty", "tried", "reason"} <= set(row)
    assert (row["id"], row["verdict"], row["margin"]) == ("fine", "holds", 1.0)
    both = CliRunner().invoke(app, ["verify"])
    assert both.exit_code == 1 and "violated" in both.stdout and "1 holds, 1 violated" in both.stdout
    assert "0 ≤ 1" in CliRunner().invoke(app, ["verify", "--list"]).stdout


def _fine(laboratory: Laboratory) -> Verdict:
    return at_most([0.0], 1.0, "number")


def test_a_check_that_breaks_is_not_a_pass() -> None:
    """It is inconclusive, and says why."""
    broken = replace(all_claims()["supply"], check=lambda laboratory: 1 / 0)  # type: ignore[arg-type, return-value]
    (entry,) = run_ledger([broken], Laboratory())
    assert entry.verdict.outcome is Outcome.INCONCLUSIVE and "ZeroDivisionError" in str(entry.verdict.reason)


def test_verdicts() -> None:
    """Each kind of comparison, on both sides of its edge."""
    assert at_most([1, 2], 2, "x").outcome is Outcome.HOLDS
    assert at_most([1, 3], np.array([5, 2]), "x").reason == "at entry 1: 3 > 2"
    assert at_most([10**20 + 1], [10**20], "whole numbers").outcome is Outcome.VIOLATED
    assert at_most([float("nan")], 1.0, "x").outcome is at_most([float("inf")], 1.0, "x", 1e-6).outcome is Outcome.VIOLATED
    with pytest.raises(ValueError, match="nothing"):
        at_most([], 1, "x")
    rng = np.random.default_rng(1)
    draws = rng.normal(1.0, 1.0, 400)
    assert mean_at_most(draws, 2.0, "x").outcome is Outcome.HOLDS
    assert mean_at_most(draws, 0.0, "x").outcome is Outcome.VIOLATED
    assert mean_at_most(draws, 1.0, "x").outcome is Outcome.INCONCLUSIVE
    assert mean_at_least(draws, 0.0, "x").outcome is Outcome.HOLDS
    assert mean_at_least(draws, 2.0, "x").outcome is Outcome.VIOLATED
    assert mean_equals(draws, 1.0, "x").outcome is Outcome.HOLDS
    assert mean_equals(draws, 2.0, "x").outcome is Outcome.VIOLATED
    assert mean_at_most(np.zeros(20), 0.01, "no hit in 20 draws").outcome is Outcome.INCONCLUSIVE
    assert close([(1.0, 1.0 + 1e-9)], 1e-8, "x").outcome is Outcome.HOLDS
    assert close([(1.0, float("nan"))], 1e-8, "x").outcome is Outcome.VIOLATED
    parts = [at_most([1], 2, "a"), inapplicable("no supply", "b"), mean_at_most(draws, 0.0, "c")]
    assert together(parts).outcome is Outcome.VIOLATED and together(parts[:2]).reason == "no supply"
    with pytest.raises(ValueError, match="16"):
        interval([1.0])


def test_bad_input() -> None:
    """Unknown claims and scales are named."""
    with pytest.raises(UnknownNameError, match="Did you mean 'one-step'"):
        select(["onestep"])
    with pytest.raises(ParameterError, match="quick, full"):
        Laboratory(scale="big")


def test_the_whole_ledger_holds() -> None:
    """At quick scale every claim is checked and holds: none is violated, none left undecided."""
    entries = run_ledger(select([]), Laboratory())
    assert {entry.claim.id: entry.verdict.reason for entry in entries if entry.verdict.outcome is not Outcome.HOLDS} == {}
