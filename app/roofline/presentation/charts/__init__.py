"""The charts of a profile as Plotly figures, each built once from the page data."""

from typing import Any

from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.subjects.records import Subject
from roofline.figures.figure import Figure
from roofline.presentation.charts.choices import ChartChoice
from roofline.presentation.charts.gain_figure import gain_figure
from roofline.presentation.charts.gain_records import Gain
from roofline.presentation.charts.op_figure import op_figure
from roofline.presentation.charts.program_figure import program_figure
from roofline.presentation.page_rows import Page
from roofline.presentation.shown import listed_ops

_DIGITS = 6  # significant ones, as those of columns: `json_text`, which needs NumPy


def figures_of(page: Page, choice: ChartChoice | None = None) -> dict[str, Figure]:
    """The rooflines of the ops and of the program, with six digits as all page data.

    Without a `choice` they are those of a page that opens.
    """
    figures: dict[str, Figure] = _short(
        {"op": op_figure(page, choice), "program": program_figure(page, choice)}
    )
    return figures


def drawn_again(page: Page, choice: ChartChoice) -> dict[str, Any]:
    """The figures of page data by another choice; "Time to gain" stays as it is."""
    return {**figures_of(page, choice), "gain": page["figures"]["gain"]}


def gain_of(analysis: RooflineAnalysis, subject: Subject, page: Page) -> Gain | None:
    """The chart "Time to gain" of the subject, with the names of the ops of `page`."""
    names, listed = page["ops"]["names"]["short"], listed_ops(analysis).tolist()
    places = {op: place for place, op in enumerate(listed)}

    def short(op: int) -> str:
        place = places.get(op)
        found: str | None = None if place is None else names[place]
        return analysis.ops.name[op] if found is None else found

    found: Gain | None = _short(gain_figure(analysis, subject, places, short))
    return found


def _short(part: Any) -> Any:
    if isinstance(part, dict):
        return {key: _short(value) for key, value in part.items()}
    if isinstance(part, list):
        return [_short(value) for value in part]
    return float(f"{part:.{_DIGITS}g}") if isinstance(part, float) else part
