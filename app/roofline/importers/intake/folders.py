"""Folders given for files: a workload of rocprof-compute is the tables of one folder."""

from collections.abc import Sequence
from pathlib import Path

from roofline.errors import UploadRejectedError

WORKLOAD = "pmc_perf.csv"
# The profiler writes workloads/NAME/PART/pmc_perf.csv: each of these folders may be given.
_PLACES = (WORKLOAD, f"*/{WORKLOAD}", f"*/*/{WORKLOAD}")
_NAMES_SHOWN = 4


def tables_of(folder: Path) -> list[Path]:
    """The tables of the workload in `folder`, or in the one of the folders below it that has some.

    Raises `UploadRejectedError` where there is no workload, or several.
    """
    found = (path for place in _PLACES for path in folder.glob(place) if path.is_file())
    workloads = sorted({path.parent for path in found})
    if not workloads:
        raise UploadRejectedError(
            f"{folder} is a folder.", remedy=f"Name the profile files: {folder}/*.xplane.pb."
        )
    if len(workloads) > 1:
        raise _several(folder, workloads)
    return sorted(path for path in workloads[0].glob("*.csv") if path.is_file())


def _several(folder: Path, workloads: Sequence[Path]) -> UploadRejectedError:
    names = ", ".join(str(one.relative_to(folder)) for one in workloads[:_NAMES_SHOWN])
    more = f" and {len(workloads) - _NAMES_SHOWN:,} more" if len(workloads) > _NAMES_SHOWN else ""
    return UploadRejectedError(
        f"{folder} holds {len(workloads):,} workloads of rocprof-compute: {names}{more}.",
        remedy="Name one of them. Ranks of one program are a run: add --engine local.",
    )
