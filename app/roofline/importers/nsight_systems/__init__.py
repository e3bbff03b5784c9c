"""Nsight Systems: when kernels and copies ran, and which NVTX range asked.

Format: "SQLite schema reference", https://docs.nvidia.com/nsight-systems/UserGuide; tried: 2023.1,
2025.3, 2026.1 and 2026.2. Read: kernels, copies, memsets, graph launches, runtime calls,
NVTX ranges with the shapes of `emit_nvtx`, the GPUs, samples of GPU metrics.
Also read: tables of `nsys stats` of 2022 to 2026, which list work or add it up (`tables.py`).
Lost: samples of the CPU, calls of the operating system, allocations of memory, unified memory's
page faults, payloads but NCCL's. The environment and the command line in the file are never read.
"""

from collections.abc import Sequence

from roofline.importers.source import Progress, SourceFile
from roofline.model.profile import Profile

FORMAT_ID = "nsight_systems"
LABEL = "Nsight Systems"
READS = "Nsight Systems export (*.sqlite) or table of GPU work (`nsys stats`)"

_PREFIXES = ("CUPTI_ACTIVITY_KIND_", "NVTX_EVENTS", "TARGET_INFO_", "ENUM_NSYS_")


def recognises(source: SourceFile) -> bool:
    """True for a database, told by the names of its tables, and a text, told by their columns."""
    from roofline.importers.nsight_systems.tables import TOLD_BY  # loads slowly
    from roofline.importers.shared.databases import has_tables
    from roofline.importers.shared.listed_tables import is_listed

    return has_tables(source, _PREFIXES) or is_listed(source, TOLD_BY)


def read(sources: Sequence[SourceFile], *, progress: Progress) -> Profile:
    """The profile in `sources`: each is the export of one report, of one or several processes."""
    from roofline.importers.nsight_systems import reader  # loads slowly

    return reader.read(sources, progress=progress)
