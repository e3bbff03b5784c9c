"""The records of one process as columns, whichever kind of file has them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from roofline.errors import CorruptProfileError
from roofline.importers.shared.amd_counters import AmdSize, amd_size
from roofline.importers.shared.databases import ABSENT, Table
from roofline.importers.shared.events import Names, place_of
from roofline.importers.shared.kernel_names import group_name, shown
from roofline.importers.shared.nesting import nest, paths_of
from roofline.model.device import DeviceTraits
from roofline.model.op_columns import I64
from roofline.model.units import KILO, NS_PER_S

LONGEST_NS = 30 * 86_400 * NS_PER_S
MOST = 2**62
MARKER = "MARKER"
"""The domain or category of roctx begins so."""

SIZES = tuple(f"{of}_size_{axis}" for of in ("grid", "workgroup") for axis in "xyz")
EVENT = ("start", "end", "agent_id", "name", "dispatch_id", "launched", "path", "size", *SIZES)
_MAX_NAME, _MOST_LETTERS, _DIGITS = 2_000, 200, 21
_AGENT = re.compile(r"(?:Agent )?(\d{1,20})")

Json = Mapping[str, Any]
Row = dict[str, int]
"""One kernel or copy; columns that are left out are unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
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
    work items, sizes in bytes. `counters` are those of a kernel, by its row.
    """

    file_name: str
    pid: int
    agents: Mapping[int, Agent]
    kernels: Table
    copies: Table
    counters: dict[int, dict[str, float]]


@dataclass(slots=True, kw_only=True)
class Listed:
    """The records of one process as they are listed in files of text, under the keys of CSV.

    Values are numbers or their digits. `counted` are kernels with `counters`, `calls` those of the
    host and ranges of roctx, by their `domain`.
    """

    file_name: str
    pid: int | None = None
    kernels: list[Json] = field(default_factory=list)
    counted: list[Json] = field(default_factory=list)
    copies: list[Json] = field(default_factory=list)
    agents: list[Json] = field(default_factory=list)
    calls: list[Json] = field(default_factory=list)

    def process(self, names: Names) -> Process:
        """The records as columns. Raises `CorruptProfileError` where they are of two programs."""
        lines = [one for one in self.agents if str(one.get("agent_type")).strip().upper() == "GPU"]
        agents = {_number(one.get("node_id")): agent_of(one) for one in lines}
        rows: dict[int, Row] = {}
        for place, one in enumerate(self.kernels):
            row = _kernel(one, place, names)
            rows[row["dispatch_id"]] = row
        counters: dict[int, dict[str, float]] = {}
        for place, one in enumerate(self.counted, len(rows)):
            row = _kernel(one, place, names)
            number = row["dispatch_id"]
            known = rows[number] = {**row, **rows.get(number, {})}
            if known["name"] != row["name"]:
                ours, theirs = (names.texts[of["name"]][:60] for of in (known, row))
                raise CorruptProfileError(
                    f"{self.file_name}: dispatch {number} is {ours} in one table"
                    f" and {theirs} in another.",
                    remedy="Give the files of one run: their names begin with one number.",
                )
            counters.setdefault(number, {}).update(one["counters"])
        ordered = sorted(rows.values(), key=lambda row: (row.get("start", 0), row.get("end", 0)))
        kernels = columns(ordered)
        add_calls(
            kernels, np.array([row["key"] for row in ordered], np.int64), *self._calls(), names
        )
        return Process(
            file_name=self.file_name,
            pid=self.pid or 0,
            agents=agents,
            kernels=kernels,
            copies=columns(_copy(one, agents, names) for one in self.copies),
            counters={
                at: mine
                for at, row in enumerate(ordered)
                if (mine := counters.get(row["dispatch_id"]))
            },
        )

    def _calls(self) -> tuple[Table, Table, list[str]]:
        """Calls by correlation id, ranges of roctx, which launch nothing, and their texts."""
        calls, ranges, texts = list[Row](), list[Row](), list[str]()
        for one in self.calls:
            thread, begin = whole(one.get("thread_id")) or 0, whole(one.get("start_timestamp"))
            if str(one.get("domain")).startswith(MARKER):
                ranges.append({"tid": thread, "name": len(texts), **_times(one)})
                texts.append(str(one.get("function")))
            elif begin is not None:
                calls.append({"tid": thread, "start": begin, "key": _key(one)})
        return (
            columns(calls, ("key", "tid", "start")),
            columns(ranges, ("tid", "name", *EVENT[:2])),
            texts,
        )


def columns(rows: Iterable[Row], names: Sequence[str] = EVENT) -> Table:
    """Rows as columns of these names."""
    listed = [*rows]
    numbers = {name: [row.get(name, ABSENT) for row in listed] for name in names}
    return Table(numbers={name: np.array(column, np.int64) for name, column in numbers.items()})


def _kernel(record: Json, place: int, names: Names) -> Row:
    """A dispatch; `place` is that of its record, for files without numbers of dispatches."""
    number = whole(record.get("dispatch_id"))
    sizes = {name: whole(record.get(name)) for name in SIZES}
    return {
        "dispatch_id": -1 - place if number is None else number,
        "name": names.number(kernel_name(record) or "unnamed kernel"),
        "agent_id": _number(record.get("agent_id")),
        "key": _key(record),
        **{name: size for name, size in sizes.items() if size is not None},
        **_times(record),
    }


def _copy(record: Json, agents: Mapping[int, Agent], names: Names) -> Row:
    """A copy, of the GPU that it goes to, or else that it comes from."""
    name, size = text_of(record, "direction") or "memory copy", whole(record.get("bytes"))
    source, target = (_number(record.get(f"{end}_agent_id")) for end in ("source", "destination"))
    is_in = target in agents or (source not in agents and name.endswith("HOST_TO_DEVICE"))
    return {
        "name": names.number(name),
        "agent_id": target if is_in else source,
        "size": ABSENT if size is None else size,
        **_times(record),
    }


def _times(record: Json) -> Row:
    """The times of a record, where they can be."""
    begin, end = (whole(record.get(f"{of}_timestamp")) for of in ("start", "end"))
    if begin is None or end is None or not 0 < end - begin < LONGEST_NS:
        return {}
    return {"start": begin, "end": end}


def _key(record: Json) -> int:
    return whole(record.get("correlation_id")) or 0


def _number(value: object) -> int:
    """The number of an agent, which may have 64 bits, as a signed one: `Agent 4` is 4."""
    match = _AGENT.fullmatch(str(value).strip())
    return ((int(match[1]) ^ 2**63) & (2**64 - 1)) - 2**63 if match else 0


def agent_of(agent: Json) -> Agent:
    """The GPU that `agent` describes, under the keys of rocprofv3."""
    name, architecture = text_of(agent, "name"), _architecture(agent)
    numbers = ("cu_count", "max_engine_clk_fcompute", "num_xcc", "max_waves_per_cu")
    units, clock_mhz, dies, waves = (whole(agent.get(key)) or None for key in numbers)
    clock_ghz = clock_mhz / KILO if clock_mhz else None
    return Agent(
        name=text_of(agent, "product_name") or name or architecture,
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
    return value if type(value) is int and 0 <= value < MOST else None


def text_of(record: Json, key: str) -> str:
    """A text of a record, as people read it."""
    value = record.get(key)
    return shown(value[:_MAX_NAME]) if isinstance(value, str) else ""


def add_calls(
    kernels: Table, key: I64, calls: Table, ranges: Table, texts: Sequence[str], names: Names
) -> None:
    """When the host called for each kernel, and the path of ranges of roctx around that call,
    outermost first, without numbers of instances.

    The call is the first with the kernel's `key`, of more than 0. Calls have `key`, `start` and
    thread (`tid`), ranges `start`, `end`, `tid` and `name`, a place in `texts`.
    """
    order = np.argsort(calls["start"], kind="stable")
    first = place_of(key, calls["key"][order])
    launched, tid = (np.append(calls[of][order], ABSENT)[first] for of in ("start", "tid"))
    kernels.numbers["launched"] = launched
    ends = np.flatnonzero(ranges["end"] > ranges["start"])
    if not len(ends):
        return
    _, thread = np.unique(np.append(ranges["tid"][ends], tid), return_inverse=True)
    outer, around, outside_in = nest(
        begin=ranges["start"][ends],
        duration=(ranges["end"] - ranges["start"])[ends],
        thread=thread[: len(ends)],
        point_ns=launched,
        point_thread=thread[len(ends) :],
    )
    groups = [_group(text) for text in texts]
    path, found = paths_of(groups, ranges["name"][ends], outer, outside_in)
    numbers = np.array([*map(names.number, found), ABSENT], np.int64)
    kernels.numbers["path"] = np.append(numbers[path], ABSENT)[around]


def _group(name: str) -> str:
    return group_name(shown(name[:_MOST_LETTERS])).replace("/", "∕") or "range"
