"""The home page in every state but its first."""

import json
import shutil
from collections.abc import Callable

import httpx
from playwright.sync_api import Page, Route, expect

from tests.browser.files import drop
from tests.conftest import SAMPLES
from tests.screens import runs
from tests.screens.site import Site

Show = Callable[[Page, Site], None]

LONG = "transformer-xl-with-a-very-long-run-name-2026-11-21T10-00-00-attempt-17-host_0"
TITLES = (
    ("v5p-pretrain, golden", "training, nightly"),
    ("Qwen 0.5B prefill", "qwen"),
    ("Qwen 0.5B prefill, fp8", "qwen, quantised"),
    (LONG, "nightly, a-tag-of-many-letters-that-is-cut"),
    ("layernorm-fp32-cache", "kernels"),
    ("<b>escaped</b>", "kernels, training"),
    ("Solver, MI250X", ""),
    ("serving, 32 sequences", "serving, nightly"),
)
PROFILES = 60


def _crowd(url: str) -> None:
    """Profiles with titles and tags: more than a page of the list has."""
    samples = [
        SAMPLES / "xspace/v6e-training.xplane.pb",
        SAMPLES / "pytorch/h100-training.json",
        SAMPLES / "nsight_compute/a100-kernels.ncu-rep",
        SAMPLES / "xprof_export/a100-hlo_stats.csv",
    ]
    for at in range(PROFILES):
        title, tags = TITLES[at % len(TITLES)]
        file = samples[at % len(samples)]
        answer = httpx.post(
            f"{url}/api/v1/profiles?wait=60",
            data={"title": f"{title} {at // len(TITLES) or ''}".strip(), "tag": tags},
            files={"file": (file.name, file.read_bytes())},
            timeout=120,
        )
        answer.raise_for_status()


def _crowded(site: Site) -> str:
    server = site.other("crowded")
    site.kept("crowd", lambda: _filled(server.url))
    return server.url


def _filled(url: str) -> str:
    for name in ("many", "three", "unreadable"):
        runs.complete(url, name)
    _crowd(url)
    return url


def _many(query: str = "", then: Callable[[Page], None] | None = None) -> Show:
    def show(page: Page, site: Site) -> None:
        page.goto(f"{_crowded(site)}/{query}")
        expect(page.locator("[data-list]")).to_be_visible()
        _drawn(page)
        if then is not None:
            then(page)

    return show


def _drawn(page: Page) -> None:
    """Waits until the rows in the window have their drawings."""
    if page.locator("[data-list] tr").count():
        expect(page.locator("[data-list] .thumb svg").first).to_be_attached()


def _selected(count: int) -> Callable[[Page], None]:
    def select(page: Page) -> None:
        for box in page.locator("[data-pick]").all()[:count]:
            box.check()

    return select


def _palette(page: Page) -> None:
    page.keyboard.press("Control+k")
    expect(page.locator("dialog.palette")).to_be_visible()


def _keys(page: Page) -> None:
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()


def _found(page: Page, site: Site) -> None:
    """A server that watches a folder in which runs appear."""
    root = site.folder / "bucket"
    hosts = sorted((SAMPLES / "xspace/v5e-three-hosts").glob("*.xplane.pb"))
    for at, session in enumerate(("2026_11_21_10_00_00", "2026_11_22_10_00_00", LONG)):
        folder = root / "plugins" / "profile" / session
        folder.mkdir(parents=True, exist_ok=True)
        for host in hosts[: at + 1]:
            shutil.copy(host, folder)
    page.goto(site.other("watching").url)
    for _ in range(60):
        if page.locator("[data-found] li").count() == 3:
            break
        page.wait_for_timeout(500)
        page.reload()
    expect(page.locator("[data-found] li")).to_have_count(3)


def _no_room(route: Route) -> None:
    said = {
        "code": "storage-full",
        "message": "The server cannot store more: its disk is full.",
        "remedy": "Delete profiles that are no longer needed, or free space on its disk.",
    }
    route.fulfill(status=507, content_type="application/json", body=json.dumps(said))


def _cut(page: Page, site: Site) -> None:
    """The connection ends while the files are on their way."""
    page.route("**/api/v1/profiles?*", lambda route: route.abort("connectionreset"))
    _dropped(page, site.server.url, site)


def _refused_full(page: Page, site: Site) -> None:
    page.route("**/api/v1/profiles?*", _no_room)
    _dropped(page, site.server.url, site)


def _refused_large(page: Page, site: Site) -> None:
    _dropped(page, site.other("small").url, site)


def _dropped(page: Page, url: str, site: Site) -> None:
    page.goto(url)
    page.wait_for_load_state("load")
    drop(page, *site.files("run-1"))
    expect(page.get_by_role("alert")).to_be_visible(timeout=60_000)


STATES: dict[str, Show] = {
    "home-many": _many(),
    "home-last-page": _many("?page=2"),
    "home-folder": _many("?tag=nightly"),
    "home-search": _many("?q=qwen"),
    "home-nothing-found": _many("?q=nothing+of+this+name"),
    "home-one-chosen": _many(then=_selected(1)),
    "home-five-chosen": _many(then=_selected(5)),
    "home-palette": _many(then=_palette),
    "home-keys": _many(then=_keys),
    "home-found": _found,
    "upload-cut": _cut,
    "refused-413": _refused_large,
    "refused-507": _refused_full,
}

# The servers of states that are not on the open one.
ON = {name: "crowded" for name in STATES if name.startswith("home-")} | {
    "home-found": "watching",
    "refused-413": "small",
}
