"""One row a system, side and link of the chain."""

import pandas as pd

COLUMNS = {
    "p": "p",
    "prompts": "prompts",
    "workers": "G",
    "slots": "B",
    "side": "side",
    "step": "step replaced",
    "value": "Ī, tokens",
    "lost": "decades lost",
}


def table(records):
    """Records in the order of the sweep."""
    return pd.DataFrame(records)[list(COLUMNS)]
