"""Takes `docs/screenshot.png` from the running page: `make screenshot`.

A real server, the bundled v6e sample opened as a visitor would, light theme, 1440 x 900.
"""

import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from bench.browser import chromium
from tests.browser.serving import serving
from tests.browser.watching import is_ready

SCREENSHOT = Path(__file__).with_name("screenshot.png")
SAMPLE = "Training: TPU v6e"


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as scratch,
        serving(Path(scratch)) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium())
        page = browser.new_page(viewport={"width": 1440, "height": 900}, color_scheme="light")
        page.goto(server.url)
        page.get_by_text(SAMPLE, exact=True).first.click()
        page.wait_for_url("**/p/*")
        is_ready(page)
        page.wait_for_load_state("networkidle")
        page.mouse.move(0, 0)
        page.screenshot(path=SCREENSHOT)
        browser.close()


if __name__ == "__main__":
    main()
