"""The experiments and figures of this checkout: sweeps resolve, tables feed figures, captions are filled, numbers agree."""

from pathlib import Path

import pandas as pd
import pytest

from lbtheory.study import discover, rebuild
from lbtheory.study.tasks import resolve

CATALOGUE = discover(Path(__file__).parents[2])


@pytest.mark.parametrize("name", sorted(CATALOGUE.experiments))
@pytest.mark.parametrize("scale", ["quick", "full"])
def test_sweeps_name_tasks_that_exist(name: str, scale: str) -> None:
    """Every cell of both scales; seeds are whole numbers."""
    cells = CATALOGUE.experiments[name].cells(scale)
    assert cells
    for cell in cells:
        resolve(cell.task)
        assert isinstance(cell.seed, int)


@pytest.mark.parametrize("name", sorted(CATALOGUE.artefacts))
def test_artefacts_have_captions_and_readmes(name: str) -> None:
    """A caption, and a README of its experiment."""
    artefact = CATALOGUE.artefacts[name]
    assert (artefact.folder / "caption.md").read_text(encoding="utf-8").strip()
    for table in artefact.tables:
        assert (CATALOGUE.experiments[table].folder / "README.md").exists()


def test_figure4_shows_its_table(tmp_path: Path) -> None:
    """Loads of eight workers: the lines drawn are the rows of the table, and the caption's shares follow from them."""
    outcome = rebuild(["decode-fig4"], scale="quick", out=tmp_path, root=CATALOGUE.root)
    assert outcome.exit_code == 0
    table = pd.read_csv(tmp_path / "decode-fig4" / "table.csv")
    assert len(table) == 6 * 1_500
    figure = CATALOGUE.artefacts["decode-fig4"].plot.draw({"decode-fig4": table})
    jsq = table[table["policy"] == "jsq"]
    drawn = {tuple(line.get_ydata().round(6)) for line in figure.axes[0].get_lines() if len(line.get_ydata()) == 1_500}
    for g in range(8):
        assert tuple((jsq[f"worker_{g}"].to_numpy() / 1000).round(6)) in drawn
    loads = jsq[[f"worker_{g}" for g in range(8)]]
    idle = 100 * (1 - loads.mean(axis=1) / loads.max(axis=1)).mean()
    assert f"{idle:.0f} %" in (tmp_path / "decode-fig4" / "caption.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_everything_at_quick_scale(tmp_path: Path) -> None:
    """Table 3 and the gaps: what is claimed in their captions holds in their tables."""
    outcome = rebuild((), scale="quick", out=tmp_path, root=CATALOGUE.root)
    assert outcome.exit_code == 0 and (tmp_path / "report.html").exists()
    table = pd.read_csv(tmp_path / "decode-table3" / "table.csv", dtype={"overtake": str}, keep_default_na=False)
    rows = table.set_index(["workload", "overtake", "policy"]).sort_index()
    for workload, imbalance, throughput in (("proprietary-like", 215_110, 843), ("azure2024-like", 104_737, 785)):
        jsq = rows.loc[(workload, "none", "jsq")]
        assert float(jsq["imbalance"]) == pytest.approx(imbalance, rel=0.05)
        assert float(jsq["throughput"]) == pytest.approx(throughput)
        ratio = rows.loc[(workload, "none")]["ratio"].astype(float)
        assert ratio[["random", "rr", "p2c", "token-jsq"]].between(0.9, 1.1).all(), "one law for all when slots are full"
        assert ratio["br0"] > 1.3 and ratio["level-plus"] > ratio["br0"]
    gaps = pd.read_csv(tmp_path / "gap" / "table.csv")
    assert (gaps["status"] == "optimal").all() and (gaps["gap"] >= 0).all()
    assert (gaps[gaps["policy"] == "io"]["gap"] == 0).all()
    mean = gaps[gaps["horizon"] == 0].groupby("policy")["gap"].mean()
    assert mean["min-max"] <= mean["br0"] < mean["min-max:ties=smallest-total"]
