"""Every inequality of the decode theorem at a system, certified in balls instead of sampled (decode paper, section 6).

The range of a parameter is covered with cells; a formula is enclosed on a cell by its ends where it is monotone, otherwise by a
Lipschitz constant. What no cell can decide, as sides that touch, has an exact argument, named in the row.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from itertools import pairwise
from typing import Any

from lbtheory.core import ParameterError
from lbtheory.theory.arithmetic import Arithmetic, ball, balls
from lbtheory.theory.levelling._balls import above
from lbtheory.theory.theorem1 import Constants, System, constants, second_moment
from lbtheory.theory.tilting import BERRY_ESSEEN

BITS = (128, 256, 512)
"""Precisions, tried in turn until every row is decided."""
SLOT_CELLS, TILT_CELLS, MOST_CELLS = 16, (8, 32, 128), 4000
ENUMERATED = 64
"""Numbers of workers that the row for every ``G`` evaluates one by one."""
C_BE = Fraction(str(BERRY_ESSEEN))
MEMBER = "the sides are one number, this member of the minimum"

Range = tuple[Any, Any]
"""Balls; the number lies between the lower end of the first and the upper end of the second."""


class Outcome(Enum):
    """What balls say about an inequality."""

    CERTIFIED = "certified"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class CertifiedInequality:
    """One inequality ``lhs ≤ rhs`` (``<`` where the statement says so), decided in balls.

    Attributes
    ----------
    id, statement : str
    lhs, rhs : tuple of two floats
        Ends of an interval that certainly contains the side, rounded outwards.
    outcome : Outcome
        Decided in balls or fractions, not from these floats.
    argument : str
        What the cells rest on, or why sides may touch; empty for a plain evaluation.
    bits : int
        Precision of the balls.
    """

    id: str
    statement: str
    lhs: tuple[float, float]
    rhs: tuple[float, float]
    outcome: Outcome
    argument: str
    bits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Numbers of a system in balls; use them inside `lbtheory.theory.arithmetic.balls` only.

    Attributes
    ----------
    of : System
    bits : int
    values : Constants
        Theorem 1's constants.
    p, q, log_q, variance, mu2, lambda0 : arb
    by_success, by_span : bool
        Which member of its minimum ``λ₀`` certainly is: ``log(1 + p/(2q))`` or ``log 2/(2(s−1))``. They never agree, as no
        rational has 2 as an even power; ``½ log 2`` is never smaller than the second.
    """

    of: System
    bits: int
    values: Constants
    p: Any
    q: Any
    log_q: Any
    variance: Any
    mu2: Any
    lambda0: Any
    by_success: bool
    by_span: bool


def facts(of: System, arithmetic: Arithmetic, bits: int) -> Facts:
    """The numbers of a system in the balls of ``arithmetic``."""
    p = ball(of.p)
    success, span = ball(1 + of.p / (2 * of.q)).log(), ball(2).log() / (2 * (of.s - 1))
    return Facts(
        of=of,
        bits=bits,
        values=constants(of, arithmetic),
        p=p,
        q=ball(of.q),
        log_q=(-p).log1p(),
        variance=ball(of.slot_variance),
        mu2=ball(second_moment(of.p, of.s)),
        lambda0=success.min(span),
        by_success=bool(success <= span),
        by_span=bool(span <= success),
    )


def certify_constants(of: System) -> tuple[CertifiedInequality, ...]:
    """Decide every inequality of Theorem 1's proof at a system (proved: a certified row is a proof for these parameters).

    Rows ``regime-…`` are the conditions of the lower bound and the ratio: refuted where they fail.

    Raises
    ------
    ParameterError
        One worker: the theorem asks for ``G ≥ 2``.
    """
    if of.workers < 2:
        raise ParameterError(f"`of.workers` of `certify_constants` must be at least 2; got {of.workers}.")
    rows: list[CertifiedInequality] = []
    for bits in BITS:
        with balls(bits) as arithmetic:
            at = facts(of, arithmetic, bits)
            groups = (limit_rows, series_rows, slot_rows, tail_row, lambda_rows, tilt_rows, deviation_rows, regime_rows)
            rows = [row for group in groups for row in group(at)]
        if all(row.outcome is not Outcome.UNDECIDED for row in rows):
            break
    return tuple(rows)


def compare(
    at: Facts, id: str, statement: str, lhs: Any, rhs: Any, argument: str = "", *, strict: bool = False, same: bool = False
) -> CertifiedInequality:
    """Decide ``lhs ≤ rhs``, or ``<``, between fractions, balls and ranges; ``same``: one number by definition."""
    if isinstance(lhs, Fraction) and isinstance(rhs, Fraction):
        holds, fails = (lhs < rhs, lhs >= rhs) if strict else (lhs <= rhs, lhs > rhs)
    else:
        (a, b), (c, d) = _range(lhs), _range(rhs)
        holds, fails = (b < c, a >= d) if strict else (bool(b <= c) or (same and not a > d), a > d)
    outcome = Outcome.CERTIFIED if holds else Outcome.REFUTED if fails else Outcome.UNDECIDED
    sides = [(0.0 - above(-low), above(high)) for low, high in (_range(lhs), _range(rhs))]
    argument = MEMBER if same else argument
    return CertifiedInequality(
        id=id, statement=statement, lhs=sides[0], rhs=sides[1], outcome=outcome, argument=argument, bits=at.bits
    )


def _range(value: Any) -> Range:
    if isinstance(value, tuple):
        return value
    made = ball(value) if isinstance(value, Fraction | int) else value
    return made, made


def _supremum(cells: list[Range]) -> Range:
    """Range of the supremum of a function, given its ranges on cells that cover where it is defined."""
    low, high = cells[0]
    for least, most in cells[1:]:
        low, high = low.max(least.lower()), high.max(most.upper())
    return low, high


def _infimum(cells: list[Range]) -> Range:
    low, high = _supremum([(-most, -least) for least, most in cells])
    return -high, -low


def limit_rows(at: Facts) -> Iterator[CertifiedInequality]:
    """``θ₀``, ``r``, ``κ``. The two members of the minimum ``θ₀`` never agree: ``e^{−2/(s+1)}`` is irrational."""
    size, rate, root = ball(Fraction(1, at.of.s + 1)), -at.log_q / 2, at.q.sqrt()
    yield compare(at, "theta0-size", "θ₀ ≤ 1/(s+1)", at.values.theta0, size, same=bool(size <= rate))
    yield compare(at, "theta0-rate", "r = q e^{θ₀} ≤ √q", at.values.r, root, same=bool(rate <= size))
    yield compare(at, "root-q", "√q < 1", root, 1, strict=True)
    yield compare(at, "kappa-positive", "0 < κ", 0, at.values.kappa, strict=True)


def series_rows(at: Facts) -> Iterator[CertifiedInequality]:
    """``V`` and ``μ₂`` between a partial sum of their series and that sum with a bound of the rest."""
    wide = at.of.s + 1
    weight = at.p**2 * at.q * (at.values.theta0 * wide).exp()
    for id, closed, factor, ratio in (("V", at.values.V, weight, at.values.r), ("mu2", at.mu2, at.p, at.q)):
        partial, rest = _partial_sum(wide, ratio)
        yield compare(at, f"{id}-series-below", f"Σ_{{a<N}} ≤ {id}, over its series", factor * partial, closed)
        argument = "from the N-th on, each term is at most r(1 + 1/(s+1+N))² < 1 times the one before"
        yield compare(at, f"{id}-series-above", f"{id} ≤ Σ_{{a<N}} + rest", closed, factor * (partial + rest), argument)


def _partial_sum(wide: int, r: Any) -> tuple[Any, Any]:
    """``Σ_{a < N} (wide+a)² r^a``, doubling ``N`` until ``r^N < 2^{−40}``, and a bound of the rest (not finite if open)."""
    s0, s1, s2, power, n = ball(1), ball(0), ball(0), r, 1
    while not power < 2.0**-40 and n < 2**400:
        s0, s1, s2 = s0 + power * s0, s1 + power * (s1 + n * s0), s2 + power * (s2 + 2 * n * s1 + n * n * s0)
        power, n = power * power, 2 * n
    growth = r * (1 + ball(Fraction(1, wide + n))) ** 2
    rest = power * (wide + n) ** 2 / (1 - growth) if growth < 1 else ball(1) / 0
    return wide * wide * s0 + 2 * wide * s1 + s2, rest


def slot_rows(at: Facts, factor: Fraction = Fraction(1, 2)) -> Iterator[CertifiedInequality]:
    """The moment generating function of one completion (``factor`` stands for the paper's ½) and of a worker, ``|θ| ≤ θ₀``."""
    limit, (low, high) = Fraction(1, 2) / factor, _coin_supremum(at.p, at.q, factor)
    quotient = limit if high <= ball(limit) else (ball(limit).max(low), high)
    text = f"(E e^{{θ(ξ−p)a}} − 1)/({factor} p q y² e^y) ≤ 1 for every y = |θ|Z and |a| ≤ Z"
    argument = (
        "convex in a; to y = 1/4 at most the limit at 0, as the second derivative is at most p q e^y; cells; a decreasing bound"
    )
    yield compare(at, "mgf", text, quotient, Fraction(1), argument)
    theta0 = at.values.theta0
    grid = [theta0 * i / SLOT_CELLS for i in range(SLOT_CELLS + 1)]
    _, most = _supremum([_curvature(at, left, right) for left, right in pairwise(grid)])
    reached = (at.p * at.q * at.mu2).max(2 * _log_mgf(at, theta0) / theta0**2)
    text = "2 log E e^{θE_g(t)}/(Bθ²) ≤ V for |θ| ≤ θ₀ and the worst coefficients"
    argument = "log m ≤ m − 1 ≤ (θ²/2) sup m'', m a slot's factor; the worst sign is that of q − p, term by term of the series"
    yield compare(at, "mgf-load", text, (reached, most), at.values.V, argument)


def _coin_supremum(p: Any, q: Any, factor: Fraction) -> Range:
    """``sup_{y ≥ 1/4} max_± (E e^{±y(ξ−p)} − 1)/(factor p q y² e^y)``; not bounded if the cells do not decide."""
    scale, limit = ball(factor) * p * q, ball(Fraction(1, 2) / factor)

    def excess(y: Any) -> Any:
        return (p * (q * y).expm1() + q * (-p * y).expm1()).max(p * (-q * y).expm1() + q * (p * y).expm1())

    def beyond(y: Any) -> Any:
        """Decreasing bound of the quotient."""
        up, down = p * (-p * y).exp() + q * (-(1 + p) * y).exp(), p * (-(1 + q) * y).exp() + q * (-q * y).exp()
        return up.max(down) / (scale * y**2)

    end = ball(1)
    while not beyond(end) < limit and end < 2.0**64:
        end = 2 * end
    todo, done = [(ball(Fraction(1, 4)), end)], [(ball(0), beyond(end))]
    while todo and len(done) < MOST_CELLS:
        low, high = todo.pop()
        least, most = excess(low) / (scale * high**2 * high.exp()), excess(high) / (scale * low**2 * low.exp())
        middle = (low * high).sqrt().mid()
        if most < limit:
            done.append((least, most))
        else:
            todo += [(low, middle), (middle, high)]
    low, high = _supremum(done)
    return low, ball(1) / 0 if todo else high


def _ages(at: Facts, c: Any, order: int) -> Any:
    """``E Z^order e^{cZ}``, order 0 or 2, ``Z = s + 1 + X`` with a ghost age ``X``; increasing in ``c``."""
    wide, x, rest = at.of.s + 1, (at.log_q + c).exp(), -(at.log_q + c).expm1()
    total = 1 / rest if order == 0 else wide**2 / rest + 2 * wide * x / rest**2 + x * (1 + x) / rest**3
    return at.p * (c * wide).exp() * total


def _log_mgf(at: Facts, theta: Any) -> Any:
    """``log m(θ)``, ``m(θ) = E_X max_{|a| ≤ Z} E e^{θ(ξ−p)a}``, ``θ ≥ 0``."""
    side = 1 if at.of.q >= at.of.p else -1
    return (at.p * _ages(at, side * at.q * theta, 0) + at.q * _ages(at, -side * at.p * theta, 0)).log()


def _curvature(at: Facts, low: Any, high: Any) -> Range:
    """``m''`` on a cell of ``θ``."""
    up, down = (at.q, at.p) if at.of.q >= at.of.p else (at.p, at.q)
    least = up * _ages(at, up * low, 2) + down * _ages(at, -down * high, 2)
    most = up * _ages(at, up * high, 2) + down * _ages(at, -down * low, 2)
    return at.p * at.q * least, at.p * at.q * most


def tail_row(at: Facts) -> Iterator[CertifiedInequality]:
    """Chernoff's bound at ``θ = τ``."""
    tau, slots = at.values.tau, at.of.slots
    text = "log P(±E_g(t) > Bp/2) ≤ −κB, so P(u* > Bp) ≤ min{1, 4G e^{−κB}}"
    argument = "Chernoff at θ = τ, the worst coefficients; u* > Bp needs one of 4G events"
    yield compare(at, "tail", text, slots * (_log_mgf(at, tau) - tau * at.p / 2), -at.values.kappa * slots, argument)


def lambda_rows(at: Facts) -> Iterator[CertifiedInequality]:
    """What the choice of ``λ₀`` gives for ``λ ≤ λ₀``: at ``λ₀``, where each is tightest."""
    s, top, two = at.of.s, at.lambda0.exp(), ball(2)
    yield compare(at, "lambda0-root", "e^λ ≤ √2", top, two.sqrt(), same=at.by_span and s == 2)
    yield compare(at, "lambda0-failure", "q ≤ q_λ ≤ 2q", at.q * top, 2 * at.q, "q ≤ q_λ, as λ ≥ 0")
    yield compare(at, "lambda0-success", "p/2 ≤ p_λ", at.p / 2, 1 - at.q * top, same=at.by_success)
    yield compare(at, "lambda0-span", "2λ(s−1) ≤ log 2", 2 * (s - 1) * at.lambda0, two.log(), same=at.by_span)


def tilt_rows(at: Facts) -> Iterator[CertifiedInequality]:
    """Variance, mean and third moments under every tilt ``λ ∈ [0, λ₀]``."""
    variance, q = at.variance, at.q * at.lambda0.exp()
    for count in TILT_CELLS:
        spreads, ratios, drift = _tilted(at, count)
        least, most = _infimum(spreads), _supremum(spreads)
        if variance / 2 <= least[0] and most[1] <= 8 * variance:
            break
    argument = f"{count} cells of λ; the derivative of log Var_λ S is at most the span of S"
    yield compare(at, "tilt-variance-below", "σ²/2 ≤ σ_λ²", variance / 2, least, argument)
    yield compare(at, "tilt-variance-above", "σ_λ² ≤ 8σ²", most, 8 * variance, argument)
    argument = "K'(λ) is the integral of σ_μ² over [0, λ]"
    yield compare(at, "tilt-mean-below", "σ²/2 ≤ K'(λ)/λ", variance / 2, (least[0], variance.min(drift)), argument)
    yield compare(at, "tilt-mean-above", "K'(λ)/λ ≤ 8σ²", (variance.max(drift), most[1]), 8 * variance, argument)
    third, argument = 1 + 4 * q + q**2, "increases with λ"
    yield compare(at, "third-six", "E_λ A³ p_λ³/q_λ ≤ 6", third, 6, argument)
    yield compare(at, "third-moment", "E_λ A³ ≤ 96 q/p³", q * third / (1 - q) ** 3, 96 * at.q / at.p**3, argument)
    argument = "σ_λ³ ≤ E|x|³ ≤ (E x⁴)^{3/4}; the derivative of log E_λ(S − E_λS)⁴ is at most five spans of S"
    text = "C_BE E_λ|U − E_λU|³/σ_λ³ ≤ R_BE"
    yield compare(at, "berry-esseen", text, (ball(C_BE), ball(C_BE) * _supremum(ratios)[1]), _berry_esseen(at), argument)


def _tilted(at: Facts, count: int) -> tuple[list[Range], list[Range], Any]:
    """On ``count`` cells of ``[0, λ₀]`` ranges of ``σ_λ²`` and ``(E_λ(U−E_λU)⁴)^{3/4}/σ_λ³``; and ``K'(λ₀)/λ₀``."""
    law, spreads, ratios = at.of.law, [], []
    span = at.lambda0 * (law.s - law.smallest) / (2 * count)
    odds = [at.q * (at.lambda0 * i / count).exp() for i in range(count + 1)]
    ages = [(q / (1 - q) ** 2, q / (1 - q) ** 2 + 9 * q**2 / (1 - q) ** 4) for q in odds]
    for i, (left, right) in enumerate(pairwise(ages)):
        _, second, fourth = _prompt_moments(at, at.lambda0 * (2 * i + 1) / (2 * count))
        low, high = second * (-span).exp(), second * span.exp()
        spreads.append((low + left[0], high + right[0]))
        most = (fourth * (5 * span).exp() + 6 * high * right[0] + right[1]) / (low + left[0]) ** 2
        ratios.append((ball(1), most.root(4) ** 3))
    shift = _prompt_moments(at, at.lambda0)[0] - ball(law.mean) + odds[-1] / (1 - odds[-1]) - at.q / at.p
    return spreads, ratios, shift / at.lambda0


def _prompt_moments(at: Facts, tilt: Any) -> tuple[Any, Any, Any]:
    """``E_λ S``, ``Var_λ S`` and ``E_λ(S − E_λ S)⁴``."""
    law, zero = at.of.law, ball(0)
    weights = [(tilt * (t - law.s)).exp() * w for t, w in zip(law.sizes, law.weights, strict=True)]
    total = sum(weights, zero)
    mean = sum((t * w for t, w in zip(law.sizes, weights, strict=True)), zero) / total
    squares = [(t - mean) ** 2 for t in law.sizes]
    second = sum((x * w for x, w in zip(squares, weights, strict=True)), zero) / total
    return mean, second, sum((x * x * w for x, w in zip(squares, weights, strict=True)), zero) / total


def _berry_esseen(at: Facts) -> Any:
    """The explicit ``R_BE``."""
    return 4 * ball(C_BE) * ((at.of.s - 1) ** 3 + 192 * at.q / at.p**3) / (at.variance / 2).sqrt() ** 3


def deviation_rows(at: Facts) -> Iterator[CertifiedInequality]:
    """Large deviation of a worker, and the maximum of the workers; ``a₀ = e^{−1/4}/5``."""
    chance, log_g = (-ball(Fraction(1, 4))).exp() / 5, ball(at.of.workers).log()
    least = -(-chance / ball(2).root(4)).expm1()  # h

    def some(workers: int) -> Any:
        return -((workers - 1) * (-chance / ball(workers).root(4)).log1p()).expm1()

    normal = ball(Fraction(1, 2)).sqrt().erf() / 2 - ball(Fraction(1, 8))
    argument = "the tilted law at K'(λ) = σz/√B, λ ≤ λ₀; B ≥ B₀"
    yield compare(at, "normal-window", "1/5 ≤ Φ(1) − Φ(0) − 2/16", Fraction(1, 5), normal, argument)
    z = log_g.sqrt() / 16
    exponent = -(32 * z**2) - 4 * ball(2).sqrt() * z - ball(5).log()
    text, argument = "log(a₀G^{−1/4}) ≤ log(e^{−32z² − 4√2 z}/5), z = √(log G)/16", "the difference is (√(log G) − √2)²/8"
    yield compare(at, "large-deviation", text, chance.log() - log_g / 4, exponent, argument)
    text = "h ≤ 1 − (1 − a₀G^{−1/4})^{G−1}"
    yield compare(at, "maximum", text, least, some(at.of.workers))
    rest = -(-chance * ENUMERATED / ball(ENUMERATED + 1).root(4)).expm1()
    every = _infimum([_range(value) for value in (rest, *(some(workers) for workers in range(2, ENUMERATED + 1)))])
    argument = f"one by one to G = {ENUMERATED}; then 1 − x ≤ e^{{−x}} and (G−1)G^{{−1/4}} increases"
    yield compare(at, "maximum-all", f"{text} for every G ≥ 2", least, every, argument)
    yield compare(at, "lower-constant", "1/1024 ≤ h/16", Fraction(1, 1024), least / 16)


def regime_rows(at: Facts) -> Iterator[CertifiedInequality]:
    """The conditions of the lower bound and of the ratio."""
    of = at.of
    yield compare(at, "regime-epsilon", "ε ≤ s", at.values.epsilon, of.s)
    yield compare(at, "regime-slots", "B₀ ≤ B", (16 * _berry_esseen(at)) ** 2, of.slots)
    limit = 64 * at.lambda0**2 * at.variance * of.slots
    yield compare(at, "regime-workers", "log G ≤ 64 λ₀² σ² B", ball(of.workers).log(), limit)
