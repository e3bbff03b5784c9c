"""Where commands write, to standard output or a file; and how far they are, after a second."""

import argparse
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, TextIO

from roofline.importers.source import Progress, silent

if TYPE_CHECKING:
    from rich.progress import Progress as Bars


BAD_INPUT = 2
"""The exit status where files or options cannot be read or written."""


_COLOURED: ContextVar[bool] = ContextVar("coloured", default=False)
_BOLD, _RED, _GREEN, _YELLOW, _END = "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[0m"
# A cell of a table that says where something stands.
_COLOUR_OF = {
    **dict.fromkeys(("FAIL", "failed"), _RED),
    **dict.fromkeys(("ok", "passed", "better"), _GREEN),
    **dict.fromkeys(("not tested", "accepted", "unclear"), _YELLOW),
}
_STATE = re.compile(rf"(?:(?<=  )|^)({'|'.join(_COLOUR_OF)})(?=  |:|$)", re.MULTILINE)


def has_colour(stream: TextIO) -> bool:
    """True for a terminal; `NO_COLOR` and `FORCE_COLOR` decide where they are set."""
    if os.environ.get("NO_COLOR"):
        return False
    forced = os.environ.get("FORCE_COLOR", "")
    return forced not in {"", "0"} or (stream.isatty() and os.environ.get("TERM") != "dumb")


def red(text: str) -> str:
    """`text` in red."""
    return f"{_RED}{text}{_END}"


def adapt_to_reader(given: argparse.Namespace) -> None:
    """Gives colour to the text that the command prints, and to its tables the terminal's width.

    Documents and files stay as they are.
    """
    is_text = getattr(given, "format", "text") == "text" and not getattr(given, "json", False)
    is_shown = is_text and getattr(given, "output", None) is None
    _COLOURED.set(is_shown and has_colour(sys.stdout))
    if is_shown and sys.stdout.isatty():
        from roofline.presentation.text_table import WIDTH  # loads slowly

        WIDTH.set(shutil.get_terminal_size().columns)


def _in_colour(text: str) -> str:
    """The first line, which is the answer, in bold; states of a table in red, green or yellow."""
    first, end, rest = text.partition("\n")
    states = _STATE.sub(lambda one: f"{_COLOUR_OF[one[0]]}{one[0]}{_END}", rest)
    return f"{_BOLD}{first}{_END}{end}{states}"


def put_out(content: bytes, path: Path | None) -> None:
    """Writes `content` to the file at `path`, or prints it without one."""
    if path is None:
        print_bytes(content)
    else:
        write(path, content)


def print_bytes(content: bytes) -> None:
    """Prints `content`; stops quietly when the reader has gone."""
    if _COLOURED.get():
        content = _in_colour(content.decode("utf-8", "replace")).encode()
    try:
        sys.stdout.buffer.write(content)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader (head, less) has seen enough. Python would complain again when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write(path: Path, content: bytes) -> None:
    """Writes the file, or ends the command with the reason why it cannot."""
    try:
        path.write_bytes(content)
    except OSError as error:
        sys.stderr.write(f"roofline: {path} cannot be written: {error.strerror}.\n")
        sys.exit(BAD_INPUT)


_PHASES = {"unpack": "Unpacking", "recognise": "Recognising", "read": "Reading events"}
_PATIENCE_S = 1.0


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
    timer = Timer(_PATIENCE_S, bar.begin)
    timer.daemon = True
    timer.start()
    try:
        yield bar.show
    finally:
        timer.cancel()
        timer.join()  # it may be about to show the bar
        bar.end()


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
