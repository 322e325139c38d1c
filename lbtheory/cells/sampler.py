"""Scenarios at random (DLB paper, appendix B; what the paper leaves open is ours and a named parameter)."""

from dataclasses import replace

import numpy as np

from lbtheory.cells.demand import STEADY, Demand
from lbtheory.cells.lengths import TraceLengths
from lbtheory.cells.scenario import DECODE_TOKENS, PREFILL_TOKENS, CellSpec, Event, Scenario, ScenarioError, TokenLaw
from lbtheory.core import generator, whole_number

LIGHT_IN_FIBRE = 200_000.0
"""Kilometres a second."""


def sample_scenario(
    seed: int,
    *,
    cells: int | None = None,
    utilisation: float = 0.8,
    length_scale: float = 1.0,
    spread: float = 0.2,
    servers: float = 10.0,
    regions: int | None = None,
    square: float = 8000.0,
    scatter: float = 250.0,
    detour: float = 1.4,
    hop: float = 0.0005,
    prefill_token_time: float = 0.0002,
    decode_token_time: float = 0.0032,
    duration: float = 600.0,
    warmup: float = 60.0,
    noise: float = 0.0,
    demand: Demand = STEADY,
    events: tuple[Event, ...] = (),
    lengths: TraceLengths | None = None,
    prefill_tokens: TokenLaw = PREFILL_TOKENS,
    decode_tokens: TokenLaw = DECODE_TOKENS,
    decode_slots: int = 8,
) -> Scenario:
    """Cells in regions, lognormal token times, Poisson servers, demand uniform on the simplex.

    Every quantity has a stream of its own, so scenarios of one seed that differ in a parameter share all other draws.

    Parameters
    ----------
    seed : int
    cells : int, optional
        ``n``; uniform on 2 … 10 by default (paper: 2 to 10).
    utilisation : float
        Of the total capacity (paper: 0.8).
    length_scale : float
        ``y``: token times are divided and rates multiplied by it (paper).
    spread : float
        Standard deviation of a cell's token times over their mean (paper: 0.2); 0 for homogeneous cells.
    servers : float
        Mean of the Poisson number of servers (paper: 10), at least 1.
    regions : int, optional
        min(3, ⌊n/2⌋), at least one, by default.
    square, scatter : float
        Kilometres: side of the square of the centres of the regions, and spread of the cells about their centre.
    detour, hop : float
        ``τ = detour · distance/(200,000 km/s) + hop``; inside a cell ``hop``, seconds.
    prefill_token_time, decode_token_time : float
        Means, seconds a token.
    duration, warmup, noise, demand, events, lengths, prefill_tokens, decode_tokens, decode_slots
        As of `Scenario`.

    Raises
    ------
    ScenarioError
    """
    whole_number("seed", "sample_scenario", seed, 0)
    _check_positive(("scenario", "utilisation", utilisation), ("scenario", "length_scale", length_scale))
    _check_positive(("sampler", "servers", servers))
    _check_positive(
        ("sampler", "spread", spread),
        ("sampler", "square", square),
        ("sampler", "scatter", scatter),
        ("sampler", "detour", detour),
        ("sampler", "hop", hop),
        ("sampler", "prefill_token_time", prefill_token_time),
        ("sampler", "decode_token_time", decode_token_time),
        zero=True,
    )
    for place, name, number in (("sampler", "regions", regions), ("scenario", "cells", cells)):
        if number is not None and (isinstance(number, bool) or not isinstance(number, int) or number < 1):
            raise ScenarioError(f"`{name}` must be a whole number ≥ 1; got {number!r}.", place, name)
    n = int(generator(seed, "cells").integers(2, 11)) if cells is None else cells
    sigma = np.sqrt(np.log1p(spread**2))
    prefill, decode = np.exp(sigma * generator(seed, "token times").standard_normal((n, 2)) - sigma**2 / 2).T
    count = np.maximum(generator(seed, "servers").poisson(servers, n), 1)
    share = generator(seed, "demand").dirichlet(np.ones(n))
    made = [
        CellSpec(
            name=f"cell-{j}",
            servers=int(count[j]),
            prefill_token_time=float(prefill_token_time / length_scale * prefill[j]),
            decode_token_time=float(decode_token_time / length_scale * decode[j]),
            arrival_rate=0.0,
        )
        for j in range(n)
    ]
    tau = _latency(seed, n, regions or max(1, min(3, n // 2)), square, scatter, detour, hop)
    bare = Scenario(
        cells=tuple(made),
        latency=tau,
        duration=duration,
        warmup=warmup,
        prefill_tokens=prefill_tokens,
        decode_tokens=decode_tokens,
        decode_slots=decode_slots,
        noise=noise,
        demand=demand,
        seed=seed,
        lengths=lengths,
    )
    rates = utilisation * bare.capacities.sum() * share
    loaded = tuple(replace(cell, arrival_rate=float(rate)) for cell, rate in zip(made, rates, strict=True))
    return bare.changed(cells=loaded, events=events)


def _check_positive(*values: tuple[str, str, float], zero: bool = False) -> None:
    """Each is (table, name, value)."""
    for place, name, value in values:
        good = isinstance(value, int | float) and not isinstance(value, bool) and np.isfinite(value)
        if not good or value < 0 or (value == 0 and not zero):
            raise ScenarioError(f"`{name}` must be finite and {'≥' if zero else '>'} 0; got {value!r}.", place, name)


def _latency(seed: int, n: int, regions: int, square: float, scatter: float, detour: float, hop: float) -> np.ndarray:
    """One-way seconds: cell ``m`` lies in region ``m mod r``."""
    centres = generator(seed, "regions").uniform(0, square, (regions, 2))
    places = centres[np.arange(n) % regions] + generator(seed, "places").normal(0, scatter, (n, 2))
    distance = np.linalg.norm(places[:, None] - places[None], axis=2)
    return detour * distance / LIGHT_IN_FIBRE + hop
