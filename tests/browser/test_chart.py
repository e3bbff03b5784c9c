"""The roofline as an instrument: x axis, zoom, pan, reset, rectangle, roofs, resizing."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser import view
from tests.browser.watching import is_ready

ROOF_LINES = "#op-chart [class*=traceroof] .js-line"


def plot(page: Page) -> dict[str, float]:
    """The place of the plot, all of which is in the window."""
    page.locator("#op-chart").evaluate("(box) => box.scrollIntoView({ block: 'center' })")
    box = page.locator("#op-chart .nsewdrag").first.bounding_box()
    assert box
    return {"x": box["x"], "y": box["y"], "width": box["width"], "height": box["height"]}


def pull(page: Page, x0: float, y0: float, x1: float, y1: float) -> None:
    """Drags inside the chart, not yet letting go; places are shares of its width and height."""
    box = plot(page)
    page.mouse.move(box["x"] + x0 * box["width"], box["y"] + y0 * box["height"])
    page.mouse.down()
    page.mouse.move(
        box["x"] + (x0 + x1) / 2 * box["width"], box["y"] + (y0 + y1) / 2 * box["height"]
    )
    page.mouse.move(box["x"] + x1 * box["width"], box["y"] + y1 * box["height"])


def drag(page: Page, x0: float, y0: float, x1: float, y1: float) -> None:
    """The same, and lets go."""
    pull(page, x0, y0, x1, y1)
    page.mouse.up()


def x_ticks(page: Page) -> list[str]:
    return page.locator("#op-chart .xtick text").all_text_contents()


@pytest.mark.covers(32, 189, 227)
def test_x_axis_can_be_changed(profile: Page) -> None:
    page = view.page_data(profile)
    axes = [axis["id"] for axis in page["x_axes"]]
    columns = {axis["id"]: page["ops"]["columns"][axis["column"]] for axis in page["x_axes"]}
    rates = page["ops"]["columns"]["flop_rate_gflops"]
    assert axes[0] == "hbm", "the main memory"
    assert "total" in axes
    chosen = profile.locator("#chart-axis")
    view.chart_options(profile)
    for axis in axes[1:-1]:  # the last one has a mark for each level
        chosen.select_option(axis)
        view.has_query(profile, "x", axis)
        view.is_drawn(profile)
        placed = [op for op in page["views"]["in"]["op"] if columns[axis][op] and rates[op]]
        assert view.drawn(profile) == len(placed)
    label = chosen.locator("option:checked").inner_text()
    expect(profile.locator("#op-chart .xtitle")).to_contain_text(label)
    profile.goto(f"{profile.url.partition('?')[0]}?v=1&x=bottleneck")
    is_ready(profile)
    expect(profile.locator("#op-chart .xtitle")).to_contain_text("FLOP per byte of HBM")
    expect(profile.locator("[data-notice]")).to_be_hidden()


def test_zoom_by_dragging_and_by_buttons_and_reset(profile: Page) -> None:
    before = x_ticks(profile)
    drag(profile, 0.5, 0.2, 0.8, 0.6)
    view.has_key(profile, "zoom")
    assert x_ticks(profile) != before
    zoomed = x_ticks(profile)
    profile.reload()
    is_ready(profile)
    assert x_ticks(profile) == zoomed
    box = plot(profile)
    profile.mouse.dblclick(box["x"] + box["width"] * 0.9, box["y"] + box["height"] * 0.9)
    view.has_query(profile, "zoom")
    assert x_ticks(profile) == before
    profile.get_by_role("button", name="Zoom in").click()
    view.has_key(profile, "zoom")
    profile.get_by_role("button", name="Reset zoom").click()
    view.has_query(profile, "zoom")
    assert x_ticks(profile) == before


def first_mark(page: Page) -> dict[str, float]:
    """Place and width of the mark of the longest operation."""
    mark = page.locator("#op-chart [class*=tracemarks] .point").first.bounding_box()
    assert mark
    return {"x": mark["x"], "width": mark["width"]}


def test_points_go_with_the_plot_while_it_is_moved(profile: Page) -> None:
    profile.get_by_role("button", name="Drag to move").click()
    x = first_mark(profile)["x"]
    pull(profile, 0.6, 0.5, 0.55, 0.5)
    carried = first_mark(profile)["x"]
    assert carried == pytest.approx(x - 0.05 * plot(profile)["width"], abs=1.5)
    profile.mouse.up()
    view.has_key(profile, "zoom")
    x0, x1, y0, y1 = map(float, view.query(profile)["zoom"][0].split(","))
    assert x1 > x0 and y1 > y0
    assert first_mark(profile)["x"] == pytest.approx(carried, abs=1.5)


def test_points_keep_their_shape_while_an_axis_is_stretched(profile: Page) -> None:
    plot(profile)
    width = first_mark(profile)["width"]
    end = profile.locator("#op-chart .drag.edrag").bounding_box()
    assert end
    profile.mouse.move(end["x"] + end["width"] / 2, end["y"] + end["height"] / 2)
    profile.mouse.down()
    profile.mouse.move(end["x"] - 90, end["y"] + end["height"] / 2, steps=3)
    stretch = profile.locator("#op-chart .overplot > .xy").evaluate("(plot) => plot.getCTM().a")
    assert stretch < 0.95
    assert first_mark(profile)["width"] == pytest.approx(width, abs=0.5)
    profile.mouse.up()


@pytest.mark.covers(12)
def test_rectangle_filters_the_table(profile: Page) -> None:
    total, _ = view.result(profile)
    profile.get_by_role("button", name="Drag to select operations").click()
    drag(profile, 0.02, 0.2, 0.6, 0.98)  # below the buttons
    chip = profile.get_by_role("button", name="Selected area")
    expect(chip).to_be_visible()
    shown, _ = view.result(profile)
    assert 0 < shown < total
    assert view.drawn(profile) == shown  # only ops on the chart can lie in a rectangle
    view.has_key(profile, "box")
    chip.click()
    assert view.result(profile) == (total, total)


@pytest.mark.covers(1, 6, 19, 115)
def test_roofs_are_labelled_and_can_be_shown_or_hidden(profile: Page) -> None:
    page = profile
    text = page.locator("#op-chart").inner_text()
    assert re.search(r"HBM.*GB/s", text)
    assert re.search(r"TFLOP/s", text)
    assert "FLOP per byte" in text, "the axis of intensity"
    used = page.locator(ROOF_LINES).count()
    view.chart_options(page)
    page.locator("#chart-roofs").select_option("all")
    view.has_query(page, "roofs", "all")
    every = page.locator(ROOF_LINES).count()
    page.locator("#chart-roofs").select_option("none")
    view.has_query(page, "roofs", "none")
    none = page.locator(ROOF_LINES).count()
    assert every >= used > none


def test_the_longest_operations_are_named_and_a_selected_one_alone(profile: Page) -> None:
    labels = profile.locator("#op-chart [class*=tracelabels] .textpoint:not(.gone)")
    longest = view.names(profile)[0]
    expect(labels.filter(has_text="program")).to_have_count(1)
    assert 2 <= labels.count() <= 12
    names = labels.all_text_contents()
    profile.locator("#filter-name").fill(longest)
    expect(labels.filter(has_not_text="program").filter(has_not_text=longest)).to_have_count(0)
    profile.locator("#filter-name").fill("")
    expect(labels).to_have_text(names)
    point = view.largest_point(profile)
    profile.mouse.click(point["x"], point["y"])
    chosen = profile.locator("#op-table tr[aria-selected=true] th")
    view.is_drawn(profile)
    expect(labels.filter(has_text=chosen.locator("button").inner_text())).to_have_count(1)
    # Beside it stand its clocks, each with a mark and a drop to its own ceiling; all else fades.
    expect(labels.filter(has_text="% of").first).to_be_visible()
    assert profile.locator(ROOF_LINES).count() >= 2
    assert view.drawn(profile) == 1


def test_heights_are_shares_of_roofs_on_demand(profile: Page) -> None:
    profile.keyboard.press("y")
    view.has_query(profile, "y", "share")
    chart = profile.locator("#op-chart")
    expect(chart).to_contain_text("each operation’s own roof")
    expect(chart).to_contain_text("100 %")
    view.is_drawn(profile)
    assert profile.locator(ROOF_LINES).count() == 1
    assert view.drawn(profile) > 0
    view.chart_options(profile)
    profile.get_by_role("button", name="FLOP/s", exact=True).click()
    expect(chart).to_contain_text("FLOP/s")
    expect(profile.locator("#chart-precision")).to_be_visible()


def test_bandwidths_are_in_gigabytes(profile: Page) -> None:
    assert "iB/s" not in profile.locator("body").inner_text()


def test_marker_area_can_be_equal(profile: Page) -> None:
    profile.get_by_role("button", name="More options of the chart").click()
    profile.get_by_role("button", name="Equal").click()
    view.has_query(profile, "size", "equal")
    expect(profile.get_by_role("button", name="Equal")).to_have_attribute("aria-pressed", "true")


def test_chart_follows_the_window(profile: Page) -> None:
    before = plot(profile)["width"]
    profile.set_viewport_size({"width": 1920, "height": 1000})
    profile.wait_for_function(
        "(width) => document.querySelector('#op-chart .nsewdrag').getBoundingClientRect().width"
        " > width",
        arg=before + 50,
    )


def test_chart_is_never_offered_to_a_cloud(profile: Page) -> None:
    """plotly.js 4 has a button that uploads the chart's data unless it is turned off."""
    for chart in ("op-chart", "program-chart"):
        context = profile.evaluate("(id) => document.getElementById(id)._context", chart)
        assert context["showSendToCloud"] is False
        assert context["displayModeBar"] is False
    assert profile.locator(".modebar-btn").count() == 0
    assert profile.get_by_text(re.compile("plot.?ly|share chart", re.I)).count() == 0
