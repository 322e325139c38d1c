"""Derivations checked by SymPy: all steps hold, formulas agree with the numbers, and false steps are refused."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Rational, exp, log, sqrt

from lbtheory.theory import symbolic, uniform
from lbtheory.theory.arithmetic import digits
from lbtheory.theory.symbolic import (
    B,
    Derivation,
    DerivationError,
    G,
    a,
    at_most,
    derivations,
    epsilon,
    equal,
    latex,
    markdown,
    mu2,
    n,
    p,
    p_lam,
    q,
    q_lam,
    r,
    s,
    sigma,
    tangent,
    theta0,
    total,
    u,
    v,
    x,
    y,
)
from lbtheory.theory.theorem1 import H, constants, system

IDS = """V mu2 sigma2 cumulant tilt third-moment mgf mgf-load tail excess decomposition one-step second-moment recursion ratio
scaling-regime spread large-deviation maximum"""


def test_every_derivation_is_made() -> None:
    """One for every formula and every step of the proof that is algebra; each has steps and says where it comes from."""
    made = derivations()
    assert list(made) == IDS.split()
    for id, derivation in made.items():
        assert derivation.id == id and derivation.steps and derivation.kind in ("proved", "ours") and derivation.source
        assert isinstance(derivation.statement, sympy.core.relational.Relational | sympy.And)


@pytest.mark.parametrize("id", IDS.split())
def test_no_step_says_nothing(id: str) -> None:
    """The two sides of every step are different expressions."""
    for step in derivations()[id].steps:
        assert step.expression.lhs != step.expression.rhs and step.text and step.check


SPEC = {
    (4, 4, 64, 8): ("3.64005494464", "129.048130329", "241.594701929", "0.00146458066375"),
    (10, 10, 1000, 16): ("9.9121138008", "384.996975556", "2375.87878479", "0.00271836504479"),
    (100, 100, 256, 64): ("103.601399604", "4242.24463712", "8046.79307053", "0.000167680837003"),
    (1000, 4000, 128, 32): ("1527.19784246", "109357.198831", "29173.3319449", "4.05318437897e-6"),
}


@pytest.mark.parametrize("case", SPEC)
def test_statements_give_the_right_values(case: tuple[int, int, int, int]) -> None:
    """``σ``, ``V``, ``ε`` and the ratio of the spec's four systems from the symbolic statements alone, to 12 digits."""
    inverse, size, slots, workers = case
    made, success = derivations(), Rational(1, inverse)
    variance = sympy.Symbol(r"{\mathrm{Var}_S}")
    values: dict[Any, Any] = {p: success, q: 1 - success, s: size, B: slots, G: workers, n: slots * workers}
    sigma_value = sqrt(made["sigma2"].statement.rhs.subs({variance: Rational(size**2 - 1, 12)} | values))
    theta_value = sympy.Min(Rational(1, size + 1), -log(1 - success) / 2)
    values |= {sigma: sigma_value, theta0: theta_value, r: (1 - success) * exp(theta_value)}
    v_value = made["V"].statement.rhs.subs(values)
    kappa = success * sympy.Min(theta_value, success / (2 * v_value)) / 4
    values |= {mu2: made["mu2"].statement.rhs.subs(values), symbolic.kappa: kappa}
    epsilon_value = made["excess"].statement.rhs.subs(values)
    found = (sigma_value, v_value, epsilon_value, made["ratio"].statement.lhs.subs(values))
    for value, right in zip(found, SPEC[case], strict=True):
        assert abs(sympy.N(value, 25) / sympy.Float(right, 25) - 1) < 1e-11
    of = constants(system(Fraction(1, inverse), uniform(size), workers, slots), digits(25))
    assert abs(sympy.N(v_value, 25) / sympy.Float(str(of.V), 25) - 1) < 1e-20


@given(
    odds=st.fractions(Fraction(1, 50), Fraction(50), max_denominator=60),
    points=st.lists(st.fractions(Fraction(1, 20), Fraction(20), max_denominator=60), min_size=2, max_size=2),
)
@settings(max_examples=20, deadline=None)
def test_inequalities_hold_at_points(odds: Fraction, points: list[Fraction]) -> None:
    """The unconditional inequalities, evaluated: a check on the checker."""
    success = 1 / (1 + Rational(odds.numerator, odds.denominator))
    first, second = (Rational(point.numerator, point.denominator) for point in points)
    point = {p: success, q: 1 - success, q_lam: 1 - success, p_lam: success, x: first, y: second, symbolic.c: second}
    checked = 0
    for id in ("mgf", "mgf-load", "excess", "third-moment", "large-deviation", "maximum"):
        for step in derivations()[id].steps:
            if isinstance(step.expression, sympy.Le) and step.expression.free_symbols <= set(point):
                left, right = (side.subs(point).evalf(40) for side in step.expression.args)
                assert left <= right + sympy.Float("1e-30") * abs(right)
                checked += 1
    assert checked == 13


@pytest.mark.parametrize(
    "step",
    [
        lambda: equal("wrong square", (x + y) ** 2, x**2 + y**2),
        lambda: equal("without the definition", p * q, p * (1 - p) ** 2),
        lambda: total("wrong sum", a, r, r / (1 - r)),
        lambda: total("wrong second moment", a**2, q, q / (1 - q) ** 3),
        lambda: at_most("wrong way", x + y, x),
        lambda: at_most("false constant", (x + y) ** 3, 3 * (x**3 + y**3)),
        lambda: at_most("true only where q_λ is small", 6 * q_lam / p_lam**3, 95 * q / p**3, {q_lam: 2 * q, p_lam: p / 2}),
        lambda: at_most("not on all of the range", x, epsilon, {x: epsilon - u + v}),
        lambda: tangent("below its tangent", exp(x), 1 + x, x),
        lambda: tangent("does not touch", 1 + 2 * x, exp(x), x),
        lambda: tangent(
            "a factor below one half",
            p * exp(q * y) + q * exp(-p * y),
            1 + Rational(49, 100) * p * q * y**2 * exp(y),
            y,
            {exp(q * y): 1 + v, exp(-p * y): 1 / (1 + u), exp(y): (1 + u) * (1 + v)},
        ),
    ],
)
def test_false_steps_are_refused(step: Callable[[], object]) -> None:
    """A step that is false, or true on a part of its range only, raises."""
    with pytest.raises(DerivationError, match="fails"):
        step()


def test_steps_from_outside() -> None:
    """A notebook can derive with the same makers: ``Σ a r^a = r/(1−r)²``, ``4q_λ ≤ 4``, ``1 + x ≤ e^x``."""
    assert total("mean", a, r, r / (1 - r) ** 2).expression.rhs == r / (1 - r) ** 2
    assert at_most("below one", 4 * q_lam, 4, {q_lam: v / (1 + v)}).expression.rhs == 4
    assert "touch" in tangent("exponential", 1 + x, exp(x), x).check
    assert equal("odds", q, 1 - p).expression.lhs == q


def test_constants_of_the_maximum() -> None:
    """``h`` of the statement is ``1 − exp(−a₀ 2^{−1/4}) = 0.1227630646…``; the deviation's sides touch at ``log G = 2``."""
    left = derivations()["maximum"].statement.lhs.subs(y, exp(-Rational(1, 4)) / 5)
    assert float(left) == pytest.approx(H, rel=1e-14) and float(left) == pytest.approx(0.1227630646, abs=1e-10)
    sides = derivations()["large-deviation"].statement
    assert sympy.simplify(log(sides.lhs / sides.rhs).subs(G, exp(2)).evalf(30)) == pytest.approx(0, abs=1e-25)
    for workers in (2, 7, 8, 1000):
        assert sides.lhs.subs(G, workers).evalf() < sides.rhs.subs(G, workers).evalf()


def test_text_for_notebooks() -> None:
    """LaTeX holds every formula, Markdown every text as well, numbered."""
    derivation: Derivation = derivations()["V"]
    lines = latex(derivation).splitlines()
    assert lines[0] == r"\begin{gather*}" and lines[-1] == r"\end{gather*}" and len(lines) == 3 + len(derivation.steps)
    text = markdown(derivation)
    assert text.startswith("### Closed form of V\n") and r"\sum_{a=0}^{\infty}" in text and text.count("$$") == 2
    for number, step in enumerate(derivation.steps, 1):
        assert f"{number}. {step.text}: ${sympy.latex(step.expression)}$" in text
