"""Certified improvement on FCFS against the number of slots, simulated policies beside it."""

from lbtheory.plots.theory import certified_ratios

TITLE = "Certified improvement on size-blind routing at real sizes"
REFERENCE = "ours, beside Theorem 1 of the decode paper"

SHOWN = {
    "level": "LEVEL, certified",
    "level, supply as it comes, α = 1/4": "LEVEL, supply as it comes (4× overload)",
    "pairs": "pairs of slots, exact",
    "rich supply": "IO_0, rich supply",
    "theorem-1": "Theorem 1",
}


def draw(tables):
    """One panel a system."""
    return certified_ratios(tables["certificates"], SHOWN)


def compare(tables):
    """Ratio to FCFS, one row a system and certificate or policy, one column a number of slots."""
    data = tables["certificates"]
    wide = data.pivot_table(index=["p", "what", "name"], columns="slots", values="ratio", sort=False)
    wide.columns = [f"B = {slots}" for slots in wide.columns]
    return wide.reset_index()


def numbers(tables):
    """Certified and simulated ratios at B = 64, and where the certificate passes 1 and 2."""
    data = tables["certificates"]
    found = {}
    for key, p in (("fast", "1/20"), ("slow", "1/100")):
        rows = data[data["p"] == p]
        level = rows[rows["name"] == "level"]
        certified = level[level["what"] == "certificate"].set_index("slots")["ratio"]
        simulated = level[level["what"] == "policy"].set_index("slots")["ratio"]
        found |= {
            f"{key}_certified": certified[64],
            f"{key}_simulated": simulated[64],
            f"{key}_certified_256": certified[256],
            f"{key}_simulated_256": simulated[256],
        }
    worst = data[data["name"] == "theorem-1"]["ratio"].max()
    return found | {"theorem": worst}
