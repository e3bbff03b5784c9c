"""Mutated XSpace inputs through the importer, for as long as is given.

    python -m tests.fuzz.run --seconds 60 --inputs 200000 --processes 2 --first 0

Input N is the same on every machine, so a finding is a number. What is found (an exception that is
no `RooflineError`, a hang, the death of the process) is written to `tests/fuzz/corpus/`, which the
tests read for ever after. The exit status is 1 if there was anything.
"""

import argparse
import ctypes
import multiprocessing
import os
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.queues import Queue
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path

from tests.fuzz.importing import CORPUS, DRAWN_EVERY, SECONDS, Hang, limit_memory, mutator, read

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


def work(share: tuple[int, int, int], at: "Synchronized[int]", ends: "Queue[object]") -> None:
    """Runs in a process of its own; `at` always says which input is under way."""
    first, end, step = share
    os.nice(10)
    makes = mutator()
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(dir=_memory()) as folder:
        read(makes.input(0), Path(folder), is_drawn=True)  # the kernels compile outside the limits
        limit_memory()
        for number in range(first, end, step):
            at.value = number
            data = makes.input(number)
            try:
                counts[read(data, Path(folder), is_drawn=number % DRAWN_EVERY == 0)] += 1
            except (Exception, Hang) as error:  # noqa: BLE001 - to find them is what this is for
                counts["FINDING"] += 1
                ends.put((number, type(error).__name__, traceback.format_exc(limit=-4)))
            if sum(counts.values()) % 200 == 0:
                ends.put(counts)
                counts = Counter()
    ends.put(counts)
    at.value = end


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs until time or inputs are used up; returns the exit status."""
    given = _parser().parse_args(arguments)
    context = multiprocessing.get_context("spawn")
    ends: Queue[object] = context.Queue()
    end = given.first + given.inputs
    shares = []
    for number in range(given.processes):
        at = context.Value(ctypes.c_longlong, given.first + number)
        shares.append(Share(step=given.processes, end=end, at=at))
    counts: Counter[str] = Counter()
    findings: list[str] = []
    started = reported = time.monotonic()
    try:
        while time.monotonic() - started < given.seconds:
            at_work = [_tend(share, context, ends, findings) for share in shares]
            if not any(at_work):
                break
            _collect(ends, counts, findings)
            if time.monotonic() - reported > REPORT_S:
                reported = time.monotonic()
                _say(counts, reported - started)
    finally:
        for share in shares:
            if share.process is not None:
                share.process.kill()
                share.process.join()
    _collect(ends, counts, findings)
    _say(counts, time.monotonic() - started)
    sys.stdout.write("\n".join(findings) + "\n" if findings else "Nothing was found.\n")
    return 1 if findings else 0


def _tend(
    share: Share,
    context: multiprocessing.context.SpawnContext,
    ends: "Queue[object]",
    findings: list[str],
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
        findings.append(_keep(at, f"ended with {share.process.exitcode}"))
        at += share.step
    inputs = (at, share.end, share.step)
    share.process = context.Process(target=work, args=(inputs, share.at, ends), daemon=True)
    share.process.start()
    share.seen, share.seen_at = at, now + 60  # the first input waits for the kernels
    return True


def _collect(ends: "Queue[object]", counts: Counter[str], findings: list[str]) -> None:
    time.sleep(0.2)
    while not ends.empty():
        match ends.get():
            case Counter() as more:
                counts.update(more)
            case (int(number), str(kind), str(trace)):
                findings.append(f"{_keep(number, kind)}\n{trace}")


def _keep(number: int, kind: str) -> str:
    path = CORPUS / f"input-{number}.bin"
    path.write_bytes(mutator().input(number))
    return f"{kind}: {path}"


def _say(counts: Counter[str], seconds: float) -> None:
    total = sum(counts.values())
    kinds = ", ".join(f"{name} {count:,}" for name, count in counts.most_common())
    sys.stdout.write(f"{total:,} inputs in {seconds:.0f} s ({total / seconds:.0f}/s): {kinds}\n")
    sys.stdout.flush()


def _memory() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--inputs", type=int, default=200_000)
    parser.add_argument("--processes", type=int, default=max(1, (os.cpu_count() or 2)))
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    return parser


if __name__ == "__main__":
    sys.exit(main())
