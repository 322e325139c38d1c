"""Published beside reproduced: ratios of mean imbalance to JSQ's."""

import pandas as pd

from lbtheory.plots.methods import METHODS
from lbtheory.plots.panels import published_beside_reproduced
from lbtheory.study.statements import published_ratios

TITLE = "Table 3: imbalance of JSQ over that of each method"
REFERENCE = "decode paper, Table 3"

COLUMNS = {
    "workload": "workload",
    "method": "method",
    "overtake": "cap D",
    "published_imbalance": "I published",
    "imbalance": "I",
    "published_ratio": "JSQ ÷ published",
    "ratio": "JSQ ÷",
    "ratio_half": "±",
    "published_tpot": "P95 ms published",
    "tpot": "P95 ms",
    "published_throughput": "tok/s published",
    "throughput": "tok/s",
    "barrier_idle": "idle, token work",
    "barrier_idle_time": "idle, time",
    "wait_max": "longest wait, iterations",
}


def compare(tables):
    """The table, one row a workload, cap and method."""
    data = _joined(tables)
    data["method"] = data["policy"].map(lambda name: METHODS.get(name, name))
    data["tpot"] = 1000 * data["tpot_p95"]
    return data[list(COLUMNS)]


def draw(tables):
    """Ratios without a cap, as in the paper; a panel a workload."""
    data = _joined(tables)
    data = data[(data["overtake"] == "none") & (data["policy"] != "jsq")]
    points = pd.DataFrame(
        {
            "workload": data["workload"],
            "policy": data["policy"],
            "published": data["published_ratio"],
            "reproduced": data["ratio"],
            "low": data["ratio"] - data["ratio_half"],
            "high": data["ratio"] + data["ratio_half"],
        }
    )
    return published_beside_reproduced(points, labels=METHODS, quantity="mean imbalance of JSQ ÷ that of the method")


def numbers(tables):
    """Numbers of the caption."""
    data = _joined(tables).set_index(["workload", "overtake", "policy"])
    first = data.groupby(level="workload", sort=False).first()

    def ratio(workload, policy, cap="none"):
        return data.loc[(workload, cap, policy), "ratio"]

    oracle = "brh:beta=14.67,gamma=0.64"
    return {
        "prop_cv": first.loc["proprietary-like", "prompt_cv"],
        "azure_cv": first.loc["azure2024-like", "prompt_cv"],
        "prop_fixed": 1e3 * first.loc["proprietary-like", "t_fixed"],
        "azure_fixed": 1e3 * first.loc["azure2024-like", "t_fixed"],
        "prop_token": 1e6 * first.loc["proprietary-like", "t_token"],
        "azure_token": 1e6 * first.loc["azure2024-like", "t_token"],
        "prop_br0": ratio("proprietary-like", "br0"),
        "prop_brh": ratio("proprietary-like", oracle),
        "azure_br0": ratio("azure2024-like", "br0"),
        "azure_brh": ratio("azure2024-like", oracle),
        "prop_level": ratio("proprietary-like", "level-plus", "64"),
        "azure_level": ratio("azure2024-like", "level-plus", "64"),
        "prop_br0_cap": ratio("proprietary-like", "br0", "64"),
        "azure_br0_cap": ratio("azure2024-like", "br0", "64"),
        "prop_brh_cap": ratio("proprietary-like", oracle, "64"),
        "azure_brh_cap": ratio("azure2024-like", oracle, "64"),
        "prop_levelh_cap": ratio("proprietary-like", "level-h", "64"),
        "azure_levelh_cap": ratio("azure2024-like", "level-h", "64"),
    }


def statements(tables):
    """Ratios to JSQ that the paper's Table 3 gives, without a cap."""
    data = _joined(tables)
    data = data[(data["overtake"] == "none") & (data["policy"] != "jsq")]
    return published_ratios(data, lambda row: f"{row.workload}, {METHODS.get(row.policy, row.policy)}")


def _joined(tables):
    published = tables["published"].copy()
    jsq = published[published["policy"] == "jsq"].set_index("workload")["imbalance"]
    published["published_ratio"] = published["workload"].map(jsq) / published["imbalance"]
    renamed = published.rename(
        columns={"imbalance": "published_imbalance", "tpot_p95_ms": "published_tpot", "throughput": "published_throughput"}
    )
    rows = tables["decode-table3"]
    return rows[rows["part"] == "calibrated"].merge(renamed, on=["workload", "policy"], how="left")
