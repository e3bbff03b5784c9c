"""A file without any time: the page draws its kernels at their roof, "at best", and says so."""

from pathlib import Path

from playwright.sync_api import expect

from tests.browser import view
from tests.browser.conftest import NewPage
from tests.browser.files import drop
from tests.browser.watching import is_ready

TABLE = """\
# device: TPU7x bf16 seed
# peak_bf16: 2307 TFLOP/s
# peak_hbm: 7.2 TB/s
name,calls,flops,hbm_bytes,precision
LayerNorm,1,2684354560,1610629120,bf16
MatMul 600x600,1,432000000,2160000,bf16
FFN Up,1,8796093022208,2818572288,bf16
"""


def test_predictions_are_drawn_and_named(new_page: NewPage, tmp_path: Path) -> None:
    path = tmp_path / "plan.csv"
    path.write_text(TABLE, "utf-8")
    page = new_page()
    page.goto("/")
    drop(page, path)
    is_ready(page)
    expect(page.locator(".verdict")).to_contain_text("Three operations without times")
    expect(page.locator("[data-program-empty]")).to_contain_text("No time was measured")
    assert sorted(view.names(page)) == ["FFN Up", "LayerNorm", "MatMul 600x600"]
    expect(page.locator("#op-chart [class*=tracemarks] .point")).to_have_count(3)
    cells = page.locator("#op-table tbody td")
    expect(cells.get_by_text("at best", exact=True)).to_have_count(3)  # of the roof
    expect(cells.get_by_text("2,307", exact=True)).to_have_count(1)
