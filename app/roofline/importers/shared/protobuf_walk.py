"""Protocol buffers on the wire, field by field in Python: for headers and small messages.

Encoding: protobuf.dev/programming-guides/encoding. Groups (wire types 3 and 4) are not used by the
formats read here and count as damage. Events of an XSpace are scanned by compiled code instead.
"""

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
