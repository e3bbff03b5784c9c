"""The roofline of a profile as a file for a paper or a talk, with its caption."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, Literal

from roofline.errors import BadViewError
from roofline.figures.figure import Figure, of_width, painted
from roofline.figures.ink import ink_of
from roofline.figures.pdf import POINTS, not_written, pdf_of
from roofline.figures.png import png_of, unwritten
from roofline.figures.svg import svg_of
from roofline.presentation.charts.choices import ChartChoice, Paper
from roofline.presentation.charts.op_figure import op_figure
from roofline.presentation.page_rows import Page, Rows
from roofline.presentation.palette import LIGHT, gray_of
from roofline.presentation.quantities import count, counted, peak_bandwidth, peak_rate, percent

Style = Literal["paper", "talk", "page", "card"]
Form = Literal["svg", "pdf", "png"]

_MM_PER_INCH = 25.4
_FORMS: Mapping[str, Form] = {".svg": "svg", ".pdf": "pdf", ".png": "png"}
_TEXT_PIXELS = 11.5  # of a figure: what the points of a style stand for
_POINTS: Mapping[Style, float] = {"paper": 8.0, "talk": 16.0, "page": 8.625, "card": 8.625}
_WIDTHS_MM: Mapping[Style, float] = {"paper": 84.0, "talk": 254.0, "page": 190.5, "card": 190.5}
_HEIGHT = 0.72  # of the width
_FLAT_HEIGHT = 0.56  # of a width of so many pixels
_FLAT_FROM = 560.0
_PAGE = (720.0, 420.0)  # pixels
_CARD = (1200.0, 630.0)  # of the picture below a link in a chat
_PRINTED = 300.0  # pixels of a PNG to the inch
_LEAST_PIXELS = 220.0
_MOST_PIXELS = 2000.0
_NAMED_PER_PIXEL = 6 / 340
_PLACED = {"marks", "program"}
_ORIGINS = {
    "profile": "stated by the profile",
    "measured": "measured by the profiler",
    "catalogue": "published",
    "calibrated": "measured by roofline calibrate",
    "user": "set by hand",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLook:
    """How a figure looks as a file: `width_mm` and `named` (ops) follow from the style by default;
    the `most` longest ops are drawn, by default all; a PNG has `dots` pixels to the inch.

    "card" is for below a link in a chat.
    """

    style: Style = "paper"
    width_mm: float | None = None
    most: int | None = None
    named: int | None = None
    is_gray: bool = False
    dots: float | None = None

    @property
    def points_per_pixel(self) -> float:
        """Points of one pixel of the figure."""
        return _POINTS[self.style] / _TEXT_PIXELS

    @property
    def size(self) -> tuple[float, float]:
        """Pixels of the figure."""
        width_mm = self.width_mm or _WIDTHS_MM[self.style]
        width = width_mm / _MM_PER_INCH * POINTS / self.points_per_pixel
        if not _LEAST_PIXELS <= width <= _MOST_PIXELS:
            least, most = (self._millimetres(one) for one in (_LEAST_PIXELS, _MOST_PIXELS))
            raise BadViewError(
                f"A figure of style {self.style} cannot be {width_mm:g} mm wide.",
                remedy=f"Its texts have room from {least + 1:.0f} to {most:.0f} mm.",
            )
        if self.style == "page":
            return width, width * _PAGE[1] / _PAGE[0]
        if self.style == "card":
            return width, width * _CARD[1] / _CARD[0]
        return width, width * (_FLAT_HEIGHT if width >= _FLAT_FROM else _HEIGHT)

    @property
    def scale(self) -> float:
        """Pixels of a PNG to one of the figure."""
        if self.style == "card" and self.dots is None:
            return _CARD[0] / self.size[0]
        return (self.dots or _PRINTED) * self.points_per_pixel / POINTS

    def _millimetres(self, pixels: float) -> float:
        return pixels * self.points_per_pixel / POINTS * _MM_PER_INCH

    def choice(self, choice: ChartChoice) -> ChartChoice:
        """The choice of a chart with this look; the style of the page leaves it as it is."""
        if self.style == "page":
            return choice
        width, height = self.size
        named = round(width * _NAMED_PER_PIXEL) if self.named is None else self.named
        paper = Paper(width=width, height=height, named=named, most=self.most, is_gray=self.is_gray)
        return replace(choice, paper=paper)


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureFile:
    """A picture as a file; `not_written` are letters that the fonts of a PDF or a PNG lack."""

    content: bytes
    caption: str
    not_written: str = ""


def form_of(name: str) -> Form:
    """What a file is by the ending of its name."""
    form = _FORMS.get(PurePath(name).suffix.lower())
    if form is None:
        raise BadViewError(
            f"“{PurePath(name).suffix or name}” is not a format of figures.",
            remedy="End the name in .svg, .pdf or .png.",
        )
    return form


def figure_file(
    page: Page, form: Form, look: FileLook, choice: ChartChoice, *, title: str, certain: str
) -> FigureFile:
    """The roofline of the operations of the page data `page` as a file.

    `title` is that of the profile, `certain` how sure its verdict is. Raises `BadViewError` where
    no operation has a place, and where the texts have no room.
    """
    axes = [axis["id"] for axis in page["x_axes"]]
    if choice.x not in ("auto", *axes):
        raise BadViewError(f"“{choice.x}” is not an axis here.", remedy=f"Axes: {', '.join(axes)}.")
    chosen = look.choice(choice)
    figure = op_figure(page, chosen)
    if not any(trace["x"] for trace in figure["data"] if trace["meta"]["role"] in _PLACED):
        said = figure.get("note") or "there are none"
        raise BadViewError(
            f"No operation has a place on this roofline: {said}.",
            remedy="A profile with FLOPs, bytes and times has one; `roofline analyze` says what"
            " this one lacks.",
        )
    said = caption(page, figure, chosen, title=title, certain=certain)
    colour = gray_of if look.is_gray else LIGHT.__getitem__
    width, height = look.size
    ink = ink_of(painted(of_width(figure, "wide"), colour), width, height)
    name = f"Roofline of {title}"
    if form == "pdf":
        content = pdf_of(ink, name, said, points_per_pixel=look.points_per_pixel)
        return FigureFile(content=content, caption=said, not_written=not_written(ink))
    if form == "png":
        content = png_of(ink, name, scale=look.scale)
        return FigureFile(content=content, caption=said, not_written=unwritten(ink))
    across, down = (f"{one * look.points_per_pixel:.2f}pt" for one in look.size)
    content = svg_of(ink, name, said, width=across, height=down)
    return FigureFile(content=content, caption=said)


def caption(page: Page, figure: Figure, choice: ChartChoice, *, title: str, certain: str) -> str:
    """Sentences for below the figure."""
    rows = Rows(page, choice.infeed)
    device = page["device"]
    drawn = {
        op
        for trace in figure["data"]
        if trace["meta"]["role"] == "marks"
        for op in trace["customdata"]
    }
    share = sum(part for op, part in zip(rows.ops, rows.shares, strict=True) if op in drawn)
    said = [
        f"Roofline of {title} on {device['name']}, per {device['core_word']}.",
        f"{count(len(drawn))} of {counted(len(rows), 'operation')} "
        f"with {percent(share)} of the time; the area of a mark is its share.",
        peaks_of(page, figure),
        f"How sure what binds is: {certain}.",
    ]
    note = figure.get("note", "").replace(": above only", "")
    return " ".join([*said, *([f"Not drawn: {note}."] if note else [])])


def peaks_of(page: Page, figure: Figure) -> str:
    """The roofs that a figure of the operations has, each with where its peak is from."""
    drawn = {trace.get("uid", "").removeprefix("roof-") for trace in figure["data"]}
    known = [
        (roof, peak_rate(roof["gflops"]) if "gflops" in roof else peak_bandwidth(roof["gbs"]))
        for roof in (*page["roofs"]["compute"], *page["roofs"]["memory"])
        if roof["id"] in drawn
    ]
    if not known:
        return "No roof is drawn."
    texts = [f"{roof['label']} {peak} ({_source(roof)})" for roof, peak in known]
    return f"Peaks per {page['device']['core_word']}: {'; '.join(texts)}."


def _source(roof: Mapping[str, Any]) -> str:
    origin = _ORIGINS[roof["origin"]]
    return f"{origin}: {roof['source']}" if roof["source"] else origin
