"""The tables of one export as columns. Times are ns since the start of the session.

Tables and columns differ by version and are written only where there is something to write, so
what exists is read, and the version is never asked. A correlation id is one of its process.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from roofline.errors import CorruptProfileError
from roofline.importers.shared.databases import ABSENT, Database, Table
from roofline.importers.shared.events import distinct
from roofline.importers.shared.notes import compared
from roofline.importers.source import SourceFile
from roofline.model.op_columns import I64
from roofline.model.profile import SHAPE_AXES, Stated, distinct_shapes
from roofline.model.units import NS_PER_S

# No capture lasts longer: events farther apart are damage. In ns.
_LONGEST_NS = 30 * 86_400 * NS_PER_S
_MAX_NAME = 4_000
_PREFIX = "CUPTI_ACTIVITY_KIND_"
# Numbers behind these words in the text of a range are those of one call.
IDS = (b", seq = ", b", op_id = ")
_EVENT = ("start", "end", "deviceId", "globalPid")
_SHAPE = tuple(f"{of}{axis}" for of in ("grid", "block") for axis in "XYZ")
# `copyKind` by its number, after `ENUM_CUDA_MEMCPY_OPER`, in the words of other profilers.
_COPIES = {
    **dict.fromkeys((1, 3, 11), "Memcpy HtoD"),
    **dict.fromkeys((2, 4, 12), "Memcpy DtoH"),
    **dict.fromkeys((5, 6, 7, 8, 13), "Memcpy DtoD"),
    9: "Memcpy HtoH",
    10: "Memcpy PtoP",
}
_BETWEEN_HOSTS, PEER_TO_PEER = 9, "Memcpy PtoP"
_UNIFIED = (11, 12, 13)
_MEMORIES = {0: "Pageable", 1: "Pinned", 2: "Device", 3: "Array", 4: "Managed"}
_WARNING = 2  # severity of a diagnostic
_COLLECTED = re.compile(r"Number of CUDA events collected:\s*([\d,]{1,20})")
_NOT_OF_GPUS = ("paranoid", "OpenGL", "NVTX events", "CPU", "sampl", "sched", "context switch")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Events:
    """Work of GPUs: `gpu` numbers these from 0, `key` tells the launch (process and correlation).

    `name` is the place in the recording's names, `size` the bytes that a copy or memset moves
    (`ABSENT`: none), `is_kernel` true for kernels and graphs, `shape` the place in the recording's
    shapes.
    """

    begin: I64
    end: I64
    gpu: I64
    key: I64
    name: I64
    size: I64
    is_kernel: I64
    shape: I64

    def __len__(self) -> int:
        return len(self.begin)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Recording:
    """One export. `gpus` are those that ran something, as rows of the file's own table of devices,
    `gpu_ids` their numbers by the ids of that table.

    `launches` and `ranges` are tables of calls and of NVTX ranges; `range_text` has the texts of
    ranges, at the places `ranges["text"]`. `graph_time_ns` is the time of graphs that were recorded
    as one event each.
    """

    file_name: str
    version: str
    captured_at_ns: int | None
    names: Sequence[str]
    shapes: I64
    events: Events
    gpus: Sequence[Mapping[str, int | str]]
    gpu_ids: Mapping[int, int]
    are_gpus_known: bool
    launches: Table
    launch_names: Mapping[int, str]
    ranges: Table
    range_text: Sequence[str]
    graph_time_ns: int
    metrics: Table
    metric_names: Table
    warnings: Sequence[str]
    stated: Sequence[Stated]


def read_recording(source: SourceFile) -> Recording:
    """The content of one export. Raises `CorruptProfileError` for damage."""
    return _Reader(source.name, Database(source)).recording()


class _Reader:
    def __init__(self, file_name: str, database: Database) -> None:
        self._file_name, self._database = file_name, database
        strings = database.read("StringIds", needed=("id",), texts=("value",))
        self._strings = dict(zip(strings["id"].tolist(), strings.texts["value"], strict=True))
        self._names: dict[str, int] = {}
        self._shapes = np.zeros((1, SHAPE_AXES), np.int64)
        self._gpu_ids: dict[int, int] = {}

    def recording(self) -> Recording:
        read = self._database.read
        kernels, graphs = self._kernels(), self._graphs()
        copies, memsets = self._copies(), self._memsets()
        events, gpus, are_known = self._on_gpus([kernels, graphs, copies, memsets])
        launches = read(
            f"{_PREFIX}RUNTIME", needed=("start", "end", "globalTid", "correlationId", "nameId")
        )
        ranges, texts = self._ranges()
        return Recording(
            file_name=self._file_name,
            version=self._version(),
            captured_at_ns=self._captured_at_ns(),
            names=list(self._names),
            shapes=self._shapes,
            events=events,
            gpus=gpus,
            gpu_ids=self._gpu_ids,
            are_gpus_known=are_known,
            launches=launches,
            launch_names={
                number: self._text(number) for number in np.unique(launches["nameId"]).tolist()
            },
            ranges=ranges,
            range_text=texts,
            graph_time_ns=int((graphs["end"] - graphs["start"]).sum()),
            metrics=read("GPU_METRICS", needed=("timestamp", "typeId", "metricId", "value")),
            metric_names=read(
                "TARGET_INFO_GPU_METRICS",
                needed=("typeId", "metricId"),
                texts=("metricName", "typeName"),
            ),
            warnings=self._warnings(),
            stated=self._stated(len(kernels) + len(copies) + len(memsets) + len(launches)),
        )

    # -------------------------------------------------------------------------------------- events

    def _kernels(self) -> Table:
        table = self._sound(
            f"{_PREFIX}KERNEL",
            (*_EVENT, "correlationId"),
            ("demangledName", "shortName", *_SHAPE),
        )
        named = np.where(
            table["demangledName"] == ABSENT, table["shortName"], table["demangledName"]
        )
        distinct, place = np.unique(named, return_inverse=True)
        numbers = [self._number(self._text(number) or "kernel") for number in distinct.tolist()]
        table.numbers["name"] = np.array(numbers, np.int64)[place]
        found = distinct_shapes(
            np.maximum(np.stack([table.numbers.pop(axis) for axis in _SHAPE], axis=1), 0)
        )
        self._shapes = found["shapes"]
        table.numbers["shape"] = found["shape"]
        return table

    def _graphs(self) -> Table:
        """Launches of whole graphs, where the kernels inside were not recorded."""
        table = self._sound(f"{_PREFIX}GRAPH_TRACE", (*_EVENT, "correlationId", "graphId"), ())
        distinct, place = np.unique(table["graphId"], return_inverse=True)
        numbers = [self._number(f"CUDA graph {number}") for number in distinct.tolist()]
        table.numbers["name"] = np.array(numbers, np.int64)[place]
        return table

    def _copies(self) -> Table:
        table = self._sound(
            f"{_PREFIX}MEMCPY",
            (*_EVENT, "correlationId", "bytes", "copyKind"),
            ("srcKind", "dstKind"),
        )
        table = _selected(table, table["copyKind"] != _BETWEEN_HOSTS)
        columns = [table[name] for name in ("copyKind", "srcKind", "dstKind")]
        distinct, place = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
        numbers = [self._number(_copy_name(*row)) for row in distinct.tolist()]
        table.numbers["name"] = np.array(numbers, np.int64)[place.ravel()]
        return table

    def _memsets(self) -> Table:
        table = self._sound(f"{_PREFIX}MEMSET", (*_EVENT, "correlationId", "bytes"), ())
        name = self._number("Memset (Device)") if len(table) else 0
        table.numbers["name"] = np.full(len(table), name)
        return table

    def _sound(self, name: str, needed: Sequence[str], optional: Sequence[str]) -> Table:
        """A table of events; those that end before they begin are left out, if they are few."""
        table = self._database.read(name, needed=needed, optional=optional)
        lasted = table["end"] - table["start"]
        is_sound = (lasted >= 0) & (lasted < _LONGEST_NS) & (table["start"] > -_LONGEST_NS)
        is_sound &= (table["start"] < 2**62) & (table["end"] > 0)
        bad = np.flatnonzero(~is_sound)
        if len(bad) > 0.01 * len(table) and not name.endswith("GRAPH_TRACE"):
            raise CorruptProfileError(
                f"{self._file_name}: {len(bad):,} rows of {name} end before they begin or last for"
                f" weeks, the first is row {bad[0] + 1:,}.",
                remedy="Export the report again.",
            )
        return _selected(table, is_sound) if len(bad) else table

    def _on_gpus(
        self, tables: Sequence[Table]
    ) -> tuple[Events, list[Mapping[str, int | str]], bool]:
        """All events with the number of the physical GPU that ran each."""

        def column(name: str) -> I64:
            return np.concatenate([table[name] for table in tables])

        pid, ordinal = pids(column("globalPid")), column("deviceId")
        pairs, place = np.unique(np.stack([pid, ordinal], axis=1), axis=0, return_inverse=True)
        found = [self._gpu(int(process), int(device)) for process, device in pairs.tolist()]
        order = {key: k for k, key in enumerate(dict.fromkeys(key for key, _ in found))}
        number = np.array([order[key] for key, _ in found], np.int64)
        rows = {order[key]: row for key, row in found}
        lengths = [len(table) for table in tables]
        sizes = [
            table["bytes"] if "bytes" in table.numbers else np.full(len(table), ABSENT)
            for table in tables
        ]
        events = Events(
            begin=column("start"),
            end=column("end"),
            gpu=number[place.ravel()] if len(number) else np.zeros(0, np.int64),
            key=launch_key(pid, column("correlationId")),
            name=column("name"),
            size=np.concatenate(sizes),
            is_kernel=np.repeat([1, 1, 0, 0], lengths),
            shape=np.concatenate([tables[0]["shape"], np.zeros(sum(lengths[1:]), np.int64)]),
        )
        if len(events) and int(events.end.max()) - int(events.begin.min()) > _LONGEST_NS:
            raise CorruptProfileError(
                f"{self._file_name}: its events are more than 30 days apart.",
                remedy="Export the report again.",
            )
        known = all(isinstance(key, int) for key in order)
        self._gpu_ids = {key: k for key, k in order.items() if isinstance(key, int)}
        return events, [rows[k] for k in range(len(rows))], known

    # ------------------------------------------------------------------------------------- devices

    def _gpu(self, pid: int, ordinal: int) -> tuple[object, Mapping[str, int | str]]:
        """What tells the GPU that a process calls `ordinal`, and the file's row of it."""
        of_process, gpus = self._devices()
        number = of_process.get((pid, ordinal))
        if number is None:
            ordinals = {row["cuDevice"]: key for key, row in gpus.items()}
            number = ordinals.get(ordinal)
        if number is None:
            return (pid, ordinal), {}
        return number, gpus.get(number, {})

    def _devices(self) -> tuple[dict[tuple[int, int], int], dict[int, dict[str, int | str]]]:
        read = self._database.read
        pairs = read("TARGET_INFO_CUDA_DEVICE", needed=("gpuId", "cudaId", "pid"))
        columns = (pairs[name].tolist() for name in ("pid", "cudaId", "gpuId"))
        of_process = {(pid, cuda): gpu for pid, cuda, gpu in zip(*columns, strict=True)}
        numbers = (
            "smCount", "clockRate", "memoryBandwidth", "totalMemory", "computeMajor",
            "computeMinor", "cuDevice",
        )  # fmt: skip
        table = read("TARGET_INFO_GPU", needed=("id",), optional=numbers, texts=("name",))
        gpus: dict[int, dict[str, int | str]] = {}
        for at, number in enumerate(table["id"].tolist()):
            row: dict[str, int | str] = {name: int(table[name][at]) for name in numbers}
            row = {name: value for name, value in row.items() if value != ABSENT}
            row.setdefault("cuDevice", -1)
            gpus[number] = {**row, "name": (table.texts["name"][at] or "")[:200]}
        return of_process, gpus

    # ---------------------------------------------------------------------------------------- rest

    def _ranges(self) -> tuple[Table, list[str]]:
        """Push/pop ranges of threads, and their texts; one without an end is still open."""
        table = self._database.read(
            "NVTX_EVENTS",
            needed=("start", "eventType", "globalTid"),
            optional=("end", "textId"),
            distinct=("text",),
            numbered=IDS,
        )
        is_range = np.isin(table["eventType"], (59, 70)) & (table["start"] >= 0)
        is_range &= table["start"] < 2**62
        ranges, texts = _selected(table, is_range), table.distinct["text"]
        empty = np.append([not text for text in texts], True)  # the last: no text
        elsewhere = np.flatnonzero(empty[ranges["text"]])
        numbers, place = np.unique(ranges["textId"][elsewhere], return_inverse=True)
        ranges["text"][elsewhere] = len(texts) + place
        texts += map(self._text, numbers.tolist())
        used, ranges.numbers["text"] = distinct(ranges["text"], len(texts))
        return ranges, [texts[number] for number in used.tolist()]

    def _version(self) -> str:
        for name in ("META_DATA_EXPORT", "EXPORT_META_DATA"):
            table = self._database.read(name, texts=("name", "value"))
            pairs = zip(table.texts["name"], table.texts["value"], strict=True)
            version = dict(pairs).get("EXPORT_PRODUCT_VERSION")
            if version:
                return ".".join(version[:40].split(".")[:2])
        return ""

    def _captured_at_ns(self) -> int | None:
        table = self._database.read("TARGET_INFO_SESSION_START_TIME", needed=("utcEpochNs",))
        first = int(table["utcEpochNs"][0]) if len(table) else 0
        return first if 10**18 < first < 2**62 else None

    def _warnings(self) -> list[str]:
        table = self._database.read("DIAGNOSTIC_EVENT", needed=("severity",), texts=("text",))
        texts = [
            (text or "").strip()[:300]
            for severity, text in zip(table["severity"].tolist(), table.texts["text"], strict=True)
            if severity >= _WARNING
        ]
        return [
            text for text in dict.fromkeys(texts)
            if text and not any(word.lower() in text.lower() for word in _NOT_OF_GPUS)
        ][:5]  # fmt: skip

    def _stated(self, events: int) -> list[Stated]:
        """How many events of CUDA the profiler says that it collected, and how many were read."""
        table = self._database.read("DIAGNOSTIC_EVENT", texts=("text",))
        found = (_COLLECTED.match(text or "") for text in table.texts["text"])
        counts = [int(match[1].replace(",", "")) for match in found if match]
        where = f"a message in {self._file_name}"
        return [compared("events of CUDA", events, counts[0], where)] if len(counts) == 1 else []

    def _text(self, number: int) -> str:
        return shown(self._strings.get(number) or "")

    def _number(self, name: str) -> int:
        return self._names.setdefault(name, len(self._names))


def shown(text: str) -> str:
    """A text of the file without control characters, and not too long."""
    cut = text[:_MAX_NAME]
    if not cut.isprintable():
        cut = "".join(ch if ch.isprintable() else " " for ch in cut)
    return cut.strip()


def pids(global_ids: I64) -> I64:
    """The process of a global id: 8 bits of hardware, 8 of the VM, 24 of the process, 24 of the
    thread."""
    return (global_ids >> 24) & 0xFFFFFF


def launch_key(pid: I64, correlation: I64) -> I64:
    """One number per process and correlation id, which alone is not unique; -1 for none."""
    known = (correlation > 0) & (correlation < 2**38)
    return np.where(known, (pid << 38) | (correlation & (2**38 - 1)), -1)


def _selected(table: Table, rows: np.typing.NDArray[np.bool_]) -> Table:
    return Table(numbers={name: column[rows] for name, column in table.numbers.items()})


def _copy_name(kind: int, source: int, target: int) -> str:
    """As in PyTorch's traces: `Memcpy HtoD (Pinned -> Device)`."""
    name = _COPIES.get(kind, "Memcpy")
    if kind in _UNIFIED:
        return f"{name} (unified memory)"
    of, to = _MEMORIES.get(source), _MEMORIES.get(target)
    return f"{name} ({of} -> {to})" if of and to else name
