"""Every column of the program's points (total, average, steps): in XProf's order, then ours."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from roofline.analysis.records import ProgramPoints, RooflineAnalysis, Scope
from roofline.analysis.roofline import Floats
from roofline.model.memory import MemoryLevel
from roofline.model.units import gib_to_gb
from roofline.presentation.columns import (
    Column,
    Page,
    Rows,
    Shown,
    Text,
    hidden,
)
from roofline.presentation.op_columns import (
    FLOP_RATE_OF_PEAK,
    INTEGER_RATE,
    INTENSITY_ALL,
    LEVEL_BANDWIDTHS,
    LEVEL_INTENSITIES,
    MEMORY_USE,
    OWN_LEVELS,
    OWN_UNITS,
    UNIT_RATES,
)
from roofline.presentation.op_values import bound_labels, compute_roofs, has_units
from roofline.presentation.quantities import flop_rate, significant
from roofline.presentation.text_table import plain, spaced


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PointRows(Rows):
    """Points of the program at `at` of `points`."""

    points: ProgramPoints

    def each(self, values: Sequence[Any]) -> list[Any]:
        """A value of each row."""
        return [values[row] for row in self.at.tolist()]


def at_least(text: str, *, is_least: bool) -> str:
    """A rate that lacks the work of a part of the time is a lower bound, above 0 at least."""
    if is_least and text.startswith("<"):
        return "> 0 %"
    return f"≥ {text}" if is_least else text


def _orders(rows: PointRows) -> Floats:
    """0 for the first step to 1 for the last; `None` for points that are not steps."""
    is_step = np.array([scope is Scope.STEP for scope in rows.points.scope], np.bool_)
    steps = int(is_step.sum())
    place = (np.cumsum(is_step) - 1) / (steps - 1) if steps > 1 else np.ones(len(rows.points))
    return np.where(is_step, place, np.nan)[rows.at]


def _outliers(rows: PointRows) -> list[bool | None]:
    """Whether a step is off the median; `None` for other points."""
    points = rows.points
    is_outlier = zip(points.scope, points.outlier.tolist(), strict=True)
    return rows.each([off if scope is Scope.STEP else None for scope, off in is_outlier])


def _names(rows: PointRows) -> list[str]:
    """The names of the points; steps say that they are."""
    points = rows.points
    names = [plain(label) for label in points.label]
    pairs = zip(points.scope, names, strict=True)
    return rows.each([f"step {name}" if scope is Scope.STEP else name for scope, name in pairs])


def _rates(rows: PointRows) -> list[str]:
    rates = rows.measures.flop_rate_gflops[rows.at].tolist()
    least = rows.points.flop_is_least[rows.at].tolist()
    return [at_least(spaced(flop_rate(v)), is_least=e) for v, e in zip(rates, least, strict=True)]


def _bandwidths(rows: PointRows) -> list[str]:
    """Bytes of all memories, in GB/s; the verdict has those of the memory that binds."""
    rates = gib_to_gb(rows.measures.memory_bandwidth_gibs[rows.at]).tolist()
    least = rows.points.bytes_is_least[rows.at].tolist()
    return [at_least(spaced(significant(v)), is_least=e) for v, e in zip(rates, least, strict=True)]


def _intensities(rows: PointRows) -> list[str]:
    return [spaced(significant(v)) for v in rows.measures.bottleneck_intensity[rows.at].tolist()]


def _units(rows: PointRows) -> list[str | None]:
    units = [*(unit.value for unit in rows.analysis.units), None, None]  # -2: not known, -1: main
    return [units[number] for number in rows.measures.unit[rows.at].tolist()]


PROGRAM_COLUMNS: tuple[Column[PointRows], ...] = (
    Column(
        id="label",
        label="Step",
        value=lambda rows: rows.each(rows.points.label),
        help="Total: every op. Average: complete steps only.",
        shown=Shown(page=Page.FIRST, export=2, text=Text(1, "Program", _names)),
    ),
    Column(
        id="total_time_per_core_us",
        label="Time",
        unit="time_us",
        sub="{per}",
        help="Time of the program or step, idle included, ÷ number of cores.",
        shown=Shown(page=Page.FIRST, export=24, text=Text(2, "time/core")),
    ),
    Column(
        id="flop_rate_gflops",
        label="FLOP rate",
        unit="gflops",
        sub="{per}",
        help="Known FLOPs ÷ time; ≥ where those of a part of the time are not known.",
        shown=Shown(page=Page.FIRST, export=26, text=Text(3, "FLOP/s", _rates)),
    ),
    Column(
        id="bound_by",
        label="Bound by",
        unit="bound",
        value=bound_labels,
        on_page=lambda rows: rows.measures.bound[rows.at],
        help="The most utilised resource, by the ops whose FLOPs and bytes are both known. Unknown "
        "where these make less than half of the busy time.",
        shown=Shown(page=Page.FIRST, export=35),
    ),
    Column(
        id="compute_unit",
        label="Compute roof",
        unit="roof",
        value=_units,
        on_page=compute_roofs,
        help="The compute unit whose peak is used most; FLOP rate / peak is against it.",
        shown=Shown(only_if=has_units, export=40),
    ),
    UNIT_RATES,
    LEVEL_BANDWIDTHS,
    LEVEL_INTENSITIES,
    Column(
        id="roofline_efficiency_ratio",
        label="Largest use",
        unit="ratio",
        sub="of a peak",
        help="Utilisation of the most utilised resource, of all the time: the share of the roof in "
        "the first lines is that of the work alone, each operation at its own roof.",
        shown=Shown(page=Page.FIRST, export=37),
    ),
    FLOP_RATE_OF_PEAK,
    MEMORY_USE,
    Column(
        id="bottleneck_intensity",
        label="Intensity",
        unit="flop_per_byte",
        sub="at the bound",
        help="FLOPs ÷ bytes of the resource that binds.",
        shown=Shown(page=Page.FIRST, export=34, text=Text(5, "FLOP/B", _intensities)),
    ),
    Column(
        id="model_flop_rate_gflops",
        label="Model FLOP rate",
        unit="gflops",
        sub="{per}",
        help="FLOPs of the model, before the compiler rewrote it, ÷ time.",
        shown=Shown(export=27),
    ),
    Column(
        id="memory_bandwidth_gibs",
        label="All memories",
        unit="gibs",
        sub="{per}",
        help="Known bytes ÷ time; ≥ where those of a part of the time are not known.",
        shown=Shown(page=Page.FIRST, export=30, text=Text(4, "all GB/s", _bandwidths)),
    ),
    INTENSITY_ALL,
    Column(
        id="total_time_us",
        label="Time",
        unit="time_us",
        sub="all cores",
        help="Time summed over cores.",
        shown=Shown(export=20),
    ),
    Column(
        id="attainable_gflops",
        label="Attainable",
        unit="gflops",
        sub="{per}",
        help="FLOP rate ÷ share of roof: the rate at the roof.",
        shown=Shown(export=36),
    ),
    # Not in the menu, but read by parts of the page, and exports.
    hidden(
        "scope",
        lambda rows: [scope.value for scope in rows.points.scope],
        page=Page.DATA,
        export=1,
    ),
    hidden("order", _orders, page=Page.DATA),
    hidden(
        "is_outlier",
        _outliers,
        on_page=lambda rows: rows.points.outlier,
        page=Page.DATA,
        export=3,
    ),
    hidden("flop_is_least", lambda rows: rows.points.flop_is_least, page=Page.DATA),
    hidden("bytes_is_least", lambda rows: rows.points.bytes_is_least, page=Page.DATA),
    replace(INTEGER_RATE, shown=replace(INTEGER_RATE.shown, page=Page.DATA)),
    OWN_LEVELS,
    OWN_UNITS,
    hidden("flop_rate_is_lower_bound", lambda rows: rows.points.flop_is_least, export=4),
    hidden("bandwidth_is_lower_bound", lambda rows: rows.points.bytes_is_least, export=5),
    hidden("avg_time_us", lambda rows: rows.measures.avg_time_us[rows.at], export=21),
)

# Rates of those ops alone that have a place on the roofline, where others are known as well.
PLACED_COLUMNS = tuple(
    column
    for column in PROGRAM_COLUMNS
    if column.id in {"flop_rate_gflops", "memory_bandwidth_gibs"}
    or column in {UNIT_RATES, LEVEL_BANDWIDTHS, OWN_LEVELS, OWN_UNITS}
)


def point_rows(
    analysis: RooflineAnalysis, points: ProgramPoints, levels: Sequence[MemoryLevel]
) -> PointRows:
    """All points, with columns for `levels`."""
    return PointRows(
        analysis=analysis,
        measures=points.measures,
        at=np.arange(len(points)),
        levels=levels,
        points=points,
    )
