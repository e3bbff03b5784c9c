"""An upload of several profiles in the browser: files stay on the server, one button goes on."""

import re
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import NewPage
from tests.browser.files import drop
from tests.browser.serving import Server, serving
from tests.browser.watching import Watch, is_ready
from tests.conftest import SAMPLES

V4 = SAMPLES / "xspace" / "v4-training-cmem.xplane.pb"
V6E = SAMPLES / "xspace" / "v6e-training.xplane.pb"
TOKEN = "correct horse battery staple"


@pytest.fixture
def cut(tmp_path: Path) -> Path:
    path = tmp_path / "cut.xplane.pb"
    path.write_bytes(V6E.read_bytes()[:999])
    return path


def offer(page: Page, *paths: Path) -> Locator:
    """The card of an upload that failed, wherever the visitor waited for it."""
    page.goto("/")
    drop(page, *paths)
    card = page.get_by_role("alert")
    expect(card.locator("[data-split]")).to_be_visible(timeout=30_000)
    expect(card.locator("[data-message]")).to_be_focused()
    return card


def test_two_machines_become_two_profiles(page: Page) -> None:
    card = offer(page, V4, V6E)
    groups = card.locator(".groups li")
    expect(groups.nth(0)).to_contain_text(f"TPU v4 {V4.name}")
    expect(groups.nth(1)).to_contain_text(f"TPU v6e (Trillium) {V6E.name}")
    card.get_by_role("button", name="Make 2 profiles").click()
    expect(card.locator("[data-message]")).to_have_text("2 profiles were made of this upload.")
    expect(card.locator("[data-message]")).to_be_focused()
    links = card.locator(".groups a")
    expect(links).to_have_text(["v4-training-cmem", "v6e-training"])
    links.nth(1).click()
    is_ready(page)
    expect(page.locator("[data-device-pill]")).to_contain_text("v6")


def test_one_machine_is_taken_alone(page: Page) -> None:
    card = offer(page, V4, V6E)
    card.get_by_role("button", name="Import only the files of TPU v4").click()
    is_ready(page)
    expect(page.locator("[data-device-pill]")).to_contain_text("TPU v4")


def test_file_that_cannot_be_read_is_left_out(page: Page, cut: Path) -> None:
    card = offer(page, V6E, cut)
    expect(card.locator(".unreadable li")).to_contain_text("cut.xplane.pb")
    card.get_by_role("button", name="Go on without cut.xplane.pb").click()
    is_ready(page)
    expect(page).to_have_title(re.compile("v6e-training"))


def failed_upload(server: Server, **headers: str) -> dict[str, str]:
    """An upload of two machines by a script: what the server answered."""
    files = [("file", (path.name, path.read_bytes())) for path in (V4, V6E)]
    answer = httpx.post(f"{server.url}/api/v1/profiles", files=files, headers=headers, timeout=60)
    assert answer.status_code == 400
    found: dict[str, str] = answer.json()
    return found


def test_address_of_the_failed_upload_offers_the_same(
    page: Page, server: Server, watches: list[Watch]
) -> None:
    watches[0].expect("404")
    page.goto(failed_upload(server)["url"])
    card = page.get_by_role("alert")
    expect(card.locator(".groups li")).to_have_count(2)
    card.get_by_role("button", name="Make 2 profiles").click()
    expect(card.locator(".groups a")).to_have_count(2)
    page.reload()
    expect(page.get_by_role("heading", name="There is no profile")).to_be_visible()


def test_split_that_fails_says_why(page: Page, server: Server, watches: list[Watch]) -> None:
    watches[0].expect("404")
    refused = failed_upload(server)
    page.goto(refused["url"])
    button = page.get_by_role("button", name="Make 2 profiles")
    expect(button).to_be_visible()
    httpx.delete(f"{server.url}/api/v1/profiles/{refused['id']}").raise_for_status()
    button.click()
    expect(page.locator("[data-message]")).to_contain_text("There is no profile")
    expect(page.locator("[data-split]")).to_be_hidden()


def test_other_people_see_the_groups_and_no_buttons(new_page: NewPage, tmp_path: Path) -> None:
    settings = {"ROOFLINE_AUTH": "token", "ROOFLINE_TOKEN": TOKEN}
    with serving(tmp_path, settings) as guarded:
        refused = failed_upload(guarded, authorization=f"Bearer {TOKEN}")
        page = new_page(guarded.url)
        page.goto(refused["url"])
        page.get_by_label("Token").fill(TOKEN)
        page.get_by_role("button", name="Log in").click()
        expect(page.locator(".groups li")).to_have_count(2)
        expect(page.locator("[data-split] button")).to_have_count(0)
