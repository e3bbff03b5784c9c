"""The ten pictures of `docs/design.md`: `python -m tests.screens.best`."""

import base64
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from bench.browser import chromium
from tests.browser.conftest import ARGUMENTS
from tests.conftest import ROOT
from tests.screens.run import HEIGHTS, SETTLED
from tests.screens.site import Site, site
from tests.screens.states import STATES

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
    page.mouse.move(0, 0)
    page.evaluate(SETTLED)
    picture = base64.b64encode(page.screenshot()).decode()
    page.close()
    blank = browser.new_page()
    content = blank.evaluate(TO_WEBP, picture)
    blank.close()
    (FOLDER / f"{name}.webp").write_bytes(base64.b64decode(content))


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        with site(browser, Path(scratch)) as here:
            for name in PICTURES:
                take(browser, here, name)
        browser.close()


if __name__ == "__main__":
    main()
