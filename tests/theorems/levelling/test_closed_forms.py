"""Theorems B and C: the constants of their proofs, and their place above Theorem A."""

from fractions import Fraction
from math import ceil, exp, log

import numpy as np
import pytest

from lbtheory.theory.levelling import LevelSystem, _kernels, chernoff_bound, closed_form, free_of_slots, second_moment
from lbtheory.theory.levelling.closed import BRACKET, bracket_needed
from tests.theorems.levelling.oracles import fcfs_mean

CHANCES = (0.9, 0.7, 0.5, 0.3, 0.1, 0.05, 0.01, 0.003, 0.001)
SIZES = (2, 3, 5, 10, 50, 100, 1000, 4000, 40000)
SYSTEMS = [
    LevelSystem(p=p, low=1, high=s, workers=workers, slots=slots)
    for p, s, workers in (
        (Fraction(1, 4), 4, 8),
        (Fraction(1, 20), 50, 2),
        (Fraction(1, 100), 100, 64),
        (Fraction(9, 10), 2, 8),
    )
    for slots in (1, 100)
]


def test_constants_of_theorem_b() -> None:
    """``−log φ_m ≥ .32 π_m θ(s−1)``, ``π_m ≥ .432 mp``, ``−log ψ_M ≥ .186 θ(s−1)`` on the grid, with the margins stated."""
    least_phi, least_pi, least_psi = [], [], []
    for p in CHANCES:
        for s in SIZES:
            q = 1 - p
            theta = (s - 1) / (4 * ((s + 2 / p + q / p) ** 2 + q / p**2))
            t, last = (s + 1) / 2 + q / p, ceil(2 / p)
            lags = {1, 2, 3, 5, *(int(f * last) for f in (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1))}
            for upper in (True, False):
                r, scale = 1.0 if upper else float(s), theta * (s - 1)
                for m in (m for m in lags if 1 <= m < max(2, last)):
                    pi = 1 - q**m
                    value = _kernels.log_phi(theta, theta * q**m, float(m), 1.0, upper, q, float(s), r, t)
                    least_phi.append(-value / (pi * scale))
                    least_pi.append(pi / (m * p) if m <= 2 / p else 1.0)
                least_psi.append(-_kernels.log_psi(theta, float(last), upper, q, float(s), r, t) / scale)
    assert min(least_phi) == pytest.approx(0.387, abs=5e-4)
    assert min(least_pi) >= (1 - exp(-2)) / 2 >= 0.432  # 1 − q^m ≥ 1 − e^{−mp}, and (1 − e^{−x})/x falls
    assert min(least_psi) == pytest.approx(0.350, abs=5e-4)
    assert 0.32 * 0.432 / 4 >= 0.0345 and 0.186 / 4 >= 0.0465


def test_integer_target_costs_little() -> None:
    """``θ(T₀ − T) ≤ 1/48``: ``θ ≤ (s − 1)/(4(s + 2)²)``, largest at ``s = 4``."""
    assert max((s - 1) / (4 * (s + 2) ** 2) for s in range(2, 1000)) == 1 / 48
    for slots in range(1, 9):
        made = closed_form(LevelSystem(p=Fraction(3, 7), low=1, high=4, workers=4, slots=slots))
        assert 1 <= made.upper_constant / made.constant <= exp(1 / 48)


def test_bracket_of_theorem_c() -> None:
    """The proof needs 7.694 at ``p(s − 1) ≥ 1`` and 7.711 below, at most the 8 that the theorem states."""
    assert max(map(bracket_needed, np.geomspace(1, 1e3, 200))) == pytest.approx(7.693, abs=2e-3)
    assert max(map(bracket_needed, np.geomspace(1e-9, 1, 400))) == pytest.approx(7.711, abs=2e-3)
    assert BRACKET == 8


@pytest.mark.parametrize("system", SYSTEMS)
def test_order_of_the_bounds(system: LevelSystem) -> None:
    """Theorem A with its best multipliers is below B and C; C is below B joined with M where its proof compares them."""
    value, closed, free = chernoff_bound(system).value, closed_form(system), free_of_slots(system)
    assert value <= closed.value and value <= free
    low = min(closed.lower, second_moment(system, upper=False).value)
    few_slots = float(system.p * system.slots) * (system.s - 1) ** 2 <= float(system.mu3)
    if not few_slots:
        assert system.workers * (min(closed.upper, free / system.workers) + low) <= closed.value + 1e-9


def test_closed_form_decreases_in_slots_and_free_does_not_move() -> None:
    """B falls with ``B`` at a common fractional part of ``T₀``; C is constant."""
    values, free = [], set()
    for slots in (2, 8, 32, 128, 512, 2048, 1 << 20):
        system = LevelSystem(p=Fraction(1, 20), low=1, high=50, workers=8, slots=slots)
        values.append(closed_form(system).value)
        free.add(free_of_slots(system))
    assert sorted(values, reverse=True) == values and len(free) == 1


def test_extra_logarithm_for_little_control() -> None:
    """``p(s − 1) < 1`` adds ``log(1/(p(s − 1)))`` to the bracket; the closed forms pass FCFS at some ``B``."""
    weak = LevelSystem(p=Fraction(1, 100), low=1, high=11, workers=8, slots=8)
    assert free_of_slots(weak) == pytest.approx(32 * (log(8) + 8 + log(10)) * float(weak.mu3) / 10)
    strong = LevelSystem(p=Fraction(1, 20), low=1, high=50, workers=8, slots=20000)
    assert closed_form(strong).value < free_of_slots(strong)
    assert closed_form(strong).value < fcfs_mean(0.05, 50, 20000, 8)
