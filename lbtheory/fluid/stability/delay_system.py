"""Linear systems with constant delays, ``y'(t) = Σ_k A_k y(t − τ_k)``, and their characteristic roots.

A root is a zero of ``det Δ(s)``, ``Δ(s) = sI − Σ_k A_k e^{−sτ_k}``. Candidates come from Chebyshev collocation of the
generator on ``[−τ̄, 0]`` (Breda, Maset and Vermiglio, SIAM J. Sci. Comput. 27, 2005); each is refined by Newton's method on
``Δ(s) v = 0``, so that its error no longer depends on the number of nodes. How many roots lie in the right half-plane is
counted apart, by the argument principle along the imaginary axis, which knows nothing of the collocation.
"""

from dataclasses import dataclass
from math import isfinite, pi
from typing import Any

import numpy as np

from lbtheory.core import LBTheoryError, ParameterError, readonly

Array = np.ndarray

NODES = 24
"""Collocation degree; `rightmost` doubles it while its roots and the count disagree."""
MOST_NODES = 96
NEWTON_STEPS = 30
DEEPEST = 60.0
"""Roots with ``Re s < −DEEPEST/τ̄`` are not looked for: ``e^{−sτ}`` has no digit left there."""
RESIDUAL = 1e-9
"""Largest ``‖Δ(s) v‖/(|s| + Σ_k ‖A_k‖)`` of a root, ``‖v‖ = 1``."""
STEP = 0.7
"""Largest ``|h'/h|`` times a step of the count."""
MOST_POINTS = 200_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DelaySystem:
    """``y'(t) = Σ_k A_k y(t − τ_k)``.

    Attributes
    ----------
    delays : float array (K,)
        ``τ_k ≥ 0``.
    matrices : float array (K, N, N)
        ``A_k``.
    zeros : int
        Order of the zero of ``det Δ`` at 0, known beforehand (semisimple); these roots are left out of every answer.

    Raises
    ------
    ParameterError
        For shapes that do not fit, values that are not finite, or a negative delay.
    """

    delays: Array
    matrices: Array
    zeros: int = 0

    def __post_init__(self) -> None:
        delays, matrices = readonly(self.delays, dtype=float), readonly(self.matrices, dtype=float)
        if (
            matrices.ndim != 3
            or matrices.shape[1] != matrices.shape[2]
            or delays.shape != matrices.shape[:1]
            or not delays.size
        ):
            raise ParameterError(
                f"`matrices` of `DelaySystem` must be (K, N, N), one a delay; got {matrices.shape} and delays {delays.shape}."
            )
        if not (np.isfinite(delays).all() and np.isfinite(matrices).all() and (delays >= 0).all()):
            raise ParameterError("`delays` of `DelaySystem` must be finite and ≥ 0, and `matrices` finite.")
        object.__setattr__(self, "delays", delays)
        object.__setattr__(self, "matrices", matrices)

    @property
    def size(self) -> int:
        """``N``."""
        return self.matrices.shape[1]

    @property
    def radius(self) -> float:
        """``Σ_k ‖A_k‖_F``: every root with ``Re s ≥ 0`` has ``|s|`` at most this."""
        return float(np.linalg.norm(self.matrices, axis=(1, 2)).sum())

    def characteristic(self, s: Array | complex) -> Array:
        """``Δ(s)``, complex array of the shape of ``s`` and (N, N)."""
        points = np.asarray(s, dtype=complex)
        decay = np.exp(-points[..., None] * self.delays)
        return points[..., None, None] * np.eye(self.size) - np.tensordot(decay, self.matrices, axes=1)

    def characteristic_slope(self, s: complex) -> Array:
        """``Δ'(s)``."""
        return np.eye(self.size) + np.tensordot(self.delays * np.exp(-s * self.delays), self.matrices, axes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Roots:
    """Rightmost characteristic roots.

    Attributes
    ----------
    values : complex array (R,)
        Distinct roots by falling real part, one of each conjugate pair (``Im ≥ 0``); those known at 0 left out.
    residuals : float array (R,)
        ``‖Δ(s) v‖/(|s| + Σ_k ‖A_k‖)`` with ``‖v‖ = 1``.
    unstable : int
        Roots with ``Re s > 0`` by the argument principle, with multiplicity and conjugates.
    nodes : int
        Collocation degree used.
    """

    values: Array
    residuals: Array
    unstable: int
    nodes: int

    @property
    def rightmost(self) -> complex:
        """The root of greatest real part."""
        return complex(self.values[0])


def collocation_spectrum(of: DelaySystem, nodes: int = NODES) -> Array:
    """Eigenvalues of the collocated generator, complex array ((nodes + 1) N,); (N,) without delay.

    On the Chebyshev points ``θ_m`` of ``[−τ̄, 0]`` the generator is ``D ⊗ I`` with its first block row replaced by
    ``Σ_k A_k y(−τ_k)``, ``y`` the interpolant (barycentric).
    """
    longest = float(of.delays.max())
    if longest == 0:
        return np.linalg.eigvals(of.matrices.sum(axis=0))
    derivative, points = _chebyshev(nodes)
    size = of.size
    whole = np.kron(derivative * (2 / longest), np.eye(size))
    first = np.zeros((size, (nodes + 1) * size))
    for delay, matrix in zip(of.delays, of.matrices, strict=True):
        first += np.kron(_interpolation(points, 1 - 2 * delay / longest), matrix)
    whole[:size] = first
    return np.linalg.eigvals(whole)


def refine_root(of: DelaySystem, start: complex) -> tuple[complex, float]:
    """A root near a point, by Newton's method on ``Δ(s) v = 0``, ``wᴴ v = 1``; and its residual, infinite where it failed."""
    s = complex(start)
    scale, longest = of.radius, float(of.delays.max())
    right = np.linalg.svd(of.characteristic(s))[2]
    v, w = right[-1].conj(), right[-1].conj()
    for _ in range(NEWTON_STEPS):
        matrix = of.characteristic(s)
        bordered = np.zeros((of.size + 1, of.size + 1), dtype=complex)
        bordered[:-1, :-1], bordered[:-1, -1], bordered[-1, :-1] = matrix, of.characteristic_slope(s) @ v, w.conj()
        try:
            step = np.linalg.solve(bordered, np.r_[-(matrix @ v), 1 - w.conj() @ v])
        except np.linalg.LinAlgError:
            break
        v, s = v + step[:-1], s + complex(step[-1])
        if not (isfinite(s.real) and isfinite(s.imag)) or s.real * longest < -DEEPEST:
            return start, np.inf
        if abs(step[-1]) <= 1e-15 * max(abs(s), 1e-300):
            break
    norm = float(np.linalg.norm(v))
    residual = float(np.linalg.norm(of.characteristic(s) @ v)) / norm / (abs(s) + scale) if scale else 0.0
    return s, residual


def count_unstable(of: DelaySystem) -> int:
    """Roots with ``Re s > 0``, with multiplicity, by the argument principle.

    ``h(s) = det Δ(s)/(s^q (s + c)^{N−q})``, ``q`` the order of the zero at 0, is analytic for ``Re s ≥ 0`` and tends to 1, and
    all its zeros there lie within `DelaySystem.radius`; they are ``−1/π`` times what its phase turns along ``iω``,
    ``0 < ω < ∞``. Points are added until ``|h'/h|`` times the step is below `STEP` at both ends of it, so that no root, simple
    or multiple, comes nearer to a step than about its length: a phase alone would alias past a double root near the axis.

    Raises
    ------
    LBTheoryError
        A root lies on the axis (or too near to tell).
    """
    if of.radius == 0:
        return 0
    reach = 8 * of.size * of.radius
    grid = np.geomspace(1e-8 * of.radius, reach, 160)
    phase, rate = _phase(of, grid)
    while True:
        width = np.diff(grid)
        wide = np.nonzero(width * np.maximum(rate[:-1], rate[1:]) > STEP)[0]
        if not wide.size:
            break
        if (width[wide] < 1e-13 * grid[wide]).any() or len(grid) > MOST_POINTS:
            raise LBTheoryError("a characteristic root lies on the imaginary axis: it cannot be counted. Change the stepsize.")
        middle = (grid[wide] + grid[wide + 1]) / 2
        more, speed = _phase(of, middle)
        grid = np.insert(grid, wide + 1, middle)
        phase, rate = np.insert(phase, wide + 1, more), np.insert(rate, wide + 1, speed)
    end = _wrapped(phase[-1])  # beyond the reach |arg h| ≤ 2N·radius/reach < 1, so that the rest turns back by this
    start = 0.0 if abs(_wrapped(phase[0])) < pi / 2 else pi  # h(0) is real
    number = -(float(_wrapped(np.diff(phase)).sum()) - end + _wrapped(phase[0] - start)) / pi
    if abs(number - round(number)) > 0.05 or round(number) < 0:
        raise LBTheoryError(f"the phase turned by {number:.3f} half-turns: no count. Change the stepsize.")
    return round(number)


def _wrapped(angle: Any) -> Any:
    """Angles in ``[−π, π)``."""
    return (angle + pi) % (2 * pi) - pi


def _phase(of: DelaySystem, omega: Array) -> tuple[Array, Array]:
    """Phase of ``h(iω)``, in any branch, and ``|h'/h|``."""
    phase, rate = np.empty(len(omega)), np.empty(len(omega))
    for part in np.array_split(np.arange(len(omega)), 1 + len(omega) // 512):
        s = 1j * omega[part]
        matrix = of.characteristic(s)
        decay = of.delays * np.exp(-s[:, None] * of.delays)
        slope = np.eye(of.size) + np.tensordot(decay, of.matrices, axes=1)
        away, known = of.size - of.zeros, of.zeros
        phase[part] = np.angle(np.linalg.slogdet(matrix)[0]) - known * pi / 2 - away * np.angle(s + of.radius)
        try:
            trace = np.trace(np.linalg.solve(matrix, slope), axis1=1, axis2=2)
        except np.linalg.LinAlgError:
            trace = np.full(len(s), np.inf)
        rate[part] = np.abs(trace - known / s - away / (s + of.radius))
    return phase, rate


def rightmost(of: DelaySystem, count: int = 8) -> Roots:
    """The rightmost roots, refined, beside the number of unstable ones.

    The collocation degree is doubled while roots and count disagree on stability.

    Parameters
    ----------
    of : DelaySystem
    count : int
        Candidates beyond the known zeros that are refined, ≥ 1.

    Raises
    ------
    LBTheoryError
        They disagree at `MOST_NODES` too, or no root could be refined.
    """
    unstable, nodes = count_unstable(of), NODES
    while nodes <= MOST_NODES:
        values, residuals = refined_roots(of, nodes, count)
        if values.size and (values[0].real > 0) == (unstable > 0):
            return Roots(values=readonly(values), residuals=readonly(residuals), unstable=unstable, nodes=nodes)
        nodes *= 2
    raise LBTheoryError(
        f"characteristic roots were not resolved with {MOST_NODES} nodes; the argument principle counts {unstable}."
    )


def refined_roots(of: DelaySystem, nodes: int, count: int) -> tuple[Array, Array]:
    """Distinct refined roots from the rightmost collocation eigenvalues, with residuals; see `Roots`.

    The ``zeros`` eigenvalues of least modulus are those known at 0. A candidate that refinement takes to them, or that does not
    converge, is no root: spurious eigenvalues of the collocation go here.
    """
    spectrum = collocation_spectrum(of, nodes)
    spectrum = spectrum[np.argsort(np.abs(spectrum))][of.zeros :]
    spectrum = spectrum[spectrum.imag >= 0]
    candidates = spectrum[np.argsort(-spectrum.real)][:count]
    least = 1e-11 * of.radius if of.zeros else 0.0
    found: list[tuple[complex, float]] = []
    for start in candidates:
        s, residual = refine_root(of, complex(start))
        s = complex(s.real, abs(s.imag)) if abs(s.imag) > 1e-13 * abs(s) else complex(s.real, 0.0)
        known = any(abs(s - other) <= 1e-8 * max(abs(s), abs(other)) for other, _ in found)
        if residual <= RESIDUAL and abs(s) > least and not known:
            found.append((s, residual))
    found.sort(key=lambda pair: -pair[0].real)
    return np.array([s for s, _ in found], dtype=complex), np.array([r for _, r in found])


def _chebyshev(nodes: int) -> tuple[Array, Array]:
    """Differentiation matrix and points ``cos(πm/M)``, from 1 to −1 (Trefethen, *Spectral Methods in MATLAB*, chapter 6)."""
    m = np.arange(nodes + 1)
    points = np.sin(pi * (nodes - 2 * m) / (2 * nodes))
    weight = np.where((m == 0) | (m == nodes), 2.0, 1.0) * (-1.0) ** m
    gaps = points[:, None] - points[None, :] + np.eye(nodes + 1)
    matrix = weight[:, None] / weight[None, :] / gaps
    np.fill_diagonal(matrix, 0.0)
    np.fill_diagonal(matrix, -matrix.sum(axis=1))
    return matrix, points


def _interpolation(points: Array, at: float) -> Array:
    """Row (1, M+1) that evaluates the interpolant at a point (second barycentric formula)."""
    gap = at - points
    exact = np.abs(gap) < 1e-15
    if exact.any():
        return exact.astype(float)[None, :]
    m = np.arange(len(points))
    terms = np.where((m == 0) | (m == len(points) - 1), 0.5, 1.0) * (-1.0) ** m / gap
    return (terms / terms.sum())[None, :]
