"""NVIDIA Nsight Compute: reports (`.ncu-rep`, `.ncu-repz`) and the CSV of its command line.

Formats: the report container (`NVR`, format version 7), packed or not; the raw and the details
page as CSV or text, live or from `ncu --import`, in any locale. Tried on real files: tools 2020.3
to 2025.2 on GPUs of compute capability 7.0, 7.5, 8.0, 8.6 and 9.0, and on all that the program of
2024.1 prints of them; others are read as documented, tested on generated files only. NVIDIA's own
software is not needed. The default set has times, busy shares of units and bytes of DRAM; the full
one adds FLOPs, bytes of caches and what warps wait for.
Lost: rules, sections, source code and sampling; other counters. CSV has no opcode
histograms: tensor work of tools before 2025 is unknown there.
"""

from collections.abc import Sequence

from roofline.importers.source import Progress, SourceFile
from roofline.model.profile import Profile

FORMAT_ID = "nsight_compute"
LABEL = "Nsight Compute"
READS = LABEL


def recognises(source: SourceFile) -> bool:
    """True for a report, and for text that only Nsight Compute writes, readable or not."""
    from roofline.importers.nsight_compute.launches import MAGIC, starts_like_text  # loads slowly

    return source.head.startswith(MAGIC) or starts_like_text(source.head)


def read(sources: Sequence[SourceFile], *, progress: Progress) -> Profile:
    """One profile of all kernels in `sources`."""
    from roofline.importers.nsight_compute import reader  # loads slowly

    return reader.read(sources, progress=progress)
