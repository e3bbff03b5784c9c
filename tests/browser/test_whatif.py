"""What if: other peaks, another device, several devices side by side; all of it in the address."""

import re
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, Route, expect

from tests.browser import view
from tests.browser.conftest import ROOT, NewPage, uploaded
from tests.browser.watching import UNUSED_PRELOAD, Watch, is_ready

KERNELS = ROOT / "sample_profiles" / "nsight_compute" / "a100-kernels.ncu-rep"


@pytest.fixture(scope="module")
def kernels_url(visitor: BrowserContext) -> str:
    """The address of a report of single kernels: hardware counters, several memory levels."""
    return uploaded(visitor, KERNELS)


def open_at(new_page: NewPage, url: str, query: str = "") -> Page:
    page = new_page()
    page.goto(f"{urlsplit(url).path}{query}")
    is_ready(page)
    return page


def open_devices(page: Page, wanted: str = "") -> Locator:
    """Opens the menu of peaks and finds a device in it."""
    page.locator("[data-peaks-button]").click()
    page.locator("[data-device-search]").fill(wanted)
    return page.locator("[data-device-list] li:visible")


def headline(page: Page) -> str:
    return page.locator("[data-headline]").inner_text()


def seen(page: Page) -> dict[str, Any]:
    """What other peaks change."""
    return {
        "headline": headline(page),
        "strip": page.locator("[data-device-strip]").inner_text(),
        "first": view.rows(page).first.inner_text(),
        "steps": page.locator("[data-steps]").inner_text(),
        "groups": page.locator("[data-groups]").inner_text(),
        "roofs": page.locator("#op-chart [class*=tracenames] text").all_text_contents(),
    }


def pieces(page: Page) -> list[str]:
    """What the server writes again for each view; a part of it is folded."""
    found: list[str] = page.evaluate(
        """() => ["headline", "do-first", "lead", "device-pill", "device-peaks", "device-strip",
          "device-fields", "step-times", "steps", "used-shares", "op-clocks", "diagnostics"]
          .map((name) => document.querySelector(`[data-${name}]`).innerHTML)"""
    )
    return found


def test_another_device_changes_everything_and_reset_undoes_it(profile: Page) -> None:
    own = seen(profile)
    open_devices(profile, "h100 sxm").first.locator(".use").click()
    expect(profile.locator("[data-headline]")).to_contain_text("H100 SXM5 80GB")
    expect(profile.locator("[data-device-strip]")).to_contain_text("989.4 TFLOP/s")
    expect(profile.locator("[data-device-strip]")).to_contain_text("catalogue")
    view.has_query(profile, "dev", "h100-sxm")
    changed = seen(profile)
    assert all(changed[part] != own[part] for part in own)
    expect(profile.locator("[data-advice]")).to_contain_text("By the peaks that you chose.")
    profile.keyboard.press("Escape")
    profile.locator(".peaks-control [data-peaks-reset]").click()
    profile.wait_for_function("() => !new URLSearchParams(location.search).has('dev')")
    assert seen(profile) == own
    expect(profile.locator("[data-advice]")).not_to_contain_text("By the peaks that you chose.")


@pytest.mark.covers(216)
def test_an_edited_peak_is_in_the_link_and_a_fresh_browser_shows_the_same(
    profile: Page, new_page: NewPage
) -> None:
    profile.locator("[data-device-strip] .peak-value").nth(1).click()
    field = profile.locator("[data-peak=hbm]")
    expect(field).to_be_focused()
    field.fill("1.2 TB/s")
    field.press("Enter")
    view.has_query(profile, "peak.hbm", "1200")
    expect(profile.locator("[data-device-strip]")).to_contain_text("1,200 GB/s")
    expect(profile.locator("[data-device-strip]")).to_contain_text("set by you")
    field.fill("quick")
    field.press("Enter")
    expect(profile.get_by_role("alert")).to_contain_text("a positive number and a unit")
    view.has_query(profile, "peak.hbm", "1200")
    profile.keyboard.press("Escape")
    fresh = open_at(new_page, profile.url, f"?{urlsplit(profile.url).query}")
    assert seen(fresh) == seen(profile)
    assert pieces(fresh) == pieces(profile)
    assert view.names(fresh) == view.names(profile)


def test_the_old_view_stays_until_another_is_there_and_where_the_server_has_none(
    profile: Page, watches: list[Watch]
) -> None:
    watches[0].expect("status of 503")
    own = seen(profile)
    held: list[Route] = []
    profile.route("**/view?*", lambda route: held.append(route))
    open_devices(profile, "h100 sxm").first.locator(".use").click()
    main = profile.locator("#main")
    expect(main).to_have_attribute("aria-busy", "true")
    expect(main).to_have_class(re.compile(r"\bwaits\b"))
    assert seen(profile) == own
    busy = {"message": "The server is busy with other profiles.", "remedy": "Try again."}
    held.pop().fulfill(status=503, json={**busy, "code": "server-busy"})
    expect(profile.locator("[data-notice]")).to_contain_text("busy with other profiles. Try again.")
    expect(main).not_to_have_attribute("aria-busy", "true")
    assert seen(profile) == own
    assert "dev=" not in profile.url


def test_the_newest_choice_wins(profile: Page) -> None:
    held: list[Route] = []
    profile.route("**/view?dev=t4*", lambda route: held.append(route))
    open_devices(profile, "").filter(has_text="T4").first.locator(".use").click()
    profile.locator("[data-device-search]").fill("h100 sxm")
    profile.locator("[data-device-list] li:visible").first.locator(".use").click()
    expect(profile.locator("[data-headline]")).to_contain_text("H100 SXM5 80GB")
    assert len(held) == 1
    view.has_query(profile, "dev", "h100-sxm")
    expect(profile.locator("[data-peaks-choice]")).to_contain_text("H100")


def test_a_link_with_peaks_is_drawn_under_them_before_its_script_runs(
    new_page: NewPage, profile_url: str, watches: list[Watch]
) -> None:
    page = new_page()
    watches[-1].expect(UNUSED_PRELOAD)
    watches[-1].expect("ERR_FAILED")
    page.route("**/*.bundle.js", lambda route: route.abort())
    page.goto(f"{urlsplit(profile_url).path}?v=1&dev=h100-sxm&peak.hbm=3000")
    assert "H100 SXM5 80GB" in headline(page)
    expect(page.locator("[data-device-strip]")).to_contain_text("3,000 GB/s")
    expect(page.locator("[data-headline]")).to_be_visible()


def test_a_link_with_unknown_devices_and_peaks_says_so(
    new_page: NewPage, profile_url: str, watches: list[Watch]
) -> None:
    page = open_at(new_page, profile_url, "?v=1&dev=tpu-v99&peak.lds=3&vs=h100-sxm,gone")
    watches[-1].expect(UNUSED_PRELOAD)
    notice = page.locator("[data-notice]")
    for name in ("tpu-v99", "lds", "gone"):
        expect(notice).to_contain_text(f"“{name}”")
    expect(page.locator("[data-chart-legend]")).to_contain_text("H100 SXM5 80GB")
    assert "peaks of" not in headline(page)


@pytest.mark.covers(66, 67)
def test_other_hardware_joins_chart_and_tables(profile: Page) -> None:
    for name, chosen in (("tpu v5p", "tpu-v5p"), ("h100 sxm", "tpu-v5p,h100-sxm")):
        open_devices(profile, name).first.get_by_role("button", name="Compare").click()
        view.has_query(profile, "vs", chosen)
        profile.keyboard.press("Escape")
    legend = profile.locator("[data-chart-legend]")
    expect(legend).to_contain_text("TPU v5p, ridge 166 FLOP/B")
    heads = profile.locator("#op-table thead th").all_inner_texts()
    assert sum("at least" in head for head in heads) == 2
    rows = profile.locator("#hardware-table tbody tr")
    expect(rows.nth(2)).to_contain_text("H100 SXM5 80GB")
    expect(rows.nth(2)).to_contain_text("×")
    before = rows.count()
    profile.get_by_role("button", name="Remove TPU v5p").click()
    expect(rows.nth(1)).to_contain_text("H100 SXM5 80GB")
    assert before > 3, "the usual parts are listed, too"
    expect(legend).not_to_contain_text("TPU v5p")


@pytest.mark.covers(77, 97, 98, 126, 224)
def test_every_memory_level_of_an_op_is_joined(new_page: NewPage, kernels_url: str) -> None:
    page = open_at(new_page, kernels_url)
    expect(page.locator("#op-chart .xtitle")).to_contain_text("FLOP per byte of each memory level")
    legend = page.locator("[data-chart-legend]")
    expect(legend).to_contain_text("DRAM")
    expect(legend).to_contain_text("L2")
    before = joined_dots(page)
    assert before > view.result(page)[0]
    page.locator("#filter-name").fill(view.names(page)[0][:12])
    page.wait_for_function(f"() => ({_DOTS})() < {before}")
    assert 0 < joined_dots(page) < before


_DOTS = """() =>
  document.querySelectorAll("#op-chart .tracemarks-levels .point").length"""


def joined_dots(page: Page) -> int:
    return int(page.evaluate(f"({_DOTS})()"))


def test_single_launches_and_the_profilers_limits_are_told(
    new_page: NewPage, kernels_url: str
) -> None:
    page = open_at(new_page, kernels_url, "?v=1&op=0")
    expect(page.locator("[data-counts]")).to_contain_text("FLOPs and bytes are counted")
    launches = page.locator("#drawer .launches")
    expect(launches.locator("thead")).to_contain_text("DRAM")
    expect(launches.locator("tbody tr").first).to_be_visible()
    spread = page.locator("#drawer .facts").filter(has_text="90 % take at most")
    expect(spread).to_contain_text("95 % reach at most")
    expect(page.locator("[data-limits]")).to_contain_text("cannot know")
