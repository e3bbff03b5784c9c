"""A folder in place of files: the workload of rocprof-compute in it, else its newest session or
capture, or CSV files of rocprofv3.

Reports of Nsight Systems, which only its own program unpacks: exported where that is installed.

This runs on the user's own machine, for the user's own files. A server exports a report only where
its settings name the program, and confined: the parser's source is not public.
"""

import os
import re
import shutil
import signal
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile

from roofline.errors import UploadRejectedError

# All passes, or one file each.
WORKLOAD = "pmc_perf*.csv"
# The profiler writes workloads/NAME/PART/pmc_perf.csv: each of these folders may be given.
_PLACES = (WORKLOAD, f"*/{WORKLOAD}", f"*/*/{WORKLOAD}")
# Newer versions keep the files of each pass, as rocprofv3 does: out/pmc_1/HOST/PID_results.db.
_PASSES = tuple(f"{out}pmc_*/{host}*" for out in ("", "out/") for host in ("", "*/"))
_ROOFS = ("roofline.csv", "sysinfo.csv")
# JAX and TensorFlow write LOG_DIR/plugins/profile/SESSION/HOST.xplane.pb: so may each of these.
_SESSIONS = ("*", "*/*", "profile/*/*", "plugins/profile/*/*", "*/plugins/profile/*/*")
_XSPACE = (".xplane.pb", ".xplane.pb.gz", ".xplane.pb.zst")
_CAPTURES = (".json", ".json.gz", ".ncu-rep", ".sqlite", ".sqlite.gz", ".nsys-rep", "_results.db")
# rocprofv3 --output-format csv writes HOST/PID_kernel_trace.csv and others of that process.
_KERNELS = ("_kernel_trace.csv", "_counter_collection.csv")
_SHEETS = tuple(
    f"_{name}.csv"
    for name in ("memory_copy_trace", "marker_api_trace", "hip_api_trace", "agent_info")
)
_WORKLOADS_SHOWN = 4


def files_of_folder(folder: Path) -> list[Path]:
    """The tables of the workload in `folder`, or in the one of the folders below it that has some;
    else the files of its passes; else the files of all hosts of the newest session; else the
    newest capture.

    Raises `UploadRejectedError` where there is none, or several workloads.
    """
    tables = (path for place in _PLACES for path in folder.glob(place) if path.is_file())
    workloads = sorted({path.parent for path in tables})
    if not workloads:
        passes = _of_passes([path for place in _PASSES for path in folder.glob(place)])
        roofs = [path for name in _ROOFS if (path := folder / name).is_file()]
        is_measured = _ROOFS[0] in [path.name for path in roofs]
        return passes + roofs * is_measured if passes else _newest_session(folder)
    if len(workloads) > 1:
        names = ", ".join(str(path.relative_to(folder)) for path in workloads[:_WORKLOADS_SHOWN])
        rest = len(workloads) - _WORKLOADS_SHOWN
        raise UploadRejectedError(
            f"{folder} holds {len(workloads):,} workloads of rocprof-compute: {names}"
            + (f" and {rest:,} more." if rest > 0 else "."),
            remedy="Name one of them. Ranks of one program are a run: add --engine local.",
        )
    return sorted(path for path in workloads[0].glob("*.csv") if path.is_file())


def _of_passes(paths: Sequence[Path]) -> list[Path]:
    """The databases among the files of passes, or else their tables."""
    kinds = (("_results.db",), (*_KERNELS, *_SHEETS))
    found = [sorted(path for path in paths if path.name.endswith(ends)) for ends in kinds]
    return found[0] or found[1]


def _newest_session(folder: Path) -> list[Path]:
    sessions: dict[Path, list[Path]] = defaultdict(list)
    for place in _SESSIONS:
        for path in folder.glob(place):
            if path.name.endswith(_XSPACE) and path.is_file():
                sessions[path.parent].append(path)
    if not sessions:
        return _newest_capture(folder)
    newest = max(sessions, key=lambda one: (_written_at(sessions[one]), one.name))
    return sorted(set(sessions[newest]))


def _newest_capture(folder: Path) -> list[Path]:
    ends = (*_CAPTURES, *_KERNELS)
    found = [
        path
        for place in ("*", "*/*_kernel_trace.csv", "*/*_results.db")
        for path in folder.glob(place)
        if path.name.endswith(ends) and path.is_file()
    ]
    if not found:
        raise UploadRejectedError(
            f"{folder} is a folder without a profiling session, workload or capture in it.",
            remedy="Name the files of a profile.",
        )
    newest = max(found, key=lambda one: (_written_at([one]), one.name))
    for end in _KERNELS:
        if newest.name.endswith(end):
            names = [newest.name.removesuffix(end) + other for other in (*_KERNELS, *_SHEETS)]
            return [path for name in names if (path := newest.with_name(name)).is_file()]
    return [newest]


def _written_at(files: list[Path]) -> float:
    return max(path.stat().st_mtime for path in files)


MAGIC = b"NVIDIA Tegra Profiler Report"
_PROGRAM = "nsys"
_LONGEST_S, _TICK_S = 600.0, 0.2
_LARGEST_BYTES = 8 << 30
_VERSION = re.compile(r"(\d{4}\.\d+)")
Tick = Callable[[], None]
EXPORT_BESIDE = "{} was not read: its export is among the files."
_SAID, _READ_BACK = 300, 4_096
_PAYLOADS = "--include-blobs=true"


def exported(paths: Sequence[Path], into: Path) -> tuple[list[Path], tuple[str, ...]]:
    """`paths`, with the export of each report, in the folder `into`, in its place; what was done.

    Reports stay where the program is not installed, and are left out where their own export is
    among the files. Raises `UploadRejectedError` where the program fails, with its message.
    """
    program = shutil.which(_PROGRAM)
    stems = {path.stem for path in paths if path.suffix == ".sqlite"}
    result, said = [], []
    for path in paths:
        if not is_report(path):
            result.append(path)
        elif path.stem in stems:
            said.append(EXPORT_BESIDE.format(path.name))
        elif program is None:
            result.append(path)
        else:
            into.mkdir(parents=True, exist_ok=True)
            result.append(into / f"{path.stem}.sqlite")
            said.append(export_report((*_limited(), program), path, result[-1]))
    return result, tuple(said)


def is_report(path: Path) -> bool:
    """True for a report of Nsight Systems itself."""
    with suppress(OSError), path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC
    return False


def export_report(
    command: Sequence[str],
    path: Path,
    target: Path,
    name: str = "",
    *,
    environment: Mapping[str, str] | None = None,
    tick: Tick = lambda: None,
) -> str:
    """Write the export of a report, called `name`, to `target` with the program that `command`
    starts; what was done. `tick` is called meanwhile, and what it raises ends the program.

    Raises `UploadRejectedError` where the program fails, with its message.
    """
    run = partial(_run, environment=environment, tick=tick, folder=target.parent)
    options = [*command, "export", "--type", "sqlite", "--force-overwrite=true"]
    files = ["-o", str(target), str(path.absolute())]
    code, output = run([*options, _PAYLOADS, *files])
    if code and _PAYLOADS in output:  # an older program does not know it
        code, output = run([*options, *files])
    name = name or path.name
    if code or not target.is_file():
        text = " ".join(output.split())[-_SAID:]
        raise UploadRejectedError(
            f"nsys could not export {name}: {text or f'it ended with code {code}'}",
            remedy="Export it with the version of Nsight Systems that wrote it, or a newer one.",
        )
    match = _VERSION.search(run([*command, "--version"])[1])
    return f"{name} was exported with {f'nsys {match[1]}' if match else 'nsys'}."


def _run(
    command: Sequence[str], *, environment: Mapping[str, str] | None, tick: Tick, folder: Path
) -> tuple[int, str]:
    """Exit code and last output of a program, which is ended with its children after ten minutes,
    and when the time of this process is over. Its output is a file without a name in `folder`."""
    with TemporaryFile(dir=folder) as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment,
            start_new_session=True,
        )  # fmt: skip
        ends_at, code = time.monotonic() + _LONGEST_S, None
        try:
            while code is None and time.monotonic() < ends_at:
                tick()
                with suppress(subprocess.TimeoutExpired):
                    code = process.wait(_TICK_S)
        finally:
            with suppress(ProcessLookupError, AttributeError):  # Windows has no groups
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            process.wait()
        if code is None:
            return -1, f"it ran for more than {_LONGEST_S / 60:.0f} minutes"
        output.seek(-min(output.tell(), _READ_BACK), os.SEEK_END)
        return code, output.read().decode("utf-8", "replace")


def _limited() -> tuple[str, ...]:
    """A prefix that limits the size of the written file, where the system has one."""
    program = shutil.which("prlimit")
    return (program, f"--fsize={_LARGEST_BYTES}", "--") if program else ()
