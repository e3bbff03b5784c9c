"""What a CSV is of, in columns of its own, so that a row says it when files are put together.

Not in lines above the header: readers of CSV take the first line for the header, and `#`, which
some of them take for a comment, is part of many names of operations.
"""

import csv
import io
from collections.abc import Iterator

from roofline import __version__
from roofline.exports.csv_cells import CSV_END, csv_cell

COLUMNS = ("device", "profile", "roofline_version")


def csv_with_about(text: bytes, *, device: str, profile: str) -> bytes:
    """A CSV with three more columns at its end, the same in each row.

    `device` is its name, `profile` the address of the profile or the names of its files.
    """
    told = [csv_cell(one) for one in (device, profile, __version__)]
    written = io.StringIO()
    writer = csv.writer(written, lineterminator=CSV_END)
    for at, row in enumerate(_rows(text)):
        writer.writerow([*row, *(told if at else COLUMNS)])
    return written.getvalue().encode("utf-8", "replace")


def _rows(text: bytes) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text.decode(), newline=""))
