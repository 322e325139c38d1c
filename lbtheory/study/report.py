"""One self-contained page, ``report.html``: contents, every figure inlined as SVG, every table, with captions.

The page loads nothing: no script, no font, no picture from elsewhere. It reads on a phone (wide pictures and tables
scroll in their own frame) and prints.
"""

import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from lbtheory.core import write_whole
from lbtheory.study import tables
from lbtheory.study.statements import ALLOWANCE

if TYPE_CHECKING:
    import pandas as pd

    from lbtheory.study.pipeline import ArtefactResult
    from lbtheory.study.runner import TableResult

FOLDED_ROWS = 20
TABLE_ROWS = 60
"""Rows of a table that the page shows; longer ones are in their CSV files."""

_STYLE = """
:root { color-scheme: light; --ink: #1a1a1a; --muted: #5f5f5f; --rule: #dcdcdc; --tint: #f6f6f4; --bad: #a3200d; }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 62rem; color: var(--ink); background: #fff;
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.25rem; line-height: 1.3; margin: 0; }
h3 { font-size: 1rem; margin: 1.5rem 0 .5rem; }
a { color: #0b5c94; }
.muted { color: var(--muted); }
nav ol { padding-left: 1.4rem; } nav li { margin: .3rem 0; }
section { border-top: 1px solid var(--rule); margin-top: 2.5rem; padding-top: 1.25rem; }
.frame { overflow-x: auto; margin: 1rem 0 .5rem; }
.frame svg { display: block; width: 100%; min-width: 34rem; max-width: 56rem; height: auto; }
.caption { max-width: 46rem; } .caption p { margin: .5rem 0; }
table { border-collapse: collapse; font-size: .86rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .7rem; text-align: left; border-bottom: 1px solid var(--rule); vertical-align: top; }
th { background: var(--tint); font-weight: 600; vertical-align: bottom; }
td { white-space: nowrap; }
.number { text-align: right; }
.failure { border-left: 4px solid var(--bad); background: var(--tint); padding: .5rem .8rem; margin: 1rem 0; }
.failure strong { color: var(--bad); }
.statements { list-style: none; padding: 0; } .statements li { margin: .35rem 0; }
.badge { display: inline-block; min-width: 6.6rem; padding: .05rem .5rem; border-radius: .6rem; border: 1px solid;
  font-size: .8rem; text-align: center; }
.agrees { color: #00684a; } .disagrees { color: #a3200d; } .inconclusive { color: #5f5f5f; }
pre { overflow-x: auto; font-size: .78rem; line-height: 1.35; }
code { overflow-wrap: anywhere; }
details { margin: .75rem 0; } summary { cursor: pointer; }
@media print {
  body { max-width: none; padding: 0; font-size: 10pt; }
  .frame { overflow: visible; } .frame svg { min-width: 0; max-width: 100%; }
  section { break-before: page; } nav + section { break-before: auto; }
  figure, tr { break-inside: avoid; } h2, h3 { break-after: avoid; }
  table { font-size: 8pt; } th, td { padding: .15rem .35rem; } td { white-space: normal; }
  .back { display: none; } a { color: inherit; text-decoration: none; }
}
"""


def write_report(path: Path, results: "Sequence[TableResult]", artefacts: "Sequence[ArtefactResult]", scale: str) -> Path:
    """Write the page.

    Parameters
    ----------
    path : Path
        File to write.
    results : sequence of TableResult
        The experiments' tables.
    artefacts : sequence of ArtefactResult
        Figures and published tables, in the order of the page.
    scale : str
        Scale at which they were made.
    """
    sections = _sections(results, artefacts)
    contents = "\n".join(
        f'<li><a href="#{key}">{escape(title)}</a> <span class="muted">{escape(reference)}</span></li>'
        for key, title, reference, _ in sections
    )
    failed = sum(len(one.failures) for one in results) + sum(one.failure is not None for one in artefacts)
    warning = f'<p class="failure"><strong>{failed} failed.</strong> Each is shown in its section.</p>' if failed else ""
    body = "\n".join(
        f'<section id="{key}">\n<h2>{escape(title)}</h2>\n<p class="muted">{escape(reference)}</p>\n{content}\n'
        '<p class="back"><a href="#top">Back to the contents</a></p>\n</section>'
        for key, title, reference, content in sections
    )
    page = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>lbtheory: published beside reproduced</title>
<link rel="icon" href="data:,">
<style>{_STYLE}</style>
</head>
<body id="top">
<h1>Published beside reproduced</h1>
<p class="muted">Made by lbtheory at {escape(scale)} scale.
Every number in a caption is computed from the tables of this run.</p>
{warning}
<nav aria-label="Contents">
<ol>
{contents}
</ol>
</nav>
{body}
</body>
</html>
"""
    write_whole(path, page)
    return path


def _sections(results: "Sequence[TableResult]", artefacts: "Sequence[ArtefactResult]") -> list[tuple[str, str, str, str]]:
    """Identifier, title, reference and content of every section.

    A table is shown in the section of the first artefact that reads it; one that none reads has its own.
    """
    by_id = {result.id: result for result in results}
    told: set[str] = set()
    sections = []
    for artefact in artefacts:
        parts = [_artefact(artefact)]
        for name in artefact.reads:
            if name in by_id and name not in told:
                told.add(name)
                parts.append(_experiment(by_id[name]))
        sections.append((f"a-{artefact.id}", artefact.title, artefact.reference, "\n".join(parts)))
    for result in results:
        if result.id not in told:
            sections.append((f"e-{result.id}", result.title, result.reference, _experiment(result)))
    return sections


def _artefact(artefact: "ArtefactResult") -> str:
    """Figure, caption and comparison of one artefact."""
    parts = []
    if artefact.failure:
        parts.append(_failure(artefact.failure))
    if artefact.figure is not None:
        drawing = inline_svg(artefact.figure.read_text(encoding="utf-8"), artefact.id, artefact.title)
        parts.append(f'<figure style="margin: 0"><div class="frame">{drawing}</div></figure>')
    if artefact.caption:
        parts.append(f'<div class="caption">{_markdown(artefact.caption)}</div>')
    if artefact.statements:
        parts.append(_badges(artefact))
    if artefact.comparison is not None:
        parts.append("<h3>Published beside reproduced</h3>")
        parts.append(_table(artefact.comparison, artefact.columns, f"{artefact.id}/comparison.csv"))
    return "\n".join(parts)


def _badges(artefact: "ArtefactResult") -> str:
    """Published statements tried, each with its verdict, and the rule."""
    items = "\n".join(
        f'<li><span class="badge {one.verdict}">{one.verdict}</span> {escape(one.text)}: '
        f"published {tables.shown(one.published)}, reproduced {tables.shown(one.reproduced)}{_interval(one.low, one.high)}</li>"
        for one in artefact.statements
    )
    return (
        f'<h3>Published statements tried</h3>\n<ul class="statements">\n{items}\n</ul>\n'
        '<p class="muted">A published figure is one draw without an interval: it agrees within the reproduced 95 % interval '
        f"widened by {ALLOWANCE:.0%} of its value, disagrees outside twice that, and is inconclusive in between.</p>"
    )


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f" ({tables.shown(low)} to {tables.shown(high)})"


def _experiment(result: "TableResult") -> str:
    """Table, failures and provenance of one experiment."""
    parts = [f"<h3>Table of the experiment {escape(result.id)}</h3>"]
    parts += [_failure(failure) for failure in result.failures]
    if result.table is not None:
        shown = _table(result.table, result.columns, f"{result.id}/table.csv")
        long = len(result.table) > FOLDED_ROWS
        parts.append(f"<details><summary>{len(result.table):,} rows</summary>\n{shown}\n</details>" if long else shown)
    facts = result.provenance
    versions = ", ".join(f"{escape(name)} {escape(version)}" for name, version in facts["versions"].items())
    seeds = sorted({cell["seed"] for cell in facts["cells"]}, key=str)
    shown = ", ".join(map(str, seeds[:8])) + (", …" if len(seeds) > 8 else "")
    parts.append(
        f"<details><summary>How it was made</summary><p>{len(facts['cells'])} cells, seeds {escape(shown)}, "
        f"{facts['wall_seconds']:.1f} s on {escape(facts['system'])}. {versions}. Parameters of every cell: "
        f"<code>{escape(result.id)}/table.provenance.json</code>.</p></details>"
    )
    return "\n".join(parts)


def _failure(failure: Mapping[str, object]) -> str:
    """A failed cell, analysis or artefact, with its parameters and traceback."""
    parameters = f" with <code>{escape(str(failure['parameters']))}</code>" if "parameters" in failure else ""
    return (
        f'<div class="failure"><strong>Failed:</strong> <code>{escape(str(failure["task"]))}</code>{parameters}: '
        f"{escape(str(failure['error']))}<details><summary>Traceback</summary>"
        f"<pre>{escape(str(failure['traceback']))}</pre></details></div>"
    )


def _table(table: "pd.DataFrame", columns: Mapping[str, str], file: str) -> str:
    """The first rows of a table, numbers to the right."""
    headings, rows, numeric = tables.cells(table.head(TABLE_ROWS), columns)
    kinds = [' class="number"' if right else "" for right in numeric]
    head = "".join(f'<th scope="col"{kind}>{escape(text)}</th>' for kind, text in zip(kinds, headings, strict=True))
    body = "\n".join(
        "<tr>" + "".join(f"<td{kind}>{_powers(text)}</td>" for kind, text in zip(kinds, row, strict=True)) + "</tr>"
        for row in rows
    )
    rest = f"The first {TABLE_ROWS} of {len(table):,} rows. " if len(table) > TABLE_ROWS else ""
    return (
        f'<div class="frame"><table><thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>\n'
        f'<p class="muted">{rest}All digits: <code>{escape(file)}</code>.</p>'
    )


def _powers(text: str) -> str:
    """The text of a cell, with exponents raised."""
    return re.sub(r"·10\^(−?\d+)", r"·10<sup>\1</sup>", escape(text))


def inline_svg(text: str, prefix: str, title: str) -> str:
    """An SVG file as an element of a page: own identifiers, no fixed size, a title for those who cannot see it.

    Parameters
    ----------
    text : str
        Content of the file.
    prefix : str
        Put before every identifier, so that two pictures on a page do not share one.
    title : str
        What the picture shows.
    """
    element = text[text.index("<svg") :].strip()
    element = re.sub(r"<metadata>.*?</metadata>\s*", "", element, flags=re.DOTALL)
    element = re.sub(r'(\sid=")', rf"\g<1>{prefix}-", element)
    element = re.sub(r'(href="#)', rf"\g<1>{prefix}-", element)
    element = re.sub(r"(url\(#)", rf"\g<1>{prefix}-", element)
    element = element.replace('<style type="text/css">*{', '<style type="text/css">svg *{')
    opening, rest = element.split(">", 1)
    opening = re.sub(r'\s(?:width|height)="[^"]*"', "", opening)
    return f'{opening} role="img" aria-label="{escape(title, quote=True)}">{rest}'


def _markdown(text: str) -> str:
    """Markdown of a caption as HTML; HTML in it is shown as text."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
