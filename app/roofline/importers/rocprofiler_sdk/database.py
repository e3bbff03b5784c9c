"""One database of rocprofv3 (rocpd, schema 3): the same processes as its JSON results hold.

Every process has tables of its own, `rocpd_NAME` and the process's UUID; ids are local to them.
The views of the file are never used. A dispatch and the HIP call that launched it have events with
one `stack_id`; correlation ids are 0 in ROCm 7.1. `rocpd_info_process`, which has the environment
and the command line, is never read.
"""

import json
from collections.abc import Mapping

import numpy as np

from roofline.importers.rocprofiler_sdk.records import (
    LONGEST_NS,
    MARKER,
    MOST,
    SIZES,
    Agent,
    Json,
    Process,
    add_calls,
    agent_of,
    kernel_name,
)
from roofline.importers.shared.databases import ABSENT, Database, Table
from roofline.importers.shared.events import Names, place_of
from roofline.importers.source import SourceFile
from roofline.model.op_columns import I32, I64

PREFIX = "rocpd_"
_DISPATCHES, _COPIES = f"{PREFIX}kernel_dispatch", f"{PREFIX}memory_copy"


def read_database(source: SourceFile, names: Names) -> list[Process]:
    """The processes in `source`. Raises `CorruptProfileError` for damage."""
    database = Database(source)
    suffixes = dict.fromkeys(
        name.removeprefix(kind)
        for name in sorted(database.tables)
        for kind in (_DISPATCHES, _COPIES)
        if name.startswith(kind)
    )
    return [_Set(database, suffix, names).process(source.name) for suffix in suffixes]


class _Set:
    """The tables of one process."""

    def __init__(self, database: Database, suffix: str, names: Names) -> None:
        self._read, self._suffix, self._names = database.read, suffix, names
        strings = self._read(self._of("string"), needed=("id",), texts=("string",))
        self._strings = dict(zip(strings["id"].tolist(), strings.texts["string"], strict=True))

    def _of(self, name: str) -> str:
        return f"{PREFIX}{name}{self._suffix}"

    def _described(self, name: str, *texts: str) -> dict[int, Json]:
        """The rows of a small table by id, with what `extdata` holds beside its columns."""
        table = self._read(self._of(name), needed=("id",), texts=(*texts, "extdata"))
        rows: dict[int, Json] = {}
        for at, number in enumerate(table["id"].tolist()):
            row = {key: column[at] for key, column in table.texts.items() if column[at]}
            rows[number] = {**_object(row.get("extdata")), **row}
        return rows

    def process(self, file_name: str) -> Process:
        described = self._described("info_agent", "type", "name", "product_name", "user_name")
        gpus = {number: row for number, row in described.items() if row.get("type") == "GPU"}
        kernels = self._kernels()
        pid = kernels["pid"].tolist()
        return Process(
            file_name=file_name,
            pid=pid[0] if pid and pid[0] != ABSENT else 0,
            agents={number: _agent(row) for number, row in gpus.items()},
            kernels=kernels,
            copies=self._copies(np.array([*gpus], np.int64)),
            counters=self._counters(kernels["event_id"]),
        )

    def _kernels(self) -> Table:
        needed = ("start", "end", "agent_id", "kernel_id", "dispatch_id")
        optional = ("event_id", "pid", *SIZES)
        table = _timed(self._read(self._of("kernel_dispatch"), needed=needed, optional=optional))
        symbols = self._described("info_kernel_symbol", "display_name", "kernel_name")
        table.numbers["name"] = self._names.numbers(
            lambda one: kernel_name(symbols.get(one, {})) or f"kernel {one}", table["kernel_id"]
        )
        events = self._read(self._of("event"), needed=("id",), optional=("stack_id", "category_id"))
        columns = ("tid", "end", "name_id")
        regions = self._read(self._of("region"), needed=("start", "event_id"), optional=columns)
        event = place_of(regions["event_id"], events["id"])
        regions.numbers["key"] = _at(events["stack_id"], event)
        ranges, texts = self._ranges(regions, _at(events["category_id"], event))
        key = _at(events["stack_id"], place_of(table["event_id"], events["id"]))
        add_calls(table, key, regions, ranges, texts, self._names)
        return table

    def _ranges(self, regions: Table, category: I64) -> tuple[Table, list[str]]:
        """The regions that are ranges of roctx, told by their category, and their texts."""
        kinds = {number: self._strings.get(number) or "" for number in np.unique(category).tolist()}
        markers = [number for number, kind in kinds.items() if kind.startswith(MARKER)]
        ranges = regions.selected(np.isin(category, markers))
        named, ranges.numbers["name"] = np.unique(ranges["name_id"], return_inverse=True)
        return ranges, [self._strings.get(number) or "" for number in named.tolist()]

    def _counters(self, event_of: I64) -> dict[int, dict[str, float]]:
        """Counters by kernel; one counter has a row per instance of its block."""
        kinds = self._read(self._of("info_pmc"), needed=("id",), texts=("symbol", "name"))
        symbols = zip(kinds.texts["symbol"], kinds.texts["name"], strict=True)
        found = zip(kinds["id"].tolist(), symbols, strict=True)
        names = {number: symbol or name or "" for number, (symbol, name) in found}
        table = self._read(self._of("pmc_event"), needed=("event_id", "pmc_id"), reals=("value",))
        counters: dict[int, dict[str, float]] = {}
        columns = (table["event_id"].tolist(), table["pmc_id"].tolist(), table.reals["value"])
        for event, kind, value in zip(*columns, strict=True):
            name = names.get(kind, "")
            if name and 0 <= value < MOST:
                mine = counters.setdefault(event, {})
                mine[name] = mine.get(name, 0.0) + value
        events = event_of.tolist() if counters else []
        return {at: counters[event] for at, event in enumerate(events) if event in counters}

    def _copies(self, gpus: I64) -> Table:
        needed = ("start", "end", "size", "src_agent_id", "dst_agent_id")
        table = _timed(self._read(self._of("memory_copy"), needed=needed, optional=("name_id",)))
        source, target = table["src_agent_id"], table["dst_agent_id"]
        is_gpu = [np.isin(end, gpus).astype(np.int64) for end in (source, target)]
        table.numbers["agent_id"] = np.where(is_gpu[1] == 1, target, source)
        is_known = (table["size"] >= 0) & (table["size"] < MOST)
        table.numbers["size"] = np.where(is_known, table["size"], ABSENT)
        table.numbers["name"] = self._names.numbers(self._copy_name, table["name_id"], *is_gpu)
        return table

    def _copy_name(self, number: int, *is_gpu: int) -> str:
        source, target = (("HOST", "DEVICE")[end] for end in is_gpu)
        return self._strings.get(number) or f"MEMORY_COPY_{source}_TO_{target}"


def _agent(row: Json) -> Agent:
    return agent_of({**row, "product_name": row.get("product_name") or row.get("user_name")})


def _timed(table: Table) -> Table:
    """The table without times that cannot be."""
    begin, end = table["start"], table["end"]
    lasted = np.where((begin >= 0) & (end > begin), end - begin, 0)
    is_sound = (lasted > 0) & (lasted < LONGEST_NS)
    for name in ("start", "end"):
        table.numbers[name] = np.where(is_sound, table[name], ABSENT)
    return table


def _at(column: I64, place: I32) -> I64:
    """The values at these places; -1 at none."""
    found: I64 = np.append(column, -1)[place]
    return found


def _object(text: str | None) -> Mapping[str, object]:
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
