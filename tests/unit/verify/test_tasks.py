"""Tasks that set theory beside simulation: the records that experiments are made of."""

import math
from fractions import Fraction
from pathlib import Path

import pytest

from lbtheory.core import ParameterError
from lbtheory.decode.traces.laws import parse_law
from lbtheory.theory import uniform
from lbtheory.theory.theorem1 import constants
from lbtheory.verify.systems import parse_system, prompt_law
from lbtheory.verify.tasks import benchmark_imbalance, certified, scaling, slack, where_it_bites

SYSTEM = {"p": "1/4", "prompts": "uniform:4", "workers": 4}


def test_systems_from_what_a_user_writes(tmp_path: Path) -> None:
    """Uniform and recorded laws exactly, tables as doubles; what is too large is refused."""
    assert parse_system("0.25", "uniform:4", 8, 64).p == Fraction(1, 4)
    assert prompt_law(parse_law("uniform:3:9")) == uniform(9, 3)
    file = tmp_path / "law.csv"
    file.write_text("value,probability\n2,0.25\n5,0.75\n")
    assert prompt_law(parse_law(f"pmf:{file}")).mean == Fraction(17, 4)
    assert prompt_law(parse_law("lognormal:20:1:100")).s == 100
    with pytest.raises(ParameterError, match="at most 1000000"):
        prompt_law(parse_law("uniform:2000000"))


def test_slack_ends_at_the_theorem() -> None:
    """The chains begin at the truth and end at the stated bounds; no link of the upper one gains."""
    rows = slack(seed=0, **SYSTEM, slots=6, iterations=60, warmup=20)
    known = constants(parse_system("1/4", "uniform:4", 4, 6))
    upper = [row for row in rows if row["side"] == "upper"]
    lower = [row for row in rows if row["side"] == "lower"]
    assert upper[-1]["value"] == pytest.approx(known.io_upper) and lower[-1]["value"] == pytest.approx(known.jsq_lower)
    values = [row["value"] for row in upper]
    assert values == sorted(values)
    assert [row["value"] for row in lower] == sorted((row["value"] for row in lower), reverse=True)
    assert rows[0]["lost"] == 0 and math.isfinite(sum(row["lost"] for row in rows))


def test_where_it_bites() -> None:
    """One record a certificate and target; more is asked, more slots are needed."""
    rows = where_it_bites(seed=0, **SYSTEM, ratios=[1.0, 2.0])
    slots = {(row["certificate"], row["target"]): row["slots"] for row in rows}
    assert slots["level", 1.0] < slots["level", 2.0] < slots["rich", 1.0] < slots["theorem1", 1.0]


def test_scaling_and_certified() -> None:
    """Long runs beside the laws: JSQ's interval is near the exact law; certificates and policies in one table."""
    options = {"slots": 16, "policies": ["jsq", "level"], "requests": 20_000, "queue": 64, "warmup": 80}
    rows = scaling(seed=1, **SYSTEM, **options)
    jsq = rows[0]
    assert jsq["policy"] == "jsq" and jsq["imbalance"] == pytest.approx(jsq["exact"], rel=0.05)
    assert jsq["exact"] == benchmark_imbalance(parse_system("1/4", "uniform:4", 4, 16))
    both = certified(seed=1, **SYSTEM, **options)
    assert {row["what"] for row in both} == {"certificate", "policy"}
    by_name = {(row["what"], row["name"]): row["imbalance"] for row in both}
    assert by_name["policy", "level:rich supply"] <= by_name["certificate", "level"]
