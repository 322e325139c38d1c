"""The methods of Table 4 on public traces, by the number of workers."""

import numpy as np

from lbtheory.decode.traces.public import left_out
from lbtheory.plots.methods import BRH, METHODS
from lbtheory.plots.sweeps import curves

TITLE = "Table 4's methods on public traces"
REFERENCE = "methods of the decode paper, Table 4; public traces"
TABLES = ("decode-table4",)

SHOWN = ("br0", BRH, "level-plus", "level-h")
COLUMNS = {
    "workload": "trace",
    "workers": "G",
    "method": "method",
    "imbalance": "I",
    "ratio": "JSQ ÷",
    "ratio_half": "±",
    "tpot": "P95 ms",
    "throughput": "tok/s",
    "barrier_idle": "idle, token work",
    "wait_mean": "mean wait, iterations",
    "wait_max": "longest wait, iterations",
}


def compare(tables):
    """One row a trace, number of workers and method; None where no trace is at hand."""
    rows = _rows(tables)
    if len(rows) == 0:
        return None
    rows["method"] = rows["policy"].map(lambda name: METHODS.get(name, name))
    rows["tpot"] = 1000 * rows["tpot_p95"]
    return rows[list(COLUMNS)]


def draw(tables):
    """A panel a trace; no figure where none is at hand."""
    rows = _rows(tables)
    rows = rows[rows["policy"].isin(SHOWN)]
    if len(rows) == 0:
        return None
    return curves(
        rows.assign(low=rows["ratio"] - rows["ratio_half"], high=rows["ratio"] + rows["ratio_half"]),
        x="workers",
        y="ratio",
        series="policy",
        panel="workload",
        labels=METHODS,
        ylabel="JSQ ÷",
        xlabel="workers",
        xlog=2,
        ylog=True,
        reference=1.0,
        across=3,
        height=1.45,
    )


def numbers(tables):
    """Geometric means by the number of workers, and what was left out."""
    rows = _rows(tables)
    if len(rows) == 0:
        return {"found": f"No public trace was replayed. {left_out(())}"}
    means = np.exp(np.log(rows["ratio"].astype(float)).groupby([rows["policy"], rows["workers"]]).mean())
    texts = [
        f"{name} {', '.join(f'{means[(policy, g)]:.2f}' for g in (4, 8, 16))}"
        for policy, name in (("br0", "BR-0"), (BRH, "oracle BR-H"), ("level-plus", "LEVEL+"), ("level-h", "oracle LEVEL-H+"))
    ]
    br0 = rows[rows["policy"] == "br0"].pivot(index="workload", columns="workers", values="ratio")
    falls = f"BR-0's ratio is lower with 16 than with 4 workers on {int((br0[16] < br0[4]).sum())} of {len(br0)} files."
    return {"found": f"Geometric means at 4, 8, 16 workers: {'; '.join(texts)}. {falls} {left_out(rows['workload'])}"}


def _rows(tables):
    rows = tables["decode-table4"]
    return rows[rows["part"] == "public trace"].copy()
