"""Partials as files of their own: the same after the way, and refused where they are damaged."""

import random
import struct
import zlib

import pytest

from roofline.pods.partial import MAGIC, pack, unpack
from tests.pods.runs import run


def packed_again(content: bytes) -> bytes:
    return MAGIC + zlib.compress(content)


def test_a_partial_is_the_same_after_the_way() -> None:
    for partial in run(3, hosts=2):
        again = unpack(pack(partial))
        assert again.digest() == partial.digest()
        assert again.names.digest == partial.names.digest


def test_damaged_partials_are_refused_or_whole() -> None:
    """No byte that is changed leads to another error than the one that says so."""
    partial = run(5, hosts=1)[0]
    whole = zlib.decompress(pack(partial)[len(MAGIC) :])
    chance = random.Random(7)
    for _ in range(300):
        damaged = bytearray(whole)
        for _ in range(chance.randrange(1, 4)):
            damaged[chance.randrange(min(len(damaged), 3000))] = chance.randrange(256)
        try:
            unpack(packed_again(bytes(damaged[: chance.choice([len(damaged), len(damaged) // 2])])))
        except ValueError as error:
            assert str(error).startswith("The partial is damaged")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"nothing",
        MAGIC,
        MAGIC + b"nothing",
        packed_again(b""),
        packed_again(struct.pack("<Q", 2**63) + b"[]"),
        packed_again(struct.pack("<Q", 2) + b"[]" + b"roofline partial" + bytes(8)),
        packed_again(struct.pack("<Q", 100_000) + b"[" * 100_000),
    ],
)
def test_other_files_are_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match="damaged, or of another version"):
        unpack(content)
