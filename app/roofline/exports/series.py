"""Runs of one program over time, as `roofline series` prints them: text and JSON."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from roofline.compare.series_records import STATE_WORDS, Checked, RunNumbers
from roofline.presentation.json_text import to_json
from roofline.presentation.quantities import duration, percent
from roofline.presentation.text_table import cut, table

_HEADS = ("Run", "Time", "Would do", "Of the roof", "Known", "Roof time", "Gate")
_NAME_WIDTH = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInSeries:
    """One run: what the reader calls it, its numbers, and where it stands."""

    label: str
    numbers: RunNumbers
    checked: Checked


def series_to_json(runs: Sequence[RunInSeries], unit: str) -> bytes:
    """The runs in their order, times in us per unit and core; `null` is not known."""
    return to_json({"unit": unit, "runs": [_record(one) for one in runs]}) + b"\n"


def _record(one: RunInSeries) -> dict[str, Any]:
    return {
        "label": one.label,
        "time_us": one.numbers.time_us,
        "floor_us": one.numbers.floor_us,
        "roof_us": one.numbers.roof_us,
        "roof_ratio": one.numbers.roof_ratio,
        "known_ratio": one.numbers.known_ratio,
        "gate": one.checked.standing.state,
        "base": one.checked.base,
        "rules": list(one.checked.standing.rules),
        "accepted_until": one.checked.standing.until,
    }


def series_to_text(runs: Sequence[RunInSeries], unit: str) -> str:
    """A table with a row for each run."""
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
    return f"Runs over time, per {unit} and core\n\n{table(_HEADS, rows, left={0, 6})}\n"


def standing_words(checked: Checked) -> str:
    """A run's standing in words, with the rules it breaks and the run it was held against."""
    standing = checked.standing
    said = STATE_WORDS[standing.state]
    if standing.until:
        said = f"{said} until {standing.until}"
    rules = f": {', '.join(standing.rules)}" if standing.rules else ""
    against = f" (against run {checked.base + 1})" if rules and checked.base is not None else ""
    return f"{said}{rules}{against}"
