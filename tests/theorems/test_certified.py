"""Inequalities certified in balls: right values, brute force inside every interval, false statements refuted."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from fractions import Fraction
from math import exp, log, sqrt

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lbtheory.core import ParameterError
from lbtheory.theory import PromptLaw, from_weights, uniform
from lbtheory.theory.arithmetic import ball, balls
from lbtheory.theory.certified import (
    MEMBER,
    CertifiedInequality,
    Facts,
    Outcome,
    certify_constants,
    compare,
    deviation_rows,
    facts,
    lambda_rows,
    limit_rows,
    series_rows,
    slot_rows,
    tail_row,
    tilt_rows,
)
from lbtheory.theory.theorem1 import H, System, constants, system
from lbtheory.theory.tilting import lambda_limit, tilted_slot

SYSTEMS = [(4, 4, 64, 8), (10, 10, 1000, 16), (100, 100, 256, 64), (1000, 4000, 128, 32)]
REFUTED = {"regime-epsilon", "regime-slots"}


def paper(p: int, s: int, slots: int, workers: int) -> System:
    """A system of the spec's table: ``S ~ U{1..s}``, success probability ``1/p``."""
    return system(Fraction(1, p), uniform(s), workers, slots)


def by_id(rows: Iterator[CertifiedInequality] | tuple[CertifiedInequality, ...]) -> dict[str, CertifiedInequality]:
    """Rows by id, which must differ."""
    listed = list(rows)
    table = {row.id: row for row in listed}
    assert len(table) == len(listed)
    return table


@contextmanager
def numbers(of: System) -> Iterator[Facts]:
    """Facts of a system, with the balls' precision set."""
    with balls(128) as arithmetic:
        yield facts(of, arithmetic, 128)


def within(value: float, side: tuple[float, float], slack: float = 1e-9) -> bool:
    """Whether a double (with its own relative error) is inside an interval."""
    return side[0] - slack * abs(value) <= value <= side[1] + slack * abs(value)


@pytest.mark.parametrize(
    ("case", "v", "kappa", "epsilon"),
    [
        (SYSTEMS[0], 129.048130329, 6.05394280421e-5, 241.594701929),
        (SYSTEMS[1], 384.996975556, 3.24677875247e-6, 2375.87878479),
        (SYSTEMS[2], 4242.24463712, 2.94655331534e-9, 8046.79307053),
        (SYSTEMS[3], 109357.198831, 1.14304317718e-12, 29173.3319449),
    ],
)
def test_the_four_systems(case: tuple[int, int, int, int], v: float, kappa: float, epsilon: float) -> None:
    """Every step is certified; ``ε ≤ s`` and ``B ≥ B₀`` are refuted, as the spec says; the intervals hold the spec's values."""
    of = paper(*case)
    rows, variance, q = by_id(certify_constants(of)), float(of.slot_variance), float(of.q)
    explicit = 0.4748 * 4 * ((of.s - 1) ** 3 + 192 * q / (1 - q) ** 3) / (variance / 2) ** 1.5
    for row in rows.values():
        assert row.outcome is (Outcome.REFUTED if row.id in REFUTED else Outcome.CERTIFIED), row
        assert row.lhs[0] <= row.lhs[1] and row.rhs[0] <= row.rhs[1] and row.bits == 128
    for side, right in (
        (rows["V-series-below"].rhs, v),
        (rows["kappa-positive"].rhs, kappa),
        (rows["regime-epsilon"].lhs, epsilon),
        (rows["regime-slots"].lhs, (16 * explicit) ** 2),
        (rows["regime-workers"].rhs, 64 * lambda_limit(of.p, of.s) ** 2 * variance * of.slots),
        (rows["maximum-all"].lhs, H),
        (rows["maximum-all"].lhs, 0.1227630646),
    ):
        assert within(right, side) and side[1] - side[0] <= 1e-9 * right


@pytest.mark.parametrize(("case", "slots"), [((4, 4, 8), 334_131), ((10, 10, 16), 7_394_547)])
def test_the_frontier_is_decided(case: tuple[int, int, int], slots: int) -> None:
    """``ε ≤ s`` from the spec's smallest number of slots on, and not with one slot fewer."""
    p, s, workers = case
    for count, outcome in ((slots - 1, Outcome.REFUTED), (slots, Outcome.CERTIFIED)):
        assert by_id(certify_constants(paper(p, s, count, workers)))["regime-epsilon"].outcome is outcome


def test_a_system_where_the_whole_theorem_is_certified() -> None:
    """At ``p = 1/4, S ~ U{1..4}, G = 8`` the ratio bound holds from ``⌈B₀⌉ = 271,299,896`` slots on; ``B₀`` binds."""
    first = 271_299_896
    assert all(row.outcome is Outcome.CERTIFIED for row in certify_constants(paper(4, 4, first, 8)))
    rows = by_id(certify_constants(paper(4, 4, first - 1, 8)))
    assert rows["regime-slots"].outcome is Outcome.REFUTED and rows["regime-epsilon"].outcome is Outcome.CERTIFIED


CASES = [
    system(Fraction(1, 4), uniform(4), 8, 64),
    system(Fraction(1, 100), uniform(400, 3), 128, 64),
    system(Fraction(9, 10), from_weights([2, 30], [5, 1]), 3, 5),
    system(Fraction(1, 2), from_weights([1, 2], [1, 1]), 2, 1),
]


@pytest.mark.parametrize("of", CASES)
def test_brute_force_is_inside(of: System) -> None:
    """Sums over ages for the coin's moments, and the tilted moments in doubles on a grid, keep to the certified intervals."""
    rows, made, p, q = by_id(certify_constants(of)), constants(of), float(of.p), float(of.q)
    ages = np.arange(int(60 / (1 - made.r)) + 1)
    law, width = p * q**ages, of.s + 1 + ages
    assert within(float(p * q * (law * width**2 * np.exp(made.theta0 * width)).sum()), rows["V-series-below"].rhs)
    assert within(float((law * width**2).sum()), rows["mu2-series-below"].rhs)
    quotients = []
    for theta in np.linspace(0.02, 1, 40) * made.theta0:
        y = theta * width
        coin = np.maximum(p * np.expm1(q * y) + q * np.expm1(-p * y), p * np.expm1(-q * y) + q * np.expm1(p * y))
        assert (coin <= 0.5 * p * q * y**2 * np.exp(y) * (1 + 1e-9)).all()
        quotients.append(2 * np.log1p((law * coin).sum()) / theta**2)
    side = rows["mgf-load"].lhs
    assert max(quotients) <= side[1] * (1 + 1e-9) and within(max(p * q * float(made.mu2), quotients[-1]), (side[0], side[0]))
    limit = lambda_limit(of.p, of.s)
    slots = [tilted_slot(of.p, of.law, tilt) for tilt in np.linspace(0, limit, 40)]
    variances, ratios = [slot.variance for slot in slots], [slot.berry_esseen for slot in slots]
    means = [slots[0].variance, *(slot.shift / slot.tilt for slot in slots[1:])]  # the first is the limit of K'(λ)/λ at 0
    assert within(min(variances), rows["tilt-variance-below"].rhs) and within(max(variances), rows["tilt-variance-above"].lhs)
    assert within(min(means), rows["tilt-mean-below"].rhs) and within(max(means), rows["tilt-mean-above"].lhs)
    assert rows["berry-esseen"].lhs[0] <= min(ratios) * (1 + 1e-9) and max(ratios) <= rows["berry-esseen"].lhs[1]
    assert within(slots[-1].age_third, rows["third-moment"].lhs)


@given(
    p=st.fractions(Fraction(1, 2000), Fraction(1999, 2000), max_denominator=3000),
    weights=st.dictionaries(st.integers(1, 200), st.integers(1, 50), min_size=2, max_size=6),
    slots=st.integers(1, 10**9),
    workers=st.integers(2, 10**6),
)
@settings(max_examples=60, deadline=None)
def test_any_system_is_certified(p: Fraction, weights: dict[int, int], slots: int, workers: int) -> None:
    """No step of the proof fails anywhere, and nothing stays undecided; the conditions agree with their doubles."""
    of = system(p, from_weights(list(weights), list(weights.values())), workers, slots)
    rows = by_id(certify_constants(of))
    for row in rows.values():
        assert row.outcome is Outcome.CERTIFIED or (row.id.startswith("regime-") and row.outcome is Outcome.REFUTED), row
    epsilon = constants(of).epsilon
    if abs(epsilon - of.s) > 1e-9 * of.s:
        assert (rows["regime-epsilon"].outcome is Outcome.CERTIFIED) == (epsilon <= of.s)


@pytest.mark.parametrize(
    ("p", "law"),
    [
        (Fraction(1, 10**9), uniform(4000)),
        (Fraction(1, 10**30), from_weights([1, 10**9], [1, 1])),
        (1 - Fraction(1, 10**30), uniform(10)),
        (Fraction(0.3), from_weights([1, 2], [1, 10**40])),
    ],
)
def test_extreme_systems_are_certified(p: Fraction, law: PromptLaw) -> None:
    """Where doubles are of no use, more digits are taken until every row is decided; the caller's precision is not touched."""
    before = flint.ctx.prec
    for row in certify_constants(system(p, law, 10**6, 10**6)):
        assert row.outcome is Outcome.CERTIFIED or (row.id.startswith("regime-") and row.outcome is Outcome.REFUTED), row
    assert flint.ctx.prec == before


def test_members_of_a_minimum_touch() -> None:
    """``θ₀`` and ``λ₀`` equal one member of their minimum: that row is certified by the definition, the others by balls."""
    for case, touching in (
        (SYSTEMS[0], {"theta0-rate", "lambda0-span"}),
        (SYSTEMS[3], {"theta0-size", "lambda0-span"}),
        ((10**6, 4, 1, 2), {"theta0-rate", "lambda0-success"}),
        ((4, 2, 1, 2), {"theta0-rate", "lambda0-success"}),
        ((2, 2, 1, 2), {"theta0-size", "lambda0-span", "lambda0-root"}),
    ):
        rows = certify_constants(paper(*case))
        assert {row.id for row in rows if row.argument == MEMBER} == touching
        assert all(row.outcome is Outcome.CERTIFIED for row in rows if not row.id.startswith("regime-"))


def test_false_statements_are_refuted() -> None:
    """Each constant made worse by a factor turns its row, and no plain evaluation certifies it."""
    with numbers(paper(*SYSTEMS[0])) as at:
        values, refuted = at.values, Outcome.REFUTED
        small = replace(at, values=replace(values, V=values.V / 10))
        assert by_id(slot_rows(small))["mgf-load"].outcome is refuted
        assert by_id(series_rows(small))["V-series-below"].outcome is refuted
        assert by_id(series_rows(replace(at, values=replace(values, V=values.V * 1.001))))["V-series-above"].outcome is refuted
        assert by_id(series_rows(replace(at, mu2=at.mu2 - 1)))["mu2-series-below"].outcome is refuted
        assert by_id(tail_row(replace(at, values=replace(values, kappa=2 * values.kappa))))["tail"].outcome is refuted
        assert (
            by_id(limit_rows(replace(at, values=replace(values, kappa=0 * values.kappa))))["kappa-positive"].outcome is refuted
        )
        far = replace(at, lambda0=10 * at.lambda0)  # `by_span` is a claim of one number that the balls refute
        assert {row.id for row in lambda_rows(far) if row.outcome is refuted} == {
            "lambda0-root",
            "lambda0-failure",
            "lambda0-success",
            "lambda0-span",
        }
        assert by_id(tilt_rows(replace(at, variance=4 * at.variance)))["tilt-variance-below"].outcome is refuted
        assert by_id(tilt_rows(replace(at, variance=4 * at.variance)))["tilt-mean-below"].outcome is refuted
        low = by_id(tilt_rows(replace(at, variance=at.variance / 10)))
        assert low["tilt-variance-above"].outcome is refuted and low["tilt-mean-above"].outcome is refuted


@pytest.mark.parametrize("p", [Fraction(1, 1000), Fraction(1, 2), Fraction(99, 100)])
def test_one_half_is_the_best_factor(p: Fraction) -> None:
    """``E e^{θ(ξ−p)a} ≤ 1 + c p q θ²Z² e^{|θ|Z}`` is refuted for ``c < ½``, exactly, and certified for ``c ≥ ½``."""
    with numbers(system(p, uniform(9), 4, 4)) as at:
        for factor, outcome, value in (
            (Fraction(499, 1000), Outcome.REFUTED, 500 / 499),
            (Fraction(1, 2), Outcome.CERTIFIED, 1),
            (Fraction(2, 3), Outcome.CERTIFIED, 3 / 4),
        ):
            row = by_id(slot_rows(at, factor))["mgf"]
            assert row.outcome is outcome and within(value, row.lhs, 1e-15) and row.lhs[1] - row.lhs[0] < 1e-15


def test_the_exponent_falls_short_by_a_square() -> None:
    """The large-deviation row holds for every ``G``: its sides differ by ``(√(log G) − √2)²/8``, least at ``G = 7``."""
    margins = {}
    for workers in (2, 3, 6, 7, 8, 9, 10, 100, 10**9, 10**300):
        with numbers(system(Fraction(1, 4), uniform(4), workers, 1)) as at:
            row = by_id(deviation_rows(at))["large-deviation"]
        assert row.outcome is Outcome.CERTIFIED
        margins[workers] = row.rhs[0] - row.lhs[1]
        assert margins[workers] == pytest.approx((sqrt(log(workers)) - sqrt(2)) ** 2 / 8, rel=1e-6)
    assert min(margins, key=margins.__getitem__) == 7 and margins[7] == pytest.approx(4.631e-5, rel=1e-3)


def test_the_maximum_in_closed_form() -> None:
    """At ``G = 2`` the probability is ``a₀ 2^{−1/4}``, just above ``h``; it is the least of all."""
    with numbers(system(Fraction(1, 4), uniform(4), 2, 1)) as at:
        rows = by_id(deviation_rows(at))
    chance = exp(-0.25) / 5 * 2**-0.25
    assert within(chance, rows["maximum"].rhs) and within(chance, rows["maximum-all"].rhs) and 0 < chance - H < 0.009


def test_comparisons() -> None:
    """Overlapping sides are undecided unless they are one number; fractions are compared exactly; strict means strict."""
    with numbers(paper(*SYSTEMS[0])) as at:
        third = ball(Fraction(1, 3))
        wide = (ball(0), ball(2))
        assert compare(at, "x", "x", third, third).outcome is Outcome.UNDECIDED
        assert compare(at, "x", "x", third, third, same=True).outcome is Outcome.CERTIFIED
        assert compare(at, "x", "x", third, ball(0), same=True).outcome is Outcome.REFUTED
        assert compare(at, "x", "x", Fraction(1, 3), Fraction(1, 3)).outcome is Outcome.CERTIFIED
        assert compare(at, "x", "x", Fraction(1, 3), Fraction(1, 3), strict=True).outcome is Outcome.REFUTED
        assert compare(at, "x", "x", wide, 1).outcome is Outcome.UNDECIDED
        assert compare(at, "x", "x", wide, 2).outcome is Outcome.CERTIFIED
        assert compare(at, "x", "x", wide, 2, strict=True).outcome is Outcome.UNDECIDED
        assert compare(at, "x", "x", 3, wide).outcome is Outcome.REFUTED
        lost = compare(at, "x", "x", ball(1) / 0, 5)
        assert lost.outcome is Outcome.UNDECIDED and lost.lhs == (-np.inf, np.inf)
        row = compare(at, "x", "x", third, 1)
        assert Fraction(row.lhs[0]) < Fraction(1, 3) < Fraction(row.lhs[1]) and row.lhs[1] - row.lhs[0] < 1e-15
        assert row.rhs == (1, 1)
    assert {field.name for field in fields(row)} == {"id", "statement", "lhs", "rhs", "outcome", "argument", "bits"}


def test_one_worker_is_refused() -> None:
    """The theorem asks for two workers."""
    with pytest.raises(ParameterError, match=r"`of.workers` of `certify_constants` must be at least 2; got 1"):
        certify_constants(system(Fraction(1, 4), uniform(4), 1, 4))
