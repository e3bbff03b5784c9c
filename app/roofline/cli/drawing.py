"""`roofline figure`: the roofline of a profile as a picture for a paper or a talk."""

import argparse
import re
import sys
from pathlib import Path

from roofline.cli.options import add_of, add_peaks, file_argument

_MM = {"mm": 1.0, "cm": 10.0, "in": 25.4, "pt": 25.4 / 72}
_WIDTH = re.compile(r"(\d+(?:\.\d+)?)(mm|cm|in|pt)?")
_OUTPUT = re.compile(r"(.+\.png)(?:@(\d+(?:\.\d+)?)x)?", re.IGNORECASE)
STYLES = ("paper", "talk", "page")


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
        help="page: in the colours and with the names of the page (%(default)s)",
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


def _add_files(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files",
        nargs="+",
        type=file_argument,
        metavar="FILE",
        help="one file per host, or archives of them",
    )
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

    from roofline.api.profiles import open_profile  # loads slowly, as does the next
    from roofline.cli.progress import progress_on_terminal

    with progress_on_terminal() as progress:
        profile = open_profile(
            *given.files, device=given.device, peaks=given.peak, of=given.of, progress=progress
        )
    if given.title:
        profile = replace(profile, title=given.title)
    named = _OUTPUT.fullmatch(given.output)
    try:
        caption = profile.save_figure(
            Path(named[1] if named else given.output),
            style=given.style,
            width_mm=given.width,
            top=given.top,
            label=given.label,
            gray=given.gray,
            x=given.x,
            scale=float(named[2]) if named and named[2] else None,
        )
    except OSError as error:
        sys.stderr.write(f"roofline: {given.output} cannot be written: {error.strerror}.\n")
        sys.exit(2)
    sys.stderr.write(f"{caption}\n")
