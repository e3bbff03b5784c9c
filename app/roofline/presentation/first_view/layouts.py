"""Sizes that a drawing is made for: the page's width is not known before it is shown.

Marks and lines fit every size. Labels do not: they are written once per class of sizes, and the
style sheet shows those of the class that the plot has (`static/css/first-view.css`).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from roofline.figures.scale import Margin, Range, Scale
from roofline.figures.scene import Layer, Shape

# As in the style sheet: a plot's class is the last one whose least value it reaches.
WIDTHS = (0, 240, 280, 330, 390, 460, 540, 640, 750, 880, 1040, 1220, 1440)
RATIOS = (0.0, 0.8, 0.9, 1.0, 1.12, 1.25, 1.4, 1.57, 1.75, 1.95, 2.2, 2.45, 2.75, 3.1, 3.5, 4.2)
_LAST_WIDTH = 1800
_LAST_RATIO = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """One class of sizes: its `css` class, and a scale in its middle."""

    css: str
    scale: Scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Axes:
    """Ranges of a chart, its margins and its usual height in pixels."""

    x: Range
    y: Range
    margin: Margin
    height: float

    def of(self, width: float) -> Scale:
        """A scale whose plot is `width` pixels wide."""
        whole = width + self.margin.left + self.margin.right
        return Scale(x=self.x, y=self.y, width=whole, height=self.height, margin=self.margin)

    def widths(self) -> Iterator[Layout]:
        """Classes by the width of the plot."""
        for number, middle in enumerate(_middles(WIDTHS, _LAST_WIDTH, first=200)):
            yield Layout(css=f"w{number}", scale=self.of(middle))

    def ratios(self) -> Iterator[Layout]:
        """Classes by width to height of the plot: the slant of a label follows from it."""
        for number, middle in enumerate(_middles(RATIOS, _LAST_RATIO, first=0.75)):
            yield Layout(css=f"r{number}", scale=self.of(middle * self.of(100).plot_height))


def shared(layers: Iterable[Layer]) -> list[Layer]:
    """Layers of classes of sizes, with equal shapes written once for all classes that have them.

    A browser reads and styles each shape, also those of other sizes: most are the same in several.
    """
    classes: dict[Shape, dict[str, None]] = {}
    for layer in layers:
        for shape in layer.shapes:
            classes.setdefault(shape, {})[layer.css] = None
    together: dict[str, list[Shape]] = {}
    for shape, names in classes.items():
        together.setdefault(" ".join(names), []).append(shape)
    return [Layer(shapes=tuple(shapes), css=css) for css, shapes in together.items()]


def _middles(edges: tuple[float, ...], last: float, first: float) -> Iterator[float]:
    yield first
    for low, high in zip(edges[1:], (*edges[2:], last), strict=True):
        yield (low * high) ** 0.5
