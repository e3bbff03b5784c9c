"""Tables of XProf as it exports them: JSON by column id with properties, CSV by column label.

The CSV has Python's spelling of every value ("0.0", "True", "" for null) and no properties.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from roofline.errors import CorruptProfileError, IncompleteProfileError
from roofline.importers.shared.tables_text import (
    decode,
    header_words,
    parse_number,
    read_whole_table,
)
from roofline.importers.source import SourceFile
from roofline.model.op_columns import F64, Bools
from roofline.model.plain_data import read_beside

MAX_ROWS = 1_000_000

Cell = str | float | bool | None

_EXPORT_AGAIN = (
    "Export it again: open the tool in XProf and choose “Export as CSV”, or save its JSON."
)
_LABEL_TO_ID: Mapping[str, str] = read_beside(__file__, "labels.json")
# Ids under which one tool has what another has under the name used here.
_ID_TO_ID = {"program_id": "hlo_module_id", "normalized_flop_rate": "measured_flop_rate"}


class Tool(StrEnum):
    """The tools of XProf whose export is read."""

    ROOFLINE_MODEL = "roofline_model"
    HLO_STATS = "hlo_stats"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportTable:
    """One table by column id; `properties` are a JSON table's own, `None` in CSV, which has none.

    `messages` are the (severity, message) rows of the second table, which CSV lacks.
    """

    tool: Tool
    name: str
    columns: Mapping[str, Sequence[Cell]]
    n_rows: int
    properties: Mapping[str, str] | None
    messages: tuple[tuple[str, str], ...] = ()
    ends_whole: bool = True
    lines: tuple[int, ...] = field(default=(), repr=False)

    def numbers(self, column: str) -> F64:
        """A column as numbers; NaN where a cell is empty or the table lacks the column."""
        cells = self.columns.get(column)
        if cells is None:
            return np.full(self.n_rows, np.nan)
        return np.array([self._number(column, k, cell) for k, cell in enumerate(cells)], float)

    def texts(self, column: str) -> tuple[str, ...]:
        """A column as text; "" where a cell is empty or the table lacks the column."""
        cells = self.columns.get(column, ("",) * self.n_rows)
        return tuple("" if cell is None else str(cell) for cell in cells)

    def flags(self, column: str) -> Bools:
        """A column of true and false."""
        return np.array([text.lower() == "true" for text in self.texts(column)], np.bool_)

    def _number(self, column: str, row: int, cell: Cell) -> float:
        try:
            number = parse_number(cell) if isinstance(cell, str) else cell
            value = math.nan if number is None else float(number)
        except (ValueError, OverflowError):  # JSON has whole numbers of any length
            place = f"line {self.lines[row]:,}" if self.lines else f"row {row + 1:,}"
            raise CorruptProfileError(
                f"{self.name}, {place}: “{str(cell)[:60]}” in column {column} is not a number.",
                remedy=_EXPORT_AGAIN,
            ) from None
        return value if math.isfinite(value) else math.nan


def read_export(source: SourceFile) -> ExportTable:
    """The table in `source`, JSON or CSV. Raises `CorruptProfileError` where it is neither."""
    text = decode(bytes(source.data))
    is_json = text.lstrip()[:1] in {"[", "{"}
    table = _from_json(text, source.name) if is_json else _from_csv(text, source.name)
    if not table.n_rows:
        raise IncompleteProfileError(
            f"{source.name} has a header and no rows: XProf lists no operation of this capture.",
            remedy="Upload the capture itself (*.xplane.pb): kernels that XProf leaves out are "
            "listed there by their names.",
        )
    return table


def column_id(label: str) -> str:
    """The id of the column that XProf labels `label`; "" for one not read here."""
    unit_is_percent = "(%)" in label or "(among" in label
    bare = re.sub(r"\([^()]*\)", " ", label).replace("#", " ").replace(".", " ").replace("%", " ")
    words = header_words(bare)
    return _LABEL_TO_ID.get(f"{words} %" if unit_is_percent else words, "")


def tool_of(ids: Sequence[str]) -> Tool | None:
    """The tool whose columns these are."""
    if "bottleneck_operational_intensity" in ids and "operation" in ids:
        return Tool.ROOFLINE_MODEL
    if "hlo_op_name" in ids and "total_self_time" in ids:
        return Tool.HLO_STATS
    return None


def _from_csv(text: str, name: str) -> ExportTable:
    table = read_whole_table(text, name=name, max_rows=MAX_ROWS, remedy=_EXPORT_AGAIN)
    ids = [column_id(label) for label in table.header]
    columns = {column: [row[k] for row in table.rows] for k, column in enumerate(ids) if column}
    return ExportTable(
        tool=_known_tool(ids, name),
        name=name,
        columns=columns,
        n_rows=len(table.rows),
        properties=None,
        ends_whole=text.endswith(("\n", "\r")),
        lines=table.lines,
    )


def _from_json(text: str, name: str) -> ExportTable:
    try:
        content = json.loads(text)
        tables = content if isinstance(content, list) else [content]
        ids = [_ID_TO_ID.get(column["id"], column["id"]) for column in tables[0]["cols"]]
        rows = [[_json_cell(cell) for cell in row["c"]] for row in tables[0]["rows"]]
        properties = {str(k): str(v) for k, v in (tables[0].get("p") or {}).items()}
        messages = [_message(row) for table in tables[1:] for row in table["rows"]]
        columns = {column: [row[k] for row in rows] for k, column in enumerate(ids)}
    except json.JSONDecodeError as error:
        raise CorruptProfileError(
            f"{name} is not a whole JSON document: {error.msg} at character {error.pos:,}.",
            remedy=_EXPORT_AGAIN,
        ) from error
    except (KeyError, IndexError, TypeError, AttributeError, RecursionError, ValueError) as error:
        raise CorruptProfileError(
            f"{name} starts like a table of XProf, but its rows do not follow its columns.",
            remedy=_EXPORT_AGAIN,
        ) from error
    return ExportTable(
        tool=_known_tool(ids, name),
        name=name,
        columns=columns,
        n_rows=len(rows),
        properties=properties,
        messages=tuple(messages),
    )


def _json_cell(cell: object) -> Cell:
    value = cell.get("v") if isinstance(cell, dict) else None
    return value if isinstance(value, str | int | float | bool) else None


def _message(row: object) -> tuple[str, str]:
    cells = row["c"] if isinstance(row, dict) else ()
    severity, message = (str(_json_cell(cell) or "") for cell in cells)
    return severity, message


def _known_tool(ids: Sequence[str], name: str) -> Tool:
    tool = tool_of(ids)
    if tool is None:
        raise CorruptProfileError(
            f"{name} lacks columns that XProf's tables have.", remedy=_EXPORT_AGAIN
        )
    return tool
