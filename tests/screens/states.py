"""Every state of every page, as functions that bring a browser page there."""

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, Route, expect

from tests.browser.files import drop
from tests.browser.watching import is_ready
from tests.screens import comparisons, homes, runs
from tests.screens.profile_states import PROFILE_STATES, Show
from tests.screens.site import TOKEN, Site


def _path(path: str, then: Callable[[Page], None] | None = None) -> Show:
    def show(page: Page, site: Site) -> None:
        page.goto(f"{site.server.url}{path}")
        if then is not None:
            then(page)

    return show


def _home(page: Page, site: Site) -> None:
    for name in ("v6e", "h100", "right-to-left", "run-1", "run-2", "run-3"):
        site.profile(name)
    page.goto(site.server.url)


def _two_chosen(page: Page, site: Site) -> None:
    _home(page, site)
    boxes = page.locator("[data-pick]")
    for box in boxes.all()[:2]:
        box.check()


def _series(page: Page, site: Site) -> None:
    for name in ("run-1", "run-2", "run-3"):
        site.profile(name)
    page.goto(f"{site.server.url}/s/train_step")
    is_ready(page)
    page.locator(".rules tbody tr").first.wait_for()


def _shared(page: Page, site: Site) -> None:
    page.goto(f"{site.server.url}{site.profile('v6e')}")
    is_ready(page)
    page.get_by_role("button", name="Share", exact=True).click()
    page.get_by_role("button", name="Visibility and links").click()
    dialog = page.get_by_role("dialog", name="Share this profile")
    dialog.get_by_label("Link holders").check()
    dialog.get_by_label("For").fill("a colleague")
    dialog.get_by_role("button", name="Create link").click()
    expect(dialog.locator("[data-share-url]")).not_to_be_empty()


def _share_link(page: Page, site: Site) -> None:
    _shared(page, site)
    page.goto(page.locator("[data-share-url]").inner_text())
    is_ready(page)


def _refused(page: Page, site: Site) -> None:
    page.goto(site.server.url)
    page.wait_for_load_state("load")
    drop(page, *site.files("wrong"))
    expect(page.get_by_role("alert")).to_be_visible(timeout=60_000)


def _never(_route: Route) -> None:
    """The answer to an upload that never ends."""


def _importing(page: Page, site: Site) -> None:
    page.route("**/api/v1/profiles?*", _never)
    page.goto(site.server.url)
    page.wait_for_load_state("load")
    drop(page, *site.files("run-1"))
    expect(page.get_by_label("Import in progress")).to_be_visible()


def _log_in(page: Page) -> None:
    page.get_by_label("Your name").fill("Ada")
    page.get_by_label("Token").fill(TOKEN)
    page.get_by_role("button", name="Log in").click()


def _guarded(path: str, then: Callable[[Page], None] = _log_in) -> Show:
    def show(page: Page, site: Site) -> None:
        page.goto(f"{site.guarded.url}{path}")
        then(page)

    return show


def _token_made(page: Page) -> None:
    _log_in(page)
    page.get_by_label("Name").fill("nightly")
    page.get_by_role("button", name="Make a token").click()
    expect(page.locator("[data-token-secret]")).not_to_be_empty()


def _wrong_token(page: Page) -> None:
    page.get_by_label("Your name").fill("Ada")
    page.get_by_label("Token").fill("wrong")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_be_visible()


def _explore(page: Page, site: Site) -> None:
    page.goto(f"{site.server.url}/explore?of={site.id('h100')}")


def _model_over(page: Page, site: Site) -> None:
    page.goto(f"{site.server.url}/model?model=llama-3-8b&over={site.id('h100')}")


def _empty_trash(page: Page, site: Site) -> None:
    page.goto(f"{site.guarded.url}/trash")
    _log_in(page)
    page.goto(f"{site.guarded.url}/trash")


def _trash(page: Page, site: Site) -> None:
    made: list[Path] = list(site.files("sparse"))
    page.goto(site.server.url)
    page.set_input_files("#file", made)
    is_ready(page)
    profile = page.evaluate("location.pathname").rpartition("/")[2]
    answer = page.request.delete(
        f"{site.server.url}/api/v1/profiles/{profile}", headers={"origin": site.server.url}
    )
    assert answer.ok, answer.text()
    page.goto(f"{site.server.url}/trash")


# In this order: the first sees a server without profiles.
STATES: dict[str, Show] = {
    "home-empty": _path("/"),
    "home": _home,
    "home-two-chosen": _two_chosen,
    "upload": _importing,
    "refused": _refused,
    **homes.STATES,
    **PROFILE_STATES,
    "share-dialog": _shared,
    "share-link": _share_link,
    **comparisons.STATES,
    **runs.STATES,
    "series": _series,
    "calculator": _path("/calculator?op=matmul&m=32&k=4096&n=4096&dtype=bf16&device=h100-sxm"),
    "calculator-empty": _path("/calculator"),
    "model": _path("/model?model=llama-3-8b&vs=mi300x"),
    "log-in": _guarded("/", lambda page: None),
    "tokens": _guarded("/tokens", _token_made),
    "trash": _trash,
    "limits": _path("/limits"),
    "api": _path("/api"),
    "missing": _path("/p/AAAAAAAAAAAAAAAAAAAAAA"),
    "not-an-address": _path("/nothing/of/this/name"),
    "series-missing": _path("/s/nothing+of+this+name"),
    "log-in-refused": _guarded("/", _wrong_token),
    "calculator-refused": _path("/calculator?op=matmul&m=0&k=4096&n=x&dtype=bf16"),
    "calculator-attention": _path("/calculator?op=attention&device=mi300x"),
    "model-over": _model_over,
    "devices": _path("/devices"),
    "devices-priced": _path("/devices?model=llama-3-8b&prices=h100-sxm%3D2.5&q=h100"),
    "model-refused": _path("/model?model=no-such-model"),
    "explore": _explore,
    "trash-empty": _empty_trash,
    "bad-link": _path("/p/AAAAAAAAAAAAAAAAAAAAAA?share=nonsense"),
}

# The servers of states that are not on the open one.
ON = homes.ON | {
    "log-in": "guarded",
    "tokens": "guarded",
    "log-in-refused": "guarded",
    "trash-empty": "guarded",
}
