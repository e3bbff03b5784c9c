"""The tables of one export as columns. Times are ns since the start of the session.

Tables and columns differ by version and are written only where there is something to write, so
what exists is read, and the version is never asked. A correlation id is one of its process.

Tables that `nsys stats` writes as text have all work in the order of time, or sums by kernel.
Reports had other names until 2022 (`gputrace`, `gpukernsum`), so the columns tell a table.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from roofline.errors import CorruptProfileError
from roofline.importers.pytorch.collectives import payloads_of
from roofline.importers.pytorch.trace import api_of
from roofline.importers.shared.databases import ABSENT, Database, Table, Tables, joined, numbered
from roofline.importers.shared.events import Names, place_of
from roofline.importers.shared.kernel_names import COPY, kernel_category, shown
from roofline.importers.shared.launches import Launch
from roofline.importers.shared.listed_tables import ListedTable
from roofline.model.memory import MemoryLevel
from roofline.model.notes import compared
from roofline.model.op_columns import I64
from roofline.model.profile import Stated, distinct, distinct_rows, distinct_shapes
from roofline.model.units import KILO, MIB, NS_PER_S

# No capture lasts longer: events farther apart are damage. In ns.
_LONGEST_NS = 30 * 86_400 * NS_PER_S
_PREFIX = "CUPTI_ACTIVITY_KIND_"
# Numbers behind these words in the text of a range are those of one call.
IDS = (b", seq = ", b", op_id = ")
START_END = 60  # a range that may end on another thread, or within another one
_EVENT = ("start", "end", "deviceId", "globalPid", "correlationId")
# Tables of GPUs, until 2022 and since: their columns under the names of a trace's header, by unit.
_GPUS = (
    ("TARGET_INFO_CUDA_GPU", "deviceId", {
        "deviceId": ("cuDevice", 1), "numMultiprocessors": ("numSms", 1),
        "coreClockRate": ("clockRate", KILO), "globalMemorySize": ("totalGlobalMem", MIB),
    }),
    ("TARGET_INFO_GPU", "id", {
        "cuDevice": ("cuDevice", 1), "smCount": ("numSms", 1), "clockRate": ("clockRate", 1),
        "totalMemory": ("totalGlobalMem", 1), "memoryBandwidth": ("memoryBandwidth", 1),
        "computeMajor": ("computeMajor", 1), "computeMinor": ("computeMinor", 1),
    }),
)  # fmt: skip
_SHAPE = tuple(f"{of}{axis}" for of in ("grid", "block") for axis in "XYZ")
# `copyKind` by its number, after `ENUM_CUDA_MEMCPY_OPER`, in the words of other profilers.
_COPIES = {
    **dict.fromkeys((1, 3, 11), "Memcpy HtoD"),
    **dict.fromkeys((2, 4, 12), "Memcpy DtoH"),
    **dict.fromkeys((5, 6, 7, 8, 13), "Memcpy DtoD"),
    9: "Memcpy HtoH",
    10: "Memcpy PtoP",
}
_BETWEEN_HOSTS, PEER_TO_PEER, MEMSET = 9, "Memcpy PtoP", "Memset (Device)"
_UNIFIED = (11, 12, 13)
_MEMORIES = {0: "Pageable", 1: "Pinned", 2: "Device", 3: "Array", 4: "Managed"}
_WARNING = 2  # severity of a diagnostic
_FIELDS = "NVTX_PAYLOAD_SCHEMA_ENTRIES"
_OVERHEAD = ("PROFILER_OVERHEAD", f"{_PREFIX}OVERHEAD")
_COLLECTED = re.compile(r"Number of CUDA events collected:\s*([\d,]{1,20})")
_NOT_OF_GPUS = re.compile(r"(?i)paranoid|OpenGL|NVTX events|CPU|sampl|sched|context switch")


class Recording:
    """One export, whose tables `read` reads. Raises `CorruptProfileError` for damage.

    `events` are the work of GPUs: `gpu` numbers these from 0, `key` tells the launch (process and
    correlation), `name` is a place in `names`; `bytes` are those that a copy or memset moves.
    Kernels and graphs are `is_kernel`, their `shape` is a row of `shapes`; the call of what
    `is_launched` is in the file.
    `gpus` are those that ran something, as rows of the file's own table of devices, `gpu_ids` their
    numbers by the ids of that table. `launches` are calls, with what each starts (`api`); `ranges`
    are those of NVTX, with the texts `range_text` at the places `text`. `graph_time_ns` is the time
    of graphs that were recorded as one event each, `overhead` are spans of the profiler's own work.
    `payloads` have the fields of what NVTX recorded with ranges, which have places among them.
    """

    def __init__(self, file_name: str, file: Database | Tables) -> None:
        self.file_name, self._read = file_name, file.read
        strings = self._read("StringIds", needed=("id",), texts=("value",))
        self._strings, self.names = strings.texts_by("id", "value"), Names()
        kernels = self._named("KERNEL", self._kernel_name, ("demangledName", "shortName"), *_SHAPE)
        graphs = self._named("GRAPH_TRACE", "CUDA graph {}".format, ("graphId",))
        if len(graphs):  # of those whose nodes were recorded, the nodes count
            graphs = graphs.selected(place_of(_key_of(graphs), _key_of(kernels)) < 0)
        ends = ("copyKind", "srcKind", "dstKind")
        copies = self._named("MEMCPY", copy_name, ends, "bytes")
        memsets = self._named("MEMSET", lambda _: MEMSET, ("bytes",))
        events = joined([kernels, graphs, copies, memsets], (*_EVENT, "name", "bytes", *_SHAPE))
        is_kernel = np.arange(len(events)) < len(kernels) + len(graphs)
        events.numbers["is_kernel"] = is_kernel.astype(np.int64)
        events.numbers["key"] = _key_of(events)
        sizes = [np.maximum(events.numbers.pop(axis), 0) for axis in _SHAPE]
        shapes = distinct_shapes(sizes)
        self.shapes, events.numbers["shape"] = shapes["shapes"], shapes["shape"]
        self.events, self.launches = events, self._launches()
        is_launched = place_of(events["key"], self.launches["key"]) >= 0
        events.numbers["is_launched"] = is_launched.astype(np.int64)
        self.graph_time_ns = int((graphs["end"] - graphs["start"]).sum())
        self.gpus, self.gpu_ids = self._on_gpus(events)
        self.ranges, self.range_text = self._ranges()
        started = self._read("TARGET_INFO_SESSION_START_TIME", needed=("utcEpochNs",))
        times = started["utcEpochNs"][:1].tolist()
        self.captured_at_ns = next((at for at in times if 10**18 < at < 2**62), None)
        self.version = self._version()
        self.warnings, self.stated = self._said(len(events) - len(graphs) + len(self.launches))
        spent = [self._read(name, needed=("start", "end")) for name in _OVERHEAD]
        self.overhead = joined(spent, ("start", "end"))
        ids, names = ("typeId", "metricId"), ("metricName",)
        self.metrics = self._read("GPU_METRICS", needed=(*ids, "timestamp", "value"))
        self.metric_names = self._read("TARGET_INFO_GPU_METRICS", needed=ids, texts=names)

    def _named(
        self, name: str, name_of: Callable[..., str], told_by: Sequence[str], *others: str
    ) -> Table:
        """A table of events with their names, which columns tell; those that end before they begin
        are left out, if they are few."""
        columns = (*_EVENT[2:], *told_by, *others)
        table = self._read(f"{_PREFIX}{name}", needed=_EVENT[:2], optional=columns)
        lasted = table["end"] - table["start"]
        is_sound = (lasted >= 0) & (lasted < _LONGEST_NS) & (table["start"] > -_LONGEST_NS)
        is_sound &= (table["start"] < 2**62) & (table["end"] > 0)
        bad = np.flatnonzero(~is_sound)
        if len(bad) > 0.01 * len(table) and name != "GRAPH_TRACE":
            raise self._damaged(
                f"{len(bad):,} rows of {_PREFIX}{name} end before they begin or last for weeks,"
                f" the first is row {bad[0] + 1:,}"
            )
        if name == "MEMCPY":
            is_sound &= table["copyKind"] != _BETWEEN_HOSTS
        table = table if is_sound.all() else table.selected(is_sound)
        table.numbers["name"] = self.names.numbers(name_of, *(table[column] for column in told_by))
        return table

    def _kernel_name(self, demangled: int, short: int) -> str:
        return self._text(short if demangled == ABSENT else demangled) or "kernel"

    def _on_gpus(self, events: Table) -> tuple[list[Mapping[str, int | str]], dict[int, int]]:
        """Number the physical GPU that ran each event: the rows of these, and their numbers by the
        ids that the file gives them."""
        if len(events) and int(events["end"].max()) - int(events["start"].min()) > _LONGEST_NS:
            raise self._damaged("its events are more than 30 days apart")
        of_process, gpus = self._devices()
        ordinals = {row["cuDevice"]: key for key, row in gpus.items()}
        pairs, place = distinct_rows([_pids(events["globalPid"]), events["deviceId"]])
        keys = [
            of_process.get((pid, ordinal), ordinals.get(ordinal, (pid, ordinal)))
            for pid, ordinal in pairs.tolist()
        ]
        number = {key: k for k, key in enumerate(dict.fromkeys(keys))}
        events.numbers["gpu"] = np.array([number[key] for key in keys], np.int64)[place]
        ids = {key: k for key, k in number.items() if isinstance(key, int)}
        return [gpus.get(key, {}) if isinstance(key, int) else {} for key in number], ids

    def _devices(self) -> tuple[dict[tuple[int, int], int], dict[int, dict[str, int | str]]]:
        needed, others = ("cudaId", "pid"), ("gpuId", "numMultiprocessors")
        pairs = self._read("TARGET_INFO_CUDA_DEVICE", needed=needed, optional=others).rows()
        of_process = {(row["pid"], row["cudaId"]): row["gpuId"] for row in pairs if "gpuId" in row}
        gpus: dict[int, dict[str, int | str]] = {}
        for name, key, columns in _GPUS:
            table = self._read(name, needed=(key,), optional=[*columns, "pid"], texts=("name",))
            for row in table.rows():
                if "pid" in row:  # the GPU of a process, which may have another's number
                    of_process[row["pid"], row[key]] = row[key] = len(gpus)
                known = {of: int(row[column] * unit)
                         for column, (of, unit) in columns.items() if column in row}  # fmt: skip
                gpus[row[key]] = {"cuDevice": -1, **known, "name": row.get("name", "")[:200]}
        for row in pairs:
            whole, own = gpus.get(row.get("gpuId", -1), {}), row.get("numMultiprocessors", 0)
            if 0 < own < int(whole.get("numSms", 0)):  # a slice of it (MIG), of unknown memory
                whole["numSms"] = own
                whole.pop("memoryBandwidth", 0), whole.pop("totalGlobalMem", 0)
        return of_process, gpus

    def _launches(self) -> Table:
        needed = ("start", "end", "globalTid", "correlationId", "nameId")
        table = self._read(f"{_PREFIX}RUNTIME", needed=needed)
        names, place = distinct(table["nameId"])
        kinds = [api_of(self._text(number)) for number in names.tolist()]
        table.numbers["api"] = np.array(kinds, np.int64)[place]
        table.numbers["key"] = _key_of(table, "globalTid")
        return table

    def _ranges(self) -> tuple[Table, list[str]]:
        """Ranges of threads, and their texts; one without an end is still open."""
        table = self._read(
            "NVTX_EVENTS",
            needed=("start", "eventType", "globalTid"),
            optional=("end", "textId"),
            distinct=("text",),
            blobs=("binaryData",),
            numbered=IDS,
        )
        whole = ("domainId", "schemaId", "type")
        fields = self._read(_FIELDS, needed=whole, optional=("offset",), texts=("name",))
        self.payloads = payloads_of(table.distinct["binaryData"], fields.rows())
        is_range = np.isin(table["eventType"], (59, START_END, 70)) & (table["start"] >= 0)
        is_range &= table["start"] < 2**62
        ranges, texts = table.selected(is_range), table.distinct["text"]
        empty = np.append([not text for text in texts], True)  # the last: no text
        elsewhere = np.flatnonzero(empty[ranges["text"]])
        numbers, place = np.unique(ranges["textId"][elsewhere], return_inverse=True)
        ranges["text"][elsewhere] = len(texts) + place
        texts += map(self._text, numbers.tolist())
        used, ranges.numbers["text"] = distinct(ranges["text"])
        return ranges, [texts[number] for number in used.tolist()]

    def _version(self) -> str:
        for name in ("META_DATA_EXPORT", "EXPORT_META_DATA"):
            for row in self._read(name, texts=("name", "value")).rows():
                if row.get("name") == "EXPORT_PRODUCT_VERSION" and "value" in row:
                    return ".".join(row["value"][:40].split(".")[:2])
        return ""

    def _said(self, events: int) -> tuple[list[str], list[Stated]]:
        """Warnings of the profiler, and how many events of CUDA it says that it collected beside
        those that were read."""
        rows = self._read("DIAGNOSTIC_EVENT", optional=("severity",), texts=("text",)).rows()
        texts = [row.get("text", "").strip() for row in rows]
        pairs = zip(rows, texts, strict=True)
        warnings = dict.fromkeys(
            text[:300] for row, text in pairs if row.get("severity", 0) >= _WARNING
        )
        of_gpus = [text for text in warnings if text and not _NOT_OF_GPUS.search(text)]
        counts = [int(match[1].replace(",", "")) for match in map(_COLLECTED.match, texts) if match]
        where = f"a message in {self.file_name}"
        stated = [compared("events of CUDA", events, one, where) for one in counts]
        return of_gpus[:5], stated if len(stated) == 1 else []

    def _text(self, number: int) -> str:
        return shown(self._strings.get(number) or "")

    def _damaged(self, why: str) -> CorruptProfileError:
        return CorruptProfileError(f"{self.file_name}: {why}.", remedy="Export the report again.")


def _pids(global_ids: I64) -> I64:
    """The process of a global id, which ends with 24 bits of it and 24 of the thread."""
    return (global_ids >> 24) & 0xFFFFFF


def _key_of(events: Table, process: str = "globalPid") -> I64:
    """One number per process and correlation id, which alone is not unique; -1 for none."""
    correlation, key = events["correlationId"], _pids(events[process]) << 38
    key |= correlation & (2**38 - 1)
    key[(correlation <= 0) | (correlation >= 2**38)] = -1
    return key


def copy_name(kind: int, source: int, target: int) -> str:
    """As in PyTorch's traces: `Memcpy HtoD (Pinned -> Device)`."""
    name = _COPIES.get(kind, "Memcpy")
    if kind in _UNIFIED:
        return f"{name} (unified memory)"
    of, to = _MEMORIES.get(source), _MEMORIES.get(target)
    return f"{name} ({of} -> {to})" if of and to else name


# Words of the columns that tell a table, the fullest first; those of host calls count "num calls".
TOLD_BY = (
    {"start", "duration", "corrid", "name"},
    {"total time", "instances", "category", "operation"},
    {"total time", "instances", "name"},
    {"total time", "count", "operation"},
    {"total time", "operations", "operation"},
    {"total", "count", "operation"},
    {"total", "operations", "operation"},
)
WORK, ALL_SUMS, SIZES = 0, 1, 5
"""Ranks of a list of all work, of sums of both kernels and copies, and of the first of sizes."""

_MOVE = re.compile(r"\[CUDA (?:memset|memcpy (?P<unified>unified )?(?P<way>[^\]]*))\]", re.I)
# `copyKind` of an export by the first letters of a copy's two ends; of unified memory; of others.
_WAYS, _OF_UNIFIED, _OTHER = (
    {"HD": 1, "DH": 2, "DD": 8, "HH": 9, "PP": 10},
    {1: 11, 2: 12, 8: 13},
    99,
)
_MEMSET, _KERNEL, _WITHIN = 0, -1, 8
# The memory or link whose bytes a memset or copy moves; of a peer's copy the link is not known.
_LEVELS = {
    _MEMSET: MemoryLevel.DRAM, _WITHIN: MemoryLevel.DRAM,
    **dict.fromkeys((1, 2, 11, 12), MemoryLevel.HOST),
}  # fmt: skip
_MEMORY_WORDS = {"pageable": 0, "pinned": 1, "device": 2, "array": 3, "managed": 4}
_ORDINAL = re.compile(r"\s*\(\d{1,4}\)\Z")
_EXPORTED = "CUPTI_ACTIVITY_KIND_"
_COLUMNS = {
    "start": "start", "duration": "lasted", "corrid": "correlationId", "bytes": "bytes",
    "grdx": "gridX", "grdy": "gridY", "grdz": "gridZ",
    "blkx": "blockX", "blky": "blockY", "blkz": "blockZ",
}  # fmt: skip


def launch_of(name: str, size: int = ABSENT, **rest: Any) -> Launch:
    """The sum of a kernel or of a kind of copy, of which the bytes may be known."""
    kind = _kind(name)
    if kind == _KERNEL:
        kernel = shown(name) or "kernel"
        return Launch(name=kernel, category=kernel_category(name), flop=None, **rest)
    moved = MEMSET if kind == _MEMSET else copy_name(kind, ABSENT, ABSENT)
    level, size = _LEVELS.get(kind), size * (2 if kind == _WITHIN else 1)
    # Sizes are in megabytes, to three digits: none left is not none moved.
    traffic = {level: size} if level and size > 0 else {}
    return Launch(name=moved, category=COPY, flop=0, traffic_bytes=traffic, **rest)


def as_export(table: ListedTable) -> Tables:
    """A list of all work as the tables of an export."""
    names, models, texts = Names(), Names(), table.texts("name")
    kinds = {text: _kind(text) for text in dict.fromkeys(texts)}
    kind = np.array([kinds[text] for text in texts], np.int64)
    numbers = {to: table.numbers(of) for of, to in _COLUMNS.items()}
    is_timed = (numbers["start"] != ABSENT) & (numbers["lasted"] != ABSENT)
    for of, to in (("srcmemkd", "srcKind"), ("dstmemkd", "dstKind")):
        memories = [_MEMORY_WORDS.get(cell.lower(), ABSENT) for cell in table.texts(of)]
        numbers[to] = np.array(memories, np.int64)
    name = names.places(texts)
    numbers |= {
        "end": numbers["start"] + numbers.pop("lasted"),
        "demangledName": name,
        "shortName": name,
        "copyKind": kind,
        "deviceId": models.places(table.texts("device")),
        "globalPid": np.zeros(len(texts), np.int64),
        # Sizes are in megabytes, to three digits: none left is not none moved.
        "bytes": np.where(numbers["bytes"] == 0, ABSENT, numbers["bytes"]),
    }
    events = Table(numbers=numbers)
    gpus = numbered([_ORDINAL.sub("", text) for text in models.texts], "name")
    gpus.numbers["cuDevice"] = gpus["id"]
    parts = {"KERNEL": kind == _KERNEL, "MEMSET": kind == _MEMSET, "MEMCPY": kind > _MEMSET}
    tables = {f"{_EXPORTED}{of}": events.selected(is_timed & mine) for of, mine in parts.items()}
    return Tables(tables | {"StringIds": numbered(names.texts, "value"), "TARGET_INFO_GPU": gpus})


def _kind(name: str) -> int:
    """`copyKind` of a copy; of a memset, a kernel."""
    match = _MOVE.match(name)
    if match is None or match["way"] is None:
        return _KERNEL if match is None else _MEMSET
    ways = "".join(re.findall("[HDAP]", match["way"])).replace("A", "D")
    kind = _WAYS.get(ways, _OTHER)
    return _OF_UNIFIED.get(kind, kind) if match["unified"] else kind
