"""The compiled scan of a line: bytes of its events to columns.

Everything an event carries ends in NumPy arrays, one entry per event; no Python object per event
exists at any time. Kernels are compiled once (numba, cached on disk) and release the GIL.

Unknown fields are skipped, fields may come in any order, the last alternative of a `oneof` wins.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from roofline.importers.kernels import address_of, kernel, part, word_at
from roofline.importers.source import release
from roofline.importers.xspace.messages import (
    Bytes,
    Line,
    damaged,
    skip_value,
    varint_within,
    wire_tag,
    wire_varint,
)
from roofline.model.plain_data import Aligned

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]
I32 = NDArray[np.int32]

# kinds of a stat value: the field number in the message Stat; 0 where the event has no such stat
DOUBLE, UINT64, INT64, TEXT, BYTES, REF = 2, 3, 4, 5, 6, 7

# a text or bytes value is kept as position and length in one word
_LENGTH_BITS = 24
_MAX_LENGTH = (1 << _LENGTH_BITS) - 1
_LONGEST_PS = float(2**64 - 2**11)


@part
def _look_up(key, table, wide_keys, wide_values):  # type: ignore[no-untyped-def]
    """Dense index of `key`: a table for small keys, a sorted list for others; -1 if unknown."""
    if 0 <= key < table.shape[0]:
        return np.int64(table[np.uintp(key)])
    low, high = 0, wide_keys.shape[0]
    while low < high:
        middle = (low + high) >> 1
        if wide_keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    if low < wide_keys.shape[0] and wide_keys[low] == key:
        return wide_values[low]
    return np.int64(-1)


@kernel(
    "int64(uint64, int64, int64, uint64, int32[], int64[], int64[], int32[], int64[], int64[], "
    "int8[], int32[], uint64[], uint64[], int64[], uint64[,], uint8[,], int64[])"
)
def _scan_events(  # type: ignore[no-untyped-def]
    base, pos, end, start_ps,
    metas, wide_metas, wide_meta_values,
    slots, wide_ids, wide_slots, first_wins,
    meta, begin, duration, occurrences, values, kinds, filled,
):  # fmt: skip
    """Fill the columns with the next events of an XLine, as many as fit.

    `filled[0]` gets their number. Returns the position to go on from, or -1 - that of the damage.
    One function on purpose: it runs once per byte of a capture, and calls that pass arrays cost
    as much as the decoding.
    """
    row = np.int64(0)
    capacity = meta.shape[0]
    wanted = slots.shape[0] > 0 or wide_ids.shape[0] > 0
    while pos < end and row < capacity:
        at = pos
        tag, pos = wire_tag(base, pos, end)
        if pos < 0:
            return -1 - at
        if tag != 34:
            pos = skip_value(base, pos, end, tag & np.uint64(7))
            if pos < 0:
                return -1 - at
            continue
        size, pos = wire_varint(base, pos, end)
        if pos < 0 or size > np.uint64(end - pos):
            return -1 - at
        stop = pos + np.int64(size)
        metadata_id = np.int64(0)
        offset = np.uint64(0)
        span = np.uint64(0)
        count = np.int64(0)
        index = np.uintp(row)
        while pos < stop:
            here = pos
            tag, pos = wire_tag(base, pos, stop)
            if pos < 0 or tag >> np.uint64(3) == 0:
                return -1 - here
            if tag == 34:  # 4: stats
                size, pos = wire_varint(base, pos, stop)
                if pos < 0 or size > np.uint64(stop - pos):
                    return -1 - here
                last = pos + np.int64(size)
                if not wanted:
                    pos = last
                    continue
                stat_id = np.int64(0)
                kind = np.uint8(0)
                value = np.uint64(0)
                # Nearly every stat is a small id and one value: eight bytes have all of its frame.
                if pos + 16 <= end:
                    word = word_at(base + np.uint64(pos))
                    frame = word & np.uint64(0xFF80FF)
                    if frame == 0x180008 or frame == 0x200008 or frame == 0x380008:
                        value, after = varint_within(base, pos + 3, last, end)
                    elif frame == 0x110008:
                        value = word_at(base + np.uint64(pos + 3))
                        after = pos + 11
                    else:
                        after = np.int64(-1)
                    if after == last:
                        stat_id = np.int64((word >> np.uint64(8)) & np.uint64(0x7F))
                        kind = np.uint8((word >> np.uint64(19)) & np.uint64(0x1F))
                        pos = last
                    else:
                        value = np.uint64(0)
                while pos < last:
                    here = pos
                    tag, pos = wire_tag(base, pos, last)
                    if pos < 0 or tag >> np.uint64(3) == 0:
                        return -1 - here
                    field = tag >> np.uint64(3)
                    wire = tag & np.uint64(7)
                    if wire == 0:
                        word, pos = varint_within(base, pos, last, end)
                        if pos < 0:
                            return -1 - here
                        if field == 1:
                            stat_id = np.int64(word)
                        elif field == 3 or field == 4 or field == 7:
                            kind = np.uint8(field)
                            value = word
                    elif wire == 2:
                        size, pos = varint_within(base, pos, last, end)
                        if pos < 0 or size > np.uint64(last - pos):
                            return -1 - here
                        if field == 5 or field == 6:
                            kind = np.uint8(field)
                            kept = min(size, np.uint64(_MAX_LENGTH))
                            value = (np.uint64(pos) << np.uint64(_LENGTH_BITS)) | kept
                        elif field == 8:
                            kind = np.uint8(0)
                        pos += np.int64(size)
                    else:
                        start = pos
                        pos = skip_value(base, pos, last, wire)
                        if pos < 0:
                            return -1 - here
                        if wire == 1 and field == 2:
                            kind = np.uint8(2)
                            value = word_at(base + np.uint64(start))
                if 0 <= stat_id < slots.shape[0]:
                    slot = np.int64(slots[np.uintp(stat_id)])
                else:
                    slot = _look_up(stat_id, slots, wide_ids, wide_slots)
                if slot >= 0:
                    column = np.uintp(slot)
                    if not (first_wins[column] and kinds[column, index]):
                        values[column, index] = value
                        kinds[column, index] = kind
            elif tag == 8 or tag == 16 or tag == 24 or tag == 40:
                word, pos = varint_within(base, pos, stop, end)
                if pos < 0:
                    return -1 - here
                if tag == 8:
                    metadata_id = np.int64(word)
                elif tag == 24:
                    span = word
                elif tag == 16:  # 2: offset_ps and 5: num_occurrences are one oneof
                    offset = word
                    count = np.int64(0)
                else:
                    count = np.int64(word)
                    offset = np.uint64(0)
            else:
                pos = skip_value(base, pos, stop, tag & np.uint64(7))
                if pos < 0:
                    return -1 - here
        if 0 <= metadata_id < metas.shape[0]:
            meta[index] = metas[np.uintp(metadata_id)]
        else:
            meta[index] = _look_up(metadata_id, metas, wide_metas, wide_meta_values)
        begin[index] = start_ps + offset
        duration[index] = span
        occurrences[index] = count
        row += 1
    filled[0] = row
    return pos


@kernel("void(const uint64[], const float64[], const uint8[], uint64[])")
def at_default_clock(time, scale, kinds, out):  # type: ignore[no-untyped-def]
    """Time at the default clock (XProf's DVFS multiplier), cut to whole picoseconds; impossible
    times of a damaged scale (negative, NaN, past 64 bits) become a limit."""
    for k in range(time.shape[0]):
        scaled = np.float64(time[k])
        if kinds[k]:
            scaled *= scale[k] if kinds[k] == DOUBLE else 0.0
        out[k] = np.uint64(min(scaled, _LONGEST_PS)) if scaled > 0.0 else np.uint64(0)


class Lookup(NamedTuple):
    """A map from metadata ids to small integers that kernels can follow."""

    table: I32
    wide_keys: I64
    wide_values: I64


_TABLE_LIMIT = 1 << 20


def make_lookup(values_by_id: Mapping[int, int]) -> Lookup:
    """Ids below a limit go to a table, others to a sorted list, so that huge ids cost no memory."""
    small = {key: value for key, value in values_by_id.items() if 0 <= key < _TABLE_LIMIT}
    wide = sorted((key, value) for key, value in values_by_id.items() if key not in small)
    table = np.full(max(small, default=-1) + 1, -1, np.int32)
    for key, value in small.items():
        table[key] = value
    keys = np.array([key for key, _ in wide], np.int64)
    return Lookup(table, keys, np.array([value for _, value in wide], np.int64))


class StatColumn(NamedTuple):
    """One stat of a line's events: raw 64-bit words, and how each was written (0: absent, and the
    word has no meaning)."""

    words: U64
    kinds: NDArray[np.uint8]

    def int_or_uint(self) -> U64:
        """Values written as either integer type; 0 elsewhere."""
        return np.where((self.kinds == UINT64) | (self.kinds == INT64), self.words, np.uint64(0))

    def int_only(self) -> I64:
        """Values written as int64; 0 elsewhere."""
        return np.where(self.kinds == INT64, self.words, np.uint64(0)).view(np.int64)

    @property
    def present(self) -> NDArray[np.bool_]:
        """True where the event has the stat, whatever its type."""
        present: NDArray[np.bool_] = self.kinds != 0
        return present

    def text_ranges(self, rows: I64 | int) -> tuple[U64, U64]:
        """Byte ranges of text or bytes values."""
        start = self.words[rows] >> np.uint64(_LENGTH_BITS)
        return start, start + (self.words[rows] & np.uint64(_MAX_LENGTH))


@dataclass(frozen=True, slots=True, kw_only=True)
class Events(Aligned):
    """Columns of one line's events, in file order.

    `meta` is the dense index of the event metadata (-1: unknown id); `begin_ps` is absolute on the
    line's clock; `occurrences` is 0 unless the event is aggregated.
    """

    meta: I32
    begin_ps: U64
    duration_ps: U64
    occurrences: I64
    stats: Mapping[str, StatColumn]

    @property
    def end_ps(self) -> U64:
        """End of each event; wraps like the 64-bit counter it is."""
        return self.begin_ps + self.duration_ps


CHUNK_EVENTS = 32_768


def scan_events(
    buf: Bytes,
    line: Line,
    *,
    metas: Lookup,
    stat_ids: Mapping[str, Sequence[int]],
    first_wins: frozenset[str],
    name: str,
    chunk_events: int,
    into: tuple[U64, U64] | None = None,
) -> Iterator[Events]:
    """Columns of `line`'s events, at most `chunk_events` at a time, in file order. Begin and
    duration of the whole line are written to `into`, if that is given.

    `stat_ids` maps a stat's name to its metadata ids in this plane; each gets a column. Of the
    stats in `first_wins` the first one counts where an event repeats it, else the last.
    """
    names = list(stat_ids)
    slots = make_lookup({key: slot for slot, n in enumerate(names) for key in stat_ids[n]})
    first = np.array([n in first_wins for n in names], np.int8)
    filled = np.zeros(1, np.int64)
    position, left = line.low, line.event_count
    while left > 0:
        begun, done = position, line.event_count - left
        count = min(left, chunk_events)
        meta = np.empty(count, np.int32)
        part_of = slice(done, done + count)
        begin, duration = (
            np.empty((2, count), np.uint64)
            if into is None
            else (
                into[0][part_of],
                into[1][part_of],
            )
        )
        occurrences = np.empty(count, np.int64)
        words = np.empty((len(names), count), np.uint64)
        kinds = np.zeros((len(names), count), np.uint8)
        position = _scan_events(
            address_of(buf), position, line.high, line.base_ps,
            metas.table, metas.wide_keys, metas.wide_values,
            slots.table, slots.wide_keys, slots.wide_values, first,
            meta, begin, duration, occurrences, words, kinds, filled,
        )  # fmt: skip
        if position < 0:
            raise damaged(name, -1 - position, len(buf))
        left -= count
        stats = {n: StatColumn(words=words[k], kinds=kinds[k]) for k, n in enumerate(names)}
        yield Events(
            meta=meta, begin_ps=begin, duration_ps=duration, occurrences=occurrences, stats=stats
        )
        release(buf, begun, position)
