"""Every state of the page of a profile, as functions that bring a browser page there."""

import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing

from playwright.sync_api import Page, expect

from roofline.storage.database import FILE_NAME as DATABASE
from tests.browser import view
from tests.browser.watching import is_ready
from tests.screens.site import Site

Show = Callable[[Page, Site], None]
Then = Callable[[Page], None]


def profile(name: str, query: str = "", then: Then | None = None) -> Show:
    """The page of a profile with this query, after `then`."""

    def show(page: Page, site: Site) -> None:
        page.goto(f"{site.server.url}{site.profile(name)}{query}")
        is_ready(page)
        if then is not None:
            then(page)

    return show


def click(*selectors: str) -> Then:
    def press(page: Page) -> None:
        for one in selectors:
            page.locator(one).first.click()

    return press


def button(*names: str) -> Then:
    def press(page: Page) -> None:
        for name in names:
            page.get_by_role("button", name=name, exact=True).first.click()

    return press


def keys(*presses: str) -> Then:
    def press(page: Page) -> None:
        for one in presses:
            page.keyboard.press(one)

    return press


def _details(page: Page) -> None:
    page.locator("#fold-ops").click()
    view.rows(page).first.click()
    expect(page.locator("#drawer")).not_to_contain_text("Loading…")


def _all_findings(page: Page) -> None:
    for summary in page.locator("[data-advice] summary").all():
        if summary.is_visible():
            summary.click()


def _everything_unfolded(page: Page) -> None:
    page.locator("[data-fold=device]").click()
    page.locator("[data-fold=details]").click()


def _groups(page: Page) -> None:
    page.locator("#group-by").select_option("layer")


def _range(page: Page) -> None:
    page.locator("#fold-timeline").click()
    page.locator("[data-timeline-step]").select_option(index=2)
    page.wait_for_url(re.compile("from_us="))
    is_ready(page)


def _pins(page: Page) -> None:
    """A note on an operation and one on a step; the operation's card is closed again."""
    keys("j", "p")(page)
    page.locator("[data-pin-note]").fill("Reads its weights twice: see the layout of layer 3")
    keys("Escape", "Escape", "]", "]", "]", "p")(page)


def _picked(page: Page) -> None:
    """The sum of three operations. Escape would clear it, so the card is closed by its button."""
    keys("j", "x", "j", "x", "j", "x")(page)
    page.locator("[data-drawer-close]").click()
    expect(page.locator("[data-picked]")).to_be_visible()


def _palette(page: Page) -> None:
    page.keyboard.press("Control+k")
    page.get_by_role("dialog", name="Commands").get_by_role("combobox").fill("fus")


def _peaks(page: Page) -> None:
    click("[data-fold=device]", "[data-peaks-button]")(page)


def _peaks_of_a_german(page: Page) -> None:
    _peaks(page)
    page.locator(".peak-list .field").nth(1).fill("1.555,2")


def _area(page: Page) -> None:
    """Some operations selected in the chart, with filters beside them."""
    page.get_by_role("button", name="Drag to select operations").click()
    box = page.locator("#op-chart .nsewdrag").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 0.2 * box["width"], box["y"] + 0.1 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 0.7 * box["width"], box["y"] + 0.6 * box["height"], steps=4)
    page.mouse.up()


def _forced(page: Page) -> None:
    page.emulate_media(forced_colors="active")


def _forced_details(page: Page) -> None:
    _forced(page)
    _details(page)


def _hovered(page: Page) -> None:
    page.mouse.move(0, 0)  # the hovered mark of another width has a ring
    expect(page.locator(".hover-card")).to_be_hidden()
    page.locator("#op-chart").scroll_into_view_if_needed()
    point = view.largest_point(page)
    page.mouse.move(point["x"], point["y"])
    expect(page.locator(".hover-card")).to_be_visible()


def _job(page: Page, site: Site, name: str, **values: object) -> str:
    """The address of a profile of its own whose import is in a state that does not last.

    Its page was not opened before: the server would have kept the answer.
    """
    page.goto(site.server.url)
    with page.expect_response("**/api/v1/profiles?*") as answer:
        page.set_input_files("#file", site.files(name))
    profile_id = str(answer.value.json()["id"])
    page.goto("about:blank")
    state = f"{site.server.url}/api/v1/profiles/{profile_id}"
    while page.request.get(state).json()["state"] == "importing":
        page.wait_for_timeout(100)
    names = ", ".join(f"{key} = ?" for key in values)
    with closing(sqlite3.connect(site.server.data_dir / DATABASE)) as database, database:
        database.execute(
            f"UPDATE job SET {names} WHERE profile_id = ?", (*values.values(), profile_id)
        )
        database.execute("UPDATE profile SET state = 'importing' WHERE id = ?", (profile_id,))
    return f"{site.server.url}/p/{profile_id}"


def _importing(page: Page, site: Site) -> None:
    """A job that waits in the store, of which the events say that it runs."""
    address = _job(page, site, "importing", state="queued", phase="queued", not_before=4e9)
    progress = {"phase": "read", "fraction": 0.62, "overall": 0.5, "elapsed_s": 3.0}
    told = json.dumps({"state": "importing", "progress": progress})
    page.add_init_script(
        f"""window.EventSource = class extends EventTarget {{
          readyState = 1;
          constructor() {{
            super();
            const told = new MessageEvent("importing", {{ data: {json.dumps(told)} }});
            setTimeout(() => this.dispatchEvent(told));
          }}
          close() {{}}
        }};"""
    )
    page.goto(address)
    expect(page.get_by_label("Import in progress")).to_contain_text("75")


def _waiting(page: Page, site: Site) -> None:
    queued = {"state": "queued", "phase": "disk", "needs_bytes": 3 << 30, "not_before": 4e9}
    page.goto(_job(page, site, "waiting", **queued))
    expect(page.get_by_label("Import in progress")).to_be_visible()


def _failed(page: Page, site: Site) -> None:
    page.goto(site.server.url)
    page.wait_for_load_state("load")
    with page.expect_response("**/api/v1/profiles?*") as answer:
        page.set_input_files("#file", site.files("cut"))
    address = answer.value.json()["url"]
    expect(page.get_by_role("alert")).to_be_visible(timeout=60_000)
    page.goto(address)
    expect(page.get_by_role("alert")).to_be_visible()


_WHAT_IF = "?v=1&dev=l4&peak.hbm=1200&vs=h100-sxm,tpu-v5p&tab=hardware"
_MANY_FILTERS = "?v=1&q=fusion&cat=loop+fusion&min=0.1&cover=95&infeed=out&part=below_roof"
_WRONG_LINK = "?cat=nope&x=bad&op=zzz&sort=qq"

PROFILE_STATES: dict[str, Show] = {
    "profile-v6e": profile("v6e"),
    "profile-v6e-inference": profile("v6e-inference"),
    "profile-v5p": profile("v5p"),
    "profile-v100": profile("v100"),
    "profile-h100": profile("h100"),
    "profile-ranks": profile("ranks"),
    "profile-a100": profile("a100"),
    "profile-mi250x": profile("mi250x"),
    "profile-cpu": profile("cpu"),
    "profile-serving": profile("serving"),
    "profile-predictions": profile("predictions"),
    "profile-thousand": profile("thousand"),
    "profile-hostile": profile("hostile"),
    "profile-no-peaks": profile("no-peaks"),
    "profile-zero-ops": profile("zero-ops"),
    "profile-sparse": profile("sparse"),
    "profile-right-to-left": profile("right-to-left"),
    "profile-importing": _importing,
    "profile-waiting": _waiting,
    "profile-failed": _failed,
    "profile-unfolded": profile("v6e", then=_everything_unfolded),
    "profile-details": profile("v6e", then=_details),
    "profile-details-h100": profile("h100", then=_details),
    "profile-hovered": profile("h100", then=_hovered),
    "profile-findings": profile("v6e", then=_all_findings),
    "profile-groups": profile("v6e", then=_groups),
    "profile-columns": profile("v6e", then=click("#fold-ops", "[data-columns-button]")),
    "profile-downloads": profile("v6e", then=button("Share")),
    "profile-categories": profile("v6e", then=click("#fold-ops", "[data-more-filters]")),
    "profile-many-filters": profile("v6e", _MANY_FILTERS),
    "profile-area": profile("v6e", then=_area),
    "profile-about": profile("v6e", then=click("[popovertarget=menu-share]", "[data-about-open]")),
    "profile-runs": profile("v6e", then=click("[data-compare]")),
    "profile-program": profile("v6e", then=click("#fold-details")),
    "profile-filtered-out": profile("v6e", "?v=1&q=nothing+has+this+name"),
    "profile-wrong-link": profile("v6e", _WRONG_LINK),
    "profile-shares": profile("v6e", "?v=1&y=share"),
    "profile-joined": profile("v6e", "?v=1&x=joined"),
    "profile-what-if": profile("v6e", _WHAT_IF, _peaks),
    "profile-hardware": profile("v6e", _WHAT_IF),
    "profile-german-peaks": profile("v6e", then=_peaks_of_a_german),
    "profile-no-peaks-asked": profile("no-peaks", then=_peaks),
    "profile-range": profile("v6e", then=_range),
    "profile-host": profile("three-hosts", "?host=host-1"),
    "profile-dvfs": profile("dvfs", "?dvfs=on"),
    "profile-open-in": profile("h100", then=button("Timeline", "Perfetto…")),
    "profile-chart-options": profile("v6e", then=button("More options of the chart")),
    "profile-how-to": profile(
        "v6e", then=button("More options of the chart", "How to read the chart")
    ),
    "profile-palette": profile("v6e", then=_palette),
    "profile-keys": profile("v6e", then=keys("?")),
    "profile-picked": profile("v6e", then=_picked),
    "profile-pins": profile("v6e", then=_pins),
    "profile-forced-colours": profile("v6e", then=_forced),
    "profile-forced-details": profile("v6e", then=_forced_details),
}

# What a new size of the window takes back, to be done at each size; shown as the window has it.
AGAIN: dict[str, Then] = {"profile-hovered": _hovered}
