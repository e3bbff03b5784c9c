"""Messages of an XSpace walked field by field, and the headers of its lines.

Values in the wire format of protocol buffers, read inside kernels; the one error for damage.

Format: https://protobuf.dev/programming-guides/encoding/.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from roofline.errors import CorruptProfileError
from roofline.importers.kernels import address_of, byte_at, kernel, part, trailing_zeros, word_at
from roofline.model.units import PS_PER_NS

Bytes = NDArray[np.uint8]

# Kernels get the buffer's address: a pointer costs no reference counting and allows reading eight
# bytes at once. Every read is checked against `end` (of the message) or `size` (of the buffer).
_CONTINUE = 0x8080808080808080


@part
def _long_varint(base, pos, end):  # type: ignore[no-untyped-def]
    """Byte by byte: near the end of the message, or longer than eight bytes."""
    value = np.uint64(0)
    shift = np.uint64(0)
    while pos < end:
        byte = byte_at(base + np.uint64(pos))
        pos += 1
        value |= (byte & np.uint64(0x7F)) << shift
        if byte < 128:
            return value, pos
        shift += np.uint64(7)
        if shift > 63:
            return value, np.int64(-1)
    return value, np.int64(-1)


@part
def wire_varint(base, pos, end):  # type: ignore[no-untyped-def]
    """Value and next position; position -1 where the varint is cut or longer than ten bytes."""
    if pos < end:  # most tags and sizes are short
        byte = byte_at(base + np.uint64(pos))
        if byte < 128:
            return byte, pos + 1
    return varint_within(base, pos, end, end)


@part
def varint_within(base, pos, end, limit):  # type: ignore[no-untyped-def]
    """`wire_varint` in a message whose bytes may be read up to `limit`, past its `end`.

    Eight bytes at once: the lowest clear top bit ends the varint, three shifts close the gaps.
    """
    if pos + 8 > limit:
        return _long_varint(base, pos, end)
    word = word_at(base + np.uint64(pos))
    ends = ~word & np.uint64(_CONTINUE)
    if ends == 0:
        return _long_varint(base, pos, end)
    pos += np.int64(trailing_zeros(ends) >> np.uint64(3)) + 1
    if pos > end:
        return word, np.int64(-1)
    word &= ends ^ (ends - np.uint64(1))
    word &= np.uint64(0x7F7F7F7F7F7F7F7F)
    word = (word & np.uint64(0x007F007F007F007F)) | (
        (word & np.uint64(0x7F007F007F007F00)) >> np.uint64(1)
    )
    word = (word & np.uint64(0x00003FFF00003FFF)) | (
        (word & np.uint64(0x3FFF00003FFF0000)) >> np.uint64(2)
    )
    word = (word & np.uint64(0x000000000FFFFFFF)) | (
        (word & np.uint64(0x0FFFFFFF00000000)) >> np.uint64(4)
    )
    return word, pos


@part
def wire_tag(base, pos, end):  # type: ignore[no-untyped-def]
    """A field's tag, one byte for fields below 16. The caller has checked `pos` < `end`."""
    tag = byte_at(base + np.uint64(pos))
    if tag < 128:
        return tag, pos + 1
    return _long_varint(base, pos, end)


@part
def skip_value(base, pos, end, wire):  # type: ignore[no-untyped-def]
    """Position after a value of this wire type, -1 where it is cut or the type is unknown."""
    if wire == 0:
        _, pos = wire_varint(base, pos, end)
        return pos
    if wire == 2:
        size, pos = wire_varint(base, pos, end)
        if pos < 0 or size > np.uint64(end - pos):
            return np.int64(-1)
        return pos + np.int64(size)
    if wire == 1 or wire == 5:
        pos += 8 if wire == 1 else 4
        return pos if pos <= end else np.int64(-1)
    return np.int64(-1)


def damaged(name: str, position: int, size: int) -> CorruptProfileError:
    """The one error for bytes that are not an XSpace, with the first unreadable position."""
    return CorruptProfileError(
        f"{name} is cut off or damaged: its content stops making sense at byte {position:,} "
        f"of {size:,}.",
        remedy="Copy the file again (compare its size with the original's), or capture again.",
    )


@kernel("int64(uint64, int64, int64, uint64[,])")
def _fields(base, pos, end, out):  # type: ignore[no-untyped-def]
    """Walk one message. Rows of `out`: field, wire type, value or start, end. Returns the count.

    Writes at most the rows that `out` has, so a first call with no rows only counts. A negative
    result is -1 - the position of the damage.
    """
    count = 0
    while pos < end:
        at = pos
        tag, pos = wire_varint(base, pos, end)
        if pos < 0 or tag >> np.uint64(3) == 0:
            return -1 - at
        wire = tag & np.uint64(7)
        low = np.uint64(pos)
        high = np.uint64(0)
        if wire == 0:
            low, pos = wire_varint(base, pos, end)
        elif wire == 2:
            size, pos = wire_varint(base, pos, end)
            if pos < 0 or size > np.uint64(end - pos):
                return -1 - at
            low = np.uint64(pos)
            pos += np.int64(size)
            high = np.uint64(pos)
        else:
            pos = skip_value(base, pos, end, wire)
        if pos < 0:
            return -1 - at
        if count < out.shape[0]:
            out[count, 0] = tag >> np.uint64(3)
            out[count, 1] = wire
            out[count, 2] = low
            out[count, 3] = high
        count += 1
    return count


@kernel("int64(uint64, int64, int64, int64[])")
def _line_header(base, pos, end, head):  # type: ignore[no-untyped-def]
    """head = id, timestamp_ns, name start, name end, event count. 0, or -1 - position."""
    head[:] = 0
    while pos < end:
        at = pos
        tag, pos = wire_varint(base, pos, end)
        if pos < 0 or tag >> np.uint64(3) == 0:
            return -1 - at
        if tag == 8 or tag == 24:  # 1: id, 3: timestamp_ns
            value, pos = wire_varint(base, pos, end)
            if pos < 0:
                return -1 - at
            head[0 if tag == 8 else 1] = np.int64(value)
        elif tag & np.uint64(7) == 2:
            size, pos = wire_varint(base, pos, end)
            if pos < 0 or size > np.uint64(end - pos):
                return -1 - at
            if tag == 34:  # 4: events
                head[4] += 1
            elif tag == 18:  # 2: name
                head[2] = pos
                head[3] = pos + np.int64(size)
            pos += np.int64(size)
        else:
            pos = skip_value(base, pos, end, tag & np.uint64(7))
            if pos < 0:
                return -1 - at
    return 0


class Field(NamedTuple):
    """One field of a message: number, wire type, and its value or its byte range."""

    number: int
    wire: int
    low: int
    high: int


def walk_fields(buf: Bytes, low: int, high: int, name: str) -> list[Field]:
    """The fields of the message in `buf[low:high]`, in order."""
    base = address_of(buf)
    count = _fields(base, low, high, np.empty((0, 4), np.uint64))
    if count < 0:
        raise damaged(name, -1 - count, len(buf))
    rows = np.empty((count, 4), np.uint64)
    _fields(base, low, high, rows)
    return [Field(*row) for row in rows.tolist()]


class Line(NamedTuple):
    """One XLine: its header and where its bytes are. Times of its events start at `base_ps`."""

    id: int
    name: str
    timestamp_ns: int
    event_count: int
    low: int
    high: int

    @property
    def base_ps(self) -> int:
        """Absolute start in picoseconds, as an unsigned 64-bit counter."""
        return (self.timestamp_ns * PS_PER_NS) % 2**64


def read_line(buf: Bytes, low: int, high: int, name: str) -> Line:
    """Header of the XLine in `buf[low:high]`; counts its events without reading them."""
    head = np.zeros(5, np.int64)
    status = _line_header(address_of(buf), low, high, head)
    if status < 0:
        raise damaged(name, -1 - status, len(buf))
    line_id, timestamp_ns, start, stop, count = head.tolist()
    text = bytes(buf[start:stop]).decode("utf-8", "replace")
    return Line(
        id=line_id, name=text, timestamp_ns=timestamp_ns, event_count=count, low=low, high=high
    )
