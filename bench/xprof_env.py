"""XProf 2.24.2 in an environment of its own, set up on first use: it is compared with, never used.

`ROOFLINE_XPROF_PYTHON` names the Python of an environment that has it already.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

VERSION = "2.24.2"
BENCH = Path(__file__).resolve().parent
WORK = BENCH / ".work"
REFERENCE_SCRIPT = BENCH / "xprof_reference.py"


def xprof_python() -> Path:
    """The Python of XProf's environment; makes the environment when there is none yet."""
    named = os.environ.get("ROOFLINE_XPROF_PYTHON")
    if named:
        return Path(named)
    python = WORK / "xprof-env" / "bin" / "python"
    if not python.exists():
        print(f"Installing xprof {VERSION} into {python.parent.parent} ...", flush=True)
        subprocess.run([sys.executable, "-m", "venv", python.parent.parent], check=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, f"xprof=={VERSION}", "protobuf"], check=True)
    return python


class Worker:
    """One long-lived process that reads what it is asked to: the warm side of a comparison."""

    def __init__(self, command: Sequence[str | Path], cwd: Path | None = None) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=cwd,
        )

    def ask(self, files: Sequence[Path], out: Path | None = None) -> dict[str, Any]:
        """Its roofline of `files`: time and memory; the JSON goes to `out`."""
        assert self._process.stdin and self._process.stdout
        request = {"files": [str(file) for file in files], "out": str(out) if out else None}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            return {"error": f"it ended with status {self._process.wait()}"}
        reply: dict[str, Any] = json.loads(line)
        return reply

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def close(self) -> None:
        if self._process.stdin:
            self._process.stdin.close()
        self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class XprofWorker(Worker):
    """XProf's: the one that ours is compared with."""

    def __init__(self, python: Path) -> None:
        super().__init__([python, REFERENCE_SCRIPT])
