"""The card "What would help": there without scripts, and each finding filters to its operations."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser import view
from tests.browser.conftest import ROOT, NewPage, uploaded
from tests.browser.watching import is_ready

SAMPLE = ROOT / "sample_profiles" / "xspace" / "v6e-training.xplane.pb"


ALMOST_EMPTY = """\
[1] python@127.0.0.1
  gemv(int *) (32, 1, 1)x(128, 1, 1), Context 1, Stream 7, Device 0, CC 12.0
    Section: GPU Speed Of Light Throughput
    ----------------------- ----------- ------------
    Metric Name             Metric Unit Metric Value
    ----------------------- ----------- ------------
    Elapsed Cycles                cycle      1621955
    Duration                         us       962.50
    L1/TEX Cache Throughput           %        91.13
    SM Active Cycles              cycle   1084265.23
    Waves Per SM                                0.10
    ----------------------- ----------- ------------
"""


@pytest.fixture(scope="session")
def training_url(visitor: BrowserContext) -> str:
    return uploaded(visitor, SAMPLE)


@pytest.fixture
def training(page: Page, training_url: str) -> Page:
    page.goto(training_url)
    is_ready(page)
    return page


def test_the_list_is_there_without_scripts(new_page: NewPage, training_url: str) -> None:
    page = new_page(java_script_enabled=False)
    page.goto(training_url)
    card = page.locator("[data-advice]")
    expect(card.locator(".advice-item:visible")).to_have_count(3)
    expect(card.locator(".advice-summary")).to_contain_text("After five of these: about 12")


def test_the_card_says_the_saving_of_the_first_lines(
    visitor: BrowserContext, page: Page, tmp_path: Path
) -> None:
    """A card said −380 µs below a line that said −376 µs."""
    file = tmp_path / "gemv.txt"
    file.write_text(ALMOST_EMPTY)
    page.goto(uploaded(visitor, file))
    expect(page.locator(".advice-saves").first).to_have_text("−376 µs")
    expect(page.locator(".do-first")).to_contain_text("gemv, −376 µs")


def test_a_finding_filters_to_its_operations_and_back(training: Page) -> None:
    finding = training.locator(".advice-item").first
    button = finding.locator("[data-advice-filter]")
    every = view.result(training)[1]
    finding.locator("summary").click()
    expect(button).to_have_text("Show 13 ops of: Fill the chip in fusion.52, .80, .83 and 10 more")
    expect(button).to_have_attribute("aria-pressed", "true")
    assert view.result(training) == (13, every)
    shown = {"fusion.52", "fusion.80", "fusion.83"}
    assert shown < set(view.all_names(training)), "those that the title names"
    chip = training.locator("[data-finding-chip]")
    expect(chip).to_have_text("Fill the chip in fusion.52, .80, .83 and 10 more")
    expect(training.locator("#filter-name")).to_have_value("")
    assert "finding=K1" in training.url
    training.reload()
    is_ready(training)
    assert view.result(training) == (13, every)
    finding.locator("summary").click()
    assert view.result(training) == (13, every)
    button.click()
    assert view.result(training) == (every, every)
    button.click()
    finding.locator("summary").click()
    assert view.result(training) == (every, every)
    finding.locator("summary").click()
    assert view.result(training) == (13, every)


def test_the_reason_is_one_click_away(training: Page) -> None:
    first = training.locator(".advice-item").first
    why = first.locator(".advice-why")
    expect(why).to_be_hidden()
    first.locator("summary").click()
    expect(why).to_contain_text("roofline compare")


def test_a_dismissed_finding_is_counted_and_comes_back(training: Page) -> None:
    card = training.locator("[data-advice]")
    item = card.locator(".advice-item").nth(1)
    title = item.locator(".advice-title").inner_text()
    item.locator("summary").click()
    item.locator("[data-advice-reason]").fill("not now")
    item.locator('[data-advice-state="dismissed"]').click()
    hidden = card.get_by_text("1 set aside")
    expect(hidden).to_be_visible()
    is_ready(training)
    hidden.click()
    gone = card.locator(".advice-item", has_text="not for us: not now")
    expect(gone.locator(".advice-title")).to_have_text(title)
    gone.locator("summary").click()
    gone.locator('[data-advice-state="open"]').click()
    expect(card.get_by_text("1 set aside")).to_have_count(0)


def test_pointing_at_a_finding_shows_where_its_points_land(training: Page) -> None:
    marks = training.locator("#op-chart .tracelandings .point")
    expect(marks).to_have_count(0)
    assumed = training.locator(".advice-item", has_text="if half of the bytes went").first
    assumed.hover()
    expect(marks).not_to_have_count(0)
    lines = training.locator("#op-chart .tracelanding-ways .js-line")
    path = lines.first.get_attribute("d") or ""
    x1, y1, x2, y2 = map(float, re.findall(r"-?[\d.]+", path)[:4])
    assert x2 > x1 and y2 < y1  # fewer bytes in less time: right and up
    training.locator("h1").first.hover()
    expect(marks).to_have_count(0)
    finding = assumed.locator("summary")
    finding.click()
    training.locator("h1").first.hover()
    expect(marks).not_to_have_count(0)
    finding.click()
