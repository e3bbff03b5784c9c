"""Launches of kernels as tables: formats that list one launch per row share this.

Launches of one name are one op; its row is their sum. A count that some launch does not know is not
known of the op either, whose time includes that launch; formats say how many they did not know.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import numpy as np

from roofline.importers.shared.op_tables import OpLabels, OpRows, OpTableBuilder
from roofline.model.ceilings import Ceiling, UseFactor
from roofline.model.compute import ComputeUnit
from roofline.model.memory import MemoryLevel, main_level
from roofline.model.op_columns import F64, I64, U64, Bools, OpColumns
from roofline.model.plain_data import alike
from roofline.model.profile import (
    Kernels,
    LaunchTable,
    OpTable,
    Profile,
    Provenance,
    StepTable,
    distinct_shapes,
    sizes_along,
)
from roofline.model.units import PS_PER_S

Key = TypeVar("Key", ComputeUnit, MemoryLevel)
Declared = TypeVar("Declared", Ceiling, UseFactor)

# Columns hold 64 bits: counts above this are damage, or for the format to refuse.
MAX_COUNT = 2**62


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """One launch of a kernel, or several that the file has summed up already (`calls`).

    `None` is unknown, as is a level without an entry. `unit_flop` splits `flop` by compute unit.
    `is_rate` is true where only rates are known: FLOPs and bytes are then those of one second, and
    no other launch has this name. `busy` and `use` are shares, 0 to 1, of the launch's time; `slow`
    says, as a code and in words, why no unit is busy. `shape` are the blocks and threads of a
    kernel as in `Kernels`, `None` for what is not a kernel.
    """

    name: str
    category: str = ""
    detail: str = ""
    long_name: str = ""
    framework_path: str = ""
    operands: str = ""
    results: str = ""
    calls: int = 1
    time_ps: int | None
    flop: int | None
    unit_flop: Mapping[ComputeUnit, int] = field(default_factory=dict)
    traffic_bytes: Mapping[MemoryLevel, int] = field(default_factory=dict)
    is_rate: bool = False
    busy: Mapping[Ceiling, float] = field(default_factory=dict)
    use: Mapping[UseFactor, float] = field(default_factory=dict)
    slow: tuple[str, str] = ("", "")
    shape: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Launches:
    """Many launches of few kinds: all that is in a `Launch` but its time and detail is in the kind.

    `kind` is a place in `kinds`, which are in the order of their first launches. `time_ps` is 0 of
    launches that are not `timed`.
    """

    kinds: Sequence[Launch]
    kind: I64
    time_ps: U64
    timed: Bools
    detail: Sequence[str]

    @staticmethod
    def of(launches: Sequence[Launch]) -> "Launches":
        """Each launch as a kind of its own."""
        return Launches(
            kinds=launches,
            kind=np.arange(len(launches)),
            time_ps=_whole([launch.time_ps for launch in launches]),
            timed=np.array([launch.time_ps is not None for launch in launches], np.bool_),
            detail=[launch.detail for launch in launches],
        )

    @property
    def partly_timed(self) -> tuple[int, int] | None:
        """How many launches have a time, of how many; `None` where all or none have one."""
        timed = int(self.timed.sum())
        return (timed, len(self.timed)) if 0 < timed < len(self.timed) else None


class LaunchTables(NamedTuple):
    """The ops of launches, the launches in their order, those of them that are kernels, and the
    work of every launch."""

    ops: OpTable
    launches: LaunchTable
    kernels: Kernels
    rows: OpRows


def launch_tables(launches: Launches) -> LaunchTables:
    """The tables of `launches`."""
    kinds, kind = launches.kinds, launches.kind
    levels = _in_use(MemoryLevel, [one.traffic_bytes for one in kinds])
    # One label per op, however often it was launched.
    first: dict[str, Launch] = {}
    for one in kinds:
        first.setdefault(one.name, one)
    place = {name: k for k, name in enumerate(first)}
    label = np.array([place[one.name] for one in kinds], np.int64)[kind]
    time_ps = launches.time_ps
    order = np.lexsort((time_ps, label))  # of each label the longest is the last
    is_last = np.append(np.diff(label[order]) > 0, np.ones(min(len(kind), 1), np.bool_))
    longest = kind[order[is_last]]
    labels = [
        _labels(one, kinds[at].slow)
        for one, at in zip(first.values(), longest.tolist(), strict=True)
    ]
    rows = _rows(launches, label, time_ps, levels)
    builder = OpTableBuilder(levels or (MemoryLevel.HBM,))
    builder.add(labels, rows)
    table = LaunchTable(
        op=builder.numbers(labels)[label],
        detail=tuple(launches.detail),
        time_ps=time_ps,
        flop=_known([None if one.is_rate else one.flop for one in kinds])[kind],
        traffic_bytes={
            level: _known([None if one.is_rate else one.traffic_bytes.get(level) for one in kinds])[
                kind
            ]
            for level in levels
        },
    )
    return LaunchTables(builder.build(), table, _kernels(launches, table, rows, tuple(place)), rows)


def _kernels(
    launches: Launches, table: LaunchTable, rows: OpRows, names: tuple[str, ...]
) -> Kernels:
    has_shape = np.array([one.shape is not None for one in launches.kinds], np.bool_)
    shapes = [one.shape for one in launches.kinds if one.shape is not None]
    found = distinct_shapes(sizes_along(shapes))
    place = np.flatnonzero(has_shape[launches.kind])
    at = (np.cumsum(has_shape) - 1)[launches.kind[place]]
    return Kernels(
        names=names,
        name=rows.label[place],
        op=table.op[place],
        step=np.full(len(place), -1),
        shapes=found["shapes"],
        shape=found["shape"][at],
        time_ps=table.time_ps[place],
        work=rows.select(place),
    )


def no_steps(levels: Sequence[MemoryLevel]) -> StepTable:
    """The steps of a profile that has none."""
    none = np.zeros(0, np.uint64)
    return StepTable(
        label=(),
        begin_ps=none,
        end_ps=none,
        duration_ps=none,
        time_ps=none,
        sums=OpColumns.zeros((0, 2), levels),
    )


def without_steps(ops: OpTable, op_time_ps: int, provenance: Provenance, **rest: Any) -> Profile:
    """The profile of ops that took this time together, with its `rest`: a format without steps, of
    which work and bytes have one provenance."""
    return Profile(
        ops=ops,
        op_time_ps=op_time_ps,
        normalised_op_time_ps=op_time_ps,
        flop_provenance=provenance,
        bytes_provenance=provenance,
        **{"time_ps": op_time_ps, "steps": no_steps(tuple(ops.traffic_bytes)), **rest},
    )


def in_all_launches(op: I64, known: Sequence[bool] | Bools) -> Bools:
    """Per launch of `op`: whether every launch of that op is `known`."""
    unknown = np.zeros(len(op) and int(op.max()) + 1, np.bool_)
    np.logical_or.at(unknown, op, ~np.array(known, np.bool_))
    return ~unknown[op]


def beside_timed(op: I64, timed: Bools) -> Bools:
    """Launches without a time of ops whose other launches have one: their work is left out, so that
    the op's work is that of its time."""
    return ~timed & ~in_all_launches(op, ~timed)


def shares_of_time(
    op: I64, time_ps: U64, kind: I64, shares: Sequence[Mapping[Declared, float]]
) -> dict[Declared, F64]:
    """Share × time (ps) of each launch of `op`, by key; keys without any share are left out.
    `shares` are those of its `kind`.

    A launch without a share has the mean of its op, weighted by time, so that the op's sum is that
    mean times its time. It is NaN where launches of less than half of the op's time have a share.
    """
    time = time_ps.astype(np.float64)
    columns = {}
    for key in dict.fromkeys(key for by_key in shares for key in by_key):
        share = np.array([by_key.get(key, np.nan) for by_key in shares], np.float64)[kind]
        known = np.isfinite(share)
        known_ps = np.bincount(op, np.where(known, time, 0.0))
        busy_ps = np.bincount(op, np.where(known, share * time, 0.0))
        is_known = (known_ps > 0) & (known_ps >= np.bincount(op, time) / 2)
        mean = np.divide(busy_ps, known_ps, out=np.full(len(busy_ps), np.nan), where=is_known)
        columns[key] = np.where(is_known[op] & known, share, mean[op]) * time
    return columns


def _rows(launches: Launches, label: I64, time_ps: U64, levels: Sequence[MemoryLevel]) -> OpRows:
    """The launches as rows of an op table; `label` says of which op each is."""
    kinds, kind = launches.kinds, launches.kind
    units = _in_use(ComputeUnit, [one.unit_flop for one in kinds])
    main = main_level(levels)
    timed = launches.timed
    left_out = beside_timed(label, timed)

    def flags(of_kind: Iterable[bool]) -> Bools:
        return np.array([*of_kind], np.bool_)[kind]

    def total(values: Iterable[int | None], known: Bools) -> U64:
        return np.where(known & ~left_out, _whole([*values])[kind], np.uint64(0))

    has_bytes = flags(_uses(one, link=False) for one in kinds)
    has_moved = flags(_uses(one, link=True) for one in kinds)
    has_flop = flags(one.flop is not None for one in kinds)
    has_main = flags(main in one.traffic_bytes for one in kinds)
    flop_known = in_all_launches(label, has_flop | left_out)
    traffic = {
        level: total(
            (one.traffic_bytes.get(level) for one in kinds),
            has_moved if level.is_link else has_bytes,
        )
        for level in levels
    }
    time_ps = np.where(flags(one.is_rate for one in kinds), np.uint64(PS_PER_S), time_ps)
    return OpRows(
        label=label,
        occurrences=np.array([one.calls for one in kinds], np.int64)[kind],
        time_ps=time_ps,
        time_known=timed,
        flop=total((one.flop for one in kinds), flop_known),
        bytes_accessed=traffic.get(main, np.zeros(len(kind), np.uint64)),
        traffic_bytes=traffic,
        traffic_known=has_bytes,
        cost_known=has_flop | has_bytes | has_moved,
        flop_known=flop_known,
        bytes_known=in_all_launches(label, has_main | left_out),
        unit_flop={u: total((one.unit_flop.get(u) for one in kinds), flop_known) for u in units},
        busy_ps=shares_of_time(label, time_ps, kind, [one.busy for one in kinds]),
        use_ps=shares_of_time(label, time_ps, kind, [one.use for one in kinds]),
    )


def _uses(launch: Launch, *, link: bool) -> bool:
    """True where the bytes of any link, or of any memory, are known."""
    return any(level.is_link is link for level in launch.traffic_bytes)


def _in_use(order: Iterable[Key], columns: Sequence[Mapping[Key, int]]) -> tuple[Key, ...]:
    used = {key for column in columns for key in column}
    return tuple(key for key in order if key in used)


def _labels(launch: Launch, slow: tuple[str, str]) -> OpLabels:
    return alike(OpLabels, launch, slow_why=slow[0], slow_words=slow[1])


def _whole(values: Sequence[int | None]) -> U64:
    return np.array([min(max(value or 0, 0), MAX_COUNT) for value in values], np.uint64)


def _known(values: Sequence[int | None]) -> F64:
    return np.array([np.nan if value is None else float(value) for value in values], np.float64)
