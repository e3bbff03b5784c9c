"""Links on the page: what binds transfers, the axis of a link, and its peak, set by hand."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser import view
from tests.browser.conftest import NewPage, uploaded
from tests.browser.watching import is_ready

KERNELS = """\
# device: TPU v6e
# peak_ici: 45 GB/s
name,time_us,flops,hbm_bytes,ici_bytes
gemm,100,1e9,1e6,
reduce,50,,,1000000
fused,100,1e9,1e6,4000000
"""


@pytest.fixture(scope="module")
def links_url(visitor: BrowserContext, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a table with bytes over a link."""
    path: Path = tmp_path_factory.mktemp("links") / "kernels.csv"
    path.write_text(KERNELS, "utf-8")
    return uploaded(visitor, path)


@pytest.mark.covers(226)
def test_a_link_binds_transfers_and_is_an_axis(new_page: NewPage, links_url: str) -> None:
    page = new_page()
    page.goto(f"{urlsplit(links_url).path}?x=ici&sort=name&cols=bound_by,roofline_efficiency_ratio")
    is_ready(page)
    rows = view.rows(page)
    expect(rows.filter(has_text="reduce")).to_contain_text("ICI")
    expect(rows.filter(has_text="reduce")).to_contain_text("44")
    roofs = page.locator("#op-chart [class*=tracenames] text")
    expect(roofs.filter(has_text="ICI")).to_be_visible()


def test_the_peak_of_a_link_can_be_set(new_page: NewPage, links_url: str) -> None:
    page = new_page()
    page.goto(f"{urlsplit(links_url).path}?x=ici&cols=roofline_efficiency_ratio")
    is_ready(page)
    page.locator("[data-peaks-button]").click()
    page.locator("[data-peak=ici]").fill("90 GB/s")
    page.locator("[data-peak=ici]").press("Enter")
    view.has_query(page, "peak.ici", "90")
    expect(view.rows(page).filter(has_text="reduce")).to_contain_text("22")
