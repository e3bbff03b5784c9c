"""Runs of one program over time in words and as JSON: their numbers, and lasting changes."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from roofline.compare.comparison import compare
from roofline.compare.run import Run
from roofline.compare.series_records import STATE_WORDS, Checked, RunNumbers, TimeChange
from roofline.exports.comparison_words import largest_changes
from roofline.model.plain_data import taken
from roofline.presentation.json_text import to_json
from roofline.presentation.quantities import duration, percent
from roofline.presentation.sentences import Number, plain_text, ratio, say
from roofline.presentation.text_table import cut, table, wrapped

_HEADS = ("Run", "Time", "Would do", "Of the roof", "Known", "Roof time", "Exact rules")
_NAME_WIDTH = 40
_PER = {"step": "a step", "execution": "an execution", "capture": "a capture"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInSeries:
    """One run: what the reader calls it, its numbers, and where it stands."""

    label: str
    numbers: RunNumbers
    checked: Checked


def change_words(
    change: TimeChange, before: Sequence[Run], after: Sequence[Run], unit: str, runs: int
) -> str:
    """A lasting change in a series of `runs` runs, and the modules that explain most of it.

    `before` and `after` are the runs on its sides (`TimeChange.sides`).
    """
    first, last = change.first + 1, change.end
    said = say(
        "series_change",
        span=f"Since run {first}" if last == runs else f"From run {first} to {last}",
        per=_PER[unit],
        share=ratio(abs(change.ratio - 1)),
        how="more" if change.ratio > 1 else "less",
        after=Number(change.after_us, "time_us"),
        before=Number(change.before_us, "time_us"),
        new=Number(last - change.first, "count"),
        old=Number(change.first - change.start, "count"),
    )
    return plain_text([*said, *largest_changes(compare(before, after, unit))]).strip()


def series_to_json(
    runs: Sequence[RunInSeries], unit: str, changes: Sequence[tuple[TimeChange, str]]
) -> bytes:
    """The runs in their order, times in us per unit and core; `null` is not known.

    Places of `changes`, each with its words, count from 0; `end` is behind the last run.
    """
    document = {
        "unit": unit,
        "runs": [_record(one) for one in runs],
        "changes": [asdict(change) | {"words": words} for change, words in changes],
    }
    return to_json(document) + b"\n"


def _record(one: RunInSeries) -> dict[str, Any]:
    return {
        "label": one.label,
        **taken(one.numbers, "time_us", "floor_us", "roof_us", "roof_ratio", "known_ratio"),
        "gate": one.checked.standing.state,
        "base": one.checked.base,
        "rules": list(one.checked.standing.rules),
        "accepted_until": one.checked.standing.until,
    }


def series_to_text(
    runs: Sequence[RunInSeries], unit: str, changes: Sequence[tuple[TimeChange, str]]
) -> str:
    """A table with a row for each run, and a paragraph for each of `changes`."""
    rows = [
        (
            cut(f"{number} {one.label}", _NAME_WIDTH),
            duration(one.numbers.time_us),
            duration(one.numbers.floor_us),
            percent(one.numbers.roof_ratio),
            percent(one.numbers.known_ratio),
            duration(one.numbers.roof_us),
            standing_words(one.checked),
        )
        for number, one in enumerate(runs, start=1)
    ]
    found = "".join("\n".join(["", *wrapped(words), ""]) for _, words in changes)
    whole = table(_HEADS, rows, left={0, 6})
    return f"Runs over time, per {unit} and core\n\n{whole}\n{found}"


def standing_words(checked: Checked) -> str:
    """A run's standing in words, with the rules it breaks and the run it was held against."""
    standing = checked.standing
    said = STATE_WORDS[standing.state]
    if standing.until:
        said = f"{said} until {standing.until}"
    rules = f": {', '.join(standing.rules)}" if standing.rules else ""
    against = f" (against run {checked.base + 1})" if rules and checked.base is not None else ""
    return f"{said}{rules}{against}"
