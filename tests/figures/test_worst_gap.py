"""The figure of worst decisions shows its table, and the README's examples are true."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lbtheory.core import ParameterError
from lbtheory.decode.adversary_tasks import worst_gap
from lbtheory.decode.exact import compare, solve_io
from lbtheory.decode.instance import read_instance
from lbtheory.decode.policies import make_policy, view_of_instance
from lbtheory.plots import style
from lbtheory.plots.worst import worst_beside_mean
from lbtheory.study import discover

ROOT = Path(__file__).parents[2]
EXPERIMENT = discover(ROOT).experiments["worst-gap"]
EXAMPLES = re.findall(
    r"^\| `(.+?)` \| (\d+) \| (\d+) \| `(\{.+?\})` \|", (EXPERIMENT.folder / "README.md").read_text(encoding="utf-8"), re.M
)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """Two systems and two rules, two groups each."""
    effort = {"starts": 10, "climbs": 1, "moves": 20}
    return EXPERIMENT.analysis.table(
        [
            worst_gap(seed=seed, policy=policy, free=free, largest=5, queue=4, **effort)[0]
            for free in ([1, 1], [1, 0, 2])
            for policy in ("jsq", "level-plus")
            for seed in (0, 1)
        ]
    )


def test_rows_add_up(table: pd.DataFrame) -> None:
    """One row a system and rule; every optimum proved; the unit."""
    assert len(table) == 4 and (table["evaluations"] == 2 * 30).all() and (table["status"] == "optimal").all()
    assert (table["gap"] == table["imbalance"] - table["optimum"]).all() and (table["share"] <= 1).all()
    assert np.allclose(table["unit"] * 5 * (table["workers"] - 1), table["gap"])
    assert table["ratio"].isna().equals(table["optimum"] == 0)


def test_marks_are_the_rows(table: pd.DataFrame) -> None:
    """Filled marks at the worst gaps, hollow ones at the means."""
    shares = table.assign(mean_share=table["mean"] / table["bound"])
    (axis,) = worst_beside_mean(shares).axes
    lines = [line for line in axis.get_lines() if line.get_marker() not in ("None", None, "")]
    for policy, worst, mean in zip(("jsq", "level-plus"), lines[::2], lines[1::2], strict=True):
        rows = shares[shares["policy"] == policy]
        assert worst.get_color() == mean.get_color() == style.color(policy)
        assert np.allclose(worst.get_xdata(), rows["share"]) and np.allclose(mean.get_xdata(), rows["mean_share"])
        assert np.round(worst.get_ydata()).tolist() == [0, 1] and mean.get_markerfacecolor() == "white"
    with pytest.raises(ParameterError, match="`table` of `worst_beside_mean`"):
        worst_beside_mean(shares[:0])


@pytest.mark.parametrize(("policy", "value", "least", "text"), EXAMPLES)
def test_examples_of_the_readme(policy: str, value: str, least: str, text: str, tmp_path: Path) -> None:
    """``I`` of the rule and proved ``I*``."""
    path = tmp_path / "instance.json"
    path.write_text(text, encoding="utf-8")
    instance, rule, rng = read_instance(path), make_policy(policy), np.random.default_rng(0)
    exact = solve_io(instance)
    answer = compare(instance, rule.assign(view_of_instance(instance, rule.information, rng), rng), exact, policy, 0.0)
    assert exact.status.value == "optimal" and (answer.imbalance, exact.imbalance) == (int(value), int(least))
    assert json.loads(text).keys() == {"loads", "free", "waiting"}


def test_every_rule_has_an_example() -> None:
    """One for each rule of the sweep but SpreadLex, which is exact with two workers."""
    rules = {style.base_name(cell.parameters["policy"]) for cell in EXPERIMENT.cells("full")} - {"spread-lex"}
    assert {policy for policy, *_ in EXAMPLES} == rules
