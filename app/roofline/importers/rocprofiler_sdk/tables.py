"""Processes in the tables of a database of rocprofv3 (rocpd, schema 3).

Every process has tables of its own, `rocpd_NAME` and the process's UUID; ids are local to them.
The views of the file are never used. A dispatch and the HIP call that launched it have events with
one `stack_id`; correlation ids are 0 in ROCm 7.1. `rocpd_info_process`, which has the environment
and the command line, is never read.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from roofline.importers.shared.amd_counters import AmdSize, amd_size
from roofline.importers.shared.databases import ABSENT, Database, Table, Tables, joined
from roofline.importers.shared.events import Names, place_of
from roofline.importers.shared.kernel_names import group_name, shown
from roofline.importers.shared.nesting import nest, paths_of
from roofline.importers.shared.steps import step_ranges
from roofline.importers.shared.tables_text import json_of
from roofline.importers.source import SourceFile
from roofline.model.device import DeviceKind, DeviceTraits, ReportedDevice
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
_WORK = re.compile(f"{PREFIX}(?:kernel_dispatch|memory_copy)(.*)", re.DOTALL)

Json = dict[str, Any]
Counters = dict[int, dict[str, float]]


class Agent(NamedTuple):
    """A GPU, and its size for shares of counters."""

    device: ReportedDevice
    size: AmdSize


UNKNOWN = Agent(ReportedDevice(kind=DeviceKind.GPU, name="AMD GPU", core_count=1), AmdSize())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Process:
    """Kernels and then copies of one process; agents by the numbers that these have.

    Columns are those of `EVENT`; `ABSENT` is unknown, and the dispatch of a copy. Times are ns of
    the machine's clock, both known or neither. `launched` is when the host called; `name` and
    `path`, the ranges around that call, are places among the names of the upload. Grids are in work
    items, sizes in bytes. `counters` are those of a kernel, by its row. `apart` records were left
    out, as their clock is another. `steps` are the begin and end of ranges that are called so.
    """

    file_name: str
    pid: int
    agents: Mapping[int, Agent]
    events: Table
    counters: Counters
    steps: I64
    apart: int = 0


def read_database(source: SourceFile, names: Names) -> list[Process]:
    """The processes in `source`. Raises `CorruptProfileError` for damage."""
    database = Database(source)
    found = [match for name in sorted(database.tables) if (match := _WORK.match(name))]
    suffixes = dict.fromkeys(match[1] for match in found)
    return [ProcessTables(database, names, suffix).process(source.name) for suffix in suffixes]


class ProcessTables:
    """The tables of one process."""

    def __init__(self, file: Database | Tables, names: Names, suffix: str = "") -> None:
        self._file, self._suffix, self._names = file, suffix, names
        strings = self._read("string", "id", texts=("string",))
        self._strings = strings.texts_by("id", "string")

    def _read(self, name: str, *needed: str, **wanted: Any) -> Table:
        return self._file.read(f"{PREFIX}{name}{self._suffix}", needed=needed, **wanted)

    def _events(self, name: str, *needed: str, optional: Sequence[str]) -> Table:
        """A table of events, without times that cannot be."""
        table = self._read(name, "start", "end", *needed, optional=optional)
        begin, end = table["start"], table["end"]
        is_sound = (begin >= 0) & (end > begin) & (end - begin < _LONGEST_NS)
        for edge in ("start", "end"):
            table[edge][~is_sound] = ABSENT
        return table

    def _described(self, name: str, *texts: str) -> dict[int, Json]:
        """The rows of a small table by id, with what `extdata` holds beside its columns."""
        found = {}
        for row in self._read(name, "id", texts=(*texts, "extdata")).rows():
            more = json_of(row.get("extdata", ""))
            found[row["id"]] = {**more, **row} if isinstance(more, dict) else row
        return found

    def process(self, file_name: str, gpus: Mapping[int, Json] | None = None) -> Process:
        """The process; its GPUs are `gpus`, or those that the tables describe."""
        if gpus is None:
            agents = self._described("info_agent", "type", "name", "product_name", "user_name")
            gpus = {number: row for number, row in agents.items() if row.get("type") == "GPU"}
        kernels, steps = self._kernels()
        return Process(
            file_name=file_name,
            pid=int(kernels["pid"].max(initial=0)),
            agents={number: agent_of(row) for number, row in gpus.items()},
            events=joined([kernels, self._copies(np.array([*gpus], np.int64))], EVENT),
            counters=self._counters(kernels["event_id"]),
            steps=steps,
        )

    def _kernels(self) -> tuple[Table, I64]:
        needed = ("agent_id", "kernel_id", "dispatch_id")
        table = self._events("kernel_dispatch", *needed, optional=("event_id", "pid", *SIZES))
        symbols = self._described("info_kernel_symbol", "display_name", "kernel_name")
        table.numbers["name"] = self._names.numbers(
            lambda one: kernel_name(symbols.get(one, {})) or f"kernel {one}", table["kernel_id"]
        )
        return table, self._add_calls(table)

    def _add_calls(self, kernels: Table) -> I64:
        """When the host called for each kernel, and the path of ranges of roctx around that call,
        outermost first, without numbers of instances; the steps among these ranges."""
        events = self._read("event", "id", optional=("stack_id", "category_id"))
        calls = self._read("region", "start", "event_id", optional=("tid", "end", "name_id"))
        order = np.argsort(calls["start"], kind="stable")
        event = place_of(calls["event_id"], events["id"])
        category, key = (_at(events[of], event) for of in ("category_id", "stack_id"))
        own = _at(events["stack_id"], place_of(kernels["event_id"], events["id"]))
        first = place_of(own, key[order])
        launched, tid = (_at(calls[of][order], first) for of in ("start", "tid"))
        kernels.numbers["launched"] = launched
        markers = [one for one, text in self._strings.items() if (text or "").startswith(MARKER)]
        ranges = calls.selected(np.isin(category, markers) & (calls["end"] > calls["start"]))
        begin, end, n = ranges["start"], ranges["end"], len(ranges)
        if not n:
            return np.zeros((0, 2), np.int64)
        named, name = np.unique(ranges["name_id"], return_inverse=True)
        _, thread = np.unique(np.append(ranges["tid"], tid), return_inverse=True)
        spans = {"begin": begin, "duration": end - begin, "thread": thread[:n]}
        outer, around, outside_in = nest(**spans, point_ns=launched, point_thread=thread[n:])
        texts = [(self._strings.get(number) or "")[:_MOST_LETTERS] for number in named.tolist()]
        groups = [group_name(shown(text)).replace("/", "∕") or "range" for text in texts]
        path, found = paths_of(groups, name, outer, outside_in)
        numbers = np.append(self._names.places(found), ABSENT)
        kernels.numbers["path"] = _at(numbers[path], around)
        called, group = np.unique(groups, return_inverse=True)
        return step_ranges(called.tolist(), group[name], begin, end, thread[:n])

    def _counters(self, event_of: I64) -> Counters:
        """Counters by kernel."""
        kinds = self._described("info_pmc", "symbol", "name")
        names = {number: row.get("symbol") or row.get("name", "") for number, row in kinds.items()}
        table = self._read("pmc_event", "event_id", "pmc_id", reals=("value",))
        counters: Counters = {}
        columns = (table["event_id"].tolist(), table["pmc_id"].tolist(), table.reals["value"])
        for event, kind, value in zip(*columns, strict=True):
            add_counter(counters, event, names.get(kind, ""), value)
        events = event_of.tolist() if counters else []
        return {at: counters[event] for at, event in enumerate(events) if event in counters}

    def _copies(self, gpus: I64) -> Table:
        needed = ("size", "src_agent_id", "dst_agent_id")
        table = self._events("memory_copy", *needed, optional=("name_id",))
        source, target = table["src_agent_id"], table["dst_agent_id"]
        from_gpu, to_gpu = np.isin(source, gpus), np.isin(target, gpus)
        table["size"][(table["size"] < 0) | (table["size"] >= _MOST)] = ABSENT
        name = table.numbers["name"] = self._names.numbers(
            lambda one, is_peer: (self._strings.get(one) or "memory copy") + PEER * is_peer,
            table["name_id"],
            (from_gpu & to_gpu & (source != target)).astype(np.int64),
        )
        inwards = np.array([text.endswith("HOST_TO_DEVICE") for text in self._names.texts], bool)
        table.numbers["agent_id"] = np.where(~from_gpu & (to_gpu | inwards[name]), target, source)
        return table


def add_counter(counters: Counters, event: int, name: str, value: float) -> None:
    """Add a counter to those of an event: one counter has a value per instance of its block."""
    if name and 0 <= value < _MOST:
        mine = counters.setdefault(event, {})
        mine[name] = mine.get(name, 0.0) + value


def _at(column: I64, place: I32) -> I64:
    """The values at these places; `ABSENT` at none."""
    found: I64 = np.append(column, ABSENT)[place]
    return found


def agent_of(agent: Json) -> Agent:
    """The GPU that `agent` describes, under the keys of rocprofv3."""
    name, version = text_of(agent, "name"), whole(agent.get("gfx_target_version"))
    # 90402 is gfx942: two digits of the version, then stepping, as hexadecimal digits.
    made = f"gfx{version // 10_000}{version // 100 % 100:x}{version % 100:x}" if version else ""
    architecture = name if name.startswith("gfx") else made
    numbers = ("cu_count", "max_engine_clk_fcompute", "num_xcc", "max_waves_per_cu")
    units, clock_mhz, dies, waves = (whole(agent.get(key)) or None for key in numbers)
    clock_ghz = clock_mhz / KILO if clock_mhz else None
    name = text_of(agent, "product_name") or text_of(agent, "user_name") or name or architecture
    traits = DeviceTraits(processor_count=units, clock_ghz=clock_ghz, architecture=architecture)
    return Agent(
        ReportedDevice(kind=DeviceKind.GPU, name=name, core_count=1, traits=traits),
        amd_size(architecture, units=units, clock_ghz=clock_ghz, dies=dies, unit_waves=waves),
    )


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
