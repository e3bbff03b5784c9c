"""One host without an accelerator: ops and steps of a program that ran on its CPU (XLA:CPU).

XProf shows nothing for such a capture. An op counts the time in which any thread works for it,
once, however many do. Costs come from the compiled programs; there are no peaks. Other captures
without an accelerator have no ops, and a reason why.

Ops of XLA:CPU on the threads of a host: their events, the pool tasks they start, and self time.

An op's event covers the thread that runs it. An op that splits its work records tasks for the
thread pool (`ThreadpoolListener::Record`), which other threads run between `StartRegion` and
`StopRegion`; a task may go on to run other ops, and its part of the op ends there.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from roofline.importers.shared.launch_times import launches_of, renumbered
from roofline.importers.shared.launches import no_steps
from roofline.importers.shared.op_tables import OpLabels, OpRows, OpTableBuilder
from roofline.importers.shared.sweep import reached, uncovered, union_length
from roofline.importers.xspace import spans
from roofline.importers.xspace.event_scan import Events, StatColumn
from roofline.importers.xspace.grouping import StepRoots, add_step_work, group_events, step_labels
from roofline.importers.xspace.hlo.cost import NO_COST, OpCost
from roofline.importers.xspace.hlo.ops import (
    VECTOR_UNITS,
    Programs,
    plain_labels,
    split_by_unit,
    unit_on_cpu,
)
from roofline.importers.xspace.messages import Line
from roofline.importers.xspace.oddities import Oddities
from roofline.importers.xspace.planes import HOST_CPU, Plane, Space
from roofline.importers.xspace.texts import TextNumbers
from roofline.model.device import DeviceKind, DeviceTraits, ReportedDevice
from roofline.model.memory import MemoryLevel
from roofline.model.notes import counted, noted, notes_beside
from roofline.model.op_columns import I64, U64, Bools, OpColumns
from roofline.model.plain_data import Aligned
from roofline.model.profile import Diagnostic, Host, Profile, StepTable
from roofline.model.timeline import LaunchTimes

_NOTES = notes_beside(__file__)

Number = TypeVar("Number", bound=np.generic)

_STATS = ("hlo_op", "program_id", "run_id", "_p", "_c")
_RECORD, _START, _STOP = (
    f"ThreadpoolListener::{k}" for k in ("Record", "StartRegion", "StopRegion")
)
_RESUMED = "ThunkExecutor::Execute"
_END = "end: "
_LAUNCH = "Executable::ExecuteHelper"  # in the names of PjRt's and of TFRT's launches


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OpEvents(Aligned):
    """Op events of all threads, one entry each. `text` numbers the instruction's name.

    `self_ps` is the time outside op events nested in it, on its own thread.
    """

    text: I64
    program_id: U64
    run_id: U64
    thread: I64
    begin_ps: U64
    end_ps: U64
    self_ps: U64


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tasks:
    """Parts of ops that other threads ran: `event` indexes the op's own event."""

    event: I64
    thread: I64
    begin_ps: U64
    end_ps: U64


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Thread:
    """One line: its op events, the pool tasks that they recorded (`record_op`), and its regions."""

    ops: OpEvents
    record_id: U64
    record_op: I64
    region_id: U64
    region_begin: U64
    region_end: U64
    launch_ps: U64


def read_threads(plane: Plane) -> tuple[OpEvents, Tasks, tuple[str, ...], U64]:
    """All op events of a host plane, the tasks they started, the texts that `text` numbers, and
    when programs were launched."""
    texts = TextNumbers(plane)
    lines = [line for line in plane.lines if line.event_count]
    threads = [_read_thread(plane, line, k, texts) for k, line in enumerate(lines)]
    ops = OpEvents(
        text=_join(threads, lambda t: t.ops.text, np.int64),
        program_id=_join(threads, lambda t: t.ops.program_id, np.uint64),
        run_id=_join(threads, lambda t: t.ops.run_id, np.uint64),
        thread=_join(threads, lambda t: t.ops.thread, np.int64),
        begin_ps=_join(threads, lambda t: t.ops.begin_ps, np.uint64),
        end_ps=_join(threads, lambda t: t.ops.end_ps, np.uint64),
        self_ps=_join(threads, lambda t: t.ops.self_ps, np.uint64),
    )
    launch_ps = np.sort(_join(threads, lambda t: t.launch_ps, np.uint64))
    return ops, _tasks(threads), tuple(texts.texts), launch_ps


def _join(
    threads: list[_Thread], column: Callable[[_Thread], NDArray[Number]], kind: type[Number]
) -> NDArray[Number]:
    return np.concatenate([np.zeros(0, kind), *(column(thread) for thread in threads)])


def _tasks(threads: list[_Thread]) -> Tasks:
    """Regions joined with the records of the same id."""
    first = np.cumsum([0, *(len(thread.ops) for thread in threads)])
    wanted = _join(threads, lambda t: t.record_id, np.uint64)
    owner = np.concatenate(
        [np.zeros(0, np.int64), *(t.record_op + f for t, f in zip(threads, first, strict=False))]
    )
    region = _join(threads, lambda t: t.region_id, np.uint64)
    order = np.argsort(wanted, kind="stable")
    at = np.searchsorted(wanted[order], region)
    at = np.minimum(at, max(0, len(wanted) - 1))
    has_record = wanted[order][at] == region if len(wanted) else np.zeros(len(region), np.bool_)
    number = np.repeat(np.arange(len(threads)), [len(t.region_id) for t in threads])
    return Tasks(
        event=owner[order][at[has_record]] if len(wanted) else np.zeros(0, np.int64),
        thread=number[has_record],
        begin_ps=_join(threads, lambda t: t.region_begin, np.uint64)[has_record],
        end_ps=_join(threads, lambda t: t.region_end, np.uint64)[has_record],
    )


def _read_thread(plane: Plane, line: Line, number: int, texts: TextNumbers) -> _Thread:
    events = plane.scan(line, _STATS)
    names = np.array([*plane.event_names, ""], dtype=object)[events.meta]
    text = texts.number(events.stats.get("hlo_op"), len(events))
    ends = np.array([name.startswith(_END) for name in names.tolist()], np.bool_)
    text = np.where(ends, -1, text)
    order = np.lexsort((~events.duration_ps, events.begin_ps))
    is_op, is_record = text[order] >= 0, names[order] == _RECORD
    resumes = is_op | ends[order] | (names[order] == _RESUMED)
    ops = _thread_ops(events, text, order[is_op], number)
    record_id, record_op = _records(events, order, is_op, is_record)
    region_id, begin, end = _regions(events, order, names[order], resumes)
    return _Thread(
        ops=ops,
        record_id=record_id,
        record_op=record_op,
        region_id=region_id,
        region_begin=begin,
        region_end=end,
        launch_ps=events.begin_ps[np.array([_LAUNCH in name for name in names.tolist()], np.bool_)],
    )


def _thread_ops(events: Events, text: I64, rows: I64, thread: int) -> OpEvents:
    begin, end = events.begin_ps[rows], events.end_ps[rows]
    parent = spans.parents(begin, end, np.zeros(len(rows), np.bool_))
    inner = np.zeros(len(rows), np.uint64)
    nested = parent >= 0
    np.add.at(inner, parent[nested], (end - begin)[nested])
    return OpEvents(
        text=text[rows],
        program_id=_integers(events.stats.get("program_id"), rows),
        run_id=_integers(events.stats.get("run_id"), rows),
        thread=np.full(len(rows), thread, np.int64),
        begin_ps=begin,
        end_ps=end,
        self_ps=np.where(inner < end - begin, end - begin - inner, np.uint64(0)),
    )


def _integers(column: StatColumn | None, rows: I64) -> U64:
    return np.zeros(len(rows), np.uint64) if column is None else column.int_or_uint()[rows]


def _records(events: Events, order: I64, is_op: Bools, is_record: Bools) -> tuple[U64, I64]:
    """Ids of tasks recorded inside an op event, and that op's number among the line's ops."""
    relevant = np.flatnonzero(is_op | is_record)
    rows = order[relevant]
    parent = spans.parents(
        events.begin_ps[rows], events.end_ps[rows], np.zeros(len(relevant), np.bool_)
    )
    op_number = np.where(is_op[relevant], np.cumsum(is_op[relevant]) - 1, -1)
    owner = parent.copy()
    while True:  # past records at the same instant, which "include" each other
        above = (owner >= 0) & ~is_op[relevant][owner]
        if not above.any():
            break
        owner[above] = parent[owner[above]]
    inside = is_record[relevant] & (owner >= 0)
    ids = _integers(events.stats.get("_p"), rows[inside])
    return ids, op_number[owner[inside]]


def _regions(
    events: Events, order: I64, names: NDArray[np.object_], resumes: Bools
) -> tuple[U64, U64, U64]:
    """Id, begin and end of each region, cut where its thread goes on with other ops."""
    starts = np.flatnonzero(names == _START)
    breaks = np.flatnonzero((names == _STOP) | (names == _START) | resumes)
    at = np.searchsorted(breaks, starts, side="right")
    closed = at < len(breaks)
    starts, at = starts[closed], at[closed]
    begin = events.begin_ps[order[starts]]
    end = events.begin_ps[order[breaks[at]]]
    return _integers(events.stats.get("_c"), order[starts]), begin, np.maximum(begin, end)


_LEVELS = (MemoryLevel.DRAM,)


def has_cpu_ops(space: Space) -> bool:
    """True if events of the host's threads name HLO instructions."""
    plane = space.named(HOST_CPU)
    return plane is not None and plane.has_stat("hlo_op")


def read_cpu_host(space: Space) -> Profile:
    """The profile of one host whose program ran on its CPU."""
    at = next(k for k, plane in enumerate(space.planes) if plane.name == HOST_CPU)
    programs = Programs(space, unit_on_cpu, Oddities(on=False))
    work = _Work.read(space, at, programs)
    roots = group_events(space, [at]).roots
    builder = OpTableBuilder(_LEVELS)
    builder.add(work.labels, work.rows(np.zeros(len(work.events), np.int64))[1])
    steps = _steps(work, roots)
    ops = builder.build()
    # Steps are on the same clock, and as on accelerators what the core waits in them counts.
    span = _range_ps(np.append(work.begin_ps, steps.begin_ps), np.append(work.end_ps, steps.end_ps))
    return Profile(
        device=ReportedDevice(
            kind=DeviceKind.CPU,
            name="CPU",
            core_count=1,
            traits=DeviceTraits(hostname=space.hostname),
        ),
        hosts=(Host(file_name=space.file_name, hostname=space.hostname, core_count=1),),
        ops=ops,
        time_ps=span,
        op_time_ps=work.busy_ps(),
        normalised_op_time_ps=work.busy_ps(),
        wall_time_ps=span or None,
        steps=steps,
        launch_times=renumbered(work.launches(), builder.numbers(work.labels)),
        has_average=True,
        captured_at_ns=space.captured_at_ns,
        program_names={k: name for k in set(ops.program_id.tolist()) if (name := programs.name(k))},
        diagnostics=tuple(_diagnostics(work, steps, programs)),
    )


def _range_ps(begin_ps: U64, end_ps: U64) -> int:
    return int(end_ps.max()) - int(begin_ps.min()) if len(begin_ps) else 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Work:
    """Op events, and what worked for them: `begin_ps`, `end_ps` and `thread` per span, of the event
    `owner`. Spans are the events themselves, then their tasks on other threads. `op` is per event.
    """

    labels: Sequence[OpLabels]
    costs: Sequence[OpCost]
    events: OpEvents
    op: I64
    owner: I64
    thread: I64
    begin_ps: U64
    end_ps: U64
    launch_ps: U64

    @staticmethod
    def read(space: Space, at: int, programs: Programs) -> "_Work":
        events, tasks, texts, launch_ps = read_threads(space.planes[at])
        op, labels, costs = _ops(events, texts, programs)
        # The spans are the events themselves, then their tasks on other threads.
        owner = np.concatenate([np.arange(len(events)), tasks.event])
        thread = np.concatenate([events.thread, tasks.thread])
        return _Work(
            labels=_with_threads(labels, op, owner, thread),
            costs=costs,
            events=events,
            op=op,
            owner=owner,
            thread=thread,
            begin_ps=np.concatenate([events.begin_ps, tasks.begin_ps]),
            end_ps=np.concatenate([events.end_ps, tasks.end_ps]),
            launch_ps=launch_ps,
        )

    def busy_ps(self) -> int:
        """Time in which any thread worked for an op."""
        return union_length(self.begin_ps, self.end_ps - self.begin_ps)

    def launches(self) -> LaunchTimes:
        """How long each occurrence of each op took, by its label."""
        is_first, number = self._occurrences(self.op)
        took = self._covered(self.op, number[self.owner], int(is_first.sum()))
        op = np.empty(len(took), np.int64)
        op[number] = self.op
        return launches_of(op, took.astype(np.float64))

    def _occurrences(self, key: I64) -> tuple[Bools, I64]:
        """Whether each event begins an occurrence, and the number of its own: events of one key
        that overlap are one, run by several threads."""
        begin = self.events.begin_ps
        is_first, order = begin >= reached(key, begin, self.events.end_ps), np.lexsort((begin, key))
        number = np.empty(len(key), np.int64)
        number[order] = np.cumsum(is_first[order]) - 1
        return is_first, number

    def _covered(self, key: I64, place: I64, count: int) -> U64:
        """How long any thread worked at each of `count` places, which spans have; `key` is that of
        their events."""
        return _sums(place, uncovered(key[self.owner], self.begin_ps, self.end_ps), count)

    def rows(self, scope: I64) -> tuple[I64, OpRows]:
        """Sums per scope (of each event, -1: none) and op; the scope of each row."""
        width = max(1, len(self.labels))
        pair = np.where(scope >= 0, scope * width + self.op, -1)
        every, key = np.unique(pair, return_inverse=True)
        events, count, kept = self.events, len(every), every >= 0
        inner = events.end_ps - events.begin_ps - events.self_ps
        occurrences = np.bincount(key[self._occurrences(key)[0]], minlength=count)[kept]
        time_ps = self._covered(key, key[self.owner], count)[kept]
        inner_ps = _sums(key, inner, count)[kept]
        keys = every[kept]
        label = keys % width
        costs = [self.costs[k] for k in label.tolist()]

        def total(values: list[int]) -> U64:
            return np.array(values, np.uint64) * occurrences.astype(np.uint64)

        flop = total([cost.model_flop for cost in costs])
        hbm = [cost.hbm_bytes for cost in costs]
        return keys // width, OpRows(
            label=label,
            occurrences=occurrences,
            time_ps=time_ps,
            self_time_ps=time_ps - np.minimum(inner_ps, time_ps),
            flop=flop,
            bytes_accessed=total([cost.bytes_accessed for cost in costs]),
            traffic_bytes={MemoryLevel.DRAM: total([count or 0 for count in hbm])},
            traffic_known=np.array([count is not None for count in hbm], np.bool_),
            cost_known=np.array([cost.known for cost in costs], np.bool_),
            unit_flop=split_by_unit([cost.unit for cost in costs], flop),
        )


def _sums(place: I64, values: U64, count: int) -> U64:
    found = np.zeros(count, np.uint64)
    np.add.at(found, place, values)
    return found


def _ops(
    events: OpEvents, texts: Sequence[str], programs: Programs
) -> tuple[I64, list[OpLabels], list[OpCost]]:
    """Number of each event's op, and the ops."""
    ids, dense = np.unique(events.program_id, return_inverse=True)
    width = max(1, len(ids))
    pairs, op = np.unique(events.text * width + dense, return_inverse=True)
    labels, costs = [], []
    for pair in pairs.tolist():
        name = texts[pair // width].rpartition("::")[2]
        op_of_program = programs.op(int(ids[pair % width]), name)
        labels.append(plain_labels(name, "") if op_of_program is None else op_of_program.labels)
        costs.append(NO_COST if op_of_program is None else op_of_program.cost)
    return op.astype(np.int64), labels, costs


def _with_threads(labels: Sequence[OpLabels], op: I64, owner: I64, thread: I64) -> list[OpLabels]:
    """Labels whose long name says how many threads worked at most for one run of the op."""
    most = _threads_per_op(len(labels), op, owner, thread)
    return [
        replace(label, long_name=f"{label.long_name} (on up to {count} threads)".strip())
        if count > 1
        else label
        for label, count in zip(labels, most.tolist(), strict=True)
    ]


def _threads_per_op(n_ops: int, op: I64, owner: I64, thread: I64) -> I64:
    most = np.zeros(n_ops, np.int64)
    if not len(owner):
        return most
    pairs = np.unique(owner * (int(thread.max()) + 1) + thread)
    event, count = np.unique(pairs // (int(thread.max()) + 1), return_counts=True)
    np.maximum.at(most, op[event], count)
    return most


# -------------------------------------------------------------------------------------------- steps


def _steps(work: _Work, roots: StepRoots) -> StepTable:
    """A step per annotation that launched an op, or in which one began; annotations are on the
    host's own clock.

    Where a program launches ahead, its work ends behind the annotation: a step then lasts from its
    first op to that of the next step, as on an accelerator.
    """
    group = _groups(work, roots)
    groups = np.unique(group[group >= 0])
    scope = np.where(group >= 0, np.searchsorted(groups, group), -1)
    begin, end = roots.begin_ps[groups], roots.end_ps[groups]
    of_span = scope[work.owner]
    last = np.zeros(len(groups), np.uint64)
    np.maximum.at(last, of_span[of_span >= 0], work.end_ps[of_span >= 0])
    if (last > end).any():
        begin = _first(scope[scope >= 0], work.events.begin_ps[scope >= 0], len(groups))
        end = np.maximum(np.append(begin[1:], last[-1:]), begin)
    table = StepTable(
        label=step_labels(groups, roots),
        begin_ps=begin,
        end_ps=end,
        duration_ps=end - begin,
        time_ps=end - begin,
        sums=OpColumns.zeros((len(groups), 2), _LEVELS, VECTOR_UNITS),
    )
    of_row, rows = work.rows(scope)
    add_step_work(table, of_row, rows, [label.category for label in work.labels])
    return table


def _groups(work: _Work, roots: StepRoots) -> I64:
    """The annotation of each op event, -1 without: that which launched its run; where it is not
    known which did, that in which it began, else that in which its run began."""
    events = work.events
    runs, of_event = np.unique(events.run_id, return_inverse=True)
    first = _first(of_event, events.begin_ps, len(runs))
    # Runs are numbered as they are launched.
    if len(work.launch_ps) == len(runs) and (work.launch_ps <= first).all():
        return _containing(work.launch_ps, roots)[of_event]
    own = _containing(events.begin_ps, roots)
    return np.where(own >= 0, own, _containing(first, roots)[of_event])


def _first(place: I64, begin_ps: U64, count: int) -> U64:
    found = np.full(count, 2**64 - 1, np.uint64)
    np.minimum.at(found, place, begin_ps)
    return found


def _containing(times: U64, roots: StepRoots) -> I64:
    order = np.argsort(roots.begin_ps, kind="stable")
    if not len(order):
        return np.full(len(times), -1, np.int64)
    at = np.searchsorted(roots.begin_ps[order], times, side="right") - 1
    group = order[np.maximum(at, 0)]
    return np.where((at >= 0) & (times <= roots.end_ps[group]), group, -1)


# -------------------------------------------------------------------------------------- diagnostics


def _diagnostics(work: _Work, steps: StepTable, programs: Programs) -> Iterator[Diagnostic]:
    threads = _threads_per_op(len(work.labels), work.op, work.owner, work.thread)
    counts = {
        "no-steps": int(not len(steps)),
        "ops-on-several-threads": int((threads > 1).sum()),
        "unreadable-hlo": programs.unreadable,
    }
    yield from counted(_NOTES, counts, most=int(threads.max(initial=0)))


def read_without_device(space: Space) -> Profile:
    """A profile without ops; its diagnostic says what the capture holds instead."""
    levels = (MemoryLevel.HBM,)
    names = ", ".join(sorted({plane.name for plane in space.planes if plane.name})[:6])
    return Profile(
        device=ReportedDevice(kind=DeviceKind.CPU, name="", core_count=0),
        hosts=(Host(file_name=space.file_name, hostname=space.hostname, core_count=0),),
        ops=OpTableBuilder(levels).build(),
        time_ps=0,
        op_time_ps=0,
        normalised_op_time_ps=0,
        steps=no_steps(levels),
        captured_at_ns=space.captured_at_ns,
        diagnostics=(noted(_NOTES, "no-device", names=names or "nothing"),),
    )
