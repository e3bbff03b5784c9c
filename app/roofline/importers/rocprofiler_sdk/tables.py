"""Processes in the tables of a database of rocprofv3 (rocpd, schema 3).

Every process has tables of its own, `rocpd_NAME` and the process's UUID; ids are local to them.
The views of the file are never used. A dispatch and the HIP call that launched it have events with
one `stack_id`; correlation ids are 0 in ROCm 7.1. `rocpd_info_process`, which has the environment
and the command line, is never read.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from roofline.importers.shared.amd_counters import AmdSize, amd_size
from roofline.importers.shared.databases import ABSENT, Database, Table, Tables
from roofline.importers.shared.events import Names, place_of
from roofline.importers.shared.kernel_names import group_name, shown
from roofline.importers.shared.nesting import nest, paths_of
from roofline.importers.shared.steps import step_ranges
from roofline.importers.source import SourceFile
from roofline.model.device import DeviceTraits
from roofline.model.op_columns import I32, I64
from roofline.model.units import KILO, NS_PER_S

PREFIX = "rocpd_"
MARKER = "MARKER"
"""The domain or category of roctx begins so."""

PEER = " to another GPU"
"""The name of a copy from one GPU to another ends so."""

APART_NS = 3_600 * NS_PER_S  # no program leaves its GPU alone so long between copies and kernels
SIZES = tuple(f"{of}_size_{axis}" for of in ("grid", "workgroup") for axis in "xyz")
EVENT = ("start", "end", "agent_id", "name", "dispatch_id", "launched", "path", "size", *SIZES)
_LONGEST_NS, _MOST = 30 * 86_400 * NS_PER_S, 2**62
_MAX_NAME, _MOST_LETTERS, _DIGITS = 2_000, 200, 21
_WORK = (f"{PREFIX}kernel_dispatch", f"{PREFIX}memory_copy")

Json = Mapping[str, Any]


class Agent(NamedTuple):
    """A GPU: its product's name, what tells its kind, and its size for shares of counters."""

    name: str
    traits: DeviceTraits
    size: AmdSize


UNKNOWN = Agent(name="AMD GPU", traits=DeviceTraits(), size=AmdSize())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Process:
    """Kernels and copies of one process; agents by the numbers that these have.

    Columns are those of `EVENT`, of copies without those of a dispatch; `ABSENT` is unknown. Times
    are ns of the machine's clock, both known or neither. `launched` is when the host called; `name`
    and `path`, the ranges around that call, are places among the names of the upload. Grids are in
    work items, sizes in bytes. `counters` are those of a kernel, by its row. `apart` records were
    left out, as their clock is another. `steps` are the begin and end of ranges that are called so.
    """

    file_name: str
    pid: int
    agents: Mapping[int, Agent]
    kernels: Table
    copies: Table
    counters: dict[int, dict[str, float]]
    steps: I64
    apart: int = 0


def read_database(source: SourceFile, names: Names) -> list[Process]:
    """The processes in `source`. Raises `CorruptProfileError` for damage."""
    database = Database(source)
    suffixes = dict.fromkeys(
        name.removeprefix(kind)
        for name in sorted(database.tables)
        for kind in _WORK
        if name.startswith(kind)
    )
    return [ProcessTables(database, names, suffix).process(source.name) for suffix in suffixes]


class ProcessTables:
    """The tables of one process."""

    def __init__(self, file: Database | Tables, names: Names, suffix: str = "") -> None:
        self._read, self._suffix, self._names = file.read, suffix, names
        strings = self._read(self._of("string"), needed=("id",), texts=("string",))
        self._strings = strings.texts_by("id", "string")

    def _of(self, name: str) -> str:
        return f"{PREFIX}{name}{self._suffix}"

    def _described(self, name: str, *texts: str) -> dict[int, Json]:
        """The rows of a small table by id, with what `extdata` holds beside its columns."""
        table = self._read(self._of(name), needed=("id",), texts=(*texts, "extdata"))
        return {row["id"]: {**_object(row.get("extdata")), **row} for row in table.rows()}

    def process(self, file_name: str, gpus: Mapping[int, Json] | None = None) -> Process:
        """The process; its GPUs are `gpus`, or those that the tables describe."""
        if gpus is None:
            agents = self._described("info_agent", "type", "name", "product_name", "user_name")
            gpus = {number: row for number, row in agents.items() if row.get("type") == "GPU"}
        kernels, steps = self._kernels()
        pid = kernels["pid"].tolist()
        return Process(
            file_name=file_name,
            pid=pid[0] if pid and pid[0] != ABSENT else 0,
            agents={number: agent_of(row) for number, row in gpus.items()},
            kernels=kernels,
            copies=self._copies(np.array([*gpus], np.int64)),
            counters=self._counters(kernels["event_id"]),
            steps=steps,
        )

    def _kernels(self) -> tuple[Table, I64]:
        needed = ("start", "end", "agent_id", "kernel_id", "dispatch_id")
        optional = ("event_id", "pid", *SIZES)
        table = _timed(self._read(self._of("kernel_dispatch"), needed=needed, optional=optional))
        symbols = self._described("info_kernel_symbol", "display_name", "kernel_name")
        table.numbers["name"] = self._names.numbers(
            lambda one: kernel_name(symbols.get(one, {})) or f"kernel {one}", table["kernel_id"]
        )
        return table, self._add_calls(table)

    def _add_calls(self, kernels: Table) -> I64:
        """When the host called for each kernel, and the path of ranges of roctx around that call,
        outermost first, without numbers of instances; the steps among these ranges."""
        events = self._read(self._of("event"), needed=("id",), optional=("stack_id", "category_id"))
        columns = ("tid", "end", "name_id")
        calls = self._read(self._of("region"), needed=("start", "event_id"), optional=columns)
        order = np.argsort(calls["start"], kind="stable")
        event = place_of(calls["event_id"], events["id"])
        category, key = (_at(events[of], event) for of in ("category_id", "stack_id"))
        own = _at(events["stack_id"], place_of(kernels["event_id"], events["id"]))
        first = place_of(own, key[order])
        launched, tid = (_at(calls[of][order], first) for of in ("start", "tid"))
        kernels.numbers["launched"] = launched
        kinds = {number: self._strings.get(number) or "" for number in np.unique(category).tolist()}
        markers = [number for number, kind in kinds.items() if kind.startswith(MARKER)]
        ranges = calls.selected(np.isin(category, markers) & (calls["end"] > calls["start"]))
        if not len(ranges):
            return np.zeros((0, 2), np.int64)
        named, name = np.unique(ranges["name_id"], return_inverse=True)
        _, thread = np.unique(np.append(ranges["tid"], tid), return_inverse=True)
        outer, around, outside_in = nest(
            begin=ranges["start"],
            duration=ranges["end"] - ranges["start"],
            thread=thread[: len(ranges)],
            point_ns=launched,
            point_thread=thread[len(ranges) :],
        )
        texts = [(self._strings.get(number) or "")[:_MOST_LETTERS] for number in named.tolist()]
        groups = [group_name(shown(text)).replace("/", "∕") or "range" for text in texts]
        path, found = paths_of(groups, name, outer, outside_in)
        numbers = np.append(self._names.places(found), ABSENT)
        kernels.numbers["path"] = _at(numbers[path], around)
        called, group = np.unique(groups, return_inverse=True)
        span = ranges["start"], ranges["end"]
        return step_ranges(called.tolist(), group[name], *span, thread[: len(ranges)])

    def _counters(self, event_of: I64) -> dict[int, dict[str, float]]:
        """Counters by kernel; one counter has a row per instance of its block."""
        kinds = self._described("info_pmc", "symbol", "name")
        names = {number: row.get("symbol") or row.get("name", "") for number, row in kinds.items()}
        table = self._read(self._of("pmc_event"), needed=("event_id", "pmc_id"), reals=("value",))
        counters: dict[int, dict[str, float]] = {}
        columns = (table["event_id"].tolist(), table["pmc_id"].tolist(), table.reals["value"])
        for event, kind, value in zip(*columns, strict=True):
            name = names.get(kind, "")
            if name and 0 <= value < _MOST:
                mine = counters.setdefault(event, {})
                mine[name] = mine.get(name, 0.0) + value
        events = event_of.tolist() if counters else []
        return {at: counters[event] for at, event in enumerate(events) if event in counters}

    def _copies(self, gpus: I64) -> Table:
        needed = ("start", "end", "size", "src_agent_id", "dst_agent_id")
        table = _timed(self._read(self._of("memory_copy"), needed=needed, optional=("name_id",)))
        source, target = table["src_agent_id"], table["dst_agent_id"]
        is_gpu = [np.isin(end, gpus).astype(np.int64) for end in (source, target)]
        is_known = (table["size"] >= 0) & (table["size"] < _MOST)
        table.numbers["size"] = np.where(is_known, table["size"], ABSENT)
        is_peer = is_gpu[0] * is_gpu[1] * (source != target)
        name = table.numbers["name"] = self._names.numbers(
            self._copy_name, table["name_id"], is_peer, *is_gpu
        )
        inwards = np.array([text.endswith("HOST_TO_DEVICE") for text in self._names.texts])
        is_in = (is_gpu[0] == 0) & ((is_gpu[1] == 1) | inwards.astype(np.bool_)[name])
        table.numbers["agent_id"] = np.where(is_in, target, source)
        return table

    def _copy_name(self, number: int, is_peer: int, *is_gpu: int) -> str:
        source, target = (("HOST", "DEVICE")[end] for end in is_gpu)
        name = self._strings.get(number) or f"MEMORY_COPY_{source}_TO_{target}"
        return f"{name}{PEER}" if is_peer else name


def _timed(table: Table) -> Table:
    """The table without times that cannot be."""
    begin, end = table["start"], table["end"]
    is_sound = (begin >= 0) & (end > begin) & (end - begin < _LONGEST_NS)
    for name in ("start", "end"):
        table.numbers[name] = np.where(is_sound, table[name], ABSENT)
    return table


def _at(column: I64, place: I32) -> I64:
    """The values at these places; `ABSENT` at none."""
    found: I64 = np.append(column, ABSENT)[place]
    return found


def _object(text: str | None) -> Mapping[str, object]:
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def agent_of(agent: Json) -> Agent:
    """The GPU that `agent` describes, under the keys of rocprofv3."""
    name, architecture = text_of(agent, "name"), _architecture(agent)
    numbers = ("cu_count", "max_engine_clk_fcompute", "num_xcc", "max_waves_per_cu")
    units, clock_mhz, dies, waves = (whole(agent.get(key)) or None for key in numbers)
    clock_ghz = clock_mhz / KILO if clock_mhz else None
    return Agent(
        name=text_of(agent, "product_name") or text_of(agent, "user_name") or name or architecture,
        traits=DeviceTraits(processor_count=units, clock_ghz=clock_ghz, architecture=architecture),
        size=amd_size(architecture, units=units, clock_ghz=clock_ghz, dies=dies, unit_waves=waves),
    )


def _architecture(agent: Json) -> str:
    """`gfx942` from 90402: two digits of the version, then stepping, as hexadecimal digits."""
    name, version = text_of(agent, "name"), whole(agent.get("gfx_target_version"))
    if name.startswith("gfx") or not version:
        return name if name.startswith("gfx") else ""
    return f"gfx{version // 10_000}{version // 100 % 100:x}{version % 100:x}"


def kernel_name(symbol: Json) -> str:
    """The name of a kernel as people write it, under the keys of rocprofv3; "" without one."""
    keys = ("formatted_kernel_name", "demangled_kernel_name", "display_name", "kernel_name")
    name = next((text for key in keys if (text := text_of(symbol, key))), "")
    return name.removesuffix(".kd").removesuffix(" [clone .kd]")


def whole(value: object) -> int | None:
    """A count, as a number or its digits, or `None`."""
    if isinstance(value, str) and len(value) < _DIGITS and value.strip().isdecimal():
        value = int(value)
    return value if type(value) is int and 0 <= value < _MOST else None


def text_of(record: Json, key: str) -> str:
    """A text of a record, as people read it."""
    value = record.get(key)
    return shown(value[:_MAX_NAME]) if isinstance(value, str) else ""
