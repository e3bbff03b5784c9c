"""Kills workers and schedulers at random moments of a run; `tests.fleet.crash` kills more."""

import os
import random
import shutil
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from roofline.exports.run_report import render_run
from roofline.fleet.choosing import reduce_receipts
from roofline.fleet.dask_connection import Certificates, Cluster
from roofline.fleet.dask_engine import DaskEngine
from roofline.fleet.engine import Receipt
from roofline.fleet.kept import open_kept
from roofline.fleet.local import LocalEngine
from roofline.pods.folders import HostFile, files_of
from tests.children.processes import LIMITS as OF_CHILDREN
from tests.fleet.cluster import Processes
from tests.tools.generate_xspace import Config, write_profile

LIMITS = replace(OF_CHILDREN, wall_seconds=120)


@dataclass(slots=True)
class Killed:
    """The kills of one run, and its receipts."""

    wanted: Sequence[str]
    within_s: float
    workers: int = 0
    schedulers: int = 0
    receipts: list[Receipt] = field(default_factory=list)

    @property
    def total(self) -> int:
        return self.workers + self.schedulers

    @property
    def computed(self) -> int:
        return sum(not one.was_kept for one in self.receipts)


def run_with_kills(
    files: list[HostFile],
    kept: Path,
    cluster: Processes,
    dice: random.Random,
    *,
    kills: Sequence[str],
    certificates: Certificates | None = None,
    within_s: float = 1.0,
) -> Killed:
    """Read `files` while `kills`, workers and schedulers, are killed after random waits."""
    found, done = Killed(wanted=kills, within_s=within_s), threading.Event()
    where = Cluster(scheduler_file=cluster.scheduler_file, certificates=certificates)
    engine = DaskEngine(where, f"file://{kept}", LIMITS)
    killer = threading.Thread(target=_kill, args=(cluster, dice, kept / "partials", found, done))
    killer.start()
    try:
        found.receipts = list(engine.submit(files).receipts())
    finally:
        done.set()
        killer.join()
        engine.close()
    return found


def _kill(
    cluster: Processes,
    dice: random.Random,
    kept: Path,
    found: Killed,
    done: threading.Event,
) -> None:
    """Kill, and start again; a scheduler ends with all that it knows, and with its workers."""
    for victim in found.wanted:
        # Workers take seconds to start: the moment is one at which they read.
        before = _kept(kept)
        while _kept(kept) == before:
            if done.wait(0.02):
                return
        if done.wait(dice.uniform(0.0, found.within_s)):
            return
        if victim == "scheduler":
            count = len(cluster.workers)
            cluster.kill_scheduler()
            cluster.start_scheduler()
            for _ in range(count):
                cluster.start_worker()
            found.schedulers += 1
        else:
            cluster.kill_worker()
            cluster.start_worker()
            found.workers += 1


def _kept(folder: Path) -> int:
    return len(os.listdir(folder)) if folder.is_dir() else 0


def distinct_files(folder: Path, count: int, *, events: int = 20_000) -> list[HostFile]:
    """Captures of `count` hosts: copies of a few with other names, as far as names tell hosts."""
    made = write_profile(Config(n_hosts=4, n_events=events), folder / "made")
    target = folder / "run"
    target.mkdir()
    for number in range(count):
        copy = target / f"host-{number:04}.xplane.pb"
        shutil.copy(made[number % len(made)], copy)
        with copy.open("ab") as file:
            file.write(_unknown_field(number))  # another digest
    return files_of([target])


def _unknown_field(number: int) -> bytes:
    """A field that no reader of XSpace knows: number 1000, four bytes."""
    return b"\xc5\x3e" + number.to_bytes(4, "little")


def one_by_one(files: list[HostFile], place: str) -> bytes:
    """The run's bytes without a cluster."""
    engine = LocalEngine(open_kept(place), LIMITS)
    try:
        return rendered(list(engine.submit(files).receipts()), place)
    finally:
        engine.close()


def rendered(receipts: list[Receipt], place: str) -> bytes:
    return render_run(reduce_receipts(receipts, open_kept(place)), "json")
