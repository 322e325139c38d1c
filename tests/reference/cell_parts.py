"""What the plain oracle of the cell simulator is made of: kinds of events, formulas, requests, servers."""

import math
from dataclasses import dataclass, field

import numpy as np

PREFILL, DECODE, LEAF, CLIENT, DISRUPT, SHARE, PROBE, SCALE, ERRORS, FIT, PLAN, FLOW, ROOT = range(13)
WORD = 2**64 - 1


def uniform(key: int, k: int) -> float:
    """SplitMix64 of the key and the index, as 53 bits."""
    z = (key + (k + 1) * 0x9E3779B97F4A7C15) & WORD
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
    return ((z ^ (z >> 31)) >> 11) / 2**53


def softplus_cost(theta: tuple[float, float, float, float], n: float, cost: str) -> float:
    """``ℓ`` or ``ℓ²/(ℓ − nℓ')``."""
    a, b, k, w = theta
    u = (n - k) / w
    latency = a + b * w * (max(u, 0.0) + math.log1p(math.exp(-abs(u))))
    if cost == "latency":
        return latency
    share = 1 / (1 + math.exp(u))
    fall = (a - b * k) + b * (w * (max(-u, 0.0) + math.log1p(math.exp(-abs(u)))) + n * share)
    return min(max(latency**2 / fall, -1e9), 1e9)


def project(z: np.ndarray) -> np.ndarray:
    """Simplex projection by sorting."""
    ordered = np.sort(z)[::-1]
    shift = (np.cumsum(ordered) - 1) / np.arange(1, len(z) + 1)
    return np.maximum(z - shift[np.nonzero(ordered > shift)[0][-1]], 0)


@dataclass(eq=False)
class Request:
    """One request; ``phase`` is where it is."""

    number: int
    arrival: float
    key: int
    source: int
    root: int
    prefill: int
    decode: int
    phase: str = "future"
    cell: int = -1
    server: int = -1
    leaf: int = -1
    accepted: float = math.nan
    finished: float = math.nan
    returned: float = math.nan
    load: float = 0.0
    epochs: tuple[int, int] = (0, 0)
    session: int = -1
    saving: float = 0.0
    hit: bool = False
    target: int = -1


@dataclass(eq=False)
class Server:
    """Queue, engine, slots."""

    queue: list[Request] = field(default_factory=list)
    engine: Request | None = None
    slots: list[Request] = field(default_factory=list)

    def holds(self) -> list[Request]:
        """Everything in it."""
        return self.queue + ([self.engine] if self.engine else []) + self.slots


def draw(score: dict[int, float], refused: set[int], u: float) -> int:
    """A cell in proportion to its weight."""
    left = [j for j in score if j not in refused]
    goal, last = u * sum(score[j] for j in left), -1
    for j in left:
        if score[j] > 0:
            last = j
            goal -= score[j]
            if goal < 0:
                return j
    return last
