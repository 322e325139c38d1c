"""Exact rules in long runs beside the others: imbalance, paired difference to IO_0, who is left waiting; a table alone."""

TITLE = "Exact minimisation at every step, in the long run"
REFERENCE = "decode paper, sections 3 and 5; ours: the comparison"

COLUMNS = {
    "system": "system",
    "policy": "policy",
    "imbalance": "imbalance",
    "over_first": "above IO_0",
    "over_first_low": "low",
    "over_first_high": "high",
    "waiting_first": "mean size waiting, first fifth",
    "waiting_last": "last fifth",
    "wait_max": "longest wait, iterations",
    "oldest": "oldest still waiting",
    "unproved": "decisions unproved",
}


def compare(tables):
    """One row a system and policy."""
    data = tables["longrun"].copy()
    data["system"] = [
        f"G = {g}, B = {b}, p = {p}, {sizes}, queue {queue}"
        for g, b, p, sizes, queue in zip(data["workers"], data["slots"], data["p"], data["prompts"], data["queue"], strict=True)
    ]
    data["policy"] = [name.split(":")[0] for name in data["policy"]]
    return data[list(COLUMNS)]


def draw(tables):
    """A table alone."""
    return None


def numbers(tables):
    """Numbers of the caption, of the first system."""
    data = compare(tables)
    first = data[data["system"] == data["system"].iloc[0]].set_index("policy")
    return {
        "system": first["system"].iloc[0],
        "iterations": int(tables["longrun"]["iterations"].iloc[0]),
        "io": first.loc["io", "imbalance"],
        "level": first.loc["level", "imbalance"],
        "jsq": first.loc["jsq", "imbalance"],
        "io_size": first.loc["io", "waiting_last"],
        "level_size": first.loc["level", "waiting_last"],
        "jsq_size": first.loc["jsq", "waiting_last"],
        "io_oldest": int(first.loc["io", "oldest"]),
        "level_oldest": int(first.loc["level", "oldest"]),
        "unproved": int(first.loc["io", "unproved"]),
    }
