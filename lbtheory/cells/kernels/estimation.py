"""Latency estimation in the loop: leaves log (load at acceptance, latency) of completed requests and publish fitted models.

Bins of RIF per replica hold exponentially smoothed latencies (the first sample sets them); every ``fit_period`` a model is
fitted to the bins that got a sample within the window, with weights ``√count`` and a pull to the median of the fleet. The
window moves on by whole periods.
"""

import math
from typing import NamedTuple

import numpy as np

from lbtheory.cells.kernels.layout import DECODING, FITS, UPCOMING, WAITING
from lbtheory.core.jit import inlined, kernel
from lbtheory.estimate._kernels import fit


class Estimates(NamedTuple):
    """Bins and models. ``n`` cells, ``B`` bins, ``P`` periods of the window."""

    width: float  # of a bin, requests a replica
    smoothing: float  # weight of a new sample
    pull: float
    margin: float  # δ of the projection
    projected: bool  # project the published (noisy) model again
    censored: bool  # requests in flight that outlived their bin count with their age
    mean: np.ndarray  # (n, B) smoothed latency, 0: none yet
    hits: np.ndarray  # int64 (n, P, B): samples by period
    model: np.ndarray  # (n, 4) logarithms of the last fit
    factor: np.ndarray  # (n,) 1 + εξ
    prior: np.ndarray  # (4,) scratch
    load: np.ndarray  # (B,) scratch
    log: np.ndarray
    weight: np.ndarray
    late: np.ndarray  # (2, n, B) scratch: sum of ages, count
    work: np.ndarray
    column: np.ndarray  # (n,) scratch
    oldest: np.ndarray  # int64 (1,): no request before it is in flight


@inlined
def log_sample(st, est, j, load, latency, now):  # type: ignore[no-untyped-def]
    """A completed request."""
    b = min(int(load / est.width), est.mean.shape[1] - 1)
    if est.mean[j, b] == 0.0:
        est.mean[j, b] = latency
    else:
        est.mean[j, b] += est.smoothing * (latency - est.mean[j, b])
    est.hits[j, st.ints[FITS] % est.hits.shape[1], b] += 1


@kernel
def _median(est, p):  # type: ignore[no-untyped-def]
    """Median over the cells of the logarithm of parameter ``p``."""
    n = len(est.column)
    for j in range(n):
        value, at = est.model[j, p], j
        while at > 0 and est.column[at - 1] > value:
            est.column[at] = est.column[at - 1]
            at -= 1
        est.column[at] = value
    return 0.5 * (est.column[(n - 1) // 2] + est.column[n // 2])


@kernel
def _late(st, est, now):  # type: ignore[no-untyped-def]
    """Ages of the requests in flight that are older than the latency of their bin."""
    est.late[:] = 0.0
    r = est.oldest[0]
    while r < st.ints[UPCOMING] and st.request[r].status > DECODING:
        r += 1
    est.oldest[0] = r
    for r in range(est.oldest[0], st.ints[UPCOMING]):
        if WAITING <= st.request[r].status <= DECODING:
            j, age = int(st.request[r].cell), now - st.request[r].accepted
            b = min(int(st.request[r].load / est.width), est.mean.shape[1] - 1)
            if age > est.mean[j, b]:
                est.late[0, j, b] += age
                est.late[1, j, b] += 1.0


@kernel
def fit_models(st, lim, est, now):  # type: ignore[no-untyped-def]
    """Fit and publish the model of every cell."""
    for p in range(4):
        est.prior[p] = _median(est, p)
    if est.censored:
        _late(st, est, now)
    bins, periods = est.mean.shape[1], est.hits.shape[1]
    for j in range(lim.cells):
        m = 0
        for b in range(bins):
            seen = 0.0
            for t in range(periods):
                seen += est.hits[j, t, b]
            mean = est.mean[j, b]
            if est.censored and est.late[1, j, b] > 0:
                mean = (seen * mean + est.late[0, j, b]) / (seen + est.late[1, j, b])
                seen += est.late[1, j, b]
            if seen > 0:
                est.load[m] = (b + 0.5) * est.width
                est.log[m] = math.log(mean)
                est.weight[m] = math.sqrt(seen)
                m += 1
        fit(est.model[j], est.load, est.log, est.weight, m, est.prior, est.pull, est.margin, est.work)
        publish(st, est, j)
    oldest = (st.ints[FITS] + 1) % periods
    for j in range(lim.cells):
        for b in range(bins):
            est.hits[j, oldest, b] = 0


@kernel
def publish(st, est, j):  # type: ignore[no-untyped-def]
    """The model of a cell as probes carry it: ``a ≥ (1 + δ)bk`` after the fit, noise, and the same again if told."""
    a, b, k, w = math.exp(est.model[j, 0]), math.exp(est.model[j, 1]), math.exp(est.model[j, 2]), math.exp(est.model[j, 3])
    k = min(k, a / (b * (1.0 + est.margin)))
    factor = est.factor[j]
    a, b, k, w = a * factor, b * factor, k * factor, w * factor
    if est.projected:
        k = min(k, a / (b * (1.0 + est.margin)))
    st.cell[j].a = a
    st.cell[j].b = b
    st.cell[j].k = k
    st.cell[j].w = w
