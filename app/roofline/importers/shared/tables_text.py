"""Tables written as text: encodings, delimiters, numbers in any locale, and header words.

CSV has no standard that its writers keep: spreadsheets save `;` and UTF-16, programs follow the
locale of their user. What a file means is decided once per file, never cell by cell.
"""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from roofline.errors import CorruptProfileError, UploadTooLargeError

MISSING_WORDS = frozenset({"", "-", "–", "—", "n/a", "na", "nan", "-nan", "+nan", "null", "none"})
DELIMITERS = (",", ";", "\t")

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_SPACES = dict.fromkeys(map(ord, " \u00a0\u202f\u2009'’\t"))
_PLAIN = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_GROUPED = {
    ",": re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?(?:[eE][+-]?\d+)?"),
    ".": re.compile(r"[+-]?\d{1,3}(?:\.\d{3})+(?:,\d*)?(?:[eE][+-]?\d+)?"),
}
_LONG_CELL = 1 << 20
_ENOUGH_VOTES = 1_000


class TextTable(NamedTuple):
    """A header and its rows. `lines[k]` is the line, from 1, on which row k ends.

    `comments` are the lines that start with `#`, without that sign. `ends_whole` is false where
    the last row has fewer cells than the header or an open quote: the file was cut there.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]
    comments: tuple[str, ...]
    ends_whole: bool


def decode(data: bytes) -> str:
    """Text of `data`: as its byte-order mark says, else UTF-8; other bytes become U+FFFD."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    return data.decode("utf-8", "replace")


def json_of(text: str) -> object:
    """JSON as its objects, `None` for what is not JSON."""
    try:
        result: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return result


def first_row(head: bytes) -> tuple[str, ...]:
    """The cells of the first line that is neither empty nor a comment; empty if there is none.

    For recognising: never raises, and looks at the head only.
    """
    for line in decode(head).splitlines():
        if line.strip() and not line.startswith("#"):
            try:
                return tuple(next(csv.reader([line], delimiter=sniff_delimiter(line)), ()))
            except csv.Error:
                return ()
    return ()


def read_table(text: str, *, name: str, max_rows: int) -> TextTable:
    """The table in `text`: its first line that is neither empty nor a comment is the header.

    Rows keep the cells they have. Raises `UploadTooLargeError` past `max_rows` rows and
    `CorruptProfileError` where the text is not a table.
    """
    lines = text.splitlines(keepends=True)
    comments = tuple(line[1:].strip() for line in lines if line.startswith("#"))
    start = next((k for k, line in enumerate(lines) if _is_content(line)), len(lines))
    if start == len(lines):
        return TextTable(header=(), rows=(), lines=(), comments=comments, ends_whole=True)
    delimiter = sniff_delimiter(lines[start])
    numbered = list(islice(_rows(lines[start:], delimiter, name), max_rows + 2))
    if len(numbered) > max_rows + 1:
        raise UploadTooLargeError(
            f"{name} has more than {max_rows:,} rows.",
            remedy="Sum up the launches of each kernel before the export, or split the file.",
        )
    header, rows = numbered[0][1], numbered[1:]
    return TextTable(
        header=tuple(cell.strip() for cell in header),
        rows=tuple(row for _, row in rows),
        lines=tuple(start + line for line, _ in rows),
        comments=comments,
        ends_whole=_ends_whole(rows[-1][1] if rows else header, header, text),
    )


def read_whole_table(text: str, *, name: str, max_rows: int, remedy: str) -> TextTable:
    """The table in `text`, as `read_table`; also raises `CorruptProfileError` for a row cut."""
    table = read_table(text, name=name, max_rows=max_rows)
    short = [k for k, row in enumerate(table.rows) if len(row) < len(table.header)]
    if short or not table.ends_whole:
        line = table.lines[short[0]] if short else (table.lines or (1,))[-1]
        raise CorruptProfileError(
            f"{name} ends in the middle of a row (line {line:,}).", remedy=remedy
        )
    return table


def sniff_delimiter(line: str) -> str:
    """The delimiter that splits a header line most often, outside its quotes."""
    unquoted = re.sub(r'"[^"]*"', "", line)
    return max(DELIMITERS, key=unquoted.count)


def header_words(label: str) -> str:
    """A header to compare with: lower case, runs of spaces, `-` and `_` as one space."""
    return re.sub(r"[\s_-]+", " ", label.strip().lower()).strip()


def is_missing(cell: str) -> bool:
    """True for what writers put where they know nothing."""
    return cell.strip().lower() in MISSING_WORDS


def decimal_mark(cells: Iterable[str]) -> str:
    """The decimal mark of a file, "." or ",": what its unambiguous cells agree on, else ".".

    Two kinds of mark in one number: the last is decimal. One kind, twice: it groups. Once: it
    groups only before exactly three digits and after one to three that do not start with 0, and
    that alone decides nothing.
    """
    votes = list(islice(_votes(cells), _ENOUGH_VOTES))
    return "," if votes.count(",") > votes.count(".") else "."


def parse_number(cell: str, decimal: str = ".") -> float | None:
    """The number in `cell`, `None` where it is missing. Raises `ValueError` for anything else."""
    if decimal == "." and _PLAIN.fullmatch(cell):
        return float(cell)
    if is_missing(cell):
        return None
    text = cell.translate(_SPACES)
    grouping = "," if decimal == "." else "."
    if grouping in text:
        if not _GROUPED[grouping].fullmatch(text):
            raise ValueError(cell)
        text = text.replace(grouping, "")
    text = text.replace(decimal, ".")
    if not _PLAIN.fullmatch(text):
        raise ValueError(cell)
    return float(text)


def _is_content(line: str) -> bool:
    return bool(line.strip()) and not line.startswith("#")


def _rows(lines: Sequence[str], delimiter: str, name: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Line number and cells of each row; a comment is one only where a row could start."""
    reader = csv.reader(lines, delimiter=delimiter)
    limit = csv.field_size_limit(_LONG_CELL)
    try:
        for row in reader:
            is_comment = bool(row) and row[0].startswith("#")
            if any(cell.strip() for cell in row) and not is_comment:
                yield reader.line_num, tuple(row)
    except csv.Error as error:
        raise CorruptProfileError(
            f"{name} is not a readable table: {error} near line {reader.line_num:,}.",
            remedy="Export the table again, as CSV with quoted texts.",
        ) from error
    finally:
        csv.field_size_limit(limit)


def _ends_whole(last: Sequence[str], header: Sequence[str], text: str) -> bool:
    closes_quotes = text.count('"') % 2 == 0
    return len(last) >= len(header) and closes_quotes


def _votes(cells: Iterable[str]) -> Iterator[str]:
    for cell in cells:
        text = cell.translate(_SPACES)
        if ("." in text or "," in text) and (vote := _vote(text)):
            yield vote


def _vote(text: str) -> str:
    """The decimal mark of one number, "" if it does not tell."""
    if not re.fullmatch(r"[+-]?[\d.,]+(?:[eE][+-]?\d+)?", text):
        return ""
    digits = re.split(r"[eE]", text.lstrip("+-"))[0]
    dots, commas = digits.count("."), digits.count(",")
    if dots and commas:
        return "." if digits.rfind(".") > digits.rfind(",") else ","
    mark, other = (".", ",") if dots else (",", ".")
    if dots + commas > 1:
        return other
    before, _, after = digits.partition(mark)
    groups = len(after) == 3 and 1 <= len(before) <= 3 and not before.startswith("0")
    return "" if groups else mark
