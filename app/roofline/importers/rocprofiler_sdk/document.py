"""Files of text of rocprofv3: a JSON file, and its CSV files, which are told by their columns.

CSV files of one prefix are one process: `1234_kernel_trace.csv`, `1234_agent_info.csv` …. Their
copies have no size. Counters of one dispatch are a row each, with the times of that dispatch.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from roofline.errors import CorruptProfileError, UploadTooLargeError
from roofline.importers.rocprofiler_sdk.records import (
    MOST,
    Json,
    Listed,
    kernel_name,
    text_of,
    whole,
)
from roofline.importers.shared.tables_text import decode, first_row, parse_number, read_table
from roofline.importers.source import SourceFile
from roofline.model.units import GIB

TOOL = "rocprofiler-sdk-tool"
MOST_BYTES = 2 * GIB
_GPU = 2  # rocprofiler_agent_type_t
_MAX_ROWS = 1_000_000
_NAME = re.compile(r"(.*?)_?(?:kernel|memory_copy|counter|agent|marker_api|hip_api|hsa_api)_")
# The records of a process by the columns of their file.
_COLUMNS = (
    ("counted", {"counter_name", "counter_value", "dispatch_id", "kernel_name"}),
    ("kernels", {"kind", "dispatch_id", "kernel_name", "start_timestamp", "end_timestamp"}),
    ("copies", {"kind", "direction", "start_timestamp", "end_timestamp"}),
    ("agents", {"agent_type", "node_id", "name"}),
    ("calls", {"domain", "function", "correlation_id", "start_timestamp"}),
)


def read_file(source: SourceFile) -> list[Listed]:
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
    return [_listed(source.name, tool) for tool in tools if isinstance(tool, dict)]


def _listed(file_name: str, tool: Json) -> Listed:
    symbols = {
        whole(symbol.get("kernel_id")): kernel_name(symbol)
        for symbol in _list(tool, "kernel_symbols")
    }
    names = {
        _handle(counter, "id"): text_of(counter, "name") for counter in _list(tool, "counters")
    }
    kinds = _list(_object(tool, "strings"), "buffer_records")
    buffers, callbacks = _object(tool, "buffer_records"), _object(tool, "callback_records")
    return Listed(
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
                "counters": _added_up(_list(record, "records"), names),
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
    return {
        "start_timestamp": record.get("start_timestamp"),
        "end_timestamp": record.get("end_timestamp"),
        "dispatch_id": info.get("dispatch_id"),
        "kernel_name": symbols.get(kernel) or f"kernel {kernel}",
        "agent_id": _handle(info, "agent_id"),
        **{
            f"{of}_{axis}": size
            for of in ("grid_size", "workgroup_size")
            for axis, size in _object(info, of).items()
        },
    }


def _added_up(records: Sequence[Json], names: Mapping[int | None, str]) -> dict[str, float]:
    """The counters of a dispatch: one counter has a record per instance of its block."""
    found: dict[str, float] = {}
    for record in records:
        name, value = names.get(_handle(record, "counter_id")), record.get("value")
        if name and isinstance(value, int | float) and 0 <= value < MOST:
            found[name] = found.get(name, 0.0) + float(value)
    return found


def _operation(record: Json, kinds: Sequence[Json]) -> str:
    """The name of a record, as `MEMORY_COPY_HOST_TO_DEVICE`."""
    kind, number = whole(record.get("kind")), whole(record.get("operation"))
    found = kinds[kind].get("operations") if kind is not None and kind < len(kinds) else None
    operations = found if isinstance(found, list) else []
    return str(operations[number]) if number is not None and number < len(operations) else ""


# ------------------------------------------------------------------------------------------- values


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


# --------------------------------------------------------------------------------------------- CSV


def sheet_of(head: bytes) -> str | None:
    """The records that a CSV file lists, by the columns in its head; `None` for other files."""
    columns = {cell.strip().lower() for cell in first_row(head)}
    return next((sheet for sheet, needed in _COLUMNS if needed <= columns), None)


def read_sheets(sources: Sequence[SourceFile]) -> list[Listed]:
    """The processes in `sources`. Raises `CorruptProfileError` for a file that was cut."""
    sets: dict[str, Listed] = {}
    for source in sources:
        sheet = sheet_of(source.head)
        assert sheet is not None
        match = _NAME.match(source.name)
        found = sets.setdefault(match[1] if match else "", Listed(file_name=source.name))
        if sheet in ("kernels", "counted"):
            found.file_name = source.name
        for line in _lines(source):
            found.pid = found.pid or whole(line.get("process_id"))
            getattr(found, sheet).append(line)
    return list(sets.values())


def _lines(source: SourceFile) -> Iterator[Json]:
    table = read_table(decode(bytes(source.data)), name=source.name, max_rows=_MAX_ROWS)
    header = [cell.lower() for cell in table.header]
    totals = [of for of in ("grid_size", "workgroup_size") if of in header]
    for number, row in zip(table.lines, table.rows, strict=True):
        if len(row) < len(header):
            raise CorruptProfileError(
                f"{source.name} ends in the middle of a row (line {number:,}).",
                remedy="Copy it again, or let rocprofv3 finish writing.",
            )
        line: dict[str, object] = dict(zip(header, row, strict=False))
        for of in totals:  # along x
            line = {f"{of}_x": line[of], f"{of}_y": 1, f"{of}_z": 1, **line}
        if "counter_value" in line:
            line["counters"] = _counters(
                row[header.index("counter_name")], str(line["counter_value"])
            )
        yield line


def _counters(name: str, cell: str) -> dict[str, float]:
    try:
        value = parse_number(cell)
    except ValueError:
        return {}
    return {name.strip(): value} if value is not None and 0 <= value < MOST else {}
