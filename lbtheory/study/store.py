"""The store: one file a cell, named by the hash of task, task version, parameters and seed.

A file is written under a temporary name and renamed, so it is whole or absent, also with two drivers on one store. It carries a
digest of its content and what it is the result of; a truncated or foreign file is not believed but computed again. Failures are
kept with traceback and parameters, and tried again by the next run.
"""

import json
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from lbtheory.core import InputError, LBTheoryError, write_whole
from lbtheory.study import tasks
from lbtheory.study.discovery import Cell
from lbtheory.study.work import Attempt

FORMAT = 1
FOLDER = ".store"
BEGUN = "begun.json"


class StoreError(LBTheoryError):
    """The store cannot be written (a full disk, no permission); what was stored before is safe."""


class Store:
    """Results of cells under a folder.

    Parameters
    ----------
    folder : Path
        Made when the first result is stored.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, cell: Cell) -> Path:
        """Where the result of a cell is kept."""
        name = key(cell)
        return self.folder / name[:2] / f"{name}.json"

    def get(self, cell: Cell) -> tuple[Attempt | None, str | None]:
        """The stored result, and why a file that is there was not believed (None where nothing is wrong)."""
        path = self.path(cell)
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None, None
        except (OSError, UnicodeDecodeError) as error:
            return None, f"{path} cannot be read ({error}); computed again"
        try:
            content = json.loads(text)
            body = content["body"]
            if content["digest"] != _digest(body):
                return None, f"{path} is damaged; computed again"
            if content["format"] != FORMAT or body["cell"] != _identity(cell):
                return None, f"{path} is the result of something else; computed again"
            return Attempt(**body["attempt"]), None
        except (ValueError, KeyError, TypeError):
            return None, f"{path} is cut short or not a result; computed again"

    def put(self, cell: Cell, attempt: Attempt) -> Attempt:
        """Store a result; returns it as it will be read back.

        Raises
        ------
        StoreError
            When the file cannot be written; the temporary file is removed.
        """
        plain = {name: getattr(attempt, name) for name in Attempt.__slots__}
        body = json.loads(dump({"cell": _identity(cell), "attempt": plain}))
        text = dump({"format": FORMAT, "digest": _digest(body), "body": body})
        path = self.path(cell)
        try:
            write_whole(path, text)
        except OSError as error:
            raise StoreError(
                f"the store {self.folder} cannot be written ({error.strerror or error}). What was stored before is safe: "
                "make room (or name another --out) and give the same command again to go on."
            ) from error
        return Attempt(**body["attempt"])

    def files(self) -> Iterator[Path]:
        """Every result file."""
        return self.folder.glob("[0-9a-f][0-9a-f]/*.json")

    def clean(self, keep: set[Path]) -> int:
        """Remove result files that are not in ``keep``, and left-over temporary files; returns how many."""
        gone = [path for path in self.files() if path not in keep] + list(self.folder.glob("*/.*.tmp"))
        for path in gone:
            path.unlink(missing_ok=True)
        return len(gone)


def key(cell: Cell) -> str:
    """Hash of what a result depends on: task, task version, parameters and seed."""
    return blake2b(dump(_identity(cell)).encode(), digest_size=16).hexdigest()


def _identity(cell: Cell) -> dict[str, Any]:
    try:
        version = getattr(tasks.resolve(cell.task), "task_version", 1)
    except InputError:  # the cell will fail, and say so
        version = None
    identity: dict[str, Any] = json.loads(
        dump({"task": cell.task, "version": version, "parameters": cell.parameters, "seed": cell.seed})
    )
    return identity


def _digest(body: dict[str, Any]) -> str:
    return blake2b(dump(body).encode(), digest_size=16).hexdigest()


def dump(value: Any) -> str:
    """Canonical JSON; numpy numbers as Python's.

    Raises
    ------
    TypeError
        For what cannot be stored.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_plain)


def _plain(value: Any) -> Any:
    """numpy numbers as Python's."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a record or parameter holds {value!r}; only numbers, strings, booleans and None can be stored")
