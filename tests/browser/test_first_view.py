"""The page before its script, and the charts that follow."""

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser import view
from tests.browser.conftest import NewPage
from tests.browser.watching import UNUSED_PRELOAD, Watch, is_ready

PLACES = """(marks) => [...document.querySelectorAll(marks)]
  .map((mark) => mark.getBoundingClientRect())
  .map((box) => [box.x + box.width / 2, box.y + box.height / 2])"""
WORDS = """() => [".verdict h1", "[data-do-first]", "[data-lead]",
  "[data-device-strip]", "[data-result]",
  "[data-groups]", "[data-step-times]", "[data-used-shares]",
  "[data-steps]", "[data-chart-note]", "[data-links-note]",
  "#op-table thead", "#op-table tbody", "[data-page-text]"]
  .map((part) => document.querySelector(part))
  .map((part) => part.textContent.replace(/\\s+/g, ""))"""
VALUES = """() => [...document.querySelectorAll(".verdict data")]
  .map((one) => [one.dataset.q, Number(one.value)])"""
BOXES = """() => [".verdict", ".gain", ".device", ".filters", ".zone"]
  .map((part) => document.querySelector(part)?.getBoundingClientRect())
  .map((box) => box && [box.x, box.y, box.width])"""
SHIFT = """() => new Promise((resolve) => {
  let sum = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) sum += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => resolve(sum), 100);
})"""
SCRIPTS = """() => performance.getEntriesByType("resource")
  .filter(({ name }) => name.endsWith(".bundle.js")).length"""
DEAD = """() => [...document.querySelectorAll("main button, .topbar button, main input")]
  .filter((one) => one.checkVisibility() && !one.popoverTargetElement)
  .filter((one) => getComputedStyle(one).pointerEvents !== "none")
  .map((one) => one.outerHTML)"""
INTERACTIVE = "() => performance.getEntriesByName('roofline:interactive').length > 0"
# Clicks on what the server wrote, in the moment from which the page can be worked with.
EARLY = """() => {
  const mark = performance.mark.bind(performance);
  performance.mark = (name) => {
    const made = mark(name);
    if (name === "roofline:interactive")
      for (const early of ["[data-groups] li", "[data-steps] [data-point='1'] button"])
        document.querySelector(early).click();
    return made;
  };
}"""
MOST_SHIFT = 0.02


def test_the_page_is_complete_without_scripts_and_stays_where_it_is(
    new_page: NewPage, watches: list[Watch], profile_url: str
) -> None:
    still = new_page(java_script_enabled=False)
    watches[-1].expect(UNUSED_PRELOAD)
    still.goto(profile_url)
    is_without_dead_buttons(still)
    # Without the style sheet of a report, as it is seen before the script has run.
    still.route("**/no-script.css", lambda route: route.fulfill(body="", content_type="text/css"))
    still.goto(profile_url)
    page = new_page(folded=True, cold=True)
    page.goto(profile_url)
    is_ready(page)
    assert page.evaluate(SHIFT) < MOST_SHIFT
    assert page.locator("[data-first]").count() == 0  # the tables came with the second frame
    assert still.evaluate(WORDS) == page.evaluate(WORDS)
    values = still.evaluate(VALUES)
    assert values and values == page.evaluate(VALUES)
    assert still.evaluate(BOXES) == page.evaluate(BOXES)
    assert "have a place" in still.locator(".plot-ops .chart-alt").inner_text()
    assert page.locator(".plot-ops .chart-alt").is_hidden()


def is_without_dead_buttons(page: Page) -> None:
    """Without scripts a button that can be pressed opens a menu, or nothing is there to press."""
    dead = page.evaluate(DEAD)
    assert dead == []
    page.get_by_role("button", name="Share", exact=True).click()
    links = page.locator("#menu-share a:visible")
    expect(links).to_have_count(7)
    expect(page.locator("#menu-share button:visible")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.locator("#diagnostics")).to_be_visible()


def test_words_can_be_worked_with_before_plotly_is_there(
    new_page: NewPage, profile_url: str
) -> None:
    page = new_page(cold=True)
    held: list[Route] = []
    page.route("**/plotly-roofline-*", lambda route: held.append(route))
    page.add_init_script(f"({EARLY})()")
    page.goto(profile_url, wait_until="commit")
    page.wait_for_function(INTERACTIVE)
    expect(page.locator("[data-groups] li[aria-selected=true]")).to_have_count(1)
    expect(page.locator("[data-steps] tr.selected")).to_have_count(1)
    name = page.locator("#op-table tbody th button").first.inner_text()
    page.fill("#filter-name", name)
    expect(page.locator("#op-chart .point")).to_have_count(0)
    while held:
        held.pop().continue_()
    is_ready(page)
    expect(page.locator("#op-chart .point.ghost").first).to_be_attached()


def test_what_is_folded_is_written_after_the_charts(new_page: NewPage, profile_url: str) -> None:
    page = new_page(folded=True, cold=True)
    held: list[Route] = []
    page.route("**/plotly-roofline-*", lambda route: held.append(route))
    page.goto(profile_url, wait_until="commit")
    page.wait_for_function(INTERACTIVE)
    folded = page.locator("#program-table thead th, [data-column-list] *, [data-category-list] *")
    expect(folded).to_have_count(0)
    assert page.evaluate(SCRIPTS) == 1, "the script is asked for once, and is there when it is run"
    while held:
        held.pop().continue_()
    is_ready(page)
    assert folded.count() > 0


def test_each_mark_is_the_operation_that_the_figure_says(
    new_page: NewPage, profile_url: str
) -> None:
    """Classes go to Plotly's elements by their order: as many as there are marks, at its places."""
    page = new_page()
    page.goto(profile_url)
    is_ready(page)
    figure = view.page_data(page)["figures"]["op"]
    marks = [trace for trace in figure["data"] if trace["meta"]["role"] == "marks"]
    assert marks
    for trace in marks:
        places = page.evaluate(PLACES, f"#op-chart .trace{trace['uid']} .point")
        assert len(places) == len(trace["customdata"])
        # Both axes grow evenly with the logarithm: neighbours in data are neighbours on the screen.
        by_place = sorted(range(len(places)), key=lambda i: (round(places[i][0], 2), i))
        by_data = sorted(range(len(places)), key=lambda i: (trace["x"][i], i))
        assert [trace["x"][i] for i in by_place] == pytest.approx(
            [trace["x"][i] for i in by_data], rel=1e-2
        )
    colours = page.locator("#op-chart .scatterlayer").inner_html()
    assert "--c" not in colours
