"""Plain oracles of the delay integrator: the same mathematics without rings, fast paths or compiled code.

`integrate` keeps every cubic that it ever made, looks values up by time and integrates inflows piece by piece. `tangent` and
`simplex` find the multiplier by bisection.
"""

from typing import Any

import numpy as np
from numpy.polynomial import Polynomial

from lbtheory.fluid import Network, arc_constants

Array = np.ndarray
Piece = tuple[float, float, Polynomial]
"""Holds on [start, end], a polynomial of the time since time 0."""


def simplex(y: Array) -> Array:
    """``(y − θ)⁺`` with sum 1, ``θ`` by bisection."""
    low, high = float(y.min()) - 1.0, float(y.max())
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(y - middle, 0).sum() > 1 else (low, middle)
    return np.maximum(y - (low + high) / 2, 0.0)


def tangent(x: Array, z: Array) -> Array:
    """``Π_{T(x)}(z)``: ``θ`` with ``Σ_{x>0}(z − θ) + Σ_{x=0}(z − θ)⁺ = 0`` by bisection."""
    low, high = float(z.min()) - 1.0, float(z.max()) + 1.0
    for _ in range(200):
        middle = (low + high) / 2
        total = np.where(x > 0, z - middle, np.maximum(z - middle, 0)).sum()
        low, high = (middle, high) if total > 0 else (low, middle)
    theta = (low + high) / 2
    return np.where(x > 0, z - theta, np.maximum(z - theta, 0))


def _at(pieces: list[Piece], t: float, *, left: bool) -> float:
    """A limit from the left or the right."""
    for start, end, p in reversed(pieces):
        if (start < t - 1e-11 and t <= end + 1e-11) if left else (start <= t + 1e-11 and t < end - 1e-11):
            return float(p(t))
    raise LookupError(t)


def _mean(pieces: list[Piece], low: float, high: float) -> float:
    """Over ``[low, high]``, piece by piece."""
    total = 0.0
    for start, end, p in pieces:
        a, b = max(start, low), min(end, high)
        if a < b:
            anti = p.integ()
            total += float(anti(b) - anti(a))
    return total / (high - low)


def _source_step(
    x: Array, costs: list[Polynomial], eta: float, t: float, end: float
) -> list[tuple[float, float, list[Polynomial]]]:
    """Pieces of ``x' = Π_{T(x)}(−η c(t))`` on ``[t, end]`` for polynomial costs; all roots by `Polynomial.roots`."""
    made = []
    x = x.copy()
    while t < end - 1e-13:
        now = np.array([c(t) for c in costs])
        # the rates of change decide between costs that tie, as just after an event
        later = np.array([c(t + 1e-7 * (end - t)) for c in costs])
        active = (x > 0) | (tangent(x, -later) > 0) | (tangent(x, -now) > 1e-9)
        mean = sum((costs[a] for a in np.nonzero(active)[0]), Polynomial([0.0])) / int(active.sum())
        shares = []
        for a, c in enumerate(costs):
            drift = (eta * (mean - c)).integ()
            shares.append(x[a] + drift - drift(t) if active[a] else Polynomial([0.0]))
        stop, hit = end, -1
        for a in range(x.size):
            target = shares[a] if active[a] else costs[a] - mean
            roots = target.trim(1e-300).roots() if target.trim().degree() else np.array([])
            for root in np.sort(roots[np.abs(np.imag(roots)) < 1e-12].real):
                for _ in range(3):  # roots of a companion matrix are good to half of the digits
                    slope = float(target.deriv()(root))
                    root = root - float(target(root)) / slope if slope else root
                if t + 1e-9 * (end - t) < root < stop and target(root + 1e-7 * (end - t)) < 0:
                    stop, hit = float(root), a
                    break
        made.append((t, stop, shares))
        x = np.array([max(float(p(stop)), 0.0) if active[a] else 0.0 for a, p in enumerate(shares)])
        if hit >= 0 and active[hit]:
            x[hit] = 0.0
        t = stop
    return made


def integrate(
    network: Network, cost: str, eta: float, step: float, steps: int, workloads: Any, shares: Any
) -> tuple[Array, Array]:
    """Flow routing with events on steps of one width, all delays ≥ step, history constant; values at the nodes.

    An observed cost is the quadratic with its values at the ends of the step and its mean over it.
    """
    source, cell = network.arcs
    tau, g = network.latency[source, cell], arc_constants(cost, network.latency)[source, cell]
    costs, arrivals = network.costs(cost), network.arrivals
    n, x = np.array(workloads, float), np.array(shares, float)[source, cell]
    far = -float(tau.max()) - 2 * step
    known: list[list[Piece]] = [[(far, 0.0, Polynomial([float(one.value(m))]))] for one, m in zip(costs, n, strict=True)]
    sent: list[list[Piece]] = [[(far, 0.0, Polynomial([arrivals[i] * s]))] for i, s in zip(source, x, strict=True)]
    loads, routes = [n.copy()], [x.copy()]
    for k in range(steps):
        t, end = k * step, (k + 1) * step
        for i in np.nonzero(arrivals > 0)[0]:
            arcs = np.nonzero(source == i)[0]
            seen = []
            for a in arcs:
                first = g[a] + _at(known[cell[a]], t - tau[a], left=False)
                final = g[a] + _at(known[cell[a]], end - tau[a], left=True)
                middle = (6 * (g[a] + _mean(known[cell[a]], t - tau[a], end - tau[a])) - first - final) / 4
                fit = Polynomial.fit([t, t + step / 2, end], [first, middle, final], 2)
                seen.append(fit.convert())
            for low, high, parts in _source_step(x[arcs], seen, eta, t, end):
                for a, p in zip(arcs, parts, strict=True):
                    sent[a].append((low, high, arrivals[i] * p))
            x[arcs] = [max(sent[a][-1][2](end) / arrivals[i], 0.0) for a in arcs]
            x[arcs] = np.where(x[arcs] < 1e-13, 0.0, x[arcs])
        for j, one in enumerate(costs):
            into = [a for a in np.nonzero(cell == j)[0] if arrivals[source[a]] > 0]
            start = sum(_at(sent[a], t - tau[a], left=False) for a in into)
            last = sum(_at(sent[a], end - tau[a], left=True) for a in into)
            mean = sum(_mean(sent[a], t - tau[a], end - tau[a]) for a in into)
            middle = (6 * mean - start - last) / 4

            def served(m: float, of: Any = one.rate) -> float:
                return float(of.rate(m))

            k1 = start - served(n[j])
            k2 = middle - served(n[j] + step / 2 * k1)
            k3 = middle - served(n[j] + step / 2 * k2)
            k4 = last - served(n[j] + step * k3)
            after = n[j] + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            f0, f1 = float(one.value(n[j])), float(one.value(after))
            h0, h1 = step * float(one.slope(n[j])) * k1, step * float(one.slope(after)) * (last - served(after))
            unit = Polynomial([f0, h0, 3 * (f1 - f0) - 2 * h0 - h1, 2 * (f0 - f1) + h0 + h1])
            known[j].append((t, end, unit(Polynomial([-t / step, 1 / step]))))
            n[j] = after
        loads.append(n.copy())
        routes.append(x.copy())
    return np.array(loads), np.array(routes)
