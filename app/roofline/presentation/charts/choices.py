"""Which chart of a profile is asked for: the choices of the page's address that move the figure."""

from dataclasses import dataclass
from typing import Literal

from roofline.figures.roofs import Roof
from roofline.presentation.page_rows import JOINED

Infeed = Literal["in", "out"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherRoofs:
    """The main roofs of another device that is drawn beside the profile's own."""

    name: str
    memory: Roof | None
    compute: Roof | None


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

    @property
    def is_share(self) -> bool:
        """Whether heights are shares of roofs; joined levels have one height for several."""
        return self.y == "share" and self.x != JOINED
