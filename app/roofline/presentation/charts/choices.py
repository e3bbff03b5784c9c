"""Which chart of a profile is asked for: the choices of the page's address that move the figure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from roofline.figures.figure import PLOTS, Width
from roofline.figures.roofs import Roof
from roofline.figures.scale import Margin
from roofline.presentation.page_rows import JOINED

Infeed = Literal["in", "out"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherRoofs:
    """The main roofs of another device that is drawn beside the profile's own."""

    name: str
    memory: Roof | None
    compute: Roof | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """How a roofline for print differs: marks differ by what binds, and by shape without colours.

    `width` and `height` are pixels of the whole figure; `named` ops have names, and the `most`
    longest are drawn, by default all.
    """

    width: float
    height: float
    named: int
    most: int | None = None
    is_gray: bool = False

    @property
    def margin(self) -> Margin:
        """Room for ticks, for the title of the lower axis, and for the key above."""
        return Margin(left=76, right=22, top=22, bottom=40)

    @property
    def plot(self) -> tuple[float, float]:
        """Pixels between the margins."""
        margin = self.margin
        return (
            self.width - margin.left - margin.right,
            self.height - margin.top - margin.bottom,
        )

    @property
    def shrunk(self) -> float:
        """Diameters of marks as a share of those on the page."""
        return min(1.0, self.plot[0] / PLOTS["wide"][0])


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartChoice:
    """What both rooflines show; the defaults are those of a page that opens.

    `x` is the id of an axis of the page data ("auto": the usual one), `prec` the key of the one
    compute roof that is drawn, `zoom` the range x0, x1, y0, y1 in log10, `op` the op whose own
    ceilings are drawn, `ops` those that are joined: none means the longest.
    """

    infeed: Infeed = "in"
    x: str = "auto"
    y: Literal["rate", "share"] = "rate"
    roofs: Literal["auto", "all", "none"] = "auto"
    prec: str | None = None
    size: Literal["time", "equal"] = "time"
    fit: Literal["time", "all"] = "time"
    zoom: tuple[float, float, float, float] | None = None
    op: int | None = None
    ops: tuple[int, ...] = ()
    others: tuple[OtherRoofs, ...] = ()
    paper: Paper | None = None

    @property
    def plots(self) -> Mapping[Width, tuple[float, float]]:
        """Pixels of the plot, for which ticks and names are placed."""
        return PLOTS if self.paper is None else dict.fromkeys(PLOTS, self.paper.plot)

    @property
    def has_key(self) -> bool:
        """Whether a legend says what marks are bound by: joined levels are as the roofs."""
        return self.paper is not None and self.x != JOINED

    @property
    def is_share(self) -> bool:
        """Whether heights are shares of roofs; joined levels have one height for several."""
        return self.y == "share" and self.x != JOINED
