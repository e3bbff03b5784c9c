"""A partial with its names as one file, to be sent instead of the capture: 47 kB for 60 MB.

Such files come from strangers: everything is checked before it is used.
"""

import dataclasses
import struct
import zlib
from itertools import pairwise
from pathlib import Path

from roofline.model.op_columns import I64
from roofline.pods.partial import CHIP, COLLECTIVE, KNOWN, TIME, Header, Names, Partial

MAGIC = b"roofline packed partial 1\n"
SUFFIX = ".partial"
MOST_BYTES = 1 << 30
"""Of a partial when it is unpacked: 100,000 operations on 8 chips are 0.02 of it."""
_LENGTH = struct.Struct("<Q")
_WRONG = "The partial is damaged, or of another version of Roofline."


def is_packed(path: Path) -> bool:
    """True if the file begins like a packed partial."""
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def pack(partial: Partial) -> bytes:
    """The partial and its names as one file."""
    names = partial.names.content
    return MAGIC + zlib.compress(_LENGTH.pack(len(names)) + names + partial.content(), 6)


def unpack(content: bytes) -> Partial:
    """The partial in a file. Raises `ValueError` for anything that `pack` does not make."""
    try:
        return _checked(_partial(content))
    except (
        ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError,
        struct.error, zlib.error,
    ) as error:  # fmt: skip
        raise ValueError(_WRONG) from error


def _partial(content: bytes) -> Partial:
    packer = zlib.decompressobj()
    found = packer.decompress(content[len(MAGIC) :], MOST_BYTES)
    if not packer.eof or packer.unused_data or not content.startswith(MAGIC):
        raise ValueError(_WRONG)
    (length,) = _LENGTH.unpack_from(found)
    end = _LENGTH.size + length
    names = Names.read(found[_LENGTH.size : end])

    def known(digest: str) -> Names:
        if digest != names.digest:
            raise ValueError(_WRONG)
        return names

    return Partial.read(found[end:], known)


def _checked(partial: Partial) -> Partial:
    """The partial, if its header has the right types and its columns fit to each other."""
    header, keys = partial.header, partial.names.keys
    _check_header(header)
    texts = [text for key in keys for text in (key.program, key.name, key.category)]
    distinct = all(earlier < later for earlier, later in pairwise(keys))
    each = partial.each
    columns = (
        *(partial.ops, partial.work_ps, partial.calls, partial.chip_ps),
        *(partial.step_ps, partial.step_work_ps),
    )
    fits = (
        all(isinstance(text, str) for text in texts)
        and distinct
        and all((column >= 0).all() for column in columns)
        and (partial.ops[KNOWN] <= 3).all()
        and (partial.sums_ps >= -1).all()
        and _lies_in(each[COLLECTIVE], len(header.collectives))
        and _lies_in(each[CHIP], len(header.chips))
        and (each[TIME] >= 0).all()
    )
    if not fits:
        raise ValueError(_WRONG)
    return partial


def _check_header(header: Header) -> None:
    kinds = {"int": int, "str": str, "bool": bool}
    for field in dataclasses.fields(Header):
        value = getattr(header, field.name)
        wanted = kinds.get(str(getattr(field.type, "__name__", field.type)), tuple)
        if type(value) is not wanted:
            raise ValueError(_WRONG)
    texts = [*header.chips, *header.steps]
    for one in header.collectives:
        texts += [one.program, one.name, one.kind, one.ranks]
        if type(one.group_size) is not int or one.group_size < 0:
            raise ValueError(_WRONG)
    is_digest = len(header.file_digest) == 64 and int(header.file_digest, 16) >= 0
    if not all(type(one) is str for one in texts) or not is_digest:
        raise ValueError(_WRONG)
    if not 0 < header.cores <= 1 << 20 or not header.chips:
        raise ValueError(_WRONG)


def _lies_in(values: I64, count: int) -> bool:
    return bool(((values >= 0) & (values < count)).all())
