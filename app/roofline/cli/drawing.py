"""`roofline figure` and `roofline plot`: the roofline for print and in a terminal."""

import argparse
import re
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from roofline.cli.options import add_files, add_of, add_peaks
from roofline.cli.output import has_colour, print_bytes
from roofline.errors import BadViewError, RooflineError
from roofline.model.plain_data import taken

_MM = {"mm": 1.0, "cm": 10.0, "in": 25.4, "pt": 25.4 / 72}
_WIDTH = re.compile(r"(\d+(?:\.\d+)?)(mm|cm|in|pt)?")
_OUTPUT = re.compile(r"(.+\.png)(?:@(\d+(?:\.\d+)?)x)?", re.IGNORECASE)
STYLES = ("paper", "talk", "page", "card")


def add_figure(parser: argparse.ArgumentParser) -> None:
    """The options of `roofline figure`."""
    parser.description = (
        "Write the roofline of a profile as SVG, PDF or PNG: for a paper with texts of 8 points,"
        " for a talk with 16. Texts stay texts. The caption, with the device, the peaks and their"
        " sources, goes to standard error."
    )
    _add_files(parser)
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="FILE",
        help="fig.svg, fig.pdf or fig.png; fig.png@2x has twice 96 pixels to the inch, not 300",
    )
    parser.add_argument(
        "--style",
        choices=STYLES,
        default="paper",
        help="page: in the colours and with the names of the page; card: for below a link in a chat"
        " (%(default)s)",
    )
    parser.add_argument(
        "--width", type=_width_mm, metavar="SIZE", help="84mm, 3.3in, 240pt; of a paper 84mm"
    )
    parser.add_argument(
        "--top", type=_count, metavar="N", help="draw the N longest operations alone"
    )
    parser.add_argument("--label", type=_count, metavar="N", help="name so many of them")
    parser.add_argument("--gray", action="store_true", help="without colours: shapes differ")
    parser.add_argument("--x", default="auto", metavar="AXIS", help="hbm, l2, joined …")
    parser.add_argument("--title", default="", help="of the caption; the name of the first file")
    parser.set_defaults(run=_figure)


def add_plot(parser: argparse.ArgumentParser) -> None:
    """The options of `roofline plot`."""
    parser.description = (
        "Draw the roofline of a profile in the terminal: roofs, operations with letters for the"
        " longest, and the times of the steps. Nothing but text goes into a pipe."
    )
    _add_files(parser, nargs="*")
    parser.add_argument(
        "--width", type=_count, metavar="N", help="characters of a line; those of the terminal"
    )
    parser.add_argument("--ascii", action="store_true", help="ASCII alone, without dots and discs")
    parser.add_argument(
        "--watch", type=Path, metavar="DIR", help="draw each new capture in a folder or below it"
    )
    parser.add_argument(
        "--every", type=float, default=2.0, metavar="S", help="look this often (%(default)s)"
    )
    parser.set_defaults(run=_plot)


def _plot(given: argparse.Namespace) -> None:
    if given.files:
        _draw(given, given.files)
    elif given.watch is None:
        raise BadViewError("No file was named.", remedy="Name a profile, or a folder to --watch.")
    if given.watch is not None:
        _watch(given)


def _draw(given: argparse.Namespace, files: Sequence[Path]) -> None:
    from roofline.cli.progress import opened  # loads slowly, as does the next
    from roofline.presentation.terminal_plot import Look, plotted

    profile = opened(files, device=given.device, peaks=given.peak, of=given.of)
    columns = given.width or shutil.get_terminal_size().columns
    # A terminal of another encoding, or none that is known, has no dots.
    is_ascii = given.ascii or not (sys.stdout.encoding or "").lower().startswith("utf")
    look = Look(columns=columns, is_ascii=is_ascii, has_colour=has_colour(sys.stdout))
    head = f"{profile.title} · {profile.device}: {profile.sentence}"
    said = plotted(profile.page, look, head)
    print_bytes(said.encode("ascii" if is_ascii else "utf-8", "replace"))


def _watch(given: argparse.Namespace) -> None:
    from roofline.cli.watch import Watched

    if not given.watch.is_dir():
        raise BadViewError(f"{given.watch} is not a folder.", remedy="Name the folder to watch.")
    watched = Watched(given.watch)
    watched.skip_present()
    sys.stderr.write(f"Watching {given.watch} for captures.\n")
    while True:
        for run in watched.ready():
            watched.sent(run)
            try:
                _draw(given, run)
            except RooflineError as error:  # the next capture may be whole
                sys.stderr.write(f"{run[0].name}: {error.message} {error.remedy}\n")
        time.sleep(max(0.1, given.every))


def _add_files(parser: argparse.ArgumentParser, nargs: str = "+") -> None:
    add_files(parser, nargs=nargs)
    add_of(parser)
    add_peaks(parser)


def _width_mm(text: str) -> float:
    found = _WIDTH.fullmatch(text.strip())
    if found is None:
        raise argparse.ArgumentTypeError(f"“{text}” is not a width: write 84mm, 3.3in or 240pt")
    return float(found[1]) * _MM[found[2] or "mm"]


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"“{text}” is not a number of operations")
    return int(text)


def _figure(given: argparse.Namespace) -> None:
    from dataclasses import replace

    from roofline.cli.progress import opened

    profile = opened(given.files, device=given.device, peaks=given.peak, of=given.of)
    if given.title:
        profile = replace(profile, title=given.title)
    named = _OUTPUT.fullmatch(given.output)
    try:
        caption = profile.save_figure(
            Path(named[1] if named else given.output),
            **taken(given, "style", "top", "label", "gray", "x"),
            width_mm=given.width,
            scale=float(named[2]) if named and named[2] else None,
        )
    except OSError as error:
        sys.stderr.write(f"roofline: {given.output} cannot be written: {error.strerror}.\n")
        sys.exit(2)
    sys.stderr.write(f"{caption}\n")
