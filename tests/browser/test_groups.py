"""Group by: a tree above the table of operations, in the address, that filters the page."""

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
    page.locator("#group-by").select_option("path")
    return page


def group_names(page: Page) -> list[str]:
    return page.locator("#group-table .group-name").all_inner_texts()


def test_groups_open_sort_and_stay_in_the_address(layers: Page) -> None:
    assert group_names(layers) == ["net", "(not known)"]
    net = layers.locator("#group-table tbody tr").first
    expect(net).to_contain_text("400")
    expect(net).to_contain_text("≥ 3.00 GFLOP")
    layers.get_by_role("button", name="Groups in net").click()
    assert group_names(layers) == ["net", "layer_2", "layer_1", "layer_0", "head", "(not known)"]
    layers.locator("#group-table thead").get_by_role("button", name="Group").click()
    assert group_names(layers) == ["(not known)", "net", "head", "layer_0", "layer_1", "layer_2"]
    view.has_query(layers, "by", "path")
    view.has_query(layers, "open", "net")
    view.has_query(layers, "gsort", "name")
    layers.reload()
    is_ready(layers)
    assert group_names(layers) == ["(not known)", "net", "head", "layer_0", "layer_1", "layer_2"]


def test_the_layer_that_is_slower_is_marked(layers: Page) -> None:
    layers.get_by_role("button", name="Groups in net").click()
    marked = layers.locator("#group-table tr", has=layers.locator(".slower"))
    expect(marked).to_have_count(1)
    expect(marked).to_contain_text("layer_2")
    expect(marked).to_contain_text("1.25× its sisters")
    said = "net/layer_2 is slower than its 2 sisters: 1.25 times the median, with the same work"
    expect(marked.locator(".slower")).to_have_attribute("title", said)


def test_a_group_filters_the_page_to_its_ops(layers: Page) -> None:
    layers.get_by_role("button", name="Groups in net").click()
    layers.get_by_role("button", name="layer_1", exact=True).click()
    assert view.result(layers) == (1, 5)
    assert view.names(layers) == ["mm.2"]
    view.has_query(layers, "group", "net › layer_1")
    assert len(group_names(layers)) == 6, "its neighbours stay"
    layers.locator("[data-group-chip]").click()
    assert view.result(layers) == (5, 5)


def test_groups_are_saved_as_csv(layers: Page) -> None:
    with layers.expect_download() as saved:
        layers.locator("[data-csv-groups]").click()
    lines = saved.value.path().read_text("utf-8").splitlines()
    assert lines[0].startswith("group,level,op_count,self_time_per_core_us")
    assert [line.split(",")[0] for line in lines[1:]] == [
        "net", "net/layer_2", "net/layer_1", "net/layer_0", "net/head", "",
    ]  # fmt: skip
    assert float(lines[1].split(",")[3]) == 400


def test_a_group_that_the_profile_lacks_is_left_out(new_page: NewPage, layers_url: str) -> None:
    page = new_page()
    page.goto(f"{urlsplit(layers_url).path}?v=1&by=path&group=nowhere")
    is_ready(page)
    assert view.result(page) == (5, 5)


@pytest.mark.parametrize("width", [390, 1280])
def test_groups_have_no_accessibility_violation(page: Page, layers_url: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{urlsplit(layers_url).path}?v=1&by=path&open=net&group=net")
    is_ready(page)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert_accessible_in_both_schemes(page)
