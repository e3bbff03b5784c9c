"""Options of several commands: a range (`10ms..20ms`, `2.5s..`), a subject, peaks, the ledger."""

import argparse
import atexit
import shutil
import sys
import tempfile
from pathlib import Path

from roofline.analysis.subjects.addresses import read_range as read


def read_range(text: str) -> tuple[float, float]:
    """Begin and end in ps since the begin of the capture; an end that is left out is that of it.

    Raises `ArgumentTypeError` with what to write.
    """
    try:
        return read(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


LINKS = ("http://", "https://")


def file_argument(text: str) -> Path:
    """The path of a profile. A temporary file takes up `-`, which is standard input, and what the
    link of a profile on a server leads to."""
    is_link = text.startswith(LINKS)
    if text != "-" and not is_link:
        return Path(text)
    folder = Path(tempfile.mkdtemp(prefix="roofline-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    if is_link:
        from roofline.api.servers import download  # loads slowly

        return download(text, folder)
    path = folder / "standard-input"
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return path


def add_files(
    parser: argparse.ArgumentParser,
    told: str = "one file per host, archives of them, or the link of a profile",
    nargs: str = "+",
) -> None:
    """The files that a command reads."""
    parser.add_argument("files", nargs=nargs, type=file_argument, metavar="FILE", help=told)


def add_of(parser: argparse.ArgumentParser) -> None:
    """The option that chooses the subject of all numbers."""
    parser.add_argument(
        "--of",
        metavar="SUBJECT",
        help="what all numbers are of: step, step:6, serving:decode.32, capture, 10ms..20ms; see"
        " docs/subject.md",
    )


def add_ledger(parser: argparse.ArgumentParser) -> None:
    """The option that names the ledger of advice."""
    parser.add_argument(
        "--ledger",
        type=Path,
        metavar="FILE",
        help="ledger of advice, JSON lines (roofline-ledger.jsonl, where there is one)",
    )


def add_peaks(parser: argparse.ArgumentParser) -> None:
    """The options that say what the programs are held against."""
    parser.add_argument("--device", metavar="NAME", help="use the peaks of this part for all runs")
    parser.add_argument(
        "--peak", action="append", default=[], metavar="NAME=VALUE", help="set a peak; repeatable"
    )
    add_network(parser)


def add_network(parser: argparse.ArgumentParser) -> None:
    """The options that say what joins the devices of measured collectives; they are peaks, too."""
    for name, value, told in (
        ("gpus-per-node", "N", "chips that the links join (the part's own)"),
        ("network", "RATE", "network of one chip, one way: 50GB/s, 400Gbit/s (the part's own)"),
        ("axes", "SIZES", "axes of a TPU slice: 4x4 (the most even)"),
    ):
        parser.add_argument(
            f"--{name}",
            dest="peak",
            action="append",
            type=f"{name.replace('-', '_')}={{}}".format,
            metavar=value,
            help=told,
        )
