"""The home page: empty, with recent profiles and samples, and what it says about itself."""

import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser import view
from tests.browser.conftest import NewPage
from tests.browser.serving import Server, serving
from tests.browser.watching import Watch, is_ready, layout_shift

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def empty_server(tmp_path_factory: pytest.TempPathFactory, capture: Path) -> Iterator[Server]:
    """A server without profiles at first, which watches a folder with the run of one host in it."""
    bucket = tmp_path_factory.mktemp("bucket")
    session = bucket / "plugins" / "profile" / "2026_11_22"
    session.mkdir(parents=True)
    shutil.copy(capture, session)
    settings = {"ROOFLINE_BUCKETS": str(bucket), "ROOFLINE_WATCH": "1"}
    with serving(tmp_path_factory.mktemp("empty"), settings) as running:
        yield running


@pytest.fixture(scope="module")
def crowded_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with 25 profiles."""
    sample = ROOT / "sample_profiles" / "generic" / "attention-h100.json"
    with serving(tmp_path_factory.mktemp("crowded")) as running:
        files = {"file": (sample.name, sample.read_bytes())}
        address = f"{running.url}/api/v1/profiles?wait=60"
        httpx.post(address, files=files, timeout=90).raise_for_status()
        with closing(sqlite3.connect(running.data_dir / "roofline.db")) as rows, rows:
            names = [row[1] for row in rows.execute("pragma table_info(profile)")][1:]
            kept = ", ".join(names)
            for copy in range(24):
                read = kept.replace("id,", f"'copy-{copy}',", 1)
                rows.execute(f"insert into profile ({kept}) select {read} from profile limit 1")
        yield running


def test_empty_home_says_what_will_be_listed(new_page: NewPage, empty_server: Server) -> None:
    page = new_page(empty_server.url)
    page.goto("/")
    expect(page.get_by_role("heading", level=1)).to_have_text("See what bounds your program")
    expect(page.get_by_text("Nothing here yet")).to_be_visible()
    expect(page.locator("[data-recent-search]")).to_have_count(0)
    expect(page.get_by_text("Files stay on this server")).to_be_visible()


def test_a_run_that_was_found_is_imported_and_its_link_copied(
    new_page: NewPage, empty_server: Server, watches: list[Watch]
) -> None:
    page = new_page(empty_server.url, permissions=["clipboard-read", "clipboard-write"])
    page.goto("/")
    found = page.get_by_role("button", name="Import 2026_11_22")
    for _ in range(100):  # the watch looks once a second
        if found.count():
            break
        page.wait_for_timeout(200)
        page.reload()
    page.route("**/api/v1/runs", lambda route: route.abort())
    watches[0].expect("ERR_FAILED")
    found.click()
    expect(page.get_by_role("alert").filter(visible=True)).to_contain_text("could not be reached")
    expect(found).to_be_enabled()
    page.unroute("**/api/v1/runs")
    with page.expect_request("**/api/v1/runs"):
        found.click()
    page.wait_for_url("**/r/*")
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator("[data-toast]")).to_contain_text("Link copied")
    assert page.evaluate("navigator.clipboard.readText()") == page.url


def test_script_example_names_this_server(page: Page, server: Server) -> None:
    page.goto("/")
    expect(page.locator("#curl-line")).to_contain_text(f"{server.url}/api/v1/profiles")


def test_command_can_be_copied(new_page: NewPage, server: Server) -> None:
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    page.goto("/")
    page.get_by_role("button", name="Copy the command").click()
    expect(page.locator("[data-copy=curl-line]")).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.locator("#curl-line").text_content()


def test_recent_profile_is_listed_with_its_goal_and_age(page: Page, capture: Path) -> None:
    page.goto("/")
    page.set_input_files("#file", capture)
    is_ready(page)
    page.goto("/")
    row = page.locator("[data-recent] tbody tr").first
    expect(row).to_contain_text("train_step")
    expect(row).to_contain_text("TPU v4")
    expect(row.locator("[data-q=length]")).to_have_text(re.compile(r"^[\d.]+\u00a0.?s$"))
    expect(row.locator("[data-q=roof_share]")).to_have_text(re.compile(r"^\d+\u202f%$"))
    expect(row.locator("time")).to_have_text(re.compile("just now|min ago"))


def test_recent_profile_opens(page: Page, profile_url: str) -> None:
    page.goto("/")
    page.locator("[data-recent] tbody tr a").first.click()
    is_ready(page)
    expect(page.locator("#op-table")).to_be_visible()


def test_search_narrows_the_list_and_can_be_undone(page: Page, profile_url: str) -> None:
    page.goto("/")
    rows = page.locator("[data-recent] tbody tr:visible")
    total = rows.count()
    page.get_by_label("Search profiles").fill("HOST_0 v4")
    page.wait_for_url("**/?q=HOST_0+v4")
    expect(rows.first).to_be_visible()
    page.get_by_label("Search profiles").fill("no such profile")
    expect(page.get_by_text("No profile matches")).to_be_visible()
    page.get_by_role("link", name="Show all").click()
    expect(rows).to_have_count(total)
    expect(page.get_by_label("Search profiles")).to_have_value("")


def test_search_survives_a_reload(page: Page, profile_url: str) -> None:
    page.goto("/?q=host_0+v4")
    expect(page.get_by_label("Search profiles")).to_have_value("host_0 v4")
    expect(page.locator("[data-recent] tbody tr").first).to_contain_text("train_step")
    page.keyboard.press("/")
    expect(page.get_by_label("Search profiles")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("Next and previous profile")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill("calculator")
    page.keyboard.press("Enter")
    page.wait_for_url("**/calculator")


def test_title_note_and_tags_are_edited_beside_the_title(
    new_page: NewPage, empty_server: Server, capture: Path
) -> None:
    page = new_page(empty_server.url)
    page.goto("/")
    page.set_input_files("#file", capture)
    is_ready(page)
    view.share(page, "About this profile")
    dialog = page.get_by_role("dialog", name="About this profile")
    dialog.get_by_label("Title").fill("Step <b>7</b> & more")
    dialog.get_by_label("Note").fill("Look at the copies")
    dialog.get_by_label("Tags").fill("nightly, llama")
    dialog.get_by_label("List it first").check()
    dialog.get_by_role("button", name="Save").click()
    expect(page.locator(".crumb")).to_contain_text("Step <b>7</b> & more")
    is_ready(page)
    view.share(page, "About this profile")
    expect(dialog.get_by_label("Note")).to_have_value("Look at the copies")
    dialog.get_by_role("link", name="llama").click()
    row = page.locator("[data-recent] tbody tr").first
    expect(row).to_contain_text("Step <b>7</b> & more")
    expect(row.get_by_label("Pinned")).to_be_visible()
    row.get_by_role("link", name="nightly").click()
    folders = page.get_by_role("navigation", name="Folders")
    expect(folders.locator("[aria-current]")).to_have_text(re.compile(r"^nightly [1-9]\d*$"))
    folders.get_by_role("link", name="All").click()
    expect(folders.locator("[aria-current]")).to_have_text(re.compile(r"^All [1-9]\d*$"))
    name, device = (
        page.locator(f"[data-recent] tbody {part}").first.bounding_box() for part in ("th", "td")
    )
    assert name and device and name["width"] > 2 * device["width"]


def test_refused_edit_says_why_and_keeps_what_was_written(
    profile: Page, watches: list[Watch]
) -> None:
    page = profile
    watches[0].expect("status of 400")
    view.share(page, "About this profile")
    dialog = page.get_by_role("dialog", name="About this profile")
    dialog.get_by_label("Tags").fill("x" * 80)
    with page.expect_response(lambda answer: answer.status == 400):
        dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_be_visible()
    expect(dialog.get_by_label("Tags")).to_have_value("x" * 80)


def test_profile_is_deleted_after_a_second_click(fresh_page: Page, capture: Path) -> None:
    page = fresh_page
    page.clock.install()
    page.goto("/")
    page.set_input_files("#file", capture)
    is_ready(page)
    path = urlsplit(page.url).path
    view.share(page, "About this profile")
    page.get_by_role("button", name="Delete profile").click()
    sure = page.get_by_role("button", name="Move it to the trash")
    expect(sure).to_be_visible()
    page.clock.run_for(1000)  # a double click must not be enough
    sure.click()
    expect(page.locator("#drop-zone")).to_be_visible()
    expect(page.locator(f"[data-recent] a[href='{path}']")).to_have_count(0)


def test_sample_opens_with_one_click(page: Page) -> None:
    page.goto("/")
    samples = page.locator("[data-sample]")
    if samples.count() == 0:
        pytest.skip("this build has no sample profiles")
    samples.first.click()
    is_ready(page)
    expect(page.locator("#op-table tbody tr").first).to_be_visible()


def test_formats_are_listed_with_how_to_export_them(page: Page) -> None:
    page.goto("/")
    page.get_by_role("link", name="Formats", exact=True).click()
    formats = page.locator("#formats")
    expect(formats).to_be_in_viewport()
    for word in (".xplane.pb", "JAX", "TensorFlow", "PyTorch/XLA", "gzip, zip, tar"):
        expect(formats).to_contain_text(word)
    command = formats.get_by_text("ncu --set full")
    expect(command).to_be_hidden()
    formats.get_by_role("heading", name="Nsight Compute").click()
    expect(command).to_be_visible()


def test_api_page_lists_every_endpoint(page: Page, server: Server) -> None:
    page.goto("/api")
    document = page.request.get("/openapi.json").json()
    operations = [(path, method) for path, item in document["paths"].items() for method in item]
    expect(page.locator("section.endpoint h2")).to_have_count(len(operations))
    for path, method in operations:
        heading = page.locator("section.endpoint h2", has_text=re.compile(f"{re.escape(path)}$"))
        expect(heading.locator(f".verb.{method}")).to_have_count(1)
    expect(page.locator("#first-steps")).to_contain_text(server.url)


def test_many_rows_are_few_requests_and_do_not_move(
    new_page: NewPage, crowded_server: Server
) -> None:
    """However many rows there are, with the picture of each."""
    page = new_page(crowded_server.url)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto("/")
    page.wait_for_load_state("networkidle")
    expect(page.locator("[data-recent] .thumb svg")).to_have_count(25)
    assert len(asked) <= 15
    assert layout_shift(page) < 0.02
    for width in (390, 1024):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, width


def test_the_list_needs_no_script(new_page: NewPage, crowded_server: Server) -> None:
    page = new_page(crowded_server.url, java_script_enabled=False)
    page.goto("/")
    row = page.locator("[data-recent] tbody tr").first
    expect(row.locator(".goal-line")).to_contain_text("would do")
    expect(row.locator("[data-q=saving]")).to_be_visible()
    expect(row.locator(".thumb svg")).to_be_visible()


def test_a_pair_of_samples_opens_their_comparison(page: Page) -> None:
    page.goto("/")
    page.get_by_role("button", name="To compare").click()
    page.wait_for_url("**/c/*..*")
    expect(page.locator("h1")).to_contain_text("less a step")
