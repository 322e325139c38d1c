"""Task names resolve inside lbtheory only; numbers are shown with the digits that a reader needs."""

import math
from pathlib import Path

import pandas as pd
import pytest

from lbtheory.core import InputError, ParameterError
from lbtheory.study import tables, tasks
from lbtheory.study.report import _table


@pytest.mark.parametrize(
    "name",
    [
        "os:system",
        "lbtheory",
        "lbtheory.study.tasks",
        "lbtheory.study.tasks:_hidden",
        "lbtheory.study.tasks:no_such",
        "lbtheory.study.no_such:probe",
        "lbtheoryx.study:probe",
        "lbtheory.study.tasks:os.system",
    ],
)
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(ParameterError, match="task"):
        tasks.resolve(name)


def test_records_carry_parameters_and_seed() -> None:
    records = tasks.run("lbtheory.study.tasks:probe", {"draws": 2}, 5)
    assert records == tasks.run("lbtheory.study.tasks:probe", {"draws": 2}, 5)
    assert set(records[0]) == {"draws", "seed", "mean"}
    assert records[0]["mean"] != tasks.run("lbtheory.study.tasks:probe", {"draws": 2}, 6)[0]["mean"]


def test_a_task_that_fails_raises() -> None:
    with pytest.raises(InputError, match="fail"):
        tasks.run("lbtheory.study.tasks:probe", {"fail": True}, 1)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (215110.4, "215,110"),
        (3, "3"),
        (2.0, "2"),
        (9.1237, "9.124"),
        (-0.012345, "−0.01235"),
        (1.5e-7, "1.500·10^−7"),
        (0.0, "0"),
        (math.nan, "–"),
        (None, "–"),
        (pd.NA, "–"),
        (math.inf, "∞"),
        (True, "yes"),
        ("a|b", "a|b"),
    ],
)
def test_shown(value: object, text: str) -> None:
    assert tables.shown(value) == text


def test_markdown_sets_numbers_right_and_says_what_it_leaves_out() -> None:
    table = pd.DataFrame({"name": ["a|b", "c"], "ratio": [1.0, 2.5], "count": [1, 20000]})
    lines = tables.markdown(table, {"ratio": "Ratio"}).splitlines()
    assert lines[0] == "| name | Ratio | count |"
    assert lines[1] == "| :--- | ---: | ---: |"
    assert lines[2] == r"| a\|b | 1.000 | 1 |"
    assert lines[3] == "| c | 2.500 | 20,000 |"
    assert "first 1 of 2 rows" in tables.markdown(table, rows=1)


def test_the_report_raises_exponents() -> None:
    page = _table(pd.DataFrame({"name": ["a<b"], "error": [1.5e-7]}), {}, "x.csv")
    assert "<td>a&lt;b</td>" in page and '<td class="number">1.500·10<sup>−7</sup></td>' in page


def test_csv_gives_every_double_back(tmp_path: Path) -> None:
    table = pd.DataFrame({"x": [0.1 + 0.2, 1e-300, 12345678.901234567]})
    path = tables.write(table, tmp_path / "deep" / "table")[0]
    assert [float(line) for line in path.read_text().splitlines()[1:]] == table["x"].tolist()
    assert b"\r" not in path.read_bytes()
