"""The pages of costs in a browser: they follow the form, work without scripts and fit windows."""

import re

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.api.calibration.test_accelerators import entry
from tests.browser.accessibility import AXE
from tests.browser.conftest import ROOT, NewPage, uploaded
from tests.browser.watching import is_ready, layout_shift

TRACE = ROOT / "sample_profiles" / "pytorch" / "mi300x-two-ranks" / "rank1.json"
CALCULATOR = "/calculator?op=matmul&m=8944&k=1024&n=2816&tile=128x128&measured_us=83.7&from=a"
PAGES = [CALCULATOR, "/calculator?op=distributed-matmul&device=tpu-v5e", "/model"]


def test_the_answer_follows_the_form(page: Page) -> None:
    page.goto(CALCULATOR)
    is_ready(page)
    rows = page.get_by_label("M, rows")
    rows.fill("16")
    expect(page.locator("h1")).to_contain_text("HBM-bound")
    rows.press("ArrowUp")
    expect(rows).to_have_value("32")
    page.wait_for_url(re.compile("m=32"))
    chart = page.get_by_role("img", name="Roofline")
    expect(chart.locator(".tracepredicted-1 .point")).to_have_count(1)
    box = chart.element_handle()
    page.locator("[name=device]").select_option("tpu-v5e")
    expect(page.locator("h1")).to_contain_text("on TPU v5e")
    expect(chart).to_have_attribute("aria-description", re.compile("Roofline of TPU v5e"))
    assert chart.evaluate("(chart, before) => chart === before", box), "Plotly moves what is there"
    said = page.locator("h1").inner_text()
    page.reload()
    is_ready(page)
    expect(page.locator("h1")).to_have_text(said)


def test_the_phase_changes_the_form_of_a_model(page: Page) -> None:
    page.goto("/model?model=llama-3-8b&vs=mi300x")
    is_ready(page)
    page.get_by_role("checkbox", name="TPU v5e").check()
    expect(page.locator("#title-devices").locator("xpath=../..")).to_contain_text("TPU v5e")
    page.locator("[name=phase]").select_option("prefill")
    expect(page.locator("h1")).to_contain_text("to the first token")
    assert "vs=mi300x&vs=tpu-v5e" in page.url
    page.get_by_label("New tokens").fill("512")
    expect(page.locator(".verdict p").first).to_contain_text("at 512 tokens")


def test_a_measured_machine_is_drawn_beside_its_part_and_removed(page: Page) -> None:
    made = page.request.post("/api/v1/machines", data=entry(matrix_bf16=700e12, hbm=3e12))
    assert made.status == 201
    page.goto("/devices")
    is_ready(page)
    page.get_by_label("Search").fill("TPU")
    expect(page.get_by_text("GB300")).to_have_count(0)
    drawn = page.locator(".roof-names .keyed")
    expect(drawn).to_have_count(4)
    measured = page.get_by_role("region", name="Measured", exact=True)
    measured.get_by_role("link", name="Draw its roof").click()
    expect(drawn.last).to_have_text("H100 SXM5 80GB, as measured on lab-7")
    button = page.get_by_role("button", name="Remove H100 SXM5 80GB, as measured on lab-7")
    button.click()
    expect(button).to_have_text("Delete it for good")
    page.wait_for_timeout(600)
    button.click()
    expect(measured).to_have_count(0)
    expect(drawn).to_have_count(4)
    assert page.request.get("/api/v1/machines").json() == {"machines": []}


@pytest.mark.covers(93, 251)
def test_the_drawer_says_what_an_op_should_cost(page: Page, visitor: BrowserContext) -> None:
    page.goto(uploaded(visitor, TRACE))
    is_ready(page)
    page.locator("#main .tables tbody th button").first.click()
    card = page.get_by_role("region", name="What should this cost?")
    expect(card).to_contain_text("Compute-bound on Instinct MI300X: at best 841")
    lane = card.locator(".lane").first
    assert lane.evaluate("(lane) => getComputedStyle(lane).height") == "10px", "its style is there"
    ghosts = page.locator("#op-chart .tracelandings .point")
    expect(ghosts).to_have_count(0)
    card.hover()
    expect(ghosts).to_have_count(1)
    place = ghosts.get_attribute("transform") or ""
    card.get_by_text("Change sizes and types").click()
    card.get_by_label("M, rows").fill("16")
    expect(card).to_contain_text("HBM-bound")
    expect(ghosts).not_to_have_attribute("transform", place)
    outside = ghosts.get_attribute("transform") or ""  # of the plot, which cuts it off
    card.get_by_label("M, rows").fill("1024")
    expect(ghosts).not_to_have_attribute("transform", outside)
    card.get_by_label("M, rows").fill("16")
    expect(card).to_contain_text("HBM-bound")
    expect(card.get_by_label("M, rows")).to_be_focused()
    card.get_by_role("link", name="Open in the calculator").click()
    expect(page.locator("h1")).to_contain_text("HBM-bound on Instinct MI300X")
    expect(page.locator(".from a")).to_contain_text("aten::mm")


def test_without_scripts_the_form_asks_the_server(new_page: NewPage) -> None:
    page = new_page(java_script_enabled=False)
    page.goto("/calculator")
    page.get_by_label("M, rows").fill("16")
    page.get_by_role("button", name="Calculate").click()
    expect(page.locator("h1")).to_contain_text("HBM-bound")
    expect(page.get_by_text("Roofline of H100 SXM5 80GB: HBM-bound")).to_be_visible()


def test_on_a_phone_the_fields_wait_for_the_answer_that_stands_above_them(
    new_page: NewPage,
) -> None:
    """A browser that has read a part of the page does not show the fields in another place."""
    page = new_page(viewport={"width": 390, "height": 900})
    for address in ("/calculator", "/model", "/devices"):
        page.goto(address)
        expect(page.locator(".form")).to_be_visible()
    page.goto("/model")
    page.locator(".verdict").evaluate("(verdict) => verdict.remove()")
    expect(page.locator(".form")).to_be_hidden()


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light"), (1920, "dark")])
def test_pages_are_accessible_and_never_scroll_sideways(
    new_page: NewPage, width: int, scheme: str
) -> None:
    page = new_page(viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
    for address in PAGES:
        page.goto(address)
        is_ready(page)
        assert layout_shift(page) < 0.02, address
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.add_script_tag(path=AXE)
        found = page.evaluate("axe.run().then(({ violations }) => violations)")
        assert not found, [(one["id"], one["nodes"][0]["html"][:120]) for one in found]
