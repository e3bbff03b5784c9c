"""The ten questions of docs/usability.md, played on five real profiles; clicks are counted."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.conftest import uploaded
from tests.browser.watching import is_ready
from tests.shared_profiles import SHARED, needs_shared

TRACES = SHARED / "samples" / "pytorch"
H100, MI300X = (TRACES / f"{name}_qwen_causal.json.gz" for name in ("h100", "mi300x"))
SERVED = [TRACES / f"mi300x_sglang_{part}.json.gz" for part in ("capture", "decode")]
NCU = SHARED / "samples" / "nsight_compute" / "a40_2022.1_imma_indexspaces-74de19f.ncu-rep"
TPU = SHARED / "profiles" / "tpu-v6e-inference" / "host_0.xplane.pb"

# Headline, what to do first, what binds it, the line on layers ("": none), what is waited for.
ANSWERS = {
    "h100": ([H100], "34.9 ms a step", "fuse Qwen2RMSNorm, −5.7 ms", "HBM-bound", "none stands"),
    "mi300x": ([MI300X], "33.1 ms a step", "fill the chip in 4 matmuls", "bound", "DecoderLayer"),
    "sglang": (SERVED, "10.5 ms a decode step", "paged attention kernel", "bound", "Layer_7 takes"),
    "a40": ([NCU], "9.43 ms of kernel time", "julia_bb_4477, −3.3 ms", "ALU", ""),
    "v6e": ([TPU], "78.8 s, 76.0 of them waiting", "copy in both directions", "roof", ""),
}

pytestmark = [needs_shared, pytest.mark.long]


@pytest.fixture(scope="module", params=ANSWERS)
def case(request: pytest.FixtureRequest, visitor: BrowserContext) -> Iterator[tuple[str, str]]:
    """The name of a case, and the address of its profile."""
    files: list[Path] = ANSWERS[request.param][0]
    yield request.param, uploaded(visitor, *files)


def click(page: Page, *targets: Locator) -> int:
    """Clicks one after the other, with no menu open; how many there were."""
    page.keyboard.press("Escape")
    for target in targets:
        target.click()
    return len(targets)


def test_the_ten_questions(page: Page, case: tuple[str, str]) -> None:
    name, url = case
    _, headline, first, bound, layers = ANSWERS[name]
    page.add_init_script('localStorage.removeItem("roofline-open")')  # as on a first visit
    page.goto(url)
    is_ready(page)
    # Nothing to click: length and goal, what first, what binds it, layers, the left edge, waits.
    expect(page.locator("[data-headline]")).to_contain_text(headline)
    expect(page.locator("[data-do-first]")).to_contain_text(first)
    expect(page.locator("[data-lead]")).to_contain_text(bound)
    if layers:
        expect(page.locator("[data-layers]").first).to_contain_text(layers)
    page.locator("#gain-chart").press("Home")  # the left edge, in words
    expect(page.locator("[data-gain-said]")).to_contain_text("1 of ")
    waits = "at its roofs" if name == "a40" else "waiting for"
    expect(page.locator("[data-equation]")).to_contain_text(waits)
    share, clicks = page.get_by_role("button", name="Share", exact=True), {}
    clicks["on other parts"] = click(page, page.locator("#fold-hardware"))
    expect(page.locator("#panel-hardware")).to_be_visible()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    clicks["into pandas"] = click(page, share, page.locator("[data-copy-pandas]"))
    assert "pd.read_csv(" in page.evaluate("navigator.clipboard.readText()")
    clicks["send it"] = click(page, share, page.locator("[data-copy-link]"))
    assert page.evaluate("navigator.clipboard.readText()").startswith(url)
    with page.expect_download() as figure:
        clicks["figure"] = click(page, share, page.locator('[data-download="svg"]'))
    assert figure.value.suggested_filename.endswith(".svg")
    if name == "mi300x":  # the H100 came before it: the likeliest partner
        clicks["what changed"] = click(page, page.locator("[data-compare]"))
        expect(page.locator("h1")).to_contain_text("ms less a step: 33.1 instead of 34.9")
    assert clicks.pop("what changed", 1) == 1
    assert clicks == {"on other parts": 1, "into pandas": 2, "send it": 2, "figure": 2}
