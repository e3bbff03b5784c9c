"""Exports of XProf: the tables roofline_model and hlo_stats, as JSON or CSV.

Format: https://github.com/openxla/xprof; tried: xprof 2.24.2. Counts are recovered from rates and
total times, exact to rounding. The CSV has no peaks and no device name: peaks are recovered where
rows state a rate and its share of the peak.
Lost: what XProf leaves out of its tables: operations past the 1,000th and those without HLO (copies
between host and device), names of programs, when it was captured, the clock's scale in CSV.
"""

from collections.abc import Sequence

from roofline.importers.shared.tables_text import first_row
from roofline.importers.source import Progress, SourceFile
from roofline.model.profile import Profile

FORMAT_ID = "xprof_export"
LABEL = "XProf export"
READS = "XProf export (roofline_model or hlo_stats, JSON or CSV)"

_JSON_STARTS = ("[", "{")
_JSON_MARKS = {'"bottleneck_operational_intensity"': '"operation"', '"hlo_op_name"': '"cols"'}


def recognises(source: SourceFile) -> bool:
    """True if the head names the columns of one of the tables."""
    text = source.head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if text.startswith(_JSON_STARTS):
        marks = _JSON_MARKS.items()
        return '"cols"' in text and any(mark in text and other in text for mark, other in marks)
    from roofline.importers.xprof_export.tables import column_id, tool_of  # loads slowly

    return tool_of([column_id(label) for label in first_row(source.head)]) is not None


def read(sources: Sequence[SourceFile], *, progress: Progress) -> Profile:
    """The profile in one export, or in the two tables of one profile."""
    from roofline.importers.xprof_export import reader  # loads slowly

    return reader.read(sources, progress=progress)


def read_as_xprof(sources: Sequence[SourceFile], *, progress: Progress) -> Profile:
    """The profile as XProf has it: over all GPUs of the machine, those that ran nothing too."""
    from roofline.importers.xprof_export import reader  # loads slowly

    return reader.read(sources, progress=progress, counts_resting=True)
