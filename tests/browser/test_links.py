"""The address is the view: opened in a fresh browser it shows the same."""

from typing import Any

from playwright.sync_api import Page, expect

from tests.browser import view
from tests.browser.conftest import NewPage
from tests.browser.watching import is_ready


def seen(page: Page) -> dict[str, Any]:
    """Everything a user would compare."""
    return {
        "result": view.result(page),
        "names": view.names(page),
        "drawn": view.drawn(page),
        "headers": page.locator("#op-table thead th").all_inner_texts(),
        "ticks": page.locator("#op-chart .xtick text").all_text_contents(),
        "chips": page.locator("[aria-pressed=true]").all_inner_texts(),
        "drawer": page.locator("#drawer .op-name").all_inner_texts(),
        "device": page.locator("#device-info").inner_text(),
        "verdict": page.locator(".verdict h1").inner_text(),
    }


def test_copied_link_opens_the_same_view(new_page: NewPage, profile_url: str) -> None:
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    page.goto(profile_url)
    is_ready(page)
    page.locator("#filter-name").fill("fusion")
    view.choose_bound(page, "HBM")
    view.more_filters(page)
    page.get_by_role("switch", name="Infeed and outfeed").uncheck()
    page.locator("#filter-min").select_option("0.1")
    page.keyboard.press("Escape")
    view.chart_options(page)
    page.locator("#chart-axis").select_option("total")
    page.locator("#chart-roofs").select_option("all")
    page.keyboard.press("Escape")
    page.locator("#op-table [data-column=name]").click()
    page.get_by_role("button", name="Zoom in").click()
    view.rows(page).first.click()
    view.share(page, "Copy link")
    expect(page.get_by_text("Link copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    assert "v=1" in link
    fresh = new_page()
    fresh.goto(link)
    is_ready(fresh)
    assert seen(fresh) == seen(page)


def test_default_view_has_a_short_address(profile: Page) -> None:
    assert "?" not in profile.url


def test_link_of_a_newer_version_says_so(page: Page, profile_url: str) -> None:
    page.goto(f"{profile_url}?v=99&q=fusion")
    is_ready(page)
    expect(page.get_by_role("status").filter(has_text="newer Roofline")).to_be_visible()


def test_nonsense_in_a_link_leaves_the_default(profile: Page, profile_url: str) -> None:
    total, _ = view.result(profile)
    for query in (
        "x=nonsense&sort=-nothing&cols=none&op=999999",
        "min=a&cover=-3&zoom=1,2",
        "bound=%00",
    ):
        profile.goto(f"{profile_url}?v=1&{query}")
        is_ready(profile)
        assert view.result(profile) == (total, total), query
        expect(view.rows(profile).first).to_be_visible()


def test_names_in_a_link_stay_text(page: Page, profile_url: str) -> None:
    page.goto(f"{profile_url}?v=1&q=%3Cimg src=x onerror=document.title=1%3E")
    is_ready(page)
    expect(page.locator("#filter-name")).to_have_value("<img src=x onerror=document.title=1>")
    assert page.locator("main img").count() == 0
