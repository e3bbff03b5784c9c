"""The roof of a part in a plot of the server: slope, flat, a tenth of both, ridge and labels."""

import math

from roofline.model.units import GIGA
from roofline.presentation.plots import Drawing
from roofline.presentation.quantities import amount, flop_rate, significant


def draw_roofs(
    drawing: Drawing, peak: float, corner: float, memory: str, *, apart_from: float
) -> None:
    """`peak` in FLOP/s, `corner` the ridge in FLOP per byte; `memory` names the slope.

    The name stands to the right of the slope, clear of the ticks whatever the width, and as far as
    it can from the intensity `apart_from`, where the operation itself is named.
    """
    x = drawing.x
    for share, css in ((1.0, ""), (0.1, " tenth")):
        top = share * peak
        drawing.curve([(x.low, top / corner * x.low), (corner, top)], f"slope{css}")
        drawing.curve([(corner, top), (x.high, top)], f"flat{css}")
    at = _name_place(max(x.low, drawing.y.low * corner / peak), corner, apart_from)
    drawing.label((at, at * peak / corner), memory, dx=10, dy=12, anchor="start", css="slope")
    drawing.mark((corner, peak), "ridge", f"ridge at {significant(corner)} FLOP/B", 3.5)
    drawing.label((x.high, peak), flop_rate(peak / GIGA), dy=-10, dx=-4, anchor="end", css="flat")
    drawing.label((x.high, peak / 10), "10 % of the roof", dy=-5, dx=-4, anchor="end", css="dim")
    drawing.label((corner, drawing.y.low), f"ridge {significant(corner)}", dx=6, dy=-6, css="dim")


def size_tick(value: float) -> str:
    """A size on an axis: "512", "8,000", "100 k", so that neighbours do not touch on phones."""
    return significant(value, 1) if value < _GROUPED else amount(value, digits=1)


_GROUPED = 10_000
_NAME_PLACES = (0.2, 0.45, 0.7)  # shares of the visible slope, in decades


def _name_place(low: float, corner: float, apart_from: float) -> float:
    """The intensity on the slope, between `low` and `corner`, that is farthest from another."""
    places = [low * math.pow(corner / low, share) for share in _NAME_PLACES]
    return max(places, key=lambda place: abs(math.log(place / apart_from)))
