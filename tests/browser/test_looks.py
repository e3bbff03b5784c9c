"""Themes, accessibility, and what the browser is told about security."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser import view
from tests.browser.accessibility import assert_accessible_in_both_schemes
from tests.browser.conftest import NewPage
from tests.browser.files import drop
from tests.browser.watching import Watch, is_ready

DARK, LIGHT = "rgb(14, 17, 21)", "rgb(244, 245, 247)"


def background(page: Page) -> str:
    return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))


def axis_colour(page: Page) -> str:
    return str(
        page.locator("#op-chart .xtick text").first.evaluate("(t) => getComputedStyle(t).fill")
    )


def test_theme_follows_the_system_and_the_switch_wins(new_page: NewPage, profile_url: str) -> None:
    page = new_page(color_scheme="dark")
    page.goto(profile_url)
    is_ready(page)
    assert background(page) == DARK
    dark_axis = axis_colour(page)
    page.get_by_role("button", name="Share", exact=True).click()
    page.get_by_role("button", name=re.compile("^Colour theme")).click()
    assert background(page) == LIGHT
    page.wait_for_function(
        "(dark) => getComputedStyle(document.querySelector('#op-chart .xtick text')).fill !== dark",
        arg=dark_axis,
    )
    page.goto("/")
    assert background(page) == LIGHT, "the choice holds on every page"
    page.get_by_role("button", name="Colour theme: light. Change").click()
    page.get_by_role("button", name="Colour theme: dark. Change").click()
    page.emulate_media(color_scheme="light")
    assert background(page) == LIGHT, "back to the system's"


def test_chosen_theme_is_there_before_the_first_paint(new_page: NewPage) -> None:
    page = new_page(color_scheme="light")
    page.goto("/")
    page.evaluate("localStorage.setItem('roofline-theme', 'dark')")
    page.goto("/", wait_until="commit")
    page.wait_for_selector("body", state="attached")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def of_home(page: Page, profile_url: str, capture: Path) -> None:
    page.goto("/")


def of_api(page: Page, profile_url: str, capture: Path) -> None:
    page.goto("/api")
    # Operations have one template: axe looks at three of each method.
    page.locator("section.endpoint").evaluate_all(
        """(all) => {
          const count = {};
          for (const one of all) {
            const kind = one.querySelector(".verb")?.className ?? "shape";
            count[kind] = (count[kind] ?? 0) + 1;
            if (count[kind] > 3) one.remove();
          }
        }"""
    )
    expect(page.locator("section.endpoint .verb")).not_to_have_count(0)


def of_limits(page: Page, profile_url: str, capture: Path) -> None:
    page.goto("/")
    page.get_by_role("link", name="limits").click()
    expect(page.get_by_role("heading", name="Limits of this server")).to_be_visible()


def of_profile(page: Page, profile_url: str, capture: Path) -> None:
    page.goto(profile_url)
    is_ready(page)


def of_what_if(page: Page, profile_url: str, capture: Path) -> None:
    page.goto(f"{profile_url}?v=1&dev=l4&peak.hbm=1200&vs=h100-sxm,tpu-v5p&tab=hardware")
    is_ready(page)
    page.locator("[data-peaks-button]").click()
    expect(page.locator("[data-device-list] li").first).to_be_visible()


def of_error(page: Page, profile_url: str, capture: Path) -> None:
    failed = {"state": "failed", "message": "It failed.", "remedy": "Run `this`.", "code": "x"}
    told = f"event: failed\ndata: {json.dumps(failed)}\n\n"
    page.route(
        "**/api/v1/profiles/*/events",
        lambda route: route.fulfill(content_type="text/event-stream", body=told),
    )
    page.goto("/")
    drop(page, capture)
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_text("Details").click()


def of_progress(page: Page, profile_url: str, capture: Path) -> None:
    page.route("**/api/v1/profiles?*", lambda route: None)  # an upload that never ends
    page.goto("/")
    drop(page, capture)
    expect(page.get_by_label("Import in progress")).to_be_visible()


def of_missing(page: Page, profile_url: str, capture: Path) -> None:
    page.goto("/p/AAAAAAAAAAAAAAAAAAAAAA")


STATES = [of_home, of_api, of_limits, of_profile, of_what_if, of_error, of_progress, of_missing]


@pytest.mark.parametrize("show", STATES)
def test_page_has_no_accessibility_violation(
    page: Page,
    watches: list[Watch],
    profile_url: str,
    capture: Path,
    show: Callable[[Page, str, Path], None],
) -> None:
    page.emulate_media(color_scheme="light")
    watches[0].expect("404")
    show(page, profile_url, capture)
    assert_accessible_in_both_schemes(page)


def test_what_opens_above_a_profile_has_no_accessibility_violation(profile: Page) -> None:
    profile.emulate_media(color_scheme="light")
    view.rows(profile).first.click()
    expect(profile.locator("#drawer")).not_to_contain_text("Loading…")
    profile.locator("[data-columns-button]").click()
    assert_accessible_in_both_schemes(profile, "#drawer", "#menu-columns")
    profile.keyboard.press("Escape")
    profile.emulate_media(color_scheme="light")
    view.share(profile, "About this profile")
    assert_accessible_in_both_schemes(profile, "dialog[open]")


def test_profile_fits_the_window(profile: Page) -> None:
    for width in (1024, 1280, 1920, 2560):
        profile.set_viewport_size({"width": width, "height": 900})
        profile.wait_for_function("() => document.documentElement.scrollWidth <= innerWidth")
        chips = profile.locator(".subject-bar").bounding_box()
        assert chips and chips["height"] <= 50, width


def test_scripts_and_styles_come_from_this_server_only(page: Page, profile_url: str) -> None:
    for path in ("/", "/api", profile_url):
        answer = page.goto(path)
        assert answer is not None
        policy = answer.headers["content-security-policy"]
        assert "script-src 'self';" in policy and "unsafe" not in policy
        assert page.locator("script:not([src]):not([type='application/json'])").count() == 0
        assert page.locator("head style, main [onclick]").count() == 0
    assert page.context.cookies() == []


def names_are_short_and_copied_whole(page: Page) -> None:
    """Of the longest name on the page."""
    shown, whole, copied = page.evaluate(
        """() => {
          const heads = [...document.querySelectorAll("#op-table tbody tr:not([hidden]) th")];
          const head = heads.sort((a, b) => b.title.length - a.title.length)[0];
          getSelection().selectAllChildren(head.parentElement.parentElement);
          const clipboardData = new DataTransfer();
          head.dispatchEvent(new ClipboardEvent("copy", { clipboardData, bubbles: true }));
          getSelection().removeAllRanges();
          const shown = head.querySelector("button").textContent;
          return [shown, head.title, clipboardData.getData("text/plain")];
        }"""
    )
    assert len(shown) <= 36 < 1000 < len(whole)
    assert shown.startswith(whole[:20].strip()[:8]) and "…" in shown
    assert whole.strip() in copied and "\t" in copied


def test_hostile_names_are_shown_as_text(page: Page, tmp_path: Path, hostile_capture: Path) -> None:
    page.goto("/")
    drop(page, hostile_capture)
    is_ready(page)
    assert page.locator("#op-table img, #op-table script, #op-table b").count() == 0
    names_are_short_and_copied_whole(page)
    for row in range(3):
        view.rows(page).nth(row).click()
        assert page.locator("#drawer img, #drawer script").count() == 0
