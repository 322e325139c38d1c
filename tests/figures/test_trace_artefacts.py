"""Second panels of the tables: they say why there is no figure where no public trace is at hand; panels of segments."""

import pandas as pd
import pytest

from lbtheory.plots.segments import segment_figure, segment_idle, segment_table
from lbtheory.study.discovery import checkout, discover

CATALOGUE = discover(checkout())


@pytest.mark.parametrize("name", ["decode-table3-traces", "decode-table4-traces"])
def test_without_public_traces(name: str) -> None:
    """No figure and no comparison, and a caption that names what is missing."""
    plot = CATALOGUE.artefacts[name].plot
    table = pd.DataFrame({"part": ["calibrated"], "workload": ["proprietary-like"], "policy": ["jsq"], "overtake": ["64"]})
    table = table.assign(workers=8, ratio=1.0, tpot_p95=0.1, wait_max=3.0)
    tables = {plot.TABLES[0]: table}
    assert plot.draw(tables) is None and plot.compare(tables) is None
    assert (
        "No public trace was replayed" in plot.numbers(tables)["found"] and "LBTHEORY_TRACES" in plot.numbers(tables)["found"]
    )


def test_segments() -> None:
    """Means of ``G max − Σ`` over the workers that there are, published numbers beside, a panel a number of workers."""
    rows = pd.DataFrame(
        {
            "workers": [2, 2, 3, 3],
            "policy": "jsq",
            "iteration": [5, 10, 5, 10],
            "worker_0": [4, 6, 9, 9],
            "worker_1": [2, 6, 6, 9],
            "worker_2": [None, None, 3, 9],
        }
    )
    published = pd.DataFrame({"workers": [3], "policy": ["jsq"], "published": [7.0]})
    table = segment_table(rows, {"jsq": "JSQ"}, published)
    assert table["imbalance"].tolist() == [1.0, 4.5] and table["published"].tolist()[1] == 7.0
    assert segment_idle(rows) == {"jsq_2": pytest.approx(12.5), "jsq_3": pytest.approx(100 / 6)}
    titles = [axis.get_title(loc="left") or axis.get_title() for axis in segment_figure(rows, {}).axes]
    assert titles[:2] == ["JSQ, 2", "JSQ, 3"]
