"""Values in the wire format of protocol buffers, read inside kernels; the one error for damage.

Format: https://protobuf.dev/programming-guides/encoding/.
"""

import numpy as np
from numpy.typing import NDArray

from roofline.errors import CorruptProfileError
from roofline.importers.kernels import byte_at, part, trailing_zeros, word_at

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
    """Value and next position; position -1 where the varint is cut or longer than ten bytes.

    Eight bytes at once: the lowest clear top bit ends the varint, three shifts close the gaps.
    """
    if pos + 8 > end:
        return _long_varint(base, pos, end)
    word = word_at(base + np.uint64(pos))
    if word & np.uint64(0x80) == 0:
        return word & np.uint64(0x7F), pos + 1
    ends = ~word & np.uint64(_CONTINUE)
    if ends == 0:
        return _long_varint(base, pos, end)
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
    return word, pos + np.int64(trailing_zeros(ends) >> np.uint64(3)) + 1


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


def address_of(buf: Bytes) -> int:
    """Where the bytes are. The caller keeps `buf` alive while a kernel reads."""
    return buf.__array_interface__["data"][0] if len(buf) else 0


def damaged(name: str, position: int, size: int) -> CorruptProfileError:
    """The one error for bytes that are not an XSpace, with the first unreadable position."""
    return CorruptProfileError(
        f"{name} is cut off or damaged: its content stops making sense at byte {position:,} "
        f"of {size:,}.",
        remedy="Copy the file again (compare its size with the original's), or capture again.",
    )
