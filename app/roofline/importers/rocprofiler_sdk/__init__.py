"""Results of AMD's rocprofv3 (rocprofiler-sdk): dispatches of kernels, copies and counters.

Format: "JSON output schema" in https://rocm.docs.amd.com/projects/rocprofiler-sdk; tried: JSON
made up after that schema, databases (rocpd) of ROCm 7.1, the CSV files of its documentation. Read:
kernels and copies with their times, counters of dispatches (several passes of one program
together), agents, ranges, sums (`*_kernel_stats.csv`, `results.stats.csv` of rocprof 1).
Lost: other calls of HIP and HSA, memory allocations, samples of the program counter.
"""

import re
from collections.abc import Sequence

from roofline.importers.source import Progress, SourceFile
from roofline.model.profile import Profile

FORMAT_ID = "rocprofiler_sdk"
LABEL = "rocprofv3"
READS = "rocprofv3 results (*_results.db, *_results.json, its CSV files together, *_stats.csv)"

_START = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"rocprofiler-sdk-tool"\s*:\s*[\[{]')


def recognises(source: SourceFile) -> bool:
    """True for the results of rocprofv3, told by their first key, the names of their tables, or
    the columns of a CSV file."""
    from roofline.importers.rocprofiler_sdk.document import SUMS, sheet_of  # loads slowly
    from roofline.importers.shared.databases import has_tables
    from roofline.importers.shared.listed_tables import is_listed

    if _START.match(source.head) is not None or has_tables(source, ("rocpd_",)):
        return True
    return sheet_of(source.head) is not None or is_listed(source, SUMS)


def read(sources: Sequence[SourceFile], *, progress: Progress) -> Profile:
    """The profile in `sources`: processes of one program, or passes with other counters."""
    from roofline.importers.rocprofiler_sdk import reader  # loads slowly

    return reader.read(sources, progress=progress)
