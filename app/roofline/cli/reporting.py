"""`roofline report`: the page of a profile, of a comparison or of a run as one file."""

import argparse
from pathlib import Path

from roofline.cli.comparing import UNITS, read_runs
from roofline.cli.options import add_of, add_peaks
from roofline.cli.output import write
from roofline.cli.runs import add_run_options, analyse_run
from roofline.errors import BadViewError


def add_report(parser: argparse.ArgumentParser) -> None:
    """The arguments of `roofline report`."""
    parser.description = (
        "Write the page of a profile as one HTML file, which needs no server and reads no address:"
        " for a mail, for CI, for a machine without a network. With --a and --b the page of their"
        " comparison, with --engine that of a run of many hosts."
    )
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="one file per host, or archives of them"
    )
    for side in "ab":
        parser.add_argument(
            f"--{side}",
            action="append",
            default=[],
            type=Path,
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
    parser.add_argument("-o", "--output", type=Path, required=True, help="the file to write")
    parser.add_argument("--title", default="", help="in place of the name of the first file")
    add_of(parser)
    add_peaks(parser)
    parser.set_defaults(run=_report)


def _report(given: argparse.Namespace) -> None:
    if given.redact != "none" and (given.a or given.b or given.engine):
        raise BadViewError(
            "Names can be replaced in the report of a profile alone.",
            remedy="Leave out --redact, or write a report of each profile.",
        )
    if given.a or given.b:
        write(given.output, _report_of_pair(given))
    elif not given.files:
        raise BadViewError("No file was named.", remedy="Name a profile, or --a and --b.")
    elif given.engine:
        given.format = "html"
        write(given.output, analyse_run(given))
    else:
        write(given.output, _report_of_profile(given))


def _report_of_pair(given: argparse.Namespace) -> bytes:
    from roofline.compare.comparison import compare  # loads slowly, as do the others
    from roofline.devices.choice import read_choice
    from roofline.web.pages.report import comparison_of_files

    if given.files or not (given.a and given.b):
        raise BadViewError(
            "A comparison needs two sides.", remedy="Name captures of each: --a FILE --b FILE."
        )
    choice = read_choice(given.device, given.peak)
    before, after = (read_runs(side, choice, given.of) for side in (given.a, given.b))
    names = [[path.name for path in side] for side in (given.a, given.b)]
    return comparison_of_files(compare(before, after, given.unit), names)


def _report_of_profile(given: argparse.Namespace) -> bytes:
    from dataclasses import replace  # loads slowly, as do the others

    from roofline.api.profiles import open_profile
    from roofline.cli.progress import progress_on_terminal
    from roofline.exports.redaction import redacted
    from roofline.presentation.json_text import to_json
    from roofline.presentation.op_details import op_details
    from roofline.web.pages.report import Content, report_of_files

    files = [Path(one) for one in given.files]
    with progress_on_terminal() as progress:
        profile = open_profile(
            *files, device=given.device, peaks=given.peak, of=given.of, progress=progress
        )
    profile = replace(profile, analysis=redacted(profile.analysis, given.redact))
    content = Content(
        page=to_json(profile.page),
        advice=to_json(profile.answered.advice),
        ops=list(op_details(profile.analysis)),
    )
    is_named = given.redact != "names"
    title = given.title or (profile.title if is_named else f"A profile of {profile.device}")
    sizes = {
        one.name if is_named else f"capture-{number}": one.stat().st_size
        for number, one in enumerate(files, 1)
    }
    return report_of_files(title, sizes, content)
