"""Where the commands write: to standard output, or to a file."""

import argparse
import os
import re
import shutil
import sys
from contextvars import ContextVar
from pathlib import Path
from typing import TextIO

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
