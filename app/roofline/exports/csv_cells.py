"""Cells and ends of lines of the CSV that Roofline writes."""

from typing import Any

CSV_END = "\r\n"
# A spreadsheet takes a cell that starts like this for a formula; names come from strangers.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def csv_cell(value: Any) -> Any:
    """`value` for a CSV that a spreadsheet may open: no formula, nothing for what is not known."""
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return f"'{value}"
    return "" if value is None else value
