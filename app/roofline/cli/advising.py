"""`roofline advise`: what would help, and what each step of it saves."""

import argparse
from pathlib import Path

from roofline.cli.options import add_files, add_ledger, add_of, add_peaks, file_argument
from roofline.cli.output import answer_once, put_out
from roofline.errors import BadViewError

FORMATS = ("text", "json", "markdown")


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
