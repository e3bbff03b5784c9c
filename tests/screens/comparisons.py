"""Comparisons in every state."""

from collections.abc import Callable

import httpx
from playwright.sync_api import Page, Route, expect

from tests.browser.freezing import frozen_imports
from tests.browser.watching import is_ready
from tests.screens.site import Site

Show = Callable[[Page, Site], None]


def _of(
    first: str, second: str, query: str = "", then: Callable[[Page], None] | None = None
) -> Show:
    def show(page: Page, site: Site) -> None:
        page.goto(f"{site.server.url}/c/{site.id(first)}..{site.id(second)}{query}")
        is_ready(page)
        if then is not None:
            then(page)

    return show


def _tab(name: str) -> Callable[[Page], None]:
    def press(page: Page) -> None:
        page.locator("[data-fold=ops] > summary").click()
        page.locator(f"#tab-{name}").click()

    return press


def _all_fields(page: Page) -> None:
    page.locator("[data-fold=facts] > summary").click()


def _term(page: Page) -> None:
    page.locator("[data-fold=split] > summary").click()


def _pointed(page: Page) -> None:
    page.locator("[data-fold=ops] > summary").click()
    page.locator("[data-table] tbody tr").first.hover()


def _swapped(page: Page) -> None:
    page.keyboard.press("s")
    page.wait_for_load_state("load")
    is_ready(page)


def _picker(page: Page) -> None:
    page.get_by_role("link", name="Add a run").click()
    expect(page.locator(".cmp-partners a").first).to_be_visible()


def _captures(page: Page, site: Site) -> None:
    """Two captures of A, and two of B."""
    pair = f"{site.id('run-1')}..{site.id('run-2')}"
    page.goto(f"{site.server.url}/c/{pair}?a={site.id('run-3')}&b={site.id('run-4')}")
    is_ready(page)


def _three(page: Page, site: Site) -> None:
    pair = f"{site.id('run-1')}..{site.id('run-2')}"
    page.goto(f"{site.server.url}/c/{pair}?v=1&vs={site.id('run-3')}")
    is_ready(page)


def _failed(page: Page, site: Site) -> None:
    other = _posted(site, b"no profile", wait=60)
    page.goto(f"{site.server.url}/c/{site.id('run-1')}..{other}")
    expect(page.get_by_role("heading", level=1)).to_contain_text("cannot be compared")


def _never(_route: Route) -> None:
    """The answer to a question how far an import is, which stays open."""


def _waiting(page: Page, site: Site) -> None:
    first = site.id("run-1")
    with frozen_imports(site.server):
        other = _posted(site, site.files("sparse")[0].read_bytes() + b"\n", wait=0)
        page.route("**/api/v1/**", _never)
        page.goto(f"{site.server.url}/c/{first}..{other}")
        expect(page.get_by_role("heading", level=1)).to_contain_text("opens when both")


def _posted(site: Site, content: bytes, *, wait: int) -> str:
    answer = httpx.post(
        f"{site.server.url}/api/v1/profiles?wait={wait}",
        files={"file": ("b.csv", content)},
        timeout=120,
    )
    return str(answer.json()["id"])


def _deleted(page: Page, site: Site) -> None:
    other = _posted(site, site.files("right-to-left")[0].read_bytes() + b"y,1,2,3\n", wait=60)
    token = {"origin": site.server.url}
    httpx.delete(f"{site.server.url}/api/v1/profiles/{other}", headers=token).raise_for_status()
    page.goto(f"{site.server.url}/c/{site.id('run-1')}..{other}")


STATES: dict[str, Show] = {
    "compare": _of("run-1", "run-2"),
    "compare-swapped": _of("run-1", "run-2", then=_swapped),
    "compare-same": _of("run-1", "run-1"),
    "compare-fields": _of("run-1", "run-2", then=_all_fields),
    "compare-term": _of("run-1", "run-2", then=_term),
    "compare-pointed": _of("run-1", "run-2", then=_pointed),
    "compare-unchanged": _of("run-1", "run-2", then=_tab("same")),
    "compare-groups": _of("h100", "v6e", then=_tab("groups")),
    "compare-only-a": _of("h100", "v6e", then=_tab("only-a")),
    "compare-only-b": _of("h100", "v6e", then=_tab("only-b")),
    "compare-devices": _of("h100", "ranks"),
    "compare-unlike": _of("h100", "v6e"),
    "compare-hosts": _of("three-hosts", "v6e"),
    "compare-no-peaks": _of("a100", "no-peaks"),
    "compare-no-ops": _of("v6e", "zero-ops"),
    "compare-names": _of("hostile", "right-to-left"),
    "compare-add-run": _of("run-1", "run-2", then=_picker),
    "compare-captures": _captures,
    "compare-three": _three,
    "compare-failed": _failed,
    "compare-waiting": _waiting,
    "compare-deleted": _deleted,
}
