"""How tables are declared: one entry per column, with its words, its value, and where it is shown.

The entries are in `op_columns.py` and `program_columns.py`. From them come the column menu, values
and tooltips of the page, JSON fields, CSV, frames of notebooks, and the tables of terminals.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import groupby
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from roofline.analysis.records import I64, Measures, RooflineAnalysis
from roofline.model.memory import MemoryLevel
from roofline.presentation.quantities import cell
from roofline.presentation.rounding import numbers
from roofline.presentation.shown import ceiling_labels, clock_labels, unit_labels
from roofline.presentation.text_table import cut, spaced, table

Values = dict[str, list[Any]]

# The names under which a unit's and a level's numbers travel, in ops and program points.
UNIT_RATE = "{id}_flop_rate_gflops"
UNIT_USE = "{id}_utilisation_ratio"
LEVEL_BANDWIDTH = "{id}_bandwidth_gibs"
LEVEL_INTENSITY = "{id}_intensity"
LEVEL_USE = "{id}_utilisation_ratio"
CLOCK = "{id}_clock_us"


class Per(StrEnum):
    """What a column can exist once for each of: the entry has `{id}` and `{label}` of it.

    `OWN_LEVEL` and `OWN_UNIT` are those of which a profiler measured the peak per launch.
    """

    LEVEL = "level"
    UNIT = "unit"
    CLOCK = "clock"
    CEILING = "ceiling"
    OWN_LEVEL = "own level"
    OWN_UNIT = "own unit"


class Page(StrEnum):
    """Where a column is on the page: in its menu (`FIRST`: shown at first), or only its values."""

    FIRST = "first"
    MENU = "menu"
    DATA = "data"
    NO = "no"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """The rows that columns are read of: those at `at` of `measures`.

    `levels` are the memory levels and links with columns; `key` and `label` are filled in for a
    column that exists once per key.
    """

    analysis: RooflineAnalysis
    measures: Measures
    at: I64
    levels: Sequence[MemoryLevel]
    key: str = ""
    label: str = ""

    def named(self, name: str, *, of_view: bool) -> NDArray[Any]:
        """The column of the measures with this name; rows of ops have those of a view, too."""
        column: NDArray[Any] = getattr(self.measures, name)
        return column[self.at]

    def keys(self, per: Per) -> Mapping[str, str]:
        """Every key of one kind with its label on this device."""
        table = self.analysis.profile.ops
        match per:
            case Per.LEVEL:
                return {level.value: level.label for level in self.levels}
            case Per.UNIT:
                return {unit.value: label for unit, label in unit_labels(self.analysis).items()}
            case Per.CLOCK:
                labels = clock_labels(self.analysis, self.levels)
                return {key: labels[key] for key in self.analysis.ops.clocks.of if key in labels}
            case Per.CEILING:
                return ceiling_labels(self.analysis)
            case Per.OWN_LEVEL:
                return {level.value: level.label for level in table.level_capacity_bytes}
        shares = self.measures.unit_utilisation_ratio
        return {unit.value: unit.label for unit in table.unit_capacity_flop if unit in shares}


R = TypeVar("R", bound=Rows, contravariant=True)
Cells = NDArray[Any] | Sequence[Any]
Value = Callable[[R], Cells]
"""The values of a column, one per row: an array of numbers (NaN: unknown), or other things."""

BEHIND = 1000
"""The place in exports of a column that has none of its own: readers count on those of others."""


@dataclass(frozen=True, slots=True)
class Text(Generic[R]):
    """A column of a terminal's table: its place there and its head.

    `value` gives numbers, or texts of at most `width` characters; without it the column's own.
    """

    place: int
    head: str
    value: Value[R] | None = None
    width: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown(Generic[R]):
    """Where a column is shown: on the page of profiles with `only_if`.

    `export` is its place in JSON and CSV, the same in all releases; `None`: it is in neither.
    """

    page: Page | Callable[[R], Page] = Page.MENU
    only_if: Callable[[R], bool] | None = None
    text: Text[R] | None = None
    export: int | None = BEHIND
    json: bool = True
    csv: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Column(Generic[R]):
    """One column. `unit` is the raw unit of its values, `sub` the shown one.

    Without a `value` it is the measure of its id. `{per}` in `sub` is "per TensorCore", "per GPU"
    …. `on_page` gives what the page reads instead of `value`: indices, and texts in the page's
    form. A column `of_view` differs between the states of the infeed switch. One that `is_fact` is
    the same under every device; rates are not, for those that no peak explains are hidden, and
    those of an op without a time are the best that its roof allows. The page rounds numbers to six
    digits, exports have them all.
    """

    id: str
    value: Value[R] | None = None
    unit: str = "text"
    label: str = ""
    sub: str = ""
    help: str = ""
    per: Per | None = None
    on_page: Value[R] | None = None
    of_view: bool = False
    is_fact: bool = False
    shown: Shown[R] = field(default_factory=Shown)

    def read(self, rows: R) -> Cells:
        """The values, by default those of the measures, or of the view, under the column's id."""
        return self.value(rows) if self.value else rows.named(self.id, of_view=self.of_view)

    def page(self, rows: R) -> Page:
        """Where the page has it, for a profile with these rows."""
        page, only_if = self.shown.page, self.shown.only_if
        if only_if is not None and not only_if(rows):
            return Page.NO
        return page(rows) if callable(page) else page


def hidden(
    id: str,
    value: Value[R],
    *,
    on_page: Value[R] | None = None,
    unit: str = "text",
    per: Per | None = None,
    page: Page = Page.NO,
    only_if: Callable[[R], bool] | None = None,
    export: int | None = None,
    json: bool = True,
    csv: bool = True,
    text: Text[R] | None = None,
    is_fact: bool = False,
) -> Column[R]:
    """A column that is not in the menu, so it has no words; without `export` it is in no export."""
    shown = Shown(page=page, only_if=only_if, text=text, export=export, json=json, csv=csv)
    return Column(
        id=id, value=value, on_page=on_page, unit=unit, per=per, shown=shown, is_fact=is_fact
    )


def page_menu(columns: Sequence[Column[R]], rows: R) -> list[dict[str, Any]]:
    """The columns of the page's menu, in their order."""
    per_core = f"per {rows.analysis.device.core_word}"
    return [
        {
            "id": _filled(column.id, of),
            "label": _filled(column.label, of),
            "unit": column.unit,
            "sub": column.sub.replace("{per}", per_core),
            "default": column.page(of) is Page.FIRST
            and (callable(column.shown.page) or _is_known(column, of)),
            "help": _filled(column.help, of),
        }
        for column, of in _per_key(columns, rows)
        if column.page(of) in {Page.FIRST, Page.MENU}
    ]


def _is_known(column: Column[R], rows: R) -> bool:
    """Whether any row has a value: a column of dashes is not shown at first."""
    return column.unit == "text" or any(
        value is not None for value in _listed((column.on_page or column.read)(rows))
    )


def page_values(columns: Sequence[Column[R]], rows: R) -> Values:
    """Every column that the page has, by id: six digits, and `None` for what is not known."""
    values: Values = {}
    for column, of in _per_key(columns, rows):
        if column.page(of) is not Page.NO:
            cells = (column.on_page or column.read)(of)
            if any(isinstance(value, float) for value in cells):
                cells = numbers(np.array(cells, np.float64))  # of None: NaN
            values[_filled(column.id, of)] = _listed(cells)
    return values


def in_order(columns: Iterable[Column[R]]) -> tuple[Column[R], ...]:
    """The columns that are exported, in the order of exports."""
    places = [(column.shown.export, column) for column in columns if column.shown.export]
    return tuple(column for _, column in sorted(places, key=lambda pair: pair[0]))


def exported(columns: Sequence[Column[R]], rows: R) -> Values:
    """The columns at full precision, by id; `None` is not known."""
    return {
        _filled(column.id, of): _listed(column.read(of)) for column, of in _per_key(columns, rows)
    }


def column_values(columns: Sequence[Column[R]], rows: R, id: str) -> list[Any] | None:
    """The exported values of one column; `None` where there is none of this id."""
    known = ((_filled(column.id, of), column, of) for column, of in _per_key(columns, rows))
    return next((_listed(column.read(of)) for name, column, of in known if name == id), None)


def text_table(columns: Sequence[Column[R]], rows: R) -> str:
    """The table of a terminal."""
    shown = [(column.shown.text, column) for column in columns if column.shown.text]
    shown.sort(key=lambda pair: pair[0].place)
    left = {k for k, (_, column) in enumerate(shown) if column.unit in {"text", "category"}}
    cells = [_texts(text, column, rows) for text, column in shown]
    return table([text.head for text, _ in shown], list(zip(*cells, strict=True)), left=left)


def _texts(text: Text[R], column: Column[R], rows: R) -> list[str]:
    return [
        (cut(value, text.width) if text.width else value)
        if isinstance(value, str)
        else spaced(cell(value, column.unit))
        for value in (text.value or column.read)(rows)
    ]


def _per_key(columns: Sequence[Column[R]], rows: R) -> Iterator[tuple[Column[R], R]]:
    """Each column with the rows to read it of, once per key of those that exist per key.

    Neighbours with the same kind of key take turns: all of the first key, then of the next.
    """
    for per, group in groupby(columns, key=lambda column: column.per):
        of_keys = [rows]
        if per is not None:
            labels = rows.keys(per).items()
            of_keys = [replace(rows, key=key, label=label) for key, label in labels]
        neighbours = tuple(group)
        yield from ((column, of) for of in of_keys for column in neighbours)


def _filled(text: str, rows: Rows) -> str:
    return text.replace("{id}", rows.key).replace("{label}", rows.label)


def _listed(cells: Cells) -> list[Any]:
    if not isinstance(cells, np.ndarray):
        return list(cells)
    values: list[Any] = cells.tolist()
    if cells.dtype.kind != "f":
        return values
    return [value if math.isfinite(value) else None for value in values]
