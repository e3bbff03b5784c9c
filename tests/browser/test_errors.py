"""What a user sees when something is wrong: the file, the address, the server."""

import io
import json
import re
import sqlite3
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from playwright.sync_api import Locator, Page, expect

from roofline.storage.database import FILE_NAME as DATABASE
from tests.browser.conftest import NewPage
from tests.browser.files import drop
from tests.browser.serving import Server, serving
from tests.browser.watching import Watch, is_ready


def _zip_of(name: str, content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return packed.getvalue()


BAD_FILES: dict[str, Callable[[bytes], bytes]] = {
    "empty.pb": lambda capture: b"",
    "notes.txt": lambda capture: b"These are notes about a profile, not a profile.\n" * 40,
    "random.pb": lambda capture: Random(0).randbytes(50_000),
    "cut.pb": lambda capture: capture[: len(capture) // 2],
    "page.html": lambda capture: b"<!doctype html><script>document.title = 'owned'</script>",
    "nested.zip": lambda capture: _zip_of("inner.zip", _zip_of("host.pb", capture)),
    "holds-no-profile.zip": lambda capture: _zip_of("readme.txt", b"nothing here"),
}


# Its clock stands, and its timer of two seconds takes a minute.
PATIENT = """performance.now = () => 0;
const timed = window.setTimeout;
window.setTimeout = (then, ms, ...given) => timed(then, ms === 2000 ? 60_000 : ms, ...given);"""


@pytest.fixture
def patient_page(page: Page, watches: list[Watch]) -> Page:
    """A page that waits for its import on the home page, however slow this machine is.

    Others go on at the profile's own address after two seconds of the page's clock.
    """
    watches[0].expect("415")  # of an import that fails before the upload is answered
    page.add_init_script(PATIENT)
    return page


def is_explained(page: Page, name: str) -> Locator:
    """The error card: what is wrong with the file `name`, what to do, and where the reader is."""
    alert = page.get_by_role("alert")
    expect(alert.locator("[data-message]")).to_contain_text(name)
    expect(alert.locator("[data-message]")).to_be_focused()
    expect(alert.locator("[data-remedy]")).to_have_text(re.compile(r"\w+.*\."))
    return alert


def kept(server: Server) -> set[str]:
    root = server.data_dir
    folders = ("blobs", "profiles", "incoming", "derived")
    return {
        str(path.relative_to(root))
        for folder in folders
        for path in (root / folder).rglob("*")
        if path.is_file()
    }


def is_at_rest(server: Server) -> bool:
    """Whether no import of an earlier test is under way."""
    path = server.data_dir / DATABASE
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as database:
        count = "SELECT count(*) FROM job WHERE state IN ('queued', 'running')"
        result: bool = database.execute(count).fetchone() == (0,)
        return result


def eventually(claim: Callable[[], bool]) -> None:
    """Waits for what the server does right after it answered."""
    deadline = time.monotonic() + 30
    while not claim():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_file_is_explained_and_leaves_nothing_but_itself(
    patient_page: Page, server: Server, capture: Path, tmp_path: Path, name: str
) -> None:
    page = patient_page
    path = tmp_path / name
    path.write_bytes(BAD_FILES[name](capture.read_bytes()))
    page.goto("/")
    eventually(lambda: is_at_rest(server))
    before = kept(server)
    drop(page, path)
    is_explained(page, name.removesuffix(".pb") if name == "cut.pb" else name)
    assert page.evaluate("location.pathname") == "/"
    eventually(lambda: all(path.startswith("blobs/") for path in kept(server) - before))
    assert len(kept(server) - before) <= 1, "the file itself, for a week"
    expect(page).to_have_title("Roofline")


def test_another_file_can_be_chosen_after_an_error(
    patient_page: Page, capture: Path, tmp_path: Path
) -> None:
    page = patient_page
    path = tmp_path / "notes.txt"
    path.write_text("not a profile " * 100)
    page.goto("/")
    drop(page, path)
    alert = is_explained(page, "notes.txt")
    with page.expect_file_chooser() as chooser:
        alert.get_by_role("button", name="Choose other files").click()
    chooser.value.set_files(capture)
    is_ready(page)


def test_report_can_be_copied(new_page: NewPage, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a profile " * 100)
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    page.goto("/")
    drop(page, path)
    alert = is_explained(page, "notes.txt")
    alert.get_by_text("Details").click()
    expect(alert.locator("[data-details]")).to_contain_text("unknown-format")
    alert.get_by_role("button", name="Copy report").click()
    expect(alert.get_by_role("button", name="Copied")).to_be_visible()
    report = page.evaluate("navigator.clipboard.readText()")
    for word in ("notes.txt", "1.37", "unknown-format", page.url, "Time: 20"):
        assert word in report


@pytest.fixture(scope="module")
def strict_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that takes two files of together 1,000 bytes."""
    limits = {"ROOFLINE_MAX_UPLOAD_BYTES": "1000", "ROOFLINE_MAX_FILES": "2"}
    with serving(tmp_path_factory.mktemp("strict"), limits) as running:
        yield running


@pytest.mark.parametrize(
    ("sizes", "message"),
    [((1001,), "more than this server takes"), ((1, 1, 1), "3 files are more than")],
)
def test_too_much_is_refused_before_it_is_sent(
    new_page: NewPage,
    watches: list[Watch],
    strict_server: Server,
    tmp_path: Path,
    sizes: tuple[int, ...],
    message: str,
) -> None:
    paths = [tmp_path / f"host_{number}.pb" for number in range(len(sizes))]
    for path, size in zip(paths, sizes, strict=True):
        path.write_bytes(b"x" * size)
    page = new_page(strict_server.url)
    page.goto("/")
    drop(page, *paths)
    expect(page.get_by_role("alert")).to_contain_text(message)
    assert not [url for url in watches[0].requests if "/api/" in url]


def test_failed_import_is_explained_at_its_own_address(
    new_page: NewPage, server: Server, watches: list[Watch], tmp_path: Path
) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a profile " * 100)
    page = new_page()
    watches[0].expect("415")  # of an import that fails before the upload is answered
    page.goto("/")
    with page.expect_response("**/api/v1/profiles?*") as answer:
        drop(page, path)
    address = answer.value.json()["url"]
    is_explained(page, "notes.txt")
    other = new_page()
    other.goto(address)
    expect(other.get_by_role("heading", level=1)).to_contain_text("notes.txt")
    expect(other.get_by_role("alert")).to_contain_text("What to do")
    other.get_by_role("link", name="Choose other files").click()
    expect(other.locator("#drop-zone")).to_be_visible()


@pytest.mark.parametrize("path", ["/nowhere", "/p/AAAAAAAAAAAAAAAAAAAAAA"])
def test_unknown_address_is_explained(page: Page, watches: list[Watch], path: str) -> None:
    watches[0].expect("404")  # the browser notes the status of the page itself
    answer = page.goto(path)
    assert answer is not None and answer.status == 404
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("There is no"))
    expect(page.get_by_text("What to do")).to_be_visible()
    expect(page).to_have_title("Not found · Roofline")
    page.get_by_role("link", name="Go to the home page").click()
    expect(page.locator("#drop-zone")).to_be_visible()


def test_remedy_shows_commands_as_commands(page: Page, capture: Path) -> None:
    """A failed import whose remedy names a command between backticks."""
    failed = {"state": "failed", "message": "No <b>bytes</b>.", "remedy": "Run `ncu --set full`."}
    told = f"event: failed\ndata: {json.dumps({**failed, 'code': 'incomplete-profile'})}\n\n"
    page.route(
        "**/api/v1/profiles/*/events",
        lambda route: route.fulfill(content_type="text/event-stream", body=told),
    )
    page.goto("/")
    drop(page, capture)
    alert = page.get_by_role("alert")
    expect(alert.locator("[data-message]")).to_have_text("No <b>bytes</b>.")
    expect(alert.locator("code")).to_have_text("ncu --set full")
