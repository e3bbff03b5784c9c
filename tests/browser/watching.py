"""What a page must never do, noted while a test runs: foreign requests, errors, messages."""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import (
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Page,
    Request,
    WebError,
)

# A page without scripts uses no preload; a slow machine warns of it before the test ends.
_PRELOADED = r"\S+(/facts|/view|\.bundle\.js)(\?\S*)?"
UNUSED_PRELOAD = rf"console warning: The resource {_PRELOADED} was preloaded .* not used"
_LOCAL_SCHEMES = {"blob", "data", "about"}


class Watch:
    """Notes every fault of the pages of one browser context."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self.requests: list[str] = []
        self._host = urlsplit(url).netloc
        self._faults: list[str] = []
        self._expected: list[re.Pattern[str]] = []
        self._context = context
        self._listeners: list[tuple[Any, Callable[..., None]]] = [
            ("request", self._note_request),
            ("console", self._note_console),
            ("dialog", self._note_dialog),
            ("weberror", self._note_error),
        ]
        for event, listener in self._listeners:
            context.on(event, listener)

    def expect(self, pattern: str) -> None:
        """Allows faults that match: those the test is about, such as a lost connection."""
        self._expected.append(re.compile(pattern))

    def check(self) -> None:
        """Ends watching; fails if there was any fault that was not expected."""
        for event, listener in self._listeners:
            self._context.remove_listener(event, listener)
        faults = [f for f in self._faults if not any(e.search(f) for e in self._expected)]
        assert not faults, "\n".join(faults)

    def _note_request(self, request: Request) -> None:
        self.requests.append(request.url)
        parts = urlsplit(request.url)
        if parts.scheme not in _LOCAL_SCHEMES and parts.netloc != self._host:
            self._faults.append(f"request to another host: {request.url}")

    def _note_error(self, error: WebError) -> None:
        self._faults.append(f"uncaught: {error.error}")

    def _note_dialog(self, dialog: Dialog) -> None:
        self._faults.append(f"dialog: {dialog.message}")  # what injected scripts like to open
        dialog.dismiss()

    def _note_console(self, message: ConsoleMessage) -> None:
        place = message.location.get("url", "")
        self._faults.append(f"console {message.type}: {message.text} ({place})")


def is_ready(page: Page) -> None:
    """Waits until charts and tables of a profile are drawn."""
    page.wait_for_selector("body[data-ready=true]", state="attached", timeout=60_000)


def layout_shift(page: Page) -> float:
    """How far parts of the page moved after they were drawn: the browser's score."""
    moved: float = page.evaluate(
        """() => new Promise(done => { let all = 0; new PerformanceObserver(list => {
        for (const one of list.getEntries()) all += one.value;
        }).observe({ type: "layout-shift", buffered: true });
        setTimeout(() => done(all), 200); })"""
    )
    return moved
