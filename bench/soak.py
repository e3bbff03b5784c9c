"""Hours of mixed load on one server: its memory, files and threads must stay flat.

    python -m bench.soak --seconds 7200 --keep

People of one team open pages under their own peaks, read rooflines, lists, comparisons and figures,
write notes, share and revoke, upload and delete for good. Memory, open files and threads are those
of the server's own process; children that read uploads end by themselves and are counted apart.
"""

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any

import httpx

from bench.readme import describe_machine, write_section
from tests.browser.serving import Server, serving

SAMPLES = tuple(
    path
    for path in sorted(Path("sample_profiles").glob("*/*"))
    if path.is_file() and path.stat().st_size < 2_000_000
)
PEOPLE = 4
KEPT = 2  # of each sample: another mix of large and small ones would be other memory, and no leak
SAMPLED_EVERY_S = 20.0
# A fresh process loads modules and fills caches: that is not a leak.
SETTLED_S = 1800.0
SLOPE_MB_PER_HOUR, SLOPE_FILES = 1.0, 1.0
POINTS = 12  # of the curve that is printed
ENDED = ("ready", "failed", None)
IMPORT_S = 120
TIMEOUT_S = 120  # longer than any answer waits, also on a busy machine


@dataclass(frozen=True)
class Sample:
    """The server's own process `at_s` seconds after the load began."""

    at_s: float
    memory_mb: float
    files: int
    threads: int
    processes: int


@dataclass
class Team:
    """What all people of the load know: the profiles that are there, and what was answered."""

    url: str
    lock: threading.Lock = field(default_factory=threading.Lock)
    # Each with the token by which its uploader removes it, and the sample that it is.
    profiles: list[tuple[str, str, str]] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


class Person:
    """One connection of the team, and what its owner does by chance."""

    def __init__(self, team: Team, seed: int) -> None:
        self._team = team
        self._random = random.Random(seed)
        self._client = httpx.Client(base_url=team.url, timeout=TIMEOUT_S)
        self._acts: tuple[tuple[int, Callable[[], object]], ...] = (
            (30, self._page),
            (15, self._roofline),
            (10, self._home),
            (8, self._compare),
            (8, self._figures),
            (5, self._note),
            (4, self._upload),
            (2, self._bad_upload),
            (4, self._delete),
        )

    def work(self, over: threading.Event, pause_s: float) -> None:
        weights, acts = zip(*self._acts, strict=True)
        while not over.is_set():
            try:
                self._random.choices(acts, weights)[0]()
            except httpx.HTTPError as error:
                with self._team.lock:
                    self._team.faults.append(f"{type(error).__name__}: {error}")
            over.wait(self._random.uniform(0, 2 * pause_s))

    def _ask(self, method: str, path: str, **given: Any) -> httpx.Response:
        answer = self._client.request(method, path, **given)
        with self._team.lock:
            self._team.statuses[answer.status_code] += 1
            if answer.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
                self._team.faults.append(
                    f"{answer.status_code} {method} {path}: {answer.text[:200]}"
                )
        return answer

    def _profile(self) -> str:
        with self._team.lock:
            return self._random.choice(self._team.profiles)[0]

    def _page(self) -> None:
        peak = self._random.uniform(0.5, 2.0)
        query = f"?peak.hbm={peak:.6f}" if self._random.random() < 0.5 else ""
        self._ask("GET", f"/p/{self._profile()}{query}")

    def _roofline(self) -> None:
        self._ask("GET", f"/api/v1/profiles/{self._profile()}/roofline")

    def _home(self) -> None:
        self._ask("GET", self._random.choice(("/", "/api/v1/profiles", "/devices", "/model")))

    def _compare(self) -> None:
        a, b = self._profile(), self._profile()
        self._ask("GET", f"/c/{a}..{b}")

    def _figures(self) -> None:
        part = self._random.choice(("figures", "advice", "parts", "partners", "whatif", "xprof"))
        self._ask("GET", f"/api/v1/profiles/{self._profile()}/{part}")

    def _note(self) -> None:
        with self._team.lock:
            profile, token, _ = self._random.choice(self._team.profiles)
        words = {"note": f"seen {self._random.random()}"}
        headers = {"X-Delete-Token": token}
        self._ask("PATCH", f"/api/v1/profiles/{profile}", json=words, headers=headers)

    def _upload(self) -> None:
        path = self._random.choice(SAMPLES)
        self.send(path.name, path.read_bytes())

    def _bad_upload(self) -> None:
        path = self._random.choice(SAMPLES)
        raw = bytearray(path.read_bytes())
        raw[self._random.randrange(len(raw))] ^= 0xFF
        self.send(path.name, bytes(raw))

    def send(self, name: str, content: bytes) -> None:
        sent = self._ask("POST", "/api/v1/profiles?wait=0", files={"file": (name, content)})
        if sent.status_code >= HTTPStatus.BAD_REQUEST:
            return
        profile, token = sent.json()["id"], sent.json()["delete_token"]
        deadline = time.monotonic() + IMPORT_S
        state = "queued"
        while state not in ENDED and time.monotonic() < deadline:
            state = self._ask("GET", f"/api/v1/profiles/{profile}?wait=30").json().get("state")
        if state == "ready":
            with self._team.lock:
                self._team.profiles.append((profile, token, name))
        else:
            self._remove(profile, token)

    def _delete(self) -> None:
        """All but the newest of each sample."""
        with self._team.lock:
            seen: Counter[str] = Counter()
            kept: list[tuple[str, str, str]] = []
            removed: list[tuple[str, str, str]] = []
            for one in reversed(self._team.profiles):
                seen[one[2]] += 1
                (kept if seen[one[2]] <= KEPT else removed).append(one)
            self._team.profiles[:] = kept[::-1]
        for profile, token, _ in removed:
            self._remove(profile, token)

    def _remove(self, profile: str, token: str) -> None:
        for place in ("profiles", "trash"):
            path = f"/api/v1/{place}/{profile}"
            self._ask("DELETE", path, headers={"X-Delete-Token": token})


def main() -> int:
    """Loads a server, says what it held, and returns 1 where it grew or answered with 5xx."""
    given = _parser().parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder, serving(Path(folder)) as server:
        team, samples = _soak(server, given)
    text = _report(team, samples)
    print(text)
    if given.curve:
        given.curve.write_text(json.dumps([asdict(sample) for sample in samples]))
    if given.keep:
        write_section("soak", text)
    return 1 if "missed" in text else 0


def _soak(server: Server, given: argparse.Namespace) -> tuple[Team, list[Sample]]:
    team = Team(server.url)
    first = Person(team, 0)
    for path in SAMPLES:
        first.send(path.name, path.read_bytes())
    over, began = threading.Event(), time.monotonic()
    people = [
        threading.Thread(target=Person(team, 1 + seed).work, args=(over, given.pause))
        for seed in range(PEOPLE)
    ]
    for person in people:
        person.start()
    samples: list[Sample] = []
    while (at_s := time.monotonic() - began) < given.seconds:
        server.check()
        samples.append(_sample(server.process.pid, at_s))
        over.wait(SAMPLED_EVERY_S)
    over.set()
    for person in people:
        person.join()
    return team, samples


def _sample(pid: int, at_s: float) -> Sample:
    process = Path(f"/proc/{pid}")
    # `statm` is off by as much as 4 MB where several threads run.
    held = next(row for row in (process / "smaps_rollup").open() if row.startswith("Rss:"))
    children = sum(len(task.read_text().split()) for task in process.glob("task/*/children"))
    return Sample(
        at_s,
        int(held.split()[1]) * 1024 / 1e6,
        len(os.listdir(process / "fd")),
        len(os.listdir(process / "task")),
        children,
    )


def _report(team: Team, samples: list[Sample]) -> str:
    settled = [sample for sample in samples if sample.at_s >= SETTLED_S] or samples
    hours = [sample.at_s / 3600 for sample in settled]
    rows = [
        _row("memory, MB", hours, [sample.memory_mb for sample in settled], SLOPE_MB_PER_HOUR),
        _row("open files", hours, [float(sample.files) for sample in settled], SLOPE_FILES),
        _row("threads", hours, [float(sample.threads) for sample in settled], SLOPE_FILES),
    ]
    answers = ", ".join(f"{count:,} of {status}" for status, count in sorted(team.statuses.items()))
    bad = "missed: " + "; ".join(team.faults[:5]) if team.faults else "none of 5xx, none missing"
    return "\n".join(
        [
            f"{describe_machine()}; {samples[-1].at_s / 3600:.2f} h.",
            "",
            "| after the first half hour | least | median | most | slope an hour | aim |",
            "|---|---|---|---|---|---|",
            *rows,
            "",
            f"Memory in MB after {_curve(samples)}.",
            "",
            f"Answers: {answers}; {bad}.",
        ]
    )


def _curve(samples: list[Sample]) -> str:
    """A dozen of the samples: "5 min 190, 10 min 201, …"."""
    chosen = samples[:: max(1, len(samples) // POINTS)]
    return ", ".join(f"{sample.at_s / 60:.0f} min {sample.memory_mb:.0f}" for sample in chosen)


def _row(name: str, hours: list[float], values: list[float], limit: float) -> str:
    slope = statistics.linear_regression(hours, values).slope
    missed = "" if slope < limit else ", missed"
    return (
        f"| {name} | {min(values):,.0f} | {statistics.median(values):,.0f} | {max(values):,.0f}"
        f" | {slope:+.2f} | < {limit:g}{missed} |"
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=7200)
    parser.add_argument("--pause", type=float, default=1.0, help="of a person, seconds")
    parser.add_argument("--folder", type=Path, help="where to work")
    parser.add_argument("--curve", type=Path, help="write the samples as JSON")
    parser.add_argument("--keep", action="store_true", help="write it into bench/README.md")
    return parser


if __name__ == "__main__":
    sys.exit(main())
