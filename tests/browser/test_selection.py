"""Points and rows are one thing: hovering and clicking either marks the other."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser import view


def test_click_on_a_point_selects_its_row(profile: Page) -> None:
    point = view.largest_point(profile)
    profile.mouse.move(point["x"], point["y"])
    card = profile.locator("[data-hover-card]")
    expect(card).to_be_visible()
    profile.mouse.click(point["x"], point["y"])
    selected = profile.locator("#op-table tr[aria-selected=true]")
    expect(selected).to_have_count(1)
    name = selected.locator("th button").inner_text()
    expect(profile.locator("#drawer")).to_contain_text(name)
    expect(profile.locator("#op-chart .point.selected")).to_be_visible()
    profile.mouse.click(point["x"], point["y"])
    expect(selected).to_have_count(0)
    expect(profile.locator("#drawer")).to_be_hidden()


@pytest.mark.covers(26, 27, 28, 34)
def test_hover_tells_every_quantity(profile: Page) -> None:
    point = view.largest_point(profile)
    profile.mouse.move(point["x"], point["y"])
    card = profile.locator("[data-hover-card]")
    for word in ("FLOP/s", "HBM", "FLOP/B", "roof|link binds it", "self", "occurrences"):
        expect(card).to_contain_text(re.compile(word, re.I))
    assert not re.search(r"\d\.\d{6,}", card.inner_text()), "float noise"
    lit = profile.locator("#op-table tr.lit")
    assert lit.count() <= 1  # the row may be on another page of the table
    profile.mouse.move(0, 0)
    expect(card).to_be_hidden()


def test_click_on_a_row_marks_its_point_and_opens_details(profile: Page) -> None:
    data = view.page_data(profile)
    place = next(
        row
        for row, op in enumerate(data["views"]["in"]["op"])
        if data["ops"]["columns"]["cost"][op] == "known"
    )
    row = view.rows(profile).nth(place)
    name = row.locator("th button").inner_text()
    row.hover()
    expect(profile.locator("#op-chart .point.hovered")).to_be_visible()
    row.click()
    expect(row).to_have_attribute("aria-selected", "true")
    expect(profile.locator("#op-chart .point.selected")).to_be_visible()
    drawer = profile.locator("#drawer")
    expect(drawer).to_contain_text(name)
    expect(drawer).not_to_contain_text("Loading…")
    expect(drawer).to_contain_text("Shapes (bf16)makes bf16[8,2048,4096]{2,1,0:T(8,128)(2,1)}")
    view.has_query(profile, "op", str(data["views"]["in"]["op"][place]))
    alone = drawer.locator("pre", has_text="roofline replay")
    expect(alone).to_contain_text(f"--op={name}")
    drawer.get_by_role("button", name="Copy command").click()
    expect(drawer.get_by_role("button", name=re.compile("Copied"))).to_be_visible()


def test_details_move_through_the_table(profile: Page) -> None:
    first, second = view.rows(profile).nth(0), view.rows(profile).nth(1)
    first.click()
    profile.get_by_role("button", name=re.compile("^Next operation")).click()
    expect(second).to_have_attribute("aria-selected", "true")
    profile.get_by_role("button", name=re.compile("^Previous operation")).click()
    expect(first).to_have_attribute("aria-selected", "true")
    profile.get_by_role("button", name=re.compile("^Close details")).click()
    expect(profile.locator("#drawer")).to_be_hidden()


def test_selection_survives_filters_that_hide_it(profile: Page) -> None:
    view.rows(profile).first.click()
    profile.locator("#filter-name").fill("no such operation")
    expect(profile.locator("#drawer")).to_contain_text("Hidden by the filters.")
    profile.locator("#filter-name").fill("")
    expect(view.rows(profile).first).to_have_attribute("aria-selected", "true")


def test_step_is_marked_in_list_chart_and_table(profile: Page) -> None:
    step = profile.locator("[data-steps] tr[data-point]").last
    label = step.locator("th").inner_text()
    step.click()
    expect(profile.locator("#program-chart .point.selected")).to_be_visible()
    selected = profile.locator("#program-table tr[aria-selected=true]")
    expect(selected).to_have_count(1)
    expect(selected).to_contain_text(label)


def test_table_sorts_by_a_column_both_ways(profile: Page) -> None:
    header = profile.locator("#op-table [data-column=name]")
    header.click()
    ascending = view.all_names(profile)
    assert ascending == sorted(ascending, key=lambda name: ascending.index(name))
    expect(profile.locator("#op-table th[aria-sort]")).to_have_attribute("aria-sort", "ascending")
    header.click()
    expect(profile.locator("#op-table th[aria-sort]")).to_have_attribute("aria-sort", "descending")
    assert view.all_names(profile)[0] == ascending[-1]
    view.has_query(profile, "sort", "-name")


def test_columns_can_be_chosen(profile: Page) -> None:
    count = len(view.page_data(profile)["columns"])
    profile.locator("[data-columns-button]").click()
    profile.get_by_role("button", name="All", exact=True).and_(
        profile.locator("[data-column-presets] button")
    ).click()
    expect(profile.locator("#op-table thead th")).to_have_count(count)
    profile.get_by_role("button", name="Standard").click()
    expect(profile.locator("#op-table thead th")).not_to_have_count(count)
