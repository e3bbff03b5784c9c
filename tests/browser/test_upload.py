"""From files to a profile: drop, choose, paste, several hosts, cancel, reload, lost connection."""

import gzip
import json
import re
import zipfile
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser import view
from tests.browser.accessibility import AXE
from tests.browser.conftest import ROOT, NewPage
from tests.browser.files import drag, drop, paste
from tests.browser.freezing import frozen, frozen_imports
from tests.browser.serving import Server
from tests.browser.watching import Watch, is_ready

SLOWED = ROOT / "tests" / "golden" / "xspace" / "s10_v6e_dvfs_overlap" / "host_0.xplane.pb"
PROFILE_ADDRESS = re.compile(r"/p/[A-Za-z0-9_-]{16,}")


def throttle(page: Page, *, bytes_per_second: int) -> None:
    """Makes uploads of this page slow."""
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    network.send(
        "Network.emulateNetworkConditions",
        {
            "offline": False,
            "latency": 0,
            "downloadThroughput": -1,
            "uploadThroughput": bytes_per_second,
        },
    )


def is_profile_of(page: Page, device: str) -> None:
    is_ready(page)
    assert PROFILE_ADDRESS.search(page.url)
    expect(page.locator("#device-info")).to_contain_text(device)
    for chart in ("#program-chart", "#op-chart"):
        expect(page.locator(f"{chart} .scatterlayer .trace").first).to_be_visible()


def test_dropped_file_becomes_a_page(page: Page, capture: Path) -> None:
    page.goto("/")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(urlsplit(request.url).path))
    drop(page, capture)
    is_profile_of(page, "TPU v4")
    # What the page loads was fetched while the file was read.
    opened = asked.index(urlsplit(page.url).path)
    static = [{path for path in part if "/static/" in path} for part in (asked[:opened], asked)]
    assert len(static[0]) == 4
    kinds = (".bundle.js", ".bundle.css", ".min.js", "plotly.css")
    assert static[0] == {path for path in static[1] if path.endswith(kinds)}
    expect(page).to_have_title(re.compile("train_step"))
    expect(page.locator("#op-table tbody tr").first).to_be_visible()


def test_real_capture_shows_its_device_and_ops(page: Page, real_capture: Path) -> None:
    page.goto("/")
    drop(page, real_capture)
    is_profile_of(page, "TPU v6 Lite")
    device = page.locator("#device-info")
    expect(device).to_contain_text(re.compile(r"918\sTFLOP/s"))
    expect(device).to_contain_text(re.compile(r"1,638\sGB/s"))
    assert len(set(view.all_names(page)) - {"IDLE"}) == 17


def test_dragging_shows_the_target_anywhere_on_the_window(page: Page, capture: Path) -> None:
    page.goto("/")
    transfer = drag(page, [capture], target="#formats")
    expect(page.locator("#drop-title")).to_have_text("Release to add the files")
    expect(page.locator("body")).to_have_class(re.compile("dragging"))
    page.dispatch_event("#formats", "dragleave", {"dataTransfer": transfer})
    expect(page.locator("#drop-title")).to_have_text("Drop profile files here")
    drop(page, capture, target="#formats")
    is_ready(page)


def test_dragged_text_is_left_alone(page: Page) -> None:
    page.goto("/")
    transfer = page.evaluate_handle(
        "() => { const t = new DataTransfer(); t.setData('text/plain', 'x'); return t; }"
    )
    page.dispatch_event("#drop-zone", "dragenter", {"dataTransfer": transfer})
    expect(page.locator("body")).not_to_have_class(re.compile("dragging"))


def test_chosen_file_becomes_a_page(page: Page, capture: Path) -> None:
    page.goto("/")
    with page.expect_file_chooser() as chooser:
        page.get_by_text("Choose files").click()
    chooser.value.set_files(capture)
    is_profile_of(page, "TPU v4")


def test_pasted_file_becomes_a_page(page: Page) -> None:
    """Its clock differed from the default one: the page can be by the peaks of either."""
    page.goto("/")
    paste(page, SLOWED)
    is_profile_of(page, "TPU v6")
    clock = page.get_by_role("switch", name="DVFS × 0.916")
    strip = page.locator("[data-device-strip]")
    expect(strip).to_contain_text("918")
    clock.check()
    page.wait_for_url("**dvfs=on*")
    is_ready(page)
    expect(strip).to_contain_text("840.44")
    note = page.locator("[data-range-note]")
    expect(note).to_contain_text("at the clock that ran")
    expect(clock).to_be_checked()
    page.locator("[data-subject-chip]").click()
    note.get_by_role("link", name="Use the peaks of the default clock").click()
    is_ready(page)
    expect(strip).to_contain_text("918")


def test_a_file_is_added_to_a_profile_that_the_drop_zone_names(page: Page, captures: Path) -> None:
    first, second, _ = sorted(captures.glob("*.pb"))
    page.goto("/")
    drop(page, first)
    is_profile_of(page, "TPU v4")
    own = page.url
    page.get_by_role("button", name="Share").click()
    page.get_by_role("link", name="Add a file").click()
    expect(page.locator("[data-drop-title]")).to_have_text("Drop other files of “train_step” here")
    expect(page.locator("#drop-zone a").first).to_have_attribute("href", urlsplit(own).path)
    drop(page, second)
    is_profile_of(page, "TPU v4")
    assert page.url != own
    expect(page.locator("#device-info")).to_contain_text(re.compile(r"2\s*hosts|Hosts\s*2", re.I))
    page.goto(own)
    is_profile_of(page, "TPU v4")


def test_several_files_are_hosts_of_one_profile(page: Page, captures: Path) -> None:
    page.goto("/")
    drop(page, *sorted(captures.glob("*.pb")))
    is_profile_of(page, "TPU v4")
    expect(page.locator("#device-info")).to_contain_text(re.compile(r"3\s*hosts|Hosts\s*3", re.I))
    page.locator("[data-host-choice]").select_option(index=1)
    page.wait_for_url("**host=*")
    is_ready(page)
    expect(page.locator("[data-range-note]")).to_contain_text("one of 3")
    page.set_viewport_size({"width": 390, "height": 800})
    page.get_by_role("button", name="Perfetto…").click()
    viewer = page.get_by_role("dialog", name="Open in a viewer of traces")
    box = viewer.bounding_box()
    assert box and box["x"] >= 0 and box["x"] + box["width"] <= 390
    viewer.get_by_role("textbox").fill("javascript:alert(1)")
    viewer.get_by_role("button", name="Open").click()
    expect(viewer.get_by_role("alert")).to_be_visible()
    page.evaluate(AXE.read_text("utf-8"))
    parts = ["#device-info", "#menu-open-in"]
    assert not page.evaluate("(parts) => axe.run(parts).then((found) => found.violations)", parts)
    page.goto("/")
    expect(page.locator("[data-recent] tbody tr").first).to_contain_text("3 hosts")


@pytest.mark.parametrize("packing", ["gzip", "zip"])
def test_packed_file_becomes_a_page(
    page: Page, capture: Path, tmp_path: Path, packing: str
) -> None:
    packed = tmp_path / f"host_0.xplane.pb.{packing}"
    if packing == "gzip":
        packed.write_bytes(gzip.compress(capture.read_bytes()))
    else:
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.write(capture, "plugins/profile/run/host_0.xplane.pb")
    page.goto("/")
    drop(page, packed)
    is_profile_of(page, "TPU v4")


def test_profile_survives_a_reload(profile: Page) -> None:
    address = profile.url
    profile.reload()
    is_profile_of(profile, "TPU v4")
    assert profile.url == address


def test_back_from_a_new_profile_is_the_home_page(page: Page, capture: Path) -> None:
    page.goto("/")
    drop(page, capture)
    is_ready(page)
    page.go_back()
    expect(page.locator("#drop-zone")).to_be_visible()
    expect(page.locator("[data-recent] tbody tr").first).to_contain_text("train_step")


@pytest.fixture
def large_file(tmp_path: Path) -> Path:
    """A file that takes seconds to send to `throttle`d pages; it is never read."""
    path = tmp_path / "large.xplane.pb"
    path.write_bytes(bytes(4_000_000))
    return path


def test_upload_counts_bytes_and_can_be_cancelled(
    page: Page, server: Server, large_file: Path
) -> None:
    page.goto("/")
    before = page.locator("[data-recent] tbody tr").count()
    throttle(page, bytes_per_second=200_000)
    drop(page, large_file)
    card = page.get_by_label("Import in progress")
    detail = card.locator("[data-step=upload] [data-detail]")
    expect(detail).to_have_text(re.compile(r"[1-9]\d?\u202f% of 3\.81\u00a0MiB, .*iB/s"))
    expect(card.locator("[data-left]")).to_have_text(re.compile(r"about \d+\u00a0s left"))
    expect(page).to_have_title(re.compile(r"^\d+\u202f% · large\.xplane\.pb"))
    card.get_by_role("button", name="Cancel").click()
    expect(page.locator("#drop-zone")).to_be_visible()
    expect(page.locator("#file")).to_be_focused()
    expect(page).to_have_title("Roofline")
    page.goto("/")
    expect(page.locator("[data-recent] tbody tr")).to_have_count(before)


def test_import_survives_a_reload_and_goes_on(page: Page, server: Server, capture: Path) -> None:
    page.goto("/")
    with frozen_imports(server):
        drop(page, capture)
        page.wait_for_url(PROFILE_ADDRESS)
        page.reload()
        card = page.get_by_label("Import in progress")
        expect(card).to_be_visible()
        expect(card.locator("[data-step=upload]")).to_have_attribute("data-state", "done")
        expect(page).to_have_title(re.compile(r"^\d+\u202f% · host_0\.xplane\.pb · Roofline$"))
    is_profile_of(page, "TPU v4")


def test_leaving_an_import_goes_back_to_the_home_page(
    page: Page, server: Server, capture: Path
) -> None:
    page.goto("/")
    with frozen_imports(server):
        drop(page, capture)
        page.wait_for_url(PROFILE_ADDRESS)
        page.go_back()
        expect(page.locator("#drop-zone")).to_be_visible()


def test_progress_is_told_in_words_and_percent(page: Page, server: Server, capture: Path) -> None:
    """One event stands in for a long import."""
    progress = {"phase": "read", "fraction": 0.62, "overall": 0.5, "elapsed_s": 4.0}
    said = json.dumps({"state": "importing", "progress": progress})
    page.route(
        "**/events",
        lambda route: route.fulfill(
            body=f"event: importing\ndata: {said}\n\n", content_type="text/event-stream"
        ),
    )
    page.goto("/")
    with frozen_imports(server):
        drop(page, capture)
        page.wait_for_url(PROFILE_ADDRESS)
        card = page.get_by_label("Import in progress")
        expect(card.locator("[data-step=read] [data-detail]")).to_have_text("62\u202f%")
        expect(card.locator("[data-share]")).to_have_text("75\u202f%")
        expect(card.locator("[data-left]")).to_have_text("about 4\u00a0s left")
        expect(card.get_by_role("status")).to_have_text("Read events")


def test_import_can_be_cancelled(page: Page, server: Server, capture: Path) -> None:
    page.goto("/")
    with frozen_imports(server):
        drop(page, capture)
        page.wait_for_url(PROFILE_ADDRESS)
        address = page.url
        page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#drop-zone")).to_be_visible()
    assert page.evaluate("location.pathname") == "/"
    listed = page.locator(f"[data-recent] a[href='{urlsplit(address).path}']")
    expect(listed).to_have_count(0)


def test_only_who_uploaded_may_cancel(
    page: Page, new_page: NewPage, server: Server, capture: Path
) -> None:
    page.goto("/")
    with frozen_imports(server):
        drop(page, capture)
        page.wait_for_url(PROFILE_ADDRESS)
        expect(page.get_by_role("button", name="Cancel")).to_be_visible()
        guest = new_page()
        guest.goto(page.url)
        expect(guest.get_by_label("Import in progress")).to_be_visible()
        expect(guest.get_by_role("button", name="Cancel")).to_be_hidden()
    for opened in (page, guest):
        is_profile_of(opened, "TPU v4")


def test_cancel_after_the_last_byte_still_ends_the_import(
    page: Page, server: Server, capture: Path
) -> None:
    """The server's answer comes after the click: the profile it names is deleted."""
    page.goto("/")
    with (
        page.expect_response(lambda answer: answer.request.method == "DELETE") as deleted,
        frozen(server),
    ):
        drop(page, capture)
        detail = page.locator("[data-step=upload] [data-detail]")
        expect(detail).to_have_text("the server is taking it in")
        page.get_by_role("button", name="Cancel").click()
        expect(page.locator("#drop-zone")).to_be_visible()
    assert deleted.value.status == 204


def test_waiting_for_a_sample_can_be_given_up_without_deleting_it(page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.method))
    page.route(
        "**/api/v1/samples/*",
        lambda route: route.fulfill(
            status=201, json={"id": "s", "url": f"{page.url}p/s", "state": "importing"}
        ),
    )
    page.route("**/api/v1/profiles/s/events", lambda _: None)
    page.goto("/")
    page.locator("[data-sample]").first.click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#drop-zone")).to_be_visible()
    assert "DELETE" not in asked


def test_lost_connection_keeps_the_files_for_another_try(
    page: Page, watches: list[Watch], capture: Path
) -> None:
    watches[0].expect("ERR_INTERNET_DISCONNECTED")
    page.goto("/")
    page.context.set_offline(True)
    drop(page, capture)
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("The server could not be reached.")
    expect(alert.locator("[data-message]")).to_be_focused()
    page.context.set_offline(False)
    alert.get_by_role("button", name="Try again").click()
    is_profile_of(page, "TPU v4")


def test_server_that_does_not_answer_is_asked_again(
    page: Page, server: Server, capture: Path
) -> None:
    page.goto("/")
    with frozen_imports(server):
        drop(page, capture)
        page.wait_for_url(PROFILE_ADDRESS)
        expect(page.get_by_role("progressbar", name="Import")).to_be_visible()
        with frozen(server):
            trouble = page.get_by_text("The server does not answer.")
            expect(trouble).to_be_visible(timeout=10_000)
        expect(trouble).to_be_hidden()
    is_profile_of(page, "TPU v4")


def hold_import(page: Page) -> None:
    """Answers in place of the server: an import that is ready when it is first asked for."""
    address = f"{page.url}p/none"
    page.route(
        "**/api/v1/samples/*",
        lambda route: route.fulfill(
            status=201, json={"id": "x", "url": address, "state": "importing"}
        ),
    )
    page.route(
        "**/api/v1/profiles/x/events",
        lambda route: route.fulfill(
            content_type="text/event-stream", body='event: ready\ndata: {"state": "ready"}\n\n'
        ),
    )
    page.route("**/p/none", lambda route: route.fulfill(body="<title>next</title>"))
    page.evaluate(
        """() => new MutationObserver(() => sessionStorage.setItem("shown", "yes"))
          .observe(document.querySelector("[data-import-card]"), { attributeFilter: ["hidden"] })"""
    )


def test_sample_that_was_opened_before_never_flashes_the_card(fresh_page: Page) -> None:
    """The page's clock stands still, so the import takes no time for the page."""
    page = fresh_page
    page.clock.install()
    page.goto("/")
    page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 1)
    hold_import(page)
    page.locator("[data-sample]").first.click()
    expect(page).to_have_title("next")
    assert page.evaluate("sessionStorage.getItem('shown')") is None


def test_card_of_an_upload_is_there_at_once(fresh_page: Page, capture: Path) -> None:
    """The page's clock stands still: nothing is waited for, and the server has not answered."""
    page = fresh_page
    page.clock.install()
    page.goto("/")
    page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 1)
    page.route("**/api/v1/profiles?*", lambda route: None)  # never answered
    drop(page, capture)
    card = page.get_by_label("Import in progress")
    expect(card).to_be_visible()
    expect(card.locator("[data-name]")).to_have_text("host_0.xplane.pb")
    expect(card.locator("[data-name]")).to_be_focused()
