"""Cells and ends of lines of the CSV that Roofline writes, and the columns that say what it is of.

These stand in columns, so that a row says it when files are put together, and not in lines above
the header: readers of CSV take the first line for the header, and `#`, which some of them take for
a comment, is part of many names of operations.
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from roofline import __version__

CSV_END = "\r\n"
# A spreadsheet takes a cell that starts like this for a formula; names come from strangers.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def csv_cell(value: Any) -> Any:
    """`value` for a CSV that a spreadsheet may open: no formula, nothing for what is not known."""
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return f"'{value}"
    return "" if value is None else value


def csv_bytes(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """A table as RFC 4180, UTF-8: a header, and cells that no spreadsheet runs."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator=CSV_END)
    writer.writerow(heads)
    writer.writerows([csv_cell(value) for value in row] for row in rows)
    return text.getvalue().encode("utf-8", "replace")


def csv_of_xprof(table: Mapping[str, Any]) -> bytes:
    """XProf's roofline table as XProf exports it: labels as header, every cell in quotes.

    Only a cell that a spreadsheet would run differs.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator=CSV_END, quoting=csv.QUOTE_ALL)
    writer.writerow([column["label"] for column in table["cols"]])
    writer.writerows([csv_cell(cell["v"]) for cell in row["c"]] for row in table["rows"])
    return text.getvalue().encode("utf-8", "replace")


COLUMNS = ("device", "profile", "roofline_version")


def csv_with_about(text: bytes, *, device: str, profile: str) -> bytes:
    """A CSV with three more columns at its end, the same in each row.

    `device` is its name, `profile` the address of the profile or the names of its files.
    """
    about = [csv_cell(one) for one in (device, profile, __version__)]
    written = io.StringIO()
    writer = csv.writer(written, lineterminator=CSV_END)
    for at, row in enumerate(csv.reader(io.StringIO(text.decode(), newline=""))):
        writer.writerow([*row, *(about if at else COLUMNS)])
    return written.getvalue().encode("utf-8", "replace")
