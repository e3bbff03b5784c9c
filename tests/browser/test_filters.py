"""Every filter by itself and all of them together: table, chart, counts and address agree."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser import view
from tests.browser.conftest import NewPage, uploaded
from tests.browser.watching import Watch, is_ready


def by_name(page: Page) -> tuple[str, str]:
    page.locator("#filter-name").fill("FUSION")
    return "q", "FUSION"


def by_pattern(page: Page) -> tuple[str, str]:
    page.locator("#filter-name").fill("/^fusion\\.\\d*[02468]$/")
    return "q", "/^fusion\\.\\d*[02468]$/"


def by_category(page: Page) -> tuple[str, str]:
    view.choose_category(page, "loop fusion")
    return "cat", "loop fusion"


def by_category_chart(page: Page) -> tuple[str, str]:
    page.locator("#group-by").select_option("category")
    page.locator("[data-groups] li", has_text="loop fusion").click()
    return "group", "loop fusion"


def by_bound(page: Page) -> tuple[str, str]:
    view.choose_bound(page, "HBM")
    return "bound", "HBM"


def by_share(page: Page) -> tuple[str, str]:
    view.more_filters(page)
    page.locator("#filter-min").select_option("1")
    page.keyboard.press("Escape")
    return "min", "1"


def by_cover(page: Page) -> tuple[str, str]:
    view.more_filters(page)
    page.locator("#filter-cover").fill("80")
    page.keyboard.press("Escape")
    return "cover", "80"


FILTERS = [by_name, by_pattern, by_category, by_category_chart, by_bound, by_share, by_cover]


def agrees(page: Page) -> int:
    """Checks that table, chart and result tell the same; returns how many operations are left."""
    shown, _ = view.result(page)
    assert len(view.all_names(page)) == shown
    assert view.drawn(page) <= shown
    return shown


@pytest.mark.covers(36, 37, 38)
def test_every_filter_narrows_table_and_chart(profile: Page) -> None:
    total = agrees(profile)
    for apply in FILTERS:
        key, value = apply(profile)
        shown = agrees(profile)
        assert 0 < shown < total, apply
        view.has_query(profile, key, value)
        profile.get_by_role("button", name="Clear all").first.click()
        assert agrees(profile) == total, apply
        view.has_query(profile, key)


def test_filters_combine_and_are_those_of_the_address(page: Page, profile_url: str) -> None:
    page.goto(f"{profile_url}?cols=category")
    is_ready(page)
    said = [by_name(page)]
    named = agrees(page)
    said.append(by_bound(page))
    bound = agrees(page)
    said.append(by_category(page))
    shown = agrees(page)
    assert named > bound > shown > 0
    said += [by_category_chart(page), by_share(page), by_cover(page)]
    least = agrees(page)
    for key, value in said:
        view.has_query(page, key, value)
    page.reload()
    is_ready(page)
    assert agrees(page) == least > 0
    for text in view.names(page):
        assert "fusion" in text
    for row in view.rows(page).all():
        expect(row).to_contain_text("loop fusion")


def test_several_bounds_are_any_of_them(profile: Page) -> None:
    page = profile
    view.choose_bound(page, "HBM")
    one = agrees(page)
    view.choose_bound(page, "Compute")
    assert agrees(page) > one
    view.has_query(page, "bound", "HBM", "Compute")


@pytest.mark.covers(25, 35)
def test_infeed_switch_takes_infeed_out_and_asks_for_its_view_alone(
    profile: Page, watches: list[Watch]
) -> None:
    view.more_filters(profile)
    asked = [url for url in watches[0].requests if "/api/" in url]
    profile.get_by_role("switch", name="Infeed and outfeed").uncheck()
    assert not any(re.search("infeed|outfeed", name) for name in view.all_names(profile))
    view.has_query(profile, "infeed", "out")
    more = [url for url in watches[0].requests if "/api/" in url and url not in asked]
    assert [url for url in more if not re.search(r"/(view|figures)\?infeed=out", url)] == []


def test_broken_pattern_is_named_and_filters_nothing(profile: Page) -> None:
    total, _ = view.result(profile)
    profile.locator("#filter-name").fill("/fusion(/")
    expect(profile.locator("#filter-name-error")).to_contain_text("Not a valid pattern")
    assert view.result(profile) == (total, total)


def test_empty_result_says_why_and_can_be_cleared(profile: Page) -> None:
    total, _ = view.result(profile)
    profile.locator("#filter-name").fill("no such operation")
    empty = profile.locator("[data-chart-empty]")
    expect(empty).to_contain_text(f"No operation of {total:,} matches")
    empty.get_by_role("button", name="Clear all filters").click()
    expect(empty).to_be_hidden()
    assert view.result(profile) == (total, total)


def test_xprofs_link_parameter_filters_by_name(page: Page, profile_url: str) -> None:
    page.goto(f"{profile_url}?roofline_op_name=copy")
    is_ready(page)
    expect(page.locator("#filter-name")).to_have_value("copy")
    assert all("copy" in name for name in view.names(page))


def test_every_one_of_many_operations_is_found_sorted_and_opened(
    new_page: NewPage, visitor: BrowserContext, tmp_path: Path
) -> None:
    rows = [f"kernel_{us},{us},{us % 7},8" for us in range(5_000)]
    many = tmp_path / "many.csv"
    peaks = "# device: Server CPU\n# peak_fp64: 3.1 TFLOP/s\n# peak_dram: 380 GB/s\n"
    many.write_text(f"{peaks}name,time_us,flops,bytes_dram\n" + "\n".join(rows))
    page = new_page()
    page.goto(uploaded(visitor, many))
    is_ready(page)
    expect(page.locator("[data-ops-count]")).to_have_text("1,000 of 5,000")
    page.locator("#filter-name").fill("KERNEL_17")
    expect(page.locator("[data-ops-count]")).to_have_text("111 of 5,000")
    assert view.names(page)[:2] == ["kernel_1799", "kernel_1798"]
    view.has_query(page, "q", "KERNEL_17")
    page.reload()
    is_ready(page)
    expect(page.locator("[data-ops-count]")).to_have_text("111 of 5,000")
    view.rows(page).first.locator("th button").click()
    expect(page.locator("#drawer")).to_contain_text("kernel_1799")
    page.locator("#filter-name").fill("kernel_x")
    expect(page.locator("#panel-ops")).to_contain_text("No operation of 5,000 matches")
    page.locator("#filter-name").fill("")
    page.locator("#op-table thead [data-column='width_us']").click()
    expect(view.rows(page).first).to_contain_text("kernel_0")
