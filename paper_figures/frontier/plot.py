"""A map: the smallest B of the theorem beside that of the certified LEVEL bound."""

from lbtheory.plots.theory import frontier_map

TITLE = "Smallest number of slots from which each certificate beats size-blind routing"
REFERENCE = "decode paper, Theorem 1; ours beyond it"

LABELS = {
    "epsilon_below_s": "ε ≤ s",
    "theorem1": "theorem, paper's constants",
    "sharper": "sharper constants",
    "computed": "excess computed",
    "spread_lex": "SpreadLex",
    "rich": "IO_0, rich supply",
    "level": "LEVEL, certified",
}


def draw(tables):
    """A row a system, a mark a certificate."""
    return frontier_map(tables["frontier"], LABELS)


def compare(tables):
    """One row a system, one column a certificate."""
    data = tables["frontier"]
    data = data[data["target"] == 1.0]
    wide = data.pivot_table(index=["p", "s", "workers"], columns="certificate", values="slots", sort=False).reset_index()
    return wide.rename(columns=LABELS | {"workers": "G"})


def numbers(tables):
    """How much each certificate gains on the theorem, in decades."""
    import numpy as np

    data = tables["frontier"]
    one = (
        data[data["target"] == 1.0]
        .pivot_table(index=["p", "s", "workers"], columns="certificate", values="slots")
        .astype(float)
    )
    gain = np.log10(one["theorem1"] / one["computed"])
    level = np.log10(one["theorem1"] / one["level"])
    return {
        "systems": len(one),
        "theorem_low": one["theorem1"].min(),
        "theorem_high": one["theorem1"].max(),
        "gain_low": gain.min(),
        "gain_high": gain.max(),
        "level_low": int(one["level"].min()),
        "level_high": int(one["level"].max()),
        "level_gain_low": level.min(),
        "level_gain_high": level.max(),
    }
