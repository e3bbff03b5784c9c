"""Roofs on log10 axes: their lines and their ridges."""

import math
from dataclasses import dataclass

from roofline.figures.scale import Place, Range

_PAST = 3.0  # decades that lines go on past the chart, so that panning never uncovers an end


@dataclass(frozen=True, slots=True, kw_only=True)
class Roof:
    """A known peak: GB/s of a slanted roof, GFLOP/s of a flat one; `sustained` is a share of it."""

    id: str
    label: str
    peak: float
    token: str
    dash: str
    unit: str | None = None
    sustained: float | None = None

    @property
    def log(self) -> float:
        """log10 of the peak."""
        return math.log10(self.peak)


@dataclass(frozen=True, slots=True, kw_only=True)
class Roofs:
    """Slanted and flat roofs that are drawn; the first of each is the main one."""

    memory: tuple[Roof, ...] = ()
    compute: tuple[Roof, ...] = ()

    @property
    def top(self) -> Roof | None:
        """The highest flat roof: where slanted lines end."""
        return max(self.compute, key=lambda roof: roof.peak, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoofLine:
    """A roof as a line of two points; `corner` is a slanted one's ridge with the main flat roof."""

    roof: Roof
    is_slanted: bool
    corner: Place | None
    end: float
    points: tuple[Place, Place]

    def sustained(self) -> tuple[Place, Place] | None:
        """The ceiling that programs reach; a flat one begins at the slanted one that it meets."""
        if self.roof.sustained is None:
            return None
        down = math.log10(self.roof.sustained)
        (x0, y0), (x1, y1) = self.points
        return (x0 if self.is_slanted else x0 + down, y0 + down), (x1, y1 + down)


def attainable(x: float, memory: Roof | None, compute: Roof | None) -> float:
    """log10 of the FLOP rate that a roof allows at log10 intensity `x`; infinite without roofs."""
    slanted = x + memory.log if memory else math.inf
    return min(slanted, compute.log if compute else math.inf)


def ridge(memory: Roof | None, compute: Roof | None) -> Place | None:
    """Where a slanted roof meets a flat one."""
    if memory is None or compute is None:
        return None
    return compute.log - memory.log, compute.log


def roof_lines(shown: Roofs, x: Range) -> list[RoofLine]:
    """Lines to the edges of the chart and past them: slanted ones first."""
    left, right = x[0] - _PAST, x[1] + _PAST
    main = shown.compute[0] if shown.compute else None
    fastest = max((roof.peak for roof in shown.memory), default=0.0)
    slanted = [_slanted_line(roof, left, right, (main, shown.top)) for roof in shown.memory]
    return slanted + [_flat_line(roof, left, right, fastest) for roof in shown.compute]


def _slanted_line(
    roof: Roof, left: float, right: float, flat: tuple[Roof | None, Roof | None]
) -> RoofLine:
    main, top = flat
    crossing = ridge(roof, top)
    end = right if crossing is None else crossing[0]
    start = min(left, end - 1)
    points = (start, start + roof.log), (end, end + roof.log)
    return RoofLine(roof=roof, is_slanted=True, corner=ridge(roof, main), end=end, points=points)


def _flat_line(roof: Roof, left: float, right: float, fastest: float) -> RoofLine:
    start = roof.log - math.log10(fastest) if fastest > 0 else left
    points = (start, roof.log), (max(right, start + 1), roof.log)
    return RoofLine(roof=roof, is_slanted=False, corner=None, end=right, points=points)
