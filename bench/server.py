"""How a server stands a team: viewers beside imports, and a large upload in little memory.

    python -m bench.server --seconds 60 --viewers 200
    python -m bench.server --only viewers --case "half and half" --seconds 15

Viewers ask for a profile of 1,000 operations while profiles of 60 MB are imported one after the
other: half of them for its page, half for its roofline as JSON. They pause in between, as people
do. Before that, one connection asks for the page alone. Then 1.5 GB are uploaded and
imported, and the most memory that the server's own process ever held is read. Viewers are
connections of `wrk` where it is installed (Debian: apt-get install wrk), of Python elsewhere.
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
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.growth import beside, during_uploads, many_profiles, port_of
from bench.readme import describe_machine, write_section
from bench.restart import restarts
from roofline.api.servers import Receiver, Upload, send
from roofline.errors import RooflineError
from tests.browser.serving import Server, serving
from tests.tools.generate_xspace import Config, write_profile

VIEWED = Config(device="v5e", n_events=20_000, n_steps=5, n_distinct_ops=1_000)
IMPORTED = Config(device="v5e", n_events=3_400_000, n_steps=20, n_distinct_ops=400)
LARGE_BYTES = 1_500_000_000
PAGE, JSON = "page", "roofline JSON"
LIMITS_MS = {PAGE: 100, JSON: 100}
IMPORT_S = 3.0
# Where one viewer is alone: less than one delayed acknowledgement of TCP.
ALONE = "one connection, no imports"
ALONE_MS = 20
SERVER_BYTES = 300_000_000
LARGE_UPLOADS = {"ROOFLINE_MAX_UPLOAD_BYTES": str(8 << 30)}
# All viewers have one address, as those behind a proxy have: alone it may have 64 connections.
PROXIED = {**LARGE_UPLOADS, "ROOFLINE_REACHED": "behind-proxy"}
MISSED = "missed"

# Every connection is a viewer: it waits for an answer, and asks again.
SCRIPT = """
function done(summary, latency, _)
  local e = summary.errors
  io.write(string.format("RESULT %d %.3f %.3f %.3f %d\\n", summary.requests,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency.max / 1000,
    e.connect + e.read + e.write + e.status + e.timeout))
end
"""
# With a pause in between, in which it looks at what it got.
PAUSING = """
math.randomseed(os.time())
function delay() return math.random(0, 2 * PAUSE_MS) end
"""


@dataclass(frozen=True)
class Case:
    """Viewers that ask for `asked`, equally many for each, and wait `pause_s` on average."""

    name: str
    asked: tuple[str, ...]
    pause_s: float = 0.0
    is_alone: bool = False


@dataclass(frozen=True)
class Load:
    """What viewers measured: answers, times in milliseconds, errors of any kind."""

    answers: int
    median_ms: float
    p99_ms: float
    longest_ms: float
    errors: int


def main() -> int:
    """Measures, says what it found, and returns 1 if a figure is missed."""
    given = _parser().parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        lines = [line for part in _parts(given) for line in PARTS[part](Path(folder), given)]
    text = "\n".join([f"{describe_machine()}.", "", *lines])
    print(text)
    if given.keep:
        write_section("server", text)
    return 1 if MISSED in text else 0


def _parts(given: argparse.Namespace) -> list[str]:
    if given.only is not None:
        return [given.only]
    return [name for name in PARTS if not (name == "memory" and given.no_memory)]


def _busy(folder: Path, given: argparse.Namespace) -> list[str]:
    with serving(folder / "busy", PROXIED) as server:
        return _viewers(server, folder, given)


def _uploads(folder: Path, _given: argparse.Namespace) -> list[str]:
    with serving(folder / "uploads", LARGE_UPLOADS) as server:
        return during_uploads(server)


def _large(folder: Path, _given: argparse.Namespace) -> list[str]:
    with serving(folder / "large", LARGE_UPLOADS) as server:
        return _memory(server, folder)


def _many(folder: Path, given: argparse.Namespace) -> list[str]:
    return many_profiles(folder / "many", given.profiles)


def _restarts(folder: Path, _given: argparse.Namespace) -> list[str]:
    return restarts(folder / "restart")


PARTS = {
    "viewers": _busy,
    "uploads": _uploads,
    "memory": _large,
    "lists": _many,
    "restart": _restarts,
}


def _viewers(server: Server, folder: Path, given: argparse.Namespace) -> list[str]:
    viewed = _write(VIEWED, folder / "viewed")
    imported = _write(IMPORTED, folder / "imported")
    (answer,) = send(Upload(files=(viewed,)), Receiver(server.url), wait_s=60)
    addresses = {
        PAGE: f"{server.url}/p/{answer['id']}",
        JSON: f"{server.url}/api/v1/profiles/{answer['id']}/roofline",
    }
    size_mb = imported.stat().st_size / 1e6
    # A first import loads what all share.
    send(Upload(files=(imported,)), Receiver(server.url), wait_s=120)
    lines = [
        f"{given.viewers} viewers for {given.seconds} s each time, imports of {size_mb:.0f} MB"
        " meanwhile.",
        "",
        "| viewers | ask for | answers/s | p50 | p99 | longest | errors | aim | imports |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for case in _cases(given):
        if given.case not in (None, case.name.partition(",")[0]):
            continue
        with ExitStack() as stack:
            ended = [] if case.is_alone else stack.enter_context(_importing(server, imported))
            loads = _run(case, addresses, folder, given)
        imports = "none"
        if ended:
            late = _verdict(max(ended) < IMPORT_S)
            imports = f"{len(ended)}, {max(ended):.1f} s at most, aim < {IMPORT_S:g} s{late}"
        lines += [_row(case, name, load, given, imports) for name, load in loads.items()]
    return lines


def _cases(given: argparse.Namespace) -> tuple[Case, ...]:
    return (
        Case(ALONE, (PAGE,), is_alone=True),
        Case(f"half and half, pausing {given.pause:g} s", (PAGE, JSON), given.pause),
    )


def _row(case: Case, name: str, load: Load, given: argparse.Namespace, imports: str) -> str:
    limit_ms = ALONE_MS if case.is_alone else LIMITS_MS[name]
    is_met = load.errors == 0 and load.p99_ms < limit_ms
    return (
        f"| {case.name} | {name} | {load.answers / given.seconds:,.0f} | {load.median_ms:.3g} ms"
        f" | {load.p99_ms:.0f} ms | {load.longest_ms:.0f} ms | {load.errors}"
        f" | p99 < {limit_ms} ms{_verdict(is_met)} | {imports} |"
    )


def _run(
    case: Case, addresses: dict[str, str], folder: Path, given: argparse.Namespace
) -> dict[str, Load]:
    viewers = 1 if case.is_alone else given.viewers // len(case.asked)
    processes = {
        name: subprocess.Popen(
            _command(addresses[name], viewers, case.pause_s, folder, given),
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in case.asked
    }
    return {name: _load(process.communicate()[0]) for name, process in processes.items()}


def _command(
    address: str, viewers: int, pause_s: float, folder: Path, given: argparse.Namespace
) -> list[str]:
    wrk = shutil.which("wrk")
    if wrk is None:
        numbers = [str(viewers), str(given.seconds), str(pause_s)]
        return [sys.executable, "-m", "bench.viewers", address, *numbers]
    script = folder / "viewer.lua"
    pausing = PAUSING.replace("PAUSE_MS", str(round(pause_s * 1000))) if pause_s else ""
    script.write_text(pausing + SCRIPT)
    flags = ["--timeout", "10s", "-H", "Accept-Encoding: gzip", "-s", str(script)]
    return [wrk, "-t1", f"-c{viewers}", f"-d{given.seconds}s", *flags, address]


def _load(output: str) -> Load:
    found = re.search(r"RESULT (\d+) (\S+) (\S+) (\S+) (\d+)", output)
    if found is None:
        sys.exit(f"the viewers said nothing that can be read:\n{output}")
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


def _memory(server: Server, folder: Path) -> list[str]:
    """1.5 GB in: one message is made by writing several after each other."""
    made = folder / "imported"
    piece = (made / "host_0.xplane.pb" if made.is_dir() else _write(IMPORTED, made)).read_bytes()
    large = folder / "large.xplane.pb"
    with large.open("wb") as file:
        while file.tell() < LARGE_BYTES:
            file.write(piece)
    (state, seconds), health = beside(port_of(server), _send_large, large, server.url)
    held = _most_memory(server.process.pid)
    is_met = held < SERVER_BYTES and state == "ready"
    return [
        "",
        f"Upload and import of {large.stat().st_size / 1e9:.2f} GB: {state} after"
        f" {seconds:.0f} s; most memory of the server's process {held / 1e6:.0f} MB"
        f" (aim: < {SERVER_BYTES / 1e6:.0f} MB{_verdict(is_met)}); `/healthz` meanwhile {health}.",
    ]


def _send_large(path: Path, url: str) -> tuple[str, float]:
    """How the upload's import ended, and the seconds of both."""
    started = time.monotonic()
    (answer,) = send(Upload(files=(path,)), Receiver(url), wait_s=300)
    return str(answer["state"]), time.monotonic() - started


def _most_memory(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) * 1024 if found else 0


def _write(config: Config, folder: Path) -> Path:
    folder.mkdir()
    (path,) = write_profile(config, folder)
    return path


def _verdict(is_met: bool) -> str:
    return "" if is_met else f" {MISSED}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--viewers", type=int, default=200)
    parser.add_argument("--pause", type=float, default=1.0, help="of a viewer, seconds")
    parser.add_argument("--folder", type=Path, help="where to work; 8 GB are needed")
    parser.add_argument("--profiles", type=int, default=10_000, help="of the home page's case")
    parser.add_argument("--only", choices=PARTS, help="one part; all without it")
    parser.add_argument(
        "--case", choices=("one connection", "half and half"), help="of the viewers"
    )
    parser.add_argument("--keep", action="store_true", help="write it into bench/README.md")
    parser.add_argument("--no-memory", action="store_true", help="leave the large upload out")
    return parser


if __name__ == "__main__":
    sys.exit(main())
