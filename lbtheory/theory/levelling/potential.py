"""Theorem P (ours, proved): LEVEL bounded by a potential of the deviation; the sharpest bound here for few completions."""

from dataclasses import dataclass
from math import inf

import numpy as np

from lbtheory.core import ParameterError, readonly, whole_number
from lbtheory.theory.levelling import _potential_kernels as kernels
from lbtheory.theory.levelling._coupling import coupling_cost
from lbtheory.theory.levelling._frame import Frame, make_frame, objective, tails_of
from lbtheory.theory.levelling._stages import one_step, walk
from lbtheory.theory.levelling.chernoff import LevelBound, chernoff_bound
from lbtheory.theory.levelling.system import LevelSystem

ROUNDS = 5
"""Times that charges for the coupling of ages are renewed, less one."""
SETTLED = 1e-7
"""Value iteration stops when increments differ by less than this share of the largest reward."""
GRAIN = float(1 << 20)
"""Slopes of the potential are multiples of ``1/GRAIN``, so that sums of them are exact in doubles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PotentialBound:
    """``limsup E I ≤ value = G (constant + drift + Σ coupling + tails)``, in double precision, with what proves it.

    Attributes
    ----------
    system : LevelSystem
    target : int
        ``T``, tokens.
    value : float
        Tokens.
    constant, drift, tails : float
        ``K``; the largest one-step reward with drift; Theorem A's share beyond the range.
    coupling : tuple of float
        What ages can add by depending on the position, for the first, second, … completion of an iteration.
    base : LevelBound
        Theorem A at the same target.
    lowest : int
        Smallest deviation of the range.
    reference, potential : float64 arrays (n,)
        ``v(e)``, a guess of ``P(e' > e)`` that makes the objective linear, and ``H(e)``, convex with its least value at 0, for
        ``e = lowest, lowest + 1, …``
    knots : int64 array (K,)
        Equidistant positions.
    prices, heights : float64 arrays (I, K)
        ``λ_i`` (non-increasing) and ``W_i`` at the knots, for the ``I`` completions followed.
    groups : tuple of int
        Neighbouring knots that share one shape in the coupling of stage ``i``.
    """

    system: LevelSystem
    target: int
    value: float
    constant: float
    drift: float
    tails: float
    coupling: tuple[float, ...]
    base: LevelBound
    lowest: int
    reference: np.ndarray
    potential: np.ndarray
    knots: np.ndarray
    prices: np.ndarray
    heights: np.ndarray
    groups: tuple[int, ...]


def potential_bound(system: LevelSystem, *, target: int | None = None, knots: int = 400) -> PotentialBound:
    """Theorem P (ours, proved): ``limsup E I ≤ G (K + C + Σ ε_i + tails)`` for any potential, prices and heights.

    ``H`` is convex and least at 0, ``λ_i`` non-increasing, ``W_i`` anything; found by iteration against the worst prompts.

    Hypotheses as in `chernoff_bound`. Write ``x₀ = e + B``, ``x_{i+1} = x_i − w^{i+1}`` with ``w^i`` the workloads of slots
    drawn with replacement, ``h_c(v) = H(`` the point of ``[v, v + (s−1)c]`` nearest to 0 ``)``, ``b_c`` the binomial
    probability of ``c`` completions. Proof:

    1. ``E max e − E e = Σ_x φ(P(e > x))``, ``φ(u) = 1 − (1 − u)^G − u`` concave: tangents at ``v(x)`` give ``K + E f(e)``;
       beyond the range ``φ(u) ≤ (G−1)u`` above and ``1 − u`` below, and Theorem A bounds what is left (``tails``).
    2. Stationarity: ``E H(e) = E H(e')``, and ``e'`` is the point of ``[v, v + (s−1)c]`` nearest to 0, ``v = e + B − Σ_J
       w_b``, ``J`` a uniform set of ``c`` slots. ``h_c`` is convex, so sampling with replacement only adds (Hoeffding 1963,
       Theorem 4): ``E H(e') ≤ Σ b_c E h_c(x_c)``.
    3. Telescoping over any functions ``V_i``, with ``G_i = b_{i+1} h_{i+1} + V_{i+1}``: ``Σ_{c≥1} b_c h_c(x_c) = V₀(x₀) + Σ_i
       [G_i(x_{i+1}) − V_i(x_i)]``.
    4. ``Σ_b w_b = T + e`` is known: ``E λ_i(x_i) w^{i+1} = E λ_i(x_i)(T + e)/B``, and by exchangeability ``E λ_i(x_i)(T + e)
       = E λ_i(x_i)(T + x_i − B) + i E λ_i(x_i) w^i``. So stage ``i`` costs ``E (1/B) Σ_b F_i(x_i, w_b) − W_i(x_i)`` with
       ``F_i(x, w) = G_i(x−w) + ((i+1)/B) w λ_{i+1}(x−w) − λ_i(x) w`` and ``V_i(x) = λ_i(x)(T + x − B)/B + W_i(x)``.
    5. Prompts may depend on all the past: ``F_i(x, S_b + X_b) ≤ m_i(x; X_b)``, the largest over ``S``. Ages are i.i.d.
       geometric, and the position may depend on them: ``ε_i = E sup_x [(1/B) Σ_b m_i(x; X_b) − W_i(x)]``, at most a sum of
       ``E(Σ_b d(X_b))⁺`` over neighbouring positions, since ``max_l a_l ≤ a_0 + Σ_l (a_l − a_{l−1})⁺``.
    6. ``C = max_e [f(e) − H(e) + b_0 h_0(e + B) + V_0(e + B)]``.

    Checked: the proof; the bound against simulation and against the exact stationary law of two slots; with ages of exact
    frequency (``ε = 0``) and one prompt correlation it agrees with a simulated chain of that law to four digits.

    Parameters
    ----------
    system : LevelSystem
    target : int, optional
        ``T``; by default `LevelSystem.target`.
    knots : int
        Positions at which prices and heights are given, at least 20; linear between.

    Raises
    ------
    ParameterError
        Too many completions in an iteration to be followed one by one; iteration that does not settle; a target that is not
        an integer.
    """
    knots = whole_number("knots", "potential_bound", knots, 20)
    base = chernoff_bound(system, target=target)
    frame = make_frame(base, knots)
    reference = _reference(frame)
    potential, prices = _solve(frame, objective(reference, frame.lowest, system.workers)[0], _beyond(frame, reference))
    return bound_at(base, frame, reference, potential, prices)


def bound_at(
    base: LevelBound, frame: Frame, reference: np.ndarray, potential: np.ndarray, prices: np.ndarray
) -> PotentialBound:
    """Theorem P at any reference in [0, 1], convex potential and non-increasing prices; heights are chosen here."""
    workers, slots = base.system.workers, frame.slots
    reward, constant = objective(reference, frame.lowest, workers)
    stages = list(walk(frame, potential, prices, _beyond(frame, reference)))[::-1]
    groups = tuple(_group(frame, i) for i in range(frame.followed))
    coupling = tuple(
        stage.slack + coupling_cost(stage.shapes(slots), frame.weights, slots, group)
        for stage, group in zip(stages, groups, strict=True)
    )
    drift, tails = one_step(frame, potential, reward, stages[0]), tails_of(base, frame)
    return PotentialBound(
        system=base.system,
        target=base.target,
        value=workers * (constant + drift + sum(coupling) + tails),
        constant=constant,
        drift=drift,
        tails=tails,
        coupling=coupling,
        base=base,
        lowest=frame.lowest,
        reference=readonly(reference),
        potential=readonly(potential),
        knots=readonly(frame.start + frame.knots),
        prices=readonly(prices),
        heights=readonly(np.array([stage.heights for stage in stages])),
        groups=groups,
    )


def _beyond(frame: Frame, reference: np.ndarray) -> np.ndarray:
    """The guessed ``P(position > x)`` at the knots."""
    return np.interp(frame.start + frame.knots - frame.slots, frame.deviations, reference)


def _reference(frame: Frame) -> np.ndarray:
    """A guess of ``P(e' > e)``, prompts and ages as correlated as can be. Any values in [0, 1] are valid."""
    mass = np.zeros(len(frame.deviations))
    mass[-frame.lowest] = 1.0
    arguments = (frame.law, frame.p, frame.s, frame.slots, frame.target, frame.start, frame.size)
    for _ in range(80):
        before = mass.copy()
        kernels.forward(mass, frame.lowest, *arguments, 25)
        if np.abs(mass - before).sum() < 1e-5:
            break
    return np.clip(1 - np.cumsum(mass), 0, 1)


def _solve(frame: Frame, reward: np.ndarray, beyond: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Potential and prices by value iteration; charges for the coupling of ages are renewed between rounds."""
    potential = np.abs(frame.deviations).astype(float)
    charges = np.zeros((frame.followed, frame.size))
    values, prices = np.zeros((2, frame.followed + 1, frame.size))
    arguments = (frame.law, frame.p, frame.s, frame.slots, frame.target, frame.start)
    scale = float(np.abs(reward).max())
    for last in [False] * (ROUNDS - 1) + [True]:
        low, high = -inf, inf
        for _ in range(100):
            low, high = kernels.iterate(potential, frame.lowest, reward, *arguments, charges, values, prices, 20)
            if not 0 <= high - low < 1e6 * scale or high - low <= SETTLED * scale:
                break
        if not high - low <= SETTLED * scale:
            raise ParameterError(
                "`system` of `potential_bound` must be one in which value iteration settles; here deviations go where no"
                " prompts can steer them. Use `chernoff_bound`, or more slots."
            )
        knotted = np.minimum.accumulate(prices[:-1, frame.knots], axis=1)
        if last:
            break
        for i, stage in enumerate(walk(frame, convex(potential, frame.lowest), knotted, beyond)):
            charges[frame.followed - 1 - i] = frame.between(stage.charges)
    return convex(potential, frame.lowest), knotted


def convex(potential: np.ndarray, lowest: int) -> np.ndarray:
    """The least change outwards from 0 that makes a function convex with its least value, 0, at 0."""
    slopes = np.round(np.diff(potential) * GRAIN) / GRAIN
    slopes[-lowest:] = np.maximum.accumulate(np.maximum(slopes[-lowest:], 0))
    slopes[:-lowest] = np.minimum.accumulate(np.minimum(slopes[:-lowest], 0)[::-1])[::-1]
    made = np.concatenate([[0.0], np.cumsum(slopes)])
    return made - made[-lowest]


def _group(frame: Frame, i: int) -> int:
    """Neighbouring knots to join in the coupling of stage ``i``: the rarer its completion, the coarser."""
    chance = float(frame.law[i + 1 :].sum())
    return 1 if chance > 1e-3 else 8 if chance > 1e-6 else len(frame.knots)
