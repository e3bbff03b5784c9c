"""Op tables added up: the ops of several cores or hosts become one row per (program, name)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from roofline.model.categories import UNKNOWN_CATEGORY
from roofline.model.compute import ComputeUnit
from roofline.model.memory import MemoryLevel
from roofline.model.profile import F64, I64, U64, Bools, OpTable, ScopeSums

Key = TypeVar("Key", ComputeUnit, MemoryLevel)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpLabels:
    """What names an op; the same for all its rows."""

    name: str
    program_id: int
    category: str
    has_source: bool
    source_file: str
    source_line: int
    source_stack: str
    long_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpRows:
    """Numbers of ops, one entry per row; `label` is an index into the labels given beside.

    From `unit_flop` on they are as in `OpTable`; a capacity that is unknown in one row of an op is
    unknown for the op.
    """

    label: I64
    occurrences: I64
    time_ps: U64
    self_time_ps: U64
    dma_stall_ps: U64
    flop: U64
    model_flop: U64
    bytes_accessed: U64
    traffic_bytes: Mapping[MemoryLevel, U64]
    traffic_known: Bools
    cost_known: Bools
    unit_flop: Mapping[ComputeUnit, U64] = field(default_factory=dict)
    unit_capacity_flop: Mapping[ComputeUnit, F64] = field(default_factory=dict)
    level_capacity_bytes: Mapping[MemoryLevel, F64] = field(default_factory=dict)
    flop_known: Bools | None = None
    bytes_known: Bools | None = None


class OpTableBuilder:
    """Collects rows from cores or hosts and merges those of one (program, name)."""

    def __init__(self, levels: Sequence[MemoryLevel]) -> None:
        self._levels = tuple(levels)
        self._index: dict[tuple[int, str], int] = {}
        self._labels: list[OpLabels] = []
        self._rows: list[tuple[I64, OpRows]] = []

    def add(self, labels: Sequence[OpLabels], rows: OpRows) -> None:
        """Add rows."""
        self._rows.append((self.numbers(labels)[rows.label], rows))

    def numbers(self, labels: Sequence[OpLabels]) -> I64:
        """Op number of each label in the table to come; unseen labels get the next ones."""
        return np.array([self._number(label) for label in labels], np.int64)

    def _number(self, label: OpLabels) -> int:
        key = (label.program_id, label.name)
        number = self._index.setdefault(key, len(self._labels))
        if number == len(self._labels):
            self._labels.append(label)
        else:
            self._labels[number] = _complete(self._labels[number], label)
        return number

    @property
    def categories(self) -> tuple[str, ...]:
        """Category per op number; an empty one is called unknown, as in XProf."""
        return tuple(label.category or UNKNOWN_CATEGORY for label in self._labels)

    def build(self) -> OpTable:
        """The table of all rows added so far."""
        labels = self._labels
        return OpTable(
            name=tuple(label.name for label in labels),
            category=self.categories,
            program_id=np.array([label.program_id for label in labels], np.uint64),
            occurrences=self._sum(lambda rows: rows.occurrences.view(np.uint64)).view(np.int64),
            time_ps=self._sum(lambda rows: rows.time_ps),
            self_time_ps=self._sum(lambda rows: rows.self_time_ps),
            dma_stall_ps=self._sum(lambda rows: rows.dma_stall_ps),
            flop=self._sum(lambda rows: rows.flop),
            model_flop=self._sum(lambda rows: rows.model_flop),
            bytes_accessed=self._sum(lambda rows: rows.bytes_accessed),
            traffic_bytes={level: self._traffic(level) for level in self._levels},
            traffic_known=self._any(lambda rows: rows.traffic_known),
            cost_known=self._any(lambda rows: rows.cost_known),
            source_file=tuple(label.source_file for label in labels),
            source_line=np.array([label.source_line for label in labels], np.int64),
            source_stack=tuple(label.source_stack for label in labels),
            long_name=tuple(label.long_name for label in labels),
            unit_flop={unit: self._unit(unit) for unit in self._units()},
            unit_capacity_flop=self._capacities(lambda rows: rows.unit_capacity_flop, ComputeUnit),
            level_capacity_bytes=self._capacities(
                lambda rows: rows.level_capacity_bytes, MemoryLevel
            ),
            flop_known=self._any_said(lambda rows: rows.flop_known),
            bytes_known=self._any_said(lambda rows: rows.bytes_known),
        )

    def _units(self) -> tuple[ComputeUnit, ...]:
        """Units that any row counted work of, in order."""
        counted = {unit for _, rows in self._rows for unit in rows.unit_flop}
        return tuple(unit for unit in ComputeUnit if unit in counted)

    def _unit(self, unit: ComputeUnit) -> U64:
        return self._sum(lambda rows: rows.unit_flop.get(unit, np.zeros_like(rows.flop)))

    def _capacities(
        self, columns: Callable[[OpRows], Mapping[Key, F64]], order: Iterable[Key]
    ) -> dict[Key, F64]:
        """Sums of what any row knows; unknown for an op as soon as one of its rows does not."""
        known = {key for _, rows in self._rows for key in columns(rows)}
        sums = {key: np.zeros(len(self._labels)) for key in order if key in known}
        for op, rows in self._rows:
            for key, total in sums.items():
                np.add.at(total, op, columns(rows).get(key, np.full(len(op), np.nan)))
        return sums

    def _traffic(self, level: MemoryLevel) -> U64:
        return self._sum(lambda rows: rows.traffic_bytes.get(level, np.zeros_like(rows.flop)))

    def _sum(self, column: Callable[[OpRows], U64]) -> U64:
        total = np.zeros(len(self._labels), np.uint64)
        for op, rows in self._rows:
            np.add.at(total, op, column(rows))
        return total

    def _any_said(self, column: Callable[[OpRows], Bools | None]) -> Bools | None:
        """`None` if no row says; those that do not say count as their cost does."""
        if all(column(rows) is None for _, rows in self._rows):
            return None
        return self._any(lambda rows: rows.cost_known if (said := column(rows)) is None else said)

    def _any(self, column: Callable[[OpRows], Bools]) -> Bools:
        total = np.zeros(len(self._labels), np.bool_)
        for op, rows in self._rows:
            np.logical_or.at(total, op, column(rows))
        return total


def _complete(kept: OpLabels, other: OpLabels) -> OpLabels:
    """The first non-empty category and the first source win, whoever came first otherwise."""
    if kept.category and (kept.has_source or not other.has_source):
        return kept
    source = kept if kept.has_source or not other.has_source else other
    return OpLabels(
        name=kept.name,
        program_id=kept.program_id,
        category=kept.category or other.category,
        has_source=source.has_source,
        source_file=source.source_file,
        source_line=source.source_line,
        source_stack=source.source_stack,
        long_name=kept.long_name or other.long_name,
    )


def table_rows(table: OpTable) -> tuple[list[OpLabels], OpRows]:
    """A finished table as input for another builder."""
    labels = [
        OpLabels(
            name=table.name[k],
            program_id=int(table.program_id[k]),
            category="" if table.category[k] == UNKNOWN_CATEGORY else table.category[k],
            has_source=bool(table.source_file[k] or table.source_stack[k]),
            source_file=table.source_file[k],
            source_line=int(table.source_line[k]),
            source_stack=table.source_stack[k],
            long_name=table.long_name[k],
        )
        for k in range(len(table))
    ]
    rows = OpRows(
        label=np.arange(len(table)),
        occurrences=table.occurrences,
        time_ps=table.time_ps,
        self_time_ps=table.self_time_ps,
        dma_stall_ps=table.dma_stall_ps,
        flop=table.flop,
        model_flop=table.model_flop,
        bytes_accessed=table.bytes_accessed,
        traffic_bytes=table.traffic_bytes,
        traffic_known=table.traffic_known,
        cost_known=table.cost_known,
        unit_flop=table.unit_flop,
        unit_capacity_flop=table.unit_capacity_flop,
        level_capacity_bytes=table.level_capacity_bytes,
        flop_known=table.flop_known,
        bytes_known=table.bytes_known,
    )
    return labels, rows


def empty_sums(
    n_scopes: int, levels: Sequence[MemoryLevel], units: Sequence[ComputeUnit] = ()
) -> ScopeSums:
    """Sums of `n_scopes` scopes without work."""

    def zeros() -> NDArray[np.uint64]:
        return np.zeros((n_scopes, 2), np.uint64)

    return ScopeSums(
        time_ps=zeros(),
        flop=zeros(),
        model_flop=zeros(),
        bytes_accessed=zeros(),
        traffic_bytes={level: zeros() for level in levels},
        traffic_known=np.zeros((n_scopes, 2), np.bool_),
        unit_flop={unit: zeros() for unit in units},
    )
