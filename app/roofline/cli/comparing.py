"""`roofline compare`: two runs, or several captures of each; `roofline series`: runs over time."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from roofline.cli.options import add_files, add_ledger, add_of, add_peaks, file_argument
from roofline.cli.output import answer_once, put_out
from roofline.errors import UploadRejectedError
from roofline.presentation.quantities import percent

if TYPE_CHECKING:
    from roofline.compare.run import Run
    from roofline.devices.choice import PeakChoice


FORMATS = ("text", "json", "markdown")
UNITS = ("step", "execution", "capture")


def add_compare(parser: argparse.ArgumentParser) -> None:
    """The options of `roofline compare`."""
    parser.description = (
        "Say what changed from A to B: which operation is which, and what each change of time comes"
        " from. From three captures of each side on, say whether it is noise, too."
    )
    add_files(
        parser, "A and B: one capture of each; without B the likeliest file beside A", nargs="*"
    )
    for side, meaning in (("a", "before"), ("b", "after")):
        parser.add_argument(
            f"--{side}",
            action="append",
            default=[],
            type=file_argument,
            metavar="FILE",
            help=f"a capture of the program {meaning} the change; repeatable",
        )
    parser.add_argument("--unit", choices=UNITS, help="time per step, execution or capture")
    parser.add_argument("-f", "--format", choices=FORMATS, default="text")
    parser.add_argument("--ops", action="store_true", help="also each operation that changed")
    parser.add_argument(
        "--explain",
        action="store_true",
        help="also how the change was split, how sure pairs are, and checks of the model",
    )
    add_of(parser)
    add_ledger(parser)
    add_peaks(parser)
    parser.add_argument("-o", "--output", type=Path, help="write to this file")
    parser.set_defaults(run=_compare)


def read_runs(
    paths: Sequence[Path], choice: "PeakChoice | None", of: str | None = None
) -> "list[Run]":
    """One run per path, as `roofline.api.comparing.read_run`; long reads show their progress."""
    from roofline.api.comparing import read_run
    from roofline.cli.progress import progress_on_terminal

    runs = []
    for path in paths:
        with progress_on_terminal() as progress:
            runs.append(read_run(path, choice, of, progress))
        _warn(path, runs[-1])
    return runs


def _warn(path: Path, run: "Run") -> None:
    """Names a subject that was asked for and does not exist; the default one is taken."""
    for subject in (times.subject for times in run.units.values()):
        if subject is not None and subject.not_found:
            said = f"{path.name} has no {subject.not_found}; its times are of: {subject.label}."
            sys.stderr.write(f"roofline: {said}\n")


def _compare(given: argparse.Namespace) -> None:
    answer_once()
    from roofline.cli.ledger import LedgerFile
    from roofline.compare.comparison import compare
    from roofline.devices.choice import read_choice
    from roofline.exports.comparison import Detail, render_comparison

    a, b = _sides(given)
    choice = read_choice(given.device, given.peak)
    before, after = read_runs(a, choice, given.of), read_runs(b, choice, given.of)
    found = compare(before, after, given.unit)
    measured = LedgerFile(given.ledger).measure(a, b, before, after)
    detail = Detail(has_ops=given.ops, has_terms=given.explain)
    put_out(render_comparison(found, given.format, measured, detail), given.output)


def _sides(given: argparse.Namespace) -> tuple[list[Path], list[Path]]:
    """The captures of both sides: two files, one and its partner, or those of `--a` and `--b`."""
    files: list[Path] = given.files
    if files and not given.a and not given.b:
        if len(files) == 1:
            return files, [_partner(files[0])]
        if len(files) == 2:
            return [files[0]], [files[1]]
    if not files and given.a and given.b:
        return given.a, given.b
    raise UploadRejectedError(
        "A comparison needs two sides.",
        remedy="Name two files, or the captures of each side: --a FILE --a FILE --b FILE.",
    )


def _partner(path: Path) -> Path:
    """The capture beside `path` that ran the same program; says which it is."""
    from roofline.api.comparing import likeliest

    found = likeliest(path)
    if found is None:
        raise UploadRejectedError(
            f"No capture beside {path.name} ran the same operations, so there is no B.",
            remedy="Name the other file, too: roofline compare A B.",
        )
    other, share = found
    sys.stderr.write(
        f"roofline: compared with {other.name}: {percent(share)} the same operations.\n"
    )
    return other


def add_series(parser: argparse.ArgumentParser) -> None:
    """The options of `roofline series`."""
    parser.description = (
        "Show captures of one program over time: time, what would do, share of the roof, roof"
        " time, and where each stands at the gate. A capture is checked against the newest one"
        " before it that passed, by the exact rules of the budget. Lasting changes of time are"
        " found by all captures together."
    )
    add_files(parser, "one capture each, the oldest first")
    parser.add_argument(
        "--budget", type=Path, metavar="FILE", help="limits; roofline.toml where there is one"
    )
    parser.add_argument("--unit", choices=UNITS, help="numbers per step, execution or capture")
    parser.add_argument("-f", "--format", choices=("text", "json"), default="text")
    parser.add_argument("-o", "--output", type=Path, help="write to this file")
    add_of(parser)
    add_peaks(parser)
    parser.set_defaults(run=_series)


def _series(given: argparse.Namespace) -> None:
    from roofline.api.comparing import budget_of
    from roofline.compare.series import changes_over, series_of_runs
    from roofline.devices.choice import read_choice
    from roofline.exports.series import RunInSeries, change_words, series_to_json, series_to_text

    runs = read_runs(given.files, read_choice(given.device, given.peak), given.of)
    unit, rows = series_of_runs(runs, budget_of(given.budget), given.unit)
    found = [
        RunInSeries(label=str(path), numbers=numbers, checked=checked)
        for path, (numbers, checked) in zip(given.files, rows, strict=True)
    ]
    changes = []
    for change in changes_over([numbers for numbers, _ in rows]):
        before, after = ([runs[at] for at in side] for side in change.sides)
        changes.append((change, change_words(change, before, after, unit, len(runs))))
    if given.format == "json":
        put_out(series_to_json(found, unit, changes), given.output)
    else:
        put_out(series_to_text(found, unit, changes).encode("utf-8", "replace"), given.output)
