"""The charts of a profile as Plotly figures, each built once from the page data."""

from typing import Any

from roofline.figures.figure import Figure
from roofline.presentation.charts.choices import ChartChoice
from roofline.presentation.charts.op_figure import op_figure
from roofline.presentation.charts.program_figure import program_figure
from roofline.presentation.page_rows import Page

_DIGITS = 6  # significant ones, as those of columns: `json_text`, which needs NumPy


def figures_of(page: Page, choice: ChartChoice | None = None) -> dict[str, Figure]:
    """The rooflines of the ops and of the program, with six digits as all page data.

    Without a `choice` they are those of a page that opens.
    """
    figures: dict[str, Figure] = _short(
        {"op": op_figure(page, choice), "program": program_figure(page, choice)}
    )
    return figures


def _short(part: Any) -> Any:
    if isinstance(part, dict):
        return {key: _short(value) for key, value in part.items()}
    if isinstance(part, list):
        return [_short(value) for value in part]
    return float(f"{part:.{_DIGITS}g}") if isinstance(part, float) else part
