"""The Dask engine: a cluster started here, and a real scheduler with two worker processes that the test starts."""

import io
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("distributed", reason="the extra `cluster` is not installed")

from lbtheory.core import InputError, ParameterError
from lbtheory.study import make_engine, rebuild
from lbtheory.study.discovery import Cell
from lbtheory.study.engines import Engine, SerialEngine
from lbtheory.study.engines.dask import DaskEngine

PROBE = "lbtheory.study.tasks:probe"


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Address of a scheduler, and its two workers."""
    log = tmp_path / "scheduler.log"
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    with log.open("wb") as file:
        command = [*dask, "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show"]
        scheduler = subprocess.Popen(command, stdout=file, stderr=file)
    address = None
    for _ in range(300):
        found = re.search(r"tcp://127\.0\.0\.1:\d+", log.read_text())
        if found:
            address = found[0]
            break
        time.sleep(0.1)
    assert address is not None, log.read_text()
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
    workers = [subprocess.Popen(worker, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=tmp_path) for _ in range(2)]
    try:
        yield address, workers
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()


def table(root: Path, out: Path, engine: Engine) -> bytes:
    """The table of the miniature checkout."""
    assert rebuild(["tiny-draws"], "full", out, root=root, engine=engine, stream=io.StringIO()).exit_code == 0
    return (out / "tiny-draws" / "table.csv").read_bytes()


def test_a_scheduler_that_exists(checkout: Path, tmp_path: Path, cluster: tuple[str, list[subprocess.Popen[bytes]]]) -> None:
    """The same bytes as serially; a failing cell is a record; a worker that is killed loses nothing."""
    address, workers = cluster
    engine = make_engine("dask", scheduler=address)
    assert table(checkout, tmp_path / "dask", engine) == table(checkout, tmp_path / "serial", SerialEngine())
    cells = [Cell(PROBE, {"sleep": 0.4, "draws": k + 1, "fail": k == 3}, 7) for k in range(8)]
    work = engine.run(cells)
    found = dict([next(work)])
    workers[0].send_signal(signal.SIGKILL)
    found.update(work)
    assert sorted(found) == list(range(8))
    assert found[3].error is not None and "InputError" in found[3].error
    assert all(found[k].error is None for k in range(8) if k != 3)


def test_a_cluster_started_here(checkout: Path, tmp_path: Path) -> None:
    """Two processes; the same bytes."""
    made = table(checkout, tmp_path / "dask", make_engine("dask", workers=2))
    assert made == table(checkout, tmp_path / "serial", SerialEngine())


def test_a_cell_that_hangs_is_stopped() -> None:
    """At the time limit, on its worker; the others are done."""
    cells = [Cell(PROBE, {"sleep": 600.0 if k == 1 else 0.0}, k) for k in range(4)]
    found = dict(make_engine("dask", workers=2, time_limit=6.0).run(cells))
    assert found[1].error is not None and "TimeLimit" in found[1].error
    assert all(found[k].error is None for k in (0, 2, 3))


def test_bad_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scheduler that does not answer is named, with the remedy; options that do not go together are refused."""
    monkeypatch.setattr("lbtheory.study.engines.dask.CONNECT_SECONDS", 0.5)
    with pytest.raises(InputError, match=r"tcp://127\.0\.0\.1:9.*dask scheduler"):
        list(DaskEngine(workers=1, scheduler="tcp://127.0.0.1:9").run([Cell(PROBE, {}, 0)]))
    with pytest.raises(ParameterError, match="`scheduler` needs `--engine dask`"):
        make_engine("local", scheduler="tcp://127.0.0.1:9")
