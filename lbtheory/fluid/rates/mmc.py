"""``mmc``: the M/M/c queue, ``N(z) = a z + C(c, a z) ρ/(1 − ρ)`` with Erlang's delay formula ``C``.

A. K. Erlang, "Solution of some problems in the theory of probabilities of significance in automatic telephone exchanges",
Elektroteknikeren 13 (1917). That ``N(z)`` is strictly convex is known: W. Grassmann, "The convexity of the mean queue size of
the M/M/c queue with respect to the traffic intensity", Journal of Applied Probability 20 (1983).
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numba import njit

from lbtheory.core import ParameterError, whole_number
from lbtheory.fluid.rates._functions import solve_increasing
from lbtheory.fluid.rates._quadrature import CumulativeIntegral
from lbtheory.fluid.rates.base import Array, CostShape, RateFamily, RateShape, of_inflow, of_requests, positive

MOST_SERVERS = 1_000_000
"""Erlang's recursion takes a step a server."""


@njit(cache=True)
def _erlang_b(servers, loads, out):  # type: ignore[no-untyped-def]
    """Columns of ``out``: Erlang's loss ``B(c, r)`` and ``B/r``, by ``B_k = r B_{k−1}/(k + r B_{k−1})``, ``B_0 = 1``."""
    for i in range(loads.size):
        r, loss = loads[i], 1.0
        for k in range(1, servers):
            loss = r * loss / (k + r * loss)
        out[i, 1] = loss / (servers + r * loss)
        out[i, 0] = r * out[i, 1]


def erlang_b(servers: int, loads: Array) -> tuple[Array, Array]:
    """``B(c, r)`` and ``B(c, r)/r`` of the offered loads ``r = a z``, to rounding (every step is a sum of positive terms)."""
    flat = np.ascontiguousarray(loads, dtype=float).ravel()
    out = np.empty((flat.size, 2))
    _erlang_b(servers, flat, out)
    return out[:, 0].reshape(np.shape(loads)), out[:, 1].reshape(np.shape(loads))


@dataclass(frozen=True, slots=True, kw_only=True)
class _State:
    """What follows from the odds ``o = ρ/(1 − ρ)``; primes are derivatives in ``r = c ρ``, ``δ = 1 − ρ``, ``H = C/δ``.

    Attributes
    ----------
    share, spare, delay : ndarray
        ``ρ``, ``δ``, ``C``.
    requests : ndarray
        ``N = r + C o``.
    first, second : ndarray
        ``δ² N'`` and ``δ³ N''``.
    wait_first : ndarray
        ``δ² H'``; ``ℓ = a(1 + H/c)``.
    """

    share: Array
    spare: Array
    delay: Array
    requests: Array
    first: Array
    second: Array
    wait_first: Array


def _state(servers: int, odds: Array) -> _State:
    """Closed forms without a difference of equal terms: ``C = B κ``, ``κ = 1/(1 − ρ + ρB)``, ``B' = B(1/ρ − 1 + B)``.

    They give ``ρ C'/C = M = κ A + ρ δ C`` with ``A = ρ(1 − B)/c + δ²``, and ``κ' = κ²(1 − B)/c − κ B``.
    """
    c, share, spare = servers, odds / (1 + odds), 1 / (1 + odds)
    load = c * share
    loss, loss_by_load = erlang_b(servers, load)
    kappa = 1 / (spare + share * loss)
    delay, delay_by_share = loss * kappa, c * loss_by_load * kappa
    a = share * (1 - loss) / c + spare**2
    m = kappa * a + share * spare * delay
    kappa_slope = kappa**2 * (1 - loss) / c - kappa * loss
    m_slope = kappa_slope * share * a - share * loss / c - kappa * spare * (1 + share) / c  # ρ² (C'/C)'
    m_slope = m_slope + spare * share * delay * m - share**2 * delay / c
    delay_slope = delay_by_share * m  # C'
    load_bend = c * delay_by_share * (m**2 + m_slope)  # r C''
    wait_first = delay_slope * spare + delay / c
    first = spare**2 + (delay * spare + load * wait_first) / c
    second = (2 * wait_first * spare + load_bend * spare**2 + 2 * load * wait_first / c) / c
    return _State(
        share=share,
        spare=spare,
        delay=delay,
        requests=load + delay * odds,
        first=first,
        second=second,
        wait_first=wait_first,
    )


@lru_cache(maxsize=64)
def _delay_integral(servers: int, by_share: bool) -> CumulativeIntegral:
    """``∫_0^t C dt'``, or of ``C ρ``, in ``t = −log(1 − ρ)`` up to the last double below 1."""

    def integrand(t: Array) -> Array:
        state = _state(servers, np.expm1(t))
        return state.delay * state.share if by_share else state.delay

    return CumulativeIntegral(integrand, np.arange(0.0, 38.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class MMC(RateFamily):
    """``N(z) = r + C(c, r) ρ/(1 − ρ)``, ``r = a z``, ``ρ = r/c``; ``μ`` is its inverse, ``μ̄ = c/a``.

    Potentials: ``a z²/2 + μ̄ ∫_0^t C ρ dt`` (RIF times ``k``) and ``a z + ∫_0^t C dt`` (latency), ``t = −log(1 − ρ)``, by
    quadrature with relative error 1e-13. Derivatives are closed forms in Erlang's ``B`` and ``C``.

    Parameters
    ----------
    service : float
        ``a``, mean seconds of service a request.
    servers : int
        ``c``, from 1 to 1,000,000.

    Raises
    ------
    ParameterError
        Unless they are so.
    """

    family: ClassVar[str] = "mmc"

    service: float
    servers: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "service", positive(self.family, "service", self.service))
        object.__setattr__(self, "servers", whole_number("servers", self.family, self.servers, 1))
        if self.servers > MOST_SERVERS:
            raise ParameterError(
                f"`servers` of `mmc` must be at most {MOST_SERVERS}; got {self.servers}. Use smooth_min, its limit in scale."
            )
        if not 0 < self.capacity_limit < np.inf:
            raise ParameterError(f"`service` of `mmc` must give a finite capacity c/a; got {self.service!r}.")

    @property
    def capacity_limit(self) -> float:
        return self.servers / self.service

    def _at_requests(self, n: Array) -> _State:
        """State with ``n`` in flight. ``n/(c + 1) ≤ o ≤ n``: ``N ≤ (c + 1) o``, and no fewer wait than with one fast server."""
        return _state(self.servers, self._odds(n))

    def _odds(self, n: Array) -> Array:
        def excess(odds: Array) -> tuple[Array, Array]:
            state = _state(self.servers, odds)
            return state.requests - n, self.servers * state.first

        low, high = n / (self.servers + 1), n * (1 + 1e-12)
        return solve_increasing(excess, low, high, low)

    @of_requests
    def rate(self, n: Array) -> Array:
        return np.minimum(self.capacity_limit * self._at_requests(n).share, self.capacity_limit)

    @of_inflow
    def inverse(self, z: Array) -> Array:
        below = z < self.capacity_limit
        odds = np.where(below, z / np.where(below, self.capacity_limit - z, 1.0), 0.0)
        return np.where(below, _state(self.servers, odds).requests, np.inf)

    @of_requests
    def slope(self, n: Array) -> Array:
        state = self._at_requests(n)
        return state.spare * (state.spare / state.first) / self.service

    @of_requests
    def latency(self, n: Array) -> Array:
        state = self._at_requests(n)
        return self.service * (1 + state.delay / state.spare / self.servers)

    @of_requests
    def latency_slope(self, n: Array) -> Array:
        state = self._at_requests(n)
        return self.service / self.servers * (state.wait_first / state.first)

    @of_requests
    def marginal(self, n: Array) -> Array:
        state = self._at_requests(n)
        return self.service * (state.first / state.spare) / state.spare

    @of_requests
    def marginal_slope(self, n: Array) -> Array:
        state = self._at_requests(n)
        return self.service * (state.second / state.first) / state.spare

    @of_inflow
    def integral_of_inverse(self, z: Array) -> Array:
        return self.service * z * z / 2 + self.capacity_limit * self._waiting(z, by_share=True)

    @of_inflow
    def integral_of_latency(self, z: Array) -> Array:
        return self.service * z + self._waiting(z, by_share=False)

    def _waiting(self, z: Array, *, by_share: bool) -> Array:
        below = z < self.capacity_limit
        t = np.log1p(np.where(below, z / np.where(below, self.capacity_limit - z, 1.0), 0.0))
        return np.where(below, _delay_integral(self.servers, by_share)(t), np.inf)

    def rate_shape(self) -> RateShape:
        return RateShape(holds=True, why="N(z) increases strictly and has a pole at z = c/a.")

    def _latency_shape(self) -> CostShape:
        why = "N(z)/z increases strictly (mean waiting time) and has a simple pole at c/a, so ℓ grows as N a/c."
        return CostShape(increasing=True, unbounded=True, growth=0.0, log_concave_from=None, why=why)

    def _marginal_shape(self) -> CostShape:
        why = "N(z) is strictly convex (known, not proved here) and dN/dz has a double pole at c/a, so 1/μ' grows as N²."
        return CostShape(increasing=True, unbounded=True, growth=0.0, log_concave_from=None, why=why)
