"""LEVEL+: the robust form of LEVEL (``level.md``; ours, empirical)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lbtheory.decode.policies._levelling import LevellingPolicy
from lbtheory.decode.policies.base import check_pause, check_range
from lbtheory.decode.predictors import History

DEFAULT_CAP = 64


def age_discount(history: History) -> float:
    """``φ = clip(1 − 1.5 c, 0, 0.85)``, ``c = sqrt(E Var(O | prompt decile)) / E O``.

    Where prompts fix outputs closely (small ``c``) an old request is about to leave, so its age counts less.
    """
    outputs = np.asarray(history.outputs, float)
    edges = np.quantile(history.prompts, np.arange(1, 10) / 10)
    decile = np.searchsorted(edges, history.prompts, side="right")
    within = sum(outputs[decile == d].var() * (decile == d).sum() for d in np.unique(decile)) / len(outputs)
    return float(np.clip(1 - 1.5 * np.sqrt(within) / outputs.mean(), 0.0, 0.85))


@dataclass(slots=True, kw_only=True)
class LevelPlus(LevellingPolicy):
    """LEVEL on ``E_g = Σ (S_i + (1 − φ) age_i)`` with a window of the ``W`` oldest, a pull ``λ``, pairs and a cap ``D``.

    Below saturation (all waiting requests go) it places the largest first on the worker with least ``E_g``.

    Options
    -------
    window : int
        ``W``; by default ``max(4, D/2)``, 32 without a cap.
    lam : float
        ``λ`` in [0, 1].
    phi : float
        ``φ`` in [0, 1]; by default from history by `age_discount`, 0 without history.
    pairs : bool
        Fill the last two slots of a worker with the best pair.
    overtake : int
        Cap ``D``.
    pause : float
        Relax the barrier, as for the FCFS rules.
    """

    name: ClassVar[str] = "level-plus"
    window: int | None = None
    lam: float = 0.2
    phi: float | None = None
    pause: float | None = None
    pairs: bool = True
    history: History | None = None

    def __post_init__(self) -> None:
        LevellingPolicy.__post_init__(self)
        check_pause(self.name, self.pause)
        check_range(self.name, "lam", self.lam, 0.0, 1.0)
        if self.window is not None:
            check_range(self.name, "window", self.window, 0)
        if self.phi is None:
            self.phi = 0.0 if self.history is None else age_discount(self.history)
        check_range(self.name, "phi", self.phi, 0.0, 1.0)

    def settings(self) -> tuple[int, float, float, bool]:
        """``W, λ, φ``, pairs."""
        window = self.window
        if window is None:
            window = max(4, (DEFAULT_CAP if self.overtake is None else self.overtake) // 2)
        assert self.phi is not None
        return window, self.lam, self.phi, self.pairs
