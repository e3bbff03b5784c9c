"""The binary report (`.ncu-rep`). A `.ncu-repz` is one packed as a whole, unpacked on arrival.

Layout: NVIDIA Nsight Compute Customization Guide, "Report File Format". A file header, then blocks:
a length, a block header (a message), and a payload of length-prefixed messages. Metric names are
numbers into one table of strings, to which every block may add; a number may mean a string of a
later block. Values are in base units. Sources (the kernels' code) are skipped without being copied.
"""

import mmap
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from roofline.errors import CorruptProfileError
from roofline.importers.nsight_compute.busy import is_wanted
from roofline.importers.nsight_compute.launches import (
    MAGIC,
    OPCODES,
    Capture,
    Extent,
    Launch,
    ResultKind,
    is_measured,
)
from roofline.importers.shared import protobuf_walk as wire
from roofline.importers.shared.protobuf_walk import DamagedError
from roofline.importers.source import SourceFile
from roofline.model.units import NS_PER_S

VERSION = 7
_U32 = struct.Struct("<I")
_SECONDS_OF_2100 = 4_102_444_800
_TOOL = "Nsight Compute Target"
_VERSIONS = {"CUDA Version": "cuda_version", "Display Driver Version": "driver_version"}
# Number of the block header's count → what its payload entries are, in the payload's order.
_ENTRIES: tuple[tuple[int, ResultKind | None], ...] = (
    (1, None),  # sources
    (2, ResultKind.KERNEL),
    (7, ResultKind.RANGE),
    (8, ResultKind.COMMAND_LIST),
    (9, ResultKind.GRAPH),
)
_METRICS_FIELD = {ResultKind.KERNEL: 13}
_METRICS_FIELD_OF_OTHERS = 4
# How nearly all metrics begin and what nearly all values are: keys of their first field.
_NAME_FIRST = 1 << 3 | wire.VARINT
_DOUBLE_ALONE, _DOUBLE_BYTES = 3 << 3 | wire.FIXED64, 9

Bytes = bytes | mmap.mmap


def read_report(source: SourceFile) -> Capture:
    """The capture in `source`. Raises `CorruptProfileError` that names the byte of the damage."""
    reader = _Reader(source.data, source.name)
    try:
        reader.read()
    except (DamagedError, struct.error, IndexError) as error:
        raise _damaged(source.name, reader.position(error)) from error
    return Capture(
        file_name=source.name,
        launches=tuple(reader.launches),
        tool_version=reader.session.tool_version,
        versions=reader.session.versions,
        hostname=reader.session.hostname,
        captured_at_ns=reader.session.captured_at_ns,
        program=reader.session.program,
    )


def _damaged(name: str, offset: int) -> CorruptProfileError:
    return CorruptProfileError(
        f"{name} is not a whole Nsight Compute report: it breaks at byte {offset:,}.",
        remedy="Check that it was copied completely, or save the report again.",
    )


@dataclass(slots=True)
class _Session:
    """The blocks' words about the capture as a whole; the first of them counts."""

    tool_version: str = ""
    hostname: str = ""
    captured_at_ns: int | None = None
    program: str = ""
    versions: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Block:
    """A block header: how many entries of each kind follow, in how many bytes."""

    payload_bytes: int = 0
    counts: dict[int, int] = field(default_factory=dict)


class _Reader:
    """One pass over a report. Entries are copied out of the file one at a time."""

    def __init__(self, data: Bytes, name: str) -> None:
        self.launches: list[Launch] = []
        self.session = _Session()
        self._data = data
        self._name = name
        self._strings: list[str] = []
        self._wanted: list[bool] = []
        self._at = 0
        self._entry = 0

    def position(self, error: Exception) -> int:
        """Byte of the file at which `error` was met."""
        return self._entry + (error.offset if isinstance(error, DamagedError) else 0)

    def read(self) -> None:
        """Fill `launches` and `session`: all strings first, then what refers to them."""
        self._at = len(MAGIC)
        self._check_version(self._prefixed(len(self._data)))
        blocks = []
        while self._at < len(self._data):
            block = self._block(self._prefixed(len(self._data)))
            end = self._at + block.payload_bytes
            if end > len(self._data):
                self._entry = len(self._data)
                raise DamagedError(0)
            blocks.append((block, self._at))
            self._at = end
        for block, begin in blocks:
            self._at = begin
            self._payload(block, begin + block.payload_bytes)

    def _prefixed(self, end: int) -> bytes:
        """The length-prefixed bytes at the current place, which must end by `end`."""
        begin, stop = self._extent(end)
        self._at = stop
        return bytes(self._data[begin:stop])

    def _extent(self, end: int) -> tuple[int, int]:
        self._entry = self._at
        if self._at + _U32.size > end:
            raise DamagedError(0)
        (size,) = _U32.unpack(self._data[self._at : self._at + _U32.size])
        begin = self._at + _U32.size
        if size > end - begin:
            raise DamagedError(0)
        self._entry = begin
        return begin, begin + size

    def _check_version(self, header: bytes) -> None:
        version = None
        for item in wire.fields(header, 0, len(header)):
            if item[0] == 1:
                version = wire.whole(item)
        if version != VERSION:
            raise CorruptProfileError(
                f"{self._name} is a report of format version {version}; version {VERSION} is read "
                "(Nsight Compute 2020 to 2025).",
                remedy="Export it as text: ncu --import FILE --csv --page raw --print-units base "
                "> kernels.csv, and upload that.",
            )

    def _block(self, header: bytes) -> _Block:
        block = _Block()
        for item in wire.fields(header, 0, len(header)):
            number = item[0]
            if number == 5:
                block.payload_bytes = wire.whole(item)
            elif number in (1, 2, 7, 8, 9):
                block.counts[number] = wire.whole(item)
            elif number == 4:
                self._add_strings(header, *wire.inside(item))
            elif number == 3:
                _read_session(header, *wire.inside(item), self.session)
            elif number == 6 and not self.session.program:
                self.session.program = _texts(header, *wire.inside(item)).get(3, "")
        return block

    def _add_strings(self, data: bytes, begin: int, end: int) -> None:
        for item in wire.fields(data, begin, end):
            if item[0] == 1:
                name = wire.text(data, item)
                self._strings.append(name)
                self._wanted.append(is_wanted(name))

    def _payload(self, block: _Block, end: int) -> None:
        for number, kind in _ENTRIES:
            for _ in range(block.counts.get(number, 0)):
                if kind is None:
                    self._at = self._extent(end)[1]
                else:
                    self.launches.append(self._launch(kind, self._prefixed(end)))
        self._entry = self._at
        if self._at != end:
            raise DamagedError(0)

    def _launch(self, kind: ResultKind, data: bytes) -> Launch:
        fields: dict[int, wire.Field] = {}
        metrics: list[wire.Field] = []
        metrics_field = _METRICS_FIELD.get(kind, _METRICS_FIELD_OF_OTHERS)
        for item in wire.fields(data, 0, len(data)):
            if item[0] == metrics_field:
                metrics.append(item)
            else:
                fields[item[0]] = item
        values = _Values()
        for item in metrics:
            self._read_metric(data, *wire.inside(item), values)
        number = len(self.launches)
        measured = Launch(
            kind=kind,
            name=f"{kind.value.capitalize()} {number}",
            number=number,
            numbers=values.numbers,
            texts=values.texts,
            opcodes=values.opcodes,
        )
        if kind is not ResultKind.KERNEL:
            return measured
        index = values.numbers.get("device__attribute_device_index")
        return replace(
            measured,
            name=_kernel_name(data, fields) or measured.name,
            grid=_extent_of(data, fields.get(10)),
            block=_extent_of(data, fields.get(11)),
            context=_number_text(fields.get(22)),
            stream=_number_text(fields.get(23)),
            device_index=None if index is None else int(index),
        )

    def _read_metric(self, data: bytes, begin: int, end: int, values: "_Values") -> None:
        if self._is_unwanted(data, begin, end):
            return
        name_id, value, instances = -1, None, []
        for item in wire.fields(data, begin, end):
            number = item[0]
            if number == 1:
                name_id = wire.whole(item)
                if name_id >= len(self._wanted):
                    raise DamagedError(begin)
            elif number == 2:
                value = _value(data, *wire.inside(item))
            elif number == 3:
                instances.append(item)
        if name_id < 0 or not self._wanted[name_id]:
            return
        name = self._strings[name_id]
        if OPCODES.fullmatch(name) and instances:
            values.opcodes[name] = _histogram(data, instances)
        elif isinstance(value, str):
            values.texts[name] = value
        elif value is not None and is_measured(value):
            values.numbers[name] = float(value) or 0.0  # one zero for all: idle units are many

    def _is_unwanted(self, data: bytes, begin: int, end: int) -> bool:
        """True where the metric's name comes first, as it does, and is of no use: most are."""
        if begin == end or data[begin] != _NAME_FIRST:
            return False
        name_id, _ = wire.varint(data, begin + 1, end)
        return name_id < len(self._wanted) and not self._wanted[name_id]


@dataclass(slots=True)
class _Values:
    numbers: dict[str, float] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    opcodes: dict[str, Mapping[str, int]] = field(default_factory=dict)


def _value(data: bytes, begin: int, end: int) -> float | int | str | None:
    """A metric's value: text, a floating-point or a whole number."""
    if end - begin == _DOUBLE_BYTES and data[begin] == _DOUBLE_ALONE:
        return wire.floating(data, (3, wire.FIXED64, begin + 1, end))
    value: float | int | str | None = None
    for item in wire.fields(data, begin, end):
        number = item[0]
        if number == 1:
            value = wire.text(data, item)
        elif number in (2, 3):
            value = wire.floating(data, item)
        elif number in (4, 5):
            value = wire.whole(item)
    return value


def _histogram(data: bytes, instances: list[wire.Field]) -> Mapping[str, int]:
    """Counts by opcode; the correlation of an instance is the opcode's text."""
    counts: dict[str, int] = {}
    for instance in instances:
        opcode, count = None, None
        for item in wire.fields(data, *wire.inside(instance)):
            if item[0] == 1:
                opcode = _value(data, *wire.inside(item))
            elif item[0] == 2:
                count = _value(data, *wire.inside(item))
        if isinstance(opcode, str) and isinstance(count, int | float) and is_measured(count):
            counts[opcode] = counts.get(opcode, 0) + int(count)
    return counts


def _read_session(data: bytes, begin: int, end: int, session: _Session) -> None:
    for item in wire.fields(data, begin, end):
        number = item[0]
        if number == 2 and session.captured_at_ns is None:
            seconds = _whole_of(item) or 0
            # Captures are of this century: other numbers are damage.
            if 0 < seconds < _SECONDS_OF_2100:
                session.captured_at_ns = seconds * NS_PER_S
        elif number == 3 and not session.hostname:
            session.hostname = _texts(data, *wire.inside(item)).get(5, "")
        elif number == 8:
            version = _texts(data, *wire.inside(item))
            if version.get(1) == _TOOL and not session.tool_version:
                session.tool_version = version.get(2, "").split(" ")[0]
            elif version.get(1) in _VERSIONS:
                session.versions.setdefault(_VERSIONS[version[1]], version.get(2, ""))


def _texts(data: bytes, begin: int, end: int) -> dict[int, str]:
    return {
        item[0]: wire.text(data, item)
        for item in wire.fields(data, begin, end)
        if item[1] == wire.LENGTH
    }


def _kernel_name(data: bytes, fields: Mapping[int, wire.Field]) -> str:
    """The demangled name, else the function's, else the mangled one."""
    names: Iterator[str] = (
        wire.text(data, fields[number]) for number in (7, 6, 5) if number in fields
    )
    return next((name for name in names if name), "")


def _extent_of(data: bytes, item: wire.Field | None) -> Extent | None:
    if item is None:
        return None
    sides = {1: 0, 2: 0, 3: 0}
    for side in wire.fields(data, *wire.inside(item)):
        if side[0] in sides:
            sides[side[0]] = wire.whole(side)
    return sides[1], sides[2], sides[3]


def _whole_of(item: wire.Field | None) -> int | None:
    """A number that only labels: of another type in some version, it is left out."""
    return item[2] if item is not None and item[1] == wire.VARINT else None


def _number_text(item: wire.Field | None) -> str:
    number = _whole_of(item)
    return "" if number is None else str(number)
