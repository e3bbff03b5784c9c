"""NVIDIA Nsight Compute: reports (`.ncu-rep`, `.ncu-repz`) and the CSV of its command line.

Formats: the report container (`NVR`, format version 7), packed or not; the raw and the details
page as CSV, live or from `ncu --import`, in any locale. Tried on real files: tools 2020.3 to 2025.2
on GPUs of compute capability 7.0, 7.5, 8.0, 8.6 and 9.0; others are read as documented, tested on
generated files only. NVIDIA's own software is not needed. The default set has times, busy shares of
units and bytes of DRAM; the full one adds FLOPs, bytes of caches and what warps wait for.
Lost: rules, sections, source code and sampling; other counters. CSV has no opcode
histograms: tensor work of tools before 2025 is unknown there. Text pages are refused with the
command that makes a readable file.
"""

import csv
import re
from collections.abc import Sequence

from roofline.importers.shared.tables_text import decode
from roofline.importers.source import Progress, SourceFile
from roofline.model.profile import Profile

# Every file that is imported is compared with it, so this module imports no reader.
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


FORMAT_ID = "nsight_compute"
LABEL = "Nsight Compute"
READS = LABEL


def recognises(source: SourceFile) -> bool:
    """True for a report, and for text that only Nsight Compute writes, readable or not."""
    return source.head.startswith(MAGIC) or starts_like_text(source.head)


def read(sources: Sequence[SourceFile], *, progress: Progress) -> Profile:
    """One profile of all kernels in `sources`."""
    from roofline.importers.nsight_compute import reader  # loads slowly

    return reader.read(sources, progress=progress)
