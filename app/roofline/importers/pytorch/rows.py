"""Rows of the op table: device work, or operators on the CPU, summed up per step and per op."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from roofline.errors import CorruptProfileError
from roofline.importers.pytorch.collectives import Message
from roofline.importers.pytorch.serving import FileServing
from roofline.importers.pytorch.signatures import Signature
from roofline.importers.pytorch.trace import Step, source_of
from roofline.importers.shared.op_tables import OpLabels, OpRows
from roofline.model.compute import ComputeUnit, UndecidedUnit
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import F64, I64, U64, Bools
from roofline.model.timeline import LaunchTimes, Timeline
from roofline.model.units import PS_PER_NS

Unit = ComputeUnit | UndecidedUnit
Split = TypeVar("Split", ComputeUnit, UndecidedUnit)

MAX_LABELS = 20_000
MAX_LAUNCHES = 20_000
_MAX_SUM = 2**63
_KERNELS_SHOWN = 6
_KERNEL_CHARACTERS = 300


@dataclass(slots=True, kw_only=True)
class Row:
    """One op: its name, category and element type, and the kernels it ran.

    `kernels` holds count and time in ns per kernel name, `regions` how many of them ran in which
    compiled region or graph, `paths` the time in ns per framework path, `stacks`
    Python's stack at the first of each path, `stack` that of a graph's capture, `operands` the
    shapes of its tensors, `messages` what a collective sends. `tf32` is
    false where its arguments forbid TF32, `is_vector` true where its FLOPs are of a vector unit.
    `flop_gap` and `bytes_gap` are true where the FLOPs or bytes of an execution are unknown: then
    those of the op are, too.
    """

    name: str
    category: str
    dtype: str = ""
    tf32: bool = True
    is_vector: bool = False
    kernels: dict[str, tuple[int, int]] = field(default_factory=dict)
    regions: Counter[str] = field(default_factory=Counter)
    paths: Counter[str] = field(default_factory=Counter)
    stacks: dict[str, str] = field(default_factory=dict)
    operands: str = ""
    stack: str = ""
    messages: set[Message] = field(default_factory=set)
    flop_gap: bool = False
    bytes_gap: bool = False

    def ran(self, kernel: str, count: int, time_ns: int) -> None:
        """Add launches of a kernel."""
        before = self.kernels.get(kernel, (0, 0))
        self.kernels[kernel] = (before[0] + count, before[1] + time_ns)

    def ran_under(self, path: str, time_ns: int, stack: str) -> None:
        """Add time that it ran under a framework path, called from `stack`."""
        self.stacks.setdefault(path, stack)
        self.paths[path] += time_ns

    @property
    def main_path(self) -> str:
        """The framework path with the longest time; empty where none is known."""
        return max(self.paths, key=lambda path: (self.paths[path], path), default="")

    def labels(self) -> OpLabels:
        """As the op table wants it; the long name lists the kernels, longest time first."""
        stack = self.stack or self.stacks.get(self.main_path, "")
        source_file, source_line = source_of(stack)
        return OpLabels(
            **self._message(),
            name=self.name,
            category=self.category,
            has_source=bool(stack),
            source_file=source_file,
            source_line=source_line,
            source_stack=stack,
            long_name=self._kernels_text(),
            framework_path=self.main_path,
        )

    def _message(self) -> dict[str, Any]:
        """Shapes and group: of a collective as far as all its launches state the same."""
        if not self.messages:
            return {"operands": self.operands}
        sent, received, ranks, size = (
            found.pop() if len(found) == 1 else None
            for found in (
                {getattr(message, name) for message in self.messages}
                for name in ("sent", "received", "ranks", "group_size")
            )
        )
        return {
            "operands": self.operands or sent or "",
            "results": received or "",
            "replica_groups": ranks or "",
            "group_size": size or 0,
        }

    def _kernels_text(self) -> str:
        ranked = sorted(self.kernels.items(), key=lambda item: -item[1][1])
        if [name for name, _ in ranked] == [self.name]:
            around = sorted(self.regions.items(), key=lambda item: (-item[1], item[0]))
            return _listed([(f"in {name}", count) for name, count in around], "places")
        return _listed([(name, count) for name, (count, _) in ranked], "kernels")


def _listed(counts: Sequence[tuple[str, int]], noun: str) -> str:
    """The first of these, each with how often it occurs."""
    shown = [f"{text[:_KERNEL_CHARACTERS]} ×{count:,}" for text, count in counts]
    more = len(shown) - _KERNELS_SHOWN
    tail = f"; {more} more {noun}" if more > 0 else ""
    return "; ".join(shown[:_KERNELS_SHOWN]) + tail


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sums:
    """Work per (scope, row): one entry per pair that occurs. A scope is a step, -1 none."""

    scope: I64
    row: I64
    occurrences: I64
    time_ns: I64
    self_ns: I64
    flop: U64
    moved_bytes: U64
    flop_known: Bools
    bytes_known: Bools


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Costs:
    """FLOPs and bytes of one execution per signature, -1 where unknown.

    `is_product` is true where there are FLOPs that are not of a vector unit; `slack` is how many
    more they may be.
    """

    flop: I64
    moved_bytes: I64
    is_product: Bools
    slack: F64

    @staticmethod
    def of(signatures: Sequence[Signature]) -> "Costs":
        """Of all signatures of a trace."""
        return Costs(
            flop=np.array([_or_absent(s.flop) for s in signatures], np.int64),
            moved_bytes=np.array([_or_absent(s.moved_bytes) for s in signatures], np.int64),
            is_product=np.array([bool(s.flop) and not s.is_vector for s in signatures], np.bool_),
            slack=np.array([s.flop_slack for s in signatures], np.float64),
        )


def _or_absent(value: int | None) -> int:
    return -1 if value is None else value


class RowNumbers:
    """Rows by name, shared by all files; past `MAX_LABELS`, shapes of one operator share a row."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._numbers: dict[str, int] = {}
        self.merged: set[str] = set()

    def note_gaps(self, *, flop: I64, moved_bytes: I64) -> None:
        """These rows hold an execution whose FLOPs, or whose bytes, are unknown."""
        for row in np.flatnonzero(any_at(flop, len(self.rows))).tolist():
            self.rows[row].flop_gap = True
        for row in np.flatnonzero(any_at(moved_bytes, len(self.rows))).tolist():
            self.rows[row].bytes_gap = True

    def forget_costs(self) -> None:
        """FLOPs and bytes of no row are known: its time is not the time of that work."""
        for row in self.rows:
            row.flop_gap = row.bytes_gap = True

    def of(
        self,
        name: str,
        category: str,
        *,
        operator: str = "",
        dtype: str = "",
        tf32: bool = True,
        is_vector: bool = False,
        operands: str = "",
        stack: str = "",
    ) -> int:
        """Number of the row `name`."""
        if name not in self._numbers and len(self.rows) >= MAX_LABELS:
            self.merged.add(name)
            name, operands = f"{operator or category} [other shapes]", ""
        number = self._numbers.setdefault(name, len(self.rows))
        if number == len(self.rows):
            self.rows.append(Row(name=name, category=category, dtype=dtype, operands=operands))
        self.rows[number].tf32 &= tf32
        self.rows[number].is_vector |= is_vector
        self.rows[number].stack = self.rows[number].stack or stack
        return number


def added_up(at: I64, values: I64, size: int, file_name: str) -> I64:
    """Sum of `values` per place; refuses what does not fit, as only damaged numbers do not."""
    if float(values.sum(dtype=np.float64)) * PS_PER_NS > _MAX_SUM:
        raise _too_large(file_name)
    total = np.zeros(size, np.int64)
    np.add.at(total, at, values)
    return total


def multiplied(at: I64, signature: I64, cost: I64, size: int, file_name: str) -> U64:
    """Sum of `cost[signature]` per place; unknown costs add nothing."""
    total = np.zeros(size, np.uint64)
    known = cost[signature] >= 0
    width = max(len(cost), 1)
    cells, count = np.unique(at[known] * width + signature[known], return_counts=True)
    each = cost[cells % width]
    if float(count.astype(np.float64) @ each.astype(np.float64)) > _MAX_SUM:
        raise _too_large(file_name)
    np.add.at(total, cells // width, (count * each).astype(np.uint64))
    return total


def any_at(places: I64, size: int) -> Bools:
    """True at `places`, false at the others of `size`."""
    result = np.zeros(size, np.bool_)
    result[places] = True
    return result


def _too_large(file_name: str) -> CorruptProfileError:
    return CorruptProfileError(
        f"{file_name} holds times or shapes so large that they cannot be added up.",
        remedy="Export the trace again: its numbers are damaged.",
    )


def op_rows(
    sums: Sums, rows: Sequence[Row], units: Mapping[int, Unit], level: MemoryLevel
) -> OpRows:
    """The sums as rows of an op table; totals with a gap are unknown.

    `units` are those of rows whose FLOPs are known.
    """
    flop_known = sums.flop_known & ~np.array([row.flop_gap for row in rows], np.bool_)[sums.row]
    bytes_known = sums.bytes_known & ~np.array([row.bytes_gap for row in rows], np.bool_)[sums.row]
    flop = np.where(flop_known, sums.flop, np.uint64(0))
    moved = np.where(bytes_known, sums.moved_bytes, np.uint64(0))
    return OpRows(
        label=sums.row,
        occurrences=sums.occurrences,
        time_ps=as_ps(sums.time_ns),
        self_time_ps=as_ps(sums.self_ns),
        flop=flop,
        bytes_accessed=moved,
        traffic_bytes={level: moved},
        traffic_known=bytes_known,
        cost_known=flop_known | bytes_known,
        flop_known=flop_known,
        bytes_known=bytes_known,
        unit_flop=_by_unit(sums.row, flop, units, ComputeUnit),
        undecided_flop={
            unit: column
            for unit, column in _by_unit(sums.row, flop, units, UndecidedUnit).items()
            if column.any()
        },
    )


def _by_unit(row: I64, flop: U64, units: Mapping[int, Unit], kind: type[Split]) -> dict[Split, U64]:
    """FLOPs of the rows whose unit is one of `kind`, by unit."""
    result: dict[Split, U64] = {}
    for unit in used(units, kind):
        of_unit = np.isin(row, [at for at, its in units.items() if its is unit])
        result[unit] = np.where(of_unit, flop, np.uint64(0))
    return result


def used(units: Mapping[int, Unit], kind: type[Split]) -> list[Split]:
    """The members of `kind` that any row has, in their order."""
    in_use = set(units.values())
    return [unit for unit in kind if unit in in_use]


def as_ps(ns: I64) -> U64:
    """Nanoseconds as picoseconds."""
    return ns.astype(np.uint64) * np.uint64(PS_PER_NS)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Launches:
    """Single kernels and copies in the file's order."""

    row: I64
    detail: list[str]
    time_ns: I64


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KernelRows:
    """Kernels that move nothing between devices, in the file's order; `scope` as in `Sums`, `shape`
    a place in `shapes`, `name` one in `names`."""

    row: I64
    scope: I64
    device: I64
    begin_ns: I64
    name: I64
    names: Sequence[str]
    shape: I64
    shapes: Sequence[tuple[int, ...]]
    time_ns: I64


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class InstanceSums:
    """One row per (scope, instance of a module in one direction); `layers` has the path, name and
    direction of each."""

    layers: Sequence[tuple[str, str, str]]
    scope: I64
    layer: I64
    calls: I64
    time_ns: I64
    flop: U64
    moved_bytes: U64

    @classmethod
    def of(
        cls,
        layers: Sequence[tuple[str, str, str]],
        *,
        layer: I64,
        scope: I64,
        time_ns: I64,
        flop: tuple[I64, I64, I64],
        moved: tuple[I64, I64, I64],
        file_name: str,
    ) -> "InstanceSums | None":
        """Events added up, each with its layer (-1: none), scope and time.

        `flop` and `moved` are the events that count, their signatures, and the cost of each
        signature, -1 where it is unknown.
        """
        if not layers:
            return None
        inside = np.flatnonzero(layer >= 0)
        cells = (scope.astype(np.int64) + 1) * len(layers) + layer
        keys, at = np.unique(cells[inside], return_inverse=True)

        def cost(events: I64, signature: I64, each: I64) -> U64:
            ran = layer[events] >= 0
            place = np.searchsorted(keys, cells[events[ran]])
            return multiplied(place, signature[ran], each, len(keys), file_name)

        return cls(
            layers=layers,
            scope=keys // len(layers) - 1,
            layer=keys % len(layers),
            calls=np.bincount(at, minlength=len(keys)).astype(np.int64),
            time_ns=added_up(at, time_ns[inside], len(keys), file_name),
            flop=cost(*flop),
            moved_bytes=cost(*moved),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FileWork:
    """The work that one file adds to the profile; `launches` is `None` if it has too many to keep.

    `serving` is there if the steps are those of a server.
    `busy_ns` and `span_ns` are per device; `step_core_ns` per step, summed over devices; `notes`
    counts what was noticed, by the code of its diagnostic. `flop_slack` is how many more the FLOPs
    of all executions may be.
    """

    sums: Sums
    steps: list[Step]
    step_core_ns: I64
    busy_ns: I64
    span_ns: I64
    begin_ns: int
    end_ns: int
    notes: Counter[str]
    flop_slack: float = 0.0
    launches: Launches | None = None
    timeline: Timeline | None = None
    serving: FileServing | None = None
    instances: InstanceSums | None = None
    kernels: KernelRows | None = None
    launch_times: LaunchTimes | None = None
