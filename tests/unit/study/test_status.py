"""Fresh, stale, missing; what is stored; cleaning and going on."""

from pathlib import Path

from lbtheory.study import begun, cells_stored, clean, listing, rebuild
from lbtheory.study.engines import SerialEngine
from lbtheory.study.store import FOLDER, Store


def build(checkout: Path, out: Path, scale: str = "quick") -> None:
    """Run the miniature experiment."""
    import io

    rebuild(["tiny-draws"], scale, out, root=checkout, engine=SerialEngine(), stream=io.StringIO())


def state(checkout: Path, out: Path) -> str:
    """Of the miniature experiment."""
    return next(str(row["state"]) for row in listing(out, checkout) if row["id"] == "tiny-draws")


def test_states_follow_what_a_table_depends_on(checkout: Path, tmp_path: Path) -> None:
    """Missing before, fresh after; stale when the sweep or the analysis changes; fresh again when rebuilt."""
    out = tmp_path / "out"
    assert state(checkout, out) == "missing"
    build(checkout, out)
    assert state(checkout, out) == "fresh"
    analysis = checkout / "experiments" / "tiny_draws" / "analysis.py"
    analysis.write_text(analysis.read_text(encoding="utf-8") + "\n# another thought\n", encoding="utf-8")
    assert state(checkout, out) == "stale"
    build(checkout, out)
    assert state(checkout, out) == "fresh"
    (out / "tiny-draws" / "table.csv").unlink()
    assert state(checkout, out) == "missing"
    assert all(row["quick_seconds"] is None for row in listing(out, checkout))


def test_stored_cells_are_counted_and_cleaned(checkout: Path, tmp_path: Path) -> None:
    """Quick's three cells are among full's five; what is to be resumed is what was asked for last."""
    out = tmp_path / "out"
    build(checkout, out)
    counts = {row["scale"]: (row["cells"], row["stored"], row["failed"]) for row in cells_stored(out, checkout)}
    assert counts == {"quick": (3, 3, 0), "full": (5, 3, 0)}
    assert begun(out) == (["tiny-draws"], "quick") and begun(tmp_path) is None
    build(checkout, out, "full")
    assert begun(out) == (["tiny-draws"], "full")
    stray = out / FOLDER / "ab" / ("ab" + "0" * 30 + ".json")
    stray.parent.mkdir(exist_ok=True)
    stray.write_text("{}", encoding="utf-8")
    assert clean(out, checkout) == 1 and len(list(Store(out / FOLDER).files())) == 5
    assert clean(out, checkout, everything=True) == 5
