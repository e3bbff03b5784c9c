"""Files of text of rocprofv3: a JSON file, and its CSV files, which are told by their columns.

CSV files of one prefix are one process: `1234_kernel_trace.csv`, `1234_agent_info.csv` …. Their
copies have no size. Counters of one dispatch are a row each, with the times of that dispatch. Both
become the tables of a database, in which each dispatch and each call has an event.
"""

import json
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from roofline.errors import CorruptProfileError, UploadTooLargeError
from roofline.importers.rocprofiler_sdk.tables import (
    APART_NS,
    MARKER,
    PREFIX,
    SIZES,
    Counters,
    Json,
    Process,
    ProcessTables,
    add_counter,
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
_GPU = ("2", "GPU")  # rocprofiler_agent_type_t
_MAX_ROWS = 1_000_000
_NAME = re.compile(r"(.*?)_?(?:kernel|memory_copy|counter|agent|marker_api|hip_api|hsa_api)_")
_AGENT = re.compile(r"(?:Agent )?(\d{1,20})")
_TIMES = {"start": "start_timestamp", "end": "end_timestamp"}
_DISPATCH = {**_TIMES, **{name: name for name in (*SIZES, "dispatch_id", "agent_id")}}
_AXES = frozenset("xyz")
_ENDS = {name: name for name in ("src_agent_id", "dst_agent_id")}
# Columns of CSV that JSON spells otherwise.
_IN_JSON = {
    "agent_type": "type", "node_id": "id",
    "source_agent_id": "src_agent_id", "destination_agent_id": "dst_agent_id",
}  # fmt: skip
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
        listed = [_listed(source.name, tool) for tool in _records(content, TOOL)]
    except (ValueError, RecursionError) as error:
        at = f" at byte {error.pos:,}" if isinstance(error, json.JSONDecodeError) else ""
        raise CorruptProfileError(
            f"{source.name} breaks off or is damaged{at}: it is not JSON.",
            remedy="Let rocprofv3 finish writing, or copy the file again.",
        ) from error
    return [one.process(names) for one in listed]


def _listed(file_name: str, tool: Json) -> "_Listed":
    symbols = {
        whole(one.get("kernel_id")): kernel_name(one) for one in _flat(tool, "kernel_symbols")
    }
    counters = {str(one.get("id")): text_of(one, "name") for one in _flat(tool, "counters")}
    operations = [one.get("operations") for one in _records(tool, "strings", "buffer_records")]
    directions: dict[tuple[int | None, int | None], str] = {
        (kind, number): str(text)
        for kind, texts in enumerate(operations)
        for number, text in enumerate(texts if isinstance(texts, list) else ())
    }

    kernels = _flat(tool, "buffer_records", "kernel_dispatch")
    counted = _flat(tool, "callback_records", "counter_collection")
    for one in (*kernels, *counted):
        kernel, pairs = whole(one.get("kernel_id")), _flat(one, "records")
        one["kernel_name"] = symbols.get(kernel) or f"kernel {kernel}"
        one["counters"] = [(counters.get(str(x.get("counter_id"))), x.get("value")) for x in pairs]
    copies = _flat(tool, "buffer_records", "memory_copy")
    for one in copies:
        one["direction"] = directions.get((whole(one.get("kind")), whole(one.get("operation"))), "")
    return _Listed(
        file_name=file_name,
        pid=next((whole(one.get("pid")) for one in _records(tool, "metadata")), None),
        records=defaultdict(
            list,
            agents=_flat(tool, "agents"),
            kernels=kernels,
            counted=counted,
            copies=copies,
        ),
    )


def _records(record: object, *keys: str) -> list[Json]:
    """The records under these keys, one or a list of them."""
    for key in keys:
        record = record.get(key) if isinstance(record, dict) else None
    found = record if isinstance(record, list) else [record]
    return [one for one in found if isinstance(one, dict)]


def _flat(record: Json, *keys: str) -> list[Json]:
    """The records under these keys, each with the keys of the objects in it: an id is one around
    its `handle`, a size one around `x`, `y` and `z`."""
    return [_with_leaves({}, one) for one in _records(record, *keys)]


def _with_leaves(flat: Json, record: Json, name: str = "") -> Json:
    for key, value in record.items():
        if isinstance(value, dict):
            _with_leaves(flat, value, key)
        else:
            flat[name if key == "handle" else f"{name}_{key}" if key in _AXES else key] = value
    return flat


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
        header = [_IN_JSON.get(cell.lower(), cell.lower()) for cell in table.header]
        for row in table.rows:
            line: dict[str, Any] = dict(zip(header, row, strict=False))
            for of in ("grid_size", "workgroup_size"):
                if of in line:  # along x
                    line = {f"{of}_x": line[of], f"{of}_y": 1, f"{of}_z": 1, **line}
            if sheet == "counted":
                line["counters"] = [(line["counter_name"], line["counter_value"])]
            found.pid = found.pid or whole(line.get("process_id"))
            found.records[sheet].append(line)
    return [one.process(names) for one in sets.values()]


@dataclass(slots=True, kw_only=True)
class _Listed:
    """The records of one process as they are listed in files of text, under the keys of CSV.

    Values are numbers or their digits. `counted` are kernels with `counters`, of which one counter
    may have several, `calls` those of the host and ranges of roctx, by their `domain`.
    """

    file_name: str
    pid: int | None = None
    records: dict[str, list[Json]] = field(default_factory=lambda: defaultdict(list))
    counters: Counters = field(default_factory=dict)
    apart: int = 0

    def process(self, names: Names) -> Process:
        """The process. Raises `CorruptProfileError` where its records are of two programs."""
        gpus = [one for one in self.records["agents"] if str(one.get("type")).upper() in _GPU]
        described = {_number(one.get("id")): one for one in gpus}
        found = ProcessTables(self._tables(), names).process(self.file_name, described)
        return replace(found, pid=self.pid or 0, counters=self.counters, apart=self.apart)

    def _tables(self) -> Tables:
        texts = Names()
        kernels, of_record = self._dispatches(texts)
        kernels.numbers["event_id"] = np.arange(len(kernels)) + 1
        for of in ("calls", "copies"):
            if _is_apart(kernels, _table(self.records[of], **_TIMES)):
                self.apart += len(self.records.pop(of))
        called, copied = self.records["calls"], self.records["copies"]
        domains = [str(one.get("domain")) for one in called]
        calls = _table(called, **_TIMES, tid="thread_id", key="correlation_id")
        calls["key"][[at for at, one in enumerate(domains) if one.startswith(MARKER)]] = 0
        calls.numbers["event_id"] = np.arange(len(calls)) + len(kernels) + 1
        calls.numbers["name_id"] = texts.places(str(one.get("function")) for one in called)
        copies = _table(copied, **_TIMES, **_ENDS, size="bytes")
        copies.numbers["name_id"] = texts.places(text_of(one, "direction") for one in copied)
        counted = self.records["counted"]
        places = of_record[len(of_record) - len(counted) :].tolist()
        for at, one in zip(places, counted, strict=True):
            for name, value in one["counters"]:
                add_counter(self.counters, at, str(name or "").strip(), _real(value))
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
            "info_kernel_symbol": numbered(texts.texts, "display_name"),
            "string": numbered(texts.texts, "string"),
        }
        return Tables({f"{PREFIX}{name}": table for name, table in found.items()})

    def _dispatches(self, texts: Names) -> tuple[Table, I64]:
        """The kernels in the order of time, and the place of each record among them: what a trace
        does not say of a dispatch, the table of its counters may."""
        records = [*self.records["kernels"], *self.records["counted"]]
        names = [kernel_name(one) or "unnamed kernel" for one in records]
        table = _table(records, **_DISPATCH, key="correlation_id")
        table.numbers["kernel_id"] = texts.places(names)
        traced, counted = np.split(np.arange(len(records)), [len(self.records["kernels"])])
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
        ours = [texts.texts[kernel] for kernel in table["kernel_id"][place].tolist()]
        for one, name, other in zip(number.tolist(), ours, names, strict=True):
            if name != other:
                raise CorruptProfileError(
                    f"{self.file_name}: dispatch {one} is {name[:60]} in one table"
                    f" and {other[:60]} in another.",
                    remedy="Give the files of one run: their names begin with one number.",
                )
        order = np.lexsort([np.maximum(table[of], 0) for of in ("end", "start")])
        return table.selected(order), np.argsort(order)[place]


def _is_apart(one: Table, other: Table) -> bool:
    """True where all times of `other` are far from all times of `one`."""
    timed = [table.selected(table["start"] > 0) for table in (one, other)]
    if not all(map(len, timed)):
        return False
    (begin, end), (other_begin, other_end) = ((t["start"].min(), t["end"].max()) for t in timed)
    return bool(max(other_begin - end, begin - other_end) > APART_NS)


def _table(records: Sequence[Json], **columns: str) -> Table:
    """Numbers of records by the key of each column."""
    table = Table()
    for name, key in columns.items():
        number_of = _number if key.endswith("agent_id") else whole
        cells = (number_of(one.get(key)) for one in records)
        table.numbers[name] = np.array([ABSENT if x is None else x for x in cells], np.int64)
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
