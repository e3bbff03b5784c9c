"""Scenes as SVG: deterministic, escaped, and without a size of its own where the page gives one.

Places are written as shares of the plot, so that one drawing fits every width; marks and text keep
their size. Colours are custom properties of the page, unless the caller resolves them: a file of
its own has no page around it.
"""

from collections.abc import Callable, Iterable
from html import escape

from roofline.figures.marks import has_corners, outline, plain
from roofline.figures.scale import Scale
from roofline.figures.scene import Area, Layer, Line, Mark, Place, Shape, Text

Colour = Callable[[str], str]

_DASH_UNIT = 3  # pixels; wider lines have longer dashes
_DASHES = {"dot": (1, 1), "dash": (3, 3), "dashdot": (3, 1, 1, 1), "longdash": (5, 5)}
_TEXT_HEIGHT = 1.25  # of the font's size: the ground behind a text


def themed(token: str) -> str:
    """The colour of `token` in the theme of the page."""
    return f"var({token})"


class SvgWriter:
    """Writes shapes on the axes of `scale`."""

    def __init__(self, scale: Scale, colour: Colour = themed) -> None:
        self._scale = scale
        self._colour = colour

    def layers(self, layers: Iterable[Layer]) -> str:
        """The content of an `svg` element that is as large as the plot, and lets text out of it."""
        return "".join(map(self._layer, layers))

    def document(self, layers: Iterable[Layer], *, title: str) -> str:
        """A figure of its own, in the pixels of the scale, with a `title` for readers."""
        scale = self._scale
        width, height = plain(scale.width), plain(scale.height)
        plot = (
            f'x="{plain(scale.margin.left)}" y="{plain(scale.margin.top)}" '
            f'width="{plain(scale.plot_width)}" height="{plain(scale.plot_height)}"'
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" role="img"><title>{escape(title)}</title>'
            f'<svg {plot} overflow="visible">{self.layers(layers)}</svg></svg>'
        )

    def _layer(self, layer: Layer) -> str:
        name = f' class="{escape(layer.css)}"' if layer.css else ""
        shapes = "".join(map(self._shape, layer.shapes))
        if layer.is_clipped:
            return f'<svg{name} width="100%" height="100%" overflow="hidden">{shapes}</svg>'
        return f"<g{name}>{shapes}</g>"

    def _shape(self, shape: Shape) -> str:
        match shape:
            case Line():
                return self._line(shape)
            case Area():
                return self._area(shape)
            case Mark():
                return self._mark(shape)
            case Text():
                return self._text(shape)

    def _at(self, place: Place) -> tuple[str, str]:
        """Left and top of a place, in percent of the plot."""
        left, top = self._scale.left(place[0]), self._scale.top(place[1])
        return f"{plain(100 * left)}%", f"{plain(100 * top)}%"

    def _line(self, line: Line) -> str:
        looks = f'stroke="{self._of(line.token)}" stroke-width="{plain(line.width)}"'
        dash = dash_array(line.dash, line.width)
        looks += f' stroke-dasharray="{escape(dash)}"' if dash else ""
        pieces = []
        for start, end in zip(line.points, line.points[1:], strict=False):
            (x1, y1), (x2, y2) = self._at(start), self._at(end)
            pieces.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" {looks}/>')
        return "".join(pieces)

    def _area(self, area: Area) -> str:
        left, right = self._scale.left(area.x0), self._scale.left(area.x1)
        x, width = plain(100 * left), plain(100 * (right - left))
        return f'<rect x="{x}%" width="{width}%" height="100%" fill="{self._of(area.token)}"/>'

    def _mark(self, mark: Mark) -> str:
        x, y = self._at(mark.at)
        looks = f'color="{self._of(mark.token)}"'
        looks += f' class="{escape(mark.css)}"' if mark.css else ' fill="currentColor"'
        if not has_corners(mark.symbol):
            return f'<circle cx="{x}" cy="{y}" r="{plain(mark.radius)}" {looks}/>'
        path = f'<path d="{outline(mark.symbol, mark.radius)}" {looks}/>'
        return f'<svg x="{x}" y="{y}" overflow="visible">{path}</svg>'

    def _text(self, text: Text) -> str:
        x, y = self._at(text.at)
        shift = f'x="{plain(text.shift[0])}" y="{plain(text.shift[1])}"'
        turn = f' transform="rotate({plain(text.angle)})"' if text.angle else ""
        words = (
            f'<text {shift}{turn} text-anchor="{text.anchor}" font-size="{plain(text.size)}" '
            f'fill="{self._of(text.token)}">{escape(text.text)}</text>'
        )
        return f'<svg x="{x}" y="{y}" overflow="visible">{self._plate(text)}{words}</svg>'

    def _plate(self, text: Text) -> str:
        if not text.plate:
            return ""
        before = {"start": 0.0, "middle": 0.5, "end": 1.0}[text.anchor] * text.width
        height = _TEXT_HEIGHT * text.size
        return (
            f'<rect x="{plain(text.shift[0] - before)}" y="{plain(text.shift[1] - 0.8 * height)}" '
            f'width="{plain(text.width)}" height="{plain(height)}" fill="{self._of(text.plate)}"/>'
        )

    def _of(self, token: str) -> str:
        return escape(self._colour(token))


def dash_array(dash: str, width: float) -> str:
    """Lengths of a dash by its name, as Plotly draws it; other text is the lengths themselves."""
    if dash in ("", "solid"):
        return ""
    unit = max(width, _DASH_UNIT)
    known = _DASHES.get(dash)
    return dash if known is None else ",".join(plain(part * unit) for part in known)
