"""Damaged and hostile protobuf messages, made from sound ones: the same for the same seed.

Half of the changes are to bytes; the other half keep the message well-formed, so that they reach
what lies behind the parser: fields removed, repeated, swapped between messages, numbers made
extreme, text made hostile.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
EXTREME = (0, 1, 2, 127, 128, 2**31 - 1, 2**31, 2**32, 2**53, 2**63 - 1, 2**63, 2**64 - 1)
TEXTS = (
    b"",
    b"\xff\xfe\x00",
    b"nan",
    b"1e999",
    b"-1",
    b"%{x}<b>" * 9,
    "\u202e\U0001f600".encode(),
    b"x" * 5000,
    b"fusion.1 = f32[9999999999,9999999999]{1,0} fusion(f32[]{}), kind=kLoop",
    b"(" * 600,
    b"/device:TPU:0",
    b"/device:GPU:1",
    b"/host:CPU",
    b"XLA Ops",
    b"Steps",
)
DEEPEST = 12
LARGE_SHARE = 0.003


@dataclass(slots=True)
class Field:
    """One field; `content` is a number, bytes, or the fields of a message."""

    number: int
    kind: int
    content: "int | bytes | list[Field]"


def fields_of(data: bytes, depth: int = 0) -> list[Field] | None:
    """The fields of a message; `None` if `data` is none."""
    found, at = [], 0
    try:
        while at < len(data):
            key, at = _read_varint(data, at)
            field, at = _read_field(data, at, key >> 3, key & 7, depth)
            found.append(field)
    except (IndexError, ValueError):
        return None
    return found if at == len(data) else None


def _read_field(data: bytes, at: int, number: int, kind: int, depth: int) -> tuple[Field, int]:
    if number == 0:
        raise ValueError("no field has the number 0")
    if kind == VARINT:
        value, at = _read_varint(data, at)
        return Field(number, kind, value), at
    size = {FIXED64: 8, FIXED32: 4}.get(kind)
    if kind == BYTES:
        size, at = _read_varint(data, at)
    if size is None or at + size > len(data):
        raise ValueError("not a field")
    content = data[at : at + size]
    inner = (
        fields_of(content, depth + 1) if kind == BYTES and size > 1 and depth < DEEPEST else None
    )
    return Field(number, kind, inner if inner else content), at + size


def bytes_of(fields: Sequence[Field]) -> bytes:
    """The message of `fields`."""
    out = bytearray()
    for field in fields:
        out += _varint(field.number << 3 | field.kind)
        if isinstance(field.content, int):
            out += _varint(field.content)
            continue
        content = field.content if isinstance(field.content, bytes) else bytes_of(field.content)
        if field.kind == BYTES:
            out += _varint(len(content))
        out += content
    return bytes(out)


class Mutator:
    """Makes inputs from `seeds`, and a few from `large` ones, which take longer to read."""

    def __init__(self, seeds: Sequence[bytes], large: Sequence[bytes] = ()) -> None:
        self.seeds = list(seeds)
        self._large = list(large)

    def input(self, number: int) -> bytes:
        """The input of this number."""
        rng = random.Random(number)
        is_large = bool(self._large) and rng.random() < LARGE_SHARE
        data = rng.choice(self._large if is_large else self.seeds)
        return self._mutated(rng, data, bytes_only=is_large)

    def small(self, rng: random.Random) -> bytes:
        """An input made from one of the small seeds."""
        return self._mutated(rng, rng.choice(self.seeds), bytes_only=False)

    def _mutated(self, rng: random.Random, data: bytes, *, bytes_only: bool) -> bytes:
        if bytes_only or rng.random() < 0.5:
            for _ in range(rng.choice((1, 1, 2, 3, 8))):
                data = damaged(rng, data, rng.choice(self.seeds))
            return data
        fields = fields_of(data) or []
        for _ in range(rng.choice((1, 1, 2, 4))):
            bend(rng, fields)
        data = bytes_of(fields)
        return damaged(rng, data, data) if rng.random() < 0.1 else data


def damaged(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """`data` with one change to its bytes; `other` lends a part."""
    if not data:
        return other[: rng.randrange(1, 50)]
    at = rng.randrange(len(data))
    match rng.randrange(7):
        case 0:
            return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
        case 1:
            return data[:at] + rng.randbytes(rng.choice((1, 2, 8))) + data[at + 1 :]
        case 2:
            return data[:at]
        case 3:
            return data[:at] + data[at + rng.randrange(1, 64) :]
        case 4:
            return (
                data[:at] + rng.choice((b"\xff" * 10, b"\x80" * 9 + b"\x01", bytes(8))) + data[at:]
            )
        case 5:
            length = rng.randrange(1, 200)
            return data[:at] + data[at : at + length] * 2 + data[at + length :]
        case _:
            cut = rng.randrange(len(other) + 1)
            return data[:at] + other[cut:]


def bend(rng: random.Random, fields: list[Field]) -> None:
    """Changes one field somewhere in the tree."""
    parent = fields
    for _ in range(DEEPEST):
        deeper = [field.content for field in parent if isinstance(field.content, list)]
        if not deeper or rng.random() < 0.2:
            break
        parent = rng.choice(deeper)
    if not parent:
        return
    at = rng.randrange(len(parent))
    match rng.randrange(6):
        case 0:
            del parent[at]
        case 1:
            parent.extend([parent[at]] * rng.choice((1, 1, 3, 40)))
        case 2:
            other = rng.randrange(len(parent))
            parent[at], parent[other] = parent[other], parent[at]
        case 3:
            parent[at] = Field(rng.randrange(1, 30), parent[at].kind, parent[at].content)
        case _:
            parent[at] = _bent(rng, parent[at])


def _bent(rng: random.Random, field: Field) -> Field:
    if isinstance(field.content, int):
        near = field.content + rng.choice((-1, 1, 1 << rng.randrange(64)))
        return Field(field.number, VARINT, rng.choice((*EXTREME, near)) % 2**64)
    if field.kind == BYTES:
        return Field(field.number, BYTES, rng.choice(TEXTS))
    return Field(field.number, field.kind, rng.randbytes(8 if field.kind == FIXED64 else 4))


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at += 1
        if byte < 128:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("too long a number")
