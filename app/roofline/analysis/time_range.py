"""A profile of a range of its time: the same columns, for the bins that the range covers.

An op's work in the range is its work in the capture times the share of its occurrences that lies in
it; an occurrence that crosses an edge counts with the part of its time that is inside. Times are
those in the bins. Definitions: `docs/timeline.md`.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from roofline.errors import NoSuchRangeError
from roofline.model.device import HardwareCounters
from roofline.model.notes import noted, notes_beside
from roofline.model.op_columns import F64, I64, SCHEMA, Bools, Column, Summing
from roofline.model.profile import Diagnostic, OpTable, Profile, StepTable
from roofline.model.time_bins import OTHER, TimeBins
from roofline.model.time_bins import WORK as DOES_WORK
from roofline.model.timeline import (
    WHOLE_CAPTURE,
    CoreTimes,
    Timeline,
    Transfers,
    WorkTimes,
)
from roofline.model.units import PS_PER_MS

_NOTES = notes_beside(__file__)

# Which share of an op each column takes: of its time, of its own time; all others of its
# occurrences. Capacities are peaks times time.
_BY_TIME = frozenset({"time_ps", "unit_capacity_flop", "level_capacity_bytes"})
_BY_OWN_TIME = frozenset({"self_time_ps", "dma_stall_ps"})
_LEAST_CALLS = 1e-9  # of an op that ran at all, and less than any event's share in a bin


def in_range(profile: Profile, begin_ps: float, end_ps: float) -> Profile:
    """The profile between `begin_ps` and `end_ps` of the capture, widened to whole bins.

    The whole capture gives the profile itself. Raises `NoSuchRangeError` for a profile without
    bins, and for a range outside of the capture.
    """
    bins = profile.timeline.bins if profile.timeline else None
    if bins is None or profile.timeline is None:
        raise NoSuchRangeError(
            "This profile has no timeline, so it cannot be cut to a range of time.",
            remedy="Ranges need a capture with events in time, of one file.",
        )
    if not begin_ps < end_ps or end_ps <= 0 or begin_ps >= bins.edges_ps[-1]:
        raise NoSuchRangeError(
            "The range of time is empty, or lies outside of the capture.",
            remedy=f"The capture lasts {bins.edges_ps[-1] / PS_PER_MS:g} ms from its start.",
        )
    first, last = bins.around(begin_ps, end_ps)
    if (first, last) == (0, len(bins)):
        return profile
    return _Range.of(profile, bins, first, last).profile(profile, profile.timeline)


def to_analyse_again(profile: Profile) -> Profile:
    """The part of a profile that is stored for later analyses: of ranges, and by other peaks."""
    timeline = profile.timeline
    if timeline is not None:
        timeline = replace(timeline, transfers=replace(timeline.transfers, each=None))
    return replace(profile, launches=None, timeline=timeline, by_host=())


class _Range(NamedTuple):
    """Bins from `first` to before `last`; per op of the table, what it has of its capture's
    occurrences, time and own time, 0 to 1, and `kept`, the ops that ran in the range."""

    bins: TimeBins
    first: int
    last: int
    calls: F64
    time: F64
    own: F64
    kept: I64

    @classmethod
    def of(cls, profile: Profile, bins: TimeBins, first: int, last: int) -> "_Range":
        """The shares of each op of `profile` in these bins."""
        ops, n_ops = bins.ops, len(profile.ops)
        inside = slice(*np.searchsorted(ops.bin, [first, last]).tolist())

        def share(column: Any) -> F64:
            whole, part = (
                np.bincount(ops.op[rows] + 1, column[rows], n_ops + 1)[1:]
                for rows in (slice(None), inside)
            )
            return np.divide(part, whole, out=np.zeros(n_ops), where=whole > 0)

        calls, time = share(ops.calls), share(ops.time_ps)
        return cls(
            bins=bins,
            first=first,
            last=last,
            calls=calls,
            time=time,
            own=share(ops.own_ps),
            kept=np.flatnonzero((calls > 0) & ((time > 0) | (profile.ops.time_ps == 0))),
        )

    def profile(self, whole: Profile, timeline: Timeline) -> Profile:
        """The profile of the range."""
        ops = self._ops(whole.ops)
        edges = self.bins.edges_ps
        begin, end = int(edges[self.first]), int(edges[self.last])
        times = self._times()
        op_time_ps = int(times.total_ps.sum() - times.launch_gaps_ps.sum() - times.idle_ps.sum())
        kept_steps = self._steps(whole, timeline)
        missing = self._not_on_timeline(whole.ops)
        return replace(
            whole,
            device=replace(whole.device, counters=HardwareCounters()),
            ops=ops,
            time_ps=int(times.total_ps.sum()),
            op_time_ps=op_time_ps,
            normalised_op_time_ps=round(
                op_time_ps * whole.normalised_op_time_ps / max(whole.op_time_ps, 1)
            ),
            wall_time_ps=end - begin,
            steps=_chosen_steps(whole.steps, kept_steps),
            launches=None,
            serving=None,
            time_range_ps=(begin, end),
            labels_of_all_steps=whole.steps.label,
            diagnostics=(_of_range(begin, end, int(edges[-1])), *whole.diagnostics, *missing),
            timeline=replace(
                timeline,
                steps=0,
                times=times,
                work=self._work(ops, len(whole.ops)),
                transfers=self._transfers(timeline.transfers),
                launches=None,
            ),
        )

    # ------------------------------------------------------------------------------------- ops

    def _not_on_timeline(self, ops: OpTable) -> list[Diagnostic]:
        """The note on ops that have a time, and no event in any bin."""
        ran = np.bincount(self.bins.ops.op + 1, minlength=len(ops) + 1)[1:] > 0
        count = int((~ran & (ops.time_ps > 0)).sum())
        if not count:
            return []
        return [noted(_NOTES, "not-on-timeline", count)]

    def _ops(self, ops: OpTable) -> OpTable:
        """The ops that ran in the range, with their shares of times and work."""
        numbers = ops.select(self.kept)
        return replace(
            numbers,
            **{
                name: _each(getattr(numbers, name), self._scaled(name, column))
                for name, column in SCHEMA.items()
                if column.summing is Summing.ADD
            },
        )

    def _scaled(self, name: str, column: Column) -> Callable[[Any], Any]:
        by = self.time if name in _BY_TIME else self.own if name in _BY_OWN_TIME else self.calls
        share = by[self.kept]

        def scaled(values: Any) -> Any:
            part = values * share
            if name == "occurrences":
                part = np.maximum(part, 1)
            if np.issubdtype(column.dtype, np.integer):
                part = np.rint(part)
            return part.astype(column.dtype)

        return scaled

    def _row_of_op(self, n_ops: int) -> I64:
        """The row of each op of the whole profile in the range's table, -1 without; last of -1."""
        rows = np.full(n_ops + 1, -1, np.int64)
        rows[self.kept] = np.arange(len(self.kept))
        return rows

    # ---------------------------------------------------------------------------------- timeline

    def _times(self) -> CoreTimes:
        """One row per core, for the whole range."""
        times, inside = self.bins.times, slice(self.first, self.last)

        def total(columns: F64) -> F64:
            return np.asarray(columns[:, inside].sum(axis=1))

        exposed = {link: total(column) for link, column in times.exposed_ps.items()}
        names = ("infeed_outfeed_ps", "host_ps", "launch_gaps_ps", "idle_ps")
        parts = {name: total(getattr(times, name)) for name in names}
        n_cores = len(times.work_ps)
        return CoreTimes(
            core=np.arange(n_cores),
            scope=np.full(n_cores, WHOLE_CAPTURE),
            total_ps=total(times.work_ps) + sum(parts.values()) + sum(exposed.values()),
            exposed_ps=exposed,
            start_idle_ps=np.zeros(n_cores),
            host_wait_ps=total(times.host_wait_ps),
            **parts,
        )

    def _work(self, ops: OpTable, n_ops: int) -> WorkTimes:
        """The time and work of ops in the range; cores are summed up, which changes no sum."""
        found = self.bins.ops
        rows = slice(*np.searchsorted(found.bin, [self.first, self.last]).tolist())
        op, kind = self._row_of_op(n_ops)[found.op[rows]], found.kind[rows]
        own = np.where(kind == OTHER, 0, found.own_ps[rows])
        works = (kind == DOES_WORK) & (op >= 0)
        keys, at = np.unique((op + 1) * 2 + works, return_inverse=True)
        time = np.bincount(at, own, len(keys)).astype(np.float64)
        calls = np.bincount(at, found.calls[rows], len(keys)).astype(np.float64)
        seen = np.flatnonzero(time > 0)
        row = keys[seen] // 2 - 1
        per_call = self._occurrences_per_call(ops, row, calls[seen])
        return WorkTimes(
            core=np.zeros(len(seen), np.int64),
            scope=np.full(len(seen), WHOLE_CAPTURE),
            op=row,
            time_ps=time[seen],
            calls=per_call,
            is_work=(keys[seen] % 2).astype(np.bool_),
        )

    def _occurrences_per_call(self, ops: OpTable, row: I64, calls: F64) -> F64:
        """Calls of work rows such that those of an op add up to its occurrences."""
        events = np.bincount(row[row >= 0], calls[row >= 0], len(ops))
        occurrences = np.append(ops.occurrences, 0)[row]
        per_event: F64 = occurrences / np.maximum(np.append(events, 1)[row], _LEAST_CALLS)
        return calls * per_event

    def _transfers(self, whole: Transfers) -> Transfers:
        """Transfers that ran in the range: their shares of bytes and times, at their own rates."""
        rows = self._row_of_op(len(self.calls))
        calls = np.append(self.calls, 0)
        own = np.append(self.own, 0)
        kept = np.flatnonzero(rows[whole.op] >= 0)
        new = np.full(len(whole), -1)
        new[kept] = np.arange(len(kept))
        seen = whole.occurrences
        mine = np.flatnonzero(new[seen.transfer] >= 0)
        op = whole.op[seen.transfer[mine]]
        waits = np.where(whole.done >= 0, whole.done, whole.op)[seen.transfer[mine]]
        share, least_ps = calls[op], whole.least_ps
        return Transfers(
            op=rows[whole.op[kept]],
            done=rows[whole.done[kept]],
            kind=tuple(whole.kind[row] for row in kept.tolist()),
            link=tuple(whole.link[row] for row in kept.tolist()),
            group_size=whole.group_size[kept],
            unpaired=whole.unpaired[kept],
            occurrences=replace(
                seen,
                transfer=new[seen.transfer[mine]],
                core=seen.core[mine],
                count=seen.count[mine] * share,
                wire_bytes=seen.wire_bytes[mine] * share,
                payload_bytes=seen.payload_bytes[mine] * share,
                interval_ps=seen.interval_ps[mine] * share,
                wait_ps=seen.wait_ps[mine] * share,
                exposed_ps=seen.exposed_ps[mine] * own[waits],
            ),
            least_ps=None if least_ps is None else least_ps[kept] * calls[whole.op[kept]],
        )

    # ------------------------------------------------------------------------------------- steps

    def _steps(self, whole: Profile, timeline: Timeline) -> Bools:
        """The steps that lie in the range as a whole; none where they cannot be placed in it."""
        bins, count = self.bins, len(whole.steps)
        if len(bins.step_begin_ps) != count or timeline.steps != count:
            return np.zeros(count, np.bool_)
        begin, end = bins.edges_ps[self.first], bins.edges_ps[self.last]
        return np.asarray((bins.step_begin_ps >= begin) & (bins.step_end_ps <= end))


def _of_range(begin_ps: int, end_ps: int, last_ps: int) -> Diagnostic:
    first, last, whole = (f"{ps / PS_PER_MS:.6g}" for ps in (begin_ps, end_ps, last_ps))
    return noted(_NOTES, "time-range", first=first, last=last, whole=whole)


def _chosen_steps(steps: StepTable, kept: Bools) -> StepTable:
    rows = np.flatnonzero(kept)
    return StepTable(
        label=tuple(steps.label[row] for row in rows.tolist()),
        begin_ps=steps.begin_ps[rows],
        end_ps=steps.end_ps[rows],
        duration_ps=steps.duration_ps[rows],
        time_ps=steps.time_ps[rows],
        sums=steps.sums.select(rows),
    )


def _each(values: Any, change: Callable[[Any], Any]) -> Any:
    """`change` of a column, or of each of the columns that it is split into."""
    return {k: change(v) for k, v in values.items()} if isinstance(values, dict) else change(values)
