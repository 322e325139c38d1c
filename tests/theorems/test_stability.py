"""Characteristic roots and critical stepsizes against closed forms, known values and independent formulations."""

from math import atan, inf, pi, sin, sqrt, tan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import lambertw

from lbtheory.core import LBTheoryError, ParameterError
from lbtheory.fluid import COSTS, Network
from lbtheory.fluid.equilibrium import equilibrium
from lbtheory.fluid.stability import (
    Critical,
    DegenerateError,
    DelaySystem,
    Linearisation,
    characteristic_roots,
    count_unstable,
    critical_stepsize,
    is_stable,
    linearise,
    rightmost,
    sharpness,
    stability_map,
    sufficient_stepsize,
    symmetric_critical,
)
from lbtheory.fluid.stability.delay_system import collocation_spectrum
from lbtheory.verify.flow_cases import random_network
from tests.reference.flow_stability import first_order_system
from tests.reference.networks import pair


def scalar(a: float, b: float, delay: float = 1.0) -> DelaySystem:
    """``x' = a x + b x(t − τ)``."""
    return DelaySystem(delays=[0.0, delay], matrices=[[[a]], [[b]]])


def at_equilibrium(network: Network, cost: str) -> Linearisation:
    """Linearised at the equilibrium, solved to 1e-13."""
    return linearise(network, equilibrium(network, cost, method="fast", tolerance=1e-13))


def plain(a: list[float], b: list[float], arrivals: list[float], latency: list[list[float]]) -> Linearisation:
    """Every source sends to every cell."""
    sources, cells = len(arrivals), len(a)
    return Linearisation(
        service_slope=np.array(a),
        cost_slope=np.array(b),
        arrivals=np.array(arrivals),
        latency=np.array(latency),
        active=np.ones((sources, cells), dtype=bool),
        neutral=(sources - 1) * (cells - 1),
        components=1,
    )


@pytest.mark.parametrize("a", [0.1, 0.25, 1.0, 1.5, 2.0, 6.0])
def test_lambert(a: float) -> None:
    """Roots of ``x' = −a x(t−1)`` are ``W_k(−a)``; 15 nodes alone give 2e-14, and refinement does not need them."""
    exact = complex(lambertw(-a))
    found = rightmost(scalar(0, -a)).rightmost
    assert found == pytest.approx(complex(exact.real, abs(exact.imag)), abs=4e-15 * max(1, abs(exact)))
    if a <= 2:
        assert np.abs(collocation_spectrum(scalar(0, -a), 15) - exact).min() < 2e-14
    assert count_unstable(scalar(0, -a)) == sum(complex(lambertw(-a, k)).real > 0 for k in range(-9, 10))


def test_stated_roots() -> None:
    """a = 1: −0.318131505204764 ± 1.337235701430689 i; a = 1/e: a double root at −1."""
    assert rightmost(scalar(0, -1)).rightmost == pytest.approx(-0.318131505204764 + 1.337235701430689j, abs=1e-15)
    assert rightmost(scalar(0, -np.exp(-1))).rightmost == pytest.approx(-1, abs=1e-6)


@pytest.mark.parametrize("omega", [0.3, pi / 4, pi / 2, 3 * pi / 4, 2.9])
def test_hayes_boundary(omega: float) -> None:
    """On ``a = ω cot ω, b = −ω/sin ω`` a root sits at ``iω``; on either side of it the count says 0 or 2."""
    a, b = omega / tan(omega), -omega / sin(omega)
    assert rightmost_on_axis(scalar(a, b)) == pytest.approx(omega * 1j, abs=1e-13)
    assert count_unstable(scalar(a, b * 0.9999)) == 0 and count_unstable(scalar(a, b * 1.0001)) == 2


def rightmost_on_axis(of: DelaySystem) -> complex:
    """The rightmost refined root, without a count (it lies on the axis)."""
    from lbtheory.fluid.stability.delay_system import refined_roots

    return complex(refined_roots(of, 24, 6)[0][0])


def test_feedback_through_a_delay() -> None:
    """``N' = −aN + x(t−τ), x' = −bN(t−τ)``: ω = 0.786151377757423, τ_c = 0.575307071828025 at a = b = 1."""
    a = b = 1.0
    omega = sqrt((-(a**2) + sqrt(a**4 + 4 * b**2)) / 2)
    tau = atan(a / omega) / (2 * omega)
    assert (omega, tau) == (pytest.approx(0.786151377757423, abs=1e-15), pytest.approx(0.575307071828025, abs=1e-15))
    made = DelaySystem(delays=[0, tau], matrices=[[[-a, 0], [0, 0]], [[0, 1], [-b, 0]]])
    assert rightmost_on_axis(made) == pytest.approx(omega * 1j, abs=1e-14)


def test_counts_refuse_the_axis() -> None:
    """A root on the axis cannot be counted, and is not."""
    with pytest.raises(LBTheoryError, match="axis"):
        count_unstable(scalar(0, -pi / 2))


def confirmed(found: Critical) -> Critical:
    """Its certificate: a small residual, no unstable root below, some above."""
    assert found.residual < 1e-14 and found.below == 0 and found.above >= 1 and found.eta >= found.sufficient
    return found


def test_stated_critical_stepsizes() -> None:
    """Unit slopes; an all-to-all pair; and one where τ_ij in place of τ_i^max would be wrong."""
    one = confirmed(critical_stepsize(plain([1, 1], [1, 1], [1], [[0.5, 0.5]])))
    assert one.eta == pytest.approx(1.134914650331, rel=1e-12) and one.frequency == pytest.approx(0.8603335890, abs=1e-10)
    both = confirmed(critical_stepsize(plain([0.04, 0.04], [1, 1], [0.8, 0.8], [[0.1, 0.1], [0.1, 0.1]])))
    assert both.eta == pytest.approx(0.125166378028, rel=1e-11)
    of = plain([0.16, 0.36], [1.12, 0.56], [1], [[0.36, 1.6]])
    found = confirmed(critical_stepsize(of))
    assert found.eta == pytest.approx(0.1932685046, abs=1e-10)
    naive = 1 / max(2 * b / a * tau for a, b, tau in zip([0.16, 0.36], [1.12, 0.56], [0.36, 1.6], strict=True))
    assert found.eta / naive == pytest.approx(0.9741, abs=5e-5), "τ_ij is not sufficient"


@pytest.mark.parametrize(("cost", "eta"), [("rif", 0.0420948573), ("latency", 0.0420948573), ("gradient", 0.0052618572)])
def test_loaded_pair(cost: str, eta: float) -> None:
    """M/M/1, λ = 1.5, τ = ½: N* = 3, a = 1/16."""
    of = at_equilibrium(pair(1.5, (0.5, 0.5)), cost)
    found = confirmed(critical_stepsize(of))
    assert of.service_slope == pytest.approx([1 / 16] * 2) and found.eta == pytest.approx(eta, abs=6e-11)
    assert found.frequency == pytest.approx(0.2474254652, abs=1e-10)
    closed = symmetric_critical(service_slope=1 / 16, cost_slope=of.cost_slope[0], arrivals=1.5, latency=0.5)
    assert (found.eta, found.frequency) == (pytest.approx(closed[0], rel=1e-9), pytest.approx(closed[1], rel=1e-9))


def test_unequal_latencies() -> None:
    """λ = 1.2, μ̄ = 2, τ = (.1, .4): η_c = 3.5960187739, condition (S) 0.8251467593."""
    found = confirmed(critical_stepsize(at_equilibrium(pair(1.2, (0.1, 0.4), 2.0), "latency")))
    assert found.eta == pytest.approx(3.5960187739, abs=1e-9) and found.sufficient == pytest.approx(0.8251467593, abs=1e-10)


@pytest.mark.parametrize(
    ("load", "latency", "gradient"),
    [(0.5, 0.2599, 0.06497), (0.8, 0.02517, 0.002517), (0.9, 0.005565, 0.0002782), (0.95, 0.001316, 0.0000329)],
)
def test_load_matters(load: float, latency: float, gradient: float) -> None:
    """The critical stepsize falls with the load: the mean network latency alone does not scale it."""
    for cost, eta in (("latency", latency), ("gradient", gradient)):
        found = confirmed(critical_stepsize(at_equilibrium(pair(2 * load, (0.5, 0.5)), cost)))
        assert found.eta == pytest.approx(eta, rel=2e-3 if cost == "gradient" else 6e-4)


def test_delay_alone_scales() -> None:
    """η_c τ between 0.01251 and 0.01326 for τ = .05 … 5 at load 0.8."""
    scaled = [critical_stepsize(at_equilibrium(pair(1.6, (tau, tau)), "latency")).eta * tau for tau in (0.05, 0.5, 5)]
    assert scaled[0] == pytest.approx(0.01251, abs=5e-6) and scaled[-1] == pytest.approx(0.01326, abs=5e-6)
    assert scaled == sorted(scaled)


@pytest.mark.parametrize(("cost", "eta"), [("rif", 0.925), ("latency", 1.850), ("gradient", 0.648)])
def test_light_pair(cost: str, eta: float) -> None:
    """λ = 1.2, μ̄ = 2, τ = ½."""
    assert critical_stepsize(at_equilibrium(pair(1.2, (0.5, 0.5), 2.0), cost)).eta == pytest.approx(eta, abs=6e-4)


@settings(max_examples=8, deadline=None)
@given(
    slope=st.floats(0.01, 5),
    cost=st.floats(0.01, 20),
    latency=st.floats(0.01, 5),
    sources=st.integers(1, 3),
    cells=st.integers(2, 4),
)
def test_symmetric_closed_form(slope: float, cost: float, latency: float, sources: int, cells: int) -> None:
    """Any number of equal sources and cells; the gain κ is between ½ and π/4."""
    rate = 0.7
    eta, omega = symmetric_critical(service_slope=slope, cost_slope=cost, arrivals=sources * rate, latency=latency)
    of = plain([slope] * cells, [cost] * cells, [rate] * sources, [[latency] * cells] * sources)
    found = confirmed(critical_stepsize(of))
    assert found.eta == pytest.approx(eta, rel=1e-9) and found.frequency == pytest.approx(omega, rel=1e-9)
    kappa = eta * sources * rate * cost * latency / slope
    assert 0.5 < kappa < pi / 4 and found.sufficient * kappa == pytest.approx(0.5 * eta, rel=1e-12)


@pytest.mark.parametrize(
    ("seed", "trials", "cells", "least"), [(1, 4, 3, (12, 6)), pytest.param(3, 18, 4, (20, 3), marks=pytest.mark.slow)]
)
def test_reduced_form_is_the_first_order_system(seed: int, trials: int, cells: int, least: tuple[int, int]) -> None:
    """Same rightmost roots, same counts as workloads and routing taken together, neutral roots apart."""
    rng, compared, neutral = np.random.default_rng(seed), 0, 0
    for trial in range(trials):
        try:
            of = at_equilibrium(random_network(rng, cells=cells, sources=cells - 1), COSTS[trial % 3])
        except ParameterError:
            continue
        if sufficient_stepsize(of) == inf:
            continue
        for factor in (0.3, 1.0, 3.0):
            eta = factor * sufficient_stepsize(of)
            system = first_order_system(of, eta)
            mine, other = characteristic_roots(of, eta), rightmost(system)
            assert mine.rightmost == pytest.approx(other.rightmost, rel=1e-7), (trial, factor)
            assert mine.unstable == count_unstable(system)
            compared, neutral = compared + 1, neutral + (of.neutral > 0)
    assert compared >= least[0] and neutral >= least[1]


def sharpness_over(trials: int, seed: int) -> list[float]:
    """``η_c/η_S`` over random networks."""
    rng, ratios = np.random.default_rng(seed), []
    for trial in range(trials):
        try:
            of = at_equilibrium(random_network(rng, families=("mm1", "smooth_min", "hill")), COSTS[trial % 3])
        except DegenerateError:
            continue
        found = critical_stepsize(of)
        if found.eta < inf:
            confirmed(found)
            ratios.append(found.eta / found.sufficient)
            assert is_stable(of, found.sufficient * 0.999)
    return ratios


def test_sufficient_condition() -> None:
    """Condition (S) never exceeds the critical stepsize."""
    ratios = sharpness_over(12, 5)
    assert len(ratios) >= 6 and min(ratios) >= 1


@pytest.mark.slow
def test_sufficient_condition_is_sharp() -> None:
    """Over 900 networks; for symmetric networks with ``aτ → 0`` the ratio ``θ/sin θ`` tends to 1."""
    ratios = sharpness_over(900, 6)
    print(f"{len(ratios)} networks: η_c/η_S least {min(ratios):.5f}, median {np.median(ratios):.3f}, largest {max(ratios):.1f}")
    assert len(ratios) > 500 and min(ratios) >= 1
    tight = sharpness(plain([0.01, 0.01], [1, 1], [1], [[0.1, 0.1]]))
    assert 1 <= tight < 1.001


def test_no_choice_or_no_delay() -> None:
    """Without a split or without delay nothing destabilises, and the reason is given."""
    still = critical_stepsize(at_equilibrium(pair(1.2, (0, 0)), "latency"))
    assert still.eta == inf and "delay" in still.why
    alone = critical_stepsize(at_equilibrium(pair(0.2, (0.1, 9.0), 2.0), "latency"))
    assert alone.eta == inf and "splits" in alone.why


def test_ties_are_refused() -> None:
    """An arc without flow that ties has no linearisation: at 2τ = ℓ(N*) − ℓ(0) the far cell is just not used."""
    far = ((0.5 / (1 - 0.5) + 1) - 1) / 2
    with pytest.raises(DegenerateError, match="ties"):
        at_equilibrium(pair(0.5, (0.0, far)), "latency")


def test_map() -> None:
    """Critical stepsizes over load and delay, and growth rates that change sign across them."""
    base = pair(1.0, (0.5, 0.5))
    found = stability_map(base, "latency", delays=[0.5, 2], loads=[1.0, 1.6, 1.8], etas=[0.01, 0.1])
    assert found.eta_critical[1, 0] == pytest.approx(0.02517 * 2, rel=5e-3)
    assert np.array_equal(found.growth > 0, found.etas > found.eta_critical[..., None])
    assert found.utilisation == pytest.approx([0.5, 0.8, 0.9]) and (found.eta_critical > found.eta_sufficient).all()
    with pytest.raises(ParameterError, match="loads"):
        stability_map(base, "latency", delays=[1], loads=[-1])


def test_bad_input() -> None:
    """Shapes, signs and NaN are refused by name."""
    of = plain([1, 1], [1, 1], [1], [[0.5, 0.5]])
    for eta in (0.0, -1.0, float("nan"), inf, [0.1, 0.2]):
        with pytest.raises(ParameterError, match="eta"):
            of.system(eta)
    with pytest.raises(ParameterError, match="relative"):
        critical_stepsize(of, relative=-1.0)
    with pytest.raises(ParameterError, match="latency"):
        symmetric_critical(service_slope=1, cost_slope=1, arrivals=1, latency=0)
    with pytest.raises(ParameterError, match="delays"):
        DelaySystem(delays=[-1.0], matrices=[[[1.0]]])
    with pytest.raises(ParameterError, match="matrices"):
        DelaySystem(delays=[1.0], matrices=[[1.0]])
