"""`roofline advise`: what would help; `roofline whatif`: what other number formats would save."""

import argparse
import json
from pathlib import Path

from roofline.cli.options import add_files, add_ledger, add_of, add_peaks, file_argument
from roofline.cli.output import answer_once, put_out
from roofline.errors import BadViewError
from roofline.model.plain_data import taken

FORMATS = ("text", "json", "markdown")
_PARTS_OF_OPS = 3
TENSORS = ("auto", "weights", "all")


def add_advise(parser: argparse.ArgumentParser) -> None:
    """The options of `roofline advise`."""
    parser.description = (
        "Say what would help most, and what each change saves of the time after those before it."
        " Savings end at the next roof."
    )
    add_files(parser)
    parser.add_argument("--top", type=int, default=5, metavar="N", help="findings to print (5)")
    parser.add_argument(
        "--target",
        type=float,
        metavar="SHARE",
        help="share of a roof that tuning reaches (0.9; 0.95 on a TPU's matrix unit, 0.85 on a"
        " GPU's)",
    )
    parser.add_argument(
        "--fusion",
        action="store_true",
        help="print the chains of memory-bound operations that could be one kernel, instead",
    )
    parser.add_argument("-f", "--format", choices=FORMATS, default="text")
    decided = parser.add_argument_group("ledger")
    decided.add_argument(
        "--accept",
        action="append",
        default=[],
        metavar="FINDING",
        help="note this finding (its number in the list, or its id), to be measured by `roofline"
        " compare --ledger`; repeatable",
    )
    decided.add_argument(
        "--dismiss",
        action="append",
        default=[],
        metavar="FINDING",
        help="hide this finding from now on; repeatable",
    )
    decided.add_argument(
        "--before",
        type=file_argument,
        metavar="FILE",
        help="the capture before: the list begins with what its accepted findings saved",
    )
    decided.add_argument("--reason", default="", metavar="TEXT", help="why it was dismissed")
    decided.add_argument(
        "--restore", action="append", default=[], metavar="ID", help="forget what was decided of it"
    )
    add_ledger(parser)
    add_of(parser)
    add_peaks(parser)
    parser.add_argument("-o", "--output", type=Path, help="write to this file")
    parser.set_defaults(run=_advise)


def _advise(given: argparse.Namespace) -> None:
    answer_once()
    from roofline.api.comparing import runs_of
    from roofline.api.profiles import advise
    from roofline.cli.comparing import read_runs
    from roofline.cli.ledger import LedgerFile, decide
    from roofline.cli.progress import opened
    from roofline.devices.choice import read_choice
    from roofline.exports.advice import chains_text, render_record

    if given.top < 1:
        raise BadViewError("--top is a number of findings.", remedy="Give 1 or more.")
    profile = opened(given.files, device=given.device, peaks=given.peak, of=given.of)
    record = advise(profile, target=given.target).to_dict()
    if given.fusion and given.format != "json":
        put_out(chains_text(record, given.top).encode(), given.output)
        return
    ledger, name = LedgerFile(given.ledger), given.files[0].name
    if given.before is not None:
        before = read_runs([given.before], read_choice(given.device, given.peak), given.of)
        ledger.measure([given.before], given.files, before, runs_of(profile, None, given.of))
    record = decide(record, ledger, name, given)
    put_out(render_record(record, given.format, given.top), given.output)


def add_whatif(parser: argparse.ArgumentParser) -> None:
    """The options of `roofline whatif`."""
    parser.description = (
        "Say what other number formats, or fewer bytes over links, would save of a measured run."
        " The stored format changes bytes, the computed one the roof. Savings end at the next roof."
    )
    add_files(parser)
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
    parser.add_argument(
        "--link-bytes",
        type=share,
        metavar="SHARE",
        help="collectives move this part of their bytes: 0.5 or 50%%, as with compressed gradients",
    )
    parser.add_argument("--category", default="", help="only operations of this category")
    parser.add_argument("--op", default="", metavar="TEXT", help="only operations with this name")
    parser.add_argument("-f", "--format", choices=FORMATS, default="text")
    add_peaks(parser)
    parser.add_argument("-o", "--output", type=Path, help="write to this file")
    parser.set_defaults(run=_whatif)


def share(text: str) -> float:
    """0.5 of "0.5" and of "50%"."""
    return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)


def _whatif(given: argparse.Namespace) -> None:
    from roofline.api.exploring import in_formats
    from roofline.cli.progress import opened

    found = in_formats(
        opened(given.files, device=given.device, peaks=given.peak),
        **taken(given, "storage", "compute", "tensors", "category", "op", "link_bytes"),
    )
    if given.format == "json":
        said = json.dumps(found.to_dict(), indent=2) + "\n"
    else:
        said = found.to_markdown() if given.format == "markdown" else found.to_text()
    put_out(said.encode(), given.output)


def parts_over(files: list[Path], prices: list[str], names: list[str], ops: int) -> str:
    """The table of `roofline devices --over`: the subject here, on `names` and the usual parts; and
    the `ops` longest operations on each of `names`, or of the usual parts."""
    from roofline.api.exploring import over_parts
    from roofline.cli.progress import opened
    from roofline.devices.table import read_prices
    from roofline.exports.on_parts import ops_text, parts_text

    found = over_parts(opened(files), names, _PARTS_OF_OPS if ops else 0)
    table = parts_text(found, read_prices(" ".join(prices)))
    return table + (f"\n{ops_text(found, ops)}" if ops else "")
