"""Texts of event stats as small numbers, without a Python string per event.

A text is written in place or as a reference; both are decoded once per distinct text.
"""

import numpy as np

from roofline.importers.kernels import kernel
from roofline.importers.xspace.event_scan import I64, REF, TEXT, U64, StatColumn
from roofline.importers.xspace.messages import Bytes
from roofline.importers.xspace.planes import Plane

_FNV_START, _FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3
# Keys of references have this bit, those of texts in place do not.
_REF_BIT = np.uint64(1 << 63)


@kernel("void(const uint8[], uint64[], uint64[], uint64[])")
def _hash(buf, start, stop, out):  # type: ignore[no-untyped-def]
    """FNV-1a of each byte range, 64 bits; http://www.isthe.com/chongo/tech/comp/fnv/."""
    for k in range(start.shape[0]):
        value = np.uint64(_FNV_START)
        for at in range(start[k], stop[k]):
            value = (value ^ np.uint64(buf[at])) * np.uint64(_FNV_PRIME)
        out[k] = value


class TextNumbers:
    """Dense numbers for the distinct texts of one plane's stats, shared by all its columns."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self._number_of_key: dict[int, int] = {}
        self._number_of_text: dict[str, int] = {}
        self.texts: list[str] = []  # by number

    def find(self, text: str) -> int:
        """The number of `text`; -2 where no event has it so far."""
        return self._number_of_text.get(text, -2)

    def number(self, column: StatColumn | None, length: int) -> I64:
        """Number of each event's text; -1 where it has none or an empty one."""
        none = np.broadcast_to(np.int64(-1), length)
        if column is None or not column.kinds.any():
            return none
        rows = np.flatnonzero(self._plane.has_text(column))
        if not len(rows):
            return none
        keys = _keys(self._plane.buffer, column, rows)
        distinct, first, of_row = np.unique(keys, return_index=True, return_inverse=True)
        known = [
            self._of_key(key, column, int(rows[at]))
            for key, at in zip(distinct.tolist(), first.tolist(), strict=True)
        ]
        numbers = none.copy()
        numbers[rows] = np.array(known, np.int64)[of_row]
        return numbers

    def _of_key(self, key: int, column: StatColumn, row: int) -> int:
        number = self._number_of_key.get(key)
        if number is None:
            text = self._plane.stat_text(column, row)
            number = self._number_of_text.setdefault(text, len(self.texts))
            if number == len(self.texts):
                self.texts.append(text)
            self._number_of_key[key] = number
        return number


def _keys(buf: Bytes, column: StatColumn, rows: I64) -> U64:
    """A number per row that is equal where the text is."""
    words, kinds = column.words[rows], column.kinds[rows]
    keys = np.where(kinds == REF, words | _REF_BIT, np.uint64(0))
    inline = np.flatnonzero(kinds == TEXT)
    if len(inline):
        start, stop = column.text_ranges(rows[inline])
        hashed = np.empty(len(inline), np.uint64)
        _hash(buf, start, stop, hashed)
        keys[inline] = hashed & ~_REF_BIT
    return keys
