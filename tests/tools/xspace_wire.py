"""Writes XSpace bytes: planes through protobuf objects, long event lines straight to the wire.

Event lines are encoded with NumPy, which makes profiles of several million events (hundreds of MB)
practical; metadata, plane stats and small lines are protobuf objects.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from tests.tools import xspace_writer_pb2 as pb

Value = bytes | float | str
# Name and value, and "i64" where an integer is to be stored with its sign.
Stat = tuple[str, Value] | tuple[str, Value, str]
Key = int | str | tuple[str | int, ...]

# Operation types and memory spaces of a memory access breakdown.
READ, WRITE = 1, 2
HBM, CMEM, VMEM = 1, 2, 3


def _varint_sizes(v: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Encoded size of every element of an uint64 array."""
    size = np.ones(v.shape, np.int64)
    x = v >> np.uint64(7)
    while x.any():
        size += x != 0
        x >>= np.uint64(7)
    return size


def _put_varints(
    buf: NDArray[np.uint8], pos: NDArray[np.int64], v: NDArray[np.uint64], size: NDArray[np.int64]
) -> None:
    for k in range(int(size.max()) if size.size else 0):
        live = size > k
        byte = (v[live] >> np.uint64(7 * k)) & np.uint64(0x7F)
        more = (size[live] > k + 1).astype(np.uint64) << np.uint64(7)
        buf[pos[live] + k] = (byte | more).astype(np.uint8)


@dataclass
class StatCol:
    """One stat on a subset of the events. kind: u64, i64, f64."""

    stat_id: int
    kind: str
    values: np.ndarray
    mask: np.ndarray | None = None

    def tag(self) -> int:
        return {"u64": 0x18, "i64": 0x20, "f64": 0x11}[self.kind]


def encode_events(
    meta_ids: NDArray[np.int64],
    offsets: NDArray[np.int64],
    durations: NDArray[np.int64],
    stats: Sequence[StatCol],
    chunk: int = 400_000,
) -> Iterator[bytes]:
    """Bytes of `repeated XEvent events = 4` for a whole line, chunk by chunk."""
    n = len(meta_ids)
    for lo in range(0, n, chunk):
        hi = min(n, lo + chunk)
        yield _encode_chunk(
            meta_ids[lo:hi].astype(np.uint64),
            offsets[lo:hi].astype(np.uint64),
            durations[lo:hi].astype(np.uint64),
            [
                dataclasses.replace(
                    s, values=s.values[lo:hi], mask=None if s.mask is None else s.mask[lo:hi]
                )
                for s in stats
            ],
        )


def _encode_chunk(
    mid: NDArray[np.uint64],
    off: NDArray[np.uint64],
    dur: NDArray[np.uint64],
    stats: Sequence[StatCol],
) -> bytes:
    n = len(mid)
    cols = [
        (0x08, mid, _varint_sizes(mid)),
        (0x10, off, _varint_sizes(off)),
        (0x18, dur, _varint_sizes(dur)),
    ]
    body = np.full(n, len(cols), np.int64) + sum(size for _, _, size in cols)
    prepared = []
    for s in stats:
        assert s.stat_id < 128
        if s.kind == "f64":
            bits = s.values.astype("<f8").view("<u8")
            vsize = np.full(n, 8, np.int64)
        else:
            bits = s.values.astype(np.int64).view(np.uint64)
            vsize = _varint_sizes(bits)
        inner = 2 + 1 + vsize  # id field + value tag + value
        mask = np.ones(n, bool) if s.mask is None else s.mask
        total = np.where(mask, 2 + inner, 0)
        prepared.append((s, bits, vsize, inner, mask, total))
        body = body + total
    bsize = _varint_sizes(body.astype(np.uint64))
    rec = 1 + bsize + body
    start = np.concatenate(([0], np.cumsum(rec)))
    buf = np.empty(int(start[-1]), np.uint8)
    pos = start[:-1].copy()
    buf[pos] = 0x22
    pos += 1
    _put_varints(buf, pos, body.astype(np.uint64), bsize)
    pos += bsize
    for tag, v, size in cols:
        buf[pos] = tag
        pos += 1
        _put_varints(buf, pos, v, size)
        pos += size
    for s, bits, vsize, inner, mask, total in prepared:
        p = pos[mask]
        buf[p] = 0x22
        buf[p + 1] = inner[mask]
        buf[p + 2] = 0x08
        buf[p + 3] = s.stat_id
        buf[p + 4] = s.tag()
        if s.kind == "f64":
            raw = bits[mask].view(np.uint8).reshape(-1, 8)
            for k in range(8):
                buf[p + 5 + k] = raw[:, k]
        else:
            _put_varints(buf, p + 5, bits[mask], vsize[mask])
        pos = pos + total
    return buf.tobytes()


def varint(n: int) -> bytes:
    out = bytearray()
    n &= (1 << 64) - 1
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


class PlaneBuilder:
    """Collects one XPlane; lines may be protobuf XLines or raw byte chunks."""

    def __init__(self, name: str, plane_id: int = 0, ref_strings: bool = False) -> None:
        self.plane = pb.XPlane(name=name, id=plane_id)
        self.stat_ids: dict[str, int] = {}
        self.event_ids: dict[Key, int] = {}
        self.raw_lines: list[tuple[bytes, list[bytes]]] = []
        self.ref_strings = ref_strings

    def sid(self, name: str) -> int:
        i = self.stat_ids.get(name)
        if i is None:
            i = self.stat_ids[name] = len(self.stat_ids) + 1
            self.plane.stat_metadata[i].CopyFrom(pb.XStatMetadata(id=i, name=name))
        return i

    def stat(
        self,
        owner: pb.XEvent | pb.XEventMetadata | pb.XPlane,
        name: str,
        value: Value,
        kind: str | None = None,
    ) -> None:
        s = owner.stats.add(metadata_id=self.sid(name))
        if kind == "i64":
            assert isinstance(value, int)
            s.int64_value = value
        elif isinstance(value, bool):
            s.int64_value = int(value)
        elif isinstance(value, float):
            s.double_value = value
        elif isinstance(value, int):
            s.uint64_value = value
        elif isinstance(value, bytes):
            s.bytes_value = value
        elif self.ref_strings:
            s.ref_value = self.sid(value)
        else:
            s.str_value = value

    def plane_stat(self, name: str, value: Value, kind: str | None = None) -> None:
        self.stat(self.plane, name, value, kind)

    def event_meta(
        self,
        key: Key,
        name: str,
        display: str = "",
        stats: Sequence[Stat] = (),
    ) -> int:
        i = self.event_ids.get(key)
        if i is None:
            i = self.event_ids[key] = len(self.event_ids) + 1
            m = self.plane.event_metadata[i]
            m.id, m.name, m.display_name = i, name, display
            self._add_stats(m, stats)
        return i

    def _add_stats(self, owner: pb.XEvent | pb.XEventMetadata, stats: Sequence[Stat]) -> None:
        for item in stats:
            self.stat(owner, item[0], item[1], item[2] if len(item) == 3 else None)

    def line(self, line_id: int, name: str, timestamp_ns: int) -> pb.XLine:
        return self.plane.lines.add(id=line_id, name=name, timestamp_ns=timestamp_ns)

    def event(
        self,
        line: pb.XLine,
        meta_id: int,
        offset_ps: int,
        duration_ps: int,
        stats: Sequence[Stat] = (),
    ) -> pb.XEvent:
        e = line.events.add(
            metadata_id=meta_id, offset_ps=int(offset_ps), duration_ps=int(duration_ps)
        )
        self._add_stats(e, stats)
        return e

    def raw_line(self, line_id: int, name: str, timestamp_ns: int, chunks: Iterable[bytes]) -> None:
        head = pb.XLine(id=line_id, name=name, timestamp_ns=timestamp_ns).SerializeToString()
        self.raw_lines.append((head, list(chunks)))

    def write(self, out: BinaryIO, metadata_first: bool = False) -> None:
        """Append this plane as field 1 of the XSpace to a binary file.

        The usual order on the wire is id, name, lines, metadata maps, stats.
        """
        head = pb.XPlane(id=self.plane.id, name=self.plane.name).SerializeToString()
        lines = pb.XPlane()
        lines.lines.extend(self.plane.lines)
        small = lines.SerializeToString()
        del lines
        rest = pb.XPlane()
        rest.CopyFrom(self.plane)
        for name in ("id", "name", "lines"):
            rest.ClearField(name)
        tail = rest.SerializeToString(deterministic=True)
        blocks = []
        size = len(head) + len(small) + len(tail)
        for line_head, chunks in self.raw_lines:
            n = len(line_head) + sum(map(len, chunks))
            frame = b"\x1a" + varint(n)
            blocks.append((frame, line_head, chunks))
            size += len(frame) + n
        out.write(b"\x0a" + varint(size))
        out.write(head)
        if metadata_first:
            out.write(tail)
        out.write(small)
        for frame, line_head, chunks in blocks:
            out.write(frame)
            out.write(line_head)
            for c in chunks:
                out.write(c)
        if not metadata_first:
            out.write(tail)


def breakdown(entries: Sequence[tuple[int, int, int]]) -> bytes:
    m = pb.MemoryAccessBreakdown()
    for op, space, nbytes in entries:
        m.memory_accessed.add(operation_type=op, memory_space=space, bytes_accessed=int(nbytes))
    result: bytes = m.SerializeToString()
    return result
