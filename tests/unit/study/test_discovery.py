"""Experiments and figures are found as folders, and a folder that breaks its contract is named."""

import subprocess
import sys
from pathlib import Path

import pytest

from lbtheory.core import FileFormatError, InputError, ParameterError, UnknownNameError
from lbtheory.study import discover
from lbtheory.study import discovery as discovery_module


def test_folders_are_found_and_files_are_not(checkout: Path) -> None:
    catalogue = discover(checkout)
    assert list(catalogue.experiments) == ["tiny-draws"]
    assert list(catalogue.artefacts) == ["tiny-draws", "tiny-table"]
    assert [row["makes"] for row in catalogue.listing()] == ["table and figure", "figure"]


def test_adding_a_folder_is_enough(checkout: Path) -> None:
    source = (checkout / "experiments/tiny_draws/sweep.py").read_text().replace('ID = "tiny-draws"', "")
    folder = checkout / "experiments/another-one"
    folder.mkdir()
    (folder / "sweep.py").write_text(source)
    assert "another-one" in discover(checkout).ids


def test_an_experiment_brings_its_figures_and_a_figure_its_experiments(checkout: Path) -> None:
    catalogue = discover(checkout)
    for ids in (["tiny-draws"], ["tiny_draws"], []):
        experiments, artefacts = catalogue.select(ids)
        assert [one.id for one in experiments] == ["tiny-draws"]
        assert [one.id for one in artefacts] == ["tiny-draws", "tiny-table"]
    experiments, artefacts = catalogue.select(["tiny-table"])
    assert [one.id for one in experiments] == ["tiny-draws"]
    assert "tiny-table" in [one.id for one in artefacts]


def test_scales_differ(checkout: Path) -> None:
    experiment = discover(checkout).experiments["tiny-draws"]
    assert len(experiment.cells("quick")) == 3
    assert len(experiment.cells("full")) == 5
    with pytest.raises(ParameterError, match="quick, full"):
        experiment.cells("huge")


def test_unknown_identifier_offers_the_nearest(checkout: Path) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'tiny-draws'"):
        discover(checkout).select(["tiny-drawz"])


def test_same_identifier_twice(checkout: Path) -> None:
    (checkout / "experiments/tiny-draws").mkdir()
    (checkout / "experiments/tiny-draws/sweep.py").write_text("")
    with pytest.raises(FileFormatError, match="same identifier 'tiny-draws'"):
        discover(checkout)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("TITLE = ''", "does not define REFERENCE, cells"),
        ("def cells(:", r"line 1: cannot be loaded: SyntaxError"),
        ("import no_such_module", "cannot be loaded: ModuleNotFoundError"),
        ("TITLE = REFERENCE = ''\nID = 'other'\ncells = list", "ID is 'other' in the folder of 'tiny-draws'"),
        ("TITLE = REFERENCE = ''\ncells = lambda scale: [('a', {})]", "at index 0"),
    ],
)
def test_a_broken_sweep_is_named(checkout: Path, text: str, message: str) -> None:
    (checkout / "experiments/tiny_draws/sweep.py").write_text(text)
    with pytest.raises(FileFormatError, match=message) as caught:
        discover(checkout).experiments["tiny-draws"].cells("quick")
    assert "sweep.py" in str(caught.value)


def test_a_figure_that_reads_an_unknown_experiment(checkout: Path) -> None:
    path = checkout / "paper_figures/tiny-table/plot.py"
    path.write_text(path.read_text().replace('("tiny-draws",)', '("tiny-drawn",)'))
    with pytest.raises(UnknownNameError, match="Did you mean 'tiny-draws'"):
        discover(checkout).select([])


def test_outside_a_checkout_the_remedy_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery_module, "__file__", str(tmp_path / "site-packages/lbtheory/study/discovery.py"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="clone the repository"):
        discovery_module.checkout()
    (tmp_path / "experiments").mkdir()
    assert discovery_module.checkout() == tmp_path


def test_importing_the_study_is_cheap() -> None:
    code = (
        "import sys, lbtheory.study, lbtheory.plots; print(sorted({'pandas', 'matplotlib', 'numba', 'scipy'} & {*sys.modules}))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
