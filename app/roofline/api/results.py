"""Results of the library: a sentence, a document, a frame, a figure, and a notebook's cell.

Everything else of a notebook is imported by the call that needs it, because it loads slowly.
"""

import html
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from roofline.errors import BadViewError, ExtraMissingError
from roofline.figures.figure import Figure as Picture
from roofline.figures.figure import inert, of_width, painted
from roofline.presentation.palette import LIGHT
from roofline.presentation.quantities import significant
from roofline.presentation.text_table import cut, plain, spaced

if TYPE_CHECKING:
    from pandas import DataFrame as DataFrame
    from plotly.graph_objects import Figure as Figure

    from roofline.presentation.charts.choices import Infeed
    from roofline.presentation.figure_files import Style

Record = Mapping[str, Any]
Redact = Literal["names", "sources", "none"]

# What writes pages needs Jinja, which the core does not know.
_WRITER = "roofline.web.offline.report"
ANSWERS = "roofline.api.agents.answers"  # made of results, which do not know it
_REPR_LETTERS = 500
_ROWS_SHOWN = 10
_HEIGHT = 560  # pixels
_IN_LEGEND = ("roof", "marks", "program")
_TOKEN = re.compile(r"var\((--[\w-]+)\)")
_SIZE = re.compile(r' width="[\d.]+" height="[\d.]+"')
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
    _certain = ""  # how sure the sentence is, where it has a verdict

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

    def to_markdown(self) -> str:
        """What the command prints with `--format markdown`, and agents read: the sentence, how sure
        that is, and the rows."""
        said: str = import_module(ANSWERS).of_rows(self.sentence, self._certain, self.rows())
        return said

    @abstractmethod
    def rows(self) -> Sequence[Record]:
        """The rows of `frame()`, one mapping each."""

    def cell(self) -> Cell:
        """What a notebook shows for this result."""
        return Cell(lines=[self.sentence], rows=self.rows()[:_ROWS_SHOWN])

    def frame(self) -> "DataFrame":
        """The rows as a pandas frame. Raises `ExtraMissingError` without pandas."""
        return frame_of(self.rows())

    def picture(self) -> Picture | None:
        """Its picture on the page, as data; `None` for a result that has none."""
        return None

    def figure(self) -> "Figure":
        """Its picture on the page as a Plotly figure, in light colours.

        Raises `BadViewError` for a result without one, and `ExtraMissingError` without plotly.
        """
        return plotly_figure(self.picture(), type(self).__name__)

    def _repr_html_(self) -> str:
        """HTML without scripts, for the last line of a notebook's cell."""
        return html_of(self.cell())

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        return (
            f"<roofline {type(self).__name__}: {cut(plain(spaced(self.sentence)), _REPR_LETTERS)}>"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportWish:
    """What `report` writes; `most_bytes` is its size at most, `devices` can be chosen in it. A page
    that is `is_hosted` asks the kernel of its notebook for the view under any device.
    """

    title: str = ""
    redact: Redact = "none"
    most_bytes: int | None = None
    devices: Sequence[str] = ()
    is_hosted: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """A page as one HTML file: `content`. In a notebook its frame is `height` pixels high."""

    content: bytes
    height: int = 720

    def save(self, path: str | Path) -> Path:
        """Writes the file; where it is."""
        place = Path(path)
        place.write_bytes(self.content)
        return place

    def _repr_html_(self) -> str:
        """A frame that may run the page's own scripts, and reach neither notebook nor network."""
        page = html.escape(self.content.decode())
        look = f'width="100%" height="{self.height}" style="border:0"'
        return f'<iframe sandbox="allow-scripts allow-downloads" {look} srcdoc="{page}"></iframe>'

    def __repr__(self) -> str:
        return f"<roofline Report: {len(self.content):,} bytes>"


class WithPage(Result):
    """A result that has a page on a server."""

    __slots__ = ()

    def report(
        self,
        path: str | PathLike[str] | None = None,
        *,
        title: str = "",
        redact: Redact = "none",
        max_bytes: int | None = None,
        devices: Sequence[str] = (),
    ) -> Report:
        """Its page as one HTML file, written to `path` where that is given."""
        made = report(self, title=title, redact=redact, max_bytes=max_bytes, devices=devices)
        if path is not None:
            made.save(Path(path))
        return made

    def show(self, *, height: int = 720) -> Report:
        """Its page in a cell of a notebook, in a frame of `height` pixels; 0.6 MB and more."""
        return report(self, height=height)


def report(
    result: Result | str,
    *,
    title: str = "",
    redact: Redact = "none",
    max_bytes: int | None = None,
    devices: Sequence[str] = (),
    height: int = 720,
) -> Report:
    """The page of a profile or a comparison, or that of a calculator by its address, as one file:
    no server is asked.

    `redact` puts numbers in place of "sources", or of all "names", of a profile, whose view under
    each of the `devices` is in the file, too. Above `max_bytes` details are left out, which the
    file says. Raises `BadViewError` for a result without a page and
    for a size that cannot be, and `ExtraMissingError` without Jinja.
    """
    wish = ReportWish(title=title, redact=redact, most_bytes=max_bytes, devices=devices)
    made: bytes | None = writer().file_of(result, wish)
    if made is None:
        raise BadViewError(
            f"{type(result).__name__} has no page.",
            remedy="Write the report of a profile, of a comparison, or of a calculator's address.",
        )
    return Report(made, height)


def writer() -> Any:
    """The module that writes pages. Raises `ExtraMissingError` without Jinja."""
    try:
        return import_module(_WRITER)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "roofline":
            raise
        raise ExtraMissingError.of("notebook") from error


def frame_of(rows: Sequence[Record]) -> "DataFrame":
    """A frame with one row per mapping. Raises `ExtraMissingError` without pandas."""
    try:
        import pandas as pd
    except ModuleNotFoundError as error:
        raise ExtraMissingError.of("notebook") from error

    return pd.DataFrame(rows)


def roofline_figure(
    page: Record, title: str, *, infeed: "Infeed", style: "Style" = "page"
) -> "Figure":
    """The roofline of the page data `page` in light colours; `title` is that of style "page".

    Raises `ExtraMissingError` without plotly.
    """
    # These load slowly.
    from roofline.presentation.charts.choices import ChartChoice
    from roofline.presentation.charts.op_figure import op_figure
    from roofline.presentation.figure_files import FileLook

    look = FileLook(style=style)
    drawn = of_width(op_figure(page, look.choice(ChartChoice(infeed=infeed))), "wide")
    if style != "page":
        width, height = look.size
        return _painted(drawn["data"], drawn["layout"] | {"width": width, "height": height})
    titled = {"title": {"text": inert(title)}, "margin": None, "showlegend": True}
    traces = [_with_hover(trace, page) for trace in drawn["data"]]
    return _painted(traces, drawn["layout"] | titled | {"height": _HEIGHT})


def plotly_figure(picture: Picture | None, of: str) -> "Figure":
    """A picture of the page for Plotly. Raises as `Result.figure`: `of` is what has none."""
    if picture is None or not picture["data"]:
        raise BadViewError(f"{of} has no picture.", remedy="`frame()` has the numbers.")
    drawn = of_width(picture, "wide")
    return _painted(drawn["data"], drawn["layout"] | {"height": _HEIGHT})


def _painted(traces: Sequence[Record], layout: Record) -> "Figure":
    try:
        import plotly.graph_objects as go
    except ModuleNotFoundError as error:
        raise ExtraMissingError.of("notebook") from error

    drawn = {"data": [*traces], "layout": {**layout, "paper_bgcolor": "white"}}
    return go.Figure(painted(drawn, LIGHT.__getitem__))


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
    sized = _SIZE.sub(' style="width:100%;height:48px"', coloured, count=1)  # JupyterLab has rules
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
