"""The schema of op columns: each column is declared once, with its unit and how it sums.

A row is an op, a launch, a program point or a step. Selecting rows, adding rows up, joining tables
and the columns that come from them all follow this declaration: a new column is one line here, and
the importers that know it pass it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Annotated, Any, NamedTuple, Self, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

from roofline.model.ceilings import Ceiling, UseFactor
from roofline.model.compute import ComputeUnit, UndecidedUnit
from roofline.model.memory import MemoryLevel

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]
I32 = NDArray[np.int32]
I8 = NDArray[np.int8]
F64 = NDArray[np.float64]
F32 = NDArray[np.float32]
Bools = NDArray[np.bool_]
Values = NDArray[Any]
Declaration = TypeVar("Declaration")
Rows = I64 | Bools | slice | tuple[slice, slice]
Keys = type[MemoryLevel] | type[ComputeUnit] | type[UndecidedUnit] | type[Ceiling] | type[UseFactor]


class Summing(StrEnum):
    """How the rows of one op become one row.

    `ADD` wraps at 64 bits, as XProf's counters do; a sum with an unknown part (NaN) is unknown.
    """

    ADD = "add"
    ANY = "any"


class Column(NamedTuple):
    """One column: its unit, its type, how it sums, and what a row has that was not given it.

    `default` is a value, or the name of the column that it is copied from; `None` means that the
    column must be given. `split_by` is the kind of key of a column that is several: one per memory
    level, compute unit or ceiling.
    """

    unit: str
    dtype: type[np.generic]
    default: float | bool | str | None = None
    summing: Summing = Summing.ADD
    split_by: Keys | None = None

    def full(self, shape: int | tuple[int, ...], value: float | bool = 0) -> Values:
        """A column of one value."""
        return np.full(shape, value, self.dtype)

    @property
    def missing(self) -> float | bool:
        """The value of a row for a level or unit for which nothing was given."""
        return self.default if isinstance(self.default, float | int) else 0


_NOT_GIVEN: Any = None

_ps = Column("ps", np.uint64)
_flop = Column("FLOP", np.uint64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OpColumns:
    """Times and work of rows. All columns have the same shape; the first axis is the row.

    Times are summed over cores. `flop`, `model_flop`, `bytes_accessed` and `traffic_bytes` are
    totals over all occurrences. `flop_known` and `bytes_known` say where the totals are known: a
    total that is not known is 0, and is neither a rate nor part of one. `cost_known` is true where
    anything of the work is known. `traffic_bytes[level]` counts only where `traffic_known`;
    elsewhere only `bytes_accessed` may be known. Bytes over links are not among these: they are
    known, with or without a breakdown, unless `moves_unknown[link]`. Where a device has one memory
    level, its column may hold the bytes of rows without a breakdown, too: sums then have them.

    `unit_flop` splits `flop` by compute unit where the profiler can (a unit's column is 0 where the
    op did not use it; an op whose columns are all 0 counts against the device's main peak).
    `undecided_flop` is work of one of several units, where it is not known which; it is in no
    column of `unit_flop`.
    `unit_capacity_flop` and `level_capacity_bytes` hold, where a profiler measured peaks per
    launch, what the hardware could have done in the op's time (peak × time, summed over launches);
    NaN where unknown, then the device's peak counts. `integer_ops` are integer operations outside
    the matrix unit, which are not FLOPs; NaN where they were not counted.

    `busy_ps[ceiling]` is the time in which a unit was used at its greatest rate: its busy share
    (0 to 1), as a counter of the profiler has it, times `time_ps`. `use_ps[factor]` is likewise a
    share times `time_ps`: the share of the busy time that was of use, by that factor. Both are NaN
    where not measured.

    Where `time_known` is false, the op's time was not measured, and the op is part of no sum:
    either only its rates are known, then its row holds the work of one second; or its `time_ps` is
    0 and its work is known, then a prediction can say what a roof allows.
    """

    occurrences: Annotated[I64, Column("", np.int64)]
    time_ps: Annotated[U64, _ps]
    self_time_ps: Annotated[U64, _ps._replace(default="time_ps")] = _NOT_GIVEN
    dma_stall_ps: Annotated[U64, _ps._replace(default=0)] = _NOT_GIVEN
    flop: Annotated[U64, _flop]
    model_flop: Annotated[U64, _flop._replace(default="flop")] = _NOT_GIVEN
    bytes_accessed: Annotated[U64, Column("B", np.uint64)]
    traffic_known: Annotated[Bools, Column("", np.bool_, summing=Summing.ANY)]
    cost_known: Annotated[Bools, Column("", np.bool_, summing=Summing.ANY)]
    flop_known: Annotated[Bools, Column("", np.bool_, "cost_known", Summing.ANY)] = _NOT_GIVEN
    bytes_known: Annotated[Bools, Column("", np.bool_, "cost_known", Summing.ANY)] = _NOT_GIVEN
    traffic_bytes: Annotated[
        Mapping[MemoryLevel, U64], Column("B", np.uint64, 0, split_by=MemoryLevel)
    ] = field(default_factory=dict)
    unit_flop: Annotated[
        Mapping[ComputeUnit, U64], Column("FLOP", np.uint64, 0, split_by=ComputeUnit)
    ] = field(default_factory=dict)
    undecided_flop: Annotated[
        Mapping[UndecidedUnit, U64], Column("FLOP", np.uint64, 0, split_by=UndecidedUnit)
    ] = field(default_factory=dict)
    unit_capacity_flop: Annotated[
        Mapping[ComputeUnit, F64], Column("FLOP", np.float64, np.nan, split_by=ComputeUnit)
    ] = field(default_factory=dict)
    level_capacity_bytes: Annotated[
        Mapping[MemoryLevel, F64], Column("B", np.float64, np.nan, split_by=MemoryLevel)
    ] = field(default_factory=dict)
    moves_unknown: Annotated[
        Mapping[MemoryLevel, Bools],
        Column("", np.bool_, False, Summing.ANY, split_by=MemoryLevel),
    ] = field(default_factory=dict)
    integer_ops: Annotated[F64, Column("op", np.float64, np.nan)] = _NOT_GIVEN
    busy_ps: Annotated[
        Mapping[Ceiling, F64], Column("ps", np.float64, np.nan, split_by=Ceiling)
    ] = field(default_factory=dict)
    use_ps: Annotated[
        Mapping[UseFactor, F64], Column("ps", np.float64, np.nan, split_by=UseFactor)
    ] = field(default_factory=dict)
    time_known: Annotated[Bools, Column("", np.bool_, True, Summing.ANY)] = _NOT_GIVEN

    def __post_init__(self) -> None:
        for name, column in SCHEMA.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, self._default(column))

    def _default(self, column: Column) -> Values:
        if isinstance(column.default, str):
            copied: Values = getattr(self, column.default)
            return copied
        return column.full(self.time_ps.shape, column.missing)

    def __len__(self) -> int:
        return len(self.time_ps)

    @classmethod
    def zeros(
        cls,
        shape: int | tuple[int, ...],
        levels: Iterable[MemoryLevel] = (),
        units: Iterable[ComputeUnit] = (),
        undecided: Iterable[UndecidedUnit] = (),
    ) -> "OpColumns":
        """Rows without time or work, whose traffic and FLOPs are split by `levels` and `units`."""
        keys = {
            "traffic_bytes": tuple(levels),
            "unit_flop": tuple(units),
            "undecided_flop": tuple(undecided),
        }
        return OpColumns(
            **{name: _zeros(col, shape, keys.get(name)) for name, col in SCHEMA.items()}
        )

    def select(self, rows: Rows) -> Self:
        """The rows at `rows` of every column, texts included."""
        chosen = {name: _each(getattr(self, name), _picker(rows)) for name in _names(type(self))}
        return replace(self, **chosen)

    def total(self, rows: Rows = slice(None)) -> "OpColumns":
        """One row: the sum of `rows`."""
        return self.summed(0, rows, keepdims=True)

    def summed(self, axis: int, rows: Rows = slice(None), *, keepdims: bool = False) -> "OpColumns":
        """`rows` summed over one axis, which stays with length 1 if `keepdims`."""

        def sums(column: Column) -> Callable[[Values], Values]:
            return lambda values: _sum(values[rows], axis, column, keepdims=keepdims)

        return OpColumns(**{k: _each(getattr(self, k), sums(c)) for k, c in SCHEMA.items()})

    def add_at(self, place: Values | tuple[Values, ...], rows: "OpColumns") -> None:
        """Add `rows` up, in place, at the rows `place` of this table."""
        for name, column in SCHEMA.items():
            total, given = getattr(self, name), getattr(rows, name)
            if column.split_by is None:
                _accumulate(total, place, given, column)
                continue
            nothing = column.full(rows.time_ps.shape, column.missing)
            for key in total:
                _accumulate(total[key], place, given.get(key, nothing), column)

    def split(self, levels: Sequence[MemoryLevel], units: Sequence[ComputeUnit]) -> Self:
        """These rows with exactly these levels and units; of one that is new nothing was used."""
        nothing = np.zeros(self.time_ps.shape, np.uint64)
        return replace(
            self,
            traffic_bytes={level: self.traffic_bytes.get(level, nothing) for level in levels},
            unit_flop={unit: self.unit_flop.get(unit, nothing) for unit in units},
        )

    def numbers(self) -> "OpColumns":
        """These rows without the columns of a table that only name them."""
        return OpColumns(**{name: getattr(self, name) for name in SCHEMA})


def declared(kind: type, by: type[Declaration]) -> dict[str, Declaration]:
    """The columns of the dataclass `kind` that are annotated with a `by`, in order."""
    hints = get_type_hints(kind, include_extras=True)
    found = {name: getattr(hint, "__metadata__", ()) for name, hint in hints.items()}
    return {name: about[0] for name, about in found.items() if about and isinstance(about[0], by)}


SCHEMA: Mapping[str, Column] = declared(OpColumns, Column)


def joined(parts: Sequence[OpColumns]) -> OpColumns:
    """The rows of `parts`, one after the other; keys that a part lacks get the default."""
    columns: dict[str, Any] = {}
    for name, column in SCHEMA.items():
        given = [getattr(part, name) for part in parts]
        if column.split_by is None:
            columns[name] = np.concatenate(given)
            continue
        columns[name] = {
            key: np.concatenate(
                [
                    values.get(key, column.full(part.time_ps.shape, column.missing))
                    for values, part in zip(given, parts, strict=True)
                ]
            )
            for key in keys_in_order(column, given)
        }
    return OpColumns(**columns)


def added(parts: Sequence[tuple[I64, OpColumns]], n_rows: int) -> OpColumns:
    """`n_rows` rows: each part's rows added up at the places given beside them."""
    total = OpColumns(
        **{
            name: _zeros(
                column, n_rows, keys_in_order(column, [getattr(r, name) for _, r in parts])
            )
            for name, column in SCHEMA.items()
        }
    )
    for place, rows in parts:
        total.add_at(place, rows)
    return total


def keys_in_order(column: Column, given: Sequence[Any]) -> tuple[Any, ...]:
    """The levels or units that any of `given` has, in their own order."""
    if column.split_by is None:
        return ()
    found = {key for values in given for key in values}
    return tuple(key for key in column.split_by if key in found)


def _names(kind: type[OpColumns]) -> list[str]:
    return [one.name for one in fields(kind)]


def _zeros(column: Column, shape: int | tuple[int, ...], keys: Sequence[Any] | None) -> Any:
    if column.split_by is None:
        return column.full(shape)
    return {key: column.full(shape) for key in keys or ()}


def _each(values: Any, change: Any) -> Any:
    """`change` of a column, or of each of the columns that it is split into."""
    if isinstance(values, Mapping):
        return {key: change(one) for key, one in values.items()}
    return change(values)


def _picker(rows: Rows) -> Any:
    def pick(values: Any) -> Any:
        if isinstance(values, tuple):  # texts
            return tuple(np.array([*values, ""], object)[:-1][rows].tolist())
        return values[rows]

    return pick


def _sum(values: Values, axis: int, column: Column, *, keepdims: bool) -> Values:
    if column.summing is Summing.ANY:
        return np.asarray(values.any(axis=axis, keepdims=keepdims))
    return np.asarray(values.sum(axis=axis, keepdims=keepdims, dtype=column.dtype))


def _accumulate(
    total: Values, place: Values | tuple[Values, ...], values: Values, column: Column
) -> None:
    add = np.logical_or if column.summing is Summing.ANY else np.add
    add.at(total, place, values)
