"""The critical stepsize of flow routing: where the rightmost characteristic root reaches the imaginary axis.

Two facts carry the search. Condition (S) (ours, proved): all roots but those at 0 lie in ``Re s < 0`` if

    ``max_j (2b_j/a_j) Σ_{i: j∈A_i} λ_i η_i τ_i^max < 1``, ``τ_i^max = max_{j∈A_i} τ_ij``, over sources with ``|A_i| ≥ 2``.

Proof: at ``s = iω``, ``F_j = b_j n_j``, ``G_ij = e^{−iωτ_ij} F_j``, ``Σ_j ((iω + a_j)/b_j)|F_j|² = −Σ_i (λ_i η_i/iω) Σ_j
conj(G_ij) e^{−2iωτ_ij} (P_i G_i)_j``; ``Gᴴ P G`` is real, so that only ``|e^{−2iωτ} − 1| ≤ 2τ|ω|`` enters the real part, and
``Σ (a_j/b_j)|F_j|² ≤ Σ_j |F_j|² Σ_i 2 λ_i η_i τ_i^max`` gives ``F = 0``. It stays true for smaller stepsizes, and for very
small ones the slow roots are those of ``−ηPdiag(b/a)B``, negative off its kernel. So the search starts at a stepsize that is
proved stable. And the roots are refined, and counted by the argument principle: a crossing is accepted only where the count
jumps.

Symmetric case (ours, closed form): equal cells and delays, ``Λ = Σ_i λ_i`` over sources that all split: ``s² + as + Ληb
e^{−2sτ} = 0``, so ``θ tan θ = 2aτ``, ``θ ∈ (0, π/2)``, ``ω_c = θ/(2τ)``, ``η_c = (a/(Λbτ)) θ/(2 sin θ)``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, isfinite, pi, sin, tan

import numpy as np
from scipy.optimize import brentq

from lbtheory.core import LBTheoryError, ParameterError, readonly
from lbtheory.fluid.stability.delay_system import NODES, Roots, count_unstable, refined_roots, rightmost
from lbtheory.fluid.stability.linearisation import Linearisation, stepsizes

Array = np.ndarray

GROWTH = 1.25
"""Factor from one trial stepsize to the next."""
LARGEST = 1e6
"""Times the sufficient stepsize: where the search gives up."""
RESIDUAL = 1e-11
"""Largest residual of a crossing."""
SIDE = 1e-6
"""Relative distance from the critical stepsize at which unstable roots are counted on both sides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Critical:
    """The least stepsize at which the equilibrium loses stability.

    Attributes
    ----------
    eta : float
        ``η_c``; stepsizes are ``η_c r_i``. Infinite where no stepsize destabilises: ``why`` says the reason.
    frequency : float
        ``ω_c``, radians per second, of the root on the axis; NaN where there is none.
    sufficient : float
        ``η_S`` of condition (S).
    residual : float
        ``‖Δ(iω_c) v‖`` over its scale at ``η_c``.
    below, above : int
        Unstable roots at ``(1 ∓ 1e-6) η_c`` by the argument principle: 0 and at least 1.
    why : str
    """

    eta: float
    frequency: float
    sufficient: float
    residual: float
    below: int
    above: int
    why: str


def symmetric_critical(*, service_slope: float, cost_slope: float, arrivals: float, latency: float) -> tuple[float, float]:
    """``(η_c, ω_c)`` of equal cells with equal delays (ours, closed form).

    Parameters
    ----------
    service_slope, cost_slope : float
        ``a = μ'(N*)``, ``b = f'(N*)``.
    arrivals : float
        ``Λ``, of all sources that reach these cells.
    latency : float
        ``τ`` of every arc, one way, seconds.

    Raises
    ------
    ParameterError
        Unless all are positive and finite.
    """
    given = {"service_slope": service_slope, "cost_slope": cost_slope, "arrivals": arrivals, "latency": latency}
    for name, value in given.items():
        if not (isfinite(value) and value > 0):
            raise ParameterError(f"`{name}` of `symmetric_critical` must be positive and finite; got {value!r}.")
    a, tau = float(service_slope), float(latency)
    low, high = 0.0, pi / 2

    def excess(theta: float) -> float:
        return theta * sin(theta) - 2 * a * tau * np.cos(theta)

    theta = float(brentq(excess, low, high, xtol=1e-300, rtol=1e-15))
    half = theta / (2 * sin(theta)) if theta > 0 else 0.5
    frequency = theta / (2 * tau) if theta > 1e-8 else a * tan(theta) / theta if theta > 0 else np.sqrt(a / (2 * tau))
    return a / (arrivals * cost_slope * tau) * half, float(frequency)


def sufficient_stepsize(of: Linearisation, relative: Array | float = 1.0) -> float:
    """``η_S``: every ``η < η_S`` (stepsizes ``η r_i``) meets condition (S); infinite without delay or without a choice."""
    weights = stepsizes("relative", "sufficient_stepsize", relative, len(of.arrivals))
    load = np.zeros(len(of.service_slope))
    for i in of.splits:
        load += of.active[i] * of.arrivals[i] * weights[i] * of.latency[i].max()
    used = load > 0
    if not used.any():
        return inf
    return float(1 / (2 * of.cost_slope[used] / of.service_slope[used] * load[used]).max())


def characteristic_roots(of: Linearisation, eta: Array | float, count: int = 8) -> Roots:
    """The rightmost roots at stepsizes ``η``, neutral ones removed (`Linearisation.neutral` counts them)."""
    return rightmost(of.system(eta), count)


def critical_stepsize(of: Linearisation, relative: Array | float = 1.0) -> Critical:
    """``η_c``, from ``η_S`` up to the first stepsize with unstable roots, then from its rightmost root.

    That root leads to the crossing by Newton's method in ``(ω, η)``; where it leads out of the bracket, the zero of its real
    part does. Neither is believed before the count is 0 just below and positive just above.

    Parameters
    ----------
    of : Linearisation
    relative : float or float array (s,)
        ``r_i``: source ``i`` steps with ``η r_i``.

    Raises
    ------
    LBTheoryError
        Roots could not be resolved, or the count does not confirm the crossing.
    """
    weights = stepsizes("relative", "critical_stepsize", relative, len(of.arrivals))
    least = sufficient_stepsize(of, weights)
    if least == inf:
        why = "No source splits its flow." if not of.splits.size else "No source that splits its flow sees a delay."
        return Critical(
            eta=inf, frequency=np.nan, sufficient=inf, residual=0.0, below=0, above=0, why=f"{why} Every stepsize is stable."
        )

    low, high = least * (1 - SIDE), least * GROWTH
    while count_unstable(of.system(high * weights)) == 0:
        low, high = high, high * GROWTH
        if high > least * LARGEST:
            why = f"No stepsize up to {high:.3g} destabilises."
            return Critical(eta=inf, frequency=np.nan, sufficient=least, residual=0.0, below=0, above=0, why=why)
    for eta, omega in _crossings(of, weights, low, high):
        eta, omega, residual = _on_axis(of, weights, eta, omega)
        if not (low <= eta <= high and residual < RESIDUAL):
            continue
        below = count_unstable(of.system(eta * (1 - SIDE) * weights))
        above = count_unstable(of.system(eta * (1 + SIDE) * weights))
        if below == 0 and above > 0:
            why = "The rightmost roots cross the imaginary axis here."
            return Critical(eta=eta, frequency=omega, sufficient=least, residual=residual, below=below, above=above, why=why)
    raise LBTheoryError(f"the crossing between the stepsizes {low:.9g} and {high:.9g} was not confirmed by the count of roots.")


def _crossings(of: Linearisation, weights: Array, low: float, high: float) -> Iterator[tuple[float, float]]:
    """First guesses ``(η, ω)``: the rightmost root at the upper end, then where its real part vanishes in the bracket."""
    yield high, rightmost(of.system(high * weights)).rightmost.imag

    def height(eta: float) -> float:
        return float(refined_roots(of.system(eta * weights), nodes, 8)[0][0].real)

    for nodes in (NODES, 2 * NODES):
        eta = float(brentq(height, low, high, xtol=1e-300, rtol=1e-9))
        yield eta, float(refined_roots(of.system(eta * weights), nodes, 8)[0][0].imag)


def _on_axis(of: Linearisation, weights: Array, eta: float, omega: float) -> tuple[float, float, float]:
    """``(η, ω)`` with ``Δ(iω; η) v = 0`` by Newton's method in real and imaginary parts, and the residual."""
    unit = of.system(eta * weights)
    size = unit.size

    gain = unit.matrices[1:] / eta  # the lower left blocks are η times these, up to the scaling σ, which is kept
    v = np.linalg.svd(unit.characteristic(1j * omega))[2][-1].conj()
    w = v.copy()

    def characteristic(step: float, at: float) -> Array:
        decay = np.exp(-1j * at * unit.delays[1:])
        return 1j * at * np.eye(size) - unit.matrices[0] - step * np.tensordot(decay, gain, axes=1)

    for _ in range(20):
        delta = characteristic(eta, omega)
        decay = np.exp(-1j * omega * unit.delays[1:])
        by_omega = 1j * v + eta * 1j * np.tensordot(unit.delays[1:] * decay, gain, axes=1) @ v
        by_eta = -np.tensordot(decay, gain, axes=1) @ v
        complex_part = np.zeros((size + 1, size), dtype=complex)
        complex_part[:-1], complex_part[-1] = delta, w.conj()
        real = np.block([[complex_part.real, -complex_part.imag], [complex_part.imag, complex_part.real]])
        last = np.array([np.r_[by_omega, 0], np.r_[by_eta, 0]]).T
        whole = np.hstack([real, np.vstack([last.real, last.imag])])
        right = np.r_[-(delta @ v), 1 - w.conj() @ v]
        step = np.linalg.lstsq(whole, np.r_[right.real, right.imag], rcond=None)[0]
        v = v + step[:size] + 1j * step[size : 2 * size]
        omega, eta = omega + float(step[-2]), eta + float(step[-1])
        if abs(step[-1]) <= 1e-15 * abs(eta) and abs(step[-2]) <= 1e-15 * abs(omega):
            break
    residual = float(np.linalg.norm(characteristic(eta, omega) @ v) / np.linalg.norm(v) / (abs(omega) + unit.radius))
    return eta, abs(omega), residual


def sharpness(of: Linearisation) -> float:
    """``η_c/η_S ≥ 1`` with equal stepsizes; NaN where either is infinite."""
    found = critical_stepsize(of)
    return found.eta / found.sufficient if isfinite(found.eta) else float("nan")


def is_stable(of: Linearisation, eta: Array | float) -> bool:
    """Whether no root lies in ``Re s > 0``, by the argument principle alone."""
    return count_unstable(of.system(readonly(eta, dtype=float))) == 0
