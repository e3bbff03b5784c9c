"""Nsight Compute's binary reports with bent messages in sound blocks."""

import random
import struct
from collections.abc import Sequence

from tests.fuzz.mutation import bend, bytes_of, fields_of
from tests.tools import make_ncu_samples as ncu

START = b"NVR\0" + ncu.prefixed(ncu.whole(1, 7))


def bent_report(rng: random.Random, data: bytes) -> bytes:
    """`data` with some of its messages bent; sizes and counts mostly right."""
    parts = _frames(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(parts))
        match rng.randrange(8):
            case 0:
                parts.insert(at, parts[rng.randrange(len(parts))])
            case 1:
                del parts[at]
                parts = parts or _frames(data)
            case _:
                header, entries = parts[at]
                which = rng.randrange(len(entries) + 1)
                message = entries[which] if which < len(entries) else header
                fields = fields_of(message) or []
                for _ in range(rng.choice((1, 2, 5))):
                    bend(rng, fields)
                changed = bytes_of(fields)
                if which < len(entries):
                    entries = [*entries[:which], changed, *entries[which + 1 :]]
                parts[at] = (header if which < len(entries) else changed, entries)
    return START + b"".join(_framed(rng, *part) for part in parts)


def _frames(data: bytes) -> list[tuple[bytes, list[bytes]]]:
    """Header and entries of each block of a sound report."""
    at, parts = len(START), []
    while at < len(data):
        header, at = _prefixed(data, at)
        payload = next(f.content for f in fields_of(header) or () if f.number == 5)
        end = at + payload if isinstance(payload, int) else at
        entries = []
        while at < end:
            entry, at = _prefixed(data, at)
            entries.append(entry)
        parts.append((header, entries))
    return parts


def _prefixed(data: bytes, at: int) -> tuple[bytes, int]:
    (size,) = struct.unpack_from("<I", data, at)
    return data[at + 4 : at + 4 + size], at + 4 + size


def _framed(rng: random.Random, header: bytes, entries: Sequence[bytes]) -> bytes:
    payload = b"".join(map(ncu.prefixed, entries))
    fields = fields_of(header) or []
    for field in fields:
        if field.number == 5 and rng.random() < 0.97:
            field.content = len(payload)
    return ncu.prefixed(bytes_of(fields)) + payload
