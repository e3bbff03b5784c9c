"""Everything without a pointer, and always visible where the focus is."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser import view
from tests.browser.watching import is_ready

_FOCUS = """() => {
  const element = document.activeElement;
  if (!element || element === document.body) return null;
  const ringed = (node) => node !== null && getComputedStyle(node).outlineStyle !== "none"
    && parseFloat(getComputedStyle(node).outlineWidth) >= 1;
  const row = element.closest("tr");
  // A hidden file field shows its focus on its label; a link that fills a row shows it on the row.
  const visible = ringed(element) || ringed(element.nextElementSibling) || ringed(row)
    || [...(row?.cells ?? [])].some(ringed);
  return { what: element.outerHTML.slice(0, 120), visible };
}"""


def walk(page: Page, steps: int) -> list[str]:
    """Presses Tab `steps` times; every stop must show that it has the focus."""
    stops = []
    for _ in range(steps):
        page.keyboard.press("Tab")
        focus = page.evaluate(_FOCUS)
        if focus is None:
            break
        assert focus["visible"], f"no visible focus: {focus['what']}"
        stops.append(focus["what"])
    return stops


@pytest.mark.parametrize("path", ["/", "/api"])
def test_focus_is_visible_on_every_stop_of_a_page(page: Page, profile_url: str, path: str) -> None:
    page.goto(path)
    assert len(walk(page, 60)) > 5


def test_focus_is_visible_on_every_stop_of_a_profile(profile: Page) -> None:
    assert len(walk(profile, 120)) > 30


def test_file_is_chosen_and_profile_read_with_keys_alone(page: Page, capture: Path) -> None:
    # A listener makes the browser hand over choosers; set up here, it is in place when Enter comes.
    page.on("filechooser", lambda _: None)
    page.goto("/")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # skip link
    page.wait_for_url("**/#main")
    page.keyboard.press("Tab")
    expect(page.locator("#file")).to_be_focused()
    with page.expect_file_chooser() as chooser:
        page.keyboard.press("Enter")
    chooser.value.set_files(capture)
    is_ready(page)

    page.keyboard.press("/")
    expect(page.locator("#filter-name")).to_be_focused()
    page.keyboard.type("fusion")
    shown, total = view.result(page)
    assert 0 < shown < total
    page.keyboard.press("Escape")

    page.keyboard.press("j")
    first = view.rows(page).first
    expect(first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("j")
    expect(view.rows(page).nth(1)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("k")
    expect(first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Escape")
    expect(page.locator("#drawer")).to_be_hidden()


def test_arrows_walk_the_table_and_enter_selects(profile: Page) -> None:
    first = view.rows(profile).first.locator("th button")
    first.focus()
    profile.keyboard.press("ArrowDown")
    second = view.rows(profile).nth(1)
    expect(second.locator("th button")).to_be_focused()
    expect(second).to_have_class(re.compile("lit"))
    profile.keyboard.press("Enter")
    expect(second).to_have_attribute("aria-selected", "true")


def test_skip_link_leads_to_the_table(profile: Page) -> None:
    profile.keyboard.press("Tab")
    expect(profile.get_by_role("link", name=re.compile("^Skip"))).to_be_focused()
    profile.keyboard.press("Enter")
    expect(profile.locator("#op-table")).to_be_in_viewport()


def test_chart_zooms_and_moves_with_keys(profile: Page) -> None:
    profile.locator("#op-chart").focus()
    profile.keyboard.press("+")
    view.has_key(profile, "zoom")
    profile.keyboard.press("ArrowRight")
    profile.keyboard.press("0")
    view.has_query(profile, "zoom")


def test_menus_open_walk_and_close_with_keys(profile: Page) -> None:
    button = profile.locator("[data-more-filters]")
    button.focus()
    profile.keyboard.press("Enter")
    menu = profile.locator("#menu-filters")
    expect(menu.locator("button, select, input").first).to_be_focused()
    for _ in range(40):
        if menu.locator("[data-category-list] input:focus").count():
            break
        profile.keyboard.press("Tab")
    expect(menu.locator("[data-category-list] input").first).to_be_focused()
    profile.keyboard.press("Space")
    profile.keyboard.press("ArrowDown")
    expect(menu.locator("input:checked")).to_have_count(2)
    profile.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    expect(button).to_be_focused()


def test_folds_open_and_close_with_enter_and_are_remembered(profile: Page) -> None:
    details = profile.locator("#fold-details")
    details.focus()
    profile.keyboard.press("Enter")
    expect(profile.locator("#program-table")).to_be_hidden()
    profile.keyboard.press("Enter")
    expect(profile.locator("#program-table")).to_be_visible()
    view.has_query(profile, "tab", "details")
    profile.locator("#fold-ops").click()
    opened = profile.evaluate("() => localStorage.getItem('roofline-open').split(',').sort()")
    assert opened == ["details", "device", "hardware", "timeline"]
