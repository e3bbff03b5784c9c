"""The cost of reading a capture by its size, against the model by which files get into batches."""

import os
import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.run import TRAITS
from roofline.fleet.engine import expected_cpu_seconds
from roofline.fleet.kept import open_kept
from roofline.fleet.local import LocalEngine
from roofline.pods.fetching import sources_of
from roofline.pods.folders import HostFile
from roofline.settings import Settings
from tests.tools.generate_xspace import Config, write_profile

EVENTS = {4: 66_000, 60: 1_000_000, 300: 5_000_000}
"""Events of captures with so many MB."""
MAX_DISTANCE = 0.3
ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Cost:
    """Bytes of a capture, processor seconds to read it, and those of the model."""

    size_bytes: int
    cpu_s: float
    model_s: float

    @property
    def distance(self) -> float:
        """How far the measured time is from the model, as a part of the model."""
        return self.cpu_s / self.model_s - 1.0


def measure(folder: Path) -> list[Cost]:
    """The median of three readings of each size; hashing and keeping the partial included."""
    files = [_file(folder, size_mb) for size_mb in EVENTS]
    with TemporaryDirectory(prefix="roofline-") as scratch:
        engine = LocalEngine(open_kept(f"file://{scratch}/warm"), Settings.from_env().import_limits)
        try:
            _read(engine, files[0])  # loads the importers once
        finally:
            engine.close()
        return [_cost(one, Path(scratch)) for one in files]


def _file(folder: Path, size_mb: int) -> HostFile:
    made = folder / f"capture-{size_mb}"
    path = made / "host_0.xplane.pb"
    if not path.is_file():
        write_profile(_config(EVENTS[size_mb]), made)
    return sources_of([str(path)])[0]


def _config(events: int) -> Config:
    """The captures of the table of imports: 60 bytes for each event."""
    return Config(n_devices=4, n_steps=20, n_distinct_ops=400, n_events=events, traits=TRAITS)


def _cost(file: HostFile, scratch: Path) -> Cost:
    """The file is not kept in a new place: each round reads it."""
    seconds = []
    for number in range(ROUNDS):
        place = f"file://{scratch}/{file.size_bytes}-{number}"
        engine = LocalEngine(open_kept(place), Settings.from_env().import_limits)
        try:
            seconds.append(_read(engine, file))
        finally:
            engine.close()
    return Cost(file.size_bytes, statistics.median(seconds), expected_cpu_seconds(file))


def _read(engine: LocalEngine, file: HostFile) -> float:
    """Processor seconds of this process and of the child that reads the file."""
    began_s = time.process_time()
    (receipt,) = engine.submit([file]).receipts()
    if receipt.unreadable:
        raise SystemExit(f"{file.name}: {receipt.unreadable[0].reason}")
    return time.process_time() - began_s + receipt.cpu_seconds


def lines(folder: Path) -> list[str]:
    """The measured costs, with the model."""
    rows = [
        f"| {one.size_bytes / 1e6:,.1f} MB | {one.cpu_s:.2f} s | {one.model_s:.2f} s |"
        f" {one.distance:+.0%} |"
        for one in measure(folder)
    ]
    return [
        f"Reading one capture ({os.cpu_count()} cores, median of {ROUNDS}):",
        "",
        f"| file | processor time | model | distance (limit ± {MAX_DISTANCE:.0%}) |",
        "|---|---|---|---|",
        *rows,
    ]
