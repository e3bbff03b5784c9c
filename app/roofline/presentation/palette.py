"""Colour token, dash and shape of what the page draws; the tokens' values are in `tokens.css`.

A category has a colour of its own whatever is filtered: known names are fixed, others are hashed,
and where two of one page want the same colour, the one with less time takes a free one. Shape tells
the family, so that colour is never the only difference; where colours run out, it tells two apart.
"""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from roofline.model.memory import MemoryLevel


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


# Names that usually meet on one page differ; `category_styles` sees to the others.
_FIXED = {
    # circles: arithmetic
    "convolution fusion": 1,
    "loop fusion": 2,
    "input fusion": 3,
    "megacore fusion": 3,
    "custom fusion": 4,
    "non-fusion elementwise": 5,
    "elementwise": 9,
    "output fusion": 6,
    "dot": 7,
    "reduce": 8,
    "convolution": 9,
    "matmul": 1,
    "attention": 2,
    "normalisation": 3,
    "softmax": 4,
    "fused (Inductor)": 6,
    "optimizer": 7,
    "reduction": 8,
    "pooling": 12,
    "sort": 10,
    "reduce-window": 11,
    # squares: data movement
    "scatter": 1,
    "copy": 3,
    "transpose": 4,
    "dynamic-slice": 5,
    "slice": 6,
    "gather": 7,
    "dynamic-update-slice": 8,
    "data formatting": 9,
    "copy-done": 10,
    "broadcast": 11,
    "copy-start": 12,
    "indexing": 10,
    "embedding": 5,
    # triangles: communication
    "reduce-scatter": 2,
    "all-reduce-scatter fusion": 3,
    "collective-permute": 4,
    "all-to-all": 5,
    "all-reduce fusion": 6,
    "all-gather": 7,
    "all-gather fusion": 7,
    "infeed": 9,
    "all-reduce": 11,
    "outfeed": 12,
    "communication": 11,
    # diamonds: the rest
    "rng-bit-generator": 5,
    "custom-call": 6,
    "async-start": 7,
    "async-done": 10,
    "IDLE": 12,
    "unknown": 12,
}
_HUES = 12
# Free colours in the order of taking them: those that few names have first, the grey of IDLE last.
_SPARE = (9, 5, 4, 6, 3, 2, 8, 7, 1, 11, 10, 12)
_SHAPES = ("circle", "square", "diamond", "triangle-up")

_COLLECTIVE = (
    "all-",
    "collective",
    "reduce-scatter",
    "send",
    "recv",
    "permute",
    "communication",
    "infeed",
    "outfeed",
)
_MOVEMENT = (
    "copy",
    "data formatting",
    "dynamic-",
    "slice",
    "broadcast",
    "transpose",
    "reshape",
    "gather",
    "scatter",
    "concatenate",
    "pad",
    "indexing",
    "embedding",
)
_COMPUTE = (
    "fusion",
    "fused",
    "convolution",
    "dot",
    "matmul",
    "attention",
    "normalisation",
    "softmax",
    "optimizer",
    "pooling",
    "elementwise",
    "reduc",
    "sort",
    "rng",
    "random numbers",
)


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
    for words, symbol in (
        (_COLLECTIVE, "triangle-up"),
        (_MOVEMENT, "square"),
        (_COMPUTE, "circle"),
    ):
        if any(word in category for word in words):
            return symbol
    return "diamond"
