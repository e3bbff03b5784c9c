"""A command that takes over a second says what it does, where standard error is a terminal."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Timer
from time import monotonic
from typing import TYPE_CHECKING, Any

from roofline.importers.source import Progress, silent

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

    from roofline.api.profiles import Profile

_PHASES = {
    "unpack": "Unpacking",
    "recognise": "Recognising",
    "read": "Reading events",
    "write": "Writing",
}
_PATIENCE_S = 1.0
_STARTED_S = monotonic()


@cache
def say_when_compiling() -> None:
    """A line on standard error, once, where this machine has to compile the readers first."""
    from roofline.importers.kernels import BEFORE_COMPILING  # loads slowly

    BEFORE_COMPILING.append(_say_compiling)


def _say_compiling() -> None:
    sys.stderr.write("roofline: compiling the readers, once per machine: about a minute.\n")


@contextmanager
def progress_on_terminal() -> Iterator[Progress]:
    """Yields the function that an import calls with its phase and the fraction done."""
    say_when_compiling()
    if not sys.stderr.isatty():
        yield silent
        return
    bar = _LateBar()
    waited_s = monotonic() - _STARTED_S  # of ten files, too, each of which takes half a second
    timer = Timer(max(0.0, _PATIENCE_S - waited_s), bar.begin)
    timer.daemon = True
    timer.start()
    try:
        yield bar.show
    finally:
        timer.cancel()
        timer.join()  # it may be about to show the bar
        bar.end()


def opened(files: Sequence[str | Path], **options: Any) -> "Profile":
    """`open_profile`, whose progress a terminal shows."""
    from roofline.api.profiles import open_profile  # loads slowly

    with progress_on_terminal() as progress:
        return open_profile(*files, **options, progress=progress)


class _LateBar:
    """A bar that appears when `begin` is called: an import that is over by then shows none."""

    def __init__(self) -> None:
        self._phase, self._fraction = "Reading", 0.0
        self._bars: Bars | None = None

    def begin(self) -> None:
        """Shows the bar, from now on."""
        # rich takes a tenth of a second to import: not for what is quick.
        from rich.console import Console
        from rich.progress import Progress as Bars

        bars = Bars(console=Console(stderr=True), transient=True)
        task = bars.add_task(self._phase, total=1.0)
        bars.update(task, completed=self._fraction)
        bars.start()
        self._bars = bars

    def show(self, phase: str, fraction: float) -> None:
        """The phase of the import, and how much of it is done."""
        self._phase, self._fraction = _PHASES.get(phase, "Analysing"), fraction
        if self._bars is not None:
            task = self._bars.task_ids[0]
            self._bars.update(task, description=self._phase, completed=fraction)

    def end(self) -> None:
        """Takes the bar away."""
        if self._bars is not None:
            self._bars.stop()
