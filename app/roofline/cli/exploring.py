"""`roofline whatif`: a measured run with other number formats."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from roofline.cli.options import add_peaks, file_argument
from roofline.cli.output import put_out
from roofline.model.plain_data import alike

if TYPE_CHECKING:
    from roofline.analysis.records import RooflineAnalysis
    from roofline.compare.run import Run
    from roofline.exports.number_formats import Formats

FORMATS = ("text", "json", "markdown")
_PARTS_OF_OPS = 3
TENSORS = ("auto", "weights", "all")


def add_whatif(parser: argparse.ArgumentParser) -> None:
    """The options of `roofline whatif`."""
    parser.description = (
        "Say what other number formats would save of a measured run. The stored format changes"
        " bytes, the computed one the roof. Savings end at the next roof."
    )
    parser.add_argument(
        "files",
        nargs="+",
        type=file_argument,
        metavar="FILE",
        help="one file per host, or archives of them",
    )
    parser.add_argument(
        "--storage", metavar="TYPE", help="store tensors so: fp8, int8, int4:g128 (groups of 128)"
    )
    parser.add_argument(
        "--tensors",
        choices=TENSORS,
        default="auto",
        help="which tensors: weights and activations (auto), weights alone, or all",
    )
    parser.add_argument("--compute", metavar="TYPE", help="multiply matrices so: fp8, int8, tf32")
    parser.add_argument("--category", default="", help="only operations of this category")
    parser.add_argument("--op", default="", metavar="TEXT", help="only operations with this name")
    parser.add_argument("-f", "--format", choices=FORMATS, default="text")
    add_peaks(parser)
    parser.add_argument("-o", "--output", type=Path, help="write to this file")
    parser.set_defaults(run=_whatif)


def _whatif(given: argparse.Namespace) -> None:
    from roofline.exports.number_formats import (
        Formats,
        formats_record,
        formats_text,
        with_formats,
    )

    chosen = alike(Formats, given)
    if given.format == "markdown":
        put_out(_markdown(given, chosen).encode(), given.output)
        return
    run = _read(given.files, given.device, given.peak)
    record = formats_record(with_formats(run, chosen))
    said = json.dumps(record, indent=2) + "\n" if given.format == "json" else formats_text(record)
    put_out(said.encode(), given.output)


def parts_over(files: list[Path], prices: list[str], names: list[str], ops: int) -> str:
    """The table of `roofline devices --over`: the subject here, on `names` and the usual parts; and
    the `ops` longest operations on each of `names`, or of the usual parts."""
    from roofline.analysis.analyse import prepare
    from roofline.analysis.records import AnalysisOptions
    from roofline.devices import catalogue
    from roofline.devices.choice import known_part
    from roofline.devices.table import read_prices
    from roofline.exports.answering import answer_of
    from roofline.exports.on_parts import ops_text, parts_text
    from roofline.presentation.other_devices import on_parts, usual_parts

    analysis = _analysed(files, None, [])
    chosen = [known_part(name) for name in names]
    usual = usual_parts(catalogue.find(analysis.device.part_id or ""))
    prepared = prepare(analysis.profile, AnalysisOptions())
    held = chosen or list(usual[:_PARTS_OF_OPS]) if ops else chosen
    found = on_parts(prepared, analysis, answer_of(analysis).subject, held, usual)
    table = parts_text(found, read_prices(" ".join(prices)))
    return table + (f"\n{ops_text(found, ops)}" if ops else "")


def _markdown(given: argparse.Namespace, chosen: "Formats") -> str:
    """What the tool `what_if` answers of the same profile."""
    from roofline.api.agents.elsewhere import in_formats
    from roofline.api.agents.reading import Reading
    from roofline.api.profiles import Profile

    analysis = _analysed(given.files, given.device, given.peak)
    name = str(given.files[0])
    return in_formats(Reading(Profile(given.files[0].name, analysis), name), chosen)


def _read(files: list[Path], device: str | None, peaks: list[str]) -> "Run":
    from roofline.compare.from_analysis import run_of

    return run_of(_analysed(files, device, peaks), files[0].name)


def _analysed(files: list[Path], device: str | None, peaks: list[str]) -> "RooflineAnalysis":
    from roofline.cli.progress import progress_on_terminal
    from roofline.devices.choice import read_choice
    from roofline.pipeline import analyse_files

    with progress_on_terminal() as progress:
        return analyse_files(files, choice=read_choice(device, peaks), progress=progress)
