"""Running, failing, and the files that come out; the same data give the same bytes."""

import io
import json
import sys
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

from lbtheory.core import InputError, ParameterError, UnknownNameError
from lbtheory.study import rebuild, reproduce
from lbtheory.study.report import inline_svg

VOID = {"meta", "link", "br", "hr", "img", "input"}


class Page(HTMLParser):
    """Collects identifiers, inner links and what is loaded, and checks that elements close in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loads: list[str] = []
        self.count: dict[str, int] = {}
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.count[tag] = self.count.get(tag, 0) + 1
        for name, value in attrs:
            value = value or ""
            if name == "id":
                self.ids.append(value)
            elif name in ("href", "xlink:href") and value.startswith("#"):
                self.links.append(value[1:])
            elif name in ("src", "href", "xlink:href"):
                self.loads.append(value)
            if "url(#" in value:
                self.links.append(value.split("url(#")[1].split(")")[0])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()


def made(checkout: Path, out: Path, ids: tuple[str, ...] = (), scale: str = "quick") -> tuple[int, str]:
    stream = io.StringIO()
    return reproduce(ids, scale, out, root=checkout, stream=stream), stream.getvalue()


def test_everything_is_written(checkout: Path, tmp_path: Path) -> None:
    code, log = made(checkout, tmp_path / "out")
    assert code == 0
    assert "report:" in log
    names = {str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*") if path.is_file()}
    stored = {name for name in names if name.startswith(".store/")}
    assert len(stored) == 4, "one file a cell, and what was begun"
    names -= stored
    kinds = {"table.csv", "table.md", "table.provenance.json", "caption.md", "comparison.csv", "comparison.md"}
    kinds |= {"figure.svg", "figure.png", "figure.pdf", "table.tex", "comparison.tex"}
    assert {f"tiny-draws/{kind}" for kind in kinds} <= names
    assert names - {f"tiny-draws/{kind}" for kind in kinds} == {
        "report.html",
        "tiny-table/caption.md",
        "tiny-table/comparison.csv",
        "tiny-table/comparison.md",
        "tiny-table/comparison.tex",
    }
    table = pd.read_csv(tmp_path / "out/tiny-draws/table.csv")
    assert table["draws"].tolist() == [1, 2, 3]
    caption = (tmp_path / "out/tiny-draws/caption.md").read_text()
    assert f"{table['mean'].max():.3f}" in caption


def test_provenance(checkout: Path, tmp_path: Path) -> None:
    made(checkout, tmp_path / "out")
    facts = json.loads((tmp_path / "out/tiny-draws/table.provenance.json").read_text())
    assert facts["scale"] == "quick"
    assert {"python", "lbtheory", "numpy", "matplotlib"} <= set(facts["versions"])
    assert [cell["parameters"] for cell in facts["cells"]] == [{"draws": 1}, {"draws": 2}, {"draws": 3}]
    assert {cell["seed"] for cell in facts["cells"]} == {7}


def test_same_data_same_bytes(checkout: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert made(checkout, tmp_path / name)[0] == 0
    for kind in ("figure.svg", "figure.png", "figure.pdf", "table.csv", "table.md", "comparison.csv", "caption.md"):
        first, second = ((tmp_path / name / "tiny-draws" / kind).read_bytes() for name in ("one", "two"))
        assert first == second, kind
    assert b"/Type3" not in (tmp_path / "one/tiny-draws/figure.pdf").read_bytes()


def test_report_parses_and_its_links_land(checkout: Path, tmp_path: Path) -> None:
    made(checkout, tmp_path / "out")
    text = (tmp_path / "out/report.html").read_text()
    page = Page(text)
    assert len(page.ids) == len(set(page.ids))
    assert page.links and set(page.links) <= set(page.ids)
    assert page.loads == ["data:,"]
    assert page.count["svg"] == 1
    assert page.count["table"] == 3
    assert "script" not in page.count
    assert "&lt;else&gt;" in text and "Mean &lt;of draws&gt;" in text
    assert "Published beside reproduced" in text


def test_two_pictures_on_a_page_share_no_identifier() -> None:
    drawing = '<g id="a" clip-path="url(#a)"><use xlink:href="#a"/></g>'
    svg = f'<?xml version="1.0"?>\n<svg width="1pt" height="2pt" viewBox="0 0 1 2">{drawing}</svg>'
    first, second = Page(inline_svg(svg, "one", "A & B")), Page(inline_svg(svg, "two", "C"))
    assert first.ids == ["one-a"] and set(first.links) == {"one-a"}
    assert not set(first.ids) & set(second.ids)
    assert 'width="1pt"' not in inline_svg(svg, "one", "x")


def test_a_failing_cell_is_reported_and_the_others_go_on(checkout: Path, tmp_path: Path) -> None:
    path = checkout / "experiments/tiny_draws/sweep.py"
    path.write_text(path.read_text().replace('{"draws": draws}', '{"draws": draws, "fail": draws == 2}'))
    code, log = made(checkout, tmp_path / "out")
    assert code == 1
    assert "draws=2, fail=True" in log and "Traceback" in log
    assert pd.read_csv(tmp_path / "out/tiny-draws/table.csv")["draws"].tolist() == [1, 3]
    (failure,) = json.loads((tmp_path / "out/tiny-draws/failures.json").read_text())
    assert failure["parameters"] == {"draws": 2, "fail": True}
    assert "InputError" in failure["traceback"]
    report = (tmp_path / "out/report.html").read_text()
    Page(report)
    assert "1 failed." in report

    path.write_text(path.read_text().replace("draws == 2", "False"))
    del sys.modules["lbtheory_checkout.experiments.tiny_draws.sweep"]
    assert made(checkout, tmp_path / "out")[0] == 0
    assert not (tmp_path / "out/tiny-draws/failures.json").exists()


def test_when_every_cell_fails_nothing_stale_is_left(checkout: Path, tmp_path: Path) -> None:
    made(checkout, tmp_path / "out")
    path = checkout / "experiments/tiny_draws/sweep.py"
    path.write_text(path.read_text().replace("tasks:probe", "tasks:no_such"))
    del sys.modules["lbtheory_checkout.experiments.tiny_draws.sweep"]
    outcome = rebuild((), "quick", tmp_path / "out", root=checkout, stream=io.StringIO())
    assert outcome.exit_code == 1
    assert len(outcome.failures) == 3 + 2
    assert not (tmp_path / "out/tiny-draws/table.csv").exists()
    assert not (tmp_path / "out/tiny-draws/figure.svg").exists()
    Page((tmp_path / "out/report.html").read_text())
    json.dumps(outcome.summary())


def test_a_figure_that_fails_is_reported(checkout: Path, tmp_path: Path) -> None:
    (checkout / "paper_figures/tiny_draws/caption.md").write_text("{no_such:.2f}")
    code, log = made(checkout, tmp_path / "out")
    assert code == 1
    assert "cannot be filled" in log and "largest" in log
    assert (tmp_path / "out/tiny-table/comparison.csv").exists()


def test_bad_input(checkout: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="tiny-table"):
        made(checkout, tmp_path / "out", ("tiny-tabel",))
    with pytest.raises(ParameterError, match="scale"):
        made(checkout, tmp_path / "out", scale="huge")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be made"):
        made(checkout, tmp_path / "file")
