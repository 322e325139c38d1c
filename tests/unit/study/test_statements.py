"""The rule of the badges, and tables in LaTeX."""

import pandas as pd
import pytest

from lbtheory.study.statements import Statement
from lbtheory.study.tables import latex


@pytest.mark.parametrize(
    ("published", "low", "high", "verdict"),
    [
        (2.0, 1.9, 2.1, "agrees"),
        (2.0, 2.15, 2.4, "agrees"),  # 0.15 away, 0.2 allowed
        (2.0, 2.3, 2.4, "inconclusive"),  # between one and two allowances
        (2.0, 2.5, 2.6, "disagrees"),
        (9.0, 1.5, 1.8, "disagrees"),
        (2.0, None, 2.1, "inconclusive"),
        (float("nan"), 1.9, 2.1, "inconclusive"),
    ],
)
def test_verdicts(published: float, low: float | None, high: float | None, verdict: str) -> None:
    """One draw against an interval, with 10 % allowed."""
    assert Statement(text="x", published=published, reproduced=2.0, low=low, high=high).verdict == verdict


def test_latex() -> None:
    """Special characters are escaped, numbers stand to the right."""
    text = latex(pd.DataFrame({"a_b": ["x & y", "50 %"], "ratio": [1.5, 2.0]}), {"ratio": "JSQ ÷"})
    assert text.splitlines() == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"a\_b & JSQ $\div$ \\",
        r"\midrule",
        r"x \& y & 1.500 \\",
        r"50 \% & 2.000 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]
