"""Engines: the same table whatever runs the cells, and only cells in flight are lost when something breaks."""

import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lbtheory.core import ParameterError, UnknownNameError
from lbtheory.study import Interrupted, make_engine, rebuild
from lbtheory.study.discovery import Cell
from lbtheory.study.engines import Engine, LocalEngine, SerialEngine

PROBE = "lbtheory.study.tasks:probe"


def collect(engine: Engine, cells: list[Cell]) -> dict[int, object]:
    """All results by index; each index once."""
    found: dict[int, object] = {}
    for index, result in engine.run(cells):
        assert index not in found
        found[index] = result
    return found


def table(root: Path, out: Path, engine: Engine, **more: bool) -> tuple[bytes, str]:
    """The table of the miniature checkout, and the log."""
    log = io.StringIO()
    outcome = rebuild(["tiny-draws"], "full", out, root=root, engine=engine, stream=log, **more)
    assert outcome.exit_code == 0, log.getvalue()
    return (out / "tiny-draws" / "table.csv").read_bytes(), log.getvalue()


def test_tables_do_not_depend_on_the_engine(checkout: Path, tmp_path: Path) -> None:
    """Serial, one process, three processes: the same bytes."""
    engines = [SerialEngine(), LocalEngine(workers=1), LocalEngine(workers=3)]
    made = {table(checkout, tmp_path / str(k), engine)[0] for k, engine in enumerate(engines)}
    assert len(made) == 1


def test_a_rerun_takes_what_is_stored(checkout: Path, tmp_path: Path) -> None:
    """Nothing is computed twice unless forced; a damaged file is said and made again."""
    first, _ = table(checkout, tmp_path, SerialEngine())
    files = {path: path.stat().st_mtime_ns for path in (tmp_path / ".store").glob("??/*.json")}
    assert len(files) == 5
    assert table(checkout, tmp_path, SerialEngine())[0] == first
    assert {path: path.stat().st_mtime_ns for path in files} == files
    victim = next(iter(files))
    victim.write_text("{", encoding="utf-8")
    again, log = table(checkout, tmp_path, SerialEngine())
    assert again == first and victim.name in log and "computed again" in log
    assert victim.stat().st_mtime_ns != files[victim]
    table(checkout, tmp_path, SerialEngine(), force=True)
    assert all(path.stat().st_mtime_ns != stamp for path, stamp in files.items())


def test_a_killed_worker_is_replaced(tmp_path: Path) -> None:
    """SIGKILL at its first try: the cell is tried again, the others are not touched."""
    cells = [Cell(PROBE, {"draws": k + 1, "fatal": str(tmp_path / "died") if k == 2 else None}, 7) for k in range(6)]
    found = collect(LocalEngine(workers=2), cells)
    assert (tmp_path / "died").exists() and len(found) == 6
    assert all(result.error is None for result in found.values())  # type: ignore[attr-defined]


def test_a_cell_that_always_kills_its_worker_is_a_failure() -> None:
    """After three tries; the rest is done."""
    cells = [Cell(PROBE, {"fatal": "always" if k == 0 else None}, k) for k in range(3)]
    found = collect(LocalEngine(workers=2), cells)
    assert found[0].error == "its worker died (SIGKILL) 3 times"  # type: ignore[attr-defined]
    assert found[1].error is None and found[2].error is None  # type: ignore[attr-defined]


def test_a_cell_that_raises_is_a_record() -> None:
    """With its traceback."""
    for engine in (SerialEngine(), LocalEngine(workers=1)):
        found = collect(engine, [Cell(PROBE, {"fail": True}, 0), Cell(PROBE, {}, 0)])
        assert "InputError" in found[0].error and "Traceback" in found[0].trace  # type: ignore[attr-defined]
        assert found[1].error is None  # type: ignore[attr-defined]


def test_a_cell_that_hangs_is_stopped() -> None:
    """At the time limit; its worker is replaced."""
    for engine in (LocalEngine(workers=1, time_limit=8.0), SerialEngine(time_limit=8.0)):
        began = time.monotonic()
        cells = [Cell(PROBE, {"sleep": 600.0 if k == 0 else 0.0}, k) for k in range(3)]
        found = collect(engine, cells)
        assert "TimeLimit" in found[0].error and time.monotonic() - began < 60  # type: ignore[attr-defined]
        assert found[1].error is None and found[2].error is None  # type: ignore[attr-defined]


def test_a_cell_in_its_own_process_is_the_same_cell() -> None:
    """With a time limit: the same records; failures with their traceback; a process that dies says how."""
    cells = [Cell(PROBE, {"draws": 3}, 7), Cell(PROBE, {"fail": True}, 7), Cell(PROBE, {"fatal": "always"}, 7)]
    plain = collect(SerialEngine(), cells[:2])
    alone = collect(SerialEngine(time_limit=60.0), cells)
    for k in (0, 1):
        assert alone[k].records == plain[k].records and alone[k].error == plain[k].error  # type: ignore[attr-defined]
    assert "Traceback" in alone[1].trace  # type: ignore[attr-defined]
    assert "ended with code -9" in alone[2].error  # type: ignore[attr-defined]


def test_engines_are_checked() -> None:
    """Names and numbers."""
    with pytest.raises(UnknownNameError, match="Did you mean 'local'"):
        make_engine("locl")
    with pytest.raises(ParameterError, match="`workers`"):
        make_engine(workers=0)
    with pytest.raises(ParameterError, match="`time_limit`"):
        make_engine(time_limit=0)


def test_interrupt_keeps_what_is_done(checkout: Path, tmp_path: Path) -> None:
    """Ctrl-C after the second cell: two results are stored, the message says how to go on, and going on gives the table."""

    class Impatient(SerialEngine):
        def run(self, cells):  # type: ignore[no-untyped-def]
            for number, result in enumerate(super().run(cells)):
                if number == 2:
                    raise KeyboardInterrupt
                yield result

    with pytest.raises(Interrupted, match=r"2 of 5 cells .* Give the same command again"):
        table(checkout, tmp_path, Impatient())
    assert len(list((tmp_path / ".store").glob("??/*.json"))) == 2
    assert table(checkout, tmp_path, SerialEngine())[0] == table(checkout, tmp_path / "other", SerialEngine())[0]


DRIVER = """
import sys
from pathlib import Path
from lbtheory.study import rebuild
from lbtheory.core import LBTheoryError
from lbtheory.study import make_engine
if __name__ == "__main__":
    engine = make_engine(sys.argv[3], workers=2)
    try:
        rebuild(["slow"], "quick", sys.argv[2], root=Path(sys.argv[1]), engine=engine)
    except LBTheoryError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
"""
SLOW = """
TITLE = "Slow cells"
REFERENCE = "none"

def cells(scale):
    return [("lbtheory.study.tasks:probe", {"draws": draws, "sleep": 0.25}, 7) for draws in range(1, 13)]
"""


def slow_experiment(root: Path) -> None:
    """Twelve cells of a quarter of a second."""
    folder = root / "experiments" / "slow"
    folder.mkdir()
    (folder / "sweep.py").write_text(SLOW, encoding="utf-8")
    (folder / "analysis.py").write_text((root / "experiments/tiny_draws/analysis.py").read_text(), encoding="utf-8")


def wait_for_two_results(out: Path) -> None:
    """Until two cells are stored, half a minute at most."""
    for _ in range(600):
        if len(list((out / ".store").glob("??/*.json"))) >= 2:
            return
        time.sleep(0.05)


@pytest.mark.parametrize("name", ["local", "serial", "dask"])
def test_ctrl_c(checkout: Path, tmp_path: Path, name: str) -> None:
    """SIGINT to the whole group, as a terminal sends it: one clear message, exit code 130, and going on gives the table."""
    if name == "dask":
        pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    slow_experiment(checkout)
    script = tmp_path / "driver.py"
    script.write_text(DRIVER, encoding="utf-8")
    out = tmp_path / "out"
    command = [sys.executable, str(script), str(checkout), str(out), name]
    driver = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    wait_for_two_results(out)
    os.killpg(driver.pid, signal.SIGINT)
    _, log = driver.communicate(timeout=60)
    assert driver.returncode == 130, log
    assert "of 12 cells of slow are stored" in log and "Give the same command again to go on" in log
    assert "Traceback" not in log
    assert 2 <= len(list((out / ".store").glob("??/*.json"))) < 12
    for folder in (out, tmp_path / "calm"):
        rebuild(["slow"], "quick", folder, root=checkout, engine=LocalEngine(workers=2), stream=io.StringIO())
    assert (out / "slow/table.csv").read_bytes() == (tmp_path / "calm/slow/table.csv").read_bytes()


def test_a_killed_driver_and_two_drivers(checkout: Path, tmp_path: Path) -> None:
    """SIGKILL of the driver in mid-run leaves whole results and no workers; two drivers then share the store; one table."""
    slow_experiment(checkout)
    script = tmp_path / "driver.py"
    script.write_text(DRIVER, encoding="utf-8")
    command = [sys.executable, str(script), str(checkout), str(tmp_path / "out"), "local"]
    first = subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True)
    wait_for_two_results(tmp_path / "out")
    first.send_signal(signal.SIGKILL)
    first.wait()
    stored = len(list((tmp_path / "out" / ".store").glob("??/*.json")))
    assert 2 <= stored < 12
    for _ in range(200):
        if not _alive_in_session(first.pid):
            break
        time.sleep(0.05)
    assert not _alive_in_session(first.pid), "workers end with their driver"
    both = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(2)]
    assert [driver.wait() for driver in both] == [0, 0]
    shared = (tmp_path / "out" / "slow" / "table.csv").read_bytes()
    rebuild(["slow"], "quick", tmp_path / "calm", root=checkout, engine=SerialEngine(), stream=io.StringIO())
    assert shared == (tmp_path / "calm" / "slow" / "table.csv").read_bytes()
    assert not list((tmp_path / "out" / ".store").rglob("*.tmp"))


def _alive_in_session(session: int) -> list[int]:
    """Processes of a session that have not ended."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if (
                    os.getsid(int(entry.name)) == session
                    and "Z" not in (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
                ):
                    found.append(int(entry.name))
            except (OSError, IndexError):
                continue
    return found


@pytest.mark.slow
def test_a_trivial_cell_costs_little() -> None:
    """2,000 trivial cells on two processes: under 1 ms each beyond starting the pool."""
    engine, cells = LocalEngine(workers=2), [Cell(PROBE, {}, seed) for seed in range(2_000)]
    work = engine.run(cells)
    for _ in range(50):
        next(work)  # the pool has started
    began = time.perf_counter()
    rest = sum(1 for _ in work)
    assert (time.perf_counter() - began) / rest < 1e-3
