"""What the files of Nsight Compute begin with: reports, tables, and text that is not a table.

Every file that is imported is compared with it, so this module imports no reader.
"""

import csv
import re

from roofline.importers.shared.tables_text import decode

# A report.
MAGIC = b"NVR\x00"
HEADER = ('"ID",', "ID,")  # as the profiler writes it, and as other programs save it again
KERNEL_NAME = "Kernel Name"
# What its text begins with that is not a table of kernels: messages, pages for people, other pages.
_MESSAGE = re.compile(r"^==(PROF|ERROR|WARNING)== ", re.MULTILINE)
TEXT_SECTION = re.compile(r"^ +Section: \S.*\n +-{3,} +-{3,}", re.MULTILINE)
SUMMARY = re.compile(r'^"(?>[^\n]*?"Invocations")[^\n]*"Metric Name"', re.MULTILINE)
SESSION = re.compile(r'^"(Launch|Session|Device) Attribute","', re.MULTILINE)


def starts_like_text(head: bytes) -> bool:
    """True for text that Nsight Compute wrote, readable or not. Never raises."""
    text = decode(head)
    if any(line.startswith(HEADER) and KERNEL_NAME in cells_of(line) for line in text.splitlines()):
        return True
    others = (_MESSAGE, TEXT_SECTION, SUMMARY, SESSION)
    return "\x00" not in text and any(pattern.search(text) for pattern in others)


def cells_of(line: str) -> list[str]:
    """The cells of a line of CSV; none for what is not CSV."""
    try:
        return next(csv.reader([line]), [])
    except csv.Error:  # a field beyond the reader's limit, or a stray NUL
        return []
