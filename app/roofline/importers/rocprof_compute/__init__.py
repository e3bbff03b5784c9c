"""Workload folders of AMD's rocprof-compute (formerly Omniperf): counters of every dispatch.

Format: https://rocm.docs.amd.com/projects/rocprofiler-compute; tried: an MI200 workload of 2024,
made-up ones in the layouts of Omniperf 1, MI100 and MI300. Read: `pmc_perf.csv` and, where there,
`sysinfo.csv`, `roofline.csv`, `timestamps.csv`.
Lost: counters that no roofline needs; rocprofv3's raw `counter_collection.csv` is another format.
"""

from collections.abc import Sequence

from roofline.importers.shared.tables_text import first_row
from roofline.importers.source import Progress, SourceFile
from roofline.model.device import ReportedDevice
from roofline.model.profile import Profile

FORMAT_ID = "rocprof_compute"
LABEL = "rocprof-compute"
READS = "rocprof-compute workload folder (zip, or its CSV files together)"


def recognises(source: SourceFile) -> bool:
    """True for each CSV file of a workload folder that is read, told by its columns."""
    from roofline.importers.rocprof_compute.files import kind_of  # loads slowly

    return kind_of(first_row(source.head)) is not None


def roofs_alone(sources: Sequence[SourceFile]) -> ReportedDevice | None:
    """The device that a workload's benchmark measured, where its counters are not in `sources`, as
    in a folder that keeps databases of rocprofv3; `None` where they are, or without roofs."""
    from roofline.importers.rocprof_compute import reader  # loads slowly

    return reader.roofs_alone(sources)


def read(sources: Sequence[SourceFile], *, progress: Progress) -> Profile:
    """The profile in the files of one workload, of one or several ranks."""
    from roofline.importers.rocprof_compute import reader  # loads slowly

    return reader.read(sources, progress=progress)
