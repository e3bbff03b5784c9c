"""Kills of workers, schedulers, jobs and servers at random moments: the same digest each time.

    make crash-runs KILLS=50

A job is `roofline analyze --engine dask`; killed, it is started again. A server reads the run by
itself and is killed in between. Partials are kept: at most one batch of each worker is read
twice. `tests/fleet/test_dask.py` has a few such kills.
"""

import argparse
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from roofline.fleet.engine import batches
from roofline.pods.folders import HostFile
from tests.browser.serving import serving
from tests.conftest import PYTHON_PATH
from tests.fleet.cluster import Processes, processes
from tests.fleet.kills import distinct_files

WORKERS = 2
WITHIN_S = 2.0
PATIENCE_S = 600.0
VICTIMS = ("worker", "scheduler", "job", "server")


class Job:
    """`roofline analyze` of a folder, with options; started again after each kill."""

    def __init__(self, folder: Path, run: Path, kept: Path, *options: str) -> None:
        self.output = folder / "run.json"
        self.output.unlink(missing_ok=True)
        command = [sys.executable, "-m", "roofline", "analyze", *options, "--format", "json"]
        self._command = [*command, "--partials", str(kept), "-o", str(self.output), str(run)]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = subprocess.Popen(
            self._command, env={**os.environ, "PYTHONPATH": PYTHON_PATH}
        )

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    @property
    def is_over(self) -> bool:
        assert self._process is not None
        if self._process.poll() is None:
            return False
        if self._process.returncode > 0:
            raise SystemExit(f"The job ended with status {self._process.returncode}.")
        return True

    def digest(self) -> str:
        """The SHA-256 of what it wrote; waits for it."""
        deadline = time.monotonic() + PATIENCE_S
        while not self.is_over:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        return hashlib.sha256(self.output.read_bytes()).hexdigest()


class Crashes:
    """The run, what it must give, and what was killed so far."""

    def __init__(self, folder: Path, hosts: int, seed: int) -> None:
        self.folder, self.dice = folder, random.Random(seed)
        self.files = distinct_files(folder, hosts)
        self.run = Path(self.files[0].address).parent
        self.counts: Counter[str] = Counter()
        self.read_again = 0
        one_by_one = Job(folder, self.run, folder / "wanted", "--engine", "local", "--workers", "1")
        one_by_one.start()
        self.wanted = one_by_one.digest()
        self.wanted_digest = json.loads(one_by_one.output.read_bytes())["digest"]

    def on_cluster(self, number: int, victims: list[str]) -> None:
        """A run on a cluster of which `victims` are killed."""
        kept, reads = self.folder / f"kept-{number}", self.folder / f"reads-{number}"
        reads.touch()
        with processes(
            self.folder, workers=WORKERS, preload="tests.fleet.counting", reads=reads
        ) as cluster:
            job = Job(
                self.folder, self.run, kept, "--engine", "dask",
                "--scheduler-file", str(cluster.scheduler_file),
            )  # fmt: skip
            job.start()
            killed = [one for one in victims if self._kill(one, job, cluster, reads)]
            same = job.digest() == self.wanted
        if not same:
            raise SystemExit(f"Run {number} gave other bytes.")
        again = len(reads.read_text().splitlines()) - len(self.files)
        if again > len(killed) * WORKERS * largest_batch(self.files):
            raise SystemExit(f"Run {number}: {again} files were read again after {killed}.")
        self.counts.update(killed)
        self.read_again += again
        shutil.rmtree(kept)

    def _kill(self, victim: str, job: Job, cluster: Processes, reads: Path) -> bool:
        """Kills at a random moment at which files are read; false where the job is over."""
        if not self._wait(lambda: job.is_over, reads):
            return False
        if victim == "job":
            job.kill()
            job.start()
        elif victim == "scheduler":
            cluster.kill_scheduler()
            cluster.start_scheduler()
            for _ in range(WORKERS):
                cluster.start_worker()
        else:
            cluster.kill_worker()
            cluster.start_worker()
        return True

    def _wait(self, is_over: Callable[[], bool], growing: Path) -> bool:
        """Until more was read, and a random time longer."""
        before = growing.stat().st_size
        while growing.stat().st_size == before:
            if is_over():
                return False
            time.sleep(0.02)
        until = time.monotonic() + self.dice.uniform(0.0, WITHIN_S)
        while time.monotonic() < until:
            if is_over():
                return False
            time.sleep(0.02)
        return True

    def on_server(self, number: int, kills: int) -> None:
        """A run on a server that is killed, and started again with its folder."""
        folder, run_id = self.folder / f"server-{number}", ""
        settings = {"ROOFLINE_BUCKETS": str(self.run)}
        for _ in range(kills):
            with serving(folder, settings) as server:
                run_id = run_id or started(server.url, self.run, len(self.files))
                time.sleep(self.dice.uniform(0.0, WITHIN_S * 2))
                server.process.kill()
        with serving(folder, settings) as server:
            found = document(server.url, run_id)
        if found["digest"] != self.wanted_digest or found["read"] != len(self.files):
            raise SystemExit(f"Server {number}: the run has {found['read']} hosts, another digest.")
        self.counts["server"] += kills
        shutil.rmtree(folder)


def largest_batch(files: list[HostFile]) -> int:
    """Files of the largest batch."""
    return max(len(one) for one in batches(files))


def started(url: str, run: Path, hosts: int) -> str:
    """The id of a new run on a server."""
    body = json.dumps({"uri": str(run), "hosts": hosts}).encode()
    asked = Request(f"{url}/api/v1/runs", body, {"Content-Type": "application/json"})
    with urlopen(asked, timeout=60) as answer:
        return str(json.load(answer)["id"])


def document(url: str, run_id: str) -> Any:
    """The document of a run once it is complete."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        with urlopen(f"{url}/api/v1/runs/{run_id}?wait=60", timeout=90) as answer:
            found = json.load(answer)
        if found["state"] == "complete":
            return found
    raise SystemExit("The run does not end.")


def main() -> None:
    """Kill, and say what became of the runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--hosts", type=int, default=64)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, required=True)
    given = parser.parse_args()
    shutil.rmtree(given.folder, ignore_errors=True)
    given.folder.mkdir(parents=True)
    crashes, number = Crashes(given.folder.resolve(), given.hosts, given.seed), 0
    while (left := given.kills - crashes.counts.total()) > 0:
        number += 1
        victims = [crashes.dice.choice(VICTIMS) for _ in range(min(left, 6))]
        if servers := victims.count("server"):
            crashes.on_server(number, servers)
        if others := [one for one in victims if one != "server"]:
            crashes.on_cluster(number, others)
        sys.stdout.write(
            f"{dict(crashes.counts)} killed: the same digest, {crashes.read_again} files read"
            f" twice in {number} runs of {given.hosts}\n"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
