"""Colour token, dash and shape of what the page draws; the tokens' values are in `tokens.css`.

A category keeps its colour whatever is filtered and in every profile: known ones are fixed, unknown
names are hashed. Shape tells the family, so that colour is never the only difference.
"""

import zlib
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


# Those that meet on one page differ in hue; the same hue twice means another shape.
_FIXED = {
    # circles: arithmetic
    "convolution fusion": 1,
    "loop fusion": 2,
    "input fusion": 3,
    "megacore fusion": 3,
    "custom fusion": 4,
    "non-fusion elementwise": 5,
    "elementwise": 5,
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
    "indexing": 7,
    "embedding": 8,
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
)


def category_style(category: str) -> MarkStyle:
    """Style of a category; the same for the same name, always."""
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
