"""Where the commands write: to standard output, or to a file."""

import os
import sys
from pathlib import Path

BAD_INPUT = 2
"""The exit status where files or options cannot be read or written."""


def put_out(content: bytes, path: Path | None) -> None:
    """Writes `content` to the file at `path`, or prints it without one."""
    if path is None:
        print_bytes(content)
    else:
        write(path, content)


def print_bytes(content: bytes) -> None:
    """Prints `content`; stops quietly when the reader has gone."""
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
