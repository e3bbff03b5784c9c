"""A server reads a run of many hosts: how much its process grows, and what other users wait."""

import http.client
import math
import re
import statistics
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import orjson

from roofline.api.servers import Receiver, Upload, send
from tests.browser.serving import Server, serving
from tests.tools.generate_xspace import Config, write_profile

GROWTH_BYTES = 64 << 20
MAX_RATIO = 2.0
MAX_FIRST_CHART_S = 10.0
ASKED_BEFORE = 150
# People pause between pages; without a pause the server would be as busy as it can be.
PAUSE_S = 0.05
LOOKS_AT_RUN_EVERY_S = 1.0
OTHERS = Config(device="v5e", n_events=20_000, n_steps=5, n_distinct_ops=1_000)


def on_server(folder: Path, run: Path, hosts: int) -> list[str]:
    """What a server needs to read `run`, which has so many hosts, while others use it."""
    with serving(folder, {"ROOFLINE_BUCKETS": str(run.parent)}) as server:
        paths = ["/", _others_page(server, folder)]
        times_of(server, paths, iter(range(ASKED_BEFORE)))  # warms caches
        before = times_of(server, paths, iter(range(ASKED_BEFORE)))
        held = _memory(server, "VmRSS")
        _forget_peak(server)
        looks = _Looks(server, {"uri": str(run), "hosts": hosts})
        during = times_of(server, paths, looks.until_read())
        seconds, run_id = looks.seconds(), looks.run_id
        found = _asked(server, f"/api/v1/runs/{run_id}")
        growth = _memory(server, "VmHWM") - held
    assert (found["state"], found["read"]) == ("complete", hosts), found["state"]
    first_s = looks.first_chart_s
    read = f"{hosts:,} hosts were read in {seconds:.0f} s"
    return [
        f"{read}, the run's page being opened each second.",
        *_lines(before, during, growth, first_s),
    ]


def _lines(
    before: list[float], during: list[float], growth: int, first_chart_s: float
) -> list[str]:
    ratio = _p95(during) / _p95(before)
    return [
        "",
        "| what | before | meanwhile | aim |",
        "|---|---|---|---|",
        f"| home page and a profile's page, p50 | {statistics.median(before):.1f} ms"
        f" | {statistics.median(during):.1f} ms | |",
        f"| the same, p95 of {len(before)} and {len(during)} | {_p95(before):.1f} ms"
        f" | {_p95(during):.1f} ms, {ratio:.2f} times"
        f" | < {MAX_RATIO:g} times{_missed(ratio < MAX_RATIO)} |",
        f"| first chart after the import was asked for | | {first_chart_s:.1f} s"
        f" | < {MAX_FIRST_CHART_S:g} s{_missed(first_chart_s < MAX_FIRST_CHART_S)} |",
        f"| most memory of the server's process, above that before | | {growth / 2**20:.1f} MiB"
        f" | < {GROWTH_BYTES >> 20} MiB{_missed(growth < GROWTH_BYTES)} |",
    ]


def _missed(is_met: bool) -> str:
    return "" if is_met else " missed"


def _p95(times: list[float]) -> float:
    return statistics.quantiles(times, n=20, method="inclusive")[18]


def _others_page(server: Server, folder: Path) -> str:
    """The address of a profile that somebody else looks at."""
    (capture,) = write_profile(OTHERS, folder / "others")
    (answer,) = send(Upload(files=(capture,)), Receiver(server.url), wait_s=120)
    return f"/p/{answer['id']}"


def times_of(server: Server, paths: list[str], turns: Iterator[object]) -> list[float]:
    """The milliseconds of each answer: one of each path in each turn."""
    connection = http.client.HTTPConnection("127.0.0.1", int(server.url.rpartition(":")[2]))
    times = []
    for _ in turns:
        for path in paths:
            started = time.perf_counter()
            connection.request("GET", path, headers={"Accept-Encoding": "gzip"})
            answer = connection.getresponse()
            answer.read()
            times.append((time.perf_counter() - started) * 1000)
            assert answer.status == 200, answer.status
        time.sleep(PAUSE_S)
    connection.close()
    return times


class _Looks:
    """Somebody imports a run and opens its page again and again until it is read."""

    def __init__(self, server: Server, wish: dict[str, Any]) -> None:
        self._server, self._started = server, time.monotonic()
        self.run_id = _asked(server, "/api/v1/runs", wish)["id"]
        self.first_chart_s = math.inf

    def seconds(self) -> float:
        """The time since the run was asked for."""
        return time.monotonic() - self._started

    def until_read(self) -> Iterator[bool]:
        """Goes on while the run is read."""
        over = threading.Event()

        def look() -> None:
            while not over.wait(LOOKS_AT_RUN_EVERY_S):
                with urlopen(f"{self._server.url}/r/{self.run_id}") as answer:
                    answer.read()
                state = _asked(self._server, "/api/v1/runs?limit=1")["runs"][0]
                if state["version"] and math.isinf(self.first_chart_s):
                    self.first_chart_s = self.seconds()
                if state["state"] != "reading":
                    over.set()

        thread = threading.Thread(target=look)
        thread.start()
        while not over.is_set():
            yield True
        thread.join()


def _asked(server: Server, path: str, wish: dict[str, Any] | None = None) -> Any:
    body = None if wish is None else orjson.dumps(wish)
    headers = {"Content-Type": "application/json"}
    with urlopen(Request(f"{server.url}{path}", body, headers)) as answer:
        return orjson.loads(answer.read())


def _memory(server: Server, name: str) -> int:
    """Bytes of the server's own process: `VmRSS` now, `VmHWM` the most since `_forget_peak`."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    found = re.search(rf"{name}:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) * 1024


def _forget_peak(server: Server) -> None:
    Path(f"/proc/{server.process.pid}/clear_refs").write_text("5")
