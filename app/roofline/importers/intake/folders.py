"""A folder in place of files: the workload of rocprof-compute in it, else its newest session or
capture."""

from collections import defaultdict
from pathlib import Path

from roofline.errors import UploadRejectedError

WORKLOAD = "pmc_perf.csv"
# The profiler writes workloads/NAME/PART/pmc_perf.csv: each of these folders may be given.
_PLACES = (WORKLOAD, f"*/{WORKLOAD}", f"*/*/{WORKLOAD}")
# JAX and TensorFlow write LOG_DIR/plugins/profile/SESSION/HOST.xplane.pb: so may each of these.
_SESSIONS = ("*", "*/*", "profile/*/*", "plugins/profile/*/*", "*/plugins/profile/*/*")
_XSPACE = (".xplane.pb", ".xplane.pb.gz", ".xplane.pb.zst")
_CAPTURES = (".json", ".json.gz", ".ncu-rep", ".sqlite", ".sqlite.gz", ".nsys-rep", "_results.db")
_WORKLOADS_SHOWN = 4


def files_of_folder(folder: Path) -> list[Path]:
    """The tables of the workload in `folder`, or in the one of the folders below it that has some;
    else the files of all hosts of the newest session; else the newest capture.

    Raises `UploadRejectedError` where there is none, or several workloads.
    """
    tables = (path for place in _PLACES for path in folder.glob(place) if path.is_file())
    workloads = sorted({path.parent for path in tables})
    if not workloads:
        return _newest_session(folder)
    if len(workloads) > 1:
        names = ", ".join(str(path.relative_to(folder)) for path in workloads[:_WORKLOADS_SHOWN])
        rest = len(workloads) - _WORKLOADS_SHOWN
        raise UploadRejectedError(
            f"{folder} holds {len(workloads):,} workloads of rocprof-compute: {names}"
            + (f" and {rest:,} more." if rest > 0 else "."),
            remedy="Name one of them. Ranks of one program are a run: add --engine local.",
        )
    return sorted(path for path in workloads[0].glob("*.csv") if path.is_file())


def _newest_session(folder: Path) -> list[Path]:
    sessions: dict[Path, list[Path]] = defaultdict(list)
    for place in _SESSIONS:
        for path in folder.glob(place):
            if path.name.endswith(_XSPACE) and path.is_file():
                sessions[path.parent].append(path)
    if not sessions:
        return [_newest_capture(folder)]
    newest = max(sessions, key=lambda one: (_written_at(sessions[one]), one.name))
    return sorted(set(sessions[newest]))


def _newest_capture(folder: Path) -> Path:
    found = [path for path in folder.iterdir() if path.name.endswith(_CAPTURES) and path.is_file()]
    if not found:
        raise UploadRejectedError(
            f"{folder} is a folder without a profiling session, workload or capture in it.",
            remedy="Name the files of a profile.",
        )
    return max(found, key=lambda one: (_written_at([one]), one.name))


def _written_at(files: list[Path]) -> float:
    return max(path.stat().st_mtime for path in files)
