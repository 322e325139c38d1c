"""Laws: forms, moments against their tables and their samples, bad specifications."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from lbtheory.core import InputError, ParameterError
from lbtheory.decode.traces import Geometric, parse_law, probability, rational_probability


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A table of probabilities and a trace."""
    (tmp_path / "pmf.csv").write_text("value,probability\n3,0.25\n10,0.5\n40,0.25\n", encoding="utf-8")
    (tmp_path / "half.csv").write_text("value,probability\n3,0.25\n10,0.25\n", encoding="utf-8")
    (tmp_path / "trace.csv").write_text("num_prefill_tokens,num_decode_tokens\n4,1\n4,2\n10,3\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("spec", "mean", "variance"),
    [
        ("uniform:1:4", 2.5, 1.25),
        ("uniform:4", 2.5, 1.25),
        ("uniform:10:10", 10, 0),
        ("constant:7", 7, 0),
        ("lognormal:100:0.8:2000", None, None),
        ("pmf:FOLDER/pmf.csv", 15.75, 0.25 * (9 + 1600) + 0.5 * 100 - 15.75**2),
        ("empirical:FOLDER/trace.csv", 6, 8),
    ],
)
def test_moments(files: Path, spec: str, mean: float | None, variance: float | None) -> None:
    """Stated, from the table, and from 40,000 seeded draws (five standard errors)."""
    law = parse_law(spec.replace("FOLDER", str(files)))
    values, weights = law.pmf()
    assert weights.sum() == pytest.approx(1) and values.min() >= 1 and (np.diff(values) > 0).all()
    centre = float((values * weights).sum())
    spread = float((values**2 * weights).sum() - centre**2)
    assert law.mean == pytest.approx(centre if mean is None else mean)
    assert law.variance == pytest.approx(spread if variance is None else variance, abs=1e-9)
    draws = law.sample(40_000, np.random.default_rng(0))
    assert draws.dtype == np.int64 and set(np.unique(draws)) <= set(values)
    assert abs(draws.mean() - law.mean) <= 5 * np.sqrt(law.variance / 40_000) + 1e-12


def test_geometric() -> None:
    """Mean 1/p, variance q/p², P(O = 1) = p."""
    law = Geometric(p=Fraction(1, 4))
    draws = law.sample(100_000, np.random.default_rng(1))
    assert (law.mean, law.variance) == (4, 12) and draws.min() == 1
    assert abs(draws.mean() - 4) < 5 * np.sqrt(12 / 1e5) and abs((draws == 1).mean() - 0.25) < 5 * np.sqrt(0.1875 / 1e5)
    with pytest.raises(ParameterError, match="not a finite table"):
        law.pmf()


@pytest.mark.parametrize(("text", "value"), [("1/4", Fraction(1, 4)), ("0.25", Fraction(1, 4)), ("1e-3", Fraction(1, 1000))])
def test_probabilities(text: str, value: Fraction) -> None:
    """As an exact fraction and as a double."""
    assert rational_probability(text) == value and probability(text) == float(value)


@pytest.mark.parametrize("text", ["0", "1", "2", "-1/4", "abc", "1/0", "", "nan", "inf"])
def test_bad_probabilities(text: str) -> None:
    """Outside (0, 1) or not a number."""
    with pytest.raises(ParameterError, match="`p`"):
        probability(text)


@pytest.mark.parametrize(
    "spec",
    [
        "",
        "uniform",
        "uniform:0",
        "uniform:5:4",
        "uniform:1:2:3",
        "uniform:x",
        "uniform:1.5",
        "constant:0",
        "constant:",
        "poisson:4",
        "lognormal:5:1",
        "lognormal:-5:1:9",
        "lognormal:5:0:9",
        "lognormal:5:nan:9",
        "lognormal:5:1:0",
    ],
)
def test_bad_specifications(spec: str) -> None:
    """The legal forms are named."""
    with pytest.raises(ParameterError, match=r"uniform:LO:HI.*lognormal:MEAN:SIGMA:MAX"):
        parse_law(spec)


def test_bad_files(files: Path) -> None:
    """Probabilities that do not sum to one; no file."""
    with pytest.raises(InputError, match=r"half\.csv.*sum"):
        parse_law(f"pmf:{files}/half.csv")
    for name in ("pmf", "empirical"):
        with pytest.raises(InputError, match="no-such"):
            parse_law(f"{name}:{files}/no-such.csv")
