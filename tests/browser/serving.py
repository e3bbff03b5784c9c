"""A real server in its own process, on a free port and a temporary data folder."""

import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

# The first start on a machine compiles kernels.
START_SECONDS = 120
STOP_SECONDS = 20
_ANNOUNCED = re.compile(r"Roofline is at (http://\S+)")


@dataclass(frozen=True)
class Server:
    """A running server; `url` has no trailing slash."""

    url: str
    data_dir: Path
    log: Path
    process: "subprocess.Popen[bytes]"

    def check(self) -> None:
        """Fails with the server's output if it has died."""
        if self.process.poll() is not None:
            raise AssertionError(f"The server died:\n{self.log.read_text()}")


@contextmanager
def serving(folder: Path, settings: Mapping[str, str] | None = None) -> Iterator[Server]:
    """Starts a server below `folder`; `settings` are environment variables."""
    folder.mkdir(parents=True, exist_ok=True)
    data_dir, log = folder / "data", folder / "server.log"
    command = [
        sys.executable,
        "-m",
        "roofline",
        "serve",
        "--port",
        "0",
        "--data-dir",
        str(data_dir),
    ]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", **(settings or {})}
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
    try:
        yield Server(_wait(process, log), data_dir, log, process)
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(process: "subprocess.Popen[bytes]", log: Path) -> str:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        announced = _ANNOUNCED.search(log.read_text())
        if announced and _answers(f"{announced[1]}/healthz"):
            return announced[1]
        # Not a guess at how long starting takes: a pause between two questions.
        time.sleep(0.05)
    raise AssertionError(f"The server did not start:\n{log.read_text()}")


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False
