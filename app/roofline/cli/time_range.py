"""The parts of a capture on a command line: a range (`10ms..20ms`, `2.5s..`), and a subject."""

import argparse
from urllib.parse import quote

from roofline.analysis.subjects.addresses import read_range as read


def read_range(text: str) -> tuple[float, float]:
    """Begin and end in ps since the begin of the capture; an end that is left out is that of it.

    Raises `ArgumentTypeError` with what to write.
    """
    try:
        return read(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def add_of(parser: argparse.ArgumentParser) -> None:
    """The option that chooses the subject of all numbers."""
    parser.add_argument(
        "--of",
        metavar="SUBJECT",
        help="what all numbers are of: step, step:6, serving:decode.32, capture, 10ms..20ms; see"
        " docs/subject.md",
    )


def with_of(url: str, of: str | None) -> str:
    """The address of a profile's page, of the subject `of`."""
    return url if of is None else f"{url}{'&' if '?' in url else '?'}of={quote(of, safe=':.')}"
