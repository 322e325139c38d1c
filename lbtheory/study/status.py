"""Where a results folder stands: which tables are fresh, which cells are stored, how long what is missing should take."""

import json
from pathlib import Path
from typing import Any

from lbtheory.study.discovery import SCALES, Artefact, Catalogue, Experiment, discover
from lbtheory.study.runner import file_hashes
from lbtheory.study.store import BEGUN, FOLDER, Store


def cells_stored(out: Path, root: Path | None = None) -> list[dict[str, Any]]:
    """One row an experiment and scale: ``id, scale, cells, stored, failed``, and ``seconds`` that the stored cells took."""
    store, rows = Store(out / FOLDER), []
    for experiment in discover(root).experiments.values():
        for scale in SCALES:
            cells = experiment.cells(scale)
            found = [store.get(cell)[0] for cell in cells]
            good = [one for one in found if one is not None and one.error is None]
            failed = sum(one is not None and one.error is not None for one in found)
            rows.append(
                {
                    "id": experiment.id,
                    "scale": scale,
                    "cells": len(cells),
                    "stored": len(good),
                    "failed": failed,
                    "seconds": round(sum(one.seconds for one in good), 1),
                }
            )
    return rows


def listing(out: Path, root: Path | None = None) -> list[dict[str, Any]]:
    """One row an artefact or experiment: the catalogue's columns, ``state``, and expected seconds at both scales.

    ``state`` is ``missing`` (no table), ``stale`` (made from other cells, task versions or files than those of today) or
    ``fresh``. ``quick_seconds`` and ``full_seconds`` are of one process, as the sweep states them.
    """
    catalogue = discover(root)
    states = {name: _state(one, out) for name, one in catalogue.experiments.items()}
    rows: list[dict[str, Any]] = []
    for row in catalogue.listing():
        reads = _reads(catalogue, row["id"])
        worst = max((states[name] for name in reads), key=("fresh", "stale", "missing").index)
        sweeps = [catalogue.experiments[name].sweep for name in reads]
        times = [getattr(sweep, "SECONDS", {}) for sweep in sweeps]
        expected = {f"{s}_seconds": sum(t[s] for t in times) if all(s in t for t in times) else None for s in SCALES}
        rows.append({**row, "state": worst, **expected})
    return rows


def clean(out: Path, root: Path | None = None, *, everything: bool = False) -> int:
    """Remove stored results that no sweep asks for (or all of them); returns how many files went."""
    store = Store(out / FOLDER)
    keep: set[Path] = set()
    if not everything:
        experiments = discover(root).experiments.values()
        keep = {store.path(cell) for one in experiments for scale in SCALES for cell in one.cells(scale)}
    return store.clean(keep)


def begun(out: Path) -> tuple[list[str], str] | None:
    """Identifiers and scale of the last run into ``out``, or None where there was none."""
    try:
        last = json.loads((out / FOLDER / BEGUN).read_text(encoding="utf-8"))
        return list(last["ids"]), str(last["scale"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _reads(catalogue: Catalogue, name: str) -> list[str]:
    """Experiments behind an identifier."""
    artefact: Artefact | None = catalogue.artefacts.get(name)
    found = list(artefact.tables) if artefact is not None else []
    if name in catalogue.experiments and name not in found:
        found.append(name)
    return found


def _state(experiment: Experiment, out: Path) -> str:
    folder = out / experiment.id
    try:
        provenance = json.loads((folder / "table.provenance.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return "missing"
    if not (folder / "table.csv").is_file():
        return "missing"
    store = Store(out / FOLDER)
    try:
        cells = experiment.cells(provenance["scale"])
        keys = [store.path(cell).stem for cell in cells]
        same = keys == [cell["key"] for cell in provenance["cells"]] and not any(cell["failed"] for cell in provenance["cells"])
        return "fresh" if same and provenance["inputs"] == file_hashes(experiment, cells) else "stale"
    except (KeyError, TypeError):
        return "stale"
