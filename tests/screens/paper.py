"""Pages on paper: how many sheets they take, and their pictures."""

import io
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from playwright.sync_api import Page
from pypdf import PdfReader

FORMATS: tuple[Literal["A4", "Letter"], ...] = ("A4", "Letter")
MOST_SHEETS = 4
# The states of which paper is judged: the longest, the shortest, and those with parts of their own.
PRINTED = frozenset(
    {
        "profile-v6e",
        "profile-v6e-inference",
        "profile-v5p",
        "profile-h100",
        "profile-a100",
        "profile-serving",
        "profile-thousand",
        "profile-hostile",
        "profile-no-peaks",
        "profile-zero-ops",
        "profile-sparse",
        "profile-right-to-left",
        "profile-range",
        "profile-host",
        "profile-dvfs",
        "profile-pins",
        "profile-hardware",
        "profile-groups",
        "compare",
        "compare-unlike",
        "run-many",
        "run-no-steps",
    }
)


def print_state(page: Page, folder: Path, name: str) -> Iterator[str]:
    """Prints the page as it is, and returns what is wrong with the paper, in words."""
    for paper in FORMATS:
        content = page.pdf(format=paper, print_background=True)
        sheets = len(PdfReader(io.BytesIO(content)).pages)
        (folder / f"{name}-{paper}.pdf").write_bytes(content)
        if sheets > MOST_SHEETS:
            yield f"{paper}: {sheets} sheets, more than {MOST_SHEETS}"
    _draw_sheets(folder / f"{name}-A4.pdf")


def _draw_sheets(path: Path) -> None:
    """A picture of each sheet, where poppler is installed."""
    tool = shutil.which("pdftoppm")
    if tool is not None:
        target = path.with_suffix("")
        subprocess.run([tool, "-jpeg", "-r", "80", path, target], check=True)
