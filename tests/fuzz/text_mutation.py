"""Damaged and hostile tables and JSON documents, made from sound ones: the same for the same seed.

Like `mutation`, half of the changes keep the text well-formed, so that they reach what lies behind
the parser: cells and values of another type, absurd numbers, numbers as no locale writes them,
rows and keys removed, repeated, swapped, nested; text that makes careless patterns slow.
"""

import csv
import io
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tests.fuzz.mutation import damaged

NUMBERS = (
    "0", "-0", "-1", "1e400", "-1e400", "1e-400", "1e308", "4.9e-324", "NaN", "nan", "inf",
    "-Infinity", "−5", "+5", "1,234.5", "1.234,5", "1 234,5", "1'234", "12,34,567", "1_000", "0x10",
    "١٢٣", "½", "²", "1e", "e5", ".", ",", "--5", "5-", "5 %", "12 GB/s", "<1", "1e18", "1e19",
    "9223372036854775807", "9223372036854775808", "18446744073709551616", "9" * 400, "9" * 5_000,
    "0." + "0" * 400 + "1", "1.7976931348623159e308", "-nan(ind)", "1.#INF", "True", "null",
)  # fmt: skip
TEXTS = (
    "", " ", "\x00", "\ufeff", "\u202e", "\u2028", "\x85", "\x1b[31m", "é" * 300, "\U0001f600",
    "=1+1", "=HYPERLINK(1)", "@SUM(1)", "<script>", "%s%n{0}{x}", "../../x", "a\nb", 'a"b', "a,b;c",
    "(1, 1, 1)", "(99999999999999999999, 1, 1)", "()", "[]", "{}", "[clone .kd]", "n/a", "–", "-",
    "x" * 5_000, "void f<(int)1>(float*)", "Memcpy DtoH", "nvjet_tst_128x256", "Kernel",
)  # fmt: skip
# What makes a pattern that tries every beginning take the square of the length.
SLOW = (
    " ", "(", "[", "<", '"', "<!---->", '\\"', "a ", "a\t", "1,", "1.", "a.", "{", "_", "a_", "[0]",
    "=", "#a ", "s1688", "winograd", "Cijk_a_", ".pb", "'", "-", "aten::", "\n", "\r", "\\",
)  # fmt: skip
SLOW_LENGTH = 60_000
SLOW_SHARE = 0.002
DEEP = (3, 50, 900, 1_100, 40_000)
DELIMITERS = ",;\t"
ENCODINGS = ("utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1", "cp1252", "utf-32")

Words = Sequence[str]


@dataclass(frozen=True, slots=True)
class Raw:
    """Text that goes into a document as it is, quotes or none."""

    text: str


@dataclass(slots=True)
class Pairs:
    """An object whose keys may repeat."""

    items: list[tuple[str, "Value"]]


Value = None | bool | int | float | str | Raw | Pairs | list["Value"]


class TableMutator:
    """Makes tables from sound ones, as text. Comments and odd lines are rows like any other."""

    def __init__(self, seeds: Sequence[str]) -> None:
        self._seeds = [(seed, *_split(seed)) for seed in seeds]

    def __call__(self, rng: random.Random, which: int | None = None) -> bytes:
        """One table, of seed `which` if that is given."""
        text, rows, delimiter = (
            rng.choice(self._seeds) if which is None else self._seeds[which % len(self._seeds)]
        )
        if rng.random() < 0.2:
            return bytes_damaged(rng, text.encode())
        other = rng.choice(self._seeds)[1]
        rows = [list(row) for row in rows]
        for _ in range(rng.choice((1, 1, 2, 4, 20))):
            _bend_table(rng, rows, other)
        if rng.random() < 0.05:
            delimiter = rng.choice(DELIMITERS)
        ending = rng.choice(("\r\n", "\r", "\n\n")) if rng.random() < 0.1 else "\n"
        quoting: Literal[0, 1] = csv.QUOTE_ALL if rng.random() < 0.1 else csv.QUOTE_MINIMAL
        written = _written(rows, delimiter, ending, quoting)
        data = encoded(rng, written)
        return bytes_damaged(rng, data) if rng.random() < 0.1 else data


class JsonMutator:
    """Makes JSON documents from sound ones."""

    def __init__(self, seeds: Sequence[str], words: Words = ()) -> None:
        self._seeds = list(seeds)
        keys = {key for seed in seeds for key in _keys(_parsed(seed))}
        self._words = [*words, *sorted(keys)]

    def __call__(self, rng: random.Random) -> bytes:
        """One document."""
        text = rng.choice(self._seeds)
        if rng.random() < 0.25:
            return bytes_damaged(rng, text.encode())
        document = _parsed(text)
        for _ in range(rng.choice((1, 1, 2, 4, 20))):
            document = _bend_json(rng, document, self._words)
        data = encoded(rng, _as_json(document, rng))
        return bytes_damaged(rng, data) if rng.random() < 0.1 else data


def bytes_damaged(rng: random.Random, data: bytes) -> bytes:
    """A few changes to bytes."""
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        data = damaged(rng, data, data)
    return data


def encoded(rng: random.Random, text: str) -> bytes:
    """UTF-8, rarely another encoding; lone surrogates as a careless writer leaves them."""
    encoding = rng.choice(ENCODINGS) if rng.random() < 0.03 else "utf-8"
    try:
        return text.encode(encoding)
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def hostile_text(rng: random.Random) -> str:
    """An unexpected number, text, or long run."""
    if rng.random() < SLOW_SHARE:
        unit = rng.choice(SLOW)
        run = unit * (SLOW_LENGTH // len(unit))
        return rng.choice(("", "a", "1", "title='", "<")) + run + rng.choice(("", "a", "!"))
    return rng.choice(NUMBERS if rng.random() < 0.6 else TEXTS)


def _split(text: str) -> tuple[list[list[str]], str]:
    """Rows and delimiter of a table, whatever lines stand around it."""
    delimiter = max(DELIMITERS, key=text.count)
    return [list(row) for row in csv.reader(io.StringIO(text), delimiter=delimiter)], delimiter


def _written(
    rows: Sequence[Sequence[str]], delimiter: str, ending: str, quoting: Literal[0, 1]
) -> str:
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator=ending, quoting=quoting)
    for row in rows:
        if row and row[0].startswith("#"):  # comments are not quoted
            out.write(delimiter.join(row) + ending)
        else:
            writer.writerow(row)
    return out.getvalue()


def _bend_table(rng: random.Random, rows: list[list[str]], other: list[list[str]]) -> None:
    """Changes a cell, a row or a column."""
    full = [k for k, row in enumerate(rows) if row]
    if not full:
        rows.append(["x"])
        return
    at = rng.choice(full[:3] if rng.random() < 0.2 else full)
    row = rows[at]
    cell = rng.randrange(len(row))
    match rng.randrange(14):
        case 0:
            del rows[at]
        case 1:
            rows[at:at] = [list(row)] * rng.choice((1, 2, 50))
        case 2:
            swapped = rng.choice(full)
            rows[at], rows[swapped] = rows[swapped], rows[at]
        case 3:
            for one in rows:
                del one[cell : cell + 1]
        case 4:
            for one in rows:
                one[cell:cell] = one[cell : cell + 1]
        case 5:
            value = hostile_text(rng)
            for one in rows[at:]:
                one[cell : cell + 1] = [value]
        case 6:
            row[cell:] = row[cell + rng.randrange(3) :]
        case 7:
            rows.insert(at, list(rng.choice(other)))
        case 8:
            row[cell] += rng.choice(("0" * 12, " ", "%", " GB", "e9", "\x00", "-", "#", '"'))
        case 9:
            elsewhere = rng.choice(rows[rng.choice(full)])
            row[cell] = elsewhere
        case _:
            row[cell] = hostile_text(rng)


def _parsed(text: str) -> "Value":
    try:
        found: Value = json.loads(text, object_pairs_hook=Pairs)
    except ValueError:  # JSON Lines
        found = [json.loads(line, object_pairs_hook=Pairs) for line in text.splitlines() if line]
    return found


def _keys(value: "Value") -> set[str]:
    if isinstance(value, Pairs):
        return {key for key, _ in value.items}.union(*(_keys(item) for _, item in value.items))
    return set().union(*(_keys(item) for item in value)) if isinstance(value, list) else set()


def _bend_json(rng: random.Random, value: "Value", words: Words) -> "Value":
    """Changes something in or below `value`; long lists are entered more often than changed."""
    stay = {list: 0.05, Pairs: 0.15}.get(type(value), 1.0)
    if isinstance(value, list | Pairs) and _length(value) and rng.random() > stay:
        at = rng.randrange(_length(value))
        if isinstance(value, list):
            value[at] = _bend_json(rng, value[at], words)
        else:
            key, item = value.items[at]
            value.items[at] = (key, _bend_json(rng, item, words))
        return value
    return _bent(rng, value, words)


def _bent(rng: random.Random, value: "Value", words: Words) -> "Value":
    match value:
        case list() if value and rng.random() < 0.8:
            _bend_items(rng, value)
            return value
        case Pairs() if value.items and rng.random() < 0.9:
            _bend_items(rng, value.items)
            if rng.random() < 0.6:
                at = rng.randrange(len(value.items) + 1)
                key = rng.choice(words) if words and rng.random() < 0.8 else hostile_text(rng)
                old = value.items[at % len(value.items)][1] if value.items else None
                value.items.insert(at, (key, rng.choice((old, _strange(rng)))))
            return value
        case _:
            return _strange(rng) if rng.random() < 0.8 else _nested(rng, value)


def _bend_items(rng: random.Random, items: list[Any]) -> None:
    at, other = rng.randrange(len(items)), rng.randrange(len(items))
    match rng.randrange(4):
        case 0:
            del items[at]
        case 1:
            items[at:at] = [items[other]] * rng.choice((1, 2, 30))
        case 2:
            items[at], items[other] = items[other], items[at]
        case _:
            del items[at:]


def _strange(rng: random.Random) -> "Value":
    """A value that is not expected where it is put."""
    text = hostile_text(rng)
    plain: list[Callable[[], Value]] = [
        lambda: Raw(rng.choice(NUMBERS)),
        lambda: Raw(rng.choice(NUMBERS)),
        lambda: text,
        lambda: text,
        lambda: None,
        lambda: rng.random() < 0.5,
        list,
        lambda: Pairs([]),
        lambda: [text, Raw("1e400"), None],
        lambda: Pairs([(text, text), (text, Raw("1"))]),
        lambda: Raw(rng.choice(('"\\ud800"', '"\\u0000"', '"\\x"', '"', "\\", "//x", "'a'"))),
        lambda: rng.choice((2**31, 2**53, 2**63, 2**64, -(2**63), 10**30, 1.5, -1.0)),
    ]
    return rng.choice(plain)()


def _nested(rng: random.Random, value: "Value") -> "Value":
    depth = rng.choice(DEEP)
    inner = json.dumps(value) if isinstance(value, int | float | str | None) else "0"
    if rng.random() < 0.5:
        return Raw("[" * depth + inner + "]" * depth)
    return Raw('{"a":' * depth + inner + "}" * depth)


def _length(value: "list[Value] | Pairs") -> int:
    return len(value.items) if isinstance(value, Pairs) else len(value)


def _as_json(value: "Value", rng: random.Random) -> str:
    """The text of a document, with any spacing; now and then as JSON Lines."""
    comma, colon = rng.choice(((",", ":"), (", ", ": "), (",\n ", " : ")))
    is_ascii = rng.random() < 0.5

    def text(value: Value) -> str:
        match value:
            case Raw():
                return value.text
            case Pairs():
                inner = comma.join(json.dumps(k) + colon + text(v) for k, v in value.items)
                return "{" + inner + "}"
            case list():
                return "[" + comma.join(map(text, value)) + "]"
            case _:
                return json.dumps(value, ensure_ascii=is_ascii)

    if isinstance(value, list) and rng.random() < 0.1:
        return "\n".join(map(text, value))
    return text(value)
