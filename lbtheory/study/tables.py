"""Tables as files: CSV with every digit, Markdown (and the report) with the digits that a reader needs."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lbtheory.core import write_whole

if TYPE_CHECKING:
    import pandas as pd

MARKDOWN_ROWS = 200
"""Rows of a Markdown table; the rest is in the CSV file beside it."""


def shown(value: Any, digits: int = 4, *, whole: bool = True) -> str:
    """``value`` as a reader wants it: ``digits`` significant digits, whole numbers from 1000 on, with separators.

    Nothing (None, NaN) is a dash. Very small numbers are written with a power of ten. ``whole`` leaves out the decimals
    of a whole number.
    """
    if value is None or type(value).__name__ == "NAType":
        return "–"
    if isinstance(value, bool) or type(value).__name__ == "bool_":
        return "yes" if value else "no"
    try:
        number = float(value) if not isinstance(value, str) else None
    except (TypeError, ValueError):
        number = None
    if number is None:
        return str(value)
    if math.isnan(number):
        return "–"
    if math.isinf(number):
        return "∞" if number > 0 else "−∞"
    if abs(number) >= 1000 or number == 0 or (whole and number == int(number)):
        text = f"{number:,.0f}"
    elif abs(number) < 1e-4:
        mantissa, exponent = f"{number:.{digits - 1}e}".split("e")
        text = f"{mantissa}·10^{int(exponent)}"
    else:
        decimals = max(0, digits - 1 - math.floor(math.log10(abs(number))))
        text = f"{number:.{decimals}f}"
    return text.replace("-", "−")


def cells(table: "pd.DataFrame", columns: Mapping[str, str] | None = None) -> tuple[list[str], list[list[str]], list[bool]]:
    """Headings, rows of text, and which columns hold numbers (those are set to the right).

    A column of floats shows decimals throughout, or nowhere when all its values are whole.
    """
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    headings = [(columns or {}).get(str(name), str(name)) for name in table.columns]
    numeric = [is_numeric_dtype(table[name]) and not is_bool_dtype(table[name]) for name in table.columns]
    whole = [
        not right or bool((table[name].dropna() % 1 == 0).all()) for name, right in zip(table.columns, numeric, strict=True)
    ]
    rows = [
        [shown(value, whole=only_whole) for value, only_whole in zip(row, whole, strict=True)]
        for row in table.astype(object).itertuples(index=False, name=None)
    ]
    return headings, rows, numeric


def markdown(table: "pd.DataFrame", columns: Mapping[str, str] | None = None, rows: int = MARKDOWN_ROWS) -> str:
    """``table`` in Markdown, its first ``rows`` rows."""
    headings, body, numeric = cells(table.head(rows), columns)
    lines = [headings, ["---:" if right else ":---" for right in numeric], *body]
    text = "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines) + "\n"
    if len(table) > rows:
        text += f"\nThe first {rows} of {len(table):,} rows; the CSV file holds all.\n"
    return text


def latex(table: "pd.DataFrame", columns: Mapping[str, str] | None = None, rows: int = MARKDOWN_ROWS) -> str:
    """``table`` as a LaTeX tabular (package booktabs), its first ``rows`` rows."""
    headings, body, numeric = cells(table.head(rows), columns)
    lines = [" & ".join(map(_escaped, line)) + r" \\" for line in [headings, *body]]
    form = "".join("r" if right else "l" for right in numeric)
    parts = [rf"\begin{{tabular}}{{{form}}}", r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule", r"\end{tabular}"]
    return "\n".join(parts) + "\n"


def _escaped(text: str) -> str:
    """Text with LaTeX's special characters escaped, and the symbols of headings in its own notation."""
    special = {"\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    symbols = {"÷": r"$\div$", "±": r"$\pm$", "–": "--", "−": r"$-$", "·": r"$\cdot$", "γ": r"$\gamma$", "β": r"$\beta$"}
    plain = {c: "\\" + c for c in "&%$#_"}
    return "".join((special | symbols | plain).get(c, c) for c in text)


def write(table: "pd.DataFrame", stem: Path, columns: Mapping[str, str] | None = None) -> list[Path]:
    """Write ``stem.csv``, ``stem.md`` and ``stem.tex``; the same table gives the same bytes.

    Numbers in the CSV file are written with the digits that give the same double back.
    """
    paths = [stem.with_name(f"{stem.name}.{kind}") for kind in ("csv", "md", "tex")]
    write_whole(paths[0], table.to_csv(index=False, lineterminator="\n"))
    write_whole(paths[1], markdown(table, columns))
    write_whole(paths[2], latex(table, columns))
    return paths
