"""Notes on points of a profile as JSON, CSV, Markdown and lines of text."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from roofline.exports.csv_files import csv_bytes

COLUMNS = ("kind", "program", "name", "text", "by", "at")

Note = Mapping[str, Any]
"""With the keys of `COLUMNS`, and `id`."""


def notes_to_csv(notes: Sequence[Note]) -> bytes:
    """A row each. A text that a spreadsheet would run as a formula gets an apostrophe."""
    return csv_bytes(COLUMNS, ([one[name] for name in COLUMNS] for one in notes))


def notes_to_markdown(notes: Sequence[Note]) -> bytes:
    """A table. Names are code, and nothing in a note is read as markup."""
    lines = ["| point | note | by |", "| --- | --- | --- |"]
    lines += [
        f"| {_code(one['name'])} | {_plain(one['text'])} | {_plain(one['by'])} |" for one in notes
    ]
    return "".join(f"{line}\n" for line in lines).encode()


def notes_to_text(notes: Sequence[Note]) -> bytes:
    """A line each, between tabs: id, name, note, author. Nothing in it commands a terminal."""
    rows = ((one["id"], one["name"], one["text"], one["by"]) for one in notes)
    return "".join("\t".join(map(_line, row)) + "\n" for row in rows).encode()


def _line(value: object) -> str:
    spaced = re.sub(r"\s+", " ", str(value))
    return "".join(ch for ch in spaced if ch.isprintable())


def _plain(value: object) -> str:
    return re.sub(r"([\\`*_\[\]<>|#&])", r"\\\1", _line(value))


def _code(value: object) -> str:
    """Backticks around that occur nowhere inside; a bar would end the cell even there."""
    inside = _line(value).replace("|", "\\|")
    longest = max((len(run) for run in re.findall(r"`+", inside)), default=0)
    fence, pad = "`" * (longest + 1), " " if longest else ""
    return f"{fence}{pad}{inside}{pad}{fence}"
