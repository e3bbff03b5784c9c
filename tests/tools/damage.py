"""Damaged files: each imports and is analysed, or raises a `RooflineError` that helps."""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from roofline.analysis.analyse import analyse
from roofline.analysis.records import AnalysisOptions
from roofline.devices.resolve import resolve
from roofline.errors import RooflineError
from roofline.importers.registry import import_profile
from roofline.importers.source import SourceFile


def outcome(paths: Sequence[Path]) -> RooflineError | None:
    """The error a user would see, `None` if there is a result. Other exceptions are not caught."""
    try:
        profile = import_profile([SourceFile(path) for path in paths])
        analyse(profile, resolve(profile.device, catalogue=False), AnalysisOptions())
    except RooflineError as error:
        assert error.message
        assert error.remedy
        return error
    return None


def cuts(data: bytes, count: int) -> Iterator[bytes]:
    """`count` truncated copies, cut at evenly spread places, the last bytes among them."""
    for k in range(count):
        yield data[: 1 + (len(data) - 2) * k // max(count - 1, 1)]


def flips(data: bytes, count: int, *, seed: int = 0) -> Iterator[bytes]:
    """`count` copies with one to three flipped bits, or a stretch of other bytes."""
    rng = random.Random(seed)
    for k in range(count):
        damaged = bytearray(data)
        for _ in range(rng.choice([1, 1, 3])):
            damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
        if k % 4 == 0:
            place = rng.randrange(len(damaged))
            damaged[place : place + 8] = rng.choice([b"\x00" * 8, b"\xff" * 8, b'",;\n[]{}'])
        yield bytes(damaged)
