"""The page of a run of hosts in a browser, from its file: map, drawer, tables, keys."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from roofline.exports.run_report import run_record
from roofline.pods.reduce import reduce_run
from roofline.pods.report import Unreadable
from roofline.web.offline.report import run_file
from tests.browser.accessibility import assert_accessible_in_both_schemes
from tests.browser.conftest import NewPage
from tests.browser.watching import Watch, is_ready, layout_shift
from tests.pods import runs

BROKEN = Unreadable(name="<b>e</b>.pb", digest="1", reason="cut off at byte 7")
ONLY_THE_FILE = r"request to another host: file:.*/run\.html"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a run of 64 hosts, one of which is slow and one now and then."""
    hosts = runs.run(5, hosts=64, fault=runs.slow_chip(47, 1, 1.08))
    hosts[21] = runs.run(5, hosts=64, fault=runs.slow_now_and_then(21, [2, 5], 1.1))[21]
    hosts = [
        runs.with_collective(one, [[90_000 - 1_000 * k, 50_000]] * runs.CHIPS, group_size=4 * 64)
        for k, one in enumerate(hosts)
    ]
    file: Path = tmp_path_factory.mktemp("run") / "run.html"
    file.write_bytes(run_file(run_record(reduce_run(hosts, [BROKEN])), "A run"))
    return file.as_uri()


def test_the_slow_host_is_found_and_opened(
    new_page: NewPage, watches: list[Watch], address: str
) -> None:
    page = new_page()
    watches[0].expect(ONLY_THE_FILE)
    page.goto(address)
    is_ready(page)
    expect(page.locator("h1")).to_contain_text("host-0047 is slow")
    expect(page.locator(".heat > i")).to_have_count(65)
    expect(page.locator(".heat .heat-8")).to_have_count(1)
    expect(page.locator(".heat .unread")).to_have_count(1)
    expect(page.locator("[data-histogram] .barlayer .point").first).to_be_attached()
    expect(page.locator("[data-roofline] .tracemarks-1 .point").first).to_be_attached()
    page.get_by_role("link", name="host-0047").click()
    expect(page.locator("[data-roofline] .point.selected")).to_have_count(10)
    drawer = page.get_by_role("complementary", name="host-0047")
    expect(drawer).to_contain_text("takes 8")
    expect(drawer.locator(".dumb.ops tbody tr")).to_have_count(10)
    expect(drawer.locator(".facts")).to_contain_text(re.compile(r"Stepthis host .+, run .+Same"))
    assert "host=host-0047" in page.url
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()
    page.get_by_role("button", name="Wait").click()
    page.locator("[data-heat]").focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    expect(page.locator("[data-said]")).to_contain_text("host-0057, Wait")
    page.keyboard.press("Enter")
    expect(page.get_by_role("complementary", name="host-0057")).to_contain_text("has no verdict")
    page.get_by_role("button", name="Close").click()
    page.get_by_role("tab", name="Collectives").click()
    expect(page.locator("[data-table] tbody tr:visible")).to_contain_text(["all-reduce.1"])
    page.get_by_role("tab", name="Hosts").click()
    page.locator('[data-column="ratio"]').click()
    first = page.locator("[data-table] tbody tr").first
    expect(first).to_contain_text("host-0047")
    page.get_by_label("Name", exact=True).fill("<b>")
    expect(first).to_contain_text("unreadable")
    page.reload()
    is_ready(page)
    expect(first).to_contain_text("<b>e</b>.pb")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("host that stands out")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill("table of steps")
    page.keyboard.press("Enter")
    expect(page.get_by_role("tab", name="Steps")).to_have_attribute("aria-selected", "true")


def test_the_page_is_accessible_and_never_scrolls_sideways(
    page: Page, watches: list[Watch], address: str
) -> None:
    watches[0].expect(ONLY_THE_FILE)
    for width in (390, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(address)
        is_ready(page)
        assert layout_shift(page) < 0.02
        page.goto(f"{address}?host=host-0047")
        is_ready(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        if width < 1920:
            assert_accessible_in_both_schemes(page)
