"""Times the page in Chromium against a real server, each figure with its limit beside it.

Painted, interactive, draggable, layout shift, requests and bytes with a cold cache and in a
new tab; keystroke, sorting, another device, another size of the window; an upload of 1 MB until its
chart.

python -m bench.page [--rounds 5] [--profile FILE ...]
"""

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from playwright.sync_api import Browser, Page, sync_playwright

from bench.browser import chromium
from bench.page_times import READY, Opened, opened, resized, sorted_by, uploaded
from bench.readme import describe_machine, write_section
from tests.browser.serving import serving
from tests.tools.generate_xspace import Config, write_profile

TEXT = "fusion.1"

# From the event's own time stamp until after the next painted frame.
WATCH_KEYS = """() => {
  window.keystrokes = [];
  document.querySelector('#filter-name').addEventListener('input', event => {
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => window.keystrokes.push(performance.now() - event.timeStamp);
      channel.port2.postMessage(null);
    });
  }, {capture: true});
}"""

# Between two keys, as a fast typist has it: a key that comes as a frame ends waits for a whole one.
BETWEEN_KEYS_MS = 60
SORTED = ["gain_us", "name", "width_us"]
DEVICES = ["H100 SXM", "TPU v5p", "MI300X", "A100 SXM4 80", "TPU v5e", "B200"]
# A click on the first device listed, until words, roofs, table and address have changed, and
# until that is painted. It looks when the chart says that it was drawn: one that asked all the time
# took the processor that the answer is computed on.
CHOOSE = """async () => {
  const words = where => [...document.querySelectorAll(where)].map(e => e.textContent).join();
  const shown = () => [
    words('[data-headline]'),
    words('#op-chart [class*=tracenames] text'),
    words('#op-table tbody'),
    location.search,
  ];
  const turn = () => new Promise(resolve => {
    const channel = new MessageChannel();
    channel.port1.onmessage = resolve;
    channel.port2.postMessage(null);
  });
  const item = [...document.querySelectorAll('[data-device-list] li')].find(li => li.offsetParent);
  const before = shown();
  const start = performance.now();
  const drawn = new Promise(resolve => {
    new MutationObserver(() => shown().every((now, i) => now !== before[i]) && resolve())
      .observe(document.querySelector('#op-chart'), {attributeFilter: ['data-drawn']});
  });
  item.querySelector('button').click();
  await drawn;
  const changed = performance.now() - start;
  await new Promise(requestAnimationFrame);
  await turn();
  return [changed, performance.now() - start];
}"""


def main() -> None:
    arguments = _parse()
    with tempfile.TemporaryDirectory() as scratch, serving(Path(scratch)) as server:
        files = arguments.profile or write_profile(
            Config(
                device="v6e",
                n_devices=4,
                n_steps=8,
                n_distinct_ops=1_060,
                n_events=40_000,
                seed=3,
                traits=("framework_ops", "sources", "long_names"),
            ),
            scratch,
        )
        url = server.url + _upload(server.url, files)
        captures = _small(Path(scratch), arguments.rounds)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium())
            rows = _measure(browser, url, arguments.rounds, captures)
            browser.close()
    lines = ["| what | median | range | limit |", "|---|---|---|---|", *rows]
    about = f"Median of {arguments.rounds}; {describe_machine()}."
    print("\n".join(lines))
    write_section("page", "\n".join([about, "", *lines]))


@dataclass(slots=True)
class _Figures:
    """All that was measured, a list of values per figure."""

    cold: list[Opened] = field(default_factory=list)
    tab: list[Opened] = field(default_factory=list)
    keys: list[float] = field(default_factory=list)
    sorts: list[float] = field(default_factory=list)
    resizes: list[float] = field(default_factory=list)
    choices: list[tuple[float, float]] = field(default_factory=list)
    uploads: list[tuple[float, float]] = field(default_factory=list)
    nodes: int = 0


def _measure(browser: Browser, url: str, rounds: int, captures: Sequence[Path]) -> list[str]:
    figures = _Figures()
    browser.new_context().new_page().goto(url)  # the server's own first time is not the page's
    for number in range(rounds):
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        page, first = opened(context, url)
        page.close()
        page, again = opened(context, url)
        figures.cold.append(first)
        figures.tab.append(again)
        figures.nodes = page.evaluate("document.querySelectorAll('*').length")
        figures.resizes.append(resized(page))
        page.locator("#fold-ops").click()
        figures.sorts += [sorted_by(page, column) for column in SORTED]
        figures.keys += _type(page)
        page.goto(url)
        page.evaluate(READY)
        figures.choices += _choose_devices(page)
        home = url.split("/p/")[0]
        # Every upload is of another file: the same would be known already.
        figures.uploads.append(uploaded(context, home, captures[number]))
        context.close()
    return _rows(figures)


def _rows(figures: _Figures) -> list[str]:
    cold, tab = figures.cold, figures.tab
    both = [*cold, *tab]
    return [
        _row("words painted, cold cache", [one.painted for one in cold], "ms", 250),
        _row("words painted, new tab", [one.painted for one in tab], "ms", 180),
        _row("interactive, cold cache", [one.interactive for one in cold], "ms", 600),
        _row("interactive, new tab", [one.interactive for one in tab], "ms", 350),
        _row("chart painted, cold cache", [one.chart for one in cold], "ms", 500),
        _row("chart painted, new tab", [one.chart for one in tab], "ms", 400),
        _row("layout shift, in thousandths", [1000 * one.shift for one in both], "", 20),
        _row("longest task once ready", [one.longest_task for one in both], "ms", 50),
        _row("requests, cold cache", [one.requests for one in cold], "", 20),
        _row("received, cold cache", [one.received for one in cold], "kB", 500),
        _row("received, new tab", [one.received for one in tab], "kB", None),
        _row("keystroke → shown", figures.keys, "ms", 16),
        _row("sorted → painted", figures.sorts, "ms", 30),
        _row("another size of the window, longest task", figures.resizes, "ms", 100),
        _row(
            "another device → words, table, roofs, link",
            [changed for changed, _ in figures.choices],
            "ms",
            None,
        ),
        _row("another device → painted", [painted for _, painted in figures.choices], "ms", 120),
        _row("upload of 1 MB → progress", [progress for progress, _ in figures.uploads], "ms", 100),
        _row("upload of 1 MB → chart", [chart for _, chart in figures.uploads], "ms", 600),
        f"| DOM nodes | {figures.nodes:,} | | |",
    ]


def _type(page: Page) -> list[float]:
    page.evaluate(WATCH_KEYS)
    page.locator("#filter-name").focus()
    for count, character in enumerate(TEXT, start=1):
        page.keyboard.press(character)
        page.wait_for_function("(count) => window.keystrokes.length >= count", arg=count)
        page.wait_for_timeout(BETWEEN_KEYS_MS)
    times: list[float] = page.evaluate("window.keystrokes")
    return times


def _choose_devices(page: Page) -> list[tuple[float, float]]:
    """Milliseconds per device until the document has changed, and until that is painted."""
    page.locator("[data-fold=device]").click()
    page.locator("[data-peaks-button]").click()
    times = []
    for name in DEVICES:
        page.locator("[data-device-search]").fill(name)
        page.wait_for_timeout(400)  # the drawing before it is over
        changed, painted = page.evaluate(CHOOSE)
        times.append((changed, painted))
        page.wait_for_timeout(400)
    return times


def _row(what: str, values: Sequence[float], unit: str, limit: float | None) -> str:
    """A row: the median is held against `limit`, and marked where it is above."""
    low, high, middle = min(values), max(values), statistics.median(values)
    bound = "" if limit is None else f"{limit:,.0f} {unit}{', missed' if middle > limit else ''}"
    return f"| {what} | {middle:,.0f} {unit} | {low:,.0f} – {high:,.0f} {unit} | {bound} |"


def _small(scratch: Path, rounds: int) -> list[Path]:
    """Captures of about 1 MB, each another: the same would be known already."""
    return [
        write_profile(
            Config(n_events=52_000, n_steps=8, n_distinct_ops=400, seed=seed),
            scratch / f"small-{seed}",
        )[0]
        for seed in range(rounds)
    ]


def _upload(address: str, files: list[Path]) -> str:
    parts = [("file", (Path(file).name, Path(file).read_bytes())) for file in files]
    reply = httpx.post(f"{address}/api/v1/profiles?wait=120", files=parts, timeout=180)
    reply.raise_for_status()
    url: str = reply.json()["url"]
    return url.removeprefix(address)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--profile", type=Path, action="append", help="instead of a generated one")
    return parser.parse_args()


if __name__ == "__main__":
    main()
