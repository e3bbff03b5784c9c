"""Nested spans of one TensorCore plane to self time and op sums, whole capture and per step.

One pass nests a line's events; sums are array passes over event columns. What an op costs comes
from its event metadata, once per op, times its occurrences.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from roofline.importers.xspace import event_scan, spans
from roofline.importers.xspace.event_scan import Events
from roofline.importers.xspace.grouping import (
    DEVICE_CLOCK,
    FIRST_WINS,
    GROUP_ID,
    Markers,
    device_span,
    last_line,
)
from roofline.importers.xspace.line_bins import LineBins
from roofline.importers.xspace.messages import Line
from roofline.importers.xspace.nested_sums import RowSums, Walk
from roofline.importers.xspace.oddities import Oddities
from roofline.importers.xspace.planes import OP_LINES, STEPS_LINES, Plane
from roofline.importers.xspace.tpu_timeline import CoreCollector
from roofline.importers.xspace.tpu_transfers import OpKind, keys_of, op_kinds, parts_of
from roofline.model import plain_data
from roofline.model.op_columns import F64, I32, I64, U64, Bools
from roofline.model.plain_data import Aligned

_U64 = 2**64
_OP_STATS = (*DEVICE_CLOCK, GROUP_ID, "dma_stall_duration_ps", "Time Scale Multiplier")


class CoreOps(NamedTuple):
    """Sums of one TensorCore: per op key over the capture, and per (step, op key).

    `kinds` are the plane's event metadata as ops (`None`: no op). `rows` has one entry per key with
    events; `step_rows` likewise per (step, key), `step_group` its step. `op_groups` are the steps
    that have op events, with a marker or without. `clamped` counts events whose children exceed
    them. `timeline` is what the core's timeline is made of, `None` where it is not wanted.
    """

    kinds: tuple[OpKind | None, ...]
    rows: RowSums
    op_time_ps: int
    normalised_op_time_ps: int
    range_ps: int
    step_rows: RowSums
    step_group: I64
    op_groups: frozenset[int]
    markers: Markers | None
    clamped: int
    negative_costs: int
    timeline: CoreCollector | None


def read_core(
    plane: Plane,
    markers: Markers | None,
    *,
    from_file: bool,
    oddities: Oddities,
    edges_of_steps: I64,
) -> CoreOps:
    """All sums of one TensorCore or SparseCore plane.

    `edges_of_steps` are to be edges of its time bins: the same ones for all cores.
    """
    kinds, negative = op_kinds(plane, oddities)
    key_of_meta = keys_of(kinds)
    # XProf has no timeline, and SparseCores are not part of it.
    wanted = plane.is_tensor_core and not oddities.on
    timeline = None
    if wanted:
        bins = LineBins(int(key_of_meta.max(initial=-1)) + 1, edges_of_steps)
        timeline = CoreCollector(parts_of(kinds), step_edges(markers), bins)
    reader = _PlaneReader(plane, markers, key_of_meta, from_file, oddities, timeline)
    for line in plane.lines:
        reader.take(line)
    rows = reader.rows()
    step_rows, step_group = reader.step_rows()
    return CoreOps(
        kinds=kinds,
        rows=rows,
        op_time_ps=int(rows.self_time_ps.sum(dtype=np.uint64)),
        normalised_op_time_ps=_normalised_op_time(rows),
        range_ps=reader.range_ps(),
        step_rows=step_rows,
        step_group=step_group,
        op_groups=reader.op_groups,
        markers=markers,
        clamped=reader.clamped,
        negative_costs=negative,
        timeline=reader.ended_timeline(),
    )


def step_edges(markers: Markers | None) -> I64:
    """Where steps begin and end on the device's clock, in order."""
    if markers is None:
        return np.zeros(0, np.int64)
    spans_of_steps = np.concatenate([markers.span_begin_ps, markers.span_end_ps])
    return np.unique(spans_of_steps.view(np.int64))


def _normalised_op_time(rows: RowSums) -> int:
    """Self time at the default clock: each key's share is cut to whole picoseconds, as in XProf."""
    total = 0
    columns = (rows.self_time_ps, rows.normalised_time_ps, rows.time_ps)
    for self_ps, normalised, time in zip(*(c.tolist() for c in columns), strict=True):
        total = int(total + self_ps * (normalised / time if time else 0.0))
    return total


# ------------------------------------------------------------------------------------------ lines


def _known(meta: I32, keys: int) -> I32:
    """Events without metadata (-1) as those of the last kind, which has the key before the last."""
    return np.where(meta < 0, np.int32(keys - 2), meta) if meta.min(initial=0) < 0 else meta


def _xprof_order(events: Events) -> I64:
    """Start up, duration down."""
    return np.lexsort((np.uint64(_U64 - 1) - events.duration_ps, events.begin_ps))


@dataclass(frozen=True, slots=True)
class _Ops(Aligned):
    """Columns of an op line in nesting order."""

    begin_ps: U64
    end_ps: U64
    meta: I32
    key: I64
    occurrences: I64
    dma_stall_ps: U64
    normalised_ps: U64

    @classmethod
    def of(cls, events: Events, begin: U64, end: U64, key_of_meta: I64) -> "_Ops":
        stall = events.stats.get("dma_stall_duration_ps")
        scale = events.stats.get("Time Scale Multiplier")
        time = end - begin
        if scale is not None:
            event_scan.at_default_clock(time, scale.words.view(np.float64), scale.kinds, time)
        meta = _known(events.meta, len(key_of_meta))
        return cls(
            begin,
            end,
            meta,
            key_of_meta[meta],
            events.occurrences,
            np.zeros(len(events), np.uint64) if stall is None else stall.int_only().view(np.uint64),
            time,
        )

    def walk(
        self, walk: Walk, row: I64, edges: I64 | None = None, marked: F64 | None = None
    ) -> None:
        """Nest and sum these events in rows; the sums up to `edges` go to `marked`."""
        edges_ps = None if edges is None else edges.view(np.uint64)
        walk.go_on(row=row, edges_ps=edges_ps, marked=marked, **plain_data.taken(self, *_WALKED))


_WALKED = ("begin_ps", "end_ps", "meta", "occurrences", "normalised_ps", "dma_stall_ps")


@dataclass(slots=True)
class _StepSums:
    """Sums per (step, op key) of one line; only events of steps nest with each other."""

    walk: Walk
    pairs: spans.PairNumbers
    groups: set[int]

    def add(self, ops: _Ops, group: I64) -> None:
        """Go on with the line's next events, each with its step (-1: none)."""
        row = self.pairs.number(group, ops.key)
        self.walk.grow_rows(self.pairs.count)
        # Steps come in runs: looking at where they change is faster than sorting.
        changes = np.flatnonzero(group[1:] != group[:-1]) + 1
        seen = {int(group[0]), *group[changes].tolist()}
        self.groups.update(step for step in seen if step >= 0)
        ops.walk(self.walk, row)


class _PlaneReader:
    """Collects one plane's lines in file order."""

    def __init__(
        self,
        plane: Plane,
        markers: Markers | None,
        key_of_meta: I64,
        from_file: bool,
        oddities: Oddities,
        timeline: CoreCollector | None,
    ) -> None:
        self.timeline = timeline
        self._plane = plane
        self._markers = markers
        self._key_of_meta = key_of_meta
        self._from_file = from_file
        self._oddities = oddities
        self._n_keys = int(key_of_meta.max(initial=-1)) + 1
        self._lines: list[Walk] = []
        self._steps = self._step_sums()
        self._first_ps: int | None = None
        self._last_ps = 0
        self._tf_op = self._framework_kinds()
        # The line that gave the markers counts as merged; any other line of steps as it is.
        self._marker_line: Line | None = None
        if markers is not None and not from_file:
            self._marker_line = last_line(plane, STEPS_LINES)
            self._widen(markers.span_begin_ps, markers.span_end_ps)

    def take(self, line: Line) -> None:
        """Add one line: ops are summed, framework spans widen the range, the rest is skipped."""
        if line.event_count and line.name in OP_LINES:
            self._take_ops(line)
        elif line.event_count and line.name in STEPS_LINES and line is not self._marker_line:
            for events in self._plane.chunks(line, DEVICE_CLOCK, first_wins=FIRST_WINS):
                self._widen(*device_span(events))
        elif line.event_count and self._tf_op is not None:
            for events in self._plane.chunks(line, ("tf_op", "_a")):
                self._widen_framework(events)

    def rows(self) -> RowSums:
        """Sums per op key over all op lines of the plane."""
        return _add_sums([walk.sums() for walk in self._lines] or [self._walk().sums()])

    def step_rows(self) -> tuple[RowSums, I64]:
        """Sums per (step, op key) of the last op line with steps, and the step of each row."""
        return self._steps.walk.sums(), self._steps.pairs.firsts()

    @property
    def op_groups(self) -> frozenset[int]:
        """Steps that have events."""
        return frozenset(self._steps.groups)

    @property
    def clamped(self) -> int:
        """Ops that are shorter than the ops inside them."""
        return sum(walk.clamped for walk in self._lines)

    def _take_ops(self, line: Line) -> None:
        # Lines are written in order: sorting, which needs the whole line at once, is the exception.
        walked = self._walk_ops(line, event_scan.CHUNK_EVENTS, sort=False)
        if walked is None:
            walked = self._walk_ops(line, line.event_count, sort=True)
        if walked is None:
            return
        total, steps = walked
        self._lines.append(total)
        if steps.groups or self._oddities.last_op_line_counts:
            self._steps = steps

    def _walk_ops(
        self, line: Line, chunk_events: int, *, sort: bool
    ) -> tuple[Walk, _StepSums] | None:
        """Sums of one op line; `None` where it is out of order and has to be sorted first."""
        stats = (*_OP_STATS, "tf_op", "_a") if self._tf_op is not None else _OP_STATS
        total, steps, follower = self._walk(), self._step_sums(), self._follower()
        # A line that is read again, sorted, is collected anew.
        collector = None if self.timeline is None else self.timeline.anew()
        last, is_checked = np.array([0, _U64 - 1], np.uint64), self._sorts_lines and not sort
        chunks = self._plane.chunks(line, stats, first_wins=FIRST_WINS, chunk_events=chunk_events)
        for events in chunks:
            if is_checked and not spans.in_order(events.begin_ps, events.duration_ps, last):
                return None
            self._widen_framework(events)
            begin, end = device_span(events)
            self._widen(begin, end)
            group = self._groups(events, follower)
            ops = _Ops.of(events, begin, end, self._key_of_meta)
            if sort:
                rows = _xprof_order(events)
                ops, group = ops.taken(rows), None if group is None else group[rows]
            if collector is None:
                ops.walk(total, ops.key)
            else:
                collector.follow(
                    ops.begin_ps, ops.end_ps, ops.meta, partial(ops.walk, total, ops.key)
                )
            if group is not None:
                steps.add(ops, group)
        if collector is None:
            total.end_line()
        else:
            collector.end_bins(total)
        steps.walk.end_line()
        if collector is not None:
            self.timeline = self._sorted(line) if collector.is_out_of_order else collector
        return total, steps

    def _sorted(self, line: Line) -> CoreCollector | None:
        """The timeline of a line whose events are out of order on the device's clock."""
        if self.timeline is None:
            return None
        collector, whole, walk = self.timeline.anew(), line.event_count, self._walk()
        for events in self._plane.chunks(
            line, DEVICE_CLOCK, first_wins=FIRST_WINS, chunk_events=whole
        ):
            begin, end = device_span(events)
            order = np.lexsort((np.uint64(_U64 - 1) - end, begin))
            ops = _Ops.of(events, begin, end, self._key_of_meta).taken(order)
            collector.follow(ops.begin_ps, ops.end_ps, ops.meta, partial(ops.walk, walk, ops.key))
        collector.end_bins(walk)
        return collector

    def _walk(self) -> Walk:
        return Walk(self._n_keys, clamp=not self._oddities.wraps_self_time)

    def _step_sums(self) -> _StepSums:
        # XProf, too, stops self time at zero where it sums steps.
        walk = Walk(clamp=True, only_rows=True)
        return _StepSums(walk, spans.PairNumbers(), set())

    @property
    def _sorts_lines(self) -> bool:
        """XProf sorts a TensorCore's lines (start up, duration down) unless they came grouped."""
        return self._plane.is_tensor_core and not self._from_file

    # -- steps

    def _follower(self) -> spans.StepFollower | None:
        if self._from_file or self._markers is None or not len(self._markers.group):
            return None
        return spans.StepFollower(self._markers.begin_ps, self._markers.end_ps)

    def _groups(self, events: Events, follower: spans.StepFollower | None) -> I64 | None:
        """Step id per event, the file's own first. `None`: no event has one."""
        own = events.stats.get(GROUP_ID)
        derived: I64 | None = None
        if follower is not None and self._markers is not None:
            step = follower.find(events.begin_ps, events.end_ps)
            derived = np.append(self._markers.group, -1)[step]
        if own is None or not own.present.any():
            return derived
        rest = derived if derived is not None else np.int64(-1)
        return np.where(own.present, own.int_or_uint().view(np.int64), rest)

    # -- range

    def _framework_kinds(self) -> Bools | None:
        """Per event metadata: a framework op that is not asynchronous. `None`: the plane has none.

        XProf derives a line of framework ops; of it only the span matters here, and that only for
        TensorCores of captures that did not come grouped.
        """
        plane = self._plane
        if self._from_file or not plane.is_tensor_core or not plane.has_stat("tf_op"):
            return None
        named = [
            bool(k.stats.text("tf_op")) and not k.stats.int_or_uint("_a") for k in plane.event_kinds
        ]
        return np.array([*named, False], np.bool_)

    def _widen_framework(self, events: Events) -> None:
        if self._tf_op is None:
            return
        framework = self._tf_op[events.meta]
        own, apart = events.stats.get("tf_op"), events.stats.get("_a")
        if own is not None and own.kinds.any():
            framework = np.where(own.present, self._plane.has_text(own), framework)
        if apart is not None and apart.kinds.any():
            framework = framework & (apart.int_or_uint() == 0)
        if framework.any():
            ends = np.array([_U64 - 1, 0], np.uint64)
            spans.widen(events.begin_ps, events.duration_ps, framework, ends)
            self._widen(ends[:1], ends[1:])

    def _widen(self, begin: U64, end: U64) -> None:
        if not len(begin):
            return
        first, last = int(begin.min()), int(end.max())
        self._first_ps = first if self._first_ps is None else min(self._first_ps, first)
        self._last_ps = max(self._last_ps, last)

    def ended_timeline(self) -> CoreCollector | None:
        """The core's timeline, from the first to the last event that counts."""
        if self.timeline is not None and self._first_ps is not None:
            self.timeline.end_line(self._first_ps, self._last_ps)
        return self.timeline

    def range_ps(self) -> int:
        """First to last event that counts."""
        if self._first_ps is None:
            return 1 if self._oddities.times_an_empty_plane else 0
        return (self._last_ps - self._first_ps) % _U64


def _add_sums(lines: Sequence[RowSums]) -> RowSums:
    """Sums over op lines; the first line that has a row names its metadata."""
    total = lines[0]
    for line in lines[1:]:
        fresh = (total.first_meta < 0) & (line.first_meta >= 0)
        first = {
            name: np.where(fresh, getattr(line, name), getattr(total, name)) for name in _FIRST
        }
        sums = {name: getattr(total, name) + getattr(line, name) for name in _SUMMED}
        total = RowSums(**first, **sums)
    return total


_FIRST = ("first_rank", "first_meta")
_SUMMED = ("time_ps", "self_time_ps", "normalised_time_ps", "occurrences", "dma_stall_ps")
