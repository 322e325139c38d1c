"""Seeded synthetic traces that have the published means of the decode paper's workloads.

Sizes are drawn by stratified sampling: the quantile function is applied to one uniform draw in each of ``n`` equal cells, in
random order. Each size then has exactly its law, the sizes of a trace are slightly negatively dependent, and the mean of every
trace is within 0.5 % of the law's for every seed (at the published number of requests). The lognormal laws are clipped at a cap
and have the stated mean and coefficient of variation **after** clipping.

The published workloads give means only. The shapes here are a calibrated stand-in: outputs independent of prompts, and
lognormal prompts whose coefficients of variation, 0.634 and 1.83, fit the JSQ rows of Table 3.

With ``recurrence = r`` a share ``r`` of the requests, placed at random after the first, repeats the prompt of an
earlier request, picked uniformly among the distinct prompts so far: key and prompt size are the same, and the outputs
of one key are correlated through a normal copula whose latent correlation is ``output_correlation``. Each key takes a
block of neighbouring sizes of the stratified sample and their rounded mean, so the mean stays; the spread falls a
little.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lbtheory.core import ParameterError, UnknownNameError, generator, whole_number
from lbtheory.decode.traces.base import Note, Trace, make_trace

Quantile = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Workload:
    requests: int
    prompt_mean: float
    prompt_cv: float
    output: Callable[[], Quantile]
    about: str


PROMPT_CAP = 131_072
"""Largest synthetic prompt, tokens (a context window)."""


def synthetic(
    name: str,
    seed: int | np.random.Generator = 0,
    *,
    n: int | None = None,
    prompt_cv: float | None = None,
    recurrence: float = 0.0,
    output_correlation: float = 0.8,
    prompt_correlation: float = 0.0,
    rate: float | None = None,
) -> Trace:
    """A synthetic trace by name.

    Parameters
    ----------
    name : {"azure2024-like", "proprietary-like"}
        10,000 requests, mean prompt 4,652, outputs 1000 + Geometric(1/52) (mean 1,052, all above 1,000); or 8,000 requests,
        mean prompt 3,197, outputs lognormal with mean 1,185, coefficient of variation 0.8, cap 16,384.
    seed : int or Generator
        An integer names the streams (sizes do not change when another option does); a generator is split into streams.
    n : int, optional
        Number of requests; the published number by default.
    prompt_cv : float, optional
        Coefficient of variation of the lognormal prompts; 0.634 and 1.83 by default.
    recurrence : float
        Share of requests that repeat an earlier prompt, in [0, 1); 0 gives no keys.
    output_correlation : float
        Correlation in [0, 1] of the latent normals of outputs of one key.
    prompt_correlation : float
        Correlation in [−1, 1] of the latent normals of a request's prompt and output: the same sizes, paired otherwise. Not
        with recurring prompts.
    rate : float, optional
        Poisson arrivals, requests a second; without it the trace has lengths only.

    Raises
    ------
    UnknownNameError, ParameterError
    """
    if name not in SYNTHETIC:
        raise UnknownNameError("synthetic trace", name, SYNTHETIC)
    law = SYNTHETIC[name]
    size = law.requests if n is None else n
    _check(size, recurrence, output_correlation, rate)
    if not -1 <= prompt_correlation <= 1:
        raise ParameterError(f"`prompt_correlation` of `synthetic` must be in [−1, 1]; got {prompt_correlation}.")
    prompt_rng, output_rng, key_rng, arrival_rng = _streams(seed, name)
    cv = law.prompt_cv if prompt_cv is None else prompt_cv
    prompts = _stratified(_capped_lognormal(law.prompt_mean, cv, PROMPT_CAP), size, prompt_rng)
    outputs = _stratified(law.output(), size, output_rng)
    keys, repeats = None, 0
    if prompt_correlation:
        if recurrence > 0:
            raise ParameterError("`prompt_correlation` of `synthetic` does not go with `recurrence`; set one of them to 0.")
        outputs = _paired(prompts, outputs, prompt_correlation, key_rng)
    if recurrence > 0:
        repeats = min(round(recurrence * size), size - 1)
        group = _groups(size, repeats, key_rng)
        prompts, outputs = _recurring_prompts(prompts, group, key_rng), _linked(outputs, group, output_correlation, key_rng)
        keys = _hashes(int(group.max()) + 1, key_rng)[group]
    arrivals = None if rate is None else np.cumsum(arrival_rng.exponential(1 / rate, size=size))
    text = f"synthetic: {law.about}, prompt CV {cv:g}, {repeats} requests repeat an earlier prompt"
    return make_trace(
        prompts,
        outputs,
        arrivals=arrivals,
        keys=keys,
        name=name,
        format="synthetic",
        notes=[Note(kind="made", count=size, what=text)],
    )


def bivariate_normal(n: int, seed: int | np.random.Generator) -> Trace:
    """Prompts and outputs from a bivariate normal truncated to positive values, rounded to whole tokens.

    Means 3200 and 1200, standard deviations 2600 and 700, correlation −0.1, all before truncation: the default workload of the
    public simulator of the decode model. Pairs that are not both positive are drawn again; what rounds to 0 becomes 1.
    """
    whole_number("n", "bivariate_normal", n, 1)
    rng = seed if isinstance(seed, np.random.Generator) else generator(seed, "synthetic", "bivariate-normal")
    kept: list[np.ndarray] = []
    count = 0
    while count < n:
        z = rng.standard_normal((max(n - count, 64) * 5 // 4, 2))
        pairs = np.column_stack((3200 + 2600 * z[:, 0], 1200 + 700 * (-0.1 * z[:, 0] + math.sqrt(0.99) * z[:, 1])))
        kept.append(pairs[(pairs > 0).all(axis=1)])
        count += len(kept[-1])
    sizes = np.maximum(np.rint(np.concatenate(kept)[:n]), 1).astype(np.int64)
    note = Note(kind="made", count=n, what="synthetic: bivariate normal truncated to positive values")
    return make_trace(sizes[:, 0], sizes[:, 1], name="bivariate-normal", format="synthetic", notes=[note])


def residual_start(outputs: np.ndarray, slots: int, rng: np.random.Generator) -> np.ndarray:
    """Outputs whose first ``slots`` entries are residual lengths of the stationary renewal process.

    A request found in service at a random time has a length-biased output ``O`` and ``U{1, …, O}`` steps left: together, a
    uniform pick among all tokens of ``outputs``. A saturated run that starts with these is near stationarity from the first
    step.

    Parameters
    ----------
    outputs : int64 array (n,)
    slots : int
        Requests in service at the start, ``G · B``; at most n.

    Returns
    -------
    int64 array (n,)
    """
    lengths = np.asarray(outputs, dtype=np.int64)
    if isinstance(slots, bool) or not isinstance(slots, int | np.integer) or not 0 <= slots <= len(lengths):
        raise ParameterError(
            f"`slots` of `residual_start` must be between 0 and the number of outputs {len(lengths)}; got {slots!r}."
        )
    if len(lengths) == 0 or lengths.min() < 1:
        raise ParameterError("`outputs` of `residual_start` must hold whole numbers ≥ 1.")
    ends = np.cumsum(lengths)
    token = rng.integers(0, ends[-1], size=slots)
    result = lengths.copy()
    result[:slots] = ends[np.searchsorted(ends, token, side="right")] - token
    return result


def _lognormal_output() -> Quantile:
    return _capped_lognormal(1185.0, 0.8, 16_384)


def _shifted_geometric() -> Quantile:
    """Quantile function of 1000 + Geometric(1/52)."""
    log_q = math.log1p(-1 / 52)
    return lambda u: 1000 + np.maximum(np.ceil(np.log1p(-u) / log_q), 1)


SYNTHETIC: dict[str, _Workload] = {
    "azure2024-like": _Workload(
        requests=10_000,
        prompt_mean=4652.0,
        prompt_cv=0.634,
        output=_shifted_geometric,
        about="like the filtered Azure-2024 conversation trace, outputs 1000 + Geometric(1/52)",
    ),
    "proprietary-like": _Workload(
        requests=8_000,
        prompt_mean=3197.0,
        prompt_cv=1.83,
        output=_lognormal_output,
        about="like the proprietary trace, outputs lognormal (mean 1185, CV 0.8, cap 16384)",
    ),
}
"""The synthetic workloads by name."""


def _capped_lognormal(mean: float, cv: float, cap: int) -> Quantile:
    """Quantile function of ``min(X, cap)``, ``X`` lognormal, so that mean and coefficient of variation are as given."""
    from scipy.optimize import brentq
    from scipy.special import log_ndtr, ndtri

    if not (math.isfinite(cv) and 0 < cv <= 0.9 * math.sqrt(cap / mean - 1)):
        limit = 0.9 * math.sqrt(cap / mean - 1)
        raise ParameterError(f"`prompt_cv` of `synthetic` must be positive and at most {limit:.3g}; got {cv}.")

    def moment(mu: float, sigma: float, k: int) -> float:
        """``E min(X, cap)^k``."""
        z = (math.log(cap) - mu) / sigma
        inside = math.exp(k * mu + (k * sigma) ** 2 / 2 + log_ndtr(z - k * sigma))
        return inside + math.exp(k * math.log(cap) + log_ndtr(-z))

    def location(sigma: float) -> float:
        low = math.log(mean) - sigma**2 / 2
        high = math.log(cap) + 10 * sigma
        return float(brentq(lambda mu: math.log(moment(mu, sigma, 1) / mean), low - 1e-9, high, xtol=1e-12))

    def excess(sigma: float) -> float:
        return moment(location(sigma), sigma, 2) / mean**2 - 1 - cv**2

    start = math.sqrt(math.log1p(cv**2))
    high = start
    while excess(high) < 0:
        high *= 1.25
    sigma = start if high == start else float(brentq(excess, start * (1 - 1e-9), high, xtol=1e-12))
    mu = location(sigma)
    return lambda u: np.minimum(np.exp(mu + sigma * ndtri(u)), cap)


def _stratified(quantile: Quantile, n: int, rng: np.random.Generator) -> np.ndarray:
    """One draw in each of ``n`` equal cells of (0, 1), shuffled, through the quantile function; int64 array (n,), each ≥ 1."""
    u = (rng.permutation(n) + rng.random(n)) / n
    sizes = quantile(np.clip(u, 1e-300, np.nextafter(1.0, 0.0)))
    return np.asarray(np.maximum(np.rint(sizes), 1), dtype=np.int64)


def _groups(n: int, repeats: int, rng: np.random.Generator) -> np.ndarray:
    """Number of the key of each request by first appearance, int array (n,): exactly ``repeats`` requests repeat a key."""
    again = np.zeros(n, dtype=bool)
    again[1 + rng.choice(max(n - 1, 1), size=repeats, replace=False)] = True
    known = np.cumsum(~again)
    picked = (rng.random(n) * known).astype(np.int64)
    return np.where(again, picked, known - 1)


def _recurring_prompts(prompts: np.ndarray, group: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Give each key the rounded mean of as many neighbouring sizes as it has requests: the sum stays up to rounding."""
    counts = np.bincount(group)
    place = rng.permutation(len(counts))
    starts = np.concatenate(([0], np.cumsum(counts[place])[:-1]))
    sums = np.add.reduceat(np.sort(prompts), starts)
    of_key = np.empty(len(counts), dtype=np.int64)
    of_key[place] = np.maximum(np.rint(sums / counts[place]), 1)
    return of_key[group]


def _linked(outputs: np.ndarray, group: np.ndarray, correlation: float, rng: np.random.Generator) -> np.ndarray:
    """The same outputs, rearranged by the ranks of latent normals that requests of one key share in part."""
    common, own = rng.standard_normal(int(group.max()) + 1), rng.standard_normal(len(group))
    latent = math.sqrt(correlation) * common[group] + math.sqrt(1 - correlation) * own
    linked = np.empty_like(outputs)
    linked[np.argsort(latent, kind="stable")] = np.sort(outputs)
    return linked


def _paired(prompts: np.ndarray, outputs: np.ndarray, correlation: float, rng: np.random.Generator) -> np.ndarray:
    """The same outputs, rearranged by the ranks of latent normals correlated with those of the prompts (ties at random)."""
    n = len(prompts)
    rank = np.empty(n)
    rank[np.lexsort((rng.random(n), prompts))] = np.sort(rng.standard_normal(n))
    latent = correlation * rank + math.sqrt(1 - correlation**2) * rng.standard_normal(n)
    paired = np.empty_like(outputs)
    paired[np.argsort(latent, kind="stable")] = np.sort(outputs)
    return paired


def _hashes(n: int, rng: np.random.Generator) -> np.ndarray:
    """``n`` distinct 64-bit hashes, uint64 array (n,)."""
    hashes = np.unique(rng.integers(0, 2**64, size=n, dtype=np.uint64))
    while len(hashes) < n:
        hashes = np.unique(np.concatenate((hashes, rng.integers(0, 2**64, size=n, dtype=np.uint64))))[:n]
    return rng.permutation(hashes)


def _streams(seed: int | np.random.Generator, name: str) -> list[np.random.Generator]:
    if isinstance(seed, np.random.Generator):
        return list(seed.spawn(4))
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ParameterError(f"`seed` of `synthetic` must be a whole number ≥ 0 or a Generator; got {seed!r}.")
    return [generator(int(seed), "synthetic", name, stream) for stream in ("prompts", "outputs", "keys", "arrivals")]


def _check(n: int, recurrence: float, output_correlation: float, rate: float | None) -> None:
    whole_number("n", "synthetic", n, 1)
    if not 0 <= recurrence < 1:
        raise ParameterError(f"`recurrence` of `synthetic` must be in [0, 1); got {recurrence}.")
    if not 0 <= output_correlation <= 1:
        raise ParameterError(f"`output_correlation` of `synthetic` must be in [0, 1]; got {output_correlation}.")
    if rate is not None and not (math.isfinite(rate) and rate > 0):
        raise ParameterError(f"`rate` of `synthetic` must be positive and finite requests a second; got {rate}.")
