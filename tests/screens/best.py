"""The ten pictures of `docs/design.md`, and those of the ten questions in `docs/usability.md`.

`python -m tests.screens.best` takes both; names behind it are those of single pictures. The
questions need the real captures.
"""

import base64
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from bench.browser import chromium
from tests.browser.conftest import ARGUMENTS, uploaded
from tests.browser.test_questions import ANSWERS
from tests.browser.watching import is_ready
from tests.conftest import ROOT
from tests.screens.run import HEIGHTS, SETTLED
from tests.screens.site import Site, site
from tests.screens.states import STATES
from tests.shared_profiles import SHARED

FOLDER = ROOT / "docs" / "pictures"
PICTURES = {
    "profile": ("profile-v6e", 1280, "light"),
    "profile-wide": ("profile-v6e", 1920, "dark"),
    "phone": ("profile-v6e", 390, "light"),
    "tablet": ("profile-v6e", 768, "dark"),
    "no-operations": ("profile-zero-ops", 1280, "light"),
    "one-operation": ("profile-sparse", 1280, "light"),
    "no-peaks": ("profile-no-peaks", 1280, "dark"),
    "compare": ("compare", 1280, "light"),
    "calculator": ("calculator", 1280, "light"),
    "series": ("series", 1280, "dark"),
}
# The clicks that answer each question; the first screen answers five without one.
CLICKS = {
    "first-screen": "",
    "other-parts": "#fold-hardware",
    "what-changed": "[data-compare]",
    "share": '[popovertarget="menu-share"]',
}
ONCE = {"what-changed": "mi300x", "share": "h100"}
"""Answers that have one picture: of this profile."""
# WebP, which the browser itself writes: a fifth of the bytes of PNG.
TO_WEBP = """async (png) => {
  const image = new Image();
  image.src = `data:image/png;base64,${png}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.width, image.height];
  canvas.getContext("2d").drawImage(image, 0, 0);
  return canvas.toDataURL("image/webp", 0.86).split(",")[1];
}"""


def take(browser: Browser, here: Site, name: str) -> None:
    state, width, theme = PICTURES[name]
    page = browser.new_page(
        viewport={"width": width, "height": HEIGHTS.get(width, 900)},
        color_scheme="dark" if theme == "dark" else "light",
    )
    STATES[state](page, here)
    save(browser, page, FOLDER / f"{name}.webp")
    page.close()


def save(browser: Browser, page: Page, path: Path) -> None:
    """Writes what the window shows."""
    page.mouse.move(0, 0)
    page.evaluate(SETTLED)
    picture = base64.b64encode(page.screenshot()).decode()
    blank = browser.new_page()
    content = blank.evaluate(TO_WEBP, picture)
    blank.close()
    path.write_bytes(base64.b64decode(content))


def answer_questions(browser: Browser, here: Site) -> None:
    """A picture of each answer, on five real profiles, as on a first visit."""
    folder = FOLDER / "questions"
    folder.mkdir(exist_ok=True)
    for name, (files, *_) in ANSWERS.items():
        context = browser.new_context(
            base_url=here.server.url, viewport={"width": 1280, "height": 900}
        )
        url = uploaded(context, *files)
        for question, click in CLICKS.items():
            if ONCE.get(question, name) != name:
                continue
            page = context.new_page()
            page.goto(url)
            is_ready(page)
            if click:
                page.locator(click).click()
                page.wait_for_load_state("networkidle")
                is_ready(page)
            if question == "other-parts":
                page.locator("#hardware-table").scroll_into_view_if_needed()
            save(browser, page, folder / f"{name}-{question}.webp")
            page.close()
        context.close()


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        with site(browser, Path(scratch)) as here:
            for name in sys.argv[1:] or PICTURES:
                if name in PICTURES:
                    take(browser, here, name)
            if SHARED.is_dir() and (not sys.argv[1:] or "questions" in sys.argv):
                answer_questions(browser, here)
        browser.close()


if __name__ == "__main__":
    main()
