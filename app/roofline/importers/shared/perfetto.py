"""Perfetto traces, which are protocol buffers that start like those of an XSpace.

Format: https://perfetto.dev/docs/reference/trace-packet-proto. They are not read, only told apart.
"""

from roofline.importers.shared.protobuf_walk import DamagedError, varint

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
        tag = _varint(head, at)
        length = _varint(head, tag[1]) if tag and tag[0] == 0x0A else None
        if length is None:
            return False
        begin, end = length[1], length[1] + length[0]
        known += _is_packet(head[begin : min(end, len(head))])
        at, seen = end, seen + 1
    # The first packets may be of kinds that look like planes; traces soon have others.
    return known > 0 and 2 * known >= seen


def _is_packet(packet: bytes) -> bool:
    """True if a message has only fields that protobuf can write, one of them beyond a plane's."""
    at, beyond, fields = 0, False, 0
    while at < len(packet) and fields < _FIELDS_SEEN:
        fields += 1
        tag = _varint(packet, at)
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
        value = _varint(data, at)
        return len(data) if value is None else value[1]
    if wire == 2:
        length = _varint(data, at)
        return len(data) if length is None else length[1] + length[0]
    return at + 8 if wire == 1 else at + 4 if wire == 5 else None


def _varint(data: bytes, at: int) -> tuple[int, int] | None:
    """A varint and the place behind it; `None` where the data ends within it."""
    try:
        return varint(data, at, len(data))
    except DamagedError:
        return None
