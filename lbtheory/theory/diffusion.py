"""Laws of the imbalance at real ``B`` under control by prompt sizes (section 6.4.6, ours; heuristic, nothing here is proved).

**Diffusion law.** A worker's deviation ``x = L − mean`` is taken for ``dx = −p x dt − β sgn(x) dt + ν dW``. Slots complete with
probability ``p`` a step; the control is the choice of sizes in ``[x_min, x_max]``, always at the end that helps, so
``β = B p (x_max − x_min)/2``; the noise is ``ν² = B p q E[(U + 1 − x)²]``, ``U = S + A_*``, ``x`` half the time at either end.
The stationary density is proportional to ``exp(−(p x² + 2β|x|)/ν²)``: nearly FCFS's normal law at ``β = 0``; Laplace of scale
``ν²/(2β)``, free of ``B``, when control wins. ``Ī ≈ G E max_g x_g`` of independent workers. Assumed: both ends are always in
the queue; control pushes with all its force however little is needed; slots forget; many completions a step; workers are
apart.

**Renewed slots**, for LEVEL with the constant target ``T`` in rich supply, where workers are indeed independent. With
``R = Σ_b ξ_b w_b``, ``R° = Σ_b ξ_b (w_b − s + 1)``, the deviation ``e = L − T`` goes exactly to ``e'⁺ = (e + B − R)⁺``,
``e'⁻ = (R° − e − B)⁺``. Assumed: in each step ``R`` and ``R°`` are ``p e`` plus what slots drawn anew as ``S + A_*`` of mean
``T/B`` give, where ``S`` is 1 or ``s``, half each, for the share of admissions that the chain itself makes at an end, and
uniform for the rest. So control stops at the target, is limited to what a step admits, and noise is that of whole
completions. No constant is fitted.

Prediction over simulated value (section 6.4.7), eight systems ``(G, B, p, s)``:

====================== =========== ============== =========== ==============
system                 diffusion:  renewed slots: diffusion:  renewed slots:
                       LEVEL rich  LEVEL rich     BR-0        BR-0
====================== =========== ============== =========== ==============
8, 64, .01, 100        0.99        0.94           0.65        0.62
8, 256, .01, 100       1.06        0.98           0.57        0.53
8, 1024, .01, 100      1.37        1.00           0.64        0.47
64, 64, .01, 100       0.93        0.88           0.68        0.65
8, 64, .001, 4000      1.60        0.98           0.65        0.40
32, 128, .001, 4000    1.56        1.00           0.84        0.54
8, 64, .05, 50         1.55        1.02           1.02        0.67
128, 64, .01, 400      1.51        0.95           1.10        0.69
====================== =========== ============== =========== ==============

The diffusion has the right order and independence of ``B``, not the constant (0.57 to 1.6). Renewed slots are within 13 % for
LEVEL; worst where ages outweigh sizes and ``G`` is large, since slots that remember make long excursions likelier. Neither
describes BR-0 (stage 1 only, queue as it comes), which fills up to a maximum that moves. A diffusion with the noise of each
side apart (``E U²`` above, ``E (U + 1 − s)²`` below) is no better: 0.68 to 1.5 for BR-0, 1.2 to 2.1 for LEVEL.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, inf, log, log1p, log2, sqrt

import numpy as np
from scipy.integrate import quad
from scipy.special import log_ndtr

from lbtheory.core import ParameterError, readonly, whole_number
from lbtheory.theory.arithmetic import probability
from lbtheory.theory.benchmark_law import geometric
from lbtheory.theory.law import PromptLaw, uniform

POINTS = 40
"""Lattice points a scale of the deviation."""
STATES = 8000
"""Largest number of lattice points."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffusionLaw:
    """The diffusion law of one worker's deviation (heuristic). Made by `diffusion_law`.

    Attributes
    ----------
    p : Fraction
    pull : float
        ``β``, tokens a step.
    noise : float
        ``ν²``, tokens² a step.
    """

    p: Fraction
    pull: float
    noise: float

    @property
    def scale(self) -> float:
        """``ν²/(2β)``, tokens: of the Laplace law when control wins; infinite without control."""
        return self.noise / (2 * self.pull) if self.pull else inf

    @property
    def deviation(self) -> float:
        """``ν/sqrt(2p)``, tokens: the standard deviation without control."""
        return sqrt(self.noise / (2 * self.p))

    def survival(self, x: float | np.ndarray) -> np.ndarray:
        """``P(deviation > x)``."""
        shift = self.pull / float(self.p)
        distance = np.abs(np.asarray(x, dtype=float))
        tail = np.exp(log_ndtr(-(distance + shift) / self.deviation) - log_ndtr(-shift / self.deviation)) / 2
        return np.where(np.asarray(x) >= 0, tail, 1 - tail)

    def expected_maximum(self, workers: int) -> float:
        """``E max_{g ≤ G} x_g`` of independent deviations, tokens: ``∫_0^∞ 1 − (1 − t)^G − t^G``, ``t = P(x_g > ·)``."""
        workers = whole_number("workers", "expected_maximum", workers, 1)
        if workers == 1:
            return 0.0
        unit = min(self.scale, self.deviation)

        def density(y: float) -> float:
            t = float(self.survival(unit * y))
            return float(-np.expm1(workers * np.log1p(-t)) - t**workers)

        ends = [0.0, log(workers) / 2, log(workers), log(workers) + 4, log(workers) + 12, log(workers) + 40]
        return unit * float(sum(quad(density, a, b, epsrel=1e-11)[0] for a, b in pairwise(ends)))

    def imbalance(self, workers: int) -> float:
        """``G E max_g x_g``, tokens."""
        return workers * self.expected_maximum(workers)


def diffusion_law(p: Fraction | float, law: PromptLaw, slots: int) -> DiffusionLaw:
    """The diffusion law of ``B`` slots (heuristic; see the module for what is assumed and how far it is off).

    Raises
    ------
    ParameterError
    """
    exact = probability(p, "diffusion_law")
    slots = whole_number("slots", "diffusion_law", slots, 1)
    q = 1 - exact
    mean, variance = law.mean + q / exact, law.variance + q / exact**2
    square = variance + sum((mean + 1 - x) ** 2 for x in (law.smallest, law.s)) / 2
    return DiffusionLaw(
        p=exact, pull=float(slots * exact * (law.s - law.smallest) / 2), noise=float(slots * exact * q * square)
    )


def crossover_slots(p: Fraction | float, law: PromptLaw) -> float:
    """``(4/(p (x_max − x_min + 1)))²``: control matters for ``B`` far above it (heuristic).

    Raises
    ------
    ParameterError
    """
    return float((4 / (probability(p, "crossover_slots") * (law.s - law.smallest + 1))) ** 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class RenewedLaw:
    """The renewed-slots law of LEVEL in rich supply (heuristic). Made by `renewed_law`.

    Attributes
    ----------
    deviations : float64 array, increasing
        ``e = L − T``, tokens, on a lattice.
    probabilities : float64 array
    at_target : float
        ``P(e = 0)``.
    extreme_share : float
        Share of the admissions that are all 1 or all ``s``.
    """

    deviations: np.ndarray
    probabilities: np.ndarray
    at_target: float
    extreme_share: float

    def imbalance(self, workers: int) -> float:
        """``G (E max_g e_g − E e)`` of independent workers, tokens.

        Raises
        ------
        ParameterError
            More workers than the lattice reaches.
        """
        workers = whole_number("workers", "imbalance", workers, 1)
        if workers * self.probabilities[-1] > 1e-6:
            raise ParameterError(
                f"`workers` of `imbalance` must not exceed those of `renewed_law`; got {workers}. Give it more."
            )
        below = np.cumsum(self.probabilities)[:-1]
        step = self.deviations[1] - self.deviations[0]
        return float(workers * step * (np.sum(below) - np.sum(below**workers)))


def renewed_law(p: Fraction | float, s: int, slots: int, workers: int, *, points: int = POINTS) -> RenewedLaw:
    """Deviation of a worker of ``B`` slots under LEVEL with sizes ``1 … s`` in rich supply (heuristic; so far within 13 %).

    Parameters
    ----------
    p, s, slots
    workers : int
        ``G``; the lattice reaches as far as the largest of ``G`` deviations.
    points : int
        Lattice points a scale ``min{ν²/(2β), ν/sqrt(2p)}``; a step is at least one token.

    Raises
    ------
    ParameterError
    """
    exact, s = probability(p, "renewed_law"), whole_number("s", "renewed_law", s, 1)
    slots, workers = whole_number("slots", "renewed_law", slots, 1), whole_number("workers", "renewed_law", workers, 1)
    points = whole_number("points", "renewed_law", points, 4)
    geometric(exact, "renewed_law")
    if s == 1:
        raise ParameterError("`s` of `renewed_law` must be at least 2; got 1. With one size there is nothing to control.")
    plain = diffusion_law(exact, uniform(s), slots)
    step = max(1.0, min(plain.scale, plain.deviation) / points)
    half = ceil((16 + 2 * log(workers)) * min(plain.scale, plain.deviation) / step)
    if 2 * half + 1 > STATES:
        raise ParameterError(f"`points` of `renewed_law` must leave at most {STATES} lattice points; got {2 * half + 1}.")
    share = 1.0
    for _ in range(50):
        law, after = _chain(float(exact), s, slots, step, half, share)
        if abs(after - share) < 1e-4:
            break
        share = after
    return RenewedLaw(
        deviations=readonly(step * np.arange(-half, half + 1)),
        probabilities=readonly(law),
        at_target=float(law[half]),
        extreme_share=share,
    )


def _chain(p: float, s: int, slots: int, step: float, half: int, share: float) -> tuple[np.ndarray, float]:
    """Stationary law of ``e`` on ``step · {−half, …, half}``, and the share of admissions at an end that it makes."""
    q = 1 - p
    workload = _workload(p, s, share, step)
    length = (slots * p + 12 * sqrt(slots * p) + 2) * len(workload) + 4 * half + slots / step
    period = 2 ** ceil(log2(min(length, slots * len(workload) + 4 * half + slots / step + 4)))
    place = np.arange(period) - period // 2
    shift = (s - 1) / step
    whole, part = floor(shift), shift - floor(shift)
    reduced = (1 - part) * np.append(0, workload) + part * np.append(workload, 0)  # of w − (s − 1), from −whole − 1 on
    base, steps = q * np.arange(-half, half + 1)[:, None] + slots / step, np.arange(1, half + 1)
    move, admitted = np.zeros((2 * half + 1, 2 * half + 1)), np.zeros(2 * half + 1)
    for values, start, where, side in (
        (workload, 0, base - steps, slice(half + 1, None)),
        (reduced, -whole - 1, base + steps[::-1], slice(None, half)),
    ):
        folded = np.bincount((start + np.arange(len(values))) % period, weights=values, minlength=period)
        wave = np.fft.fft(folded)
        mass = np.fft.fftshift(np.fft.ifft((q + p * wave) ** slots).real)
        count = np.fft.fftshift(np.fft.ifft(slots * p * wave * (q + p * wave) ** (slots - 1)).real)
        move[:, side] = np.maximum(np.interp(where, place, mass), 0)
        admitted += np.maximum(np.interp(where, place, count), 0).sum(axis=1)
    move[:, half] = np.maximum(1 - move.sum(axis=1), 0)
    system = move.T - np.eye(2 * half + 1)
    system[half] = 1
    law = np.maximum(np.linalg.solve(system, np.eye(2 * half + 1)[half]), 0)
    law /= law.sum()
    return law, float(law @ admitted) / (slots * p)


def _workload(p: float, s: int, share: float, step: float) -> np.ndarray:
    """Law of ``(S + A_*)/step`` on whole numbers, split so that means are kept."""
    sizes = np.full(s + 1, (1 - share) / s)
    sizes[0] = 0
    sizes[[1, s]] += share / 2
    ages = p * np.exp(log1p(-p) * np.arange(ceil(32 / -log1p(-p))))
    period = 2 ** ceil(log2(len(sizes) + len(ages)))
    law = np.maximum(np.fft.irfft(np.fft.rfft(sizes, period) * np.fft.rfft(ages, period), period), 0)
    law = law[: len(sizes) + len(ages) - 1] / law.sum()
    place = np.arange(len(law)) / step
    whole = np.floor(place).astype(np.int64)
    size = int(whole[-1]) + 2
    return np.bincount(whole, law * (1 - place + whole), size) + np.bincount(whole + 1, law * (place - whole), size)
