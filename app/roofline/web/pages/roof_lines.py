"""The roof of a part in a plot of the server: slope, flat, a tenth of both, ridge and labels."""

import math

from roofline.model.units import GIGA
from roofline.presentation.plots import Drawing
from roofline.presentation.quantities import flop_rate, significant


def draw_roofs(drawing: Drawing, peak: float, corner: float, memory: str) -> None:
    """`peak` in FLOP/s, `corner` the ridge in FLOP per byte; `memory` names the slope."""
    x = drawing.x
    for share, css in ((1.0, ""), (0.1, " tenth")):
        top = share * peak
        drawing.curve([(x.low, top / corner * x.low), (corner, top)], f"slope{css}")
        drawing.curve([(corner, top), (x.high, top)], f"flat{css}")
    middle = math.sqrt(max(x.low, drawing.y.low * corner / peak) * corner)
    drawing.label((middle, middle * peak / corner), memory, dx=-8, dy=-6, anchor="end", css="slope")
    drawing.mark((corner, peak), "ridge", f"ridge at {significant(corner)} FLOP/B", 3.5)
    drawing.label((x.high, peak), flop_rate(peak / GIGA), dy=-7, dx=-4, anchor="end", css="flat")
    drawing.label((corner, drawing.y.low), f"ridge {significant(corner)}", dx=6, dy=-6, css="dim")
