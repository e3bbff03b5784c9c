"""Planes of an XSpace: names, lines, metadata maps and stats, typed as XProf reads them.

A stat is identified by the name in the plane's stat metadata, never by its id, and a reader of one
type sees nothing when the value has another type. Metadata maps are small and parsed with protobuf
on first use; lines stay byte ranges until they are scanned. The plane `/host:metadata` has the
environment: JAX writes `jax_version`, `jaxlib_version` and `cpu_version` or the like for each
backend, with the version that its platform states.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
from google.protobuf.message import DecodeError, Message

from roofline.errors import CorruptProfileError
from roofline.importers.shared.protobuf_walk import LENGTH, VARINT
from roofline.importers.shared.tables_text import json_of
from roofline.importers.source import SourceFile, release
from roofline.importers.xspace import event_scan
from roofline.importers.xspace.captures import Captured
from roofline.importers.xspace.event_scan import REF, TEXT, Events, Lookup, StatColumn, make_lookup
from roofline.importers.xspace.messages import Bytes, Field, Line, damaged, read_line, walk_fields
from roofline.importers.xspace.xspace_pb2 import (
    EventMetadata,
    EventMetadataEntry,
    Stat,
    StatMetadataEntry,
)
from roofline.model.environment import environment
from roofline.model.notes import RECORDING
from roofline.model.op_columns import Bools

TPU_PREFIX = "/device:TPU:"
GPU_PREFIX = "/device:GPU:"
HOST_CPU = "/host:CPU"
HLO_METADATA = "/host:metadata"
TASK_ENVIRONMENT = "Task Environment"

STEPS_LINES = ("Steps", "Sparse Core Steps")
MODULE_LINES = ("XLA Modules", "Sparse Core Modules")
OP_LINES = ("XLA Ops", "Framework Ops", "Sparse Core Ops")

_TENSOR_CORE = re.compile(r"/device:TPU:\d+\Z")
_SPARSE_CORE = re.compile(r"/device:TPU:\d+ SparseCore (\w+ )?\d+\Z")
_HOST_PREFIXES = (
    "/host:CPU",
    "Host CPUs",
    "/host:tfstreamz",
    "/host:metadata",
    "Syscalls",
    "/host:python-tracer",
    "/host:CUPTI",
    "/host:__ScopeRangeCallStack__",
)
_DEVICE_PREFIXES = ("/device", "#Chip", "/custom:")

_U64 = 2**64
# The part of a file that stays mapped between counting its events and reading them.
_MAPPED_BYTES = 64 << 20
Parsed = TypeVar("Parsed", bound=Message)


def text(raw: bytes) -> str:
    """UTF-8 by agreement of the format; other bytes stay visible as replacement characters."""
    return raw.decode("utf-8", "replace")


class Stats:
    """The stats of one owner by name. The last of equal names counts, unless `first_wins`."""

    __slots__ = ("_by_name", "_names")

    def __init__(
        self, names: Mapping[int, str], stats: Iterable[Stat], *, first_wins: bool = False
    ) -> None:
        self._names = names
        self._by_name: dict[str, Stat] = {}
        for stat in stats:
            name = names.get(stat.metadata_id, "")
            if not first_wins or name not in self._by_name:
                self._by_name[name] = stat

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def int_or_uint(self, name: str) -> int:
        """An integer of either type as an unsigned 64-bit number; 0 for any other type."""
        stat = self._by_name.get(name)
        # Of a `oneof` every field but the written one is 0.
        return 0 if stat is None else stat.uint64_value or stat.int64_value % _U64

    def int_only(self, name: str) -> int:
        """A value written as int64; 0 for any other type."""
        stat = self._by_name.get(name)
        return stat.int64_value if stat is not None else 0

    def double(self, name: str) -> float | None:
        """A value written as double, else `None`."""
        stat = self._by_name.get(name)
        if stat is None or stat.WhichOneof("value") != "double_value":
            return None
        return stat.double_value

    def text(self, name: str) -> str:
        """A text, in place or by reference; empty for any other type."""
        stat = self._by_name.get(name)
        if stat is None:
            return ""
        if inline := stat.text_value:
            return text(inline)
        return self._names.get(stat.ref_value, "") if stat.HasField("ref_value") else ""

    def raw(self, name: str) -> bytes:
        """A bytes value; empty for any other type."""
        stat = self._by_name.get(name)
        return stat.bytes_value if stat is not None else b""


class EventKind(NamedTuple):
    """One event metadata: what its events have in common."""

    name: str
    display_name: str
    stats: Stats


class Plane:
    """One XPlane over the mapped file. Everything is parsed on first use."""

    def __init__(self, buf: Bytes, low: int, high: int, file_name: str) -> None:
        self._buf = buf
        self._file_name = file_name
        self.id = 0
        self.name = ""
        self._parts: dict[int, list[Field]] = {3: [], 4: [], 5: [], 6: []}
        for field in walk_fields(buf, low, high, file_name):
            self._take(field)

    def _take(self, field: Field) -> None:
        if field.number == 1 and field.wire == VARINT:
            self.id = field.low - _U64 if field.low >= _U64 // 2 else field.low
        elif field.wire == LENGTH:
            if field.number == 2:
                self.name = text(self._bytes(field))
            elif field.number in self._parts:
                self._parts[field.number].append(field)

    def _bytes(self, field: Field) -> bytes:
        return self._buf[field.low : field.high].tobytes()

    def _message(self, kind: type[Parsed], field: Field) -> Parsed:
        try:
            return kind.FromString(self._bytes(field))
        except DecodeError as error:
            raise damaged(self._file_name, field.low, len(self._buf)) from error

    @property
    def buffer(self) -> Bytes:
        """The bytes of the whole file, not to be written."""
        view = self._buf.view()
        view.flags.writeable = False
        return view

    @property
    def is_tensor_core(self) -> bool:
        """True for a plane that counts as a TensorCore."""
        return _TENSOR_CORE.match(self.name) is not None

    @property
    def is_sparse_core(self) -> bool:
        """True for a SparseCore plane."""
        return _SPARSE_CORE.match(self.name) is not None

    @property
    def is_tpu(self) -> bool:
        """True for any plane of a TPU, odd names included."""
        return self.name.startswith(TPU_PREFIX)

    @property
    def is_gpu(self) -> bool:
        """True for a GPU."""
        return self.name.startswith(GPU_PREFIX)

    @property
    def is_host(self) -> bool:
        """True for the planes that XProf calls host planes."""
        return self.name.startswith(_HOST_PREFIXES)

    @property
    def is_device(self) -> bool:
        """True for the planes that XProf calls device planes."""
        return not self.is_host and self.name.startswith(_DEVICE_PREFIXES)

    @property
    def ordinal(self) -> int | None:
        """The device number in the plane's name."""
        match = re.match(r"/device:\w+:(\d{1,18})(?!\d)", self.name)
        return int(match[1]) if match else None

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """Headers of the plane's lines, in file order."""
        lines = tuple(
            read_line(self._buf, field.low, field.high, self._file_name) for field in self._parts[3]
        )
        for line in lines:
            release(self._buf, max(line.low, _MAPPED_BYTES), line.high)
        return lines

    @cached_property
    def stat_names(self) -> Mapping[int, str]:
        """Stat names by metadata id."""
        names: dict[int, str] = {}
        for field in self._parts[5]:
            entry = self._message(StatMetadataEntry, field)
            names[entry.key] = text(entry.value.name)
        return names

    @cached_property
    def _event_metadata(self) -> tuple[tuple[int, EventMetadata], ...]:
        entries: dict[int, EventMetadata] = {}
        for field in self._parts[4]:
            entry = self._message(EventMetadataEntry, field)
            entries[entry.key] = entry.value
        return tuple(entries.items())

    @cached_property
    def event_kinds(self) -> tuple[EventKind, ...]:
        """The plane's event metadata; position here is the dense index of scanned events."""
        return tuple(
            EventKind(text(meta.name), text(meta.display_name), Stats(self.stat_names, meta.stats))
            for _, meta in self._event_metadata
        )

    @property
    def event_ids(self) -> tuple[int, ...]:
        """Ids of the event metadata, by dense index."""
        return tuple(key for key, _ in self._event_metadata)

    @cached_property
    def event_names(self) -> tuple[str, ...]:
        """Names of the event metadata, by dense index; cheaper than `event_kinds`."""
        return tuple(text(meta.name) for _, meta in self._event_metadata)

    @cached_property
    def _meta_lookup(self) -> Lookup:
        return make_lookup({key: k for k, (key, _) in enumerate(self._event_metadata)})

    @cached_property
    def stats(self) -> Stats:
        """Stats of the plane. The first of equal names counts on TPU planes, the last elsewhere."""
        parsed = [self._message(Stat, field) for field in self._parts[6]]
        return Stats(self.stat_names, parsed, first_wins=self.is_tpu)

    def has_stat(self, name: str) -> bool:
        """True if the plane knows a stat of this name, used or not."""
        return name in self._ids_by_stat

    @cached_property
    def _ids_by_stat(self) -> Mapping[str, Sequence[int]]:
        ids: dict[str, list[int]] = {}
        for key, name in self.stat_names.items():
            ids.setdefault(name, []).append(key)
        return ids

    def stat_text(self, column: StatColumn, row: int) -> str:
        """Text of an event's stat, in place or by reference; empty for any other type."""
        kind = int(column.kinds[row])
        if kind == TEXT:
            start, stop = column.text_ranges(row)
            return text(self._buf[start:stop].tobytes())
        if kind == REF:
            return self.stat_names.get(int(column.words[row]), "")
        return ""

    def has_text(self, column: StatColumn) -> Bools:
        """True where an event's stat is a non-empty text."""
        inline: Bools = (column.kinds == TEXT) & (column.words & np.uint64(0xFFFFFF) > 0)
        refs = column.kinds == REF
        if not refs.any():
            return inline
        used = np.unique(column.words[refs]).tolist()
        filled = np.array([ref for ref in used if self.stat_names.get(ref)], np.uint64)
        named: Bools = inline | (refs & np.isin(column.words, filled))
        return named

    def scan(
        self, line: Line, stats: Sequence[str] = (), *, first_wins: frozenset[str] = frozenset()
    ) -> Events:
        """Columns of all events of a line that has some."""
        whole = self.chunks(line, stats, first_wins=first_wins, chunk_events=line.event_count)
        return next(whole)

    def chunks(
        self,
        line: Line,
        stats: Sequence[str] = (),
        *,
        first_wins: frozenset[str] = frozenset(),
        chunk_events: int = event_scan.CHUNK_EVENTS,
        into: tuple[event_scan.U64, event_scan.U64] | None = None,
    ) -> Iterator[Events]:
        """Columns of a line's events, piece by piece. A stat the plane does not know has none.
        Begin and duration are written to `into`, if given."""
        return event_scan.scan_events(
            self._buf,
            line,
            metas=self._meta_lookup,
            stat_ids={n: self._ids_by_stat[n] for n in stats if n in self._ids_by_stat},
            first_wins=first_wins,
            name=self._file_name,
            chunk_events=chunk_events,
            into=into,
        )


class Space(NamedTuple):
    """One XSpace: planes in file order, the host's name where the file has it, and what a recording
    of ours says of itself."""

    file_name: str
    planes: tuple[Plane, ...]
    hostname: str
    recording: object = None

    @property
    def tensor_cores(self) -> tuple[Plane, ...]:
        """Planes that count as cores of a TPU host."""
        return tuple(plane for plane in self.planes if plane.is_tensor_core)

    @property
    def gpus(self) -> tuple[Plane, ...]:
        """GPU planes."""
        return tuple(plane for plane in self.planes if plane.is_gpu)

    @property
    def captured_at_ns(self) -> int | None:
        """Start of the capture in nanoseconds since 1970, where the file has it."""
        plane = self.named(TASK_ENVIRONMENT)
        start = plane.stats.int_or_uint("profile_start_time") if plane is not None else 0
        return start or None

    @property
    def captured(self) -> Captured:
        """The host, and the time of the capture."""
        plane, start = self.named(TASK_ENVIRONMENT), self.captured_at_ns
        stop = plane.stats.int_or_uint("profile_stop_time") if plane is not None else 0
        return Captured(self.hostname, (start, stop) if start and stop else None)

    def named(self, name: str) -> Plane | None:
        """The first plane of this name."""
        return next((plane for plane in self.planes if plane.name == name), None)


def captured_of(source: SourceFile) -> Captured:
    """The host and the time of the capture in `source`. Raises as `open_space`."""
    return open_space(np.frombuffer(source.data, np.uint8), source.name).captured


def open_space(buf: Bytes, file_name: str) -> Space:
    """Index an XSpace: where its planes, lines and metadata are. Reads no event."""
    planes: list[Plane] = []
    hostname, recording = "", None
    for field in walk_fields(buf, 0, len(buf), file_name):
        if field.wire != LENGTH:
            continue
        if field.number == 1:
            planes.append(Plane(buf, field.low, field.high, file_name))
        elif field.number == 4 and not hostname:
            hostname = text(buf[field.low : field.high].tobytes())
        elif field.number == 3:  # a warning, of which one is ours
            warning = text(buf[field.low : field.high].tobytes())
            if warning.startswith(RECORDING):
                recording = recording or json_of(warning.removeprefix(RECORDING))
    return Space(file_name, tuple(planes), hostname, recording)


_SUFFIX = "_version"
_OF_JAX = ("jax_version", "jaxlib_version")


def read_environment(space: Space) -> dict[str, str]:
    """Versions of JAX and its backends; empty where the capture has none."""
    versions: dict[str, str] = {}
    backends = []
    for plane in space.planes:
        if plane.name == HLO_METADATA:
            try:
                names, stats = set(plane.stat_names.values()), plane.stats
            except CorruptProfileError:
                continue  # no operation depends on it
            for name in sorted(name for name in names if name.endswith(_SUFFIX)):
                text = stats.text(name)
                if name in _OF_JAX:
                    versions[name] = text
                elif text:
                    backend = name.removesuffix(_SUFFIX)
                    # `cpu` says no more than its name; others have a version after it.
                    backends.append(backend if text == backend else f"{backend} {text}")
    return environment({**versions, "backend_version": ", ".join(backends)})
