"""The part that one host adds to a run: columns of integers, the same bytes for the same file.

Names of operations are kept apart: hosts that run one program share them. A `Spool` holds the
partials of a run in one file on disk, so that memory does not grow with its hosts.

A partial with its names as one file, to be sent instead of the capture: 47 kB for 60 MB.

Such files come from strangers: everything is checked before it is used.
"""

import dataclasses
import hashlib
import json
import mmap
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import numpy as np

from roofline.model.op_columns import I64
from roofline.pods.report import OpKey

FORMAT = 1
_MAGIC = b"roofline partial"
_PREFIX = struct.Struct("<16sQ")  # what it is, and the length of the header
_INT = np.dtype("<i8")
_COLUMNS = ("ops", "work_ps", "calls", "chip_ps", "step_ps", "step_work_ps", "sums_ps", "each")
SELF, OCCURRENCES, FLOP, BYTES, KNOWN = range(5)
"""Rows of `Partial.ops`; bits of `KNOWN` are `FLOP_KNOWN` and `BYTES_KNOWN`."""
FLOP_KNOWN, BYTES_KNOWN = 1, 2
COLLECTIVE, CHIP, TIME = range(3)
"""Rows of `Partial.each`."""


@dataclass(frozen=True)
class Names:
    """The operations of a program in order, shared by all hosts that run it."""

    keys: tuple[OpKey, ...]

    @cached_property
    def content(self) -> bytes:
        """The names as JSON."""
        return _json([[one.program, one.name, one.category] for one in self.keys])

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content."""
        return hashlib.sha256(self.content).hexdigest()

    @classmethod
    def read(cls, content: bytes) -> "Names":
        """The names in `content`."""
        return cls(tuple(OpKey(*one) for one in json.loads(content)))


@dataclass(frozen=True, slots=True)
class CollectiveKey:
    """The key of one collective on every rank; `ranks` is the text of its groups.

    `group_size` is 0 where the file does not tell it.
    """

    program: str
    name: str
    kind: str
    ranks: str
    group_size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """One host: its name and rank, the digest of its file, its chips and what is known of it.

    `cores` divides the host's times into times per core. Where the file does not tell cores apart,
    one chip stands for their mean. `known_rank` is -1 where the file does not tell it.
    """

    host: str
    known_rank: int
    file_name: str
    file_digest: str
    format_id: str
    device: str
    has_accelerator: bool
    cores: int
    chips: tuple[str, ...]
    names: str
    steps: tuple[str, ...]
    collectives: tuple[CollectiveKey, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Partial:
    """One host's part of a run. Times are whole picoseconds.

    `ops` has a row per quantity and a column per op, summed over cores. `work_ps` and `calls` have
    a row per chip. `chip_ps` is each chip's work, that of no known op included. `step_ps` is the
    duration of each step, `step_work_ps` the work in it, a row per chip. `sums_ps` is each chip's
    time in each collective (-1: it did not take part), `each` its single times in order of begin:
    rows are the collective, the chip and the time.
    """

    header: Header
    names: Names
    ops: I64
    work_ps: I64
    calls: I64
    chip_ps: I64
    step_ps: I64
    step_work_ps: I64
    sums_ps: I64
    each: I64

    def content(self) -> bytes:
        """The partial as bytes, without the names."""
        columns = [getattr(self, name) for name in _COLUMNS]
        head = _json({"format": FORMAT, **_as_record(self.header)})
        head += b" " * (-len(head) % _INT.itemsize)  # columns begin where their type may
        body = b"".join(np.ascontiguousarray(one, _INT).tobytes() for one in columns)
        return _PREFIX.pack(_MAGIC, len(head)) + head + body

    def digest(self) -> str:
        """SHA-256 of the content."""
        return hashlib.sha256(self.content()).hexdigest()

    @classmethod
    def read(cls, content: bytes | memoryview, names: Callable[[str], Names]) -> "Partial":
        """The partial in `content`; `names` finds the names by their digest.

        Columns stay in `content`: nothing is copied. Raises `ValueError` for other content.
        """
        if len(content) < _PREFIX.size or content[: len(_MAGIC)] != _MAGIC:
            raise ValueError("The content is not a partial.")
        end = _PREFIX.size + _PREFIX.unpack_from(content)[1]
        record = json.loads(bytes(content[_PREFIX.size : end]))
        if record.pop("format", None) != FORMAT:
            raise ValueError("The content is a partial of another format.")
        header = _header(record)
        known = names(header.names)
        columns = np.frombuffer(content, _INT, offset=end)
        return cls(header=header, names=known, **_split(columns, header, len(known.keys)))


def names_needed(content: bytes) -> str | None:
    """The digest of the names of the partial in `content`; `None` for other content."""
    if len(content) < _PREFIX.size or content[: len(_MAGIC)] != _MAGIC:
        return None
    end = _PREFIX.size + _PREFIX.unpack_from(content)[1]
    found = json.loads(content[_PREFIX.size : end]).get("names")
    return found if isinstance(found, str) else None


def _split(values: I64, header: Header, n_ops: int) -> dict[str, I64]:
    chips, steps, kinds = len(header.chips), len(header.steps), len(header.collectives)
    shapes = [(5, n_ops), (chips, n_ops), (chips, n_ops), (chips,), (steps,), (chips, steps)]
    shapes += [(chips, kinds), (3, -1)]
    found, at = {}, 0
    for name, shape in zip(_COLUMNS, shapes, strict=True):
        size = len(values) - at if -1 in shape else int(np.prod(shape))
        found[name] = values[at : at + size].reshape(shape)
        at += size
    return found


def _as_record(header: Header) -> dict[str, Any]:
    record: dict[str, Any] = {name: getattr(header, name) for name in Header.__slots__}
    record["collectives"] = [
        [one.program, one.name, one.kind, one.ranks, one.group_size] for one in header.collectives
    ]
    return record


def _header(record: dict[str, Any]) -> Header:
    record["collectives"] = tuple(CollectiveKey(*one) for one in record["collectives"])
    for name in ("chips", "steps"):
        record[name] = tuple(record[name])
    return Header(**record)


def _json(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


class Spool:
    """Takes partials, then gives them back as views of the file.

    Names are kept once for all hosts that share them.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._names: dict[str, Names] = {}
        self._lengths: list[int] = []
        self._map: mmap.mmap | None = None

    def add(self, partial: Partial) -> None:
        """Write one partial at the end."""
        self._names.setdefault(partial.names.digest, partial.names)
        self._lengths.append(self._file.write(partial.content()))

    def partials(self) -> list[Partial]:
        """All partials in the order in which they came. Nothing can be added afterwards."""
        if not self._lengths:
            return []
        self._file.flush()
        self._map = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        return list(self._views(memoryview(self._map)))

    def _views(self, content: memoryview) -> Iterator[Partial]:
        begin = 0
        for length in self._lengths:
            yield Partial.read(content[begin : begin + length], self._names.__getitem__)
            begin += length

    def release(self) -> None:
        """Give back the memory of the views; what is read again comes from the file."""
        if self._map is not None and hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED)


@contextmanager
def spool() -> Iterator[Spool]:
    """A spool in a temporary file, which is gone afterwards."""
    with TemporaryFile(prefix="roofline-") as file:
        yield Spool(file)


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
