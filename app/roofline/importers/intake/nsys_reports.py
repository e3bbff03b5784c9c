"""Reports of Nsight Systems, which only its own program unpacks: exported where that is installed.

This runs on the user's own machine, for the user's own files: a server never does it, because a
report would be the input of a parser whose source is not public.
"""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from roofline.errors import UploadRejectedError

MAGIC = b"NVIDIA Tegra Profiler Report"
_PROGRAM = "nsys"
_LONGEST_S = 600
_LARGEST_BYTES = 8 << 30
_VERSION = re.compile(r"(\d{4}\.\d+)")
_SAID = 300


def exported(paths: Sequence[Path], into: Path) -> tuple[list[Path], tuple[str, ...]]:
    """`paths`, with the export of each report, in the folder `into`, in its place; what was done.

    Reports stay where the program is not installed, and are left out where their own export is
    among the files. Raises `UploadRejectedError` where the program fails, with its message.
    """
    program = shutil.which(_PROGRAM)
    stems = {path.stem for path in paths if path.suffix == ".sqlite"}
    result, said = [], []
    for path in paths:
        if not _is_report(path):
            result.append(path)
        elif path.stem in stems:
            said.append(f"{path.name} was not read: its export is among the files.")
        elif program is None:
            result.append(path)
        else:
            result.append(_export(program, path, into))
            said.append(f"{path.name} was exported with {_version(program)}.")
    return result, tuple(said)


def _is_report(path: Path) -> bool:
    with suppress(OSError), path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC
    return False


def _export(program: str, path: Path, into: Path) -> Path:
    into.mkdir(parents=True, exist_ok=True)
    target = into / f"{path.stem}.sqlite"
    options = ("export", "--type", "sqlite", "--include-blobs=true", "--force-overwrite=true")
    code, output = _run([program, *options, "-o", str(target), str(path.absolute())])
    if code or not target.is_file():
        text = " ".join(output.split())[-_SAID:]
        raise UploadRejectedError(
            f"nsys could not export {path.name}: {text or f'it ended with code {code}'}",
            remedy="Export it with the version of Nsight Systems that wrote it, or a newer one.",
        )
    return target


def _version(program: str) -> str:
    _, output = _run([program, "--version"])
    match = _VERSION.search(output)
    return f"nsys {match[1]}" if match else "nsys"


def _run(command: Sequence[str]) -> tuple[int, str]:
    """Exit code and output of a program, which is ended with its children after ten minutes."""
    process = subprocess.Popen(
        [*_limited(), *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=_LONGEST_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return -1, f"it ran for more than {_LONGEST_S // 60} minutes"
    return process.returncode, output.decode("utf-8", "replace")


def _limited() -> tuple[str, ...]:
    """A prefix that limits the size of the written file, where the system has one."""
    program = shutil.which("prlimit")
    return (program, f"--fsize={_LARGEST_BYTES}", "--") if program else ()
