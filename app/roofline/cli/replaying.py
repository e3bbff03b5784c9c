"""`roofline replay`: an operation of a profile alone, and its time beside the captured one."""

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from roofline.cli.options import add_files
from roofline.cli.output import put_out
from roofline.errors import BadViewError

if TYPE_CHECKING:
    from roofline.api.replays import Replay, Replays

FORMATS = ("text", "json", "markdown")


def add_replay(parser: argparse.ArgumentParser) -> None:
    """The arguments of `roofline replay`."""
    parser.description = (
        "Write the script that runs one operation of a PyTorch trace or an XSpace alone, with the"
        " captured shapes, strides and types, or run it here and lay its time beside the captured"
        " one. Without --op and --top: what can be replayed. See docs/replay.md."
    )
    add_files(parser)
    parser.add_argument(
        "--op",
        action="append",
        default=[],
        metavar="OP",
        help="its rank, its id, or a name that only one has; repeatable",
    )
    parser.add_argument(
        "--top", type=int, default=0, metavar="N", help="the N operations with most to gain"
    )
    parser.add_argument("--run", action="store_true", dest="is_run", help="run it here")
    parser.add_argument(
        "--python", metavar="PATH", help="the interpreter of the program, with PyTorch or JAX"
    )
    parser.add_argument(
        "--on", metavar="DEVICE", help="with --run: cpu, cuda, gpu, tpu; else the first there is"
    )
    parser.add_argument(
        "--threads", type=int, metavar="N", help="with --run on a CPU: PyTorch's threads"
    )
    parser.add_argument(
        "--add",
        action="append",
        default=[],
        type=Path,
        metavar="RESULT",
        help="with one --op: put this result, measured elsewhere, beside the captured time",
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="DIR", help="write scripts and results there"
    )
    parser.add_argument("-f", "--format", choices=FORMATS, default="text")
    parser.set_defaults(run=_replay)


def _replay(given: argparse.Namespace) -> None:
    from roofline.api.replays import arguments, replays_of, run, with_result, written
    from roofline.cli.progress import progress_on_terminal

    if given.top < 0 or (given.add and len(given.op) != 1):
        raise BadViewError("--add needs one --op, --top a number from 0.", remedy="Correct it.")
    with progress_on_terminal() as progress:
        found = replays_of(
            given.files, given.op, top=given.top, python=given.python, progress=progress
        )
    is_chosen = bool(given.op or given.top)
    replays = list(found.replays)
    if given.is_run and is_chosen:
        replays = [run(one, found, arguments(given.on, given.threads)) for one in replays]
    for path in given.add:
        replays = [with_result(one, path) for one in replays]
    if is_chosen and (given.output is not None or not (given.is_run or given.add)):
        replays = [written(one, found.kind, given.output or Path()) for one in replays]
    put_out(_rendered(replace(found, replays=replays), given.format, is_chosen).encode(), None)


def _rendered(found: "Replays", form: str, is_chosen: bool) -> str:
    if form == "json":
        return f"{json.dumps(found.to_dict(), indent=2)}\n"
    head = "# Replays\n\n" if form == "markdown" else ""
    mark = "- " if form == "markdown" else ""
    lines = [f"{mark}{_line(one, found)}" for one in found.replays] if is_chosen else []
    if not is_chosen:
        lines = [mark + line for line in _coverage(found)]
    return f"{head}{chr(10).join(lines)}\n"


def _line(one: "Replay", found: "Replays") -> str:
    from roofline.api.replays import said

    head = f"{one.name} ({one.op_id})"
    if one.refused is not None:
        return f"{head}: not replayed. {one.refused}"
    if one.failed is not None:
        return f"{head}: not replayed. {one.failed}"
    if one.result is None:
        notes = "".join(f" {note}" for note in one.notes)
        return f"{head}: run `python {one.file}` where the device is.{notes}"
    captured, warm, cold = one.captured_us, one.result["warm"], one.result["cold"]
    times = [
        "captured ?" if captured is None else f"captured {captured:,.1f} us",
        f"alone {warm['median_us']:,.1f} us (least {warm['least_us']:,.1f})",
        *([f"cold {cold['median_us']:,.1f} us"] if cold else []),
    ]
    notes = "".join(f" {note}" for note in one.result["notes"])
    if (one.result["compiled"] or 0) > 1:
        notes += f" The compiler made {one.result['compiled']} instructions of it."
    return f"{head}: {', '.join(times)}. {said(one, found.device).sentence}{notes}"


def _coverage(found: "Replays") -> list[str]:
    """What of the profile's time can be replayed, and why the rest cannot."""
    total = sum(one.row["self_time_us"] or 0.0 for one in found.replays)
    if not total:
        return ["The profile has no operations with a time."]
    attributed, can = found.attributed_us, found.replayable_us
    share = can / attributed if attributed else 0.0
    lines = [
        f"{share:.1%} of the time of operators can be replayed. Operators have"
        f" {attributed / total:.1%} of the time."
    ]
    if found.python is None and found.kind == "pytorch":
        lines.append("No Python with PyTorch was found to try the calls: name it with --python.")
    reasons: dict[str, float] = {}
    for one in found.replays:
        if one.refused is not None:
            reasons[one.refused] = reasons.get(one.refused, 0.0) + (one.row["self_time_us"] or 0.0)
    ranked = sorted(reasons.items(), key=lambda item: -item[1])
    return lines + [f"{time / total:.1%} not: {reason}" for reason, time in ranked[:20]]
