"""Launches of kernels as tables: formats that list one launch per row share this.

Launches of one name are one op; its row is their sum. A count that some launch does not know is not
known of the op either, whose time includes that launch; formats say how many they did not know.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

import numpy as np

from roofline.importers.shared.op_tables import OpLabels, OpRows, OpTableBuilder
from roofline.model.ceilings import Ceiling, UseFactor
from roofline.model.compute import ComputeUnit
from roofline.model.memory import MemoryLevel, main_level
from roofline.model.op_columns import F64, I64, U64, Bools, OpColumns
from roofline.model.profile import Kernels, LaunchTable, OpTable, StepTable, distinct_shapes
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


class LaunchTables(NamedTuple):
    """The ops of launches, the launches in their order, and those of them that are kernels."""

    ops: OpTable
    launches: LaunchTable
    kernels: Kernels


def launch_tables(launches: Sequence[Launch]) -> LaunchTables:
    """The tables of `launches`."""
    levels = _in_use(MemoryLevel, [launch.traffic_bytes for launch in launches])
    # One label per op, however often it was launched.
    first: dict[str, Launch] = {}
    longest: dict[str, Launch] = {}
    for launch in launches:
        first.setdefault(launch.name, launch)
        if (launch.time_ps or 0) >= (longest.setdefault(launch.name, launch).time_ps or 0):
            longest[launch.name] = launch
    labels = [_labels(launch, longest[name].slow) for name, launch in first.items()]
    place = {name: k for k, name in enumerate(first)}
    label = np.array([place[launch.name] for launch in launches], np.int64)
    rows = _rows(launches, label, levels)
    builder = OpTableBuilder(levels or (MemoryLevel.HBM,))
    builder.add(labels, rows)
    table = LaunchTable(
        op=builder.numbers(labels)[label],
        detail=tuple(launch.detail for launch in launches),
        time_ps=_whole([launch.time_ps for launch in launches]),
        flop=_known([None if launch.is_rate else launch.flop for launch in launches]),
        traffic_bytes={
            level: _known(
                [None if launch.is_rate else launch.traffic_bytes.get(level) for launch in launches]
            )
            for level in levels
        },
    )
    return LaunchTables(builder.build(), table, _kernels(launches, table, rows, tuple(place)))


def _kernels(
    launches: Sequence[Launch], table: LaunchTable, rows: OpRows, names: tuple[str, ...]
) -> Kernels:
    place = np.array([k for k, one in enumerate(launches) if one.shape is not None], np.int64)
    shapes = [one.shape for one in launches if one.shape is not None]
    return Kernels(
        names=names,
        name=rows.label[place],
        op=table.op[place],
        step=np.full(len(place), -1),
        **distinct_shapes(shapes),
        time_ps=table.time_ps[place],
        work=rows.select(place),
    )


def kernels_timed(launches: Sequence[Launch]) -> tuple[int, int] | None:
    """How many launches have a time, of how many; `None` where all or none have one."""
    timed = sum(launch.time_ps is not None for launch in launches)
    return (timed, len(launches)) if 0 < timed < len(launches) else None


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
    op: I64, time_ps: U64, shares: Sequence[Mapping[Declared, float]]
) -> dict[Declared, F64]:
    """Share × time (ps) of each launch of `op`, by key; keys without any share are left out.

    A launch without a share has the mean of its op, weighted by time, so that the op's sum is that
    mean times its time. It is NaN where launches of less than half of the op's time have a share.
    """
    time = time_ps.astype(np.float64)
    columns = {}
    for key in dict.fromkeys(key for by_key in shares for key in by_key):
        share = np.array([by_key.get(key, np.nan) for by_key in shares], np.float64)
        known = np.isfinite(share)
        known_ps = np.bincount(op, np.where(known, time, 0.0))
        busy_ps = np.bincount(op, np.where(known, share * time, 0.0))
        is_known = (known_ps > 0) & (known_ps >= np.bincount(op, time) / 2)
        mean = np.divide(busy_ps, known_ps, out=np.full(len(busy_ps), np.nan), where=is_known)
        columns[key] = np.where(is_known[op] & known, share, mean[op]) * time
    return columns


def _rows(launches: Sequence[Launch], label: I64, levels: Sequence[MemoryLevel]) -> OpRows:
    """The launches as rows of an op table; `label` says of which op each is."""
    units = _in_use(ComputeUnit, [launch.unit_flop for launch in launches])
    main = main_level(levels)
    timed = np.array([launch.time_ps is not None for launch in launches], np.bool_)
    left_out = beside_timed(label, timed)

    def total(values: Sequence[int | None], known: Bools) -> U64:
        return np.where(known & ~left_out, _whole(values), np.uint64(0))

    def everywhere(known: Sequence[bool]) -> Bools:
        return in_all_launches(label, np.array(known, np.bool_) | left_out)

    has_bytes = np.array([_uses(launch, link=False) for launch in launches], np.bool_)
    has_moved = np.array([_uses(launch, link=True) for launch in launches], np.bool_)
    has_flop = np.array([launch.flop is not None for launch in launches], np.bool_)
    flop_known = everywhere([launch.flop is not None for launch in launches])
    traffic = {
        level: total(
            [launch.traffic_bytes.get(level) for launch in launches],
            has_moved if level.is_link else has_bytes,
        )
        for level in levels
    }
    time_ps = _whole([PS_PER_S if launch.is_rate else launch.time_ps for launch in launches])
    return OpRows(
        label=label,
        occurrences=np.array([launch.calls for launch in launches], np.int64),
        time_ps=time_ps,
        time_known=timed,
        flop=total([launch.flop for launch in launches], flop_known),
        bytes_accessed=traffic.get(main, np.zeros(len(launches), np.uint64)),
        traffic_bytes=traffic,
        traffic_known=has_bytes,
        cost_known=has_flop | has_bytes | has_moved,
        flop_known=flop_known,
        bytes_known=everywhere([main in launch.traffic_bytes for launch in launches]),
        unit_flop={
            u: total([launch.unit_flop.get(u) for launch in launches], flop_known) for u in units
        },
        busy_ps=shares_of_time(label, time_ps, [launch.busy for launch in launches]),
        use_ps=shares_of_time(label, time_ps, [launch.use for launch in launches]),
    )


def _uses(launch: Launch, *, link: bool) -> bool:
    """True where the bytes of any link, or of any memory, are known."""
    return any(level.is_link is link for level in launch.traffic_bytes)


def _in_use(order: Iterable[Key], columns: Sequence[Mapping[Key, int]]) -> tuple[Key, ...]:
    used = {key for column in columns for key in column}
    return tuple(key for key in order if key in used)


def _labels(launch: Launch, slow: tuple[str, str]) -> OpLabels:
    return OpLabels(
        name=launch.name,
        category=launch.category,
        long_name=launch.long_name,
        framework_path=launch.framework_path,
        operands=launch.operands,
        results=launch.results,
        slow_why=slow[0],
        slow_words=slow[1],
    )


def _whole(values: Sequence[int | None]) -> U64:
    return np.array([min(max(value or 0, 0), MAX_COUNT) for value in values], np.uint64)


def _known(values: Sequence[int | None]) -> F64:
    return np.array([np.nan if value is None else float(value) for value in values], np.float64)
