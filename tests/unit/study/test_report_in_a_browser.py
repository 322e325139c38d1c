"""The report in a real browser: headless Chromium of the system, driven by Playwright."""

import io
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lbtheory.study import make_engine, rebuild

playwright = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine (Debian: apt install chromium)")

QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}

PICTURES = """() => [...document.querySelectorAll('svg, img')].map(one => {
  const box = one.getBoundingClientRect();
  const shapes = [...one.querySelectorAll('path, use, rect, circle, text, image')];
  const drawn = shapes.filter(s => { const b = s.getBBox(); return b.width + b.height > 0; });
  const loose = [...one.querySelectorAll('use')].filter(u => !document.querySelector(u.getAttribute('xlink:href')));
  return {width: box.width, height: box.height, drawn: drawn.length, loose: loose.length,
          whole: one.tagName !== 'IMG' || one.naturalWidth > 0};
})"""


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    """One browser for the file."""
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield started
        started.close()


def opened(browser: "Browser", report: Path, viewport: dict[str, int]) -> "tuple[Page, list[str]]":
    """The page, and what went wrong on it so far: console errors, exceptions, requests for anything but the page."""
    problems: list[str] = []
    page = browser.new_page(viewport=viewport)
    page.on("console", lambda m: problems.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda r: problems.append(r.url) if r.url != report.as_uri() and r.url != "data:," else None)
    page.goto(report.as_uri())
    return page, problems


def check_report(browser: "Browser", report: Path, pictures: int) -> None:
    """No error, nothing loaded, every picture drawn, every inner link lands, on a phone and on a desk; it prints."""
    for viewport in (PHONE, DESK):
        page, problems = opened(browser, report, viewport)
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"], "the page scrolls sideways"
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"], "an open table scrolls the page"
        found = page.evaluate(PICTURES)
        assert len(found) == pictures
        for one in found:
            assert one["width"] > 100 and one["height"] > 50 and one["drawn"] > 10, one
            assert one["loose"] == 0 and one["whole"], one
        links = page.locator('a[href^="#"]')
        assert links.count() > 0
        for k in range(links.count()):
            target = links.nth(k).get_attribute("href")
            links.nth(k).click()
            top = page.evaluate("id => document.getElementById(id).getBoundingClientRect().top", str(target)[1:])
            assert -1 <= top < viewport["height"], f"{target} is not in view"
        if viewport is DESK:
            assert page.pdf(format="A4")[:5] == b"%PDF-"
        assert problems == []
        page.close()


def test_small_report(checkout: Path, tmp_path: Path, browser: "Browser") -> None:
    """The miniature checkout: one figure, three tables, text with special characters."""
    outcome = rebuild((), "quick", tmp_path, root=checkout, engine=make_engine("serial"), stream=io.StringIO())
    assert outcome.exit_code == 0
    check_report(browser, outcome.report, pictures=1)


def test_a_broken_page_is_found(checkout: Path, tmp_path: Path, browser: "Browser") -> None:
    """The check fails on a page with a script error, a dead link, or an empty picture."""
    report = rebuild((), "quick", tmp_path, root=checkout, engine=make_engine("serial"), stream=io.StringIO()).report
    text = report.read_text()
    for sound, broken in (
        ("</body>", "<script>throw new Error('broken')</script></body>"),
        ('<section id="a-tiny-draws">', "<section>"),
        ('href="data:,"', 'href="missing.png"'),
        ("</body>", '<img src="data:image/png;base64,AAAA" alt=""></body>'),
    ):
        assert sound in text
        report.write_text(text.replace(sound, broken, 1))
        with pytest.raises((AssertionError, playwright.Error)):
            check_report(browser, report, pictures=1)


@pytest.mark.slow
def test_whole_report(tmp_path: Path, browser: "Browser") -> None:
    """Every artefact of the checkout, at quick scale."""
    outcome = rebuild((), "quick", tmp_path, stream=io.StringIO())
    assert outcome.exit_code == 0
    check_report(browser, outcome.report, pictures=sum(one.figure is not None for one in outcome.artefacts))
