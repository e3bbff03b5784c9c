"""How a server stands a team: viewers beside imports, and a large upload in little memory.

    python -m bench.server --seconds 60 --viewers 200

Viewers open a profile of 1,000 operations: half of them its page, half its roofline as JSON, each
again after a pause, while profiles of 60 MB are imported one after the other. Then 1.5 GB are
uploaded and imported, and the most memory that the server's own process ever held is read. Needs
`wrk` (Debian: apt-get install wrk).

`--pause 0` lets every viewer ask again at once: that is no team, but shows how much one process
can answer.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.client import Receiver, Upload, send
from app.errors import RooflineError
from bench.readme import describe_machine
from tests.browser.serving import Server, serving
from tests.tools.generate_xspace import Config, write_profile

VIEWED = Config(device="v5e", n_events=20_000, n_steps=5, n_distinct_ops=1_000)
IMPORTED = Config(device="v5e", n_events=3_400_000, n_steps=20, n_distinct_ops=400)
LARGE_BYTES = 1_500_000_000
PAGE_P99_MS, JSON_P99_MS = 500, 150
SERVER_BYTES = 300_000_000

# Every connection is a viewer: it waits for an answer, looks at it for a while, and asks again.
SCRIPT = """
local answered = 0
math.randomseed(os.time())
function delay() return math.random(0, 2 * PAUSE_MS) end
function done(summary, latency, _)
  local e = summary.errors
  io.write(string.format("RESULT %d %.3f %.3f %.3f %d\\n", summary.requests,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency.max / 1000,
    e.connect + e.read + e.write + e.status + e.timeout))
end
"""


@dataclass(frozen=True)
class Load:
    """What `wrk` measured: answers, times in milliseconds, errors of any kind."""

    answers: int
    median_ms: float
    p99_ms: float
    longest_ms: float
    errors: int


def main() -> int:
    """Measures, says what it found, and returns 1 if a figure is missed."""
    given = _parser().parse_args()
    wrk = shutil.which("wrk")
    if wrk is None:
        sys.exit("wrk is needed: apt-get install wrk")
    print(describe_machine())
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        settings = {"ROOFLINE_MAX_UPLOAD_BYTES": str(8 << 30)}
        with serving(Path(folder) / "server", settings) as server:
            met = _viewers(server, Path(folder), given, wrk)
            if not given.no_memory:
                met &= _memory(server, Path(folder))
    return 0 if met else 1


def _viewers(server: Server, folder: Path, given: argparse.Namespace, wrk: str) -> bool:
    viewed = _write(VIEWED, folder / "viewed")
    imported = _write(IMPORTED, folder / "imported")
    answer = send(Upload(files=(viewed,)), Receiver(server.url), wait_s=60)
    script = folder / "viewer.lua"
    script.write_text(SCRIPT.replace("PAUSE_MS", str(round(given.pause * 1000))))
    addresses = {
        "page": f"{server.url}/p/{answer['id']}",
        "roofline JSON": f"{server.url}/api/v1/profiles/{answer['id']}/roofline",
    }
    size = imported.stat().st_size / 1e6
    print(
        f"\n{given.viewers} viewers for {given.seconds} s, each asking about every"
        f" {given.pause:g} s, beside imports of {size:.0f} MB"
    )
    with _importing(server, imported) as ended:
        loads = _run(wrk, script, addresses, given.viewers // len(addresses), given.seconds)
    print(f"imports meanwhile: {len(ended)}, in {', '.join(f'{s:.1f}' for s in ended)} s\n")
    print(f"{'':14} {'answers':>8} {'p50 ms':>8} {'p99 ms':>8} {'most ms':>8} {'errors':>7}")
    met = True
    for (name, load), limit in zip(loads.items(), (PAGE_P99_MS, JSON_P99_MS), strict=True):
        good = load.errors == 0 and load.p99_ms < limit
        met &= good
        print(
            f"{name:14} {load.answers:8,} {load.median_ms:8.1f} {load.p99_ms:8.1f}"
            f" {load.longest_ms:8.1f} {load.errors:7} {_verdict(good, f'p99 under {limit} ms')}"
        )
    return met


def _run(
    wrk: str, script: Path, addresses: dict[str, str], connections: int, seconds: int
) -> dict[str, Load]:
    flags = ["--timeout", "10s", "-H", "Accept-Encoding: gzip", "-s", str(script)]
    processes = {
        name: subprocess.Popen(
            [wrk, "-t1", f"-c{connections}", f"-d{seconds}s", *flags, address],
            stdout=subprocess.PIPE,
            text=True,
        )
        for name, address in addresses.items()
    }
    return {name: _load(process.communicate()[0]) for name, process in processes.items()}


def _load(output: str) -> Load:
    found = re.search(r"RESULT (\d+) (\S+) (\S+) (\S+) (\d+)", output)
    if found is None:
        sys.exit(f"wrk said nothing that can be read:\n{output}")
    answers, median, p99, longest, errors = found.groups()
    return Load(int(answers), float(median), float(p99), float(longest), int(errors))


@contextmanager
def _importing(server: Server, path: Path) -> Iterator[list[float]]:
    """Imports `path` again and again while inside; the list has the duration of each."""
    ended: list[float] = []
    over = threading.Event()

    def work() -> None:
        while not over.is_set():
            started = time.monotonic()
            try:
                send(Upload(files=(path,)), Receiver(server.url), wait_s=120)
            except RooflineError as error:
                sys.exit(f"an import failed: {error.message}")
            ended.append(time.monotonic() - started)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield ended
    finally:
        over.set()
        thread.join()


def _memory(server: Server, folder: Path) -> bool:
    """1.5 GB in: one message is made by writing several after each other."""
    piece = (folder / "imported" / "host_0.xplane.pb").read_bytes()
    large = folder / "large.xplane.pb"
    with large.open("wb") as file:
        while file.tell() < LARGE_BYTES:
            file.write(piece)
    started = time.monotonic()
    answer = send(Upload(files=(large,)), Receiver(server.url), wait_s=300)
    seconds = time.monotonic() - started
    held = _most_memory(server.process.pid)
    good = held < SERVER_BYTES and answer["state"] == "ready"
    print(
        f"\nupload and import of {large.stat().st_size / 1e9:.2f} GB: {seconds:.1f} s,"
        f" {answer['state']}\nmost memory of the server's process: {held / 1e6:.0f} MB"
        f" {_verdict(good, f'under {SERVER_BYTES / 1e6:.0f} MB')}"
    )
    return good


def _most_memory(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) * 1024 if found else 0


def _write(config: Config, folder: Path) -> Path:
    folder.mkdir()
    (path,) = write_profile(config, folder)
    return path


def _verdict(good: bool, figure: str) -> str:
    return f"({figure})" if good else f"MISSED: {figure}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--viewers", type=int, default=200)
    parser.add_argument("--pause", type=float, default=1.0, help="seconds, on average")
    parser.add_argument("--folder", type=Path, help="where to work; 8 GB are needed")
    parser.add_argument("--no-memory", action="store_true", help="leave the large upload out")
    return parser


if __name__ == "__main__":
    sys.exit(main())
