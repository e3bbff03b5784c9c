"""The same message written differently: another field order, unknown fields, long varints.

All of it is valid protobuf, and a reader must not notice. Works on wire bytes, with just enough of
the schema to know which fields are messages.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.tools.xspace_wire import varint

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5


@dataclass(frozen=True)
class Schema:
    """Which fields hold messages, and which of them may be put in any order among themselves."""

    messages: dict[int, "Schema"] = field(default_factory=dict)
    maps: frozenset[int] = frozenset()


_STAT = Schema()
_EVENT = Schema({4: _STAT})
_LINE = Schema({4: _EVENT})
_EVENT_METADATA = Schema({2: Schema({5: _STAT})})
_STAT_METADATA = Schema({2: Schema()})
_PLANE = Schema({3: _LINE, 4: _EVENT_METADATA, 5: _STAT_METADATA, 6: _STAT}, frozenset({4, 5}))
SPACE = Schema({1: _PLANE})

Field = tuple[int, int, bytes]


def shuffled(data: bytes, seed: int) -> bytes:
    """Fields in random order; repeated fields keep theirs, except the entries of maps."""
    rng = random.Random(seed)

    def order(fields: list[Field], schema: Schema) -> list[Field]:
        numbers = [number for number, _, _ in fields]
        rng.shuffle(numbers)
        queues = {number: [f for f in fields if f[0] == number] for number in numbers}
        for number in schema.maps & queues.keys():
            rng.shuffle(queues[number])
        return [queues[number].pop(0) for number in numbers]

    return _rewrite(data, SPACE, order, varint)


def metadata_first(data: bytes) -> bytes:
    """Highest field number first: stats and metadata precede the lines, stats the events."""
    return _rewrite(data, SPACE, lambda fields, _: sorted(fields, key=lambda f: -f[0]), varint)


def with_unknown_fields(data: bytes, seed: int) -> bytes:
    """Fields of unknown numbers and every wire type at random places."""
    rng = random.Random(seed)

    def insert(fields: list[Field], _: Schema) -> list[Field]:
        result = list(fields)
        if rng.random() < 0.5:
            place = rng.randrange(len(result) + 1)
            result[place:place] = [
                (200, VARINT, varint(rng.getrandbits(64))),
                (16_000, FIXED64, bytes(8)),
                (99, FIXED32, b"\xff" * 4),
                (536_870_911, LENGTH, b"\x0a\x04junk"),
            ]
        return result

    return _rewrite(data, SPACE, insert, varint)


def with_long_varints(data: bytes) -> bytes:
    """Every tag and length in two bytes more than it needs."""

    def padded(number: int) -> bytes:
        plain = bytearray(varint(number))
        if len(plain) > 3:  # a tag or length of more than five bytes is not read by everyone
            return bytes(plain)
        plain[-1] |= 0x80
        return bytes(plain) + b"\x80\x00"

    return _rewrite(data, SPACE, lambda fields, _: fields, padded)


def fields_of(data: bytes) -> list[Field]:
    """Number, wire type and payload of each field; a length is not part of the payload."""
    fields, at = [], 0
    while at < len(data):
        tag, at = _read_varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == VARINT:
            _, end = _read_varint(data, at)
        elif wire == LENGTH:
            size, at = _read_varint(data, at)
            end = at + size
        else:
            end = at + (8 if wire == FIXED64 else 4)
        fields.append((number, wire, data[at:end]))
        at = end
    return fields


def _rewrite(
    data: bytes,
    schema: Schema,
    arrange: Callable[[list[Field], Schema], list[Field]],
    put: Callable[[int], bytes],
) -> bytes:
    inner = [
        (number, wire, _rewrite(payload, schema.messages[number], arrange, put))
        if number in schema.messages
        else (number, wire, payload)
        for number, wire, payload in fields_of(data)
    ]
    out = bytearray()
    for number, wire, payload in arrange(inner, schema):
        out += put(number << 3 | wire)
        if wire == LENGTH:
            out += put(len(payload))
        out += payload
    return bytes(out)


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
        shift += 7
