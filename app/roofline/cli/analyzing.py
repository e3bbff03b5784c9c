"""`roofline analyze`: the roofline of a profile, as text, tables or documents."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from roofline.cli import runs
from roofline.cli.options import LINKS, add_network, add_of, file_argument, read_range
from roofline.cli.output import BAD_INPUT, answer_once, put_out

if TYPE_CHECKING:
    from roofline.analysis.records import RooflineAnalysis
    from roofline.presentation.grouping_choice import Grouping
    from roofline.presentation.listing import Listing

FORMATS = ("text", "json", "csv", "markdown", "generic", "xprof", "html")
OWN_FORMATS = ("text", "json", "csv", "markdown")


def add_analyze(parser: argparse.ArgumentParser) -> None:
    """The arguments of `roofline analyze`."""
    parser.description = "Analyse a profile and print its roofline."
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="one file per host, or archives of them"
    )
    runs.add_run_options(parser)
    parser.add_argument(
        "-f",
        "--format",
        choices=FORMATS,
        default="text",
        help="markdown: short, with how sure each answer is, for agents and notes;"
        " generic: to read again, see docs/generic-format.md; xprof: XProf's own table;"
        " html: the page of a run, with --engine",
    )
    parser.add_argument(
        "--about",
        action="store_true",
        help="csv: with columns for the device, the files and the version of Roofline",
    )
    _add_parts(parser)
    _add_peaks(parser)
    parser.add_argument("-o", "--output", type=Path, help="write to this file")
    parser.set_defaults(run=_analyze)


def _add_parts(parser: argparse.ArgumentParser) -> None:
    """Options for the part of a profile that is analysed, and for its sums."""
    parser.add_argument(
        "--exclude-infeed-outfeed", action="store_true", help="leave infeed and outfeed ops out"
    )
    parser.add_argument(
        "--by",
        metavar="WHAT",
        type=_grouping,
        help="the time by module, layer:3 (three levels), category, source, program, kernel,"
        " dtype, phase or bound; as text, json or csv",
    )
    parser.add_argument(
        "--find",
        metavar="TEXT",
        default="",
        help="operations with TEXT in their name, of all; as text, json or csv",
    )
    parser.add_argument(
        "--sort",
        metavar="COLUMN",
        default="",
        help="operations in the order of a column of the csv: name, or --sort=-gain_us for the"
        " largest first; as text, json or csv",
    )
    parser.add_argument(
        "--range",
        metavar="FROM..TO",
        type=read_range,
        help="only this part of the capture's time: 10ms..20ms, 2.5s.. or ..800us; see"
        " docs/timeline.md",
    )
    parser.add_argument(
        "--host", metavar="NAME", help="only this host of several, as the file or the page names it"
    )
    parser.add_argument(
        "--explain", metavar="OP", default="", help="one operation, by id or name; as markdown"
    )
    parser.add_argument(
        "--why",
        metavar="WHAT",
        default="",
        help="where a statement is from: verdict, flops, bytes, peak:hbm, a finding; as markdown",
    )
    add_of(parser)


def _add_peaks(parser: argparse.ArgumentParser) -> None:
    """Options for the peaks to compare with."""
    parser.add_argument(
        "--dvfs",
        action="store_true",
        help="peaks at the clock that ran, where the capture says how far it was from the default",
    )
    parser.add_argument(
        "--device", metavar="NAME", help="compare with the peaks of this part, or of `this-machine`"
    )
    parser.add_argument(
        "--peak",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="set a peak: compute=900TFLOP/s, hbm=3.35TB/s, matrix_fp8=1.9PFLOP/s; repeatable",
    )
    add_network(parser)
    parser.add_argument(
        "--sustained",
        action="append",
        default=[],
        metavar="NAME=SHARE",
        help="what programs reach of a peak at best: hbm=92%%, matrix_bf16=0.85; repeatable",
    )


def _grouping(text: str) -> "Grouping":
    from roofline.presentation.grouping_choice import read_grouping

    try:
        return read_grouping(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _analyze(given: argparse.Namespace) -> None:
    if given.engine:
        put_out(runs.analyse_run(given), given.output)
        return
    answer_once()
    from roofline.cli.progress import progress_on_terminal
    from roofline.devices.choice import read_choice
    from roofline.exports.render import render, render_groups
    from roofline.pipeline import analyse_files

    files = [_path(one) for one in given.files]
    if given.by and given.format not in OWN_FORMATS:
        _refuse("groups", given.format)
    if (given.find or given.sort) and (given.by or given.format not in OWN_FORMATS):
        _refuse("operations that are searched for", "groups" if given.by else given.format)
    if (given.explain or given.why) and given.format != "markdown":
        _refuse("reasons", given.format, "markdown")
    if given.range and given.format == "xprof":
        sys.stderr.write("roofline: XProf's table is of the whole capture\n")
        sys.stderr.write("          Leave --range out, or use another --format.\n")
        sys.exit(BAD_INPUT)

    if given.dvfs and given.format == "xprof":
        sys.stderr.write("roofline: XProf's table has the peaks of the default clock\n")
        sys.stderr.write("          Leave --dvfs out, or use another --format.\n")
        sys.exit(BAD_INPUT)
    if given.format == "html":
        sys.stderr.write("roofline: only the page of a run of hosts is written as html\n")
        sys.stderr.write("          Add --engine local, or use another --format.\n")
        sys.exit(BAD_INPUT)
    choice = read_choice(given.device, given.peak, given.sustained)
    with progress_on_terminal() as progress:
        analysis = analyse_files(
            files,
            xprof_compat=given.format == "xprof",
            choice=choice,
            range_ps=given.range,
            host=given.host,
            dvfs=given.dvfs,
            progress=progress,
        )
    infeed = not given.exclude_infeed_outfeed
    if given.format == "markdown":
        content = _markdown(given, analysis, files)
    elif given.by:
        content = render_groups(analysis, given.format, given.by, infeed=infeed, of=given.of)
    else:
        content = render(
            analysis, given.format, infeed=infeed, of=given.of, listing=_listing(given)
        )
    if given.about and given.format == "csv" and not given.by:
        from roofline.exports.csv_files import csv_with_about

        names = "; ".join(file.name for file in files)
        content = csv_with_about(content, device=analysis.device.name, profile=names)
    put_out(content, given.output)


def _path(text: str) -> Path:
    if "://" in text and not text.startswith(LINKS):
        sys.stderr.write(f"roofline: {text[:200]} is an address, not a file\n")
        sys.stderr.write("          Add --engine local, or copy the file here.\n")
        sys.exit(BAD_INPUT)
    return file_argument(text)


def _listing(given: argparse.Namespace) -> "Listing | None":
    from roofline.presentation.listing import Listing

    return Listing(q=given.find, sort=given.sort) if given.find or given.sort else None


def _markdown(given: argparse.Namespace, analysis: "RooflineAnalysis", files: list[Path]) -> bytes:
    """What the tools of `roofline mcp` answer of the same profile."""
    from roofline.api.agents import answers
    from roofline.api.agents.reading import reading_of
    from roofline.api.profiles import Profile

    reading = reading_of(Profile(files[0].name, analysis, given.of, files=files))
    if given.explain:
        return answers.explain(reading, given.explain).encode()
    if given.why:
        return answers.why(reading, given.why).encode()
    if given.by:
        return answers.grouped(reading, given.by).encode()
    if given.find or given.sort:
        sort = given.sort or answers.LONGEST
        return answers.top_ops(reading, where=given.find, sort=sort).encode()
    return answers.summary(reading).encode()


def _refuse(what: str, output_format: str, others: str = ", ".join(OWN_FORMATS)) -> NoReturn:
    sys.stderr.write(f"roofline: {what} cannot be written as {output_format}\n")
    sys.stderr.write(f"          Use --format {others}.\n")
    sys.exit(BAD_INPUT)
