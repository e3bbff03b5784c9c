"""Every format that is bundled: dropped, seen, filtered and shared, in a real browser."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from roofline.library.samples import Sample, find_samples
from tests.browser import view
from tests.browser.conftest import NewPage
from tests.browser.files import drop
from tests.browser.watching import is_ready

ROOT = Path(__file__).resolve().parents[2]
# The first sample of each format; XSpace has the other journeys.
_BY_FORMAT = {
    sample.files[0].relative_to(ROOT).parts[1]: sample
    for sample in reversed(find_samples(ROOT / "sample_profiles"))
}
SAMPLES = [sample for name, sample in sorted(_BY_FORMAT.items()) if name != "xspace"]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_a_format_is_dropped_seen_filtered_and_shared(new_page: NewPage, sample: Sample) -> None:
    page = new_page()
    page.goto("/")
    drop(page, *sample.files)
    is_ready(page)
    for chart in ("#program-chart", "#op-chart"):
        # Formats that tell when, not what, have a sentence there.
        drawn = f"{chart} .scatterlayer .trace:visible, .plot-box:has({chart}) .empty:visible"
        expect(page.locator(drawn).first).to_be_visible()
    expect(page.locator("#device-info")).not_to_be_empty()
    first = view.names(page)[0]

    page.locator("#filter-name").fill(first[:12])
    expect(page).to_have_url(re.compile(r"[?&]q="))
    kept = view.all_names(page)
    assert first in kept

    other = new_page()
    other.goto(page.url)
    is_ready(other)
    assert view.all_names(other) == kept
