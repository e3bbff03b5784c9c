"""Files of text of rocprofv3: a JSON file, and its CSV files, which are told by their columns.

CSV files of one prefix are one process: `1234_kernel_trace.csv`, `1234_agent_info.csv` …. Their
copies have no size. Counters of one dispatch are a row each, with the times of that dispatch. Both
become the tables of a database, in which each dispatch and each call has an event.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from roofline.errors import CorruptProfileError, UploadTooLargeError
from roofline.importers.rocprofiler_sdk.tables import (
    APART_NS,
    MARKER,
    PREFIX,
    SIZES,
    Json,
    Process,
    ProcessTables,
    kernel_name,
    text_of,
    whole,
)
from roofline.importers.shared.databases import ABSENT, Table, Tables, numbered
from roofline.importers.shared.events import Names, in_order
from roofline.importers.shared.kernel_names import NAN
from roofline.importers.shared.tables_text import decode, first_row, parse_number, read_whole_table
from roofline.importers.source import SourceFile
from roofline.model.op_columns import I64
from roofline.model.units import GIB

TOOL = "rocprofiler-sdk-tool"
MOST_BYTES = 2 * GIB
SUMS = ({"name", "calls", "totaldurationns"},)
_GPU = 2  # rocprofiler_agent_type_t
_MAX_ROWS = 1_000_000
_NAME = re.compile(r"(.*?)_?(?:kernel|memory_copy|counter|agent|marker_api|hip_api|hsa_api)_")
_AGENT = re.compile(r"(?:Agent )?(\d{1,20})")
_TIMES = {"start": "start_timestamp", "end": "end_timestamp"}
_DISPATCH = {**_TIMES, **{name: name for name in (*SIZES, "dispatch_id", "agent_id")}}
# The records of a process by the columns of their file.
_COLUMNS = (
    ("counted", {"counter_name", "counter_value", "dispatch_id", "kernel_name"}),
    ("kernels", {"kind", "kernel_name", "start_timestamp", "end_timestamp"}),
    ("copies", {"kind", "direction", "start_timestamp", "end_timestamp"}),
    ("agents", {"agent_type", "node_id", "name"}),
    ("calls", {"domain", "function", "correlation_id", "start_timestamp"}),
)


def read_file(source: SourceFile, names: Names) -> list[Process]:
    """The processes in `source`. Raises `CorruptProfileError` for what is not such a file."""
    if source.size_bytes > MOST_BYTES:
        raise UploadTooLargeError(
            f"{source.name} has {source.size_bytes / GIB:,.1f} GiB; files of rocprofv3 are read"
            f" up to {MOST_BYTES // GIB} GiB.",
            remedy="Profile fewer iterations, and without --hip-trace and --hsa-trace.",
        )
    try:
        content = json.loads(bytes(source.data))
    except (ValueError, RecursionError) as error:
        at = f" at byte {error.pos:,}" if isinstance(error, json.JSONDecodeError) else ""
        raise CorruptProfileError(
            f"{source.name} breaks off or is damaged{at}: it is not JSON.",
            remedy="Let rocprofv3 finish writing, or copy the file again.",
        ) from error
    tools = content.get(TOOL) if isinstance(content, dict) else None
    tools = tools if isinstance(tools, list) else [tools]
    listed = [_listed(source.name, tool) for tool in tools if isinstance(tool, dict)]
    return [one.process(names) for one in listed]


def _listed(file_name: str, tool: Json) -> "_Listed":
    symbols = {
        whole(symbol.get("kernel_id")): kernel_name(symbol)
        for symbol in _list(tool, "kernel_symbols")
    }
    names = {
        _handle(counter, "id"): text_of(counter, "name") for counter in _list(tool, "counters")
    }
    kinds = _list(_object(tool, "strings"), "buffer_records")
    buffers, callbacks = _object(tool, "buffer_records"), _object(tool, "callback_records")
    return _Listed(
        file_name=file_name,
        pid=whole(_object(tool, "metadata").get("pid")),
        agents=[
            {**agent, "agent_type": "GPU", "node_id": _handle(agent, "id")}
            for agent in _list(tool, "agents")
            if agent.get("type") == _GPU and _handle(agent, "id") is not None
        ],
        kernels=[_kernel(record, symbols) for record in _list(buffers, "kernel_dispatch")],
        counted=[
            {
                **_kernel(_object(record, "dispatch_data"), symbols),
                "counters": [
                    (names.get(_handle(one, "counter_id")), one.get("value"))
                    for one in _list(record, "records")
                ],
            }
            for record in _list(callbacks, "counter_collection")
        ],
        copies=[
            {
                **record,
                "direction": _operation(record, kinds),
                "source_agent_id": _handle(record, "src_agent_id"),
                "destination_agent_id": _handle(record, "dst_agent_id"),
            }
            for record in _list(buffers, "memory_copy")
        ],
    )


def _kernel(record: Json, symbols: Mapping[int | None, str]) -> Json:
    """A dispatch, the keys of which are inside each other in JSON."""
    info = _object(record, "dispatch_info")
    kernel = whole(info.get("kernel_id"))
    sizes = {
        f"{of}_{axis}": size
        for of in ("grid_size", "workgroup_size")
        for axis, size in _object(info, of).items()
    }
    name = symbols.get(kernel) or f"kernel {kernel}"
    return {**record, **info, "kernel_name": name, "agent_id": _handle(info, "agent_id"), **sizes}


def _operation(record: Json, kinds: Sequence[Json]) -> str:
    """The name of a record, as `MEMORY_COPY_HOST_TO_DEVICE`."""
    kind, number = whole(record.get("kind")), whole(record.get("operation"))
    found = kinds[kind].get("operations") if kind is not None and kind < len(kinds) else None
    operations = found if isinstance(found, list) else []
    return str(operations[number]) if number is not None and number < len(operations) else ""


def _object(record: Json, key: str) -> Json:
    value = record.get(key)
    return value if isinstance(value, dict) else {}


def _list(record: Json, key: str) -> list[Json]:
    value = record.get(key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _handle(record: Json, key: str) -> int | None:
    """An id: a number, or an object around one."""
    value = record.get(key)
    number = value.get("handle") if isinstance(value, dict) else value
    return number if type(number) is int and 0 <= number < 2**64 else None


def sheet_of(head: bytes) -> str | None:
    """The records that a CSV file lists, by the columns in its head; `None` for other files."""
    columns = {cell.strip().lower() for cell in first_row(head)}
    return next((sheet for sheet, needed in _COLUMNS if needed <= columns), None)


def read_sheets(sources: Sequence[SourceFile], names: Names) -> list[Process]:
    """The processes in `sources`. Raises `CorruptProfileError` for a file that was cut."""
    sets: dict[str, _Listed] = {}
    for source in sources:
        sheet = sheet_of(source.head)
        assert sheet is not None
        match = _NAME.match(source.name)
        found = sets.setdefault(match[1] if match else "", _Listed(file_name=source.name))
        if sheet in ("kernels", "counted"):
            found.file_name = source.name
        text, remedy = decode(bytes(source.data)), "Copy it again, or let rocprofv3 finish writing."
        table = read_whole_table(text, name=source.name, max_rows=_MAX_ROWS, remedy=remedy)
        header = [cell.lower() for cell in table.header]
        for row in table.rows:
            line: dict[str, Any] = dict(zip(header, row, strict=False))
            for of in ("grid_size", "workgroup_size"):
                if of in line:  # along x
                    line = {f"{of}_x": line[of], f"{of}_y": 1, f"{of}_z": 1, **line}
            if sheet == "counted":
                line["counters"] = [(line["counter_name"], line["counter_value"])]
            found.pid = found.pid or whole(line.get("process_id"))
            getattr(found, sheet).append(line)
    return [one.process(names) for one in sets.values()]


@dataclass(slots=True, kw_only=True)
class _Listed:
    """The records of one process as they are listed in files of text, under the keys of CSV.

    Values are numbers or their digits. `counted` are kernels with `counters`, of which one counter
    may have several, `calls` those of the host and ranges of roctx, by their `domain`.
    """

    file_name: str
    pid: int | None = None
    kernels: list[Json] = field(default_factory=list)
    counted: list[Json] = field(default_factory=list)
    copies: list[Json] = field(default_factory=list)
    agents: list[Json] = field(default_factory=list)
    calls: list[Json] = field(default_factory=list)
    apart: int = 0

    def process(self, names: Names) -> Process:
        """The process. Raises `CorruptProfileError` where its records are of two programs."""
        gpus = [one for one in self.agents if str(one.get("agent_type")).strip().upper() == "GPU"]
        described = {_number(one.get("node_id")): one for one in gpus}
        found = ProcessTables(self._tables(), names).process(self.file_name, described)
        return replace(found, pid=self.pid or 0, apart=self.apart)

    def _tables(self) -> Tables:
        texts, counters = Names(), Names()
        kernels, of_record = self._dispatches(texts)
        kernels.numbers["event_id"] = np.arange(len(kernels)) + 1
        self.calls, self.copies = (self._near(kernels, one) for one in (self.calls, self.copies))
        domains = [str(one.get("domain")) for one in self.calls]
        calls = _table(self.calls, **_TIMES, tid="thread_id", key="correlation_id")
        calls["key"][[at for at, one in enumerate(domains) if one.startswith(MARKER)]] = 0
        calls.numbers["event_id"] = np.arange(len(calls)) + len(kernels) + 1
        calls.numbers["name_id"] = texts.places(str(one.get("function")) for one in self.calls)
        ends = {"src_agent_id": "source_agent_id", "dst_agent_id": "destination_agent_id"}
        copies = _table(self.copies, **_TIMES, **ends, size="bytes")
        ways = [text_of(one, "direction") or "memory copy" for one in self.copies]
        copies.numbers["name_id"] = texts.places(ways)
        counted = zip(of_record[len(self.kernels) :].tolist(), self.counted, strict=True)
        values = [
            (at + 1, counters.number(str(name).strip()), _real(value))
            for at, one in counted
            for name, value in one["counters"]
            if name
        ]
        event, counter = np.array([one[:2] for one in values], np.int64).reshape(-1, 2).T
        events = {
            "id": np.arange(len(kernels) + len(calls)) + 1,
            "stack_id": np.append(kernels["key"], calls["key"]),
            "category_id": np.append(np.full(len(kernels), ABSENT), texts.places(domains)),
        }
        found = {
            "kernel_dispatch": kernels,
            "memory_copy": copies,
            "region": calls,
            "event": Table(numbers=events),
            "pmc_event": Table(
                numbers={"event_id": event, "pmc_id": counter},
                reals={"value": np.array([value for *_, value in values], np.float64)},
            ),
            "info_pmc": numbered(counters.texts, "symbol"),
            "info_kernel_symbol": numbered(texts.texts, "display_name"),
            "string": numbered(texts.texts, "string"),
        }
        return Tables({f"{PREFIX}{name}": table for name, table in found.items()})

    def _near(self, kernels: Table, records: list[Json]) -> list[Json]:
        """The records, or none where their file has another clock than the kernels."""
        if not _is_apart(kernels, _table(records, **_TIMES)):
            return records
        self.apart += len(records)
        return []

    def _dispatches(self, texts: Names) -> tuple[Table, I64]:
        """The kernels in the order of time, and the place of each record among them: what a trace
        does not say of a dispatch, the table of its counters may."""
        records = [*self.kernels, *self.counted]
        names = [kernel_name(one) or "unnamed kernel" for one in records]
        table = _table(records, **_DISPATCH, key="correlation_id")
        table.numbers["kernel_id"] = texts.places(names)
        traced, counted = np.split(np.arange(len(records)), [len(self.kernels)])
        if _is_apart(table.selected(traced), table.selected(counted)):
            for name in _TIMES:  # the counters are those of these kernels, in another run
                table.numbers[name][counted] = ABSENT
        number, own = table["dispatch_id"], -1 - np.arange(len(records))
        number[:] = np.where(number == ABSENT, own, number)
        first, place = in_order(*np.unique(number, return_inverse=True))
        for name, column in table.numbers.items():
            known = np.flatnonzero(column != ABSENT)[::-1]  # of equal places the last stays
            table.numbers[name] = np.full(len(first), ABSENT)
            table.numbers[name][place[known]] = column[known]
            if name == "kernel_id" and len(other := np.flatnonzero(table[name][place] != column)):
                at = int(other[0])
                ours = texts.texts[table[name][place[at]]]
                raise CorruptProfileError(
                    f"{self.file_name}: dispatch {number[at]} is {ours[:60]} in one table"
                    f" and {names[at][:60]} in another.",
                    remedy="Give the files of one run: their names begin with one number.",
                )
        order = np.lexsort([np.maximum(table[of], 0) for of in ("end", "start")])
        return table.selected(order), np.argsort(order)[place]


def _is_apart(one: Table, other: Table) -> bool:
    """True where all times of `other` are far from all times of `one`."""
    timed = [table.selected(np.flatnonzero(table["start"] > 0)) for table in (one, other)]
    spans = [(table["start"].min(), table["end"].max()) for table in timed if len(table)]
    if len(spans) < 2:
        return False
    (begin, end), (other_begin, other_end) = spans
    return bool(max(other_begin - end, begin - other_end) > APART_NS)


def _table(records: Sequence[Json], **columns: str) -> Table:
    """Numbers of records by the key of each column."""
    table = Table()
    for name, key in columns.items():
        number_of = _number if key.endswith("agent_id") else whole
        cells = [number_of(one.get(key)) for one in records]
        known = [ABSENT if cell is None else cell for cell in cells]
        table.numbers[name] = np.array(known, np.int64)
    return table


def _real(value: object) -> float:
    try:
        found = parse_number(value) if isinstance(value, str) else value
    except ValueError:
        return NAN
    return float(found) if isinstance(found, int | float) else NAN


def _number(value: object) -> int:
    """The number of an agent, which may have 64 bits, as a signed one: `Agent 4` is 4."""
    match = _AGENT.fullmatch(str(value).strip())
    return ((int(match[1]) ^ 2**63) & (2**64 - 1)) - 2**63 if match else 0
