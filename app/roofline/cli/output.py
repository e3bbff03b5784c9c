"""Where the commands write: to standard output, or to a file."""

import argparse
import gc
import os
import re
import shutil
import sys
from contextvars import ContextVar
from pathlib import Path
from textwrap import wrap
from typing import TextIO

BAD_INPUT = 2
"""The exit status where files or options cannot be read or written."""


_COLOURED: ContextVar[bool] = ContextVar("coloured", default=False)
_FOLDED_AT: ContextVar[int | None] = ContextVar("folded_at", default=None)
_BOLD, _RED, _GREEN, _YELLOW, _END = "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[0m"
# A cell of a table that says where something stands.
_COLOUR_OF = {
    **dict.fromkeys(("FAIL", "failed"), _RED),
    **dict.fromkeys(("ok", "passed", "better"), _GREEN),
    **dict.fromkeys(("not tested", "accepted", "unclear"), _YELLOW),
}
_PLACED = re.compile(r"^ +|  +")
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

        columns = shutil.get_terminal_size().columns
        WIDTH.set(columns)
        _FOLDED_AT.set(columns)


def _for_terminal(text: str) -> str:
    """`text` in lines that the terminal has room for. In colour the first line, which is the
    answer, is bold, and states of a table are red, green or yellow."""
    first, end, rest = text.partition("\n")
    if (most := _FOLDED_AT.get()) is not None:
        first, rest = (
            "\n".join(_folded(line, most) for line in part.split("\n")) for part in (first, rest)
        )
    if not _COLOURED.get():
        return f"{first}{end}{rest}"
    states = _STATE.sub(lambda one: f"{_COLOUR_OF[one[0]]}{one[0]}{_END}", rest)
    return f"{_BOLD}{first}{_END}{end}{states}"


def _folded(line: str, most: int) -> str:
    """A line of at most so many letters; what goes on stands below the last words that have a place
    of their own."""
    if len(line) <= most:
        return line
    below = max((found.end() for found in _PLACED.finditer(line[: most // 2])), default=0)
    return "\n".join(
        wrap(
            line,
            most,
            subsequent_indent=" " * below,
            break_long_words=False,
            break_on_hyphens=False,
        )
    )


def answer_once() -> None:
    """For a process that ends with its answer, before it imports what reads profiles.

    Collecting garbage on the way is 0.08 s for nothing. So is 0.1 s of processor in which threads
    of NumPy's BLAS look for work; programs that this one starts have theirs.
    """
    gc.disable()
    is_ours = "OPENBLAS_NUM_THREADS" not in os.environ
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    import numpy  # loads slowly  # noqa: F401

    if is_ours:
        del os.environ["OPENBLAS_NUM_THREADS"]


def put_out(content: bytes, path: Path | None) -> None:
    """Writes `content` to the file at `path`, or prints it without one."""
    if path is None:
        print_bytes(content)
    else:
        write(path, content)


def print_bytes(content: bytes) -> None:
    """Prints `content`; stops quietly when the reader has gone."""
    if _COLOURED.get() or _FOLDED_AT.get():
        content = _for_terminal(content.decode("utf-8", "replace")).encode()
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
