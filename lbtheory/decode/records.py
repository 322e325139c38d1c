"""Records of a run: one row an iteration, one row a request; written as Parquet or CSV."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lbtheory.core import ParameterError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True)
class IterationRecords:
    """Iterations ``k = 1 … K`` of a run; arrays of length K.

    ``maximum, minimum, total`` of the loads after admission (tokens) and ``square``, the sum of their squares; ``admitted``;
    ``waiting`` after admission; ``active`` requests; ``fullest``: most requests on one worker; ``start`` and ``duration``
    (seconds); ``paused`` requests, left out of the step and of the loads; ``loads`` (K, G) when kept, else None.
    """

    workers: int
    maximum: np.ndarray
    minimum: np.ndarray
    total: np.ndarray
    square: np.ndarray
    admitted: np.ndarray
    waiting: np.ndarray
    active: np.ndarray
    fullest: np.ndarray
    start: np.ndarray
    duration: np.ndarray
    paused: np.ndarray
    loads: np.ndarray | None

    def __len__(self) -> int:
        return len(self.maximum)

    @property
    def imbalance_sum(self) -> np.ndarray:
        """``I = G max_g L_g − Σ_g L_g``, tokens."""
        return self.workers * self.maximum - self.total

    @property
    def imbalance_range(self) -> np.ndarray:
        """``max_g L_g − min_g L_g``, tokens."""
        return self.maximum - self.minimum

    @property
    def barrier_idle(self) -> np.ndarray:
        """``I / (G M)``, 0 where ``M = 0``."""
        return self.imbalance_sum / np.maximum(self.workers * self.maximum, 1)

    @property
    def end(self) -> np.ndarray:
        """End of each iteration, seconds."""
        return self.start + self.duration

    def table(self) -> "pd.DataFrame":
        """A tidy table with a column ``iteration``, and ``load_0 …`` when loads were kept."""
        import pandas as pd

        columns = {
            "iteration": np.arange(1, len(self) + 1),
            "maximum": self.maximum,
            "minimum": self.minimum,
            "total": self.total,
            "imbalance_sum": self.imbalance_sum,
            "imbalance_range": self.imbalance_range,
            "barrier_idle": self.barrier_idle,
            "admitted": self.admitted,
            "waiting": self.waiting,
            "active": self.active,
            "fullest": self.fullest,
            "start": self.start,
            "duration": self.duration,
            "paused": self.paused,
        }
        if self.loads is not None:
            columns |= {f"load_{g}": self.loads[:, g] for g in range(self.workers)}
        return pd.DataFrame(columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRecords:
    """Requests of a run in release order; arrays of length n.

    Iterations count from 1, 0 means never. Times are seconds, NaN where the event did not happen in the run. ``ttft`` runs from
    release, ``ttft_admission`` from admission, to the end of the admission iteration. ``tpot`` is
    ``(finish − first token)/(O − 1)``, NaN at ``O = 1``; ``tpot_iteration`` the total time of the request's iterations ``/ O``.
    ``paused``: iterations in flight in which the request was left out. ``tenants`` (numbers from 0) and ``weights`` of tenants
    as the stream has them, else None.
    """

    prompts: np.ndarray
    outputs: np.ndarray
    worker: np.ndarray
    release_iteration: np.ndarray
    admission_iteration: np.ndarray
    finish_iteration: np.ndarray
    release: np.ndarray
    admission: np.ndarray
    first_token: np.ndarray
    finish: np.ndarray
    paused: np.ndarray
    tenants: np.ndarray | None
    weights: np.ndarray | None

    def __len__(self) -> int:
        return len(self.prompts)

    @property
    def finished(self) -> np.ndarray:
        """Whether the request finished in the run."""
        return self.finish_iteration > 0

    @property
    def ttft(self) -> np.ndarray:
        """Release to first token, seconds."""
        return self.first_token - self.release

    @property
    def ttft_admission(self) -> np.ndarray:
        """Admission to first token, seconds."""
        return self.first_token - self.admission

    @property
    def wait(self) -> np.ndarray:
        """Release to admission, seconds."""
        return self.admission - self.release

    @property
    def wait_iterations(self) -> np.ndarray:
        """Iterations from release to admission; −1 for requests not admitted."""
        return np.where(self.admission_iteration > 0, self.admission_iteration - self.release_iteration, -1)

    @property
    def tpot(self) -> np.ndarray:
        """``(finish − first token)/(O − 1)``, seconds."""
        return np.where(self.outputs > 1, (self.finish - self.first_token) / np.maximum(self.outputs - 1, 1), np.nan)

    @property
    def tpot_iteration(self) -> np.ndarray:
        """``(finish − admission)/O``, seconds."""
        return (self.finish - self.admission) / self.outputs

    def table(self) -> "pd.DataFrame":
        """A tidy table."""
        import pandas as pd

        names = ("prompts", "outputs", "worker", "release_iteration", "admission_iteration", "finish_iteration")
        times = (
            "release",
            "admission",
            "first_token",
            "finish",
            "wait",
            "wait_iterations",
            "ttft",
            "ttft_admission",
            "tpot",
            "tpot_iteration",
        )
        columns = [*names, *times, "paused", *(name for name in ("tenants", "weights") if getattr(self, name) is not None)]
        return pd.DataFrame({"request": np.arange(len(self)), **{name: getattr(self, name) for name in columns}})


def check_file_format(file_format: str) -> None:
    """Raise `ParameterError` unless records can be written in this format."""
    if file_format not in ("parquet", "csv"):
        raise ParameterError(f"`file_format` of the records must be parquet or csv; got {file_format!r}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What a simulation returns: records, and why it stopped (``drained``, ``steps`` or ``exhausted``)."""

    workers: int
    slots: int
    iterations: IterationRecords
    requests: RequestRecords
    stopped: str
    engine: str

    def write(self, folder: str | Path, *, file_format: str = "parquet") -> list[Path]:
        """Write ``iterations`` and ``requests`` into ``folder`` as Parquet or CSV; returns the files.

        Raises
        ------
        ParameterError
            For another format.
        """
        check_file_format(file_format)
        out = Path(folder)
        out.mkdir(parents=True, exist_ok=True)
        files = []
        for name in ("iterations", "requests"):
            table, file = getattr(self, name).table(), out / f"{name}.{file_format}"
            if file_format == "parquet":
                table.to_parquet(file, index=False)
            else:
                table.to_csv(file, index=False)
            files.append(file)
        return files
