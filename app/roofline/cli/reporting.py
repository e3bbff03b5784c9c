"""`roofline report`: the page of a profile, of a comparison or of a run as one file."""

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from roofline.cli.comparing import UNITS, read_runs
from roofline.cli.options import add_of, add_peaks, file_argument
from roofline.cli.output import write
from roofline.cli.runs import add_run_options, analyse_run
from roofline.errors import BadViewError

if TYPE_CHECKING:
    from roofline.api.comparing import Comparison
    from roofline.api.profiles import Profile

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kM])B", re.IGNORECASE)


def add_report(parser: argparse.ArgumentParser) -> None:
    """The arguments of `roofline report`."""
    parser.description = (
        "Write the page of a profile as one HTML file, which needs no server and reads no address:"
        " for a mail, for CI, for a machine without a network. With --a and --b the page of their"
        " comparison, with --engine that of a run of many hosts."
    )
    parser.add_argument(
        "files",
        nargs="*",
        type=_file_or_link,
        metavar="FILE",
        help="one file per host, archives of them, or the link of a calculator",
    )
    parser.add_argument(
        "--link",
        metavar="URL",
        help="the address of a profile's page, or a share link: the file opens in its view",
    )
    for side in "ab":
        parser.add_argument(
            f"--{side}",
            action="append",
            default=[],
            type=file_argument,
            metavar="FILE",
            help=f"a capture of side {side.upper()} of a comparison; repeatable",
        )
    parser.add_argument("--unit", choices=UNITS, help="of a comparison: time per step …")
    add_run_options(parser)
    parser.add_argument(
        "--redact",
        choices=("names", "sources", "none"),
        default="none",
        help="put numbers in place of source files, or of all names: operations, modules, hosts …",
    )
    parser.add_argument(
        "--max-size",
        type=_bytes,
        metavar="SIZE",
        help="2MB, 900kB: leave out details above it; the file says which",
    )
    parser.add_argument(
        "--devices",
        default="",
        metavar="ID,ID",
        help="devices that can be chosen in the file: their views are in it",
    )
    parser.add_argument("-o", "--output", type=Path, required=True, help="the file to write")
    parser.add_argument("--title", default="", help="in place of the name of the first file")
    add_of(parser)
    add_peaks(parser)
    parser.set_defaults(run=_report)


def _file_or_link(text: str) -> str:
    return str(file_argument(text)) if text == "-" else text


def _report(given: argparse.Namespace) -> None:
    if given.engine and given.redact != "none":
        raise BadViewError(
            "Names can be replaced in the report of a profile alone.",
            remedy="Leave out --redact, or write a report of each profile.",
        )
    if given.engine:
        given.format = "html"
        write(given.output, analyse_run(given))
        return
    from roofline.api.results import report  # loads slowly
    from roofline.cli.progress import progress_on_terminal

    page = _page_of(given)
    with progress_on_terminal() as progress:
        progress("write", 0.0)
        made = report(
            page,
            title=given.title,
            redact=given.redact,
            max_bytes=given.max_size,
            devices=[name for name in given.devices.split(",") if name],
        )
    write(given.output, made.content)


def _page_of(given: argparse.Namespace) -> "Profile | Comparison | str":
    if given.a or given.b:
        return _comparison(given)
    if given.link and given.files:
        raise BadViewError("A report is of a link or of files.", remedy="Leave one of them out.")
    if not (given.files or given.link):
        raise BadViewError("No file was named.", remedy="Name a profile, or --a and --b.")
    if _is_calculator(given.files):
        return str(given.files[0])
    from roofline.cli.progress import opened  # loads slowly

    files = given.files or [given.link]
    return opened(files, device=given.device, peaks=given.peak, of=given.of)


def _comparison(given: argparse.Namespace) -> "Comparison":
    from roofline.api.comparing import Comparison  # loads slowly, as do the others
    from roofline.compare.comparison import compare
    from roofline.devices.choice import read_choice

    if given.files or not (given.a and given.b):
        raise BadViewError(
            "A comparison needs two sides.", remedy="Name captures of each: --a FILE --b FILE."
        )
    choice = read_choice(given.device, given.peak)
    before, after = (read_runs(side, choice, given.of) for side in (given.a, given.b))
    return Comparison(compare(before, after, given.unit))


def _is_calculator(files: list[str]) -> bool:
    """True for the link of a calculator, of which the path and what follows it say all."""
    link = urlsplit(files[0] if len(files) == 1 else "")
    return bool(link.netloc or link.query) and link.path.endswith(("/calculator", "/model"))


def _bytes(text: str) -> int:
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise argparse.ArgumentTypeError(f"“{text}” is not a size: write 2MB or 900kB")
    return round(float(found[1]) * (1e6 if found[2].lower() == "m" else 1e3))
