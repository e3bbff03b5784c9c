"""What a stranger may wrap a file in: sound and bent gzip, Zstandard, zip and tar."""

import gzip
import io
import random
import struct
import tarfile
import warnings
import zipfile
from collections.abc import Callable

import zstandard

from tests.fuzz.hostile import NAMES
from tests.fuzz.mutation import EXTREME
from tests.fuzz.text_mutation import hostile_text

Packer = Callable[[random.Random, bytes], bytes]


def _odd_name(rng: random.Random) -> str:
    return rng.choice((*NAMES, "a.pb", "a/b.csv", "__MACOSX/x", ".DS_Store", hostile_text(rng)))


def _gzipped(rng: random.Random, content: bytes) -> bytes:
    packed = gzip.compress(content, mtime=0)
    match rng.randrange(5):
        case 0:
            return packed + rng.choice((b"\0" * 40, packed, b"junk", gzip.compress(b"")))
        case 1:  # a name, a comment, an extra field
            return packed[:3] + bytes([rng.randrange(256)]) + packed[4:]
        case 2:
            return packed[:-8] + rng.randbytes(8)
        case _:
            return packed


def _zstandard(rng: random.Random, content: bytes) -> bytes:
    match rng.randrange(5):
        case 0:  # no size in the header
            return zstandard.ZstdCompressor(write_content_size=False).compress(content)
        case 1:  # a window of up to 2 GiB
            return b"(\xb5/\xfd\x00" + bytes([rng.randrange(256)]) + rng.randbytes(40)
        case 2:
            skipped = struct.pack("<II", 0x184D2A50, rng.choice((4, 2**32 - 1))) + b"skip"
            return zstandard.compress(content) + skipped + zstandard.compress(content)
        case _:
            return zstandard.compress(content)


def _zipped(rng: random.Random, content: bytes) -> bytes:
    out = io.BytesIO()
    method = rng.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED,
                         zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))  # fmt: skip
    with zipfile.ZipFile(out, "w", method) as archive:
        for _ in range(rng.choice((0, 1, 1, 2, 5))):
            name = _odd_name(rng).replace("\0", "?")[:60_000]
            info = zipfile.ZipInfo(name or "x")
            info.compress_type = method
            info.external_attr = rng.choice((0, 0, 0o120777 << 16, 0o40755 << 16, 0xFFFFFFFF))
            info.flag_bits = rng.choice((0, 0, 0x800))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about names that repeat
                archive.writestr(info, content)
    data = bytearray(out.getvalue())
    if rng.random() < 0.5:
        _bend_zip(rng, data)
    return bytes(data)


def bent_zip(rng: random.Random, data: bytes) -> bytes:
    """`data` with another number in one of the headers, if it is a zip."""
    bent = bytearray(data)
    _bend_zip(rng, bent)
    return bytes(bent)


def _bend_zip(rng: random.Random, data: bytearray) -> None:
    mark = rng.choice((b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06"))
    at = data.rfind(mark)
    if at >= 0:
        place = at + 4 + 2 * rng.randrange(20)
        value = rng.choice((*EXTREME, rng.randrange(2**16))) % 2**16
        data[place : place + 2] = struct.pack("<H", value)[: max(0, len(data) - place)]


def _tarred(rng: random.Random, content: bytes) -> bytes:
    out = io.BytesIO()
    regular = (tarfile.REGTYPE,) * 3
    others = (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE)
    kinds = (*regular, *others, tarfile.CONTTYPE, b"Z")
    style = rng.choice((tarfile.GNU_FORMAT, tarfile.PAX_FORMAT))
    with tarfile.open(fileobj=out, mode="w", format=style, errors="surrogateescape") as archive:
        for _ in range(rng.choice((0, 1, 1, 2, 5))):
            member = tarfile.TarInfo(_odd_name(rng).replace("\0", "?")[:5_000] or "x")
            member.type, member.linkname = rng.choice(kinds), _odd_name(rng).replace("\0", "?")
            member.size = len(content) if member.isreg() else 0
            member.mtime = rng.choice((0, 1.5, 2**33))
            if style == tarfile.PAX_FORMAT and rng.random() < 0.3:
                member.pax_headers = _pax(rng)
            try:
                archive.addfile(member, io.BytesIO(content))
            except (UnicodeError, ValueError):  # what tarfile itself will not write
                continue
    data = bytearray(out.getvalue())
    if rng.random() < 0.3:
        _bend_tar(rng, data)
    packed = bytes(data)
    return gzip.compress(packed, mtime=0) if rng.random() < 0.5 else packed


def _pax(rng: random.Random) -> dict[str, str]:
    sparse = ("map", "major", "minor", "numblocks", "realsize", "name")
    keys = ("path", "size", "mtime", "hdrcharset", "uid", *(f"GNU.sparse.{key}" for key in sparse))
    return {
        rng.choice(keys): rng.choice(("1", "0", "-1", "1e9", "1,2,3", "x", "9" * 30, "9" * 5_000))
        for _ in range(3)
    }


def _bend_tar(rng: random.Random, data: bytearray) -> None:
    """Changes a header and makes its checksum right again."""
    blocks = len(data) // 512
    at = 512 * rng.randrange(min(blocks, 4)) if blocks else 0
    place, width = rng.choice(((100, 8), (108, 8), (124, 12), (136, 12), (156, 1), (257, 6)))
    numbers = (b"\x80" + (2**62).to_bytes(11, "big"), b"\xff" * 12, b"7" * 11 + b"\0", b"-1\0" * 4)
    values = (*numbers, *(letter * 12 for letter in (b"S", b"L", b"x", b"g", b"9")))
    data[at + place : at + place + width] = rng.choice(values)[:width]
    data[at + 148 : at + 156] = b" " * 8
    data[at + 148 : at + 155] = b"%06o\0" % sum(data[at : at + 512])


PACKERS: tuple[Packer, ...] = (_gzipped, _zstandard, _zipped, _zipped, _tarred, _tarred)
