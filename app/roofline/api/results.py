"""Results of the library: a sentence, a document, a frame, a figure, and a notebook's cell.

Everything else of a notebook is imported by the call that needs it, because it loads slowly.
"""

import html
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from roofline.errors import ExtraMissingError
from roofline.figures.figure import inert, of_width, painted
from roofline.presentation.light_theme import LIGHT
from roofline.presentation.quantities import significant
from roofline.presentation.text_table import cut, plain, spaced

if TYPE_CHECKING:
    from pandas import DataFrame as DataFrame
    from plotly.graph_objects import Figure as Figure

    from roofline.presentation.charts.choices import Infeed

Record = Mapping[str, Any]

_REPR_LETTERS = 500
_ROWS_SHOWN = 10
_HEIGHT = 560  # pixels
_IN_LEGEND = ("roof", "marks", "program")
_TOKEN = re.compile(r"var\((--[\w-]+)\)")
_STYLE = (
    "background:#fff;color:#171b21;font:14px/1.45 system-ui,sans-serif;padding:10px 12px;"
    "border:1px solid #e9ecf0;border-radius:6px;max-width:60rem"
)
_CELL = "text-align:left;padding:1px 10px 1px 0;border:0;background:#fff;color:#171b21"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What a notebook shows below a result: sentences, pictures of ours (SVG), notes, and a table.

    All but the pictures may have names from files; what shows them escapes them.
    """

    lines: Sequence[str]
    pictures: Sequence[str] = ()
    notes: Sequence[str] = ()
    rows: Sequence[Record] = ()


class Result(ABC):
    """A result. Numbers are `None` where they are not known, never 0; names carry their units."""

    __slots__ = ()

    @property
    @abstractmethod
    def sentence(self) -> str:
        """The answer in words, as the page and the command begin."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """The document that the command prints with `--format json`."""

    @abstractmethod
    def to_text(self) -> str:
        """What the command prints."""

    @abstractmethod
    def rows(self) -> Sequence[Record]:
        """The rows of `frame()`, one mapping each."""

    def cell(self) -> Cell:
        """What a notebook shows for this result."""
        return Cell(lines=[self.sentence], rows=self.rows()[:_ROWS_SHOWN])

    def frame(self) -> "DataFrame":
        """The rows as a pandas frame. Raises `ExtraMissingError` without pandas."""
        return frame_of(self.rows())

    def _repr_html_(self) -> str:
        """HTML without scripts, for the last line of a notebook's cell."""
        return html_of(self.cell())

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        return (
            f"<roofline {type(self).__name__}: {cut(plain(spaced(self.sentence)), _REPR_LETTERS)}>"
        )


def frame_of(rows: Sequence[Record]) -> "DataFrame":
    """A frame with one row per mapping. Raises `ExtraMissingError` without pandas."""
    try:
        import pandas as pd
    except ModuleNotFoundError as error:
        raise ExtraMissingError.of("notebook") from error

    return pd.DataFrame(rows)


def roofline_figure(page: Record, title: str, *, infeed: "Infeed") -> "Figure":
    """The roofline of the page data `page` in light colours.

    Raises `ExtraMissingError` without plotly.
    """
    try:
        import plotly.graph_objects as go
    except ModuleNotFoundError as error:
        raise ExtraMissingError.of("notebook") from error
    # These load slowly.
    from roofline.presentation.charts.choices import ChartChoice
    from roofline.presentation.charts.op_figure import op_figure

    drawn = of_width(op_figure(page, ChartChoice(infeed=infeed)), "wide")
    layout = drawn["layout"] | {
        "title": {"text": inert(title)},
        "margin": None,
        "showlegend": True,
        "paper_bgcolor": "white",
        "height": _HEIGHT,
    }
    traces = [_with_hover(trace, page) for trace in drawn["data"]]
    return go.Figure(painted({"data": traces, "layout": layout}, LIGHT.__getitem__))


def _with_hover(trace: dict[str, Any], page: Record) -> dict[str, Any]:
    """The page has a card of its own beside the pointer; a notebook shows the name of the op."""
    from roofline.analysis.records import Timing  # loads slowly

    role = trace["meta"]["role"]
    shown = trace | {"showlegend": role in _IN_LEGEND}
    if role != "marks":
        return shown
    columns = page["ops"]["columns"]
    timing = columns.get("timing")
    names = [
        inert(columns["name"][op])
        + (", at best" if timing and timing[op] == Timing.PREDICTED.value else "")
        for op in trace["customdata"]
    ]
    return shown | {"hovertext": names, "hoverinfo": "text"}


def html_of(cell: Cell) -> str:
    """A cell as HTML without scripts: notebooks, code hosts and exported pages show it alike."""
    first, *rest = cell.lines
    said = [f'<p style="margin:0 0 6px"><b>{html.escape(first)}</b></p>']
    said += [f'<p style="margin:0 0 6px">{html.escape(line)}</p>' for line in rest]
    said += [_picture(svg) for svg in cell.pictures]
    if cell.notes:
        items = "".join(f"<li>{html.escape(note)}</li>" for note in cell.notes)
        said.append(f'<ol style="margin:6px 0;padding-left:1.4em">{items}</ol>')
    if cell.rows:
        said.append(_table(cell.rows))
    return f'<div style="{_STYLE}">{"".join(said)}</div>'


def _picture(svg: str) -> str:
    """A small picture of ours at the width of the cell, its tokens as light colours."""
    coloured = _TOKEN.sub(lambda found: LIGHT[found[1]], svg)
    sized = re.sub(
        r' width="[\d.]+" height="[\d.]+"', ' width="100%" height="48"', coloured, count=1
    )
    return f'<div style="margin:0 0 8px">{sized}</div>'


def _table(rows: Sequence[Record]) -> str:
    head = "".join(_of("th", name) for name in rows[0])
    body = "".join(f"<tr>{''.join(_of('td', one) for one in row.values())}</tr>" for row in rows)
    return f'<table style="border-collapse:collapse;font-size:12px"><tr>{head}</tr>{body}</table>'


def _of(element: str, value: object) -> str:
    return f'<{element} style="{_CELL}">{_cell(value)}</{element}>'


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return html.escape(significant(value, 4) if isinstance(value, float) else str(value))
