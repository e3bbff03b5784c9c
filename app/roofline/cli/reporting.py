"""`roofline report`: the page of a profile as one file; a command of the extra `server`."""

import argparse
from pathlib import Path

from roofline.cli.options import add_of, add_peaks
from roofline.cli.output import write


def add_report(parser: argparse.ArgumentParser) -> None:
    """The arguments of `roofline report`."""
    parser.description = (
        "Write the page of a profile as one HTML file, which needs no server and reads no address:"
        " for a mail, for CI, for a machine without a network."
    )
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="one file per host, or archives of them"
    )
    parser.add_argument("-o", "--output", type=Path, required=True, help="the file to write")
    parser.add_argument("--title", default="", help="in place of the name of the first file")
    add_of(parser)
    add_peaks(parser)
    parser.set_defaults(run=_report)


def _report(given: argparse.Namespace) -> None:
    from roofline.api.profiles import open_profile  # loads slowly, as do the others
    from roofline.cli.progress import progress_on_terminal
    from roofline.presentation.json_text import to_json
    from roofline.presentation.op_details import op_details
    from roofline.web.pages.report import Content, report_of_files

    with progress_on_terminal() as progress:
        profile = open_profile(
            *given.files, device=given.device, peaks=given.peak, of=given.of, progress=progress
        )
    content = Content(
        page=to_json(profile.page),
        advice=to_json(profile.answered.advice),
        ops=list(op_details(profile.analysis)),
    )
    title = given.title or profile.title
    write(given.output, report_of_files(title, given.files, content))
