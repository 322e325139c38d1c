"""The heuristic laws: the published column, closed forms at both ends, the lattice against draws, distance to simulation."""

from collections.abc import Callable
from fractions import Fraction
from math import log, pi, sqrt

import mpmath
import numpy as np
import pytest

from lbtheory.core import ParameterError
from lbtheory.theory import from_weights, uniform
from lbtheory.theory.benchmark_law import benchmark_law
from lbtheory.theory.diffusion import DiffusionLaw, crossover_slots, diffusion_law, renewed_law

# workers, slots, 1/p, s, the diffusion law's imbalance, simulated: BR-0 (stage 1), LEVEL with every size in supply
SYSTEMS = [
    (8, 64, 100, 100, 3275, 5020, 3307),
    (8, 256, 100, 100, 3606, 6343, 3398),
    (8, 1024, 100, 100, 3715, 5802, 2714),
    (64, 64, 100, 100, 50379, 73800, 54233),
    (8, 64, 1000, 4000, 28719, 44000, 17968),
    (32, 128, 1000, 4000, 193221, 229800, 123642),
    (8, 64, 20, 50, 478, 470, 308),
    (128, 64, 100, 400, 104942, 95700, 69278),
]


@pytest.mark.parametrize(("workers", "slots", "p", "s", "right", "br0", "level"), SYSTEMS)
def test_right_values(workers: int, slots: int, p: int, s: int, right: int, br0: int, level: int) -> None:
    """The published column (to 0.03 %: the sixth value is 193,263 by two integrations), and how far it is from simulation."""
    value = diffusion_law(Fraction(1, p), uniform(s), slots).imbalance(workers)
    assert value == pytest.approx(right, rel=3e-4, abs=0.5)
    assert 0.56 < value / br0 < 1.1 and 0.92 < value / level < 1.61


@pytest.mark.parametrize("system", [SYSTEMS[2], SYSTEMS[6]])
def test_renewed_slots_are_near_simulation(system: tuple[int, ...]) -> None:
    """LEVEL in rich supply within 3 % where sizes outweigh what slots remember; BR-0 is above it."""
    workers, slots, p, s, _, br0, level = system
    value = renewed_law(Fraction(1, p), s, slots, workers, points=12).imbalance(workers)
    assert 0.97 < value / level < 1.03 and value < br0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("system", "right"), list(zip(SYSTEMS, [0.938, 0.985, 1.000, 0.877, 0.979, 1.001, 1.015, 0.951], strict=True))
)
def test_renewed_slots_in_every_system(system: tuple[int, ...], right: float) -> None:
    """Prediction over simulated LEVEL in rich supply, as tabulated: within 13 %."""
    workers, slots, p, s, _, _, level = system
    assert renewed_law(Fraction(1, p), s, slots, workers).imbalance(workers) / level == pytest.approx(right, abs=2e-3)


def test_maximum_by_integration() -> None:
    """``E max`` from the density itself: ``∫ x d(F^G)`` in 20 digits."""
    law = diffusion_law(Fraction(1, 1000), uniform(4000), 128)
    with mpmath.workdps(20):
        p, beta, noise = mpmath.mpf(1) / 1000, mpmath.mpf(law.pull), mpmath.mpf(law.noise)

        def density(x: mpmath.mpf) -> mpmath.mpf:
            return mpmath.exp(-(p * x**2 + 2 * beta * x) / noise)

        ends = [0, 2000, 10000, 40000, 200000]
        half = mpmath.quad(density, ends)

        def survival(x: mpmath.mpf) -> mpmath.mpf:
            shift = beta / p
            return mpmath.erfc((x + shift) * mpmath.sqrt(p / noise)) / mpmath.erfc(shift * mpmath.sqrt(p / noise)) / 2

        assert abs(mpmath.quad(density, [3000, 10000, 40000, 200000]) / (2 * half) / survival(3000) - 1) < 1e-12
        assert float(survival(3000)) == pytest.approx(float(law.survival(3000.0)), rel=1e-12)
        exact = mpmath.quad(lambda x: 1 - (1 - survival(x)) ** 32 - survival(x) ** 32, ends)
    assert law.expected_maximum(32) == pytest.approx(float(exact), rel=1e-9)
    assert law.imbalance(32) == pytest.approx(193262.87, abs=0.01)


def test_normal_and_laplace_ends() -> None:
    """Without control normal of variance ``ν²/(2p)``: ``E max`` of two is ``sd/√π``; control alone: Laplace, ``3/4`` scale."""
    plain = diffusion_law(Fraction(1, 50), from_weights([30], [1]), 100)
    assert plain.pull == 0 and plain.scale == np.inf
    assert plain.expected_maximum(2) == pytest.approx(plain.deviation / sqrt(pi), rel=1e-10)
    assert plain.deviation**2 == pytest.approx(
        float(benchmark_law(Fraction(1, 50), from_weights([30], [1]), 100).variance), rel=0.03
    )
    strong = DiffusionLaw(p=Fraction(1, 10**9), pull=1.0, noise=6.0)
    assert strong.expected_maximum(2) == pytest.approx(0.75 * 3, rel=1e-6)
    assert strong.survival(np.array([-3.0, 0.0, 3.0])) == pytest.approx([1 - np.exp(-1) / 2, 0.5, np.exp(-1) / 2], rel=1e-6)
    assert strong.expected_maximum(1) == strong.imbalance(1) == 0


def test_gain_grows_like_the_root_of_slots() -> None:
    """From far above the crossover on the law does not depend on ``B`` while FCFS grows like ``√B``; far below, both agree."""
    p, law = Fraction(1, 100), uniform(100)
    assert crossover_slots(p, law) == pytest.approx(16)
    high = [diffusion_law(p, law, b).imbalance(8) for b in (10**4, 10**6)]
    assert high[1] == pytest.approx(high[0], rel=0.01)
    weak = uniform(101, 100)
    assert crossover_slots(p, weak) == pytest.approx(40000)
    for b, near in ((64, True), (10**6, False)):
        ratio = diffusion_law(p, weak, b).imbalance(8) / benchmark_law(p, weak, b).imbalance(8)[0]
        assert (0.85 < ratio < 1.05) == near


def test_lattice_against_draws() -> None:
    """The chain that the lattice solves, drawn: ``p = 1/20``, ``s = 50``, ``B = 64``, 1000 workers.

    Warm-up 100 steps, then 200; standard errors from 20 groups of independent workers; tolerance four of them.
    """
    p, s, slots, rng = 0.05, 50, 64, np.random.default_rng(11)
    made = renewed_law(p, s, slots, 8, points=20)
    e, kept = np.zeros(1000), []
    for k in range(300):
        free = rng.binomial(slots, p, len(e))
        owner = np.repeat(np.arange(len(e)), free)
        ends = rng.random(len(owner)) < made.extreme_share
        sizes = np.where(ends, rng.choice([1, s], len(owner)), rng.integers(1, s + 1, len(owner)))
        removed = np.bincount(owner, sizes + rng.geometric(p, len(owner)) - 1, len(e)) + p * e
        low = e + slots - removed
        e = np.where(low > 0, low, np.minimum(low + (s - 1) * free, 0))
        if k >= 100:
            kept.append(np.stack([np.maximum(e, 0), np.maximum(-e, 0), np.abs(e) < 1e-9]))
    groups = np.mean(kept, axis=0).reshape(3, 20, 50).mean(axis=2)
    law = [
        np.maximum(made.deviations, 0) @ made.probabilities,
        np.maximum(-made.deviations, 0) @ made.probabilities,
        made.at_target,
    ]
    for ours, drawn in zip(law, groups, strict=True):
        assert abs(ours - drawn.mean()) < 4 * drawn.std(ddof=1) / sqrt(20) + 0.005 * ours


@pytest.mark.slow
def test_lattice_is_fine_enough() -> None:
    """Halving the step moves the imbalance by less than 0.3 %."""
    coarse, fine = (renewed_law(Fraction(1, 100), 400, 64, 128, points=points).imbalance(128) for points in (20, 40))
    assert fine == pytest.approx(coarse, rel=3e-3)


def test_renewed_law_is_a_law() -> None:
    """Probabilities, mean and the maximum: at ``G = 1`` nothing; two workers as ``Σ F(1 − F)``."""
    made = renewed_law(0.2, 6, 16, 2, points=10)
    assert made.probabilities.sum() == pytest.approx(1, abs=1e-12) and (made.probabilities >= 0).all()
    assert 0 < made.at_target < 1 and 0 < made.extreme_share < 1 and made.imbalance(1) == 0
    below = np.cumsum(made.probabilities)
    assert made.imbalance(2) == pytest.approx(2 * np.sum(below * (1 - below)), rel=1e-9)
    assert log(2) < made.imbalance(2)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: diffusion_law(0.0, uniform(4), 8), "p"),
        (lambda: diffusion_law(0.5, uniform(4), 0), "slots"),
        (lambda: diffusion_law(0.5, uniform(4), 8).imbalance(0), "workers"),
        (lambda: crossover_slots(float("nan"), uniform(4)), "p"),
        (lambda: renewed_law(0.5, 1, 8, 2), "s"),
        (lambda: renewed_law(0.5, 4, 8, 0), "workers"),
        (lambda: renewed_law(0.01, 100, 64, 8, points=2), "points"),
        (lambda: renewed_law(0.01, 100, 64, 8, points=400), "points"),
        (lambda: renewed_law(0.1, 10, 8, 2, points=8).imbalance(10**12), "workers"),
    ],
)
def test_what_is_refused(call: Callable[[], object], name: str) -> None:
    """Bad input names its argument."""
    with pytest.raises(ParameterError, match=f"`{name}`"):
        call()
