"""Both chains of the theorem as ladders from the truth to the bound."""

from lbtheory.plots.theory import ladders

TITLE = "What each inequality of the theorem gives away"
REFERENCE = "decode paper, Theorem 1 and EC.1"

COLUMNS = {
    "system": "system",
    "side": "side",
    "truth": "truth",
    "bound": "bound",
    "decades": "decades lost",
    "worst": "worst step",
}


def draw(tables):
    """One panel a system."""
    return ladders(tables["slack"])


def compare(tables):
    """Truth, bound and the worst link of each chain."""
    import pandas as pd

    rows = []
    for (p, prompts, workers, slots, side), part in tables["slack"].groupby(
        ["p", "prompts", "workers", "slots", "side"], sort=False
    ):
        worst = part.loc[part["lost"].idxmax()]
        rows.append(
            {
                "system": f"p = {p}, {prompts}, G = {workers}, B = {slots}",
                "side": side,
                "truth": part["value"].iloc[0],
                "bound": part["value"].iloc[-1],
                "decades": part["lost"].sum(),
                "worst": f"{worst['step']} ({worst['lost']:.1f})",
            }
        )
    return pd.DataFrame(rows)


def numbers(tables):
    """Range of decades lost on each side."""
    rows = compare(tables)
    upper, lower = (rows[rows["side"] == side]["decades"] for side in ("upper", "lower"))
    steps = tables["slack"]
    recursion = steps[steps["step"].str.startswith("one-step")]["lost"]
    level = steps[steps["step"].str.startswith("one level")]["lost"]
    return {
        "upper_low": upper.min(),
        "upper_high": upper.max(),
        "lower_low": lower.min(),
        "lower_high": lower.max(),
        "recursion_low": recursion.min(),
        "recursion_high": recursion.max(),
        "level": level.mean(),
    }
