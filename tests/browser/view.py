"""What a test reads from the page of a profile."""

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Locator, Page, expect

# The marks of operations that are drawn and not filtered out.
_MARKS = (
    """() => [...document.querySelectorAll("#op-chart [class*='tracemarks'] .point:not(.ghost)")]"""
)

# Rows that few windows show are painted after the frame with the first ones.
_PAINTED = """async () => {
  for (let frames = 0; frames < 4; frames += 1)
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
}"""
# The chart of a profile that shows what the address says; other pages have none.
_SETTLED = "() => document.querySelector('#op-chart')?.ariaBusy !== 'true'"


def result(page: Page) -> tuple[int, int]:
    """How many operations the filters leave, of how many."""
    text = page.locator("[data-result]").inner_text().replace(",", "")
    numbers = re.match(r"(\d+)(?: of (\d+))? ops?", text)
    assert numbers, text
    return int(numbers[1]), int(numbers[2] or numbers[1])


def rows(page: Page) -> Locator:
    """The visible rows of the op table."""
    return page.locator("#op-table tbody tr:visible")


def names(page: Page) -> list[str]:
    """The operations on the table's page, in its order."""
    return rows(page).locator("th button").all_inner_texts()


def all_names(page: Page) -> list[str]:
    """The operations on every page of the table, in its order."""
    found = names(page)
    following = page.locator("#panel-ops [data-page-by='1']")
    while following.is_enabled():
        following.click()
        page.evaluate(_PAINTED)
        found += names(page)
    return found


def drawn(page: Page) -> int:
    """How many operations are drawn and not filtered out."""
    return int(page.evaluate(f"({_MARKS})().length"))


def is_drawn(page: Page) -> None:
    """Waits for the chart that the server draws for the view."""
    page.wait_for_function(_SETTLED)


def largest_point(page: Page) -> dict[str, float]:
    """The middle of the largest op mark that stands apart from all others."""
    page.locator("#op-chart").evaluate("(box) => box.scrollIntoView({ block: 'center' })")
    middle: dict[str, float] | None = page.evaluate(
        """(marks) => {
          const chart = document.querySelector("#op-chart .nsewdrag").getBoundingClientRect();
          const circles = marks.map((mark) => mark.getBoundingClientRect())
            .map(({ x, y, width, height }) =>
              ({ x: x + width / 2, y: y + height / 2, r: width / 2 }));
          const inside = ({ x, y, r }) => x - r > chart.left && x + r < chart.right
            && y - r > chart.top && y + r < chart.bottom;
          const apart = (a, b) => Math.hypot(a.x - b.x, a.y - b.y) > a.r + b.r;
          const free = circles.filter(inside)
            .filter((circle) => circles.every((other) => other === circle || apart(circle, other)));
          return free.sort((a, b) => b.r - a.r)[0] ?? null;
        }""",
        page.evaluate_handle(f"({_MARKS})()"),
    )
    assert middle, "no operation stands apart from the others"
    return middle


def query(page: Page) -> dict[str, list[str]]:
    """The view state in the address."""
    return parse_qs(urlsplit(page.url).query)


def has_query(page: Page, key: str, *values: str) -> None:
    """Waits until the address says `key`; the page writes it a moment after the change."""
    page.wait_for_function(
        "([key, values]) => String(new URLSearchParams(location.search).getAll(key)) === values",
        arg=[key, ",".join(values)],
    )
    page.wait_for_function(_SETTLED)


def has_key(page: Page, key: str) -> None:
    """Waits until the address says anything about `key`."""
    page.wait_for_function("(key) => new URLSearchParams(location.search).has(key)", arg=key)
    page.wait_for_function(_SETTLED)


def page_data(page: Page) -> Any:
    """The page data as the server sends them."""
    profile = urlsplit(page.url).path.rpartition("/")[2]
    answer = page.request.get(f"/api/v1/profiles/{profile}/page")
    assert answer.ok
    return answer.json()


def choose_category(page: Page, name: str) -> None:
    """Ticks `name` among the categories and closes the menu."""
    more_filters(page)
    page.locator("#menu-filters").get_by_role("checkbox", name=name, exact=True).check()
    page.keyboard.press("Escape")
    expect(page.locator("#menu-filters")).to_be_hidden()


def choose_bound(page: Page, bound: str) -> None:
    """Presses or frees what binds, and closes the menu."""
    more_filters(page)
    page.locator(f"#filter-bound [data-bound={bound}]").click()
    page.keyboard.press("Escape")
    expect(page.locator("#menu-filters")).to_be_hidden()


def share(page: Page, entry: str) -> None:
    """Opens the menu *Share* and presses one of its entries."""
    page.get_by_role("button", name="Share", exact=True).click()
    page.locator("#menu-share").get_by_role("button", name=entry).click()


def more_filters(page: Page) -> None:
    """Opens the filters that have no place in the bar."""
    page.locator("[data-more-filters]").click()


def chart_options(page: Page) -> None:
    """Opens the options of the chart, and leaves them open."""
    page.get_by_role("button", name="More options of the chart").click()
