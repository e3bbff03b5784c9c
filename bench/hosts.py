"""Runs of many hosts: the reduce, the cost model, and two Dask workers against one by one.

    python -m bench.hosts --folder build/hosts
    python -m bench.hosts --folder build/hosts --only dask --hosts 128
    python -m bench.hosts --folder build/hosts --server --hosts 256

Each part says its limits. `dask`: captures of 4 MB (v5e, 4 cores, 999 operations), each with
another digest. Both engines run at the same time, so that other work on the machine slows both;
processor time of the whole process tree counts, starting included. With `--server` a server reads
them instead: how soon the first chart is there, how much its process grows, and how long other
users' pages take before and meanwhile.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench import hosts_model, hosts_reduce
from bench.run_on_server import on_server
from tests.fleet.cluster import processes
from tests.tools.generate_xspace import Config, write_profile

HOSTS, DISTINCT, EVENTS = 1_024, 16, 186_000
ENGINES = {"one by one": "local", "two Dask workers": "dask"}
CORES = (2, 16, 64)
PARTS = ("reduce", "model", "dask")
MAX_RATIO = 1.15


@dataclass(frozen=True, slots=True)
class Measured:
    """One command: processor and wall seconds, and the digest of what it printed."""

    cpu_s: float
    wall_s: float
    digest: str


def prepare(folder: Path, hosts: int) -> Path:
    """The folder with the captures, written once."""
    run = folder / f"run-{hosts}"
    if run.is_dir():
        return run
    config = Config(n_devices=4, n_distinct_ops=999, n_hosts=DISTINCT, n_events=EVENTS * DISTINCT)
    made = write_profile(config, folder / "made")
    unfinished = folder / "unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    for number in range(hosts):
        copy = unfinished / f"host-{number:04}.xplane.pb"
        shutil.copy(made[number % DISTINCT], copy)
        with copy.open("ab") as file:
            # A field that no reader knows (number 1000, four bytes): another digest.
            file.write(b"\xc5\x3e" + number.to_bytes(4, "little"))
    unfinished.rename(run)
    return run


def side_by_side(folder: Path, hosts: int) -> dict[str, Measured]:
    """Both engines at the same time, each with partials of its own."""
    run = prepare(folder, hosts)
    one_by_one = ["--engine", "local", "--workers", "1"]
    # Where kernels are not kept yet, each process would compile them (24 s).
    _wait(_start(folder, next(run.iterdir()), one_by_one))
    started, found = time.monotonic(), {}
    with processes(folder, workers=2) as cluster:
        on_cluster = ["--engine", "dask", "--scheduler-file", str(cluster.scheduler_file)]
        names = {
            _start(folder, run, options): name
            for name, options in zip(ENGINES, (one_by_one, on_cluster), strict=True)
        }
        while names:
            pid, cpu_s = _wait(*names)
            name = names.pop(pid)
            if ENGINES[name] == "dask":
                own = [cluster.scheduler, *cluster.workers]
                cpu_s += sum(_processor_seconds(one.pid) for one in own if one is not None)
            said = (folder / f"{ENGINES[name]}.json").read_bytes()
            found[name] = Measured(
                cpu_s, time.monotonic() - started, hashlib.sha256(said).hexdigest()
            )
    return found


def _wait(*pids: int) -> tuple[int, float]:
    """The first of these processes that ends, and the processor seconds of what it started."""
    while True:
        for pid in pids:
            ended, status, used = os.wait4(pid, os.WNOHANG)
            if ended and status:
                raise SystemExit(f"A command ended with {os.waitstatus_to_exitcode(status)}.")
            if ended:
                return pid, used.ru_utime + used.ru_stime
        time.sleep(0.05)


def _processor_seconds(pid: int) -> float:
    """Those of a process that runs, with what it started and what of that has ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    below = [
        int(child)
        for one in Path(f"/proc/{pid}/task").iterdir()
        for child in (one / "children").read_text().split()
    ]
    own = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return own + sum(map(_processor_seconds, below))


def _start(folder: Path, run: Path, options: list[str]) -> int:
    engine = options[1]
    kept = folder / f"kept-{engine}"
    shutil.rmtree(kept, ignore_errors=True)
    command = [sys.executable, "-m", "roofline", "analyze", *options]
    command += ["--partials", str(kept), "--format", "json"]
    command += ["-o", str(folder / f"{engine}.json"), str(run)]
    return subprocess.Popen(command).pid


def lines(found: dict[str, Measured], hosts: int) -> list[str]:
    """The tables."""
    one, dask = (found[name] for name in ENGINES)
    rows = [
        f"| {name} | {one.cpu_s:.1f} s | {one.cpu_s / hosts:.3f} s | {one.wall_s:.0f} s |"
        for name, one in found.items()
    ]
    same = "the same bytes" if one.digest == dask.digest else "OTHER BYTES"
    return [
        "| engine | processor time | each | wall |",
        "|---|---|---|---|",
        *rows,
        "",
        f"{hosts:,} hosts of 4 MB: {same}; {dask.cpu_s / one.cpu_s:.3f} times the processor time"
        f" (at most {MAX_RATIO}).",
        "",
        "Extrapolated, not measured: processor time above divided by cores, where reading the"
        " files is not the limit.",
        "",
        "| cores | 1,024 hosts of 4 MB |",
        "|---|---|",
        *(f"| {cores} | {dask.cpu_s / hosts * 1_024 / cores:.0f} s |" for cores in CORES),
    ]


def part(name: str, folder: Path, hosts: int) -> list[str]:
    """The lines that one part prints."""
    if name == "reduce":
        return hosts_reduce.lines(hosts_reduce.HOSTS)
    if name == "model":
        return hosts_model.lines(folder)
    return lines(side_by_side(folder, hosts), hosts)


def _each_part(folder: Path, hosts: int) -> None:
    """Each part in a process of its own, whose memory counts alone."""
    for name in PARTS:
        command = [sys.executable, "-m", "bench.hosts", "--only", name]
        subprocess.run([*command, "--hosts", str(hosts), "--folder", str(folder)], check=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=HOSTS, help="hosts of the part dask")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--server", action="store_true", help="have a server read them")
    given = parser.parse_args()
    folder = given.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if given.server:
        with tempfile.TemporaryDirectory(dir=folder) as data:
            said = on_server(Path(data), prepare(folder, given.hosts), given.hosts)
        print("\n".join(said))
    elif given.only:
        print("\n".join([*part(given.only, folder, given.hosts), ""]))
    else:
        _each_part(folder, given.hosts)


if __name__ == "__main__":
    main()
