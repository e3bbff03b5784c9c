"""Finds the machine's Chromium."""

import shutil

_NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)


def chromium() -> str:
    """Path of the browser; ends the program with what to install when there is none."""
    for name in _NAMES:
        path = shutil.which(name)
        if path:
            return path
    raise SystemExit("Chromium is needed: apt-get install chromium.")
