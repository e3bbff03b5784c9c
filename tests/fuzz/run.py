"""Mutated files through the importers, for as long as is given.

    python -m tests.fuzz.run --seconds 60 --inputs 200000 --processes 2 --first 0 --families xspace

Input N of a family is the same on every machine, so a finding is a name and a number. A finding
(an exception that is not a `RooflineError`, a NumPy warning, a hang, the death of the process, a
file elsewhere) is written to `tests/fuzz/corpus/`, once per kind, which the tests read ever after.
The exit status is 1 if there was anything.
"""

import argparse
import ctypes
import multiprocessing
import os
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.queues import Queue
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path

from tests.fuzz.corpus_files import keep
from tests.fuzz.families import FAMILIES, Upload
from tests.fuzz.importing import DRAWN_EVERY, SECONDS, Hang, limit_memory, read, read_in_child

# Compiled code does not notice a signal: then the process is ended from outside.
STUCK_S = 12 * SECONDS
REPORT_S = 10.0


@dataclass
class Share:
    """The inputs of one process: each `step`-th number from `next`."""

    step: int
    end: int
    at: "Synchronized[int]"
    process: multiprocessing.process.BaseProcess | None = None
    seen: int = -1
    seen_at: float = 0.0


@dataclass(frozen=True)
class Plan:
    """Numbers to inputs: families take turns."""

    families: tuple[str, ...]
    first: int
    inputs: int
    is_child: bool = False

    def name(self, number: int) -> str:
        """The family and the number within it."""
        turn, which = divmod(number, len(self.families))
        return f"{self.families[which]}-{self.first + turn}"

    def upload(self, number: int) -> Upload:
        """The files of input `number`."""
        family, _, own = self.name(number).rpartition("-")
        return FAMILIES[family](int(own))


def work(plan: Plan, numbers: range, at: "Synchronized[int]", ends: "Queue[object]") -> None:
    """Runs in a process of its own; `at` always says which input is under way."""
    os.nice(10)
    # A cast of NaN or an overflow makes a wrong number: the tests take none either.
    warnings.simplefilter("error")
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(dir=memory_folder()) as folder:
        for number in range(len(plan.families)):  # kernels compile outside the limits
            _tried(plan, number, Path(folder), None)
        if not plan.is_child:
            limit_memory()
        for number in numbers:
            at.value = number
            counts[_tried(plan, number, Path(folder), ends)] += 1
            if sum(counts.values()) % 200 == 0:
                ends.put(counts)
                counts = Counter()
    ends.put(counts)
    at.value = numbers.stop


def kind_of(error: BaseException) -> str:
    """What is raised and where in the product: findings of one kind are kept once."""
    frames = traceback.extract_tb((error.__context__ or error).__traceback__)
    where = next((frame for frame in reversed(frames) if "/app/" in frame.filename), frames[-1])
    return f"{type(error).__name__} in {Path(where.filename).name}:{where.name}"


def _tried(plan: Plan, number: int, folder: Path, ends: "Queue[object] | None") -> str:
    """How input `number` ended, behind the name of its family."""
    family = plan.families[number % len(plan.families)]
    turn = number // len(plan.families)
    try:
        if plan.is_child:
            end = read_in_child(plan.upload(number), folder)
        else:
            end = read(plan.upload(number), folder, is_drawn=turn % DRAWN_EVERY == 0)
    except (Exception, Hang) as error:  # noqa: BLE001 - to find them is what this is for
        if ends is not None:
            ends.put((number, kind_of(error), traceback.format_exc(limit=-6)))
        return f"{family} FINDING"
    return f"{family} {end}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs until time or inputs are used up; returns the exit status."""
    given = _parser().parse_args(arguments)
    # Told to stop, it ends its processes and says what was found.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    context = multiprocessing.get_context("spawn")
    ends: Queue[object] = context.Queue()
    plan = Plan(given.families or tuple(FAMILIES), given.first, given.inputs, given.child)
    shares = []
    for number in range(given.processes):
        at = context.Value(ctypes.c_longlong, number)
        end = given.inputs * len(plan.families)
        shares.append(Share(step=given.processes, end=end, at=at))
    counts: Counter[str] = Counter()
    findings: dict[str, str] = {}
    started = reported = time.monotonic()
    try:
        while time.monotonic() - started < given.seconds:
            at_work = [_tend(plan, share, context, ends, findings) for share in shares]
            if not any(at_work):
                break
            _collect(plan, ends, counts, findings)
            if time.monotonic() - reported > REPORT_S:
                reported = time.monotonic()
                _say(counts, reported - started)
    except KeyboardInterrupt:
        pass
    finally:
        for share in shares:
            if share.process is not None:
                share.process.kill()
                share.process.join()
    _collect(plan, ends, counts, findings)
    _say(counts, time.monotonic() - started)
    sys.stdout.write("\n".join(findings.values()) + "\n" if findings else "Nothing was found.\n")
    return 1 if findings else 0


def _tend(
    plan: Plan,
    share: Share,
    context: multiprocessing.context.SpawnContext,
    ends: "Queue[object]",
    findings: dict[str, str],
) -> bool:
    """Keeps the process of a share at work; false when its inputs are used up."""
    at = share.at.value
    if at >= share.end:
        return False
    now = time.monotonic()
    if share.process is not None and share.process.is_alive():
        if at != share.seen:
            share.seen, share.seen_at = at, now
        elif now - share.seen_at > STUCK_S:
            share.process.kill()
            share.process.join()
        return True
    if share.process is not None:
        kind = f"{plan.name(at)} ended with {share.process.exitcode}"
        findings[kind] = _keep(plan, at, kind)
        at += share.step
    numbers = range(at, share.end, share.step)
    share.process = context.Process(target=work, args=(plan, numbers, share.at, ends), daemon=True)
    share.process.start()
    share.seen, share.seen_at = at, now + 60  # the first input waits for the kernels
    return True


def _collect(
    plan: Plan, ends: "Queue[object]", counts: Counter[str], findings: dict[str, str]
) -> None:
    time.sleep(0.2)
    while not ends.empty():
        match ends.get():
            case Counter() as more:
                counts.update(more)
            case (int(number), str(kind), str(trace)) if kind not in findings:
                findings[kind] = f"{_keep(plan, number, kind)}\n{trace}"


def _keep(plan: Plan, number: int, kind: str) -> str:
    return f"{kind}: {keep(plan.name(number), plan.upload(number))}"


def _say(counts: Counter[str], seconds: float) -> None:
    total = sum(counts.values())
    sys.stdout.write(f"{total:,} inputs in {seconds:.0f} s ({total / seconds:.0f}/s)\n")
    for family in FAMILIES:
        ends = {key.split(" ")[1]: n for key, n in counts.items() if key.split(" ")[0] == family}
        kinds = ", ".join(f"{end} {n:,}" for end, n in sorted(ends.items(), key=lambda e: -e[1]))
        if ends:
            sys.stdout.write(f"  {family} {sum(ends.values()):,}: {kinds}\n")
    sys.stdout.flush()


def memory_folder() -> str | None:
    """A folder in memory, where there is one: nothing is worn out."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--inputs", type=int, default=200_000, help="of each family")
    parser.add_argument("--processes", type=int, default=max(1, (os.cpu_count() or 2)))
    parser.add_argument("--child", action="store_true", help="in the confined child of a server")
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument(
        "--families",
        type=lambda text: tuple(filter(None, text.split(","))),
        default=(),
        help=f"only these, with commas between: {', '.join(FAMILIES)}",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
