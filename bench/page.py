"""Times the page in Chromium against a real server: ready, keystroke, what-if, DOM nodes, bytes.

python -m bench.page [--rounds 5] [--profile FILE ...]
"""

import argparse
import statistics
import tempfile
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Browser, Page, sync_playwright

from bench.browser import chromium
from bench.readme import describe_machine, write_section
from tests.browser.serving import serving
from tests.tools.generate_xspace import Config, write_profile

TEXT = "fusion.1"

READY = """() => new Promise(resolve => {
  const look = () => {
    const mark = performance.getEntriesByName('roofline:ready')[0];
    if (mark) resolve(mark.startTime); else requestAnimationFrame(look);
  };
  look();
})"""

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

DEVICES = ["H100 SXM", "TPU v5p", "MI300X", "A100 SXM4 80", "TPU v5e", "B200"]
# A click on the first device listed, until words, roofs, table and address have changed, and
# until that is painted.
CHOOSE = """async () => {
  const words = where => [...document.querySelectorAll(where)].map(e => e.textContent).join();
  const shown = () => [
    words('[data-headline]'),
    words('#op-chart .annotation-text'),
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
  item.querySelector('button').click();
  while (shown().some((now, i) => now === before[i])) await turn();
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
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium())
            rows = _measure(browser, url, arguments.rounds)
            browser.close()
    lines = ["| what | median | range |", "|---|---|---|", *rows]
    about = f"Median of {arguments.rounds}; {describe_machine()}."
    print("\n".join(lines))
    write_section("page", "\n".join([about, "", *lines]))


def _measure(browser: Browser, url: str, rounds: int) -> list[str]:
    cold: list[float] = []
    warm: list[float] = []
    cold_bytes: list[float] = []
    warm_bytes: list[float] = []
    keys: list[float] = []
    choices: list[tuple[float, float]] = []
    nodes = 0
    browser.new_context().new_page().goto(url)  # the server's own first time is not the page's
    for _ in range(rounds):
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        page = context.new_page()
        for times, sizes in ((cold, cold_bytes), (warm, warm_bytes)):
            ready, received = _navigate(page, url)
            times.append(ready)
            sizes.append(received)
        nodes = page.evaluate("document.querySelectorAll('*').length")
        keys += _type(page)
        page.goto(url)
        page.evaluate(READY)
        choices += _choose_devices(page)
        context.close()
    return [
        _row("ready, cold cache", cold, "ms"),
        _row("ready, reload", warm, "ms"),
        _row("keystroke → shown", keys, "ms"),
        _row(
            "another device → words, table, roofs, link", [changed for changed, _ in choices], "ms"
        ),
        _row("another device → painted", [painted for _, painted in choices], "ms"),
        _row("received, cold cache", [size / 1000 for size in cold_bytes], "kB"),
        _row("received, reload", [size / 1000 for size in warm_bytes], "kB"),
        f"| DOM nodes | {nodes:,} | |",
    ]


def _navigate(page: Page, url: str) -> tuple[float, int]:
    """Milliseconds until ready, and bytes received as sent, compressed and with headers."""
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    received = 0

    def add(event: dict[str, Any]) -> None:
        nonlocal received
        received += int(event["encodedDataLength"])

    session.on("Network.loadingFinished", add)
    page.goto(url)
    ready = float(page.evaluate(READY))
    page.wait_for_load_state("networkidle")
    session.detach()
    return ready, received


def _type(page: Page) -> list[float]:
    page.evaluate(WATCH_KEYS)
    page.locator("#filter-name").focus()
    for count, character in enumerate(TEXT, start=1):
        page.keyboard.press(character)
        page.wait_for_function("(count) => window.keystrokes.length >= count", arg=count)
    times: list[float] = page.evaluate("window.keystrokes")
    return times


def _choose_devices(page: Page) -> list[tuple[float, float]]:
    """Milliseconds per device until the document has changed, and until that is painted."""
    page.locator("[data-peaks-button]").click()
    times = []
    for name in DEVICES:
        page.locator("[data-device-search]").fill(name)
        page.wait_for_timeout(400)  # the drawing before it is over
        changed, painted = page.evaluate(CHOOSE)
        times.append((changed, painted))
        page.wait_for_timeout(400)
    return times


def _row(what: str, values: list[float], unit: str) -> str:
    low, high = min(values), max(values)
    return f"| {what} | {statistics.median(values):,.0f} {unit} | {low:,.0f} – {high:,.0f} {unit} |"


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
