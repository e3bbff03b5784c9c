"""Times our import against XProf's, on the same generated files, and writes the table.

    make bench            both sizes, five rounds
    python -m bench.run --size 1M --rounds 3

Rounds are interleaved (XProf, we, XProf, ...), so that a slow minute of the machine hits both;
every figure is a median over rounds, every ratio a median of the ratios within a round.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.our_worker import OurWorker
from bench.readme import describe_machine, write_section
from bench.xprof_env import REFERENCE_SCRIPT, VERSION, WORK, XprofWorker, xprof_python
from tests.tools.comparison import compare
from tests.tools.generate_xspace import Config, write_profile

TRAITS = ("framework_ops", "rich_events", "long_names", "sources", "host_steps", "async_line")
SIZES = {"1M": 1_000_000, "5M": 5_060_000}
# What we aim for, as XProf's figure divided by ours.
TARGETS = {"1M": {"warm": 10, "whole": 3}, "5M": {"warm": 10, "whole": 6, "memory": 5}}
ROOFLINE = Path(sys.executable).with_name("roofline")


@dataclass
class Measured:
    """Seconds or MiB of each round, by what was measured."""

    xprof: dict[str, list[float]] = field(default_factory=lambda: {"warm": [], "whole": []})
    ours: dict[str, list[float]] = field(default_factory=lambda: {"warm": [], "whole": []})

    def __post_init__(self) -> None:
        self.xprof["memory"], self.ours["memory"] = [], []

    def ratio(self, kind: str) -> float:
        pairs = zip(self.xprof[kind], self.ours[kind], strict=True)
        return statistics.median(theirs / ours for theirs, ours in pairs)


def main() -> int:
    arguments = _parse()
    python = xprof_python()
    lines = [
        "| events | file | what | XProf | we | ratio | aim |",
        "|---|---|---|---|---|---|---|",
    ]
    missed = False
    for size in arguments.size or SIZES:
        file = _profile(size)
        measured = _measure(file, python, arguments.rounds)
        for kind in ("warm", "whole", "memory"):
            aim = TARGETS[size].get(kind)
            ratio = measured.ratio(kind)
            missed |= aim is not None and ratio < aim
            lines.append(_row(size, file, kind, measured, ratio, aim))
            print(lines[-1], flush=True)
    about = (
        f"XProf {VERSION}; median of {arguments.rounds} interleaved rounds; {describe_machine()}."
    )
    write_section("import", "\n".join([about, "", *lines]))
    if missed:
        print("An aim was missed.")
    return int(missed)


def _profile(size: str) -> Path:
    """The generated file, kept between runs."""
    folder = WORK / f"profile-{size}"
    file = folder / "host_0.xplane.pb"
    if not file.exists():
        print(f"Generating {SIZES[size]:,} events ...", flush=True)
        config = Config(
            device="v5e",
            n_devices=4,
            n_steps=20,
            n_distinct_ops=400,
            n_events=SIZES[size],
            seed=7,
            traits=TRAITS,
        )
        with tempfile.TemporaryDirectory(dir=_work()) as scratch:
            write_profile(config, scratch)
            Path(scratch, file.name).rename(_made(folder) / file.name)
    file.read_bytes()  # into the page cache, for both
    return file


def _measure(file: Path, python: Path, rounds: int) -> Measured:
    measured = Measured()
    with tempfile.TemporaryDirectory() as scratch:
        theirs, ours = Path(scratch) / "xprof.json", Path(scratch) / "ours.json"
        request = json.dumps({"files": [str(file)], "out": str(theirs)}) + "\n"
        their_command = [str(python), str(REFERENCE_SCRIPT)]
        our_command = [str(ROOFLINE), "analyze", "--format", "xprof", "-o", str(ours), str(file)]
        _whole(our_command, "")  # code and libraries into the page cache
        for _ in range(rounds):
            _add(measured.xprof, _whole(their_command, request))
            _add(measured.ours, _whole(our_command, ""))
        _check_equal(theirs, ours)
        with XprofWorker(python) as xprof, OurWorker() as we:
            for side in (xprof, we):
                side.ask([file])
            for _ in range(rounds):
                measured.xprof["warm"].append(_seconds(xprof.ask([file])))
                measured.ours["warm"].append(_seconds(we.ask([file])))
    return measured


def _whole(command: Sequence[str], given: str) -> dict[str, float]:
    """Wall seconds and peak MiB of a fresh process, start and imports included."""
    begin = time.perf_counter()
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    assert process.stdin
    process.stdin.write(given.encode())
    process.stdin.close()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed with status {process.returncode}")
    return {"whole": seconds, "memory": usage.ru_maxrss / 1024}


def _add(lists: dict[str, list[float]], figures: dict[str, float]) -> None:
    for kind, value in figures.items():
        lists[kind].append(value)


def _seconds(reply: dict[str, Any]) -> float:
    if "error" in reply:
        raise SystemExit(f"A worker failed: {reply['error']}")
    return float(reply["seconds"])


def _check_equal(theirs: Path, ours: Path) -> None:
    result = compare(json.loads(theirs.read_bytes()), json.loads(ours.read_bytes()), ties=True)
    print(result.summary(2).splitlines()[0], flush=True)
    if result.mismatches:
        raise SystemExit(result.summary())


def _row(
    size: str, file: Path, kind: str, measured: Measured, ratio: float, aim: float | None
) -> str:
    what = {
        "warm": "import in a warm process",
        "whole": "whole process, fresh",
        "memory": "peak memory, fresh process",
    }[kind]
    show: Callable[[float], str] = (
        (lambda mib: f"{mib:,.0f} MiB") if kind == "memory" else (lambda s: f"{s:.3f} s")
    )
    theirs, ours = (statistics.median(side[kind]) for side in (measured.xprof, measured.ours))
    megabytes = f"{file.stat().st_size / 1e6:.0f} MB"
    goal = f"≥ {aim}×" if aim else ""
    return (
        f"| {size} | {megabytes} | {what} | {show(theirs)} | {show(ours)} | {ratio:.1f}× | {goal} |"
    )


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _work() -> Path:
    return _made(WORK)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", action="append", choices=sorted(SIZES))
    parser.add_argument("--rounds", type=int, default=5)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
