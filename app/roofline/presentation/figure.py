"""A roofline as a validated Plotly figure, for notebooks; the page draws its own from page data."""

import html

import numpy as np
import plotly.graph_objects as go

from roofline.analysis.records import RooflineAnalysis, Timing
from roofline.analysis.roofline import Floats
from roofline.model.units import gib_to_gb

_MARGIN_DECADES = 0.5
_LARGEST_MARK = 36.0
_SMALLEST_MARK = 5.0


def roofline_figure(
    analysis: RooflineAnalysis, *, include_infeed_outfeed: bool = True
) -> go.Figure:
    """Roofs, one mark per op with FLOPs (area: share of time), and the program as a star.

    x is FLOP per byte of the resource that binds, y is GFLOP/s per core, both logarithmic.
    """
    view = analysis.view(include_infeed_outfeed=include_infeed_outfeed)
    measures = analysis.ops.cells
    x, y = measures.bottleneck_intensity[view.op], measures.flop_rate_gflops[view.op]
    drawn = np.nan_to_num(x * y) > 0
    figure = go.Figure()
    _add_roofs(figure, analysis, x[drawn])
    for category in dict.fromkeys(analysis.ops.category[op] for op in view.op[drawn].tolist()):
        rows = [k for k in np.flatnonzero(drawn) if analysis.ops.category[view.op[k]] == category]
        names = [_hover(analysis, op) for op in view.op[rows].tolist()]
        figure.add_scatter(
            x=x[rows],
            y=y[rows],
            mode="markers",
            name=html.escape(category),
            text=names,
            marker={"size": _mark_sizes(view.self_share_ratio[rows])},
        )
    program = view.program.measures
    figure.add_scatter(
        x=program.bottleneck_intensity[:1],
        # The rate of the ops that have a place: FLOPs of others may be known as well.
        y=(program.attainable_gflops * program.roofline_efficiency_ratio)[:1],
        mode="markers",
        name="Program",
        marker={"symbol": "star", "size": 16},
    )
    figure.update_layout(
        title=f"{html.escape(analysis.device.name)}, per {analysis.device.core_word}",
        xaxis={"type": "log", "title": "Operational intensity, FLOP per byte at the bound"},
        yaxis={"type": "log", "title": "GFLOP/s"},
    )
    return figure


def _hover(analysis: RooflineAnalysis, op: int) -> str:
    name = html.escape(analysis.ops.name[op])
    return f"{name}, at best" if analysis.ops.timing[op] is Timing.PREDICTED else name


def _add_roofs(figure: go.Figure, analysis: RooflineAnalysis, intensities: Floats) -> None:
    """One line per memory level up to the compute peak, over the range of the ops."""
    gflops = analysis.peaks.gflops
    if not gflops:
        return
    for level, gibs in analysis.peaks.binding_gibs.items():
        ridge = gflops / gib_to_gb(gibs)
        known = np.append(intensities, ridge)
        first = float(known.min()) / 10**_MARGIN_DECADES
        last = float(known.max()) * 10**_MARGIN_DECADES
        x = np.array([first, ridge, last])
        figure.add_scatter(
            x=x,
            y=np.minimum(x * gib_to_gb(gibs), gflops),
            mode="lines",
            name=f"{level.label} {gib_to_gb(gibs):,.4g} GB/s",
        )


def _mark_sizes(share: Floats) -> Floats:
    """Diameters whose areas are proportional to the share of time, within readable limits."""
    sizes: Floats = np.clip(np.sqrt(np.nan_to_num(share)) * 100, _SMALLEST_MARK, _LARGEST_MARK)
    return sizes
