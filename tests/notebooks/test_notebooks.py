"""Notebooks: each pair agrees, is stripped, runs in under half a minute, and its own assertions hold."""

import time
from pathlib import Path

import pytest

jupytext = pytest.importorskip("jupytext", reason="the extra `notebooks` is not installed")
nbclient = pytest.importorskip("nbclient", reason="the extra `notebooks` is not installed")

FOLDER = Path(__file__).parents[2] / "notebooks"
SCRIPTS = sorted(FOLDER.glob("[0-9]*.py"))
SECONDS = 30
"""What a notebook may take; machines that are shared get three times as much."""


def test_there_are_notebooks() -> None:
    """In reading order: the number comes first; scripts and notebooks come in pairs."""
    assert SCRIPTS
    assert {one.stem for one in SCRIPTS} == {one.stem for one in FOLDER.glob("*.ipynb")}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_pairs_agree(script: Path) -> None:
    """The notebook holds the cells of its script and no output."""
    plain, paired = jupytext.read(script), jupytext.read(script.with_suffix(".ipynb"))
    assert [(cell.cell_type, cell.source) for cell in plain.cells] == [(cell.cell_type, cell.source) for cell in paired.cells]
    for cell in paired.cells:
        if cell.cell_type == "code":
            assert cell.outputs == [] and cell.execution_count is None, "strip the outputs"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_notebooks_run(script: Path, tmp_path: Path) -> None:
    """From top to bottom in a fresh kernel; each asserts its numbers."""
    text = script.read_text(encoding="utf-8")
    assert "assert " in text, "a notebook asserts its numbers"
    notebook = jupytext.read(script)
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    began = time.monotonic()
    nbclient.NotebookClient(notebook, timeout=3 * SECONDS, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert time.monotonic() - began < 3 * SECONDS
