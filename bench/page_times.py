"""What the benchmark of the page measures in one tab, in milliseconds from where each says."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Page

READY = """() => new Promise(resolve => {
  const look = () => {
    const mark = performance.getEntriesByName('roofline:ready')[0];
    if (mark) resolve(mark.startTime); else requestAnimationFrame(look);
  };
  look();
})"""

# Words, tables and points of the charts can be worked with; dragging the chart needs Plotly, too.
INTERACTIVE = "performance.getEntriesByName('roofline:interactive')[0].startTime"
CHART = "performance.getEntriesByName('roofline:chart')[0].startTime"

# The verdict and the chart are in the HTML: they are painted first, and the largest of all.
PAINTS = """() => new Promise(resolve => {
  const found = {painted: 0, shift: 0, longest: 0};
  const ready = performance.getEntriesByName('roofline:ready')[0].startTime;
  const watch = (type, note) => new PerformanceObserver(list => list.getEntries().forEach(note))
    .observe({type, buffered: true});
  watch('largest-contentful-paint', ({startTime}) => { found.painted = startTime; });
  watch('layout-shift', ({value}) => { found.shift += value; });
  watch('longtask', ({startTime, duration}) => {
    if (startTime >= ready) found.longest = Math.max(found.longest, duration);
  });
  setTimeout(() => resolve(found), 300);
})"""

# The longest task from now on, in `window.longest`.
WATCH_TASKS = """() => {
  window.longest = 0;
  new PerformanceObserver(list => {
    for (const {duration} of list.getEntries()) window.longest = Math.max(window.longest, duration);
  }).observe({type: 'longtask'});
}"""

# From a click on a header until the rows it sorts have been painted.
SORT = """async (column) => {
  const button = document.querySelector(`#op-table thead [data-column="${column}"]`);
  const start = performance.now();
  button.click();
  await new Promise(requestAnimationFrame);
  await new Promise(resolve => {
    const channel = new MessageChannel();
    channel.port1.onmessage = resolve;
    channel.port2.postMessage(null);
  });
  return performance.now() - start;
}"""

NOW = "performance.timeOrigin + performance.now()"

# Tells when the card of the import is seen.
WATCH_UPLOAD = """() => {
  const look = () => {
    const card = document.querySelector('[data-import-card]');
    if (card && card.offsetParent !== null) window.noteProgress();
    else requestAnimationFrame(look);
  };
  look();
}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """How a page opened: milliseconds from the start of navigation, and what came over the net."""

    painted: float
    interactive: float
    chart: float
    shift: float
    longest_task: float
    requests: int
    received: float


def opened(context: BrowserContext, url: str) -> tuple[Page, Opened]:
    """Opens `url` in a new tab of `context`, and waits until nothing more is asked for."""
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    sizes: list[int] = []

    def add(event: dict[str, Any]) -> None:
        sizes.append(int(event["encodedDataLength"]))

    session.on("Network.loadingFinished", add)
    page.goto(url)
    page.evaluate(READY)
    page.wait_for_load_state("networkidle")
    session.detach()
    found: dict[str, float] = page.evaluate(PAINTS)
    return page, Opened(
        painted=found["painted"],
        interactive=float(page.evaluate(INTERACTIVE)),
        chart=float(page.evaluate(CHART)),
        shift=found["shift"],
        longest_task=found["longest"],
        requests=len(sizes),
        received=sum(sizes) / 1000,
    )


def resized(page: Page) -> float:
    """The longest task after the window has become narrower, and wide again."""
    page.evaluate(WATCH_TASKS)
    for width in (1_200, 1_440):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(500)  # the drawing is over
    return float(page.evaluate("window.longest"))


def sorted_by(page: Page, column: str) -> float:
    """From a click on the header of `column`, in sight, until the rows have been painted."""
    page.evaluate("document.querySelector('#panel-ops').scrollIntoView()")
    page.wait_for_timeout(200)
    return float(page.evaluate(SORT, column))


def uploaded(context: BrowserContext, home: str, capture: Path) -> tuple[float, float]:
    """From the choice of a file until its progress is seen, and until its chart is painted.

    The chart is in the HTML of the page that opens: it is painted when verdict and chart of any
    opened page are.
    """
    page = context.new_page()
    seen: list[float] = []
    page.expose_function("noteProgress", lambda: seen.append(time.perf_counter()))
    page.goto(home)
    page.wait_for_load_state("networkidle")
    page.evaluate(WATCH_UPLOAD)
    began, began_ms = time.perf_counter(), float(page.evaluate(NOW))
    page.set_input_files("#file", capture)
    page.wait_for_url("**/p/*")
    page.evaluate(READY)
    painted: dict[str, float] = page.evaluate(PAINTS)
    chart = float(page.evaluate("performance.timeOrigin")) + painted["painted"] - began_ms
    page.close()
    # An import that is over before its card was drawn has had the page as its progress.
    return (1000 * (seen[0] - began) if seen else chart), chart
