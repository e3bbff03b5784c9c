"""Time to gain: seen without scripts, a mark for each block, keys, clicks, terms that filter."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser import view
from tests.browser.conftest import ROOT, NewPage, uploaded
from tests.browser.watching import UNUSED_PRELOAD, Watch, is_ready

SAMPLE = ROOT / "sample_profiles" / "xspace" / "v6e-training.xplane.pb"


@pytest.fixture(scope="session")
def training_url(visitor: BrowserContext) -> str:
    return uploaded(visitor, SAMPLE)


@pytest.fixture
def training(page: Page, training_url: str) -> Page:
    page.goto(training_url)
    is_ready(page)
    return page


def test_picture_and_equation_are_there_without_scripts(
    new_page: NewPage, watches: list[Watch], training_url: str
) -> None:
    page = new_page(java_script_enabled=False)
    watches[-1].expect(UNUSED_PRELOAD)
    page.goto(training_url)
    expect(page.locator("[data-equation]")).to_contain_text(["at its roofs"])
    expect(page.locator(".gain-picture svg path").first).to_be_visible()


def chart_of(page: Page) -> dict[str, Any]:
    gain = view.page_data(page)["figures"]["gain"]
    found: dict[str, Any] = gain[gain["by"]]
    return found


def test_each_block_has_one_mark(training: Page) -> None:
    marks = training.locator("#gain-chart .blocks .point > path")
    expect(marks).to_have_count(len(chart_of(training)["blocks"]))


def test_keys_go_through_the_blocks_and_say_each(training: Page) -> None:
    blocks = chart_of(training)["blocks"]
    said = training.locator("[data-gain-said]")
    training.locator("#gain-chart").focus()
    training.keyboard.press("ArrowRight")
    expect(said).to_contain_text(f"; 1 of {len(blocks)}")
    expect(said).to_contain_text(blocks[0]["name"])
    training.keyboard.press("End")
    expect(said).to_contain_text(f"; {len(blocks)} of {len(blocks)}")
    expect(training.locator("#gain-chart .blocks path.current")).to_have_count(1)
    choice = training.locator("[data-gain-by]")
    before = choice.input_value()
    training.keyboard.press("g")
    expect(choice).not_to_have_value(before)
    expect(training.locator("#gain-chart .blocks .point > path")).not_to_have_count(len(blocks))


def test_enter_and_a_click_open_an_operation(training: Page) -> None:
    training.locator("[data-gain-by]").select_option("op")
    blocks = view.page_data(training)["figures"]["gain"]["op"]["blocks"]
    number = next(k for k, one in enumerate(blocks) if one["ops"])
    mark = training.locator("#gain-chart .blocks .point > path").nth(number)
    expect(training.locator("#gain-chart .blocks .point > path")).to_have_count(len(blocks))
    mark.click(force=True)  # the drag layer of Plotly lies above
    view.has_query(training, "op", str(blocks[number]["ops"][0]))
    expect(mark).to_have_class(re.compile("selected"))


def test_hover_says_what_a_block_is(training: Page) -> None:
    block = chart_of(training)["blocks"][0]
    training.locator("#gain-chart .blocks .point > path").first.hover(force=True)
    card = training.locator("[data-hover-card]")
    expect(card).to_contain_text(block["name"])
    expect(card).to_contain_text(block["lines"][0])


def test_a_term_filters_and_is_in_the_address(training: Page) -> None:
    term = training.locator("[data-equation] > [data-part=below_roof]")
    term.click()
    expect(term).to_have_attribute("aria-selected", "true")
    view.has_query(training, "part", "below_roof")
    shown, every = view.result(training)
    owners = view.page_data(training)["ops"]["columns"]["part"]
    assert shown == sum(str(one).startswith("work.") for one in owners) < every
    chip = training.locator("[data-part-chip]")
    expect(chip).to_contain_text("Below the roof")
    training.reload()
    is_ready(training)
    assert view.result(training) == (shown, every)
    chip.click()
    expect(chip).to_be_hidden()
    assert view.result(training) == (every, every)
    equation = training.locator("[data-equation]")
    equation.press("Enter")
    expect(term).to_have_attribute("aria-selected", "true")
    equation.press("ArrowRight")
    equation.press("Enter")
    expect(term).to_have_attribute("aria-selected", "false")
    expect(equation.locator("[aria-selected=true]")).to_have_count(1)


def test_the_subject_of_the_address_is_that_of_the_page(page: Page, training_url: str) -> None:
    page.goto(f"{training_url}?v=1&of=capture")
    is_ready(page)
    expect(page.locator("[data-subject-label]")).to_contain_text("Capture")
    page.locator("[data-equation] > [data-part=below_roof]").click()
    view.has_query(page, "of", "capture")
    length = page.locator("[data-headline] data[data-q=length]").get_attribute("value")
    api = training_url.replace("/p/", "/api/v1/profiles/") + "/roofline?of=capture"
    assert float(length or 0) == page.request.get(api).json()["subject"]["time_us"]
    page.locator("[data-subject-chip]").click()
    page.get_by_role("link", name="Show the default subject").click()
    expect(page.locator("[data-headline]")).to_contain_text("a step")


def test_a_part_that_the_profile_lacks_is_left_out(page: Page, training_url: str) -> None:
    page.goto(f"{training_url}?v=1&part=exposed.nvlink")
    is_ready(page)
    expect(page.locator("[data-notice]")).to_contain_text("part of the time “exposed.nvlink”")
    assert view.result(page)[0] == view.result(page)[1]


def test_the_chart_follows_other_peaks(page: Page, training_url: str) -> None:
    equation = page.locator("[data-equation]")
    page.goto(training_url)
    is_ready(page)
    own = equation.inner_text()
    page.goto(f"{training_url}?v=1&peak.hbm=100")
    is_ready(page)
    assert equation.inner_text() != own
    page.locator(".peaks-control [data-peaks-reset]").click()
    expect(equation).to_have_text(own, use_inner_text=True)


def test_without_times_there_is_no_bar_and_no_hole(
    page: Page, visitor: BrowserContext, tmp_path: Path
) -> None:
    table = tmp_path / "kernels.csv"
    table.write_text("# peak_dram: 900 GB/s\nname,flops,dram_bytes\na,1e9,1e8\nb,2e9,1e8\n")
    page.goto(uploaded(visitor, table))
    is_ready(page)
    expect(page.locator("[data-gain]")).to_have_count(0)
    expect(page.locator("[data-part-chip]")).to_be_hidden()


def test_a_table_is_divided_by_its_ops(page: Page, visitor: BrowserContext) -> None:
    report: Path = ROOT / "sample_profiles" / "nsight_compute" / "a100-kernels.ncu-rep"
    page.goto(uploaded(visitor, report))
    is_ready(page)
    everything = view.rows(page).count()
    page.locator("[data-equation] > [data-part=below_roof]").click()
    expect(page.locator("[data-part-chip]")).to_be_visible()
    assert 0 < view.rows(page).count() <= everything


def test_transfers_lie_against_the_peak_of_their_link(page: Page, visitor: BrowserContext) -> None:
    page.goto(uploaded(visitor, ROOT / "sample_profiles" / "pytorch" / "h100-training.json"))
    is_ready(page)
    strip = page.locator("#link-chart")
    expect(strip.locator(".ytick text").filter(has_text="Host")).to_be_visible()
    expect(page.locator("[data-links-note]")).to_contain_text("exposed per GPU")
    mark = strip.locator(".point:not(.ghost)").last
    mark.scroll_into_view_if_needed()
    mark.hover(force=True)
    card = page.locator("[data-hover-card]")
    for word in ("Achieved", "Peak of the link", "Bytes on the wire", "Exposed"):
        expect(card).to_contain_text(word)
    page.locator("[data-equation] > [data-part=below_roof]").click()
    expect(strip.locator(".point:not(.ghost)")).to_have_count(0)


def test_the_drawer_has_a_bar_per_clock(page: Page, training_url: str) -> None:
    page.goto(f"{training_url}?v=1&part=below_roof.hbm")
    is_ready(page)
    view.rows(page).first.locator("th button").click()
    bars = page.locator("#drawer .clock-bars li")
    expect(bars.last).to_contain_text("Measured")
    expect(bars.filter(has_text="HBM")).to_have_count(1)
    expect(page.locator("#drawer .clock-bars + p")).to_contain_text("if nothing does")


def test_a_link_without_a_peak_is_asked_for(page: Page, visitor: BrowserContext) -> None:
    ranks = sorted((ROOT / "sample_profiles" / "pytorch" / "mi300x-two-ranks").glob("*.json"))
    page.goto(uploaded(visitor, *ranks))
    is_ready(page)
    ask = page.locator(".link-asks").get_by_role("button", name="Set the peak")
    ask.first.click()
    expect(page.locator("#menu-peaks")).to_be_visible()
