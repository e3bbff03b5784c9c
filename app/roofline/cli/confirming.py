"""`roofline check --confirm`: a command of the project that captures its program again."""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from roofline.errors import SettingsError

if TYPE_CHECKING:
    from roofline.compare.run import Run
    from roofline.devices.choice import PeakChoice

FOLDER_VARIABLE = "ROOFLINE_CAPTURE_DIR"


def capture_again(
    command: str, captures: int, choice: "PeakChoice | None", of: str | None = None
) -> "list[Run]":
    """Runs `command` by the shell, `captures` times; each leaves the files of one capture.

    Times are those of the subject with the address `of`.

    Raises `SettingsError` where it fails, or leaves no file.
    """
    return [_capture(command, f"{k + 1} of {captures}", choice, of) for k in range(captures)]


def _capture(command: str, which: str, choice: "PeakChoice | None", of: str | None) -> "Run":
    from roofline.compare.from_analysis import run_of_address
    from roofline.pipeline import analyse_files

    with TemporaryDirectory(prefix="roofline-confirm-") as name:
        folder = Path(name)
        sys.stderr.write(f"roofline: capture {which} to confirm a change of time\n")
        done = subprocess.run(
            f"{{ {command}\n}} 1>&2",  # its output must not become a part of the report
            shell=True,
            env={**os.environ, FOLDER_VARIABLE: name},
            check=False,
        )
        if done.returncode:
            raise SettingsError(
                f"The command of --confirm ended with status {done.returncode}.",
                remedy=f"It must capture the program into ${FOLDER_VARIABLE} and end with 0.",
            )
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        if not files:
            raise SettingsError(
                "The command of --confirm left no capture.",
                remedy=f"It must write the files of one capture into ${FOLDER_VARIABLE}.",
            )
        analysis = analyse_files(files, choice=choice)
        return run_of_address(analysis, of, f"confirming {which}")
