"""Derivations of the decode theorem's formulas, every step checked by SymPy when it is made.

A step is made by a function that checks it, or raises `DerivationError`:

- `equal`: the difference simplifies to 0;
- `total`: ``Σ_{a ≥ 0} P(a) r^a``, ``0 < r < 1``, telescopes: ``P(a) = Q(a) − r Q(a+1)`` with a polynomial ``Q``;
- `at_most`: the difference is a product of factors of known sign, or a quotient of sums of nonnegative terms;
- `tangent`: the sides touch at 0 and the second derivative of the difference is nonnegative.

Symbols are positive. An inequality on a part of the positive numbers is checked after a change of variables onto that part
(``where``); one change is always made, ``p = 1/(1+ω)``, ``q = ω/(1+ω)``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

import sympy
from sympy import Eq, Le, Rational, Symbol, exp, log, sqrt, symbols

from lbtheory.core import LBTheoryError

Where = Mapping[Any, Any]
Recipe = Callable[[], tuple[Any, ...]]


class DerivationError(LBTheoryError):
    """A step of a derivation could not be verified."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One verified step.

    Attributes
    ----------
    text : str
        Why it is there.
    expression : sympy relational
        What holds.
    check : str
        How it was verified.
    """

    text: str
    expression: Any
    check: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Derivation:
    """A formula of the theorem and its verified steps.

    Attributes
    ----------
    id, title, source : str
    statement : sympy relational
        What the steps give together.
    steps : tuple of Step
    kind : str
        "proved" (by the paper) or "ours" (proved too).
    """

    id: str
    title: str
    statement: Any
    steps: tuple[Step, ...]
    source: str
    kind: str


a, k = symbols("a k", integer=True, nonnegative=True)
u, v, omega = symbols("u v omega", nonnegative=True)
p, q, s, r, w, t, B, G, n, V, Z, x, y, z, c = symbols("p q s r w t B G n V Z x y z c", positive=True)
theta, theta0, tau, kappa, lam, mu2, sigma, epsilon = symbols(
    "theta theta_0 tau kappa lambda mu_2 sigma epsilon", positive=True
)
q_lam, p_lam, sigma_lam, excess = symbols("q_lambda p_lambda sigma_lambda X", positive=True)
gap_r, gap_g, xi = symbols("E_r E_g xi", real=True)
mean = sympy.Function("E")


def _vanishes(expression: Any, where: Where | None = None) -> bool:
    """Whether an expression is identically 0."""
    plain = sympy.sympify(expression).doit().subs(list((where or {}).items()))
    return any(sympy.simplify(form) == 0 for form in (plain, plain.subs({p: 1 / (1 + omega), q: omega / (1 + omega)})))


def _nonnegative(expression: Any, where: Where | None = None) -> bool:
    """Whether an expression is certainly at least 0; the changes of variables are made in their order."""
    changed = sympy.sympify(expression).subs(list((where or {}).items())).subs({p: 1 / (1 + omega), q: omega / (1 + omega)})
    value = sympy.factor(sympy.together(sympy.powsimp(changed)))
    terms = [term for part in sympy.fraction(value) for term in sympy.Add.make_args(sympy.expand(part))]
    return bool(value.is_nonnegative or all(term.is_nonnegative for term in terms))


def equal(text: str, left: Any, right: Any, where: Where | None = None) -> Step:
    """``left = right``, given the definitions ``where``; raises `DerivationError`."""
    if not _vanishes(left - right, where):
        raise DerivationError(f"the step {text!r} fails: {left} and {right} differ.")
    return Step(text=text, expression=Eq(left, right, evaluate=False), check="the difference simplifies to 0")


def total(text: str, polynomial: Any, ratio: Any, value: Any) -> Step:
    """``Σ_{a ≥ 0} P(a) ratio^a = value`` for ``0 < ratio < 1``, ``P`` a polynomial in `a`; raises `DerivationError`."""
    unknown = symbols(f"c0:{sympy.Poly(polynomial, a).degree() + 1}")
    tail = sum(c * a**i for i, c in enumerate(unknown))
    equations = sympy.Poly(tail - ratio * tail.subs(a, a + 1) - polynomial, a).all_coeffs()
    tail = tail.subs(sympy.solve(equations, unknown, dict=True)[0])
    if not (_vanishes(tail - ratio * tail.subs(a, a + 1) - polynomial) and _vanishes(tail.subs(a, 0) - value)):
        raise DerivationError(f"the step {text!r} fails: the sum is {sympy.factor(tail.subs(a, 0))}, not {value}.")
    left = sympy.Sum(polynomial * ratio**a, (a, 0, sympy.oo))
    return Step(text=text, expression=Eq(left, value, evaluate=False), check="the sum telescopes")


def at_most(text: str, left: Any, right: Any, where: Where | None = None) -> Step:
    """``left ≤ right`` wherever ``where`` reaches; raises `DerivationError`."""
    if not _nonnegative(right - left, where):
        raise DerivationError(f"the step {text!r} fails: the sign of {right - left} is not plain.")
    check = "the difference is a product of factors of known sign, or a quotient of sums of nonnegative terms"
    return Step(text=text, expression=Le(left, right, evaluate=False), check=check)


def tangent(text: str, left: Any, right: Any, at: Any, where: Where | None = None) -> Step:
    """``left ≤ right`` for all ``at ≥ 0``; raises `DerivationError`."""
    difference = right - left
    slope = sympy.diff(difference, at)
    if not (_vanishes(difference.subs(at, 0)) and _vanishes(slope.subs(at, 0)) and _nonnegative(sympy.diff(slope, at), where)):
        raise DerivationError(
            f"the step {text!r} fails: {left} and {right} do not touch at 0, or their difference is not convex."
        )
    check = "the sides touch at 0 and the second derivative of the difference is nonnegative"
    return Step(text=text, expression=Le(left, right, evaluate=False), check=check)


_RECIPES: dict[str, tuple[str, str, str, Recipe]] = {}


def _derivation(id: str, title: str, source: str = "decode paper, 6.3", kind: str = "proved") -> Callable[[Recipe], Recipe]:
    """Register a function that returns the statement (None: that of the last step) and the steps."""

    def register(recipe: Recipe) -> Recipe:
        _RECIPES[id] = (title, source, kind, recipe)
        return recipe

    return register


@cache
def derivations() -> Mapping[str, Derivation]:
    """All derivations by id; verified at the first call (about 4 s), which raises `DerivationError` if a step fails."""
    made = {}
    for id, (title, source, kind, recipe) in _RECIPES.items():
        statement, *steps = recipe()
        statement = steps[-1].expression if statement is None else statement
        made[id] = Derivation(id=id, title=title, statement=statement, steps=tuple(steps), source=source, kind=kind)
    return MappingProxyType(made)


def latex(derivation: Derivation) -> str:
    """The statement and below it the steps, as one LaTeX ``gather*``."""
    lines = [derivation.statement, *(step.expression for step in derivation.steps)]
    return "\\begin{gather*}\n" + " \\\\\n".join(sympy.latex(line) for line in lines) + "\n\\end{gather*}"


def markdown(derivation: Derivation) -> str:
    """Title, source, statement and numbered steps for a notebook."""
    lines = [f"### {derivation.title}", f"{derivation.source}; {derivation.kind}.", f"$${sympy.latex(derivation.statement)}$$"]
    lines += [f"{i}. {step.text}: ${sympy.latex(step.expression)}$" for i, step in enumerate(derivation.steps, 1)]
    return "\n\n".join(lines) + "\n"


def _series(size: Any, ratio: Any) -> Any:
    """``Σ_{a ≥ 0} (size + a)² ratio^a``."""
    rest = 1 - ratio
    return size**2 / rest + 2 * size * ratio / rest**2 + ratio * (1 + ratio) / rest**3


@_derivation("V", "Closed form of V", "decode paper, 6.1")
def _() -> tuple[Any, ...]:
    weight = p**2 * q * exp(theta0 * (s + 1))
    term = p * q * (s + 1 + a) ** 2 * exp(theta0 * (s + 1 + a)) * p * q**a
    return (
        Eq(V, weight * _series(s + 1, r), evaluate=False),
        equal("P(A = a) = p q^a", term, weight * (s + 1 + a) ** 2 * (q * exp(theta0)) ** a),
        at_most("r ≤ √q < 1, as θ₀ ≤ −½ log q", q * exp(theta0), sqrt(q), {theta0: -log(q) / 2 - log(1 + v)}),
        total("the sum, with r = q exp(θ₀)", (s + 1 + a) ** 2, r, _series(s + 1, r)),
    )


@_derivation("mu2", "Second moment of the largest coefficient", "decode paper, 6.1")
def _() -> tuple[Any, ...]:
    return (
        Eq(mu2, (s + 1 / p) ** 2 + q / p**2),
        total("over p", (s + 1 + a) ** 2, q, _series(s + 1, q)),
        equal("q = 1 − p", p * _series(s + 1, q), (s + 1 / p) ** 2 + q / p**2),
    )


@_derivation("sigma2", "Variance of a slot's workload", "decode paper, 6.1")
def _() -> tuple[Any, ...]:
    return (
        Eq(sigma**2, Symbol(r"{\mathrm{Var}_S}") + q / p**2),
        total("the mean age, over p", a, q, q / (1 - q) ** 2),
        total("its second moment, over p", a**2, q, q * (1 + q) / (1 - q) ** 3),
        equal("its variance", p * q * (1 + q) / (1 - q) ** 3 - (p * q / (1 - q) ** 2) ** 2, q / p**2),
    )


@_derivation("cumulant", "Cumulant function of a slot, K(λ) = log E exp(λ(U − E U))")
def _() -> tuple[Any, ...]:
    tilted, moment = q * exp(lam), sympy.Function("M")(lam)
    age = log(p / (1 - tilted)) - lam * q / p
    curvature = sympy.diff(moment, lam, 2) / moment - (sympy.diff(moment, lam) / moment) ** 2
    return (
        Eq(Symbol("K''"), Symbol(r"{\mathrm{Var}_{\lambda,S}}") + q_lam / p_lam**2),
        equal("the tilted age is geometric with q_λ = q exp(λ)", exp(lam * a) * p * q**a, p * tilted**a),
        total("so E exp(λA) = p/(1 − q_λ)", sympy.Integer(1), q_lam, 1 / (1 - q_lam)),
        equal("the age in K'", sympy.Derivative(age, lam), tilted / (1 - tilted) - q / p),
        equal("the age in K''", sympy.Derivative(age, (lam, 2)), tilted / (1 - tilted) ** 2),
        equal("the prompt in K'', M(λ) = E exp(λS)", sympy.Derivative(log(moment), (lam, 2)), curvature),
    )


@_derivation("tilt", "Variance and mean under a tilt λ ≤ λ₀")
def _() -> tuple[Any, ...]:
    m0, m1, m2, top, low, size = symbols(r"m_0 m_1 m_2 N D {\mathrm{Var}_S}", positive=True)
    age = q_lam / p_lam**2
    return (
        sympy.And(Le(sigma**2 / 2, sigma_lam**2), Le(sigma_lam**2, 8 * sigma**2), evaluate=False),
        equal("Var_λ S = N/D, copies S and S', m_k = E S^k exp(λS)", (m2 * m0 - m1**2) / m0**2, m2 / m0 - (m1 / m0) ** 2),
        at_most("1 ≤ exp(λ(S+S'−2)) ≤ 2", top / low, 2 * size, {top: 2 * size / (1 + u), low: 1 + v}),
        at_most("and so", size / 2, top / low, {top: size * (1 + u), low: 2 / (1 + v)}),
        at_most("q ≤ q_λ, p_λ ≤ p", q / (2 * p**2), age, {q_lam: q * (1 + u), p_lam: p / (1 + v)}),
        at_most("q_λ ≤ 2q, p_λ ≥ p/2", age, 8 * q / p**2, {q_lam: 2 * q / (1 + u), p_lam: p * (1 + v) / 2}),
        at_most("together", 2 * size + 8 * q / p**2, 8 * (size + q / p**2)),
        equal("K' is the integral of σ_λ²; from below", sympy.Integral(sigma**2 / 2, (x, 0, lam)), sigma**2 * lam / 2),
        equal("and from above", sympy.Integral(8 * sigma**2, (x, 0, lam)), 8 * sigma**2 * lam),
    )


@_derivation("third-moment", "Third moments under a tilt λ ≤ λ₀", "decode paper, 6.3; explicit constants ours", "ours")
def _() -> tuple[Any, ...]:
    bound, cube = 4 * ((s - 1) ** 3 + 192 * q / p**3), q_lam * (1 + 4 * q_lam + q_lam**2) / p_lam**3
    geometric, limits = {q_lam: v / (1 + v), p_lam: 1 / (1 + v)}, {q_lam: 2 * q / (1 + u), p_lam: p * (1 + v) / 2}
    return (
        Eq(Symbol("R_BE"), Symbol("C_BE") * bound / (sigma**2 / 2) ** Rational(3, 2), evaluate=False),
        total("E_λ A³, over p_λ", a**3, q_lam, (cube / p_lam).subs(p_lam, 1 - q_lam)),
        at_most("q_λ < 1", cube, 6 * q_lam / p_lam**3, geometric),
        at_most("q_λ ≤ 2q, p_λ ≥ p/2", 6 * q_lam / p_lam**3, 96 * q / p**3, limits),
        at_most("|A − m|³ ≤ A³ + m³ above m", (x - y) ** 3, x**3 + y**3, {x: y + v}),
        at_most("and below", (y - x) ** 3, x**3 + y**3, {y: x + v}),
        at_most("m = q_λ/p_λ: so E|A − m|³ ≤ 2 E A³", (q_lam / p_lam) ** 3, cube, geometric),
        at_most("prompt, at most s − 1, and age", (x + y) ** 3, 4 * (x**3 + y**3)),
    )


@_derivation("mgf", "Moment generating function of one completion, |a| ≤ Z")
def _() -> tuple[Any, ...]:
    up, down, bound = p * exp(q * y) + q * exp(-p * y), p * exp(-q * y) + q * exp(p * y), 1 + p * q * y**2 * exp(y) / 2
    return (
        Le(mean(exp(theta * (xi - p) * a)), bound.subs(y, theta * Z), evaluate=False),
        at_most("y = θa; convex, so largest at an end of |y| ≤ |θ|Z", 0, sympy.diff(up, y, 2)),
        tangent("at the upper end", up, bound, y, {exp(q * y): 1 + v, exp(-p * y): 1 / (1 + u), exp(y): (1 + u) * (1 + v)}),
        tangent("at the lower end", down, bound, y, {exp(p * y): 1 + u, exp(-q * y): 1 / (1 + v), exp(y): (1 + u) * (1 + v)}),
    )


@_derivation("mgf-load", "Moment generating function of a worker's excess, 0 ≤ θ ≤ θ₀")
def _() -> tuple[Any, ...]:
    return (
        Le(mean(exp(theta * Symbol("{E_g(t)}"))), exp(V * B * theta**2 / 2), evaluate=False),
        at_most("V = p q E Z² exp(θ₀Z)", exp(theta * Z), exp(theta0 * Z), {theta0: theta + log(1 + v) / Z}),
        tangent("one slot of B independent ones, y = Vθ²/2", 1 + y, exp(y), y),
    )


@_derivation("tail", "Tail of a worker's excess, and of u*")
def _() -> tuple[Any, ...]:
    half = {gap_r: B * p / 2 - u, gap_g: v - B * p / 2}
    return (
        Le(Symbol("{P(u^*>Bp)}"), 4 * G * exp(-kappa * B), evaluate=False),
        at_most("Chernoff, above a level y", 1, exp(theta * (x - y)), {x: y + log(1 + v) / theta}),
        at_most("θ = τ ≤ p/(2V)", V * B * tau**2 / 2 - tau * B * p / 2, -B * p * tau / 4, {V: p / (2 * tau * (1 + v))}),
        at_most("unless one of 4G excesses is beyond ±Bp/2 (largest E_r, least E_g)", gap_r - gap_g, B * p, half),
    )


@_derivation("excess", "The constant ε, a bound on E(u* − Bp)₊")
def _() -> tuple[Any, ...]:
    square = 8 * n * p * q * mu2
    return (
        Eq(epsilon, sqrt(square * sympy.Min(1, 4 * G * exp(-kappa * B))), evaluate=False),
        equal("variance of a term of coefficient z", p * (q * z) ** 2 + q * (p * z) ** 2, p * q * z**2),
        at_most("range of two numbers", (gap_r - gap_g) ** 2, 2 * gap_r**2 + 2 * gap_g**2),
        equal("so E u*² ≤ 4 Σ E E_g(t)²; n = G B", 4 * 2 * G * B * p * q * mu2, square, {n: G * B}),
        at_most("Cauchy–Schwarz: x = u*, where u* > Bp", x, (c * x**2 + 1 / c) / 2),
        equal("in the mean, x = E u*², y = P(u* > Bp), best c", (c * x + y / c) / 2, sqrt(x * y), {c: sqrt(y / x)}),
    )


@_derivation("decomposition", "Survivors' load, a_g = q(L_g + B) + ζ_g")
def _() -> tuple[Any, ...]:
    return (None, equal("slot by slot", (1 - xi) * (w + 1), q * (w + 1) - (xi - p) * (w + 1), {q: 1 - p}))


@_derivation("one-step", "One step of IO_0, X = (u* − Bp)₊")
def _() -> tuple[Any, ...]:
    zeta_r, zeta_g, load_r, load_g, c_r, c_g, most, wide = symbols("zeta_r zeta_g L_r L_g c_r c_g M u^*", real=True)
    parts = {zeta_r: gap_r - t * c_r + t * B * p, zeta_g: gap_g - (t + 1) * c_g + (t + 1) * B * p}
    before, after = zeta_r - zeta_g + t * c_r - (t + 1) * c_g, gap_r - gap_g - B * p
    bound, ends = q * (most - load_g) + s + excess, ((s + 1 - t) * (-w - 1) + t * (s - w)) / (s + 1)
    large = {load_r: most - u, wide: B * p + excess - v}
    return (
        Le(Symbol("I_k"), q * Symbol("I_k-1") + (G - 1) * (s + excess), evaluate=False),
        equal("a slot", t * xi - (xi - p) * (w + 1), (xi - p) * (t - w - 1) + t * p),
        equal("separation inequality at t; E_r = E_r(t), E_g = E_g(t+1)", before, after, parts),
        equal("E_g(t) lies between its values at 0 and s+1", t - w - 1, ends),
        at_most("a deficit > s, M = max L", q * (load_r - load_g) + wide - B * p, bound, large),
        at_most("a deficit ≤ s", s, bound, {most: load_g + v}),
        at_most("sum over g ≠ r, y = Σ L", (G - 1) * most - (y - load_r), G * most - y, {most: load_r + v}),
    )


@_derivation("second-moment", "Second moment of the imbalance; X the largest ghost age")
def _() -> tuple[Any, ...]:
    return (
        Le(mean(Symbol("I") ** 2), ((G - 1) * B) ** 2 * (2 * s**2 + 4 * n / p**2), evaluate=False),
        at_most("I ≤ (G−1)B(s + X)", (s + x) ** 2, 2 * s**2 + 2 * x**2),
        total("E X² ≤ n E A²; over p", a**2, q, q * (1 + q) / (1 - q) ** 3),
        at_most("and so", 2 * n * p * q * (1 + q) / p**3, 4 * n / p**2),
    )


@_derivation("recursion", "From one step to the long run, e_k ≤ q e_{k−1} + c")
def _() -> tuple[Any, ...]:
    value = q**k * x + c * (1 - q**k) / p
    return (
        None,
        equal("the worst case from e_0 = x", value.subs(k, k + 1), q * value + c),
        at_most("c = (G−1)(s+ε)", value, q**k * x + c / p),
    )


@_derivation("ratio", "Ratio of the two bounds, once ε ≤ s")
def _() -> tuple[Any, ...]:
    bound = p * sigma / (2048 * s) * G / (G - 1) * sqrt(B * log(G))
    quotient = G * sigma / 1024 * sqrt(B * log(G)) / ((G - 1) * (s + epsilon) / p)
    return (
        Le(bound, Symbol(r"{\bar I^{JSQ}/\bar I^{IO}}"), evaluate=False),
        at_most("ε ≤ s", bound, quotient, {s: epsilon + v, G: 1 + u}),
    )


@_derivation("scaling-regime", "How fast G may grow with B: ε ≤ s while G ≤ s exp(κB/2)/√(32 B p q μ₂)")
def _() -> tuple[Any, ...]:
    bound, few = 32 * n * G * p * q * mu2 * exp(-kappa * B), 4 * G * exp(-kappa * B)
    largest = s * exp(kappa * B / 2) / sqrt(32 * B * p * q * mu2)
    return (
        Le(epsilon**2, bound, evaluate=False),
        at_most("x = min{1, 4G exp(−κB)}", 8 * n * p * q * mu2 * x, bound, {x: few / (1 + v)}),
        equal("n = G B, at the largest G", bound, s**2, {n: G * B, G: largest}),
    )


@_derivation("spread", "SpreadLex: D' ≤ max{s, q D + X}, X = (u* − Bp)₊", "ours, 6.4.3", "ours")
def _() -> tuple[Any, ...]:
    spread = Symbol("D", positive=True)
    return (
        Le(Symbol(r"{\limsup\bar I}"), (G - 1) * (s + epsilon / p), evaluate=False),
        at_most("(D'−s)₊ ≤ q(D−s)₊ + X where D ≥ s", q * spread + excess - s, q * (spread - s) + excess, {spread: s + v}),
        at_most("where D ≤ s", q * spread + excess - s, excess, {s: spread + v}),
        equal("E(D−s)₊ tends to at most ε/p, the fixed point", q * epsilon / p + epsilon, epsilon / p),
        at_most("I ≤ (G−1) D", G * x - (x + (G - 1) * y), (G - 1) * (x - y)),
    )


@_derivation("large-deviation", "A worker above its mean, L ≥ B E U + σ√B z with K'(λ)√B = σz")
def _() -> tuple[Any, ...]:
    tilted = {lam: 2 * z / (sigma * sqrt(B) * (1 + u)), sigma_lam: 2 * sqrt(2) * sigma / (1 + v)}
    exponent = 32 * z**2 + 4 * sqrt(2) * z
    return (
        Le(exp(-Rational(1, 4)) / 5 * G ** Rational(-1, 4), exp(-exponent.subs(z, sqrt(log(G)) / 16)) / 5, evaluate=False),
        at_most("K'(λ) ≥ σ²λ/2", lam, 2 * z / (sigma * sqrt(B)), {z: sigma * lam * sqrt(B) * (1 + v) / 2}),
        at_most("so λ B K'(λ) is small", lam * sigma * sqrt(B) * z, 32 * z**2, tilted),
        at_most("one deviation more, σ_λ² ≤ 8σ²", lam * sigma_lam * sqrt(B), 4 * sqrt(2) * z, tilted),
        at_most("z = y/16, y = √(log G): a square", exponent.subs(z, y / 16), y**2 / 4 + Rational(1, 4), {y: sqrt(2) * x}),
    )


@_derivation("maximum", "Some worker is above, for every G ≥ 2; y = exp(−1/4)/5")
def _() -> tuple[Any, ...]:
    chance, others = y * G ** Rational(-1, 4), G - 1
    return (
        Le(1 - exp(-y * 2 ** Rational(-1, 4)), 1 - (1 - chance) ** others, evaluate=False),
        tangent("1 − x ≤ exp(−x)", 1 - x, exp(-x), x),
        at_most("(G−1)G^{−1/4} rises", 0, sympy.diff(others * G ** Rational(-1, 4), G), {G: 1 + v}),
    )
