"""`roofline record`: runs a command with the hook in its processes, and follows what they write."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Any

from roofline.errors import CaptureFailedError
from roofline.model.notes import recorded

HOOK = Path(__file__).parent / "hook"
VARIABLE = "ROOFLINE_RECORD"
# How long the other ranks of a node are waited for when the first has written.
_RANKS_S = 60.0
_LOOK_S = 0.1
_ENDING_S = 10.0
# From best to worst.
VERDICTS = ("ok", "cold", "no shapes", "no kernels", "truncated")
_ENDINGS = (".pt.trace.json.gz", ".xplane.pb")

Record = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordOptions:
    """The wanted window: `steps` after `skip` steps, else `duration_s` from `after_s` on."""

    steps: int = 3
    skip: int | None = None
    after_s: float = 15.0
    duration_s: float = 2.0
    ranks: tuple[int, ...] | None = None
    stack: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """One try of all ranks: the worst verdict, and the file of each rank."""

    number: int
    verdict: str
    ranks: tuple[int, ...]
    files: tuple[Path, ...]
    facts: tuple[Record, ...]
    of: int = 1
    """Of so many tries it is the best."""

    @property
    def worst(self) -> Record:
        """What the rank with the worst verdict says."""
        return max(self.facts, key=lambda one: VERDICTS.index(one["verdict"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What became of the command and the recording; `said` has the reason where there is none."""

    exit_status: int
    framework: str | None
    tries: int
    best: Try | None
    said: tuple[str, ...] = ()


@dataclass(slots=True)
class Recorder:
    """Runs `command`; `say` gets lines for people, `recorded` the best try as soon as it is there.

    `recorded` is called while the command goes on. `folder` gets the files.
    """

    command: Sequence[str]
    options: RecordOptions
    folder: Path
    say: Callable[[str], None]
    recorded: Callable[[Try], None]
    stop: bool = False
    _process: "subprocess.Popen[bytes] | None" = None
    _announced: set[int] = field(default_factory=set)
    _first_done_s: dict[int, float] = field(default_factory=dict)
    _best: Try | None = None

    def run(self) -> Recorded:
        """Runs the command to its end. Raises `CaptureFailedError` where it cannot be started."""
        try:
            self._process = subprocess.Popen(list(self.command), env=self._environment())
        except OSError as error:
            raise CaptureFailedError(
                f"{self.command[0]} cannot be started: {(error.strerror or str(error)).lower()}.",
                remedy="Check the command behind --.",
            ) from error
        handlers = self._forward_signals()
        try:
            while self._process.poll() is None:
                self._look(is_over=False)
                time.sleep(_LOOK_S)
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
        self._look(is_over=True)
        status = self._process.returncode
        was_stopped = self.stop and self._best is not None and self._best.verdict == "ok"
        return Recorded(
            exit_status=0 if was_stopped else status if status >= 0 else 128 - status,
            framework=self._framework(),
            tries=len(tries_of(self.folder)),
            best=self._best,
            said=() if self._best is not None else self._reasons(),
        )

    def _environment(self) -> dict[str, str]:
        before = os.environ.get("PYTHONPATH")
        path = f"{HOOK}{os.pathsep}{before}" if before else str(HOOK)
        options = f"{self.folder}\n{json.dumps(asdict(self.options))}"
        return {**os.environ, "PYTHONPATH": path, VARIABLE: options}

    def _forward_signals(self) -> dict[signal.Signals, Any]:
        """A terminal sends Ctrl-C to the command by itself; the others are passed on."""

        def forward(number: int, _frame: FrameType | None) -> None:
            if self._process is not None and self._process.poll() is None:
                self._process.send_signal(number)

        handlers: dict[signal.Signals, Any] = {
            signal.SIGINT: signal.signal(signal.SIGINT, lambda *_: None)
        }
        for number in (signal.SIGTERM, signal.SIGHUP):
            handlers[number] = signal.signal(number, forward)
        return handlers

    def _look(self, *, is_over: bool) -> None:
        """Announces windows that began, and hands over the try that is final."""
        for record in self._json("rank*.open.json"):
            if record["try"] not in self._announced:
                self._announced.add(record["try"])
                self._announce(record)
        if self._best is not None:
            return
        tries = [one for one in tries_of(self.folder) if is_over or self._is_complete(one)]
        best = best_of(tries)
        if best is None:
            return
        is_final = best.verdict == "ok" or len(tries) >= 2 or best.verdict == "truncated"
        if is_over or is_final:
            self._best = best
            self.recorded(best)
            self._end_command()

    def _announce(self, record: Record) -> None:
        version = next((one.get("version", "") for one in self._json("framework-*.json")), "")
        name = {"torch": "PyTorch", "jax": "JAX"}[record["framework"]]
        ranks = f" of {record['world']} ranks" if record["world"] > 1 else ""
        if record["framework"] == "torch" and record["step"]:
            what = f"step {record['step']}: recording {self.options.steps} steps{ranks}"
        else:
            what = f"recording {self.options.duration_s:g} s{ranks}"
        self.say(f"{what} ({name} {version})")

    def _is_complete(self, one: Try) -> bool:
        """Whether all ranks of this node have written, or were waited for long enough."""
        opened = {
            record["rank"]
            for record in self._json("rank*.open.json")
            if record["try"] == one.number
        }
        first_s = self._first_done_s.setdefault(one.number, time.monotonic())
        local = int(os.environ.get("LOCAL_WORLD_SIZE", "0"))
        expected = max(len(opened), local)
        return len(one.ranks) >= expected or time.monotonic() - first_s > _RANKS_S

    def _json(self, pattern: str) -> list[Record]:
        return _json_of(self.folder, pattern)

    def _framework(self) -> str | None:
        return next((str(one["framework"]) for one in self._json("framework-*.json")), None)

    def _reasons(self) -> tuple[str, ...]:
        """Why nothing was recorded."""
        if not any(self.folder.glob("hooked-*")):
            return ("No Python process of the command loaded the hook.",)
        if self._framework() is None:
            return ("No PyTorch or JAX was imported by the command.",)
        ended = self._json("ended-*.json")
        own = next((one["own_trace"] for one in ended if one["own_trace"]), None)
        if own is not None:
            return (f"The program recorded itself: {own}.",)
        steps = max((int(one["steps"]) for one in ended), default=0)
        if steps:
            return (
                f"The program ended after {steps} steps; recording begins when steps are steady,"
                " at the latest after step 10. Run again with `--skip 1`.",
            )
        return ("The program ended before anything could be recorded.",)

    def _end_command(self) -> None:
        if not self.stop or self._process is None:
            return
        for number in (signal.SIGINT, signal.SIGTERM):
            self._process.send_signal(number)
            try:
                self._process.wait(_ENDING_S)
            except subprocess.TimeoutExpired:
                continue
            return


def tries_of(folder: Path) -> list[Try]:
    """All tries whose files are in `folder`, in order."""
    by_number: dict[int, list[Record]] = {}
    for record in _json_of(folder, "rank*.done.json"):
        by_number.setdefault(record["try"], []).append(record)
    return [
        Try(
            number=number,
            verdict=max((record["verdict"] for record in records), key=VERDICTS.index),
            ranks=tuple(sorted(record["rank"] for record in records)),
            files=tuple(
                path
                for path in sorted(folder.glob(f"rank*_try{number}.*"))
                if path.name.endswith(_ENDINGS)
            ),
            facts=tuple(records),
        )
        for number, records in sorted(by_number.items())
    ]


def best_of(tries: Sequence[Try]) -> Try | None:
    """The try with the best verdict."""
    best = min(tries, key=lambda one: VERDICTS.index(one.verdict), default=None)
    return best and replace(best, of=len(tries))


def _json_of(folder: Path, pattern: str) -> list[Record]:
    return [json.loads(path.read_text("utf-8")) for path in sorted(folder.glob(pattern))]


def said_of(best: Try, whole: str = "program") -> list[str]:
    """The recording in words, and its defects; `whole` is what it was taken of."""
    worst = best.worst
    ranks = f" of {len(best.ranks)} ranks" if len(best.ranks) > 1 else ""
    steps = worst["steps"]
    what = (
        f"{steps} {'step' if steps == 1 else 'steps'}" if worst["wanted"] else "a stretch of time"
    )
    tried = "first try" if best.number == 1 else "second try"
    better = ", the better of two" if best.of > best.number else ""
    took = f"{worst['seconds']:.1f} s of the {whole}'s time"
    lines = [f"recorded {what}{ranks}, {tried}{better}; {took}"]
    defects = {
        "truncated": f"The {whole} ended in the window: {steps} of {worst['wanted']} steps."
        if worst["wanted"]
        else f"The {whole} ended in the window.",
        "no shapes": "No operator has the shapes of its inputs.",
        "no kernels": "No kernel was recorded: is CUPTI in use by another profiler, such as ncu,"
        " nsys or DCGM?",
    }
    if best.verdict in defects:
        lines.append(defects[best.verdict])
    return lines + [one.message for one in recorded(worst)]
