"""The share dialog: the visibility of a profile, and links that strangers open."""

from pathlib import Path

from playwright.sync_api import expect

from tests.browser import view
from tests.browser.conftest import NewPage
from tests.browser.files import drop
from tests.browser.watching import Watch, is_ready


def test_link_made_in_the_dialog_opens_for_a_stranger_until_it_is_revoked(
    new_page: NewPage, capture: Path, watches: list[Watch]
) -> None:
    page = new_page()
    page.goto("/")
    drop(page, capture)
    is_ready(page)
    view.share(page, "Visibility and links")
    dialog = page.get_by_role("dialog", name="Share this profile")
    dialog.get_by_label("Link holders").check()
    dialog.get_by_label("For").fill("<i>vendor</i>")
    dialog.get_by_role("button", name="Create link").click()
    expect(dialog.locator("[data-share-links] li")).to_contain_text("<i>vendor</i>")
    link = dialog.locator("[data-share-url]").inner_text()
    stranger = new_page(viewport={"width": 1280, "height": 900})
    stranger.goto(link)
    is_ready(stranger)
    expect(stranger.get_by_role("button", name="Share", exact=True)).to_be_visible()
    for opener in ("[data-share-open]", "[data-compare]"):
        expect(stranger.locator(opener)).to_have_count(0)
    # What-if asks for the list of devices, and the drawer for an operation: also by the link.
    stranger.locator("#op-table tbody tr").first.click()
    expect(stranger.locator("#drawer")).to_be_visible()
    stranger.get_by_role("button", name="Peaks").click()
    expect(stranger.locator("[data-device-list]")).to_contain_text("H100")
    page.reload()
    is_ready(page)
    view.share(page, "Visibility and links")
    expect(dialog.get_by_label("Link holders")).to_be_checked()
    expect(dialog.locator("[data-share-links] li")).to_contain_text("last used")
    dialog.get_by_role("button", name="Revoke").click()
    expect(dialog.locator("[data-share-links] li")).to_have_count(0)
    watches[1].expect("status of 404")
    stranger.reload()
    expect(stranger.get_by_text("There is no profile at this address.")).to_be_visible()
