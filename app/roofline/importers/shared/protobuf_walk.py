"""Protocol buffers on the wire, field by field in Python: for headers and small messages.

Encoding: protobuf.dev/programming-guides/encoding. Groups (wire types 3 and 4) are not used by the
formats read here and count as damage. Events of an XSpace are scanned by compiled code instead.
Traces of Perfetto (https://perfetto.dev/docs/reference/trace-packet-proto) start like an XSpace;
they are not read, only told apart.
"""

import re
import struct
from collections.abc import Iterator

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5

_FLOAT, _DOUBLE = struct.Struct("<f"), struct.Struct("<d")
_LAST_SHIFT = 63
_MASK = 2**64 - 1


class DamagedError(ValueError):
    """Bytes that are not a message; `offset` is where they stop making sense."""

    def __init__(self, offset: int) -> None:
        super().__init__(f"byte {offset}")
        self.offset = offset


Field = tuple[int, int, int, int]
"""Number, wire type, and (value, 0) of a varint or (begin, end) of anything else."""


def fields(data: bytes, begin: int, end: int) -> Iterator[Field]:
    """The fields of the message `data[begin:end]`. Raises `DamagedError`."""
    at = begin
    while at < end:
        key, at = varint(data, at, end)
        number, wire = key >> 3, key & 7
        if wire == VARINT:
            value, at = varint(data, at, end)
            yield number, wire, value, 0
            continue
        if wire == LENGTH:
            size, at = varint(data, at, end)
        elif wire in (FIXED32, FIXED64):
            size = 4 if wire == FIXED32 else 8
        else:
            raise DamagedError(at)
        if size > end - at:
            raise DamagedError(at)
        yield number, wire, at, at + size
        at += size


def varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """The unsigned 64-bit number at `at`, and where the next byte is."""
    value = shift = 0
    while at < end:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & _MASK, at
        shift += 7
        if shift > _LAST_SHIFT:
            break
    raise DamagedError(at)


def text(data: bytes, field: Field) -> str:
    """The text of a field; bytes that are not UTF-8 become U+FFFD."""
    _, wire, begin, end = field
    if wire != LENGTH:
        raise DamagedError(begin)
    return data[begin:end].decode("utf-8", "replace")


def floating(data: bytes, field: Field) -> float:
    """The number of a 32- or 64-bit floating-point field."""
    _, wire, begin, _ = field
    if wire == FIXED64:
        return float(_DOUBLE.unpack_from(data, begin)[0])
    if wire == FIXED32:
        return float(_FLOAT.unpack_from(data, begin)[0])
    raise DamagedError(begin)


def whole(field: Field) -> int:
    """The number of a varint field."""
    _, wire, value, _ = field
    if wire != VARINT:
        raise DamagedError(value)
    return value


def inside(field: Field) -> tuple[int, int]:
    """Where the message in a field begins and ends."""
    _, wire, begin, end = field
    if wire != LENGTH:
        raise DamagedError(begin)
    return begin, end


# Fields that the packets of a Perfetto trace have and the planes of an XSpace do not.
_PERFETTO_FIELDS = frozenset({7, 8, 10, 11, 12, 13, 33, 35, 36, 41, 42, 43, 44, 58, 59, 60, 79, 87})
_PACKETS_SEEN = 40
_FIELDS_SEEN = 32


def is_perfetto(head: bytes) -> bool:
    """True if the head is packets of a Perfetto trace.

    They start like planes of an XSpace, and tell themselves by fields that a plane does not have.
    """
    at, seen, known = 0, 0, 0
    while at < len(head) and seen < _PACKETS_SEEN:
        tag = _varint_or_none(head, at)
        length = _varint_or_none(head, tag[1]) if tag and tag[0] == 0x0A else None
        if length is None:
            return False
        begin, end = length[1], length[1] + length[0]
        known += _is_packet(head[begin : min(end, len(head))])
        at, seen = end, seen + 1
    # The first packets may be of kinds that look like planes; traces soon have others.
    return known > 0 and 2 * known >= seen


_PPROF = re.compile(rb"\n[\x04-\x16]\x08[\x80-\xff]{,9}[\0-\x7f]\x10")


def is_pprof(head: bytes) -> bool:
    """True for a profile of Go's pprof (a memory profile of JAX): it starts with two numbers, where
    a plane of an XSpace has a name."""
    return _PPROF.match(head) is not None


def _is_packet(packet: bytes) -> bool:
    """True if a message has only fields that protobuf can write, one of them beyond a plane's."""
    at, beyond, fields = 0, False, 0
    while at < len(packet) and fields < _FIELDS_SEEN:
        fields += 1
        tag = _varint_or_none(packet, at)
        if tag is None or not 0 < tag[0] >> 3 < 4096:
            return beyond and tag is None
        beyond |= tag[0] >> 3 in _PERFETTO_FIELDS
        after = _skip(packet, tag[0] & 7, tag[1])
        if after is None:
            return False
        at = after
    return beyond


def _skip(data: bytes, wire: int, at: int) -> int | None:
    """The place behind a field's value; `None` for a wire type that is no longer written."""
    if wire == 0:
        value = _varint_or_none(data, at)
        return len(data) if value is None else value[1]
    if wire == 2:
        length = _varint_or_none(data, at)
        return len(data) if length is None else length[1] + length[0]
    return at + 8 if wire == 1 else at + 4 if wire == 5 else None


def _varint_or_none(data: bytes, at: int) -> tuple[int, int] | None:
    """A varint and the place behind it; `None` where the data ends within it."""
    try:
        return varint(data, at, len(data))
    except DamagedError:
        return None
