"""Tables of probabilities in every accepted shape, and how bad ones are refused; clipping and huge exponents in laws."""

import gzip
import math
from pathlib import Path

import numpy as np
import pytest

from lbtheory.core import FileFormatError, ParameterError, SizeOverflowError
from lbtheory.decode.traces import parse_law, probability, synthetic


@pytest.mark.parametrize(
    "text",
    [
        "value,probability\n1,0.5\n3,0.5\n",
        "probability,value\r\n0.5,3\r\n0.5,1\r\n",
        "1,0.5\n3,0.5",
        "\ufeff1,0.5\n3,0.5",
        "value,probability\n1.0,0.5000001\n3,0.5\n",
        '{"1": 0.5, "3": 0.5}',
        "[[1, 0.5], [3, 0.5]]",
        '[{"value": 1, "probability": 0.5},\n {"value": 3, "probability": 0.5}]',
    ],
)
def test_shapes(tmp_path: Path, text: str) -> None:
    for data in (text.encode(), gzip.compress(text.encode())):
        (tmp_path / "pmf").write_bytes(data)
        values, weights = parse_law(f"pmf:{tmp_path / 'pmf'}").pmf()
        assert values.tolist() == [1, 3] and weights == pytest.approx([0.5, 0.5], abs=2e-7)
        assert weights.sum() == pytest.approx(1, abs=1e-15), "renormalised"


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("value,probability\n1,0.5\n3,0.4\n", ParameterError, "must sum to 1 within 1e-06; they sum to 0.9"),
        ("value,probability\n", ParameterError, "they sum to 0"),
        ("", FileFormatError, "is empty"),
        ("value,probability\n1,0.5\n1,0.5\n", FileFormatError, "line 3: the value 1 occurs twice"),
        ("value,probability\n0,0.5\n1,0.5\n", FileFormatError, "line 2: the value must be at least 1"),
        ("value,probability\n-1,0.5\n", FileFormatError, "line 2: value must not be negative"),
        ("value,probability\n1.5,0.5\n", FileFormatError, "line 2: value must be a whole number"),
        ("value,probability\n1,-0.5\n", FileFormatError, "line 2: the probability must be between 0 and 1"),
        ("value,probability\n1,nan\n", FileFormatError, "line 2: the probability must be between 0 and 1"),
        ("value,probability\n1\n", FileFormatError, "line 2: the line has 1 fields"),
        ("value,prob\n1,1\n", FileFormatError, "line 1: the header lacks 'probability' .nearest present: 'prob'"),
        ("variable,value,probability\na,1,1\n", FileFormatError, "more columns: variable. Keep the rows of one law"),
        (f"{2**41},1\n", SizeOverflowError, "must stay below"),
        ('{"1": 0.5', FileFormatError, "not valid JSON"),
        ('{"1": 1} 3', FileFormatError, "more than one JSON value"),
        ("[1, 2]", FileFormatError, "entry 0: is not a pair"),
        ('{"a": 1}', FileFormatError, "entry 0: value must be a number"),
        ('{"1": true}', FileFormatError, "entry 0: the probability must"),
    ],
)
def test_bad_tables(tmp_path: Path, text: str, error: type, message: str) -> None:
    path = tmp_path / "pmf"
    path.write_text(text)
    with pytest.raises(error, match=message) as caught:
        parse_law(f"pmf:{path}")
    assert str(path) in str(caught.value)


def test_lognormal_is_clipped_and_rounded() -> None:
    law = parse_law("lognormal:1000:0.5:100000")
    assert law.mean == pytest.approx(1000, rel=1e-6), "MEAN is that of the law before clipping"
    assert law.variance == pytest.approx(1000**2 * math.expm1(0.25) + 1 / 12, rel=1e-6)
    values, weights = parse_law("lognormal:1000:0.5:800").pmf()
    z = (math.log(799.5) - math.log(1000) + 0.125) / 0.5
    assert values[-1] == 800 and weights[-1] == pytest.approx(0.5 * math.erfc(z / math.sqrt(2)))
    assert parse_law("lognormal:1000:0.5:800").sample(1000, np.random.default_rng(0)).max() == 800


@pytest.mark.parametrize("text", ["1e-99999999999", "1e-400", "0." + "1" * 100])
def test_probabilities_that_no_double_holds_are_refused_at_once(text: str) -> None:
    with pytest.raises(ParameterError, match="`p` must"):
        probability(text)


@pytest.mark.parametrize(("name", "prompt", "output"), [("azure2024-like", 4652, 1052), ("proprietary-like", 3197, 1185)])
def test_means_of_many_seeds(name: str, prompt: float, output: float) -> None:
    for seed in range(40):
        for recurrence in (0.0, 0.9):
            trace = synthetic(name, seed, recurrence=recurrence)
            assert trace.prompts.mean() == pytest.approx(prompt, rel=0.005)
            assert trace.outputs.mean() == pytest.approx(output, rel=0.005)
