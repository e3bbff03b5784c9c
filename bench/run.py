"""Times our import against XProf's, on the same files, and fails where it lost ground.

    make bench            every case, five rounds
    python -m bench.run --case 1M --rounds 3 [--record]

Rounds are interleaved (XProf, we, XProf, ...), so that a slow minute of the machine hits both.
Figures are seconds of processor or MiB, medians over rounds; a ratio is the median of those within
a round. `recorded.json` has the ratio of each row when it was last recorded, and the least and the
most of its rounds. A row lost ground where its ratio is more than 5 % below that, and no round
reached it. `--record` writes the file anew.
"""

import argparse
import compileall
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

from bench.our_worker import OurWorker
from bench.readme import describe_machine, write_section
from bench.xprof_env import BENCH, REFERENCE_SCRIPT, VERSION, WORK, XprofWorker, xprof_python
from tests.shared_profiles import SHARED
from tests.tools.comparison import compare
from tests.tools.generate_xspace import Config, write_profile
from tests.tools.gpu_captures import gpu_plane, metadata_plane
from tests.tools.small_profiles import space_bytes

RECORDED = BENCH / "recorded.json"
LOSS = 0.05
TRAITS = ("framework_ops", "rich_events", "long_names", "sources", "host_steps", "async_line")
KINDS = {
    "warm": "import in a warm process",
    "whole": "whole process, fresh",
    "memory": "peak memory, fresh process",
}


def _tpu(folder: Path, events: int) -> None:
    config = Config(
        device="v5e",
        n_devices=4,
        n_steps=20,
        n_distinct_ops=400,
        n_events=events,
        seed=7,
        traits=TRAITS,
    )
    write_profile(config, folder)


def _gpu(folder: Path, kernels: int) -> None:
    def stream(at: int) -> list[tuple[str, int, int, list[tuple[str, str]]]]:
        return [
            (f"kernel_{at}_{n % 100}", 9_000_000 * n, 8_000_000, [("kernel_details", "grid:8,1,1")])
            for n in range(kernels // 4)
        ]

    planes = [gpu_plane(map(stream, range(4))), metadata_plane({})]
    Path(folder, "host_0.xplane.pb").write_bytes(space_bytes(planes))


@dataclass(frozen=True)
class Case:
    """A file that both read, what we aim for as XProf's figure over ours, and how it is made."""

    aims: dict[str, float]
    make: Callable[[Path], None] | None = None


CASES = {
    "1M": Case({"warm": 20, "whole": 7, "memory": 3}, lambda folder: _tpu(folder, 1_000_000)),
    "5M": Case({"warm": 30, "whole": 20, "memory": 12}, lambda folder: _tpu(folder, 5_060_000)),
    "200k kernels": Case({"warm": 10}, lambda folder: _gpu(folder, 200_000)),
    "gpu-v100-tf-multiworker": Case({"whole": 5}),
    "amd-mi300x-conv-jax08": Case({"whole": 5}),
}


@dataclass
class Rounds:
    """Seconds or MiB of each round, theirs and ours."""

    theirs: list[float] = field(default_factory=list)
    ours: list[float] = field(default_factory=list)

    def add(self, theirs: float, ours: float) -> None:
        self.theirs.append(theirs)
        self.ours.append(ours)

    @property
    def ratios(self) -> list[float]:
        return sorted(one / other for one, other in zip(self.theirs, self.ours, strict=True))


def main() -> int:
    arguments = _parse()
    compileall.compile_dir("app", quiet=1)  # an install has byte code: 0.09 s of each process
    python = xprof_python()
    recorded = json.loads(RECORDED.read_text("utf-8")) if RECORDED.exists() else {}
    lines, lost, found = [], [], dict(recorded)
    for name in arguments.case or CASES:
        file = _profile(name)
        if file is None:
            continue
        measured, aims = _measure(file, python, arguments.rounds), CASES[name].aims
        for kind, aim in aims.items():
            rounds = measured[kind]
            row, ratios = f"{name}, {kind}", rounds.ratios
            ratio = statistics.median(ratios)
            kept = {"ratio": ratio, "least": ratios[0], "most": ratios[-1]}
            found[row] = {name: round(value, 3) for name, value in kept.items()}
            before = recorded.get(row, {}).get("ratio", 0)
            if lost_ground(ratios, before):
                lost.append(f"{row}: {ratio:.2f} times, recorded {before:.2f}")
            lines.append(_row(name, file, kind, rounds, aim, before))
            print(lines[-1], flush=True)
        _print_profile(file)
    if arguments.record:
        RECORDED.write_text(json.dumps(found, indent=2) + "\n", "utf-8")
    head = "| case | file | what | XProf | we | ratio (rounds) | recorded | aim |"
    about = f"XProf {VERSION}; {arguments.rounds} rounds; {describe_machine()}."
    write_section("import", "\n".join([about, "", head, "|---" * 8 + "|", *lines]))
    print("\n".join(["Lost ground:", *lost] if lost else ["No row lost ground."]))
    return int(bool(lost))


def lost_ground(ratios: Sequence[float], recorded: float) -> bool:
    """Whether the median is more than 5 % below what was recorded, and no round reached that."""
    return statistics.median(ratios) < recorded * (1 - LOSS) and max(ratios) < recorded


def _profile(name: str) -> Path | None:
    """The file of a case, made when there is none yet; `None` for one that is not on this disk."""
    make, folder = CASES[name].make, WORK / f"profile-{name.replace(' ', '-')}"
    file = folder / "host_0.xplane.pb"
    if make is None:
        file = SHARED / "profiles" / name / file.name
        if not file.exists():
            print(f"{name} is left out: {file} is not there.")
            return None
        folder.mkdir(parents=True, exist_ok=True)
        copy = folder / file.name  # XProf writes beside what it reads
        copy.write_bytes(file.read_bytes())
        return copy
    if not file.exists():
        print(f"Making {name} ...", flush=True)
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=WORK) as scratch:
            # A process that is started here has at least the memory that this one once had.
            making = get_context("spawn").Process(target=_make, args=(name, scratch))
            making.start()
            making.join()
            Path(scratch, file.name).rename(file)
    with file.open("rb") as content:  # into the page cache, for both, and not into this process
        while content.read(1 << 20):
            pass
    return file


def _make(name: str, folder: str) -> None:
    make = CASES[name].make
    assert make
    make(Path(folder))


def _measure(file: Path, python: Path, rounds: int) -> dict[str, Rounds]:
    measured = {kind: Rounds() for kind in KINDS}
    with tempfile.TemporaryDirectory() as scratch:
        theirs, ours = Path(scratch) / "xprof.json", Path(scratch) / "ours.json"
        request = json.dumps({"files": [str(file)], "out": str(theirs)}) + "\n"
        their_command = [str(python), str(REFERENCE_SCRIPT)]
        our_command = [sys.executable, "-m", "roofline", "analyze", "--format", "xprof"]
        our_command += ["-o", str(ours), str(file)]
        _whole(our_command, "")  # code and libraries into the page cache
        for _ in range(rounds):
            (their_seconds, their_mib), (our_seconds, our_mib) = (
                _whole(their_command, request),
                _whole(our_command, ""),
            )
            measured["whole"].add(their_seconds, our_seconds)
            measured["memory"].add(their_mib, our_mib)
        _check_equal(theirs, ours)
        with XprofWorker(python) as xprof, OurWorker() as we:
            for number in range(rounds + 1):
                replies = [side.ask([file]) for side in (xprof, we)]
                for reply in replies:
                    if "error" in reply:
                        raise SystemExit(f"A worker failed: {reply['error']}")
                if number:  # the first warms both
                    measured["warm"].add(*(reply["processor_seconds"] for reply in replies))
    return measured


def _whole(command: Sequence[str], given: str) -> tuple[float, float]:
    """Seconds of processor and peak MiB of a fresh process, start and imports included."""
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    assert process.stdin
    process.stdin.write(given.encode())
    process.stdin.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed with status {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def _check_equal(theirs: Path, ours: Path) -> None:
    result = compare(json.loads(theirs.read_bytes()), json.loads(ours.read_bytes()), ties=True)
    print(result.summary(2).splitlines()[0], flush=True)
    if result.mismatches:
        raise SystemExit(result.summary())


def _print_profile(file: Path) -> None:
    """Where the time of our fresh process goes: the functions that take most themselves."""
    command = [sys.executable, "-m", "cProfile", "-s", "tottime", "-m", "roofline", "analyze"]
    done = subprocess.run([*command, str(file)], capture_output=True, text=True, check=True)
    table = done.stdout[done.stdout.rindex("   ncalls  tottime") :]
    print("\n".join(table.splitlines()[:9]), flush=True)


def _row(name: str, file: Path, kind: str, rounds: Rounds, aim: float, recorded: float) -> str:
    unit, digits = ("MiB", 0) if kind == "memory" else ("s", 3)
    sides = (statistics.median(side) for side in (rounds.theirs, rounds.ours))
    shown = " | ".join(f"{value:,.{digits}f} {unit}" for value in sides)
    ratios = rounds.ratios
    spread = f"{statistics.median(ratios):.1f}× ({ratios[0]:.1f} – {ratios[-1]:.1f})"
    last, goal = (f"{one:.1f}×" if one else "" for one in (recorded, aim))
    size = f"{file.stat().st_size / 1e6:.1f} MB"
    return f"| {name} | {size} | {KINDS[kind]} | {shown} | {spread} | {last} | {goal} |"


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--case", action="append", choices=sorted(CASES))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--record", action="store_true", help="keep the ratios of this run")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
