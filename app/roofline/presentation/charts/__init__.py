"""The charts of a profile as Plotly figures, each built once from the page data."""

from typing import Any

from roofline.figures.figure import Figure, six_digits
from roofline.presentation.charts.choices import ChartChoice
from roofline.presentation.charts.link_figure import link_figure
from roofline.presentation.charts.op_figure import op_figure
from roofline.presentation.charts.program_figure import program_figure
from roofline.presentation.page_rows import Page


def figures_of(page: Page, choice: ChartChoice | None = None) -> dict[str, Figure]:
    """Both rooflines and the strip of links, with six digits as all page data.

    Without a `choice` they are those of a page that opens.
    """
    figures: dict[str, Figure] = six_digits(
        {
            "op": op_figure(page, choice),
            "program": program_figure(page, choice),
            "links": link_figure(page, choice),
        }
    )
    return figures


def drawn_again(page: Page, choice: ChartChoice) -> dict[str, Any]:
    """The figures of page data by another choice; "Time to gain" stays as it is."""
    return {**figures_of(page, choice), "gain": page["figures"]["gain"]}
