"""Certificates in ball arithmetic: they reproduce the bound, and refuse what the multipliers do not prove."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from lbtheory.core import ParameterError, readonly
from lbtheory.theory.levelling import CertificateError, LevelBound, LevelSide, LevelSystem, certify, chernoff_bound
from lbtheory.theory.levelling.side import Vertex

SYSTEMS = [
    (Fraction(1, 2), 2, 2, 1),
    (Fraction(1, 4), 4, 8, 80),
    (Fraction(1, 20), 50, 8, 64),
    (Fraction(1, 1000), 4000, 32, 64),
]


def bound_of(p: Fraction, s: int, workers: int, slots: int) -> LevelBound:
    """Sizes ``1 … s``."""
    return chernoff_bound(LevelSystem(p=p, low=1, high=s, workers=workers, slots=slots))


@pytest.fixture(scope="module")
def small() -> LevelBound:
    """A bound whose certificate is quick."""
    return bound_of(Fraction(1, 10), 10, 4, 12)


@pytest.mark.parametrize(("p", "s", "workers", "slots"), SYSTEMS)
def test_certified_is_what_was_computed(p: Fraction, s: int, workers: int, slots: int) -> None:
    """Two codes, doubles and balls, agree within 1e-9; more bits give no larger a number."""
    bound = bound_of(p, s, workers, slots)
    made = certify(bound)
    for name in ("value", "spread", "upper", "lower"):
        assert getattr(made, name) == pytest.approx(getattr(bound, name), rel=1e-9)
    assert certify(bound, precision=200).value <= made.value


def test_published_ratio_is_certified() -> None:
    """``p = 1/20, U{1..50}, G = 8, B = 64``: at most 953 against FCFS's exact 2,256."""
    assert certify(bound_of(Fraction(1, 20), 50, 8, 64)).value < 954


def first(side: LevelSide, change: Callable[[Vertex], Vertex]) -> LevelSide:
    """A side with its first vertex changed."""
    return replace(side, vertices=(change(side.vertices[0]), *side.vertices[1:]))


def raised(values: np.ndarray, k: int, by: float) -> np.ndarray:
    """One entry multiplied."""
    new = np.array(values)
    new[k] *= by
    return readonly(new)


TAMPERED: dict[str, Callable[[LevelBound], LevelBound]] = {
    "value": lambda b: replace(b, value=0.999 * b.value),
    "spread": lambda b: replace(b, spread=0.999 * b.spread),
    "upper": lambda b: replace(b, upper=0.999 * b.upper),
    "lower": lambda b: replace(b, lower=0.999 * b.lower),
    "a vertex": lambda b: replace(b, above=first(b.above, lambda v: replace(v, value=0.999 * v.value))),
    "theta": lambda b: replace(b, above=first(b.above, lambda v: replace(v, thetas=raised(v.thetas, 0, 1.5)))),
    "eta": lambda b: replace(b, below=first(b.below, lambda v: replace(v, etas=raised(v.etas, 0, 0.5)))),
    "negative theta": lambda b: replace(b, above=first(b.above, lambda v: replace(v, thetas=raised(v.thetas, 0, -1)))),
    "negative eta": lambda b: replace(b, above=first(b.above, lambda v: replace(v, etas=raised(v.etas, 1, -1)))),
    "infinite eta": lambda b: replace(b, above=first(b.above, lambda v: replace(v, etas=raised(v.etas, 1, np.inf)))),
    "a lag left out": lambda b: replace(b, below=first(b.below, lambda v: replace(v, lags=v.lags + (v.lags > 3)))),
    "first lags left out": lambda b: replace(
        b,
        below=first(b.below, lambda v: replace(v, lags=v.lags[3:], widths=v.widths[3:], thetas=v.thetas[3:], etas=v.etas[3:])),
    ),
    "moment": lambda b: replace(b, below=replace(b.below, moment=replace(b.below.moment, value=0.999 * b.below.moment.value))),
    "b": lambda b: replace(b, above=replace(b.above, moment=replace(b.above.moment, b=2 * b.above.moment.b + 1))),
    "drift": lambda b: replace(b, above=replace(b.above, moment=replace(b.above.moment, drift=b.above.moment.drift + 1))),
    "weight": lambda b: replace(b, above=replace(b.above, moment=replace(b.above.moment, weight=-5))),
    "target": lambda b: replace(b, target=b.target + 1),
    "target that is no integer": lambda b: replace(b, target=b.target + 0.5),
    "another system": lambda b: replace(b, system=replace(b.system, slots=b.system.slots + 1)),
    "more workers": lambda b: replace(b, system=replace(b.system, workers=b.system.workers + 1)),
    "sides exchanged": lambda b: replace(b, above=b.below, below=b.above),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_tampered_bounds_are_refused(small: LevelBound, what: str) -> None:
    """Claims below what is proved, changed multipliers, wrong systems."""
    with pytest.raises(CertificateError):
        certify(TAMPERED[what](small))


def test_wasteful_claims_are_accepted(small: LevelBound) -> None:
    """A claim above what is proved is true; the certificate keeps the smaller number."""
    assert certify(replace(small, value=2 * small.value)).value == certify(small).value


def test_bad_input(small: LevelBound) -> None:
    """Fewer bits than a double, or something that is no bound."""
    with pytest.raises(ParameterError, match="precision"):
        certify(small, precision=20)
    with pytest.raises(ParameterError, match="chernoff_bound"):
        certify(small.value)  # type: ignore[arg-type]
