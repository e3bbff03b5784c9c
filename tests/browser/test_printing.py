"""Printing: paper shows verdict, device, charts and tables, whole and without controls."""

import io
import re
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Page
from pypdf import PdfReader

from tests.browser.conftest import VIEWPORT, NewPage
from tests.browser.watching import is_ready

FORMATS = ("A4", "Letter")
# Words of controls: the top bar, filters, tools of charts and tables, the pager and switches.
CONTROLS = (
    "Find",
    "Clear all",
    "Share ≥",
    "Infeed and outfeed",
    "Peaks",
    "in use",
    "Columns",
    "CSV",
    "Previous",
    "Next",
    "Show",
    "Compare with a device",
)
EVERY_COLUMN = """() => {
  document.querySelector("[data-columns-button]").click();
  document.querySelectorAll("[data-column-presets] button")[1].click();
  document.querySelector("#menu-columns").hidePopover();
}"""
# Elements of paper that reach past its right edge, or hide a part of their words.
CUT = """() => {
  const page = document.querySelector(".page").getBoundingClientRect();
  const seen = [...document.querySelectorAll(".page *")].filter(
    (element) => element.checkVisibility({ visibilityProperty: true }) && !element.closest(".sr"));
  const outside = seen.filter(
    (element) => element.getBoundingClientRect().right > page.right + 1
      && !element.closest("#op-chart, #program-chart, .gain .plot, .overlay"));
  const cut = seen.filter((element) => element.scrollWidth > element.clientWidth + 1
    && ["hidden", "auto", "scroll"].includes(getComputedStyle(element).overflowX)
    && !element.matches(".clip, .name, .text, th, dd, .strip-head span"));
  const named = (e) => `${e.tagName}.${e.className} ${e.textContent.slice(0, 30)}`;
  return [page.width, [...outside, ...cut].map(named)];
}"""

PLOT_END = """() => {
  dispatchEvent(new Event("beforeprint"));
  const plot = document.querySelector("#op-chart .nsewdrag");
  return plot.x.baseVal.value + plot.width.baseVal.value;
}"""


@dataclass(frozen=True)
class Run:
    """Words on paper, and the point where they begin, in points from the lower left corner."""

    text: str
    x: float
    y: float


@dataclass(frozen=True)
class Paper:
    """What was printed."""

    runs: list[Run]
    width: float
    text: str
    sheets: list[str]


def printed(page: Page, paper_format: str) -> Paper:
    """The page as PDF, read again."""
    reader = PdfReader(io.BytesIO(page.pdf(format=paper_format, print_background=True)))
    runs: list[Run] = []

    def note(text: str, cm: list[float], tm: list[float], _font: Any, _size: float) -> None:
        if text.strip():
            x = tm[4] * cm[0] + tm[5] * cm[2] + cm[4]
            y = tm[4] * cm[1] + tm[5] * cm[3] + cm[5]
            runs.append(Run(" ".join(text.split()), x, y))

    sheets = [sheet.extract_text(visitor_text=note) for sheet in reader.pages]
    return Paper(runs, float(reader.pages[0].mediabox.width), words(" ".join(sheets)), sheets)


def words(text: str) -> str:
    return " ".join(text.split())


def compact(text: str) -> str:
    """Without spaces: a PDF places letters, and its words are guessed from their distances."""
    return re.sub(r"\s", "", text)


def test_paper_has_verdict_device_charts_and_both_tables_and_no_controls(profile: Page) -> None:
    title = profile.locator(".page").get_attribute("data-title") or ""
    headline = profile.locator("[data-headline]").inner_text()
    device = profile.locator("[data-device-strip] dd").first.inner_text()
    categories = profile.locator("[data-groups] .name").all_inner_texts()
    for paper_format in FORMATS:
        paper = printed(profile, paper_format)
        assert [word for word in CONTROLS if re.search(rf"\b{word}\b", paper.text)] == []
        text = compact(paper.text)
        for wanted in (title, headline, device.split("·")[0], *categories[:3], categories[-1]):
            assert compact(wanted) in text, wanted
        for wanted in ("Operational intensity, FLOP per byte of HBM",):
            assert compact(wanted) in text, wanted
        for wanted in ("to gain", "Program and steps", "Rows 1–20 of"):
            assert compact(wanted) in text, wanted
        assert len(paper.sheets) <= 4
        rows = [sheet for sheet in paper.sheets if "fusion." in sheet]
        headed = ["Of the roof" in words(sheet) for sheet in rows]
        assert all(headed[headed.index(True) :]), rows


def test_last_column_of_every_column_is_on_paper(profile: Page) -> None:
    profile.evaluate(EVERY_COLUMN)
    headers = profile.locator("#op-table thead th span").all_inner_texts()
    last_cell = profile.locator("#op-table tbody tr").first.locator("td").last.inner_text()
    for paper_format in FORMATS:
        paper = printed(profile, paper_format)
        text = compact(paper.text)
        assert [header for header in headers if compact(header) not in text] == []
        assert compact(last_cell) in text
        outside = [run for run in paper.runs if not 0 < run.x < paper.width]
        assert outside == []


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_nothing_is_cut_whatever_the_window(
    new_page: NewPage, profile_url: str, width: int
) -> None:
    page = new_page(viewport={**VIEWPORT, "width": width})
    page.goto(profile_url)
    is_ready(page)
    # Where the plot ends is seen at once, since the browser draws no frame until it has printed.
    end = page.evaluate(PLOT_END)
    page.emulate_media(media="print")
    paper_width, cut = page.evaluate(CUT)
    assert paper_width == pytest.approx(980, abs=1)
    assert cut == []
    box = page.evaluate("document.querySelector('#op-chart').offsetWidth")
    assert 0.9 * box < end <= box


def test_other_hardware_is_printed_where_it_is_compared_with(page: Page, profile_url: str) -> None:
    page.goto(f"{profile_url}?v=1&vs=h100-sxm")
    is_ready(page)
    name = page.locator("#hardware-table tbody th").last.inner_text()
    text = compact(printed(page, "A4").text)
    assert "Theprogramonotherhardware" in text
    assert compact(name.removesuffix("remove")) in text


def test_screen_is_as_before_after_printing(profile: Page) -> None:
    chart = profile.locator("#op-chart .main-svg").first
    profile.locator("#fold-ops").click()
    before = chart.bounding_box()
    profile.pdf(format="A4")
    assert profile.locator("#panel-program").is_visible()
    assert profile.locator("#panel-ops").is_hidden()
    assert profile.locator("body.printing").count() == 0
    assert chart.bounding_box() == before


def test_paper_is_light_where_the_screen_is_dark(new_page: NewPage, profile_url: str) -> None:
    page = new_page(viewport=VIEWPORT, color_scheme="dark")
    page.goto(profile_url)
    is_ready(page)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    colour = page.evaluate("getComputedStyle(document.querySelector('[data-headline]')).color")
    red, green, blue = map(int, re.findall(r"\d+", colour)[:3])
    assert red + green + blue < 3 * 90, colour
