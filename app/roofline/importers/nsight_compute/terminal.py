"""Nsight Compute's output on a terminal, as the rows that its CSV would have: one per metric.

A line in brackets names the process; a kernel's line has its launch, and before 2022 its time of
day in place of the sizes. Tables below it, under lines of dashes, have three columns: label or
metric, unit, value. The dashes say where columns begin and end, for a cell may touch the next.
"""

import re

from roofline.importers.nsight_compute.launches import KERNEL_NAME

METRIC_NAME, METRIC_UNIT, METRIC_VALUE = "Metric Name", "Metric Unit", "Metric Value"
COLUMNS = (
    "ID", "Process ID", "Process Name", "Host Name", KERNEL_NAME, "Grid Size", "Block Size",
    "Context", "Stream", "Device", "CC", METRIC_NAME, METRIC_UNIT, METRIC_VALUE,
)  # fmt: skip
_PROCESS = re.compile(r"\[(\d+)\] (.+)@([^@\s]*)")
_SIZES = r"(?: (\(\d+, \d+, \d+\))x(\(\d+, \d+, \d+\))|, \d{4}-\w{3}-\d\d \d\d:\d\d:\d\d)"
_PLACE = r", Context (\d+), Stream (\d+)(?:, Device (\d+), CC ([\d.]+))?"
_KERNEL = re.compile(rf"(.+?){_SIZES}{_PLACE}")
_DASHES = re.compile(r"\s*-{3,}(?: +-{3,})+\s*")


def terminal_rows(text: str) -> list[list[str]]:
    """A row of `COLUMNS` for each metric of each kernel; a row in which `text` ends is left out."""
    process, kernel = ["", "", ""], list[str]()
    spans, rows, kernels = list[tuple[int, int]](), list[list[str]](), 0
    for line in text[: text.rfind("\n") + 1].splitlines():
        if _DASHES.fullmatch(line):
            spans = [found.span() for found in re.finditer("-+", line)]
        elif found := _PROCESS.fullmatch(line.strip()):
            process = [*found.groups()]
        elif found := _KERNEL.fullmatch(line.strip()):
            kernel, spans = [str(kernels), *process, *(cell or "" for cell in found.groups())], []
            kernels += 1
        elif not line.strip():
            spans = []
        elif kernel and len(spans) == 3:
            cells = [line[begin:end].strip() for begin, end in spans]
            if cells[0] != METRIC_NAME:
                rows.append([*kernel, *cells])
    return rows
