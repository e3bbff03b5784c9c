"""Colour token, dash and shape of what the page draws; the tokens' values are in `tokens.css`.

A category has a colour of its own whatever is filtered: known names are fixed, others are hashed,
and where two of one page want the same colour, the one with less time takes a free one. Shape tells
the family, so that colour is never the only difference; where colours run out, it tells two apart.
"""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from roofline.model.memory import MemoryLevel
from roofline.model.plain_data import read_beside


@dataclass(frozen=True, slots=True)
class LineStyle:
    """Colour token and dash of a ceiling."""

    token: str
    dash: str


COMPUTE_STYLE = LineStyle("--roof-compute", "solid")
UNKNOWN_STYLE = LineStyle("--roof-unknown", "dash")
_MORE_COMPUTE_DASHES = ("dash", "dot", "dashdot", "longdash")
LEVEL_STYLES = {
    MemoryLevel.HBM: LineStyle("--roof-hbm", "solid"),
    MemoryLevel.CMEM_READ: LineStyle("--roof-cmem-read", "dash"),
    MemoryLevel.CMEM_WRITE: LineStyle("--roof-cmem-write", "dot"),
    MemoryLevel.VMEM_READ: LineStyle("--roof-vmem-read", "dash"),
    MemoryLevel.VMEM_WRITE: LineStyle("--roof-vmem-write", "dot"),
    MemoryLevel.SHARED_L1: LineStyle("--roof-l1", "dashdot"),
    MemoryLevel.DRAM: LineStyle("--roof-hbm", "solid"),
    MemoryLevel.LLC: LineStyle("--roof-llc", "dash"),
    MemoryLevel.L2: LineStyle("--roof-l2", "dash"),
    MemoryLevel.L1: LineStyle("--roof-l1", "dash"),
    MemoryLevel.SHARED: LineStyle("--roof-shared", "dot"),
    MemoryLevel.LDS: LineStyle("--roof-shared", "dashdot"),
    MemoryLevel.HOST: LineStyle("--roof-host", "dash"),
    MemoryLevel.ICI: LineStyle("--roof-ici", "dash"),
    MemoryLevel.NVLINK: LineStyle("--roof-nvlink", "dash"),
    MemoryLevel.XGMI: LineStyle("--roof-nvlink", "dashdot"),
    MemoryLevel.DCN: LineStyle("--roof-dcn", "dash"),
}


def compute_style(number: int) -> LineStyle:
    """Style of the device's compute peak `number`: the main one is solid, further ones broken."""
    if number == 0:
        return COMPUTE_STYLE
    dash = _MORE_COMPUTE_DASHES[(number - 1) % len(_MORE_COMPUTE_DASHES)]
    return LineStyle(COMPUTE_STYLE.token, dash)


@dataclass(frozen=True, slots=True)
class MarkStyle:
    """Colour token and Plotly symbol of a category."""

    token: str
    symbol: str


# Colours of names that usually meet on one page, and words in names, by shape.
_TABLE = read_beside(__file__, "palette.json")
_FIXED: dict[str, int] = {
    name: hue for of in _TABLE["colours"].values() for name, hue in of.items()
}
_HUES = 12
# Free colours in the order of taking them: those that few names have first, the grey of IDLE last.
_SPARE = (9, 5, 4, 6, 3, 2, 8, 7, 1, 11, 10, 12)
_SHAPES = ("circle", "square", "diamond", "triangle-up")


def category_styles(categories: Sequence[str]) -> list[MarkStyle]:
    """Styles of the categories of one page, the longest first; the same list has the same styles.

    No two share a colour up to twelve, and no two share colour and shape up to 48. Known names
    choose first, so that a profile's own names never take a colour that readers know.
    """
    names = sorted(range(len(categories)), key=lambda place: categories[place] not in _FIXED)
    found: dict[int, MarkStyle] = {}
    taken: set[MarkStyle] = set()
    for place in names:
        found[place] = _free_style(categories[place], taken)
        taken.add(found[place])
    return [found[place] for place in range(len(categories))]


def _free_style(category: str, taken: set[MarkStyle]) -> MarkStyle:
    """A colour that no other has, else a mark that no other has, else the own one again."""
    own = category_style(category)
    tokens = {style.token for style in taken}
    if own.token not in tokens:
        return own
    for style in _instead(own):
        if style not in taken and (style.token not in tokens or len(tokens) == _HUES):
            return style
    return own


def _instead(own: MarkStyle) -> Iterator[MarkStyle]:
    """Other marks: all colours in the own shape first, then in the other shapes."""
    tokens = [own.token, *(f"--c{hue}" for hue in _SPARE)]
    for symbol in (own.symbol, *_SHAPES):
        for token in tokens:
            yield MarkStyle(token, symbol)


def category_style(category: str) -> MarkStyle:
    """The style that a category has where no other of its page wants the same colour."""
    hue = _FIXED.get(category)
    if hue is None:
        hue = zlib.crc32(category.encode("utf-8", "surrogatepass")) % _HUES + 1
    return MarkStyle(f"--c{hue}", _symbol(category))


def _symbol(category: str) -> str:
    for symbol, words in _TABLE["shapes"].items():
        if any(word in category for word in words):
            return str(symbol)
    return "diamond"


LIGHT: Mapping[str, str] = read_beside(__file__, "light_theme.json")
"""Light values of the tokens that figures have, for notebooks; `tokens.css` has both."""


def gray_of(token: str) -> str:
    """The gray of the same lightness as the light value of a token (BT.709)."""
    value = LIGHT[token]
    red, green, blue = (int(value[at : at + 2], 16) for at in (1, 3, 5))
    level = round(0.2126 * red + 0.7152 * green + 0.0722 * blue)
    return f"#{level:02x}{level:02x}{level:02x}"
