"""The rows of the table of operations, and those values of its columns that take some lines."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from roofline.analysis import roofline
from roofline.analysis.causes import CAUSE_LABELS, WHY_ABOVE, WHY_NOT_SHOWN, Cause
from roofline.analysis.nearest_records import NearestOps
from roofline.analysis.records import Cost, OpRecords, Ranking, RooflineAnalysis, Timing
from roofline.analysis.roofline import Floats
from roofline.analysis.short_names import distinct, fitted
from roofline.analysis.subjects.budget import owners_of
from roofline.analysis.subjects.records import OpPart, Subject
from roofline.analysis.undecided import units_of
from roofline.model.compute import ComputeUnit
from roofline.model.memory import MemoryLevel
from roofline.model.profile import OpTable
from roofline.presentation.columns import Page, Rows, Value
from roofline.presentation.quantities import duration, percent
from roofline.presentation.shown import ceiling_labels, has_program
from roofline.presentation.text_table import plain, spaced
from roofline.presentation.words import ceiling_words

NAME_WIDTH = 34


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OpRows(Rows):
    """Ops: `at` are their rows in the records. Columns of a view are read of `view`.

    `categories` are those of the page, each with its place there.
    """

    subject: Subject
    view: Ranking
    categories: Mapping[str, int] = field(default_factory=dict)

    @property
    def ops(self) -> OpRecords:
        """The records of all ops, IDLE last."""
        return self.analysis.ops

    @property
    def table(self) -> OpTable:
        """The ops as they are in the profile, without IDLE."""
        return self.analysis.profile.ops

    @property
    def near(self) -> NearestOps:
        """The nearest ceilings of all ops."""
        return self.analysis.nearest

    def named(self, name: str, *, of_view: bool) -> NDArray[Any]:
        """The column of the view, or else of the measures, with this name."""
        if not of_view:
            return Rows.named(self, name, of_view=False)
        column: NDArray[Any] = getattr(self.view, name)
        return column

    def each(self, value: Callable[[int], Any]) -> list[Any]:
        """A value of each row."""
        return [value(op) for op in self.at.tolist()]

    def real(self, value: Callable[[int], Any], *, idle: Any = None) -> list[Any]:
        """A value of each op of the profile, and `idle` for IDLE."""
        count = len(self.table)
        return [value(op) if op < count else idle for op in self.at.tolist()]


def rows_of(analysis: RooflineAnalysis, view: Ranking, subject: Subject) -> OpRows:
    """The ops of `view` for exports: with columns of every memory level that has numbers."""
    return OpRows(
        analysis=analysis,
        measures=analysis.ops.cells,
        at=view.op,
        levels=tuple(analysis.ops.cells.intensity),
        subject=subject,
        view=view,
    )


def each_op(name: str) -> Value[OpRows]:
    """A column of the records of ops, by its name."""
    return lambda rows: rows.each(getattr(rows.ops, name).__getitem__)


def per_level(name: str) -> Value[Rows]:
    """A column of the measures that exists per level."""
    return lambda rows: getattr(rows.measures, name)[MemoryLevel(rows.key)][rows.at]


def per_unit(name: str) -> Value[Rows]:
    """A column of the measures that exists per compute unit."""
    return lambda rows: getattr(rows.measures, name)[ComputeUnit(rows.key)][rows.at]


def compute_roofs(rows: Rows) -> list[int | None]:
    """The place of the compute roof of each row that has FLOPs; `None`: it has none."""
    measures = rows.measures
    pairs = zip(
        measures.unit[rows.at].tolist(), measures.flop_rate_gflops[rows.at].tolist(), strict=True
    )
    return [rows.analysis.roof_of_unit(unit) if rate > 0 else None for unit, rate in pairs]


def bound_labels(rows: Rows) -> list[str]:
    """What binds each row, in XProf's words."""
    return [rows.analysis.bound_label(code) for code in rows.measures.bound[rows.at].tolist()]


def compute_units(rows: OpRows) -> list[str | None]:
    """The unit whose roof an op is compared with, else the one that does most of its work.

    `None` where the profile does not tell units apart, and for an op without FLOPs of one; all
    that it may be where it is one of several.
    """
    units = [*rows.analysis.units, None, None]  # -2 is not known, -1 the main peak
    flop = rows.table.unit_flop

    def unit_of(op: int) -> str | None:
        among = units_of(rows.table, op)
        if among:
            return " or ".join(unit.value for unit in among)
        own = units[int(rows.ops.measures.unit[op])]
        busiest = max(flop, key=lambda unit: int(flop[unit][op]), default=None)
        if own is None and busiest is not None and flop[busiest][op]:
            own = busiest
        return None if own is None else own.value

    return rows.real(unit_of)


def owners(rows: OpRows) -> list[str | None]:
    """The part of the subject's time that owns each op."""
    return owners_of(rows.analysis, rows.subject, rows.at)


def program_ids(rows: OpRows) -> list[str | None]:
    """The number of each op's program; nothing where the profiler knows no programs."""
    return rows.real(
        lambda op: str(int(rows.ops.program_id[op])) if has_program(rows.analysis, op) else None
    )


def program_name(rows: OpRows, op: int) -> str:
    """The name of an op's program; empty where it has none."""
    return rows.analysis.profile.program_names.get(int(rows.ops.program_id[op]), "")


def source_place(rows: OpRows, op: int) -> str:
    """File and line of the program: "train.py:12"."""
    file, line = rows.table.source_file[op], int(rows.table.source_line[op])
    return f"{file}:{line}" if file and line >= 0 else file


def source_line(rows: OpRows, op: int) -> int | None:
    """The line alone."""
    line = int(rows.table.source_line[op])
    return line if line >= 0 else None


def why_not_shown(rows: OpRows) -> list[str | None]:
    """Sentences on cells that are empty, `None` for ops that show all that is known."""
    each_us = rows.ops.measures.avg_time_us

    def sentence(op: int) -> str | None:
        why = rows.ops.not_shown[op]
        return why and WHY_NOT_SHOWN[why].format(time=duration(float(each_us[op])))

    return rows.each(sentence)


def subject_gain(rows: OpRows) -> Floats:
    """What each op could gain, in us; of IDLE, what waits without an op could gain."""
    gains: Floats = np.append(rows.subject.ops.gain_us[:-1], rows.subject.other_gain_us)
    return gains[rows.at]


def nearest(rows: OpRows) -> list[dict[str, Any]]:
    """The nearest ceiling of each op as an object, with those that are about as near."""
    return [
        {
            "class": kind,
            "ceiling": ceiling,
            "ratio": ratio if math.isfinite(ratio) else None,
            "useful_ratio": useful if math.isfinite(useful) else None,
            "why": rows.near.why[op] or None,
            "also": list(rows.near.also_of(op)),
        }
        for op, kind, ceiling, ratio, useful in zip(
            rows.at.tolist(),
            rows.each(lambda op: rows.near.kind_of(op).value),
            nearest_ids(rows),
            rows.near.ratios()[rows.at].tolist(),
            rows.near.useful_ratios()[rows.at].tolist(),
            strict=True,
        )
    ]


def nearest_ids(rows: OpRows) -> list[str | None]:
    """The id of each op's nearest ceiling; `None` for none."""
    return rows.each(lambda op: rows.near.ceiling_of(op) or None)


def clocks(rows: OpRows) -> list[dict[str, float | None]]:
    """The clocks of each op as an object."""
    columns = [rows.ops.clocks.of[key][rows.at].tolist() for key in rows.ops.clocks.of]
    return [
        {
            key: time_us if math.isfinite(time_us) else None
            for key, time_us in zip(rows.ops.clocks.of, times, strict=True)
        }
        for times in zip(*columns, strict=True)
    ]


def bound_peaks(rows: OpRows) -> list[tuple[float | None, float | None, str | None]]:
    """The peak of what bounds each op, per core: GFLOP/s, or GB/s, and its origin."""
    device, measures = rows.analysis.device, rows.ops.cells
    links = {peak.level: peak for peak in (*device.memory, *device.links)}
    peaks: dict[tuple[int, int], tuple[float | None, float | None, str | None]] = {}

    def peak_of(bound: int, unit: int) -> tuple[float | None, float | None, str | None]:
        place = rows.analysis.roof_of_unit(unit) if bound == roofline.COMPUTE_BOUND else None
        level = rows.analysis.level_of(bound)
        if place is not None:
            return device.compute[place].gflops, None, device.compute[place].origin.value
        if level in links:
            return None, links[level].gbs, links[level].origin.value
        return None, None, None

    bounds = zip(measures.bound[rows.at].tolist(), measures.unit[rows.at].tolist(), strict=True)
    # Few pairs of bound and unit stand for many ops.
    found = [peaks.get(pair) or peaks.setdefault(pair, peak_of(*pair)) for pair in bounds]
    reach = rows.ops.moved.reach[rows.at]
    for row in np.flatnonzero(reach != 1).tolist():
        flops, gbs, origin = found[row]
        found[row] = flops, gbs and gbs * float(reach[row]), origin
    return found


# ------------------------------------------------------------------------------------- on the page


def page_of_plans(rows: OpRows) -> Page:
    """Shown at first where no op has a measured time: it is what such a table is read for."""
    has_times = Timing.MEASURED in rows.ops.timing[:-1]  # the last is IDLE
    return Page.MENU if has_times else Page.FIRST


def has_units(rows: Rows) -> bool:
    """Work is split by compute unit."""
    return bool(rows.analysis.units)


def has_ceilings(rows: Rows) -> bool:
    """Busy shares were counted."""
    return bool(ceiling_labels(rows.analysis))


def has_integers(rows: Rows) -> bool:
    """Integer operations of some op were counted."""
    return bool(np.isfinite(rows.analysis.ops.measures.integer_rate_gops).any())


def has_transfers(rows: OpRows) -> bool:
    """There are transfers over links."""
    return Cost.TRANSFER in rows.ops.cost


def is_untimed(rows: OpRows) -> bool:
    """The time of some op was not measured."""
    return any(timing is not Timing.MEASURED for timing in rows.ops.timing)


# ---------------------------------------------------------------------------------- on a terminal


def numbered(rows: OpRows) -> list[str]:
    """The rows of a table, counted from 1."""
    return [str(number) for number in range(1, len(rows.at) + 1)]


def short_names(rows: OpRows) -> list[str]:
    """The names of ops, short and told apart."""
    names = distinct(rows.each(lambda op: plain(rows.ops.name[op])))
    return [fitted(name, NAME_WIDTH) for name in names]


def timed(rows: OpRows, times_us: Floats) -> Floats:
    """A time of each op in the subject; NaN where none was measured."""
    is_timed = rows.each(lambda op: rows.ops.timing[op] is Timing.MEASURED)
    return np.where(is_timed, times_us[rows.at], np.nan)


def subject_time(rows: OpRows) -> Floats:
    """The time of each op in the subject."""
    return timed(rows, rows.subject.ops.width_us)


def time_with_waiting(rows: OpRows) -> Floats:
    """The same, with the time in which nothing ran as that of IDLE: all are the subject."""
    times_us = subject_time(rows)
    times_us[rows.at == len(rows.ops) - 1] = rows.subject.parts.idle
    return times_us


def subject_roof(rows: OpRows) -> Floats:
    """Needed time ÷ time of ops whose work is known; NaN of others."""
    ops = rows.subject.ops
    is_known = np.array([part is OpPart.WORK for part in ops.part], np.bool_)
    widths_us = np.where(is_known & (ops.width_us > 0), ops.width_us, np.nan)
    return timed(rows, ops.needed_us / widths_us)


def subject_share(rows: OpRows) -> Floats:
    """Each op's share of the time of the subject."""
    return subject_time(rows) / (rows.subject.time_us or 1.0)


def subject_gain_known(rows: OpRows) -> Floats:
    """What each op could gain; NaN where that is nothing."""
    gain_us = timed(rows, rows.subject.ops.gain_us)
    return np.where(gain_us == 0, np.nan, gain_us)


def of_roof(rows: OpRows) -> list[str]:
    """The share of the roof, with `!` where it needs a reason."""

    def share(op: int) -> str:
        if rows.ops.timing[op] is Timing.PREDICTED:
            return "at best"
        text = spaced(percent(rows.ops.cells.roofline_efficiency_ratio[op]))
        return text + ("!" if _cause(rows.analysis, op) else "")

    return rows.each(share)


def nearest_words(rows: OpRows) -> list[str]:
    """The nearest ceiling of each op; "" where none is known."""
    device = rows.analysis.device
    return rows.each(lambda op: ceiling_words(rows.near.ceiling_of(op), device))


def nearest_or_class(rows: OpRows) -> list[str]:
    """The nearest ceiling of each op, else what can be said of its bound."""
    kinds = rows.each(lambda op: rows.near.kind_of(op).value)
    return [name or kind for name, kind in zip(nearest_words(rows), kinds, strict=True)]


def above_roof_lines(analysis: RooflineAnalysis, ops: Sequence[int]) -> list[str]:
    """The reason for every `!` of `of_roof`: the likely cause, once each."""
    causes = [cause for op in ops if (cause := _cause(analysis, op))]
    return [f"! {CAUSE_LABELS[cause]}: {WHY_ABOVE[cause]}" for cause in dict.fromkeys(causes)]


def _cause(analysis: RooflineAnalysis, op: int) -> Cause | None:
    """Why the share in an op's row is above 100 %: of its link for a transfer."""
    ops, cause = analysis.ops, analysis.ops.above_roof[op]
    is_of_memory = ops.cost[op] is Cost.TRANSFER and cause is not Cause.LINK
    is_shown = not math.isnan(ops.cells.roofline_efficiency_ratio[op])
    return cause if is_shown and not is_of_memory else None
