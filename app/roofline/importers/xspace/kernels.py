"""Kernels of one GPU as columns, and the ops they belong to.

A kernel belongs to the HLO instruction it names, else to the framework op it names, else (not in
XProf's own way) to all kernels of its name. Facts: XProf 2.24.2, measured.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from roofline.importers.shared.op_tables import OpLabels, OpRows
from roofline.importers.xspace.event_scan import Events, StatColumn
from roofline.importers.xspace.gpu_transfers import (
    DETAILS,
    HostLinks,
    Moves,
    StreamMoves,
    is_stream,
)
from roofline.importers.xspace.hlo.cost import NO_COST, OpCost
from roofline.importers.xspace.hlo.ops import Programs, plain_labels, split_by_unit
from roofline.importers.xspace.launch_forest import CORRELATION
from roofline.importers.xspace.messages import Line
from roofline.importers.xspace.oddities import Oddities
from roofline.importers.xspace.planes import Plane
from roofline.importers.xspace.spans import Executions
from roofline.importers.xspace.texts import TextNumbers
from roofline.model.categories import UNKNOWN_CATEGORY
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import I64, U64, Bools
from roofline.model.profile import distinct

MEMCPY_CATEGORY = "memcpy"
KERNEL_CATEGORY = "kernel without HLO"

# Ids of lines that a profiler derived from others; some writers keep only the low 32 bits.
_DERIVED_IDS = range(0xDEADBEEF, 0xDEADBEEF + 8)
_LOW_BITS = 0xFFFFFFFF
_STATS = ("hlo_op", "program_id", "tf_op", "flops", "bytes_accessed", CORRELATION)
_MEMCPY = re.compile(r"(?i)(cuda)?(memcpy|memset)|__amd_rocclr_(copy|fill)")
# Names that XProf takes for a memory copy when it looks for steps.
_STEP_MEMCPY = re.compile(r"(?i)memcpy[hd]to[hd]")
_COLLECTIVE_PREFIX = "nccl"

# XLA's annotation of kernels that run for a whole program: it names no op.
_MODULE = "XlaModule:"
_FRAMEWORK_NAME = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_./>-]*\Z")
_FRAMEWORK_TYPE = re.compile(r"[A-Z_][A-Za-z0-9_]*\Z")
_JAX_TYPE = re.compile(r"([a-z_][a-z0-9_]*)(\[.*\])?\Z", re.DOTALL)
_NUMBER_AT_END = re.compile(r"_[0-9]+\Z")
_COPY = re.compile(r"(?i)memcpy(htod|dtoh|dtod|htoh)")
_COPY_TYPES = {
    "htod": "MemcpyHToD",
    "dtoh": "MemcpyDToH",
    "dtod": "MemcpyDToD",
    "htoh": "MemcpyHToH",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Kernels:
    """All kernels of one GPU, one entry each. `op` is an index into `labels`, -1 where dropped.

    `begin_ps` is on the host's clock, `group` the step (-1: none); `marks_step` is true for kernels
    that make XProf show their step. An instruction may run as several kernels: `starts` marks the
    first of each execution, which has its cost. `range_ps` is the span of all events. Empty in
    comparison mode: `correlation`, what a kernel shares with its launch on the host (0: nothing),
    and (`None`) `moves`, what kernels do with the GPU's time and what they move. `unsplit_is_hbm`:
    bytes that a kernel states itself are in sums over ops as they are in its row, as HBM's.
    """

    labels: tuple[OpLabels, ...]
    costs: tuple[OpCost, ...]
    op: I64
    begin_ps: U64
    duration_ps: U64
    group: I64
    marks_step: Bools
    starts: Bools
    flop: U64
    model_flop: U64
    bytes_accessed: U64
    correlation: U64
    range_ps: int
    moves: Moves | None
    unsplit_is_hbm: bool

    def __len__(self) -> int:
        return len(self.op)

    def rows(self) -> OpRows:
        """Sums per op."""
        return self._sum(self.op, len(self.labels), np.arange(len(self.labels)))

    def rows_by_step(self, groups: I64) -> tuple[I64, OpRows]:
        """Sums per step and op, and each row's index into `groups` (sorted step ids)."""
        if not len(groups):
            none = np.zeros(0, np.int64)
            return none, self._sum(np.broadcast_to(np.int64(-1), len(self)), 0, none)
        scope = np.searchsorted(groups, self.group)
        inside = (scope < len(groups)) & (self.op >= 0)
        inside[inside] = groups[scope[inside]] == self.group[inside]
        width = max(1, len(self.labels))
        pair = np.where(inside, scope * width + self.op, -1)
        used, dense = np.unique(pair, return_inverse=True)
        shift = int(len(used) > 0 and used[0] < 0)
        used = used[shift:]
        return used // width, self._sum(dense - shift, len(used), used % width)

    def _sum(self, row: I64, n_rows: int, label: I64) -> OpRows:
        in_rows = row >= 0
        which = slice(None) if in_rows.all() else in_rows

        def total(column: U64) -> U64:
            sums = np.zeros(n_rows, np.uint64)
            if column.any():
                np.add.at(sums, row[which], column[which])
            return sums

        starts = in_rows & self.starts
        started = row if starts.all() else row[starts]
        occurrences = np.bincount(started, minlength=n_rows).astype(np.int64)
        hbm = [self.costs[k].hbm_bytes for k in label.tolist()]
        is_split = np.array([count is not None for count in hbm], np.bool_)
        split = np.array([count or 0 for count in hbm], np.uint64) * occurrences.astype(np.uint64)
        flop, moved = total(self.flop), total(self.bytes_accessed)
        counted = np.array([self.costs[k].known for k in label.tolist()], np.bool_)
        time_ps = total(self.duration_ps)
        return OpRows(
            label=label,
            occurrences=occurrences,
            time_ps=time_ps,
            flop=flop,
            model_flop=total(self.model_flop),
            bytes_accessed=moved,
            traffic_bytes={
                MemoryLevel.HBM: np.where(is_split | (not self.unsplit_is_hbm), split, moved)
            },
            traffic_known=is_split,
            cost_known=counted | (flop > 0) | (moved > 0),
            unit_flop=split_by_unit([self.costs[k].unit for k in label.tolist()], flop),
        )


def read_kernels(
    plane: Plane,
    groups: Callable[[], Mapping[int, I64]],
    programs: Programs,
    *,
    inherit: Callable[[], bool],
    oddities: Oddities,
    host: HostLinks,
) -> Kernels:
    """The kernels of a GPU plane. `groups` gives the step of each event by line index; `inherit`
    tells whether a kernel without one has that of the latest kernel before it. Both are used
    last, because they may still be computed meanwhile."""
    ops = _Ops(plane, programs, oddities)
    moves = None if oddities.on else StreamMoves(plane, programs, host, ops.labels)
    parts: list[_Columns] = []
    spans: list[tuple[int, int]] = []
    read = [
        number
        for number, line in enumerate(plane.lines)
        if line.event_count and not _is_derived(line, oddities)
    ]
    lengths = [plane.lines[number].event_count for number in read]
    begin_ps, duration_ps = np.empty((2, sum(lengths)), np.uint64)
    for number, start in zip(read, accumulate(lengths, initial=0), strict=False):
        line = plane.lines[number]
        ops.start_stream()
        for events in plane.chunks(
            line,
            _STATS if moves is None else (*_STATS, DETAILS),
            into=(begin_ps[start:], duration_ps[start:]),
        ):
            parts.append(ops.take(events))
            if moves is not None:
                moves.take(events, parts[-1]["op"], is_stream=is_stream(line))
            spans.append(_span(events, line.base_ps if oddities.leaves_out_line_start else 0))
    columns = {
        name: _joined([part[name] for part in parts], kind()) for name, kind in _DTYPES.items()
    }
    group = _joined([groups()[number] for number in read], np.int64(-1))
    first = min((begin for begin, _ in spans), default=0)
    last = max((end for _, end in spans), default=0)
    return Kernels(
        labels=tuple(ops.labels),
        costs=tuple(ops.costs),
        begin_ps=begin_ps,
        duration_ps=duration_ps,
        group=_inherited(begin_ps, group) if inherit() else group,
        range_ps=max(0, last - first) if last else 0,
        moves=None if moves is None else moves.result(),
        unsplit_is_hbm=not oddities.leaves_unsplit_bytes_out_of_programs,
        **columns,
    )


_Columns = Mapping[str, NDArray[Any]]
"""The columns of kernels by name, as `Kernels` has them."""

_DTYPES = {
    "op": np.int64,
    "marks_step": np.bool_,
    "starts": np.bool_,
    "flop": np.uint64,
    "model_flop": np.uint64,
    "bytes_accessed": np.uint64,
    "correlation": np.uint64,
}


def _joined(columns: Sequence[NDArray[Any]], none: np.generic) -> NDArray[Any]:
    """Parts of a column as one; if all are `none`, which is one in memory, the whole is, too."""
    if any(column.strides[0] for column in columns):
        return np.concatenate(columns)
    return np.broadcast_to(none, sum(map(len, columns)))


def _is_derived(line: Line, oddities: Oddities) -> bool:
    whole = oddities.compares_whole_line_ids
    return (line.id if whole else line.id & _LOW_BITS) in _DERIVED_IDS


def _span(events: Events, base_ps: int) -> tuple[int, int]:
    """First begin and last end after `base_ps`."""
    begin = events.begin_ps - np.uint64(base_ps) if base_ps else events.begin_ps
    return int(begin.min()), int((begin + events.duration_ps).max())


def _inherited(begin_ps: U64, group: I64) -> I64:
    if not (group >= 0).any():
        return group
    order = np.argsort(begin_ps, kind="stable")
    ordered = group[order]
    latest = np.maximum.accumulate(np.where(ordered >= 0, np.arange(len(order)), -1))
    filled = np.where(latest >= 0, ordered[np.maximum(latest, 0)], -1)
    result = np.empty_like(group)
    result[order] = filled
    return result


class _Ops:
    """Numbers the ops that kernels belong to, and gives each kernel its costs."""

    def __init__(self, plane: Plane, programs: Programs, oddities: Oddities) -> None:
        self._programs = programs
        self._oddities = oddities
        self._names = (*plane.event_names, "")  # -1, an unknown event, has no name
        self._texts = TextNumbers(plane)
        self._number: dict[tuple[object, ...], int] = {}
        self._marks = np.array([_marks_step(name) for name in self._names], np.bool_)
        self.start_stream()
        self.labels: list[OpLabels] = []
        self.costs: list[OpCost] = []

    def start_stream(self) -> None:
        """The next events are another line's."""
        self._executions = Executions(len(self._names))

    def take(self, events: Events) -> _Columns:
        """Columns of the next events."""
        stats, count = events.stats, len(events)
        op = self._numbers(events)
        starts = np.ones(count, np.bool_)
        if not self._oddities.charges_every_kernel:
            starts = self._executions.starts(op, events.meta.astype(np.int64))
        flop, model, moved = self._costs_of(op, starts, stats, count)
        correlated = stats.get(CORRELATION)
        linked = np.zeros(count, np.bool_) if correlated is None else correlated.present
        return {
            "op": op,
            "marks_step": linked & self._marks[events.meta],
            "starts": starts,
            "flop": flop,
            "model_flop": np.where(model > 0, model, flop) if model.any() else flop,
            "bytes_accessed": moved,
            "correlation": _integers(correlated, 0 if self._oddities.on else count),
        }

    def _costs_of(
        self, op: I64, starts: Bools, stats: Mapping[str, StatColumn], count: int
    ) -> tuple[U64, U64, U64]:
        """Cost of each kernel: the instruction's where it has one, else the event's own."""
        costs = [*self.costs, NO_COST]  # -1, a dropped kernel, has none
        own = _integers(stats.get("flops"), count)
        sources = (
            ([cost.device_flop for cost in costs], own),
            ([cost.model_flop for cost in costs], own),
            (
                [cost.bytes_accessed for cost in costs],
                _integers(stats.get("bytes_accessed"), count),
            ),
        )
        zero = np.uint64(0)
        columns = []
        for per_op, per_event in sources:
            if not any(per_op) and not per_event.any():
                columns.append(_integers(None, count))
                continue
            whole = np.array(per_op, np.uint64)[op]
            counted = np.where(whole > 0, np.where(starts, whole, zero), per_event)
            columns.append(np.where(op >= 0, counted, zero))
        return columns[0], columns[1], columns[2]

    def _numbers(self, events: Events) -> I64:
        """Op of each kernel; -1 where XProf drops it."""
        count = len(events)
        hlo = self._texts.number(events.stats.get("hlo_op"), count)
        framework = self._framework(events)
        program = events.stats.get("program_id")
        op = np.full(count, -1, np.int64)
        if program is not None:
            ids, dense = np.unique(program.int_or_uint(), return_inverse=True)
            keys, wanted = hlo * len(ids) + dense, (hlo >= 0) & program.present
            self._fill(op, wanted, keys, lambda key: self._instruction(key, ids))
        if (named := (hlo < 0) & (framework >= 0)).any():
            keys = framework * len(self._names) + events.meta + 1
            self._fill(op, named, keys, self._framework_op)
        if not self._oddities.drops_kernels_without_op:
            self._fill(op, op < 0, events.meta.astype(np.int64), self._kernel)
        return op

    def _framework(self, events: Events) -> I64:
        """Number of the text that names each kernel's framework op; -1 without."""
        numbers = self._texts.number(events.stats.get("tf_op"), len(events))
        module = self._texts.find(_MODULE)
        if self._oddities.takes_modules_for_ops or module < 0:
            return numbers
        return np.where(numbers == module, -1, numbers)

    def _fill(self, op: I64, wanted: Bools, keys: I64, number: Callable[[int], int]) -> None:
        """Number the distinct keys of the wanted rows, in place."""
        if wanted.any():
            rows = slice(None) if wanted.all() else wanted
            found, of_row = distinct(keys[rows])
            op[rows] = np.array([number(key) for key in found.tolist()], np.int64)[of_row]

    def _instruction(self, pair: int, ids: U64) -> int:
        text_number, program_id = pair // len(ids), int(ids[pair % len(ids)])
        key = ("hlo", text_number, program_id)
        if key not in self._number:
            name = self._texts.texts[text_number].rpartition("::")[2]
            op = self._programs.op(program_id, name)
            self._number[key] = -1 if op is None else self._new(op.labels, op.cost)
        return self._number[key]

    def _framework_op(self, pair: int) -> int:
        text_number, meta = divmod(pair, len(self._names))
        name, category = framework_op(self._texts.texts[text_number])
        return self._plain(f"{name}/{self._names[meta - 1]}", category)

    def _kernel(self, meta: int) -> int:
        name = self._names[meta]
        return self._plain(name, MEMCPY_CATEGORY if is_memcpy(name) else KERNEL_CATEGORY)

    def _plain(self, name: str, category: str) -> int:
        key = ("plain", name, category)
        if key not in self._number:
            self._number[key] = self._new(plain_labels(name, category), NO_COST)
        return self._number[key]

    def _new(self, labels: OpLabels, cost: OpCost) -> int:
        self.labels.append(labels)
        self.costs.append(cost)
        return len(self.labels) - 1


def _integers(column: StatColumn | None, count: int) -> U64:
    """The numbers of a stat; without it zeros, which are one in memory."""
    return np.broadcast_to(np.uint64(), count) if column is None else column.int_or_uint()


def is_memcpy(kernel: str) -> bool:
    """True for copies and fills of memory, by the names of CUDA's and ROCm's tracers."""
    return _MEMCPY.match(kernel) is not None


def _marks_step(kernel: str) -> bool:
    return not kernel.startswith(_COLLECTIVE_PREFIX) and _STEP_MEMCPY.match(kernel) is None


def framework_op(full_name: str) -> tuple[str, str]:
    """(name, type) of `NAME:TYPE`, as TensorFlow and JAX write it; else all of it, unknown.

    An empty type is the last part of the name, without the number that makes it unique.
    """
    name, colon, kind = full_name.partition(":")
    if not colon:
        copy = _COPY.match(full_name)
        return full_name, _COPY_TYPES[copy[1].lower()] if copy else UNKNOWN_CATEGORY
    if name == "Iterator":
        return full_name, "Dataset"
    if _FRAMEWORK_NAME.match(name) and _FRAMEWORK_TYPE.match(kind):
        return name, kind
    derived = kind or _NUMBER_AT_END.sub("", name.rpartition("/")[2])
    jax = _JAX_TYPE.match(derived)
    if jax:
        return name, jax[1]
    return (full_name, UNKNOWN_CATEGORY) if kind else (name, derived or UNKNOWN_CATEGORY)
