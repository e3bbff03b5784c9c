"""The dialog about a profile: editing, pinning and deleting it, and what that changes."""

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser import view
from tests.browser.conftest import uploaded
from tests.browser.watching import Watch, is_ready


@pytest.fixture(scope="module")
def own_url(visitor: BrowserContext, capture: Path) -> str:
    """The address of a profile that these tests may change; the last one deletes it."""
    return uploaded(visitor, capture)


@pytest.fixture
def own(page: Page, own_url: str) -> Page:
    """Its page."""
    page.goto(own_url)
    is_ready(page)
    return page


def opened(page: Page) -> Locator:
    view.share(page, "About this profile")
    return page.get_by_role("dialog", name="About this profile")


def save(page: Page, dialog: Locator) -> None:
    """Saves, and waits until the page is there again."""
    page.evaluate("document.body.dataset.ready = 'before'")
    dialog.get_by_role("button", name="Save").click()
    is_ready(page)


def downloaded(page: Page, what: str) -> Path:
    page.get_by_role("button", name="Share", exact=True).click()
    with page.expect_download() as download:
        page.locator(f"[data-download={what}]").click()
    return Path(download.value.path()).rename(
        Path(download.value.path()).with_name(download.value.suggested_filename)
    )


def test_everything_made_after_an_edit_has_the_new_title(own: Page) -> None:
    dialog = opened(own)
    dialog.get_by_label("Title").fill("After <the> edit")
    save(own, dialog)
    assert own.title() == "After <the> edit · Roofline"
    names = {downloaded(own, what).name for what in ("csv-all", "png", "svg", "csv-shown")}
    assert names == {
        "After-the-edit-operations-all.csv",
        "After-the-edit-roofline.png",
        "After-the-edit-roofline.svg",
        "After-the-edit-operations.csv",
    }
    assert "After the edit · " in downloaded(own, "svg").read_text("utf-8")


def test_pinned_profile_is_the_first_of_the_home_page(own: Page) -> None:
    dialog = opened(own)
    dialog.get_by_label("Title").fill("Pinned one")
    dialog.get_by_label("List it first on the home page").check()
    save(own, dialog)
    address = own.url
    own.goto("/")
    expect(own.locator("[data-recent] tbody tr").first).to_contain_text("Pinned one")
    own.goto(address)
    is_ready(own)
    dialog = opened(own)
    dialog.get_by_label("List it first on the home page").uncheck()
    save(own, dialog)


def test_refused_edit_is_told_in_the_dialog_and_loses_nothing(
    own: Page, watches: list[Watch]
) -> None:
    watches[0].expect("status of 400")
    dialog = opened(own)
    dialog.get_by_label("Title").fill("   ")
    dialog.get_by_label("Note").fill("Kept while the title is corrected")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_be_visible()
    expect(dialog.get_by_label("Note")).to_have_value("Kept while the title is corrected")


def test_deleting_is_asked_twice(own: Page) -> None:
    dialog = opened(own)
    address = own.url
    delete = dialog.locator("[data-about-delete]")
    delete.dblclick()
    expect(delete).to_have_text("Move it to the trash")
    # The second click of a double click does not count; a second later it is meant.
    own.evaluate("const now = performance.now(); performance.now = () => now + 1000")
    delete.click()
    own.wait_for_url("**/")
    answer = own.request.get(address)
    assert answer.status == 404
