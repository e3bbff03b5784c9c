"""Every page in every state at every size and theme: `make screenshots`.

Writes pictures, what is printed, and `index.html` into `build/screenshots`. Fails on scrolling
sideways, on anything that the browser reports, on requests to other hosts, on findings of axe of
any severity, and on profiles that take more than four sheets of paper.
"""

import argparse
import fnmatch
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright
from playwright.sync_api import Error as PlaywrightError

from bench.browser import chromium
from tests.browser.conftest import ARGUMENTS
from tests.browser.watching import Watch
from tests.conftest import ROOT
from tests.screens.paper import PRINTED, print_state
from tests.screens.profile_states import AGAIN
from tests.screens.sheet import write_sheet
from tests.screens.site import MissingCaptureError, Site, site
from tests.screens.states import ON, STATES

FOLDER = ROOT / "build" / "screenshots"
AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
WIDTHS = (390, 768, 1024, 1280, 1920, 2560)
HEIGHTS = {390: 844, 768: 1024, 1024: 768}
THEMES = ("light", "dark")
AXE_WIDTHS = (390, 1280)
# Words that the browser itself writes for states that are errors.
EXPECTED = r"status of (4\d\d|507)|ERR_CONNECTION_RESET"
# Two frames and the end of transitions: the page is drawn at its new size.
SETTLED = """async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  await frame(); await frame();
  const ends = document.getAnimations()
    .filter((a) => a.effect.getComputedTiming().endTime < Infinity)
    .map((a) => a.finished.catch(() => {}));
  await Promise.all(ends);
}"""
# Bars that stick to the window would lie across the picture of a page that was scrolled.
UNSTICK = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(".topbar, .filters { position: static !important; }");
  document.adoptedStyleSheets.push(sheet);
}"""
SIDEWAYS = (
    "Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth)"
)
# An element whose font size is 0 is a button of which only the sign is left.
SMALL_TEXT = """() => [...document.querySelectorAll("body *")]
  .filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())
    && e.checkVisibility({ visibilityProperty: true })
    && parseFloat(getComputedStyle(e).fontSize) > 0
    && parseFloat(getComputedStyle(e).fontSize) < 10.99)
  .map((e) => `${e.tagName}.${e.className.baseVal ?? e.className} ${e.textContent.slice(0, 30)}`)
  .slice(0, 5)"""
FINDINGS = """async () => (await axe.run({ resultTypes: ["violations"] })).violations
  .flatMap(({ id, impact, nodes }) =>
    nodes.map(({ html }) => `axe ${impact} ${id}: ${html.slice(0, 140)}`))"""


def say(text: str) -> None:
    """Writes a line at once: the run takes minutes."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def faults_of(page: Page, width: int) -> Iterator[str]:
    """What is wrong with the page at this width, in words."""
    sideways = page.evaluate(SIDEWAYS)
    if sideways:
        yield f"scrolls sideways by {sideways} px"
    yield from (f"text below 11 px: {found}" for found in page.evaluate(SMALL_TEXT))
    if width in AXE_WIDTHS:
        yield from page.evaluate(FINDINGS)


def take(page: Page, name: str, widths: Sequence[int]) -> Iterator[str]:
    """Pictures of one state, and its faults."""
    page.evaluate(AXE.read_text("utf-8"))
    page.evaluate(UNSTICK)
    again = AGAIN.get(name)
    for theme in THEMES:
        page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
        for width in widths:
            page.set_viewport_size({"width": width, "height": HEIGHTS.get(width, 900)})
            page.evaluate(SETTLED)
            if again is not None:
                again(page)
            picture = FOLDER / f"{name}-{width}-{theme}.jpg"
            page.screenshot(path=picture, full_page=again is None, type="jpeg", quality=72)
            if not picture.stat().st_size:
                yield f"{name} {width} {theme}: no picture, the page is higher than 65,535 px"
            yield from (f"{name} {width} {theme}: {fault}" for fault in faults_of(page, width))


def state_faults(browser: Browser, here: Site, name: str, widths: Sequence[int]) -> list[str]:
    """Shows one state in a context of its own. Returns what is wrong with it."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    server = here.other(ON[name]) if name in ON else here.server
    watch = Watch(context, server.url)
    try:
        page = context.new_page()
        STATES[name](page, here)
        watch.expect(EXPECTED)
        faults = list(take(page, name, widths))
        if name in PRINTED:
            faults += [f"{name} {fault}" for fault in print_state(page, FOLDER, name)]
        watch.check()
    except MissingCaptureError as missing:
        say(f"{name}: left out, the real capture {missing} is not beside this checkout")
        return []
    except (AssertionError, PlaywrightError) as error:
        return [f"{name}: {error}"]
    finally:
        context.close()
    return faults


def every_state(names: Sequence[str], widths: Sequence[int]) -> list[str]:
    """Takes all pictures of the named states. Returns what is wrong."""
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        with site(browser, Path(scratch)) as here:
            for name in names:
                found = state_faults(browser, here, name, widths)
                say("\n  ".join((f"{name}: {len(found) or 'no'} faults", *found)))
                faults += found
        browser.close()
    return faults


def main() -> None:
    """Reads the pattern of states from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="*", help="patterns of names of states, with spaces")
    parser.add_argument("--widths", default=WIDTHS, type=int, nargs="+", help="of the window")
    options = parser.parse_args()
    patterns = options.only.split()
    FOLDER.mkdir(parents=True, exist_ok=True)
    names = [one for one in STATES if any(fnmatch.fnmatch(one, p) for p in patterns)]
    faults = every_state(names, options.widths)
    write_sheet(FOLDER, STATES, WIDTHS, THEMES)
    say(f"{len(faults)} faults; all pictures: {FOLDER / 'index.html'}")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
