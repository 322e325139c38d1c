"""Find the experiments and the figures of a checkout: folders, never a list.

The identifier of a folder is its name with hyphens for underscores; folders that begin with ``_`` or ``.`` are left out.

``experiments/<name>/``
    ``sweep.py``, data only: ``TITLE``, ``REFERENCE`` (where in which paper), ``cells(scale)`` that gives a list of
    (task name, parameters, seed), with ``scale`` being ``"quick"`` or ``"full"``; optionally ``ID`` (which must be the
    identifier). ``analysis.py``: ``table(records) -> DataFrame``, the one tidy table; optionally ``COLUMNS`` (heading of
    a column by its name) and ``MEASURED`` (columns that differ from run to run, such as times). ``README.md``.
``paper_figures/<name>/``
    ``plot.py``: ``TITLE``, ``REFERENCE``, ``draw(tables) -> Figure`` (or None for a table alone); optionally ``TABLES``
    (the experiments that it reads; its own identifier by default), ``compare(tables) -> DataFrame`` (published beside
    reproduced) with ``COLUMNS``, and ``numbers(tables) -> dict`` that fills the placeholders of ``caption.md``.
    ``caption.md``, Markdown with ``{name}`` or ``{name:,.0f}``. ``published.csv``, optional, handed to the functions as
    ``tables["published"]`` (its lines that begin with ``#`` say author, year and place).

The modules are loaded from their files in this process only: what a worker runs is a task inside `lbtheory`.
"""

import importlib.util
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from lbtheory.core import FileFormatError, InputError, ParameterError, UnknownNameError

SCALES = ("quick", "full")
FOLDERS = ("experiments", "paper_figures")


class Cell(NamedTuple):
    """One piece of work of a sweep: a task's name, its parameters, and the seed that it gets."""

    task: str
    parameters: dict[str, Any]
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """An experiment folder; its modules are loaded when they are asked for."""

    id: str
    folder: Path

    @property
    def sweep(self) -> ModuleType:
        """Module ``sweep.py``, checked."""
        return _load(self.folder / "sweep.py", self.id, ("TITLE", "REFERENCE", "cells"))

    @property
    def analysis(self) -> ModuleType:
        """Module ``analysis.py``, checked."""
        return _load(self.folder / "analysis.py", self.id, ("table",))

    def cells(self, scale: str) -> list[Cell]:
        """Cells of the sweep at ``scale``, in order.

        Raises
        ------
        ParameterError
            ``scale`` is not one of `SCALES`.
        FileFormatError
            An entry is not (task name, parameters, seed).
        """
        if scale not in SCALES:
            raise ParameterError(f"`scale` of `cells` must be one of {', '.join(SCALES)}; got {scale!r}. Choose one of them.")
        cells = []
        for index, entry in enumerate(self.sweep.cells(scale)):
            cell = Cell(*entry) if isinstance(entry, tuple) and len(entry) == 3 else None
            if cell is None or not isinstance(cell.task, str) or not isinstance(cell.parameters, dict):
                raise FileFormatError(
                    f"`cells({scale!r})` must list (task name, parameters, seed); got {entry!r} at index {index}.",
                    file=str(self.folder / "sweep.py"),
                    remedy="Give the task as 'lbtheory.module:function' and the parameters as a dict.",
                )
            cells.append(cell)
        return cells


@dataclass(frozen=True, slots=True, kw_only=True)
class Artefact:
    """A figure or table folder; its module is loaded when it is asked for."""

    id: str
    folder: Path

    @property
    def plot(self) -> ModuleType:
        """Module ``plot.py``, checked."""
        return _load(self.folder / "plot.py", self.id, ("TITLE", "REFERENCE", "draw"))

    @property
    def tables(self) -> tuple[str, ...]:
        """Identifiers of the experiments whose tables it reads."""
        return tuple(getattr(self.plot, "TABLES", (self.id,)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """Every experiment and artefact of a checkout, by identifier."""

    root: Path
    experiments: Mapping[str, Experiment]
    artefacts: Mapping[str, Artefact]

    @property
    def ids(self) -> list[str]:
        """Every identifier, sorted."""
        return sorted({*self.experiments, *self.artefacts})

    def select(self, ids: Iterable[str] = ()) -> tuple[list[Experiment], list[Artefact]]:
        """What to run and what to draw for ``ids`` (everything when there are none).

        An experiment brings along the artefacts that its table is enough for; an artefact brings along the experiments
        that it reads.

        Raises
        ------
        UnknownNameError
            An identifier is not known; the message offers the nearest.
        """
        wanted = {name.replace("_", "-") for name in ids} or set(self.ids)
        for name in sorted(wanted):
            if name not in self.experiments and name not in self.artefacts:
                raise UnknownNameError("artefact", name, self.ids)
        running = {name for name in wanted if name in self.experiments}
        drawing = [one for name, one in self.artefacts.items() if name in wanted or set(one.tables) <= running]
        for one in drawing:
            for name in one.tables:
                if name not in self.experiments:
                    raise UnknownNameError(f"experiment in TABLES of {one.folder / 'plot.py'}:", name, self.experiments)
                running.add(name)
        return [one for name, one in self.experiments.items() if name in running], drawing

    def listing(self) -> list[dict[str, str]]:
        """One row an identifier: ``id``, ``title``, ``reference``, ``makes`` (table, figure or both)."""
        rows = []
        for name in self.ids:
            module = self.artefacts[name].plot if name in self.artefacts else self.experiments[name].sweep
            makes = [what for what, where in (("table", self.experiments), ("figure", self.artefacts)) if name in where]
            rows.append({"id": name, "title": module.TITLE, "reference": module.REFERENCE, "makes": " and ".join(makes)})
        return rows


def checkout() -> Path:
    """Folder that holds ``experiments/`` and ``paper_figures/``: beside the package, else the current one.

    Raises
    ------
    InputError
        Neither has them: the package was installed without its checkout.
    """
    places = (Path(__file__).resolve().parents[2], Path.cwd())
    for place in places:
        if any((place / name).is_dir() for name in FOLDERS):
            return place
    raise InputError(
        f"no folder `experiments` or `paper_figures` in {' or '.join(map(str, dict.fromkeys(places)))}. Experiments are not "
        "part of the installed package: clone the repository and run `make reproduce` there, or change into the clone."
    )


def discover(root: Path | None = None) -> Catalogue:
    """Every experiment and artefact under ``root`` (by default the checkout), ordered by identifier."""
    root = checkout() if root is None else Path(root)
    return Catalogue(
        root=root,
        experiments={name: Experiment(id=name, folder=folder) for name, folder in _folders(root / "experiments", "sweep.py")},
        artefacts={name: Artefact(id=name, folder=folder) for name, folder in _folders(root / "paper_figures", "plot.py")},
    )


def _folders(parent: Path, needed: str) -> list[tuple[str, Path]]:
    """Folders of ``parent`` that hold the file ``needed``, with their identifiers."""
    if not parent.is_dir():
        return []
    found: dict[str, Path] = {}
    for folder in sorted(parent.iterdir()):
        if folder.name[0] in "_." or not (folder / needed).is_file():
            continue
        name = folder.name.replace("_", "-")
        if name in found:
            raise FileFormatError(
                f"the folders {found[name].name!r} and {folder.name!r} have the same identifier {name!r}.",
                file=str(parent),
                remedy="Rename one of them.",
            )
        found[name] = folder
    return sorted(found.items())


def _load(path: Path, identifier: str, names: tuple[str, ...]) -> ModuleType:
    """Load a module from its file (once), and check that it defines ``names``."""
    key = "lbtheory_checkout." + ".".join((*path.parts[-3:-1], path.stem)).replace("-", "_")
    module = sys.modules.get(key)
    if module is None or getattr(module, "__file__", None) != str(path):
        spec = importlib.util.spec_from_file_location(key, path)
        if spec is None or spec.loader is None or not path.is_file():
            raise FileFormatError("this file is missing.", file=str(path), remedy=f"It must define {', '.join(names)}.")
        module = importlib.util.module_from_spec(spec)
        sys.modules[key] = module
        try:
            spec.loader.exec_module(module)
        except BaseException as error:
            del sys.modules[key]
            if isinstance(error, Exception):
                line = error.lineno if isinstance(error, SyntaxError) else None
                raise FileFormatError(f"cannot be loaded: {error!r}.", file=str(path), line=line) from error
            raise
    missing = [name for name in names if not hasattr(module, name)]
    if missing:
        raise FileFormatError(f"does not define {', '.join(missing)}.", file=str(path), remedy="Add what is missing.")
    if getattr(module, "ID", identifier) != identifier:
        raise FileFormatError(
            f"ID is {module.ID!r} in the folder of {identifier!r}.", file=str(path), remedy="Rename one of them."
        )
    return module
