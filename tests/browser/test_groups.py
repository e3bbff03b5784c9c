"""The card of groups: rows add up, open and filter; layers are compared."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser import view
from tests.browser.accessibility import assert_accessible_in_both_schemes
from tests.browser.conftest import NewPage, uploaded
from tests.browser.watching import is_ready

KERNELS = """\
# device: TPU v6e
name,time_us,flops,hbm_bytes,framework_path
mm.1,100,1e9,1e6,net/layer_0/dot
mm.2,104,1e9,1e6,net/layer_1/dot
mm.3,130,1e9,1e6,net/layer_2/dot
softmax,66,,,net/head/softmax
copy,20,0,1e6,
"""


@pytest.fixture(scope="module")
def layers_url(visitor: BrowserContext, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a network of three equal layers, one of which is slower."""
    path: Path = tmp_path_factory.mktemp("layers") / "kernels.csv"
    path.write_text(KERNELS, "utf-8")
    return uploaded(visitor, path)


@pytest.fixture
def layers(new_page: NewPage, layers_url: str) -> Page:
    page = new_page()
    page.goto(urlsplit(layers_url).path)
    is_ready(page)
    return page


def rows(page: Page) -> list[list[str]]:
    return [one.split("\n") for one in page.locator("[data-groups] > li").all_inner_texts()]


def names(page: Page) -> list[str]:
    return page.locator("[data-groups] > li:not([data-layers]) .name").all_inner_texts()


def test_rows_add_up_to_the_time(layers: Page) -> None:
    assert names(layers) == ["layer_2", "layer_1", "layer_0", "head", "without a layer", "waiting"]
    rows = layers.locator("[data-groups] > li:not([data-layers])")
    assert sum(map(float, rows.locator(".num:nth-of-type(2)").all_inner_texts())) == 420
    head = layers.locator("[data-groups] > li", has_text="head")
    assert head.locator(".num").all_inner_texts() == ["66", "–", "–"]


def test_the_layer_that_is_slower_is_said_and_opens_all(layers: Page) -> None:
    line = layers.locator("[data-layers]")
    expect(line).to_have_text(
        "3 layers, 100 to 130 µs each, 80 % of the time: layer_2 takes 1.25 times the median."
    )
    line.click()
    inside = layers.locator("[data-instance] .name").all_inner_texts()
    assert inside == ["layer_0", "layer_1", "layer_2"]
    rest = layers.locator("[data-groups] > li", has_text="all other work")
    expect(rest.locator(".num")).to_have_text("86 µs")
    layers.locator("[data-groups]").press("ArrowLeft")
    expect(layers.locator("[data-instance]")).to_have_count(0)


def test_keys_move_filter_and_regroup(layers: Page) -> None:
    layers.locator("[data-groups]").focus()
    layers.keyboard.press("ArrowDown")
    expect(layers.locator("[data-groups] > li#groups-active .name")).to_have_text("layer_1")
    layers.keyboard.press("Enter")
    assert view.names(layers) == ["mm.2"]
    view.has_query(layers, "by", "layer")
    view.has_query(layers, "group", "net › layer_1")
    expect(layers.locator("[data-groups] > li#groups-active")).to_have_attribute(
        "aria-selected", "true"
    )
    assert len(names(layers)) == 6, "its neighbours stay"
    layers.keyboard.press("Enter")
    assert view.result(layers) == (5, 5)
    layers.keyboard.press("g")
    expect(layers.locator("#group-by")).not_to_have_value("layer")


def test_a_module_opens_to_what_is_in_it(new_page: NewPage, layers_url: str) -> None:
    page = new_page()
    page.goto(f"{urlsplit(layers_url).path}?v=1&by=module")
    is_ready(page)
    assert names(page) == ["layer", "head", "without a module", "waiting"]


def test_links_of_earlier_releases_open_the_same_groups(new_page: NewPage, layers_url: str) -> None:
    page = new_page()
    page.goto(f"{urlsplit(layers_url).path}?v=1&timeby=path&by=path&group=net › layer_1")
    is_ready(page)
    assert view.names(page) == ["mm.2"]


def test_a_group_that_the_profile_lacks_is_left_out(new_page: NewPage, layers_url: str) -> None:
    page = new_page()
    page.goto(f"{urlsplit(layers_url).path}?v=1&by=layer&group=nowhere")
    is_ready(page)
    assert view.result(page) == (5, 5)


@pytest.mark.parametrize("width", [390, 1280])
def test_groups_have_no_accessibility_violation(page: Page, layers_url: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{urlsplit(layers_url).path}?v=1&by=layer&group=net › layer_1")
    is_ready(page)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert_accessible_in_both_schemes(page)
