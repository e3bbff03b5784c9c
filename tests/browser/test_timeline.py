"""The strip of time: a range by mouse, by keys and by step, on a page of its own numbers."""

import re
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser import view
from tests.browser.conftest import ROOT, uploaded
from tests.browser.watching import is_ready

SAMPLE = ROOT / "sample_profiles" / "xspace" / "v6e-training.xplane.pb"


@pytest.fixture
def training(page: Page, visitor: BrowserContext) -> Page:
    page.goto(uploaded(visitor, SAMPLE))
    is_ready(page)
    return page


def brush(page: Page) -> Locator:
    layer = page.locator("[data-timeline-brush]")
    layer.scroll_into_view_if_needed()
    return layer


def shown_range(page: Page) -> list[float]:
    """The range of the page data, in us."""
    page.wait_for_url(re.compile("from_us="))
    is_ready(page)
    return list(shown_data(page)["timeline"]["range"])


def shown_data(page: Page) -> Any:
    """The page data of the range in the address."""
    facts = page.locator("main").get_attribute("data-facts-url") or ""
    answer = page.request.get(facts.replace("/facts", "/page"))
    assert answer.ok
    return answer.json()


def test_a_range_by_mouse_by_step_and_by_keys(training: Page) -> None:
    page = training
    whole = view.page_data(page)
    expect(page.locator(".timeline-lane")).to_have_count(1)
    cores = len(whole["timeline"]["lanes"]) - 1
    page.locator("[data-timeline-cores]").click()
    expect(page.locator(".timeline-lane")).to_have_count(cores)
    total = page.locator("[data-equation]").inner_text()
    box = brush(page).bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.2, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, y, steps=4)
    page.mouse.up()
    begin, end = shown_range(page)
    last = whole["timeline"]["edges_us"][-1]
    assert begin == pytest.approx(last * 0.2, rel=0.05)
    assert end == pytest.approx(last * 0.5, rel=0.05)
    assert page.locator("[data-equation]").inner_text() != total
    assert shown_data(page)["ops"]["count"] <= whole["ops"]["count"]
    expect(page.locator("[data-range-note]")).to_contain_text("All numbers are of")

    # What is chosen afterwards keeps the range in the address.
    page.locator("#filter-name").fill("fusion")
    view.has_query(page, "q", "fusion")
    assert "from_us=" in page.url

    page.locator("[data-timeline-step]").select_option(index=2)
    page.wait_for_function(
        "([from]) => new URLSearchParams(location.search).get('from_us') !== from", arg=[str(begin)]
    )
    step = whole["timeline"]["steps"][1]
    assert shown_range(page) == [step["begin_us"], step["end_us"]]
    expect(page.locator("#filter-name")).to_have_value("fusion")
    assert [row["label"] for row in points(page)].count(step["label"]) == 1

    brush(page).focus()
    page.keyboard.press("Shift+ArrowRight")
    expect(page.locator("[data-timeline-said]")).to_contain_text("marked")
    page.keyboard.press("Enter")
    page.wait_for_function(
        "([to]) => new URLSearchParams(location.search).get('to_us') !== to",
        arg=[str(step["end_us"])],
    )
    assert shown_range(page)[1] > step["end_us"]

    page.locator("[data-timeline-whole]").click()
    is_ready(page)
    expect(page.locator("[data-range-note]")).to_have_count(0)
    assert "from_us" not in page.url


def points(page: Page) -> list[dict[str, str]]:
    """The program points that are steps."""
    columns = shown_data(page)["views"]["in"]["program"]["columns"]
    rows = zip(columns["scope"], columns["label"], strict=True)
    return [{"label": label} for scope, label in rows if scope == "step"]
