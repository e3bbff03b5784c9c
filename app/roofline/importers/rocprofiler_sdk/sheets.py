"""The CSV files of rocprofv3, of the same processes as its JSON results, told by their columns.

Files of one prefix are one process: `1234_kernel_trace.csv`, `1234_agent_info.csv` …. Copies have
no size. Counters of one dispatch are a row each, with the times of that dispatch.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

import numpy as np

from roofline.errors import CorruptProfileError
from roofline.importers.rocprofiler_sdk.document import (
    MARKER,
    Agent,
    Copy,
    Dispatch,
    Process,
    Ranges,
    agent_of,
    paths,
    shape_of,
)
from roofline.importers.shared.tables_text import decode, first_row, parse_number, read_table
from roofline.importers.source import SourceFile
from roofline.model.units import NS_PER_S

_MAX_ROWS = 1_000_000
_LONGEST_NS = 30 * 86_400 * NS_PER_S
_MOST = 2**62
_NAME = re.compile(r"(.*?)_?(?:kernel|memory_copy|counter|agent|marker_api|hip_api|hsa_api)_")
_AGENT = re.compile(r"(?:Agent )?(\d{1,9})")
_HEAD_TO_DEVICE = "HOST_TO_DEVICE"


class Sheet(Enum):
    """The kind of a file of the set."""

    KERNELS = auto()
    COPIES = auto()
    COUNTERS = auto()
    AGENTS = auto()
    CALLS = auto()


_COLUMNS = (
    (Sheet.COUNTERS, {"counter_name", "counter_value", "dispatch_id", "kernel_name"}),
    (Sheet.KERNELS, {"kind", "dispatch_id", "kernel_name", "start_timestamp", "end_timestamp"}),
    (Sheet.COPIES, {"kind", "direction", "start_timestamp", "end_timestamp"}),
    (Sheet.AGENTS, {"agent_type", "node_id", "name"}),
    (Sheet.CALLS, {"domain", "function", "correlation_id", "start_timestamp"}),
)
Row = Mapping[str, str]


def sheet_of(head: bytes) -> Sheet | None:
    """The kind of a CSV file by the columns in its head; `None` for other files."""
    columns = {cell.strip().lower() for cell in first_row(head)}
    return next((sheet for sheet, needed in _COLUMNS if needed <= columns), None)


@dataclass(slots=True)
class _Set:
    """The files of one process."""

    file_name: str
    rows: dict[Sheet, list[Row]] = field(default_factory=dict)


def read_sheets(sources: Sequence[SourceFile]) -> list[Process]:
    """The processes in `sources`. Raises `CorruptProfileError` for a file that was cut."""
    sets: dict[str, _Set] = {}
    for source in sources:
        sheet = sheet_of(source.head)
        assert sheet is not None
        match = _NAME.match(source.name)
        found = sets.setdefault(match[1] if match else "", _Set(source.name))
        if sheet in (Sheet.KERNELS, Sheet.COUNTERS):
            found.file_name = source.name
        found.rows.setdefault(sheet, []).extend(_rows(source))
    return [_process(found) for found in sets.values()]


def _rows(source: SourceFile) -> Iterator[Row]:
    table = read_table(decode(bytes(source.data)), name=source.name, max_rows=_MAX_ROWS)
    header = [cell.lower() for cell in table.header]
    for line, row in zip(table.lines, table.rows, strict=True):
        if len(row) < len(header):
            raise CorruptProfileError(
                f"{source.name} ends in the middle of a row (line {line:,}).",
                remedy="Copy it again, or let rocprofv3 finish writing.",
            )
        yield dict(zip(header, row, strict=False))


def _process(found: _Set) -> Process:
    agents = dict(_agents(found.rows.get(Sheet.AGENTS, ())))
    calls = _calls(found.rows.get(Sheet.CALLS, ()))
    dispatches: dict[int, Dispatch] = {}
    called: list[tuple[Dispatch, int]] = []
    for row in found.rows.get(Sheet.KERNELS, ()):
        dispatch = _dispatch(row, len(dispatches))
        call = calls.get(_whole(row, "correlation_id") or 0)
        if call is not None:
            thread, dispatch.launched_ns = call
            called.append((dispatch, thread))
        dispatches[dispatch.number] = dispatch
    around = paths(
        _ranges(found.rows.get(Sheet.CALLS, ())),
        np.array([thread for _, thread in called], np.int64),
        np.array([dispatch.launched_ns for dispatch, _ in called], np.int64),
    )
    for (dispatch, _), path in zip(called, around, strict=True):
        dispatch.path = path
    for row in found.rows.get(Sheet.COUNTERS, ()):
        dispatch = _dispatch(row, len(dispatches))
        known = dispatches.setdefault(dispatch.number, dispatch)
        if known.kernel != dispatch.kernel:
            raise CorruptProfileError(
                f"{found.file_name}: dispatch {dispatch.number} is {known.kernel[:60]} in one file"
                f" and {dispatch.kernel[:60]} in another.",
                remedy="Give the files of one run: those that begin with one number.",
            )
        value = _number(row, "counter_value")
        if value is not None:
            known.counters[row["counter_name"].strip()] = value
    rows = [row for rows in found.rows.values() for row in rows]
    pid = next((pid for row in rows if (pid := _whole(row, "process_id"))), 0)
    return Process(
        file_name=found.file_name,
        pid=pid,
        agents=agents,
        dispatches=sorted(dispatches.values(), key=lambda one: one.times or (0, 0)),
        copies=[_copy(row) for row in found.rows.get(Sheet.COPIES, ())],
    )


def _agents(rows: Sequence[Row]) -> Iterator[tuple[int, Agent]]:
    """GPUs by node; a row has the keys of the JSON in other spellings."""
    for row in rows:
        node = _whole(row, "node_id")
        if row["agent_type"].strip().upper() == "GPU" and node is not None:
            numbers = ("cu_count", "max_engine_clk_fcompute", "num_xcc", "max_waves_per_cu")
            described: dict[str, object] = {name: _whole(row, name) for name in numbers}
            names = {name: row.get(name, "").strip() for name in ("name", "product_name")}
            yield node, agent_of({**described, **names})


def _ranges(rows: Sequence[Row]) -> Ranges:
    marks = [
        (_whole(row, "thread_id") or 0, *times)
        for row in rows
        if row["domain"].startswith(MARKER) and (times := _times(row))
    ]
    names = [row["function"] for row in rows if row["domain"].startswith(MARKER) and _times(row)]
    thread, begin, end = np.array(marks, np.int64).reshape(-1, 3).T
    return Ranges(thread=thread, begin=begin, end=end, name=np.arange(len(names)), names=names)


def _calls(rows: Sequence[Row]) -> dict[int, tuple[int, int]]:
    """Thread and time of the call for each launch, by correlation id; marks and ranges launch
    nothing."""
    found: dict[int, tuple[int, int]] = {}
    for row in rows:
        correlation, begin = _whole(row, "correlation_id"), _whole(row, "start_timestamp")
        if correlation and begin is not None and not row["domain"].startswith(MARKER):
            found.setdefault(correlation, (_whole(row, "thread_id") or 0, begin))
    return found


def _dispatch(row: Row, place: int) -> Dispatch:
    number = _whole(row, "dispatch_id")
    items, each = _sizes(row, "grid_size"), _sizes(row, "workgroup_size")
    return Dispatch(
        kernel=row["kernel_name"].strip().removesuffix(".kd") or "unnamed kernel",
        agent=_agent(row, "agent_id"),
        number=-1 - place if number is None else number,
        grid="x".join(map(str, items)),
        shape=shape_of(items, each),
        times=_times(row),
    )


def _sizes(row: Row, column: str) -> list[int]:
    """Sizes along x, y and z, or the total along x."""
    sizes = [_whole(row, f"{column}_{axis}") for axis in "xyz"]
    if None in sizes:
        sizes = [_whole(row, column), 1, 1]
    return [size for size in sizes if size is not None]


def _copy(row: Row) -> Copy:
    name = row["direction"].strip() or "memory copy"
    end = "destination_agent_id" if name.endswith(_HEAD_TO_DEVICE) else "source_agent_id"
    return Copy(name=name, agent=_agent(row, end), times=_times(row), size=None)


def _agent(row: Row, column: str) -> int:
    match = _AGENT.fullmatch(row.get(column, "").strip())
    return int(match[1]) if match else 0


def _times(row: Row) -> tuple[int, int] | None:
    begin, end = _whole(row, "start_timestamp"), _whole(row, "end_timestamp")
    if begin is None or end is None or not 0 < end - begin < _LONGEST_NS:
        return None
    return begin, end


def _whole(row: Row, column: str) -> int | None:
    cell = row.get(column, "").strip()
    return int(cell) if cell.isascii() and cell.isdigit() and len(cell) < 19 else None


def _number(row: Row, column: str) -> float | None:
    try:
        value = parse_number(row.get(column, ""))
    except ValueError:
        return None
    return value if value is not None and 0 <= value < _MOST else None
