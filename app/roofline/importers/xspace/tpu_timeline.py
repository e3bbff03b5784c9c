"""Where the time of TPU cores went: roles of ops, gaps between them, transfers.

On a TPU core one innermost op exists at every instant, so an op's own time is its share, and what
no op covers is a gap. All times are on the device's clock.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from roofline.importers.shared.events import Stretches
from roofline.importers.shared.launch_times import LaunchPieces, joined_launches
from roofline.importers.shared.sweep import Windows, split_gaps
from roofline.importers.shared.time_bins import (
    COMMUNICATES,
    CONTAINS,
    COPIES,
    DOES_WORK,
    FEEDS,
    CoreSums,
    bins_of,
    time_up_to,
)
from roofline.importers.xspace import spans
from roofline.importers.xspace.line_bins import SUMS, LineBins, common_edges
from roofline.importers.xspace.nested_sums import RowSums, Walk
from roofline.importers.xspace.tpu_transfers import (
    Occurrences,
    Part,
    Role,
    no_occurrences,
    pair_halves,
)
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import F64, I32, I64, U64, Bools
from roofline.model.time_bins import TimeBins
from roofline.model.timeline import (
    LAUNCH_GAP_PS,
    WHOLE_CAPTURE,
    CoreTimes,
    LaunchTimes,
    Timeline,
    TransferOccurrences,
    Transfers,
    WorkTimes,
)

RowOf = Callable[..., int]


class CoreCollector:
    """Takes a core's op events piece by piece: the gaps between them, and halves of transfers.

    Gaps are summed up as far as each of `edges`, the begins and ends of steps in order, so that
    the time between any two of them is a difference. Only gaps that are idle time are kept.
    """

    def __init__(self, parts: Sequence[Part], edges: I64, bins: LineBins) -> None:
        self.parts, self._edges, self.bins = tuple(parts), edges, bins
        self.roles = np.array([part.role for part in parts], np.int64)
        self.is_half = np.array([*(bool(part.half) for part in parts), False], np.bool_)
        self._gaps = spans.Gaps()
        self._short = np.zeros(len(edges) + 1)  # up to each edge, and in all
        self._long: list[tuple[I64, I64]] = []
        self._first_begin, self._span = -1, (0, 0)
        self._ends = (edges[:0], edges[:0])  # launch gaps before the first and after the last event
        self._between = 0.0  # launch gaps between events
        self._events: list[tuple[I64, I64, I64]] = []
        self._launches = LaunchPieces()
        self.is_out_of_order = False

    def anew(self) -> "CoreCollector":
        """A collector of the same core that has seen nothing."""
        return CoreCollector(self.parts, self._edges, self.bins.anew())

    def follow(
        self, begin_ps: U64, end_ps: U64, meta: I32, walk: Callable[[I64, F64], None]
    ) -> None:
        """Go on with the next events of the line; on the device's clock they may be unordered.

        `walk` nests them, and writes the sums up to each of the edges that it is given.
        """
        edges = self.bins.coming(int(begin_ps[0]), int(begin_ps[-1]))
        walk(edges, self.bins.room(len(edges)))
        self._take(begin_ps, end_ps, meta, edges)

    def end_bins(self, walk: Walk) -> None:
        """The line has no more events; `walk` has nested them all, and is ended here."""
        reached = max(self._gaps.reached, 0)
        edges = self.bins.coming(reached, reached)
        walk.mark(edges.view(np.uint64), self.bins.room(len(edges)))
        self.bins.put(edges, np.full(len(edges), self._short[-1]))
        walk.end_line()
        self.bins.end(walk.sums())

    def _take(self, begin_ps: U64, end_ps: U64, meta: I32, bin_edges: I64) -> None:
        begin, end = begin_ps.view(np.int64), end_ps.view(np.int64)
        gaps = self._gaps.find(begin, end)
        if gaps is None:
            self.is_out_of_order = True
            return
        if self._first_begin < 0 and (end > begin).any():
            self._first_begin = int(begin[end > begin][0])
        self._add(*gaps, bin_edges)
        self._launches.add(meta, (end - begin).astype(np.float64))
        chosen = self.is_half[meta]
        if chosen.any():
            self._events.append((begin[chosen], end[chosen], meta[chosen].astype(np.int64)))

    def end_line(self, first_ps: int, last_ps: int) -> None:
        """The line has ended; the core's time is from `first_ps` to `last_ps`."""
        reached, self._span = self._gaps.reached, (first_ps, last_ps)
        begin = np.array([first_ps, reached if reached >= 0 else first_ps])
        end = np.array([self._first_begin if reached >= 0 else first_ps, last_ps])
        real = end > begin
        self._ends, _ = split_gaps((begin[real], end[real]), LAUNCH_GAP_PS)
        self._between = float(self._short[-1])
        self._add(begin[real], end[real], np.zeros(0, np.int64))

    def _add(self, begin: I64, end: I64, bin_edges: I64) -> None:
        (short, long) = split_gaps((begin, end), LAUNCH_GAP_PS)
        sums = time_up_to(*short, np.append(self._edges, bin_edges))
        self.bins.put(bin_edges, self._short[-1] + sums[len(self._edges) : -1])
        self._short += np.append(sums[: len(self._edges)], sums[-1])
        if len(long[0]):
            self._long.append(long)

    def between(self, first: I64, last: I64) -> tuple[F64, F64]:
        """Launch gaps and idle time of the windows between edges `first` and `last`."""
        idle = self._idle()
        at_first, at_last = (np.searchsorted(self._edges, edge) for edge in (first, last))
        return self._short[at_last] - self._short[at_first], idle[at_last] - idle[at_first]

    def idle(self) -> Stretches:
        """The idle stretches of the whole line."""
        none = np.zeros(0, np.int64)
        begin, end = (
            np.concatenate(column) for column in zip((none, none), *self._long, strict=True)
        )
        order = np.argsort(begin, kind="stable")
        # A damaged capture may begin after the last time that a signed number has.
        first = min(self._span[0], int(np.iinfo(np.int64).max))
        return Stretches(begin[order], end[order], first)

    def totals(self) -> tuple[float, float]:
        """Launch gaps and idle time of the whole line."""
        return float(self._short[-1]), float(self._idle()[-1])

    @property
    def span(self) -> tuple[int, int]:
        """Begin and end of the core's time."""
        return self._span

    def sums_at(self, edges: I64) -> tuple[F64, F64, F64]:
        """Sums of rows, launch gaps and idle time up to each edge."""
        sums, launch_ps = self.bins.at(edges, self._between)
        idle = self.idle()
        return (
            sums,
            launch_ps + time_up_to(*self._ends, edges)[:-1],
            time_up_to(idle.begin, idle.end, edges)[:-1],
        )

    def _idle(self) -> F64:
        total = np.zeros(len(self._edges) + 1)
        for begin, end in self._long:
            total += time_up_to(begin, end, self._edges)
        return total

    def launches(self, op_of_meta: I64) -> LaunchTimes:
        """How long the events of each op took."""
        found = self._launches.all()
        return joined_launches([replace(found, op=op_of_meta[found.op])])

    def transfers(self, program_ids: Mapping[int, int]) -> Occurrences:
        """The core's pairs of halves."""
        if not self._events:
            return no_occurrences()
        begin, end, meta = (np.concatenate(column) for column in zip(*self._events, strict=True))
        order = np.lexsort((end, begin))
        return pair_halves(self.parts, program_ids, begin[order], end[order], meta[order])


class CoreShare(NamedTuple):
    """One core's part of the timeline: its sums per op over the capture and per step.

    `op_of_row` and `op_of_step_row` are rows of the op table, `meta_of_row` and `meta_of_step_row`
    index `parts`, which say what an op's own time is, `key_of_row` is the row in sums of bins.
    `windows` are the steps on the device's clock, `step_of_row` the step of each step row.
    """

    name: str
    range_ps: int
    rows: RowSums
    key_of_row: I64
    op_of_row: I64
    meta_of_row: I64
    step_rows: RowSums
    op_of_step_row: I64
    meta_of_step_row: I64
    step_of_row: I64
    windows: Windows
    collector: CoreCollector
    occurrences: Occurrences
    launches: LaunchTimes
    parts: Sequence[Part]
    op_of_meta: Callable[[int], int]


@dataclass(slots=True)
class _Builder:
    """Columns of core times and work, filled row by row of (core, scope)."""

    rows: list[tuple[int, int, Mapping[str, float], Mapping[MemoryLevel | None, float]]] = field(
        default_factory=list
    )
    work: list[tuple[I64, I64, I64, F64, F64, Bools]] = field(default_factory=list)
    start_idle_ps: list[F64] = field(default_factory=list)

    def add(
        self,
        core: int,
        scope: int,
        own_ps: F64,
        collector: CoreCollector,
        meta: I64,
        op: I64,
        calls: F64,
        gaps_ps: tuple[float, float],
        busy_ps: float,
    ) -> None:
        """One scope of one core: own time per op, launch gaps and idle time, and busy time.

        Busy time that belongs to no op (events whose metadata name none) is work of unknown cost.
        """
        nameless = max(busy_ps - float(own_ps.sum()), 0.0)
        roles = np.append(collector.roles[meta], Role.CONTAINER)
        own_ps, op, calls = np.append(own_ps, nameless), np.append(op, -1), np.append(calls, 0.0)
        exposed: dict[MemoryLevel | None, float] = {}
        for row in np.flatnonzero(roles == Role.COMMUNICATION).tolist():
            link = collector.parts[meta[row]].link
            exposed[link] = exposed.get(link, 0.0) + float(own_ps[row])
        times = {
            "infeed_outfeed_ps": float(own_ps[roles == Role.INFEED_OUTFEED].sum()),
            "host_ps": float(own_ps[roles == Role.HOST_TRANSFER].sum()),
            "launch_gaps_ps": gaps_ps[0],
            "idle_ps": gaps_ps[1],
            "total_ps": float(own_ps.sum()) + sum(gaps_ps),
        }
        self.rows.append((core, scope, times, exposed))
        is_work = ((roles == Role.WORK) | (roles == Role.CONTAINER)) & (own_ps > 0)
        n = int(is_work.sum())
        self.work.append(
            (
                np.full(n, core),
                np.full(n, scope),
                op[is_work],
                own_ps[is_work],
                calls[is_work],
                roles[is_work] == Role.WORK,
            )
        )

    def core_times(self) -> CoreTimes:
        """The rows as columns."""
        links = {link: None for *_, exposed in self.rows for link in exposed}
        names = ("infeed_outfeed_ps", "host_ps", "launch_gaps_ps", "idle_ps", "total_ps")
        return CoreTimes(
            core=np.array([row[0] for row in self.rows], np.int64),
            scope=np.array([row[1] for row in self.rows], np.int64),
            exposed_ps={
                link: np.array([row[3].get(link, 0.0) for row in self.rows]) for link in links
            },
            host_wait_ps=np.zeros(len(self.rows)),  # launches are not in the file
            start_idle_ps=np.concatenate(self.start_idle_ps),
            **{name: np.array([row[2][name] for row in self.rows]) for name in names},
        )

    def work_times(self) -> WorkTimes:
        """The work of all scopes."""
        core, scope, op, time_ps, calls, is_work = (
            np.concatenate(column) for column in zip(*self.work, strict=True)
        )
        return WorkTimes(
            core=core, scope=scope, op=op, time_ps=time_ps, calls=calls, is_work=is_work
        )


def timeline_of(shares: Sequence[CoreShare], n_steps: int) -> Timeline | None:
    """The timeline of a host's cores; `None` without any."""
    if not shares:
        return None
    builder = _Builder()
    for core, share in enumerate(shares):
        _add_capture(builder, core, share)
        _add_steps(builder, core, share, n_steps)
        builder.start_idle_ps.append(_start_idle_ps(share, n_steps))
    return Timeline(
        cores=tuple(share.name for share in shares),
        steps=n_steps,
        times=builder.core_times(),
        work=builder.work_times(),
        transfers=_transfers(shares),
        bins=_bins(shares),
        launches=joined_launches([share.launches for share in shares]),
    )


_TIME_KINDS = {
    Role.WORK: DOES_WORK,
    Role.CONTAINER: CONTAINS,
    Role.INFEED_OUTFEED: FEEDS,
    Role.COMMUNICATION: COMMUNICATES,
    Role.HOST_TRANSFER: COPIES,
}


def _bins(shares: Sequence[CoreShare]) -> TimeBins | None:
    """The bins of all cores; `None` where the events of one are out of order."""
    collectors = [share.collector for share in shares]
    if any(collector.bins.is_broken for collector in collectors):
        return None
    first, last = (
        min(collector.span[0] for collector in collectors),
        max(collector.span[1] for collector in collectors),
    )
    if last <= first:
        return None
    edges = common_edges([collector.bins for collector in collectors], first, last)
    return bins_of(edges, [_sums_at(share, edges) for share in shares], shares[0].windows)


def _sums_at(share: CoreShare, edges: I64) -> CoreSums:
    """A core's sums; its last row is busy time that belongs to no op."""
    collector, meta = share.collector, share.meta_of_row
    sums, launch_ps, idle_ps = collector.sums_at(edges)
    time, own, calls = (sums[:, plane][:, share.key_of_row] for plane in range(SUMS))
    passed = np.clip(edges, *collector.span) - collector.span[0]
    nameless = np.maximum(passed - launch_ps - idle_ps - own.sum(1), 0)
    none = np.zeros((len(edges), 1))
    kinds = [_TIME_KINDS[Role(role)] for role in collector.roles[meta].tolist()]
    return CoreSums(
        op=np.append(share.op_of_row, -1),
        kind=np.array([*kinds, CONTAINS], np.int64),
        link=[*(share.parts[at].link for at in meta.tolist()), None],
        time_ps=np.append(time, none, axis=1),
        own_ps=np.append(own, nameless[:, None], axis=1),
        calls=np.append(calls, none, axis=1),
        launch_gaps_ps=launch_ps,
        idle_ps=idle_ps,
        host_wait_ps=np.zeros(len(edges)),
    )


def _add_capture(builder: _Builder, core: int, share: CoreShare) -> None:
    own = share.rows.self_time_ps.astype(np.float64)
    calls = share.rows.occurrences.astype(np.float64)
    gaps_ps = share.collector.totals()
    busy_ps = share.range_ps - sum(gaps_ps)
    meta, op = share.meta_of_row, share.op_of_row
    builder.add(core, WHOLE_CAPTURE, own, share.collector, meta, op, calls, gaps_ps, busy_ps)


def _add_steps(builder: _Builder, core: int, share: CoreShare, n_steps: int) -> None:
    windows, rows = share.windows, share.step_rows
    launch, idle = share.collector.between(windows.begin, windows.end)
    busy = (windows.end - windows.begin) - launch - idle
    for step in range(n_steps):
        mine = np.flatnonzero(share.step_of_row == step)
        builder.add(
            core,
            step,
            rows.self_time_ps[mine].astype(np.float64),
            share.collector,
            share.meta_of_step_row[mine],
            share.op_of_step_row[mine],
            rows.occurrences[mine].astype(np.float64),
            (float(launch[step]), float(idle[step])),
            float(busy[step]),
        )


def _start_idle_ps(share: CoreShare, n_steps: int) -> F64:
    """The idle time at a core's mostly idle start; 0 in each step."""
    start, _ = share.collector.idle().start(share.range_ps - share.collector.totals()[1])
    return np.append(float(start), np.zeros(n_steps))


def _transfers(shares: Sequence[CoreShare]) -> Transfers:
    """All cores' occurrences, by the ops of their halves."""
    kinds: dict[tuple[int, int, bool], tuple[int, Part]] = {}
    occurrences = [_numbered(share, core, kinds) for core, share in enumerate(shares)]
    parts = [part for _, part in kinds.values()]
    return Transfers(
        op=np.array([op for op, _, _ in kinds], np.int64),
        done=np.array([done for _, done, _ in kinds], np.int64),
        kind=tuple(part.kind for part in parts),
        link=tuple(part.link for part in parts),
        group_size=np.array([part.group_size for part in parts], np.int64),
        unpaired=np.array([not paired for _, _, paired in kinds], np.bool_),
        occurrences=TransferOccurrences.joined(occurrences),
    )


def _numbered(
    share: CoreShare, core: int, kinds: dict[tuple[int, int, bool], tuple[int, Part]]
) -> TransferOccurrences:
    """One core's transfers, each with the row of its kind; new kinds get the next rows."""

    def row_of(op: int, done: int, *, paired: bool, part: Part) -> int:
        return kinds.setdefault((op, done, paired), (len(kinds), part))[0]

    return TransferOccurrences.joined(
        [_synchronous(share, core, row_of), _pairs_of(share, core, row_of)]
    )


def _synchronous(share: CoreShare, core: int, row_of: RowOf) -> TransferOccurrences:
    """Transfers of one op each: all occurrences of an op are one row."""
    meta, collector = share.meta_of_row, share.collector
    moves = np.isin(collector.roles[meta], [Role.COMMUNICATION, Role.HOST_TRANSFER])
    at = np.flatnonzero(moves & ~collector.is_half[meta])
    parts = [share.parts[k] for k in meta[at].tolist()]
    ops = share.op_of_row[at].tolist()
    count = share.rows.occurrences[at].astype(np.float64)
    return TransferOccurrences(
        transfer=np.array(
            [row_of(op, -1, paired=True, part=part) for op, part in zip(ops, parts, strict=True)],
            np.int64,
        ),
        core=np.full(len(at), core),
        count=count,
        wire_bytes=np.array([part.wire_bytes for part in parts], np.float64) * count,
        payload_bytes=np.array([part.payload_bytes for part in parts], np.float64) * count,
        interval_ps=share.rows.time_ps[at].astype(np.float64),
        wait_ps=np.full(len(at), np.nan),
        exposed_ps=share.rows.self_time_ps[at].astype(np.float64),
    )


def _pairs_of(share: CoreShare, core: int, row_of: RowOf) -> TransferOccurrences:
    """Asynchronous transfers: each occurrence is a row, for each has its own wait."""
    seen = share.occurrences
    width = len(share.parts) + 1
    keys = ((seen.start_meta + 1) * width + seen.done_meta + 1) * 2 + seen.is_paired
    unique, at = np.unique(keys, return_inverse=True)
    number, wire, payload = [], [], []
    for key in unique.tolist():
        (start, done), paired = (k - 1 for k in divmod(key // 2, width)), bool(key % 2)
        part = share.parts[start if start >= 0 else done]
        op = share.op_of_meta(start if start >= 0 else done)
        done_op = share.op_of_meta(done) if start >= 0 and done >= 0 else -1
        number.append(row_of(op, done_op, paired=paired, part=part))
        wire.append(part.wire_bytes if paired else np.nan)
        payload.append(part.payload_bytes)
    return TransferOccurrences(
        transfer=np.array(number, np.int64)[at],
        core=np.full(len(seen), core),
        count=np.ones(len(seen)),
        wire_bytes=np.array(wire, np.float64)[at],
        payload_bytes=np.array(payload, np.float64)[at],
        interval_ps=seen.interval_ps,
        wait_ps=seen.wait_ps,
        exposed_ps=seen.exposed_ps,
    )
