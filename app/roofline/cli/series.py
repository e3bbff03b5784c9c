"""`roofline series`: captures of one program over time, each against the last one that passed."""

import argparse
from pathlib import Path

from roofline.cli.comparing import UNITS, read_runs
from roofline.cli.options import add_of, add_peaks, file_argument
from roofline.cli.output import put_out


def add_series(parser: argparse.ArgumentParser) -> None:
    """The options of `roofline series`."""
    parser.description = (
        "Show captures of one program over time: time, what would do, share of the roof, roof"
        " time, and where each stands at the gate. A capture is checked against the newest one"
        " before it that passed, by the exact rules of the budget. Lasting changes of time are"
        " found by all captures together."
    )
    parser.add_argument(
        "files",
        nargs="+",
        type=file_argument,
        metavar="FILE",
        help="one capture each, the oldest first",
    )
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
