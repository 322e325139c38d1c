"""Sessions: requests that share a prefix, so that a server that has computed it once need not do so again."""

from dataclasses import dataclass, replace

import numpy as np

from lbtheory.cells.scenario import Scenario
from lbtheory.cells.stream import CellStream
from lbtheory.core import ParameterError, generator, readonly


@dataclass(frozen=True, slots=True, kw_only=True)
class Sessions:
    """How requests form sessions, root by root (ours, but for the shares).

    Parameters
    ----------
    share : float
        Of the requests, in sessions (paper: 60 to 70 % can reuse a prefix).
    low, high : float
        Saved share of the prefill, uniform between these (paper: 40 to 50 %).
    length : float
        Mean requests of a session, ≥ 1.
    active : int
        A request continues one of so many latest sessions of its root, with equal chances.
    hot, hot_sessions : float, int
        Share of the requests in sessions that belongs to so many sessions of its root that never end.
    """

    share: float = 0.65
    low: float = 0.4
    high: float = 0.5
    length: float = 10.0
    active: int = 500
    hot: float = 0.0
    hot_sessions: int = 2

    def __post_init__(self) -> None:
        legal = {
            "share": 0 <= self.share <= 1,
            "low": 0 <= self.low <= self.high,
            "high": self.high <= 1,
            "length": 1 <= self.length < np.inf,
            "active": isinstance(self.active, int) and self.active >= 1,
            "hot": 0 <= self.hot <= 1,
            "hot_sessions": isinstance(self.hot_sessions, int) and self.hot_sessions >= 1,
        }
        for name, ok in legal.items():
            if not ok:
                raise ParameterError(
                    f"`{name}` of `Sessions` is out of its range (see its documentation); got {getattr(self, name)!r}."
                )


def with_sessions(stream: CellStream, scenario: Scenario, sessions: Sessions, trial: int = 0) -> CellStream:
    """The same requests, in sessions; streams of draws are keyed by (seed, trial, root)."""
    number = np.full(len(stream), -1, np.int64)
    saving = np.zeros(len(stream))
    first = 0
    for i in range(len(scenario.cells)):
        mine = np.nonzero(stream.sources == i)[0]
        rng = generator(scenario.seed, "trial", trial, "root", i, "sessions")
        member, fresh, which, heat = rng.random((4, len(mine)))
        saving[mine] = rng.uniform(sessions.low, sessions.high, len(mine))
        hot = heat < sessions.hot
        starts = (fresh < 1 / sessions.length) & ~hot & (member < sessions.share)
        begun = np.maximum(np.cumsum(starts), 1)
        back = np.where(starts, 0, (which * np.minimum(begun, sessions.active)).astype(int))
        own = np.where(hot, (which * sessions.hot_sessions).astype(int), sessions.hot_sessions + begun - 1 - back)
        number[mine] = np.where(member < sessions.share, first + own, -1)
        first += sessions.hot_sessions + (int(begun[-1]) if len(mine) else 0)
    return replace(stream, sessions=readonly(number.astype(np.int32)), savings=readonly(saving))
