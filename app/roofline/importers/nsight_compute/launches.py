"""One result of a report, from whichever export it was read, in base units.

Every file that is imported is compared with what files of Nsight Compute begin with, so this module
imports no reader.
"""

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from roofline.importers.shared.tables_text import decode

OPCODES = re.compile(r"sass__(thread_)?inst_executed(_true)?_per_opcode(_with_modifier_\w+)?")

# Counters, rates and times of real launches lie far within; products of them stay numbers.
_LEAST, _LARGEST = 1e-30, 1e30

Extent = tuple[int, int, int]


class ResultKind(StrEnum):
    """The kind of a result: one kernel launch, or everything inside a range, a list, a graph."""

    KERNEL = "kernel"
    RANGE = "range"
    COMMAND_LIST = "command list"
    GRAPH = "graph"


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """One profiled result. `numbers` holds metrics by name in base units (ns, byte, byte/s, Hz).

    A metric that is missing, or that the profiler wrote as NaN, is not in `numbers`. `opcodes`
    maps a histogram metric to its counts by opcode. `grid` and `block` are `None` where the export
    has none. `number` tells the results of one capture apart.
    """

    kind: ResultKind
    name: str
    number: int
    grid: Extent | None = None
    block: Extent | None = None
    context: str = ""
    stream: str = ""
    device_index: int | None = None
    numbers: Mapping[str, float]
    texts: Mapping[str, str] = field(default_factory=dict)
    opcodes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def device_name(self) -> str:
        """The GPU's marketing name, empty where it was not collected."""
        return self.texts.get("device__attribute_display_name", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """The results of one file, and what the file says about how they were taken.

    `vague_cells` counts needed numbers that a CSV gives with fewer than three digits. `is_cut` says
    that the last kernel was left out, because the file ends within its row.
    """

    file_name: str
    launches: tuple[Launch, ...]
    tool_version: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    hostname: str = ""
    captured_at_ns: int | None = None
    program: str = ""
    vague_cells: int = 0
    is_cut: bool = False


def is_measured(value: float) -> bool:
    """True for what a counter can hold: not NaN, infinite, or made of damage."""
    return value == 0 or _LEAST <= abs(value) <= _LARGEST


# A report.
MAGIC = b"NVR\x00"
HEADER = ('"ID",', "ID,")  # as the profiler writes it, and as other programs save it again
KERNEL_NAME = "Kernel Name"
# What its text begins with that is not a table of kernels: messages, pages for people, other pages.
_MESSAGE = re.compile(r"^==(PROF|ERROR|WARNING)== ", re.MULTILINE)
_TEXT_TABLE = re.compile(
    r"^ +(Section: \S.*|Metric Name +Metric Unit +Metric Value *)\n +-{3,} +-{3,}", re.MULTILINE
)
_OTHER_PAGES = {
    r'^(?:"(?>[^\n]*?"Invocations")[^\n]*"Metric Name"| +Metric Name +Metric Unit +Minimum )': (
        "a summary over all launches (--print-summary)"
    ),
    r'^"?(?:Launch|Session|Device) Attribute(?:","| +Value)': (
        "the session page, which describes the machine and holds no kernels"
    ),
    r'^"?Address(?:","| +)Source\b': (
        "the source page, which counts what instructions did and holds no times"
    ),
}


def starts_like_text(head: bytes) -> bool:
    """True for text that Nsight Compute wrote, readable or not. Never raises."""
    text = decode(head)
    if any(line.startswith(HEADER) and KERNEL_NAME in cells_of(line) for line in text.splitlines()):
        return True
    is_known = _MESSAGE.search(text) or _TEXT_TABLE.search(text) or other_page(text)
    return "\x00" not in text and bool(is_known)


def other_page(text: str) -> str:
    """Which page of Nsight Compute `text` is, of those that hold no kernels; "" for none."""
    found = (what for page, what in _OTHER_PAGES.items() if re.search(page, text, re.MULTILINE))
    return next(found, "")


def cells_of(line: str) -> list[str]:
    """The cells of a line of CSV; none for what is not CSV."""
    try:
        return next(csv.reader([line]), [])
    except csv.Error:  # a field beyond the reader's limit, or a stray NUL
        return []
