"""Rows of a table of SQLite, decoded from the pages of its file: no statement, no SQL of the file.

Format: https://www.sqlite.org/fileformat2.html. A table is a tree of pages whose leaves hold one
record per row: a head with the type of each cell, then the cells. What does not fit into a page
goes on in a chain of others.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from roofline.importers.kernels import address_of, big_word_at, byte_at, kernel, part
from roofline.model.op_columns import I64

U8 = NDArray[np.uint8]

NULL, WHOLE, REAL, TEXT, BLOB = range(5)
_INTERIOR, _LEAF = 5, 13
_TEXT_BITS = 24  # a text is its position and its length in one word
_LONGEST_TEXT = (1 << _TEXT_BITS) - 1
_MOST_LEVELS = 20
_LEAST_PAGE, _FILE_HEAD = 512, 100
_PARTS = 4096


class DamagedRowsError(ValueError):
    """Bytes that are not a table."""


@part
def _varint(base, at, end):  # type: ignore[no-untyped-def]
    """The number at `at`, and the place behind it: -1 where it does not end before `end`."""
    value = np.int64(0)
    for k in range(9):
        if at >= end:
            return value, np.int64(-1)
        byte = np.int64(byte_at(base + np.uint64(at)))
        at += 1
        if k == 8:
            return (value << 8) | byte, at
        value = (value << 7) | (byte & 127)
        if byte < 128:
            break
    return value, at


@part
def _whole_number(base, at, width, limit):  # type: ignore[no-untyped-def]
    """The signed number of `width` bytes, 1 to 8, the highest first; bytes end at `limit`."""
    if at + 8 > limit:
        value = np.int64(-1 if byte_at(base + np.uint64(at)) >= 128 else 0)
        for k in range(width):
            value = (value << 8) | np.int64(byte_at(base + np.uint64(at + k)))
        return value
    return np.int64(big_word_at(base + np.uint64(at))) >> np.int64(64 - 8 * width)


@part
def _read_record(base, limit, shift, start, end, row, slots, values, kinds):  # type: ignore[no-untyped-def]
    """Cells of one record; of a damaged one nothing from where the damage is."""
    length, at = _varint(base, start, end)
    head_end = start + length
    if at < 0 or length < 0 or head_end > end:
        return
    cell = head_end
    for column in range(slots.shape[0]):
        if at >= head_end:
            return
        kind, at = _varint(base, at, head_end)
        if at < 0 or kind < 0:
            return
        width = kind
        if kind >= 12:
            width = (kind - 12) >> 1
        elif kind >= 8:
            width = np.int64(0)
        elif kind >= 5:
            width = np.int64(6 if kind == 5 else 8)
        if width > end - cell:
            return
        slot = slots[column]
        if slot >= 0:
            if kind >= 12:
                held = min(width, np.int64(_LONGEST_TEXT))
                kinds[slot, row] = TEXT if kind & 1 and held == width else BLOB
                values[slot, row] = ((cell + shift) << _TEXT_BITS) | held
            elif kind == 8 or kind == 9:
                kinds[slot, row] = WHOLE
                values[slot, row] = kind - 8
            elif 0 < kind < 8:
                kinds[slot, row] = REAL if kind == 7 else WHOLE
                values[slot, row] = _whole_number(base, cell, width, limit)
        cell += width


@kernel(
    "int64(uint64, int64, int64, int64, const int64[], const int64[], int64, int64[,], uint8[,],"
    " int64[,], int64)"
)
def _read_leaves(  # type: ignore[no-untyped-def]
    base, limit, page_size, usable, leaves, slots, key, values, kinds, parts, n_rows
):
    """Cells of the records of these leaves; `slots` are the row of `values` for each column of the
    table, `key` that of the number of the row.

    Of a text there are the position and the length. Rows that go on in other pages get a row of
    `parts` each, as far as there are some: number, begin, size, bytes in this page, next page.
    Returns how many these are, or -1 where a page is damaged.
    """
    row, n_parts = np.int64(0), np.int64(0)
    least = (usable - 12) * 32 // 255 - 23
    for leaf in leaves:
        page = leaf * page_size
        end = page + usable
        head = page + (100 if leaf == 0 else 0)
        cells = _whole_number(base, head + 2, 3, limit) & 0xFFFF
        for k in range(cells):
            place = head + 8 + 2 * k
            if place + 2 > end or row >= n_rows:
                return np.int64(-1)
            at = page + (_whole_number(base, place, 2, limit) & 0xFFFF)
            length, at = _varint(base, at, end)
            if at < 0 or length < 0:
                return np.int64(-1)
            rowid, at = _varint(base, at, end)
            if at < 0:
                return np.int64(-1)
            if key >= 0:
                values[key, row], kinds[key, row] = rowid, WHOLE
            if length > usable - 35:
                inside = least + (length - least) % (usable - 4)
                inside = inside if inside <= usable - 35 else least
                if at + inside + 4 > end:
                    return np.int64(-1)
                follows = _whole_number(base, at + inside, 4, limit) & 0xFFFFFFFF
                if follows and n_parts < parts.shape[0]:
                    one = parts[n_parts]
                    one[0], one[1], one[2], one[3], one[4] = row, at, length, inside, follows
                n_parts += follows > 0
            elif at + length > end:
                return np.int64(-1)
            else:
                _read_record(base, limit, 0, at, at + length, row, slots, values, kinds)
            row += 1
    return n_parts if row == n_rows else np.int64(-1)


@kernel("void(uint64, int64, int64, const int64[,], const int64[], int64[,], uint8[,])")
def _read_parts(base, limit, shift, parts, slots, values, kinds):  # type: ignore[no-untyped-def]
    """Cells of records that lie one after the other; a text's position counts from `shift` on."""
    start = np.int64(0)
    for k in range(parts.shape[0]):
        end = start + parts[k, 2]
        _read_record(base, limit, shift, start, end, parts[k, 0], slots, values, kinds)
        start = end


@part
def _behind(data, at, end, word):  # type: ignore[no-untyped-def]
    """The place behind the digits that follow `word` at `at`; `at` where it is not there."""
    place = at + word.shape[0]
    if word.shape[0] == 0 or place > end:
        return at
    for k in range(word.shape[0]):
        if data[at + k] != word[k]:
            return at
    while place < end and 48 <= data[place] <= 57:
        place += 1
    return place


@kernel("void(const uint8[], const int64[], const uint8[], const uint8[], uint64[])")
def _hash_texts(data, texts, first, second, hashes):  # type: ignore[no-untyped-def]
    """A number per text, of all but the words `first` and `second` with the digits behind them."""
    for k in range(texts.shape[0]):
        at = texts[k] >> _TEXT_BITS
        end = at + (texts[k] & _LONGEST_TEXT)
        found = np.uint64(14_695_981_039_346_656_037)
        while at < end:
            if data[at] == 44:  # both begin with a comma
                place = _behind(data, at, end, first)
                place = _behind(data, place, end, second)
                if place != at:
                    at = place
                    continue
            found = (found ^ np.uint64(data[at])) * np.uint64(1_099_511_628_211)
            found ^= found >> np.uint64(29)
            at += 1
        hashes[k] = found


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Cells of one table: a row of `values` and of `kinds` for each column that was asked for."""

    values: I64
    kinds: U8
    data: Sequence[U8]

    def __len__(self) -> int:
        return int(self.values.shape[1])

    def text(self, word: int) -> bytes:
        """The bytes of a text."""
        at, data = word >> _TEXT_BITS, self.data[0]
        if at >= len(data):
            at, data = at - len(data), self.data[1]
        return data[at : at + (word & _LONGEST_TEXT)].tobytes()

    def distinct(self, texts: I64, numbered: tuple[bytes, bytes]) -> tuple[I64, I64]:
        """Distinct ones of these texts, and the place of each among them.

        Two are one that differ only in numbers behind the words `numbered`, which begin with a
        comma.
        """
        hashes = np.zeros(len(texts), np.uint64)
        words = [np.frombuffer(word, np.uint8) for word in numbered]
        size = len(self.data[0])
        for k, data in enumerate(self.data):
            mine = (texts >> _TEXT_BITS >= size) == bool(k)
            found = np.zeros(int(mine.sum()), np.uint64)
            _hash_texts(data, texts[mine] - (k * size << _TEXT_BITS), *words, found)
            hashes[mine] = found
        _, first, place = np.unique(hashes, return_index=True, return_inverse=True)
        return texts[first], place


class Pages:
    """The pages of one file, whose first 100 bytes are a head."""

    def __init__(self, data: U8) -> None:
        self._data = data
        size = int.from_bytes(data[16:18].tobytes(), "big")
        self._size = 65_536 if size == 1 else size
        self._usable = self._size - int(data[20])
        self._count = len(data) // self._size if self._size >= _LEAST_PAGE else 0

    def rows(self, root: int, slots: Sequence[int], n_slots: int, key: int) -> Rows:
        """The rows of the table whose tree begins at page `root`, counted from 1.

        `slots` are the places of its columns among the `n_slots` that are wanted, -1 for others.
        Empty cells at place `key` are the number of the row. Raises `DamagedRowsError`.
        """
        leaves = self._leaves(root - 1)
        n_rows = int(self._cells(leaves).sum())
        values, kinds = np.zeros((n_slots, n_rows), np.int64), np.zeros((n_slots, n_rows), np.uint8)
        places, data = np.trim_zeros(np.array(slots, np.int64) + 1, "b") - 1, [self._data]
        found = _PARTS
        while True:
            parts = np.zeros((found, 5), np.int64)
            found = _read_leaves(
                address_of(self._data), len(self._data), self._size, self._usable, leaves, places,
                key, values, kinds, parts, n_rows,
            )  # fmt: skip
            if found < 0:
                raise DamagedRowsError("a page of rows is damaged")
            if found <= len(parts):
                break
        parts = parts[:found]
        if parts[:, 2].astype(np.float64).sum() > len(self._data):
            raise DamagedRowsError("its rows are longer than the file")
        if len(parts):
            joined = [self._joined(*chain) for chain in parts[:, 1:].tolist()]
            parts[:, 2] = [len(one) for one in joined]
            data.append(np.frombuffer(b"".join(joined), np.uint8))
            _read_parts(
                address_of(data[1]), len(data[1]), len(self._data), parts, places, values, kinds
            )
        return Rows(values, kinds, data)

    def _leaves(self, root: int) -> I64:
        """The leaves of a tree, in order. All of one level have one kind."""
        pages, seen = np.array([max(root, -1)]), 0
        for _ in range(_MOST_LEVELS):
            seen += len(pages)
            if seen > self._count or (pages < 0).any() or (pages >= self._count).any():
                break
            kinds = self._data[self._head(pages)]
            if (kinds == _LEAF).all():
                return pages
            if (kinds != _INTERIOR).any():
                break
            pages = np.concatenate([self._children(page) for page in pages.tolist()])
        raise DamagedRowsError("its tree of pages is damaged")

    def _children(self, page: int) -> I64:
        start, head = page * self._size, int(self._head(page))
        places = self._data[head + 12 :][: 2 * int(self._cells(page))].tobytes()
        at = start + np.frombuffer(places[: len(places) // 2 * 2], ">u2").astype(np.int64)
        at = np.append(at, head + 8)  # the last child stands in the head
        if int(at.max()) + 4 > start + self._usable:
            raise DamagedRowsError("a page of its tree is damaged")
        child = self._data[at[:, None] + np.arange(4)].astype(np.int64)
        return np.asarray(child @ np.array([1 << 24, 1 << 16, 1 << 8, 1]) - 1)

    def _head(self, pages: I64 | int) -> I64:
        return np.asarray(np.multiply(pages, self._size) + np.where(pages == 0, _FILE_HEAD, 0))

    def _cells(self, pages: I64 | int) -> I64:
        at = self._head(pages) + 3
        return np.asarray(self._data[at].astype(np.int64) << 8 | self._data[at + 1])

    def _joined(self, begin: int, size: int, inside: int, page: int) -> bytes:
        """A record that goes on in other pages, whole."""
        pieces, left = [self._data[begin : begin + inside].tobytes()], size - inside
        while left > 0 and 0 < page <= self._count:
            start = (page - 1) * self._size
            content = self._data[start : start + self._usable].tobytes()
            pieces.append(content[4 : 4 + left])
            left -= len(pieces[-1])
            page = int.from_bytes(content[:4], "big")
        return b"".join(pieces) if left == 0 else b""
