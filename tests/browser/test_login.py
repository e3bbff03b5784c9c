"""A server with a shared token: logging in, adding a profile, what others may do, logging out."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser import view
from tests.browser.conftest import NewPage
from tests.browser.files import drop
from tests.browser.serving import Server, serving
from tests.browser.watching import Watch, is_ready

TOKEN = "correct horse battery staple"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    settings = {"ROOFLINE_AUTH": "token", "ROOFLINE_TOKEN": TOKEN}
    with serving(tmp_path_factory.mktemp("guarded"), settings) as running:
        yield running


def log_in(page: Page, token: str = TOKEN, name: str = "") -> None:
    page.get_by_label("Your name").fill(name)
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Log in").click()


def is_home(page: Page) -> None:
    """The home page is there, and its scripts listen."""
    expect(page.locator("#drop-zone")).to_be_visible()
    page.wait_for_load_state("load")


def test_link_leads_through_the_log_in_to_its_view(
    new_page: NewPage, guarded: Server, capture: Path
) -> None:
    page = new_page(guarded.url)
    page.goto("/")
    expect(page.get_by_label("Token")).to_be_focused()
    log_in(page, name="Ada")
    is_home(page)
    drop(page, capture)
    is_ready(page)
    page.locator("#filter-name").fill("fusion")
    page.wait_for_url(re.compile("fusion"))
    link = page.url
    other = new_page(guarded.url)
    other.goto(link)
    expect(other.get_by_role("heading", name="Log in")).to_be_visible()
    log_in(other, name="Grace")
    is_ready(other)
    assert other.url == link
    expect(other.locator("#filter-name")).to_have_value("fusion")


def test_who_did_not_upload_reads_and_does_not_edit(
    new_page: NewPage, guarded: Server, capture: Path
) -> None:
    page, other = new_page(guarded.url), new_page(guarded.url)
    for each, name in ((page, "Ada"), (other, "Grace")):
        each.goto("/")
        log_in(each, name=name)
        is_home(each)
    drop(page, capture)
    is_ready(page)
    other.goto(page.url)
    is_ready(other)
    view.share(other, "About this profile")
    dialog = other.get_by_role("dialog", name="About this profile")
    expect(dialog).to_contain_text("by Ada")
    expect(dialog.get_by_role("button", name="Save")).to_have_count(0)
    view.share(page, "About this profile")
    page.get_by_role("dialog").get_by_label("Note").fill("Mine to change")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    is_ready(page)
    view.share(page, "About this profile")
    expect(page.get_by_role("dialog").get_by_label("Note")).to_have_value("Mine to change")


def test_wrong_token_is_told_beside_the_field(
    new_page: NewPage, guarded: Server, watches: list[Watch]
) -> None:
    page = new_page(guarded.url)
    watches[0].expect("status of 403")
    page.goto("/login")
    log_in(page, "wrong", name="Ada")
    expect(page.get_by_role("alert")).to_contain_text("This is not the token")
    expect(page.get_by_label("Your name")).to_have_value("Ada")
    expect(page.get_by_label("Token")).to_be_focused()


def test_logging_out_ends_the_session(new_page: NewPage, guarded: Server) -> None:
    page = new_page(guarded.url)
    page.goto("/")
    log_in(page)
    is_home(page)
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    page.goto("/")
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()


def test_token_is_shown_once_works_and_is_revoked(new_page: NewPage, guarded: Server) -> None:
    page = new_page(guarded.url)
    page.goto("/tokens")
    log_in(page, name="Ada")
    page.get_by_label("Name").fill("<b>nightly</b>")
    page.get_by_label("Scope").select_option("read")
    page.get_by_role("button", name="Make a token").click()
    secret = page.locator("[data-token-secret]")
    expect(secret).not_to_be_empty()
    expect(page.get_by_role("row", name="<b>nightly</b>")).to_be_visible()
    headers = {"authorization": f"Bearer {secret.inner_text()}"}
    profiles = f"{guarded.url}/api/v1/profiles"
    assert httpx.get(profiles, headers=headers).status_code == 200
    page.reload()
    row = page.get_by_role("row", name="<b>nightly</b>")
    expect(row).to_contain_text("read")
    expect(page.locator("[data-token-secret]")).to_be_empty()
    row.get_by_role("button", name="Revoke <b>nightly</b>").click()
    expect(row).to_have_count(0)
    assert httpx.get(profiles, headers=headers).status_code == 401


def test_deleted_profile_is_restored_from_the_trash(
    new_page: NewPage, guarded: Server, capture: Path
) -> None:
    page = new_page(guarded.url)
    page.goto("/")
    log_in(page, name="Ada")
    is_home(page)
    drop(page, capture)
    is_ready(page)
    url = page.url.partition("?")[0].partition("#")[0]
    profile_id = url.rpartition("/")[2]
    status = page.evaluate(
        """async (id) => {
          const csrf = document.querySelector("meta[name=csrf-token]").content;
          const headers = { "x-csrf-token": csrf };
          const answer = await fetch(`/api/v1/profiles/${id}`, { method: "DELETE", headers });
          return answer.status;
        }""",
        profile_id,
    )
    assert status == 204
    page.goto("/trash")
    row = page.locator("tr", has=page.locator(f"[data-restore='{profile_id}']"))
    expect(row).to_contain_text("deleted")
    row.get_by_role("button", name="Restore").click()
    is_ready(page)
    assert profile_id in page.url
