"""One file of results: its processes, with their agents, dispatches, copies and counters."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from roofline.errors import CorruptProfileError, UploadTooLargeError
from roofline.importers.shared.nesting import nest, paths_of
from roofline.importers.source import SourceFile
from roofline.model.op_columns import I64
from roofline.model.profile import SHAPE_AXES
from roofline.model.units import GIB, NS_PER_S

TOOL = "rocprofiler-sdk-tool"
MOST_BYTES = 2 * GIB
_GPU = 2  # rocprofiler_agent_type_t
_LONGEST_NS = 30 * 86_400 * NS_PER_S
_MOST = 2**62
_MAX_NAME = 2_000

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """A GPU: its product's name, its architecture (`gfx942`) and its size.

    `dies` are those with compute units, `unit_waves` the waves that fit on one compute unit.
    """

    name: str
    architecture: str
    compute_units: int | None
    clock_mhz: int | None
    dies: int | None = None
    unit_waves: int | None = None


@dataclass(slots=True, kw_only=True)
class Dispatch:
    """One kernel on one agent. Times are ns of the machine's clock. `None` is unknown. `shape` are
    workgroups and work items of one along x, y and z, 0 where unknown. `launched_ns` is when the
    host called for it, `path` the ranges of the program around that call."""

    kernel: str
    agent: int
    number: int
    grid: str
    shape: tuple[int, ...]
    times: tuple[int, int] | None
    counters: dict[str, float] = field(default_factory=dict)
    launched_ns: int | None = None
    path: str = ""

    @property
    def blocks(self) -> int | None:
        """The number of workgroups."""
        return math.prod(self.shape[:3]) or None

    @property
    def detail(self) -> str:
        """Which one it is, in words."""
        return f"dispatch {self.number}" + (f", grid {self.grid}" if self.grid else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """One asynchronous copy; `size` in bytes, `None` where unknown."""

    name: str
    agent: int
    times: tuple[int, int] | None
    size: int | None
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """The records of one process of a file; agents by their handle."""

    file_name: str
    pid: int
    agents: Mapping[int, Agent]
    dispatches: Sequence[Dispatch]
    copies: Sequence[Copy]

    @property
    def events(self) -> list[Dispatch | Copy]:
        """Kernels and copies."""
        return [*self.dispatches, *self.copies]


def read_file(source: SourceFile) -> list[Process]:
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
    return [_process(source.name, tool) for tool in tools if isinstance(tool, dict)]


def _process(file_name: str, tool: Json) -> Process:
    kernels = _kernel_names(tool)
    buffers, callbacks = _object(tool, "buffer_records"), _object(tool, "callback_records")
    dispatches: dict[int, Dispatch] = {}
    for place, record in enumerate(_list(buffers, "kernel_dispatch")):
        dispatch = _dispatch(_object(record, "dispatch_info"), record, kernels, place)
        dispatches[dispatch.number] = dispatch
    names = _counter_names(tool)
    for dispatch in _counted(_list(callbacks, "counter_collection"), kernels, names):
        known = dispatches.setdefault(dispatch.number, dispatch)
        known.counters = dispatch.counters
        known.times = known.times or dispatch.times
    return Process(
        file_name=file_name,
        pid=_whole(_object(tool, "metadata").get("pid")) or 0,
        agents=dict(_agents(tool)),
        dispatches=list(dispatches.values()),
        copies=[*_copies(_list(buffers, "memory_copy"), tool)],
    )


def _agents(tool: Json) -> Iterator[tuple[int, Agent]]:
    for agent in _list(tool, "agents"):
        handle = _handle(agent, "id")
        if handle is not None and agent.get("type") == _GPU:
            yield handle, agent_of(agent)


def agent_of(agent: Json) -> Agent:
    """The GPU that `agent` describes, under the keys of rocprofv3."""
    architecture = _architecture(agent)
    return Agent(
        name=_text(agent, "product_name") or _text(agent, "name") or architecture,
        architecture=architecture,
        compute_units=_whole(agent.get("cu_count")) or None,
        clock_mhz=_whole(agent.get("max_engine_clk_fcompute")) or None,
        dies=_whole(agent.get("num_xcc")) or None,
        unit_waves=_whole(agent.get("max_waves_per_cu")) or None,
    )


def _architecture(agent: Json) -> str:
    """`gfx942` from 90402: two digits of the version, then stepping, as hexadecimal digits."""
    name, version = _text(agent, "name"), _whole(agent.get("gfx_target_version"))
    if name.startswith("gfx") or not version:
        return name if name.startswith("gfx") else ""
    return f"gfx{version // 10_000}{version // 100 % 100:x}{version % 100:x}"


def _kernel_names(tool: Json) -> dict[int, str]:
    names = {}
    for kernel_symbol in _list(tool, "kernel_symbols"):
        number = _whole(kernel_symbol.get("kernel_id"))
        if number is not None:
            names[number] = kernel_name(kernel_symbol)
    return names


def kernel_name(kernel_symbol: Json) -> str:
    """The name of a kernel as people write it, under the keys of rocprofv3; "" without one."""
    keys = ("formatted_kernel_name", "demangled_kernel_name", "display_name", "kernel_name")
    name = next((text for key in keys if (text := _text(kernel_symbol, key))), "")
    return name.removesuffix(".kd").removesuffix(" [clone .kd]")


def _counter_names(tool: Json) -> dict[int, str]:
    result = {}
    for counter in _list(tool, "counters"):
        handle = _handle(counter, "id")
        if handle is not None:
            result[handle] = _text(counter, "name")
    return result


def _dispatch(info: Json, timed: Json, kernels: Mapping[int, str], place: int) -> Dispatch:
    """A dispatch; `place` is that of its record, for files without numbers of dispatches."""
    number = _whole(info.get("dispatch_id"))
    kernel = _whole(info.get("kernel_id"))
    return Dispatch(
        kernel=kernels.get(-1 if kernel is None else kernel, "") or f"kernel {kernel}",
        agent=_handle(info, "agent_id") or 0,
        number=-1 - place if number is None else number,
        grid="x".join(map(str, _sizes(info, "grid_size"))),
        shape=shape_of(_sizes(info, "grid_size"), _sizes(info, "workgroup_size")),
        times=_times(timed),
    )


def _counted(
    records: Sequence[Json], kernels: Mapping[int, str], names: Mapping[int, str]
) -> Iterator[Dispatch]:
    """Dispatches with counters; one counter has a record per instance of its block."""
    for place, record in enumerate(records):
        data = _object(record, "dispatch_data")
        dispatch = _dispatch(_object(data, "dispatch_info"), data, kernels, place)
        for value in _list(record, "records"):
            name = names.get(_handle(value, "counter_id") or -1, "")
            number = value.get("value")
            if name and isinstance(number, int | float) and 0 <= number < _MOST:
                dispatch.counters[name] = dispatch.counters.get(name, 0.0) + float(number)
        yield dispatch


def _copies(records: Sequence[Json], tool: Json) -> Iterator[Copy]:
    kinds = _list(_object(tool, "strings"), "buffer_records")
    gpus = {handle for handle, _ in _agents(tool)}
    for record in records:
        source, target = _handle(record, "src_agent_id"), _handle(record, "dst_agent_id")
        yield Copy(
            name=_operation(record, kinds),
            agent=next((agent for agent in (target, source) if agent in gpus), 0) or 0,
            times=_times(record),
            size=_whole(record.get("bytes")),
        )


def _operation(record: Json, kinds: Sequence[Json]) -> str:
    """The name of a record, as `MEMORY_COPY_HOST_TO_DEVICE`."""
    kind, number = _whole(record.get("kind")), _whole(record.get("operation"))
    operations = _names(kinds[kind]) if kind is not None and kind < len(kinds) else []
    known = number is not None and number < len(operations)
    return operations[number] if known and number is not None else "memory copy"


def _names(kind: Json) -> list[str]:
    operations = kind.get("operations")
    return [str(name)[:_MAX_NAME] for name in operations] if isinstance(operations, list) else []


# ------------------------------------------------------------------------------------------- values


def _object(record: Json, key: str) -> Json:
    value = record.get(key)
    return value if isinstance(value, dict) else {}


def _list(record: Json, key: str) -> list[Json]:
    value = record.get(key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _whole(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < _MOST else None


def _handle(record: Json, key: str) -> int | None:
    """An id: a number, or an object around one."""
    value = record.get(key)
    number = value.get("handle") if isinstance(value, dict) else value
    return number if type(number) is int and 0 <= number < 2**64 else None


def _text(record: Json, key: str) -> str:
    value = record.get(key)
    if not isinstance(value, str):
        return ""
    shown = "".join(ch if ch.isprintable() else " " for ch in value[:_MAX_NAME])
    return shown.encode("utf-8", "replace").decode().strip()


def shape_of(items: Sequence[int], each: Sequence[int]) -> tuple[int, ...]:
    """Workgroups and work items of one along each axis: a dispatch's grid is in work items."""
    sizes = (*items, *each)
    if len(sizes) != SHAPE_AXES or not all(0 < size < 2**31 for size in sizes):
        return (0,) * SHAPE_AXES
    return (*(-(-of // by) for of, by in zip(items, each, strict=True)), *each)


def _sizes(record: Json, key: str) -> list[int]:
    """The sizes along x, y and z; none where one is missing."""
    sizes = [_whole(_object(record, key).get(axis)) for axis in "xyz"]
    return [size for size in sizes if size is not None] if None not in sizes else []


def _times(record: Json) -> tuple[int, int] | None:
    begin, end = _whole(record.get("start_timestamp")), _whole(record.get("end_timestamp"))
    if begin is None or end is None or not 0 < end - begin < _LONGEST_NS:
        return None
    return begin, end


MARKER = "MARKER"
"""The domain or category of roctx begins so."""

_INSTANCE = re.compile(r"[\s#:=_-]+\d{1,12}\Z")
_MOST_LETTERS = 200


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ranges:
    """Ranges of roctx: thread, times in ns, and a place in `names`."""

    thread: I64
    begin: I64
    end: I64
    name: I64
    names: Sequence[str]


def paths(ranges: Ranges, thread: I64, at_ns: I64) -> list[str]:
    """The path of ranges around each launch, outermost first, without numbers of instances."""
    lasted = np.flatnonzero(ranges.end > ranges.begin)
    _, place = np.unique(np.append(ranges.thread[lasted], thread), return_inverse=True)
    outer, around, order = nest(
        begin=ranges.begin[lasted],
        duration=(ranges.end - ranges.begin)[lasted],
        thread=place[: len(lasted)],
        point_ns=at_ns,
        point_thread=place[len(lasted) :],
    )
    groups = [_group(text) for text in ranges.names]
    path, texts = paths_of(groups, ranges.name[lasted], outer, order)
    texts.append("")
    return [texts[number] for number in np.append(path, -1)[around].tolist()]


def _group(name: str) -> str:
    """`step 17` is `step`."""
    text = "".join(ch if ch.isprintable() else " " for ch in name[:_MOST_LETTERS]).strip()
    return (_INSTANCE.sub("", text) or text).replace("/", "∕") or "range"


def longest_paths(processes: Sequence[Process]) -> Mapping[str, str]:
    """The path in which each kernel ran longest, by its name."""
    times: dict[str, dict[str, int]] = {}
    for process in processes:
        for one in process.dispatches:
            lasted = one.times[1] - one.times[0] if one.times else 0
            mine = times.setdefault(one.kernel, {})
            mine[one.path] = mine.get(one.path, 0) + lasted
    return {kernel: max(mine, key=lambda path: mine[path]) for kernel, mine in times.items()}
