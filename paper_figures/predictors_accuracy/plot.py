"""Calibration of the probability of finishing; accuracy by age."""

from lbtheory.plots.sweeps import FORECASTS, curves

TITLE = "Accuracy of forecasts by age, and calibration"
REFERENCE = "decode paper, EC.4.1"
TABLES = ("predictors",)

LABELS = {
    "noisy/error=0.3": "oracle, error 0.3",
    "noisy/error=1": "oracle, error 1",
    "exact-match/minimum=1": "ExactMatch, hash",
    "exact-match": "ExactMatch, 3 matches",
    "exact-match/key=prompt": "ExactMatch, prompt size",
    "learned/every=64/samples=20000": "learned trees",
    "survival": "Survival",
    "empirical": "finished only",
    "product-limit": "product limit",
}
SHOWN = ("exact-match/minimum=1", "exact-match/key=prompt", "learned/every=64/samples=20000", "survival")
TINTS = {
    "exact-match/minimum=1": FORECASTS["exact-match"],
    "exact-match/key=prompt": "#e69f00",
    "learned/every=64/samples=20000": FORECASTS["learned"],
    "survival": FORECASTS["survival"],
}
COLUMNS = {
    "workload": "workload",
    "method": "forecast",
    "bucket": "age",
    "looks": "looks",
    "finishing": "share finishing within 80",
    "mae": "MAE of ĉ",
    "rmse": "RMSE",
    "bias": "bias",
    "brier": "Brier",
    "auc": "AUC",
    "bytes": "bytes",
    "fit_seconds": "seconds to fit",
}


def compare(tables):
    """Accuracy by age bucket; memory and time to fit stand beside all ages."""
    rows = tables["predictors"]
    rows = rows[rows["what"] == "accuracy"].copy()
    rows["method"] = rows["forecast"].map(lambda name: LABELS.get(name, name))
    return rows[list(COLUMNS)]


def draw(tables):
    """Share that finished against the probability that was forecast."""
    rows = tables["predictors"]
    rows = rows[(rows["what"] == "calibration") & rows["forecast"].isin(SHOWN) & (rows["looks"] >= 30)].copy()
    error = 1.96 * (rows["finishing"] * (1 - rows["finishing"]) / rows["looks"]) ** 0.5
    rows["low"], rows["high"] = rows["finishing"] - error, rows["finishing"] + error
    figure = curves(
        rows,
        x="chance",
        y="finishing",
        series="forecast",
        panel="workload",
        labels=LABELS,
        tints=TINTS,
        xlabel="forecast p̂ of finishing within 80",
        ylabel="share that finished",
        height=2.1,
    )
    for axis in figure.axes:
        if axis.get_title(loc="left"):
            axis.plot([0, 1], [0, 1], color="#666666", linewidth=0.7)
    return figure


def numbers(tables):
    """MAE over all ages, and the bias of a young run."""
    rows = tables["predictors"]
    whole = rows[(rows["what"] == "accuracy") & (rows["bucket"] == "all")].set_index(["workload", "forecast"])
    young = rows[rows["what"] == "censoring"].set_index(["forecast", "iteration"])["bias"]
    recur = whole.loc["hashes recur"]
    return {
        "match": recur.loc["exact-match/minimum=1", "mae"],
        "learned": recur.loc["learned/every=64/samples=20000", "mae"],
        "survival": recur.loc["survival", "mae"],
        "match_bytes": recur.loc["exact-match/minimum=1", "bytes"] / 1e6,
        "survival_bytes": recur.loc["survival", "bytes"] / 1e3,
        "naive": young[("empirical", 800.0)],
        "honest": young[("product-limit", 800.0)],
        "naive_late": young[("empirical", 6400.0)],
        "honest_late": young[("product-limit", 6400.0)],
    }
