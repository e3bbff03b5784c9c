"""Files of Nsight Compute to one profile."""

from collections.abc import Sequence

from roofline.importers.nsight_compute import MAGIC
from roofline.importers.nsight_compute.launches import Capture
from roofline.importers.nsight_compute.profile import build_profile
from roofline.importers.nsight_compute.report import read_report
from roofline.importers.nsight_compute.tables import read_tables
from roofline.importers.source import Progress, SourceFile
from roofline.model.profile import Profile


def read(sources: Sequence[SourceFile], *, progress: Progress) -> Profile:
    """One profile of all kernels in `sources`."""
    captures = []
    for done, source in enumerate(sources, 1):
        captures.append(_read(source))
        progress("read", done / len(sources))
    return build_profile(captures)


def _read(source: SourceFile) -> Capture:
    return read_report(source) if source.head.startswith(MAGIC) else read_tables(source)
