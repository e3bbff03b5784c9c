"""The chart "Time to gain" as the page reads it."""

from typing import Literal, NotRequired, TypedDict

from roofline.figures.figure import Figure


class GainTerm(TypedDict):
    """One term of the equation: `part` is the filter of its operations, "" where none is listed.

    `amount` is in the unit of the subject's length; with the other terms it adds up to it, as
    printed.
    """

    part: str
    texture: str
    amount: str
    label: str
    time_us: float
    idle_ratio: NotRequired[float]


class BlockWords(TypedDict):
    """A block of the chart: what its card says, and its `ops` as rows of the page.

    `count` is how many operations it has, listed or not; `key` what it is a part of: "work",
    "unknown", "impossible", "plain", "links", "transfers", "input", "host_wait", "unknown_wait".
    """

    name: str
    lines: list[str]
    ops: list[int]
    count: int
    key: str
    gain_us: float


class GainChart(TypedDict):
    """The chart by one choice of blocks; `customdata` of its marks are places in `blocks`."""

    figure: Figure
    blocks: list[BlockWords]


class Gain(TypedDict):
    """The chart "Time to gain": `by` is the choice that a page opens with.

    `has_work` is true where the little work has a strip of its own. `equation` are the parts of the
    time, which add up as printed to `total`. `picture` is the chart as a small `svg`, by `by`.
    """

    title: str
    by: Literal["op", "group"]
    op: GainChart
    group: GainChart | None
    group_label: str
    total: str
    equation: list[GainTerm]
    has_work: bool
    picture: str
