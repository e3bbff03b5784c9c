"""Phones, large windows and a large zoom: no scrolling sideways, targets for fingers."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser import view
from tests.browser.accessibility import assert_accessible_in_both_schemes
from tests.browser.conftest import ROOT, NewPage, uploaded
from tests.browser.watching import is_ready

RANKS = ROOT / "sample_profiles" / "pytorch" / "mi300x-two-ranks"
PHONE = 390
WIDTHS = [PHONE, 640, 768, 820, 1024, 1280, 1920, 2560]  # 640 is 1280 at 200 %
FINGER = 44  # px

# Words in a sentence are exempt, and what is only a second way to a control of full size.
TOO_SMALL = """() => [...document.querySelectorAll(
    "button, a[href], input:not([type=hidden]):not(.sr), select, summary")]
  .filter((e) => e.checkVisibility({ visibilityProperty: true }) && e.offsetParent !== null)
  .filter((e) => !e.closest("[aria-hidden=true], p, .skip") || e.matches(".tag"))
  .map((e) => [e, (e.closest("label") ?? e).getBoundingClientRect()])
  .filter(([, box]) => box.width && (box.height < %(px)s || box.width < %(px)s))
  .map(([e, box]) => `${e.outerHTML.slice(0, 120)} ${box.width} x ${box.height}`)"""


@pytest.fixture(scope="module")
def full_url(visitor: BrowserContext, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A server's trace of two ranks: a budget, links between devices, steps of a server."""
    folder = tmp_path_factory.mktemp("ranks")
    paths = []
    for source in sorted(RANKS.iterdir()):
        text = source.read_text("utf-8")
        assert "ProfilerStep#5" in text
        text = text.replace("ProfilerStep#5", "execute_context_0(0)_generation_32(32)")
        path: Path = folder / source.name
        path.write_text(text, "utf-8")
        paths.append(path)
    return uploaded(visitor, *paths)


def opened(page: Page, url: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(urlsplit(url).path)
    is_ready(page)
    expect(page.locator("[data-gain]")).to_be_visible()
    expect(page.locator("#link-chart .ytick text").first).to_be_visible()
    expect(page.locator("[data-serving]")).to_be_visible()


def too_wide(page: Page) -> int:
    """By how many pixels the document is wider than the window."""
    return int(page.evaluate("document.documentElement.scrollWidth - innerWidth"))


def fits(page: Page, widths: list[int]) -> None:
    """No window of these widths scrolls sideways."""
    for width in widths:
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function("() => document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("widths", [WIDTHS[:4], WIDTHS[:3:-1]], ids=["from 390", "from 2560"])
def test_no_profile_scrolls_sideways(new_page: NewPage, full_url: str, widths: list[int]) -> None:
    page = new_page()
    opened(page, full_url, widths[0])
    assert too_wide(page) <= 0, "as it was loaded"
    fits(page, widths)
    for button in page.locator("[data-fold=device], [id^='fold-']").all():
        if button.get_attribute("aria-expanded") == "false":
            button.click()
    fits(page, widths)  # with everything unfolded
    view.rows(page).first.click()
    expect(page.locator("#drawer")).not_to_contain_text("Loading…")
    fits(page, widths)  # with the details of an operation
    for width in widths:
        page.set_viewport_size({"width": width, "height": 900})
        table = page.locator("#panel-ops").bounding_box()
        assert table is not None
        assert table["width"] > width / 2, "the table beside or below the details"


def test_pages_without_a_profile_do_not_scroll_sideways(page: Page) -> None:
    for path in ("/", "/api"):
        page.goto(path)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            assert too_wide(page) <= 0, (path, width)


def test_targets_on_a_phone_are_as_large_as_a_finger(new_page: NewPage, full_url: str) -> None:
    page = new_page()
    opened(page, full_url, PHONE)
    assert page.evaluate(TOO_SMALL % {"px": FINGER - 0.5}) == []
    # The list of steps reckons with the real height of its rows.
    box = page.locator("[data-steps] tr[data-point]").first.bounding_box()
    assert box and box["height"] == pytest.approx(FINGER, abs=1)
    page.goto("/")
    assert page.evaluate(TOO_SMALL % {"px": FINGER - 0.5}) == []


def test_a_finger_has_large_targets_on_a_wide_screen(new_page: NewPage, full_url: str) -> None:
    page = new_page(has_touch=True, is_mobile=True, viewport={"width": 1280, "height": 900})
    page.goto(urlsplit(full_url).path)
    is_ready(page)
    page.get_by_role("button", name="Share", exact=True).click()
    box = page.locator("[data-copy-link]").bounding_box()
    assert box and box["height"] >= FINGER


def test_nothing_moves_for_those_who_asked_for_rest(new_page: NewPage, full_url: str) -> None:
    page = new_page(reduced_motion="reduce")
    opened(page, full_url, PHONE)
    moving = """[...document.querySelectorAll("*")]
      .filter((e) => parseFloat(getComputedStyle(e).transitionDuration) > 0).length"""
    assert page.evaluate(moving) == 0


def test_forced_colours_keep_the_states_apart(new_page: NewPage, full_url: str) -> None:
    page = new_page(forced_colors="active")
    opened(page, full_url, PHONE)
    outline = "(e) => getComputedStyle(e).outlineStyle"
    pressed = page.locator(".seg button[aria-pressed=true]").first
    assert pressed.evaluate(outline) == "solid"
    assert page.locator(".seg button[aria-pressed=false]").first.evaluate(outline) == "none"
    strokes = "(lines) => lines.map((line) => getComputedStyle(line).stroke)"
    roofs = page.locator("#op-chart [class*=traceroof] .js-line").evaluate_all(strokes)
    assert len(set(roofs)) > 1, "roofs keep their colours"


def test_a_phone_has_no_accessibility_violation(page: Page, full_url: str) -> None:
    opened(page, full_url, PHONE)
    assert_accessible_in_both_schemes(page)
