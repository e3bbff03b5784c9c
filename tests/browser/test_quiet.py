"""The first screen is quiet: few controls, few stops before the chart, few words."""

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page

from bench.page_times import opened
from tests.browser.conftest import ROOT, NewPage, uploaded
from tests.browser.watching import is_ready
from tests.tools.generate_xspace import Config, write_profile

SHARED = ROOT.parent / "shared"
MOST_CONTROLS = 20
MOST_STOPS = 12
MOST_WORDS = 150
MOST_SHIFT = 0.02

# Captures of ten programs, of every kind of subject.
PROFILES = {
    "h100_qwen_causal": "samples/pytorch/h100_qwen_causal.json.gz",
    "mi300x_qwen_causal": "samples/pytorch/mi300x_qwen_causal.json.gz",
    "b200_vllm_eager": "samples/pytorch/b200_vllm_eager.json.gz",
    "a100_no_shapes": "samples/pytorch/a100_no_shapes.json.gz",
    "cpu_steps": "samples/pytorch/cpu_steps_flops_torch213.json.gz",
    "tpu-v6e-inference": "profiles/tpu-v6e-inference/host_0.xplane.pb",
    "jax-cpu-transformer": "profiles/jax-cpu-transformer/host_0.xplane.pb",
    "gpu-v100-tf-multiworker": "profiles/gpu-v100-tf-multiworker/host_0.xplane.pb",
    "amd-mi300x-conv-jax08": "profiles/amd-mi300x-conv-jax08/host_0.xplane.pb",
    "tpu-v5p-training": "profiles/tpu-v5p-training-golden/reference.json",
}

# Programs of the kinds that the others are of, too: `make test-long` looks at these.
ALIKE = {
    *("mi300x_qwen_causal", "a100_no_shapes", "jax-cpu-transformer"),
    *("amd-mi300x-conv-jax08", "tpu-v5p-training"),
}

# What a person sees: an element is on the screen if its middle is hit. All that a script or a
# person can give the focus is a control; a tree and the equation are one each. Numbers with their
# units and the texts of charts are not words.
SEEN = """() => {
  const CONTROL = "a[href], button, input, select, textarea, summary, [tabindex]";
  const visible = (element) =>
    element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const isHit = (element) => {
    const box = element.getBoundingClientRect();
    const x = Math.min(Math.max(box.x + box.width / 2, 1), innerWidth - 1);
    const y = box.y + box.height / 2;
    if (box.width === 0 || y < 0 || y >= innerHeight) return false;
    const hit = document.elementFromPoint(x, y);
    return hit !== null && (element.contains(hit) || hit.closest("label")?.control === element);
  };
  const controls = [...document.querySelectorAll(CONTROL)]
    .filter((one) => !one.disabled && visible(one) && isHit(one));
  const chart = document.querySelector("[data-gain] .plot, [data-budget], .gain .plot");
  const before = [...document.querySelectorAll(CONTROL)].filter((one) => !one.disabled
    && one.tabIndex >= 0 && visible(one)
    && (!chart || one.compareDocumentPosition(chart) & Node.DOCUMENT_POSITION_FOLLOWING));
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const words = [];
  while (texts.nextNode()) {
    const { parentElement: parent, data } = texts.currentNode;
    if (!data.trim() || !visible(parent) || parent.closest("script, svg, .sr, option")) continue;
    const range = document.createRange();
    range.selectNodeContents(texts.currentNode);
    const box = range.getBoundingClientRect();
    if (box.width === 0 || box.bottom > innerHeight || box.y < 0) continue;
    const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    if (!hit || !(hit.contains(parent) || parent.contains(hit))) continue;
    words.push(data);
  }
  const UNIT = /^(µs|ms|s|ns|%|[KMGTP]?(FLOP|FLOP|B)\\/(s|B)|[KMGT]?B|ops?)[.,;:)]*$/;
  const counted = words.join(" ").split(/\\s+/)
    .filter((word) => /\\p{L}/u.test(word) && !/^[−(]?\\d/.test(word) && !UNIT.test(word));
  const beside = ["[data-gain]", "#title-advice", "#op-chart"].map((one) =>
    document.querySelector(one)?.getBoundingClientRect().bottom ?? 0);
  return { controls: controls.map((one) => one.outerHTML.slice(0, 90)), stops: before.length,
    words: counted, bottom: Math.max(...beside), shift: window.shift,
    shifted: window.shifted };
}"""
SHIFTS = """window.shift = 0;
window.shifted = [];
new PerformanceObserver((list) => {
  for (const one of list.getEntries().filter((entry) => !entry.hadRecentInput)) {
    window.shift += one.value;
    for (const { node } of one.sources) window.shifted.push(node?.outerHTML?.slice(0, 90));
  }
}).observe({ type: "layout-shift", buffered: true })"""


@pytest.fixture(scope="module")
def addresses(visitor: BrowserContext) -> dict[str, str]:
    """The pages of those captures that are beside this checkout, uploaded when first asked for."""
    return {}


def address(visitor: BrowserContext, addresses: dict[str, str], name: str) -> str:
    path: Path = SHARED / PROFILES[name]
    if not path.is_file():
        pytest.skip(f"{PROFILES[name]} is not beside this checkout")
    if name not in addresses:
        addresses[name] = uploaded(visitor, path)
    return addresses[name]


@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=pytest.mark.long) if one in ALIKE else one for one in PROFILES],
)
def test_first_screen_of_a_program(
    name: str, new_page: NewPage, visitor: BrowserContext, addresses: dict[str, str]
) -> None:
    url = address(visitor, addresses, name)
    page = new_page(folded=True)
    page.add_init_script(SHIFTS)
    for width in (1440, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(url)
        is_ready(page)
        is_quiet(page)


def test_first_screen_of_the_sample(new_page: NewPage, profile_url: str) -> None:
    page = new_page(folded=True, cold=True, viewport={"width": 1440, "height": 900})
    page.add_init_script(SHIFTS)
    page.goto(profile_url)
    is_ready(page)
    is_quiet(page)


def is_quiet(page: Page) -> None:
    seen = page.evaluate(SEEN)
    counts = len(seen["controls"]), seen["stops"], len(seen["words"])
    most = MOST_CONTROLS, MOST_STOPS, MOST_WORDS
    assert all(n <= limit for n, limit in zip(counts, most, strict=True)), (counts, seen)
    assert seen["bottom"] <= 900, "the strip, the findings and the roofline are on the first screen"
    assert seen["shift"] < MOST_SHIFT, seen["shifted"]


def test_a_cold_page_of_a_thousand_operations_is_light(
    new_page: NewPage, visitor: BrowserContext, tmp_path: Path
) -> None:
    traits = ("framework_ops", "sources", "long_names")
    capture = Config(device="v6e", n_distinct_ops=1_060, n_events=8_000, n_steps=4, traits=traits)
    url = uploaded(visitor, *write_profile(capture, tmp_path))
    _, found = opened(new_page(folded=True, cold=True).context, url)
    assert found.received < 500
    assert found.requests <= 15
