"""One style for every figure: fonts, sizes, and a colour-blind-safe palette with one colour a policy.

Hue tells the family of a policy: greys and earth colours are the count rules and their relatives, blues are
BalanceRoute, warm colours are LEVEL, black and saturated green and pink are exact solvers. Between cells hue tells the cost
(earth: RIF, blue: latency, green: gradient) and darkness the mechanism (light: discrete, dark: flow). Colours start from the
Okabe-Ito and Tol palettes and differ in lightness too, so they hold up in print.

`save` writes the same bytes for the same figure: dates are stripped, SVG identifiers are salted with a constant, and
the font ships with Matplotlib, so it is the same on every machine.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lbtheory.core import whole_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TEXT_WIDTH = 6.9
"""Width of a figure across the page, in inches."""

COLUMN_WIDTH = 3.4
"""Width of a figure in one column, in inches."""

INK, MUTED, RULE = "#1a1a1a", "#666666", "#d9d9d9"
"""Colours of text, of secondary text, and of rules and grids."""

FORMATS = ("svg", "png", "pdf")

_FALLBACK = "#7a7a7a"

_POLICIES: dict[str, tuple[str, str, str]] = {
    # name: (label, colour, marker)
    "jsq": ("JSQ", "#4d4d4d", "o"),
    "rr": ("Round robin", "#8c8c8c", "s"),
    "random": ("Random", "#b3b3b3", "v"),
    "p2c": ("Power of two", "#6f8791", "^"),
    "token-jsq": ("Token-JSQ", "#8a8a2b", "D"),
    "vllm": ("vLLM score", "#b09a78", "P"),
    "br0": ("BR-0", "#56b4e9", "o"),
    "brh": ("BR-H", "#0072b2", "s"),
    "level": ("LEVEL", "#e69f00", "o"),
    "level-plus": ("LEVEL+", "#d55e00", "s"),
    "level-x": ("LEVEL-X", "#aa0044", "p"),
    "level-h": ("LEVEL-H+", "#882255", "D"),
    "io": ("IO (exact)", "#000000", "*"),
    "spread-lex": ("SpreadLex", "#009e73", "h"),
    "min-max": ("Min-max (exact)", "#cc79a7", "X"),
    "rand": ("Rand", "#a8a8a8", "v"),
    "mnlb": ("MNLB", "#2f2f2f", "s"),
    "disc-rif": ("Disc-RIF", "#e8a33d", "o"),
    "flow-rif": ("Flow-RIF", "#a85500", "D"),
    "disc-lat": ("Disc-Lat", "#64b7ea", "o"),
    "flow-lat": ("Flow-Lat", "#0a5fa8", "D"),
    "disc-grad": ("Disc-Grad", "#4cc29b", "o"),
    "flow-grad": ("Flow-Grad", "#00664b", "D"),
    "wlc": ("WLC (root-local)", "#8f7fc4", "P"),
    "hot-cold": ("Hot–cold", "#c47fae", "X"),
    "oracle": ("Oracle (current state)", "#7a1f3d", "*"),
}

POLICIES: tuple[str, ...] = tuple(_POLICIES)
"""Names of the policies that have a colour of their own, in the order of a legend."""

RC: dict[Any, Any] = {
    "font.family": ["DejaVu Sans"],
    "mathtext.fontset": "dejavusans",
    "font.size": 8.0,
    "axes.titlesize": 8.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 8.0,
    "axes.labelcolor": INK,
    "axes.edgecolor": MUTED,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": RULE,
    "grid.linewidth": 0.5,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "text.color": INK,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "lines.solid_capstyle": "round",
    "figure.facecolor": "white",
    "figure.dpi": 100,
    "savefig.dpi": 200,
    "savefig.facecolor": "white",
    "path.simplify": True,
    "path.simplify_threshold": 0.2,
    "svg.fonttype": "path",
    "svg.hashsalt": "lbtheory",
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "pdf.compression": 6,
}
"""Matplotlib settings of every figure."""


def base_name(policy: str) -> str:
    """Name of a policy without its options: ``brh:beta=43`` gives ``brh``."""
    return policy.split(":", 1)[0].strip().lower()


def color(policy: str) -> str:
    """Colour of ``policy`` as ``#rrggbb``; options after a colon do not change it, unknown names are grey."""
    return _POLICIES.get(base_name(policy), ("", _FALLBACK, ""))[1]


def marker(policy: str) -> str:
    """Matplotlib marker of ``policy``, so that colour is never the only sign."""
    return _POLICIES.get(base_name(policy), ("", "", "o"))[2]


def label(policy: str) -> str:
    """Name of ``policy`` as papers write it; options after a colon stay, in brackets."""
    base, _, options = policy.partition(":")
    name = _POLICIES.get(base.strip().lower(), (base, "", ""))[0]
    return f"{name} ({options.replace(',', ', ')})" if options else name


@contextmanager
def context() -> Iterator[None]:
    """Matplotlib settings of every figure, for the body of a ``with`` statement; the caller's come back after it."""
    import matplotlib

    with matplotlib.rc_context(RC):
        yield


def new_figure(width: float = TEXT_WIDTH, height: float = 3.0) -> "Figure":
    """An empty figure in this style, drawn without a display.

    Parameters
    ----------
    width, height : float
        Size in inches.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save(figure: "Figure", stem: str | Path, formats: tuple[str, ...] = FORMATS) -> list[Path]:
    """Write ``figure`` as ``stem.svg``, ``stem.png`` and ``stem.pdf``; the same figure gives the same bytes.

    Parameters
    ----------
    figure : matplotlib Figure
    stem : str or Path
        Path without the ending; missing folders are made.
    formats : tuple of str
        Any of ``svg``, ``png``, ``pdf``.

    Returns
    -------
    list of Path
        The files written, in the order of ``formats``.
    """
    metadata: dict[str, dict[str, Any]] = {
        "svg": {"Date": None, "Creator": None},
        "png": {"Software": None},
        "pdf": {"CreationDate": None, "ModDate": None, "Creator": None, "Producer": None},
    }
    stem = Path(stem)
    written = []
    with context():
        for kind in formats:
            path = stem.with_name(f"{stem.name}.{kind}")
            with whole_file(path) as temporary:
                figure.savefig(temporary, format=kind, metadata=metadata[kind])
            written.append(path)
    return written
