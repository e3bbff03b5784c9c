"""`capture`: a few steps of this process, recorded around the code that runs them."""

import argparse
import functools
import json
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from threading import Lock, Timer, current_thread, main_thread
from typing import Any, NoReturn, ParamSpec, TypeVar

from roofline.api.profiles import CaptureInfo, Profile, open_profile
from roofline.capture.hook import record_hook
from roofline.capture.recorder import RecordOptions, Try, best_of, said_of, tries_of
from roofline.errors import BadViewError, CaptureFailedError

Call = ParamSpec("Call")
Returned = TypeVar("Returned")
Item = TypeVar("Item")
# A block of PyTorch in which no optimizer steps is recorded by time after so long.
_NO_STEPS_S = 5.0
_MAGIC_CAPTURE = "_roofline"

_turn = Lock()


class Capture:
    """A window of this process: a `with` block, a decorated function, or `steps()` of a loop.

    `profile` has the window when the block has ended. `done` is true as soon as it is recorded, so
    that a loop can end; `verdict` is "ok", "cold", "no shapes", "no kernels", "truncated" or
    `None` where nothing was recorded; `files` lie in a temporary folder until the object is gone.
    """

    def __init__(
        self, options: RecordOptions, duration_s: float | None, *, title: str, quiet: bool
    ) -> None:
        self._options = options
        self._duration_s = duration_s
        self._title = title
        self._quiet = quiet
        self._folder: Path | None = None
        self._recorders: list[Any] = []
        self._finder: Any = None
        self._timer: Timer | None = None
        self._thread = current_thread()
        self._is_running = self._is_by_hand = False
        self._best: Try | None = None
        self._profile: Profile | None = None

    # ------------------------------------------------------------------------- where it is recorded

    def __enter__(self) -> "Capture":
        self._begin()
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    async def __aenter__(self) -> "Capture":
        return self.__enter__()

    async def __aexit__(self, *_: object) -> None:
        self._end()

    def __call__(self, function: Callable[Call, Returned]) -> Callable[Call, Returned]:
        """Decorates `function`: each call is a step. The capture is its attribute `capture`."""

        @functools.wraps(function)
        def called(*arguments: Call.args, **named: Call.kwargs) -> Returned:
            if self._folder is None:
                self._begin()
                self._count_by_hand()
            with self._marked():
                result = function(*arguments, **named)
            if self._is_running:
                self.step()
                if self.done:
                    self._end()
            return result

        made: Any = called
        made.capture = self
        return called

    def steps(self, items: Iterable[Item]) -> Iterator[Item]:
        """The same items, each of which is a step: until the next is asked for."""
        self._count_by_hand()
        for item in items:
            with self._marked():
                yield item
            self.step()

    def step(self) -> None:
        """Says that a step of the program has ended, in place of what is noticed by itself."""
        for recorder in self._recorders:
            recorder.guarded(recorder.stepped_by_hand)

    def _count_by_hand(self) -> None:
        """Nothing is recorded by time from now on."""
        self._is_by_hand = True
        for recorder in self._recorders:
            recorder.is_by_hand = True

    @contextmanager
    def _marked(self) -> Iterator[None]:
        """Around a step of which begin and end are known."""
        with ExitStack() as marks:
            for recorder in self._recorders:
                marks.enter_context(recorder.marked())
            yield

    def _begin(self) -> None:
        if not _turn.acquire(blocking=False):
            raise CaptureFailedError(
                "A capture is running in this process.", remedy="End it before the next begins."
            )
        self._folder = Path(tempfile.mkdtemp(prefix="roofline-capture-"))
        self._thread, self._is_running, self._is_by_hand = current_thread(), True, False
        self._recorders, self._best, self._profile = [], None, None
        injected: Any = sys.modules.get("record_hook")
        if injected is not None:  # of `roofline record`, whose options do not count here
            injected.stand_back()
        self._finder = record_hook.Finder(self._found)
        sys.meta_path.insert(0, self._finder)
        for name, kind in record_hook.FRAMEWORKS.items():
            if name in sys.modules:
                self._found(kind, sys.modules[name], was_used=True)

    def _found(self, kind: Any, module: Any, *, was_used: bool = False) -> None:
        """A framework is there: now, or when the block imports it."""
        asked = f"{self._folder}\n{json.dumps(asdict(self._options))}"
        recorder = kind(module, record_hook.Options(asked))
        recorder.was_used, recorder.is_by_hand = was_used, self._is_by_hand
        self._recorders.append(record_hook.start(recorder))
        if self._duration_s is not None and len(self._recorders) == 1:
            recorder.guarded(recorder.open_now)
            self._timer = Timer(self._duration_s, self._over, [recorder])
            self._timer.daemon = True
            self._timer.start()

    def _over(self, recorder: Any) -> None:
        """PyTorch's operators are recorded by thread: the one that began also ends."""
        if recorder.framework != "torch":
            recorder.guarded(recorder.close_now)
        elif self._thread is main_thread():
            record_hook.in_main_thread(lambda: recorder.guarded(recorder.close_now))

    def _end(self) -> None:
        if not self._is_running or self._folder is None:
            return
        try:
            if self._timer is not None:
                self._timer.cancel()
            if self._finder in sys.meta_path:
                sys.meta_path.remove(self._finder)
            for recorder in self._recorders:
                recorder.guarded(recorder.close_now)
                recorder.leave()
            self._best = best_of(tries_of(self._folder))
        finally:
            self._is_running = False
            _turn.release()
        if not self._quiet:
            lines = [self._reason()] if self._best is None else said_of(self._best, "block")
            head, *rest = lines
            sys.stderr.write(f"roofline: {' '.join([f'{head}.' if rest else head, *rest])}\n")

    # -------------------------------------------------------------------------- what was recorded

    @property
    def done(self) -> bool:
        """True when all that is wanted is recorded."""
        return any(one.tries for one in self._recorders) and all(
            one.is_over or not one.tries for one in self._recorders
        )

    @property
    def verdict(self) -> str | None:
        """How the recording went; `None` where nothing was recorded."""
        return None if self._best is None else self._best.verdict

    @property
    def files(self) -> tuple[Path, ...]:
        """The captures, one for each rank of this node."""
        return () if self._best is None else self._best.files

    @property
    def profile(self) -> Profile:
        """What was recorded, read at the first call. Raises `CaptureFailedError` where nothing was,
        or while the block goes on."""
        if self._profile is None:
            if self._is_running:
                raise CaptureFailedError(
                    "The capture goes on.", remedy="Read its profile behind the block."
                )
            if self._best is None:
                raise CaptureFailedError(self._reason(), remedy=self._remedy())
            found, worst = open_profile(*self.files), self._best.worst
            self._profile = replace(
                found,
                title=self._title or found.title,
                capture=CaptureInfo(
                    verdict=self._best.verdict,
                    steps=worst["steps"] or None,
                    slowdown=worst["slowdown"],
                    tries=self._best.of,
                ),
            )
        return self._profile

    def save(self, folder: str | Path) -> list[Path]:
        """Copies the captures into `folder`; where they are."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        return [Path(shutil.copy(one, place)) for one in self.files]

    def _reason(self) -> str:
        if not self._recorders:
            return "Neither PyTorch nor JAX ran in the block."
        steps = max(one.step for one in self._recorders)
        if steps:
            return f"The block ended after {steps} steps, before the window could begin."
        return "Nothing was recorded: no step ended in the block."

    def _remedy(self) -> str:
        if not self._recorders:
            return "Run the program inside the block, in this process."
        return "Say skip=1 to begin after the first step, or duration=2 for a stretch of time."

    def __repr__(self) -> str:
        state = "running" if self._is_running else self.verdict or "nothing recorded"
        return f"<roofline Capture: {state}>"

    def __del__(self) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def capture(
    *,
    steps: int = 3,
    skip: int | None = None,
    duration: float | None = None,
    stack: bool = False,
    title: str = "",
    quiet: bool = False,
) -> Capture:
    """Records a few steps of this process: `with roofline.capture(steps=3) as run:`, then
    `run.profile`.

    A step is a call of `run.step()` or of the decorated function, an item of `run.steps(items)`,
    else a step of PyTorch's optimizers. `steps` are recorded when the program is steady, or after
    `skip` steps. With `duration`, in seconds, the block is recorded from its begin, at most so
    long: for JAX without steps and for inference. Without either, JAX is recorded for 2 s when it
    has compiled. `stack` records Python's lines, too (PyTorch), and costs half as much again.
    The profile has this `title`, else the name of its file. A line on standard error says what was
    recorded, if not `quiet`. See docs/capture.md.
    """
    options = RecordOptions(
        steps=steps,
        skip=skip,
        after_s=_NO_STEPS_S,
        duration_s=RecordOptions().duration_s if duration is None else duration,
        stack=stack,
    )
    return Capture(options, duration, title=title, quiet=quiet)


class _Words(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise BadViewError(f"%%roofline: {message}.", remedy=self.format_usage().strip())


def load_ipython_extension(shell: Any) -> None:
    """What IPython calls for `%load_ext roofline`."""

    def recorded(line: str, cell: str) -> Profile | Capture:
        """Runs the cell and shows its profile; the capture is `_roofline`."""
        run = capture(**vars(_words().parse_args(shlex.split(line))))
        shell.user_ns[_MAGIC_CAPTURE] = run
        with run:
            ran = shell.run_cell(cell)
        # A cell that failed has printed its error; its capture is shown, too.
        return run if run.verdict is None and not ran.success else run.profile

    shell.register_magic_function(recorded, "cell", "roofline")


def _words() -> argparse.ArgumentParser:
    words = _Words(prog="%%roofline", add_help=False)
    words.add_argument("--steps", type=int, default=3)
    words.add_argument("--skip", type=int)
    words.add_argument("--duration", type=float)
    words.add_argument("--stack", action="store_true")
    words.add_argument("--quiet", action="store_true")
    return words
