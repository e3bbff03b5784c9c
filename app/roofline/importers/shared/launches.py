"""Launches of kernels as tables: formats that list one launch per row share this.

Launches of one name are one op; its row is their sum. A count that some launch does not know is not
known of the op either, whose time includes that launch; formats say how many they did not know.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from roofline.importers.shared.op_tables import OpLabels, OpRows, OpTableBuilder
from roofline.model.compute import ComputeUnit
from roofline.model.memory import MemoryLevel, main_level
from roofline.model.op_columns import F64, I64, U64, Bools, OpColumns
from roofline.model.profile import LaunchTable, OpTable, StepTable

Key = TypeVar("Key", ComputeUnit, MemoryLevel)

# Columns hold 64 bits: counts above this are damage, or for the format to refuse.
MAX_COUNT = 2**62


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """One launch of a kernel, or several that the file has summed up already (`calls`).

    `None` is unknown, as is a level without an entry. `unit_flop` splits `flop` by compute unit.
    """

    name: str
    category: str = ""
    detail: str = ""
    long_name: str = ""
    calls: int = 1
    time_ps: int | None
    flop: int | None
    unit_flop: Mapping[ComputeUnit, int] = field(default_factory=dict)
    traffic_bytes: Mapping[MemoryLevel, int] = field(default_factory=dict)


def launch_tables(launches: Sequence[Launch]) -> tuple[OpTable, LaunchTable]:
    """The ops of `launches`, and the launches in their order."""
    levels = _in_use(MemoryLevel, [launch.traffic_bytes for launch in launches])
    # One label per op, however often it was launched.
    first: dict[str, Launch] = {}
    for launch in launches:
        first.setdefault(launch.name, launch)
    labels = [_labels(launch) for launch in first.values()]
    place = {name: k for k, name in enumerate(first)}
    label = np.array([place[launch.name] for launch in launches], np.int64)
    rows = _rows(launches, label, levels)
    builder = OpTableBuilder(levels or (MemoryLevel.HBM,))
    builder.add(labels, rows)
    table = LaunchTable(
        op=builder.numbers(labels)[label],
        detail=tuple(launch.detail for launch in launches),
        time_ps=rows.time_ps,
        flop=_known([launch.flop for launch in launches]),
        traffic_bytes={
            level: _known([one.traffic_bytes.get(level) for one in launches]) for level in levels
        },
    )
    return builder.build(), table


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


def in_all_launches(op: I64, known: Sequence[bool]) -> Bools:
    """Per launch of `op`: whether every launch of that op is `known`."""
    unknown = np.zeros(len(op) and int(op.max()) + 1, np.bool_)
    np.logical_or.at(unknown, op, ~np.array(known, np.bool_))
    return ~unknown[op]


def _rows(launches: Sequence[Launch], label: I64, levels: Sequence[MemoryLevel]) -> OpRows:
    """The launches as rows of an op table; `label` says of which op each is."""
    units = _in_use(ComputeUnit, [launch.unit_flop for launch in launches])
    main = main_level(levels)
    time_ps = _whole([launch.time_ps for launch in launches])
    flop_known = in_all_launches(label, [launch.flop is not None for launch in launches])
    flop = flop_known * _whole([launch.flop for launch in launches])
    traffic = {lv: _whole([one.traffic_bytes.get(lv) for one in launches]) for lv in levels}
    has_bytes = np.array([bool(launch.traffic_bytes) for launch in launches], np.bool_)
    has_flop = np.array([launch.flop is not None for launch in launches], np.bool_)
    nothing = np.zeros(len(launches), np.uint64)
    return OpRows(
        label=label,
        occurrences=np.array([launch.calls for launch in launches], np.int64),
        time_ps=time_ps,
        flop=flop,
        bytes_accessed=traffic.get(main, nothing),
        traffic_bytes=traffic,
        traffic_known=has_bytes,
        cost_known=has_flop | has_bytes,
        flop_known=flop_known,
        bytes_known=in_all_launches(label, [main in one.traffic_bytes for one in launches]),
        unit_flop={
            u: flop_known * _whole([one.unit_flop.get(u) for one in launches]) for u in units
        },
    )


def _in_use(order: Iterable[Key], columns: Sequence[Mapping[Key, int]]) -> tuple[Key, ...]:
    used = {key for column in columns for key in column}
    return tuple(key for key in order if key in used)


def _labels(launch: Launch) -> OpLabels:
    return OpLabels(name=launch.name, category=launch.category, long_name=launch.long_name)


def _whole(values: Sequence[int | None]) -> U64:
    return np.array([min(max(value or 0, 0), MAX_COUNT) for value in values], np.uint64)


def _known(values: Sequence[int | None]) -> F64:
    return np.array([np.nan if value is None else float(value) for value in values], np.float64)
