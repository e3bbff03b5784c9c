"""Ops of XLA:CPU on the threads of a host: their events, the pool tasks they start, and self time.

An op's event covers the thread that runs it. An op that splits its work records tasks for the
thread pool (`ThreadpoolListener::Record`), which other threads run between `StartRegion` and
`StopRegion`; a task may go on to run other ops, and its part of the op ends there.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from roofline.importers.xspace import spans
from roofline.importers.xspace.event_scan import Events, StatColumn
from roofline.importers.xspace.messages import Line
from roofline.importers.xspace.planes import Plane
from roofline.importers.xspace.texts import TextNumbers
from roofline.model.op_columns import I64, U64, Bools

Number = TypeVar("Number", bound=np.generic)

_STATS = ("hlo_op", "program_id", "run_id", "_p", "_c")
_RECORD, _START, _STOP = (
    f"ThreadpoolListener::{k}" for k in ("Record", "StartRegion", "StopRegion")
)
_RESUMED = "ThunkExecutor::Execute"
_END = "end: "


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OpEvents:
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

    def __len__(self) -> int:
        return len(self.text)


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


def read_threads(plane: Plane) -> tuple[OpEvents, Tasks, tuple[str, ...]]:
    """All op events of a host plane, the tasks they started, and the texts that `text` numbers."""
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
    return ops, _tasks(threads), tuple(texts.texts)


def _join(
    threads: list[_Thread], column: Callable[[_Thread], NDArray[Number]], kind: type[Number]
) -> NDArray[Number]:
    return np.concatenate([np.zeros(0, kind), *(column(thread) for thread in threads)])


def _tasks(threads: list[_Thread]) -> Tasks:
    """Regions joined with the records of the same id."""
    first = np.cumsum([0, *(len(thread.ops) for thread in threads)])
    wanted = np.concatenate([np.zeros(0, np.uint64), *(t.record_id for t in threads)])
    owner = np.concatenate(
        [np.zeros(0, np.int64), *(t.record_op + f for t, f in zip(threads, first, strict=False))]
    )
    region = np.concatenate([np.zeros(0, np.uint64), *(t.region_id for t in threads)])
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
    ops = _ops(events, text, order[is_op], number)
    record_id, record_op = _records(events, order, is_op, is_record)
    region_id, begin, end = _regions(events, order, names[order], resumes)
    return _Thread(
        ops=ops,
        record_id=record_id,
        record_op=record_op,
        region_id=region_id,
        region_begin=begin,
        region_end=end,
    )


def _ops(events: Events, text: I64, rows: I64, thread: int) -> OpEvents:
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
