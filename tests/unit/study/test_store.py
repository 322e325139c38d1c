"""The store: whole or absent, checked when read, named by what a result depends on."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lbtheory.study import Store, StoreError
from lbtheory.study.discovery import Cell
from lbtheory.study.store import key
from lbtheory.study.work import Attempt, attempt

CELL = Cell("lbtheory.study.tasks:probe", {"draws": 3}, 7)


def test_what_is_stored_comes_back(tmp_path: Path) -> None:
    """Records, times and failures; floats to the last bit."""
    store = Store(tmp_path)
    assert store.get(CELL) == (None, None)
    made = attempt(CELL)
    assert store.put(CELL, made) == made and store.get(CELL) == (made, None)
    failing = Cell(CELL.task, {"fail": True}, 7)
    kept = store.put(failing, attempt(failing))
    assert kept.error is not None and "InputError" in kept.error and kept.trace is not None and "Traceback" in kept.trace
    assert sorted(store.files()) == sorted([store.path(CELL), store.path(failing)])


def test_names_depend_on_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """Task, version, parameters and seed; not on the order of the parameters."""
    from lbtheory.study import tasks

    others = [
        Cell("lbtheory.study.tasks:run", {"draws": 3}, 7),
        Cell(CELL.task, {"draws": 4}, 7),
        Cell(CELL.task, {"draws": 3, "fail": False}, 7),
        Cell(CELL.task, {"draws": 3}, 8),
    ]
    names = [key(cell) for cell in (CELL, *others)]
    assert len(set(names)) == 5
    assert key(Cell(CELL.task, {"a": 1, "b": 2}, 0)) == key(Cell(CELL.task, {"b": 2, "a": 1}, 0))
    monkeypatch.setattr(tasks.probe, "task_version", 2, raising=False)
    assert key(CELL) not in names


@pytest.mark.parametrize("damage", ["cut", "empty", "changed", "foreign", "binary", "other"])
def test_a_bad_file_is_not_believed(tmp_path: Path, damage: str) -> None:
    """Truncated, altered or foreign files are said and computed again."""
    store = Store(tmp_path)
    store.put(CELL, attempt(CELL))
    path = store.path(CELL)
    text = path.read_text(encoding="utf-8")
    other = Cell(CELL.task, {"draws": 4}, 7)
    store.put(other, attempt(other))
    bad = {
        "cut": text[: len(text) // 2].encode(),
        "empty": b"",
        "changed": text.replace('"draws":3', '"draws":9', 1).encode(),
        "foreign": json.dumps({"hello": 1}).encode(),
        "binary": b"\xff\x00\x80",
        "other": store.path(other).read_bytes(),
    }[damage]
    path.write_bytes(bad)
    found, doubt = store.get(CELL)
    assert found is None and doubt is not None and "computed again" in doubt and path.name in doubt


def test_clean_keeps_what_is_named(tmp_path: Path) -> None:
    """And removes left-over temporary files."""
    store = Store(tmp_path)
    store.put(CELL, attempt(CELL))
    other = Cell(CELL.task, {"draws": 4}, 7)
    store.put(other, attempt(other))
    (store.path(CELL).parent / ".abc.tmp").touch()
    assert store.clean({store.path(CELL)}) == 2
    assert store.get(CELL)[0] is not None and store.get(other) == (None, None)


def test_what_cannot_be_stored_is_an_error(tmp_path: Path) -> None:
    """A record with an array in it."""
    with pytest.raises(TypeError, match="only numbers"):
        Store(tmp_path).put(CELL, Attempt(records=[{"a": object()}], seconds=0.0, peak_memory=0.0))


FULL = """
import sys
from pathlib import Path
from lbtheory.study import Store, StoreError
from lbtheory.study.discovery import Cell
from lbtheory.study.work import Attempt
store, stored = Store(Path(sys.argv[1])), 0
try:
    for seed in range(1000):
        cell = Cell("lbtheory.study.tasks:probe", {}, seed)
        store.put(cell, Attempt(records=[{"text": "x" * 2000}], seconds=0.0, peak_memory=0.0))
        stored += 1
except StoreError as error:
    print(error)
good = sum(store.get(Cell("lbtheory.study.tasks:probe", {}, seed))[0] is not None for seed in range(1000))
left = len(list(store.folder.glob("*/.*.tmp")))
print(stored, good, left)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="a small file system needs root")
def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    """On a file system of 256 KiB: a clear error, every result stored before is whole, no temporary file is left."""
    script = f"mount -t tmpfs -o size=256k none {tmp_path} && exec {sys.executable} -c '{FULL}' {tmp_path}"
    run = subprocess.run(["unshare", "--mount", "sh", "-c", script], capture_output=True, text=True, check=False)
    if (run.returncode != 0 and "unshare" in run.stderr + run.stdout) or "mount:" in run.stderr:
        pytest.skip(f"no small file system can be made here: {run.stderr.strip()}")
    message, counts = run.stdout.strip().splitlines()
    assert "No space left" in message and "What was stored before is safe" in message
    stored, good, left = map(int, counts.split())
    assert stored == good > 0 and left == 0


def test_no_permission_is_said(tmp_path: Path) -> None:
    """A file where the folder should be."""
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be written"):
        Store(tmp_path / "file").put(CELL, attempt(CELL))
