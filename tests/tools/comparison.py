"""Cell-by-cell comparison of two roofline outputs in XProf's own JSON form.

That form is a list of tables, `{"cols": [...], "rows": [{"c": [{"v": ...}]}], "p": {...}}`. Numbers
agree within a relative tolerance, everything else must be equal: column ids, types and labels,
table properties, the number of tables and rows, and every cell.
"""

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

RELATIVE_TOLERANCE = 1e-9

# XProf orders rows with equal values of these arbitrarily (by the hash order of one process).
_TIED_BY = ("step", "include_infeed_outfeed", "total_self_time", "operation")
# These belong to a row's place in the table, not to its op.
_OF_THE_PLACE = ("rank", "cumulative_total_self_time_percent")

Table = dict[str, Any]
Row = list[Any]


@dataclass
class Comparison:
    """How many values were compared, and which differ, by table and column."""

    compared: int = 0
    groups: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[tuple[str, Any, Any]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    @property
    def mismatches(self) -> int:
        return self.groups.total()

    def check(self, group: str, where: str, expected: Any, found: Any) -> None:
        self.compared += 1
        if not _agree(expected, found):
            self.groups[group] += 1
            self.examples[group].append((where, expected, found))

    def summary(self, examples: int = 5) -> str:
        """All mismatches in words, at most `examples` of each column."""
        lines = [f"{self.compared} values compared, {self.mismatches} mismatches"]
        for group, count in self.groups.most_common():
            lines.append(f"  {group}: {count}")
            for where, expected, found in self.examples[group][:examples]:
                lines.append(f"    {where}: XProf {str(expected)[:90]!r}, we {str(found)[:90]!r}")
        return "\n".join(lines)


def compare(reference: list[Table], candidate: list[Table], *, ties: bool = False) -> Comparison:
    """Every cell of `candidate` against `reference`; `ties` allows any order of tied rows."""
    result = Comparison()
    result.check("tables", "number", len(reference), len(candidate))
    for number, (expected, found) in enumerate(zip(reference, candidate, strict=False)):
        _compare_table(f"table {number}", expected, found, result, ties=ties)
    return result


def _compare_table(
    name: str, expected: Table, found: Table, result: Comparison, *, ties: bool
) -> None:
    ids = [column.get("id") for column in expected["cols"]]
    found_ids = [column.get("id") for column in found["cols"]]
    result.check(f"{name} column ids", "all", ids, found_ids)
    for ours, theirs in zip(found["cols"], expected["cols"], strict=False):
        for key in ("type", "label"):
            result.check(f"{name} column {key}", str(theirs.get("id")), theirs[key], ours[key])
    properties, found_properties = expected.get("p") or {}, found.get("p") or {}
    for key in sorted({*properties, *found_properties}):
        result.check(f"{name} properties", key, properties.get(key), found_properties.get(key))
    rows, found_rows = _rows(expected), _rows(found)
    result.check(f"{name} row count", "all", len(rows), len(found_rows))
    if ties and ids == found_ids and set(_TIED_BY + _OF_THE_PLACE) <= set(ids):
        rows, found_rows = _settle_ties(rows, ids), _settle_ties(found_rows, ids)
    for number, (row, found_row) in enumerate(zip(rows, found_rows, strict=False)):
        where = f"row {number} {_title(ids, row)}"
        result.check(f"{name} cells per row", where, len(row), len(found_row))
        for column, value, found_value in zip(ids, row, found_row, strict=False):
            result.check(f"{name} {column}", where, value, found_value)


def _agree(a: Any, b: Any) -> bool:
    if _is_number(a) and _is_number(b):
        if a == b or (math.isnan(a) and math.isnan(b)):
            return True
        return bool(abs(a - b) <= RELATIVE_TOLERANCE * max(abs(a), abs(b)))
    return type(a) is type(b) and bool(a == b)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _rows(table: Table) -> list[Row]:
    return [[None if cell is None else cell.get("v") for cell in row["c"]] for row in table["rows"]]


def _title(ids: list[Any], row: Row) -> str:
    named = dict(zip(ids, row, strict=False))
    return " / ".join(str(named[key])[:40] for key in ("step", "operation") if key in named)


def _settle_ties(rows: list[Row], ids: list[Any]) -> list[Row]:
    """The same rows, tied ones in the order of their content; places keep rank and running sum."""
    tied_by = [ids.index(name) for name in _TIED_BY]
    place = [ids.index(name) for name in _OF_THE_PLACE]
    settled: list[Row] = []
    begin = 0
    while begin < len(rows):
        key = [rows[begin][k] for k in tied_by]
        end = begin
        while end < len(rows) and [rows[end][k] for k in tied_by] == key:
            end += 1
        run = rows[begin:end]
        program = ids.index("hlo_module_id") if "hlo_module_id" in ids else tied_by[-1]
        for at, row in zip(run, sorted(run, key=lambda row: str(row[program])), strict=True):
            settled.append([at[k] if k in place else value for k, value in enumerate(row)])
        begin = end
    return settled
