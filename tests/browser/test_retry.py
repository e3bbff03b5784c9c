"""A failed import in the browser: the server has kept the files, and one button tries again."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from roofline.storage.database import FILE_NAME as DATABASE
from tests.browser.conftest import NewPage
from tests.browser.files import drop
from tests.browser.serving import Server, serving
from tests.browser.watching import is_ready
from tests.conftest import SAMPLES

V6E = SAMPLES / "xspace" / "v6e-training.xplane.pb"
TOKEN = "correct horse battery staple"


def interrupted(server: Server, **headers: str) -> str:
    """The address of a profile as its import ends when its server died three times."""
    files = {"file": (V6E.name, V6E.read_bytes())}
    api = f"{server.url}/api/v1/profiles"
    answer = httpx.post(f"{api}?wait=60", files=files, headers=headers, timeout=90).json()
    with contextlib.closing(sqlite3.connect(server.data_dir / DATABASE, timeout=10)) as database:
        database.execute(
            "UPDATE profile SET state = 'failed', error_code = 'import-stopped', error_message ="
            " 'The import was interrupted 3 times: its server or worker ended each time.',"
            " error_remedy = 'Try again.' WHERE id = ?",
            [answer["id"]],
        )
        database.commit()
    url: str = answer["url"]
    return url


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path) as running:
        yield running


def test_failed_import_is_tried_again_with_one_click(own_server: Server, new_page: NewPage) -> None:
    page = new_page(own_server.url)
    interrupted(own_server)
    page.goto("/")
    page.get_by_role("button", name="Retry").click()
    is_ready(page)
    page.goto(interrupted(own_server))
    card = page.get_by_role("alert")
    expect(card.locator("[data-message]")).to_contain_text("interrupted 3 times")
    card.get_by_role("button", name="Try again").click()
    is_ready(page)
    expect(page).to_have_url(page.url)


def test_file_that_cannot_be_read_offers_no_other_try(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("These are notes, not a profile.\n" * 40)
    page.goto("/")
    drop(page, path)
    card = page.get_by_role("alert")
    expect(card.locator("[data-message]")).to_contain_text("notes.txt")
    expect(card.get_by_role("button", name="Try again")).to_be_hidden()


def test_other_people_see_the_failure_and_no_button(new_page: NewPage, tmp_path: Path) -> None:
    settings = {"ROOFLINE_AUTH": "token", "ROOFLINE_TOKEN": TOKEN}
    with serving(tmp_path, settings) as guarded:
        address = interrupted(guarded, authorization=f"Bearer {TOKEN}")
        page = new_page(guarded.url)
        page.goto(address)
        page.get_by_label("Token").fill(TOKEN)
        page.get_by_role("button", name="Log in").click()
        expect(page.locator("[data-message]")).to_contain_text("interrupted 3 times")
        expect(page.locator("[data-retry]")).to_be_hidden()
        expect(page.get_by_role("link", name="Choose other files")).to_be_visible()
        page.wait_for_load_state("networkidle")  # before the server goes
