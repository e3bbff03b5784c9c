"""Ops as a tree of groups, each with its time, work, share of the roof and saving."""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from statistics import median

import numpy as np

from roofline.analysis.knowledge import bytes_known, flop_known
from roofline.analysis.records import U64, Bools, RooflineAnalysis, View
from roofline.analysis.roofline import Floats
from roofline.model.categories import is_container
from roofline.presentation.grouping import Key, op_keys
from roofline.presentation.grouping_choice import Grouping

# A group is called slower than its sisters from this many times the median of their times on.
SLOWER = 1.1
_FEWEST_SISTERS = 3
_SAME_WORK = 0.01  # FLOPs and bytes of sisters differ by no more than this share
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Ops under one name. Times in us; sums over cores, and per core where the name says so.

    `name` is empty for ops of which the profile does not say it, and those without a deeper group.
    `flop` and `bytes` are sums of what is known, `None` where nothing is; the `…_known_ratio` say
    of which share of the group's self time they are known. The share of the roof is weighted by
    time over the ops that have one, none counted above 1. `slower_ratio` is the time over the
    median of the `sisters`, where there are such: siblings with equal names but for the number, and
    with equal work.
    """

    name: str
    path: Key
    ops: tuple[int, ...]
    self_time_us: float
    self_time_per_core_us: float
    share_ratio: float | None
    roofline_efficiency_ratio: float | None
    efficiency_known_ratio: float
    saving_per_core_us: float | None
    flop: float | None
    flop_known_ratio: float
    bytes: float | None
    bytes_known_ratio: float
    children: tuple["Group", ...] = ()
    sisters: int = 0
    slower_ratio: float | None = None

    @property
    def is_slower(self) -> bool:
        """True where it takes clearly longer than its sisters."""
        return self.slower_ratio is not None and self.slower_ratio > SLOWER


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Ops:
    """The columns that groups sum up: one entry per op of the analysis, IDLE included."""

    keys: list[Key]
    time_us: Floats
    per_core_us: Floats
    efficiency: Floats
    saving_us: Floats
    flop: Floats
    flop_known: Bools
    bytes: Floats
    bytes_known: Bools
    total_us: float


def group_ops(analysis: RooflineAnalysis, view: View, grouping: Grouping) -> tuple[Group, ...]:
    """The outermost groups of all ops of `view`, the longest first."""
    ops = _columns(analysis, view, op_keys(analysis, grouping.by))
    return _split(ops, view.every.op.tolist(), (), grouping.depth)


def _columns(analysis: RooflineAnalysis, view: View, keys: list[Key]) -> _Ops:
    table, ops = analysis.profile.ops, analysis.ops
    idle = len(ops) - len(table)
    # The work of a container is that of the ops in it, which are listed themselves.
    own = np.array([not is_container(name) for name in table.category], np.bool_)

    def padded(values: U64 | Bools) -> Floats:
        return np.concatenate([values.astype(np.float64), np.zeros(idle)])

    return _Ops(
        keys=keys,
        time_us=np.nan_to_num(ops.measures.self_time_us),
        per_core_us=np.nan_to_num(ops.self_time_per_core_us),
        efficiency=np.minimum(ops.measures.roofline_efficiency_ratio, 1.0),
        saving_us=ops.saving_per_core_us,
        flop=padded(table.flop),
        flop_known=padded(flop_known(table) & own) > 0,
        bytes=padded(table.bytes_accessed),
        bytes_known=padded(bytes_known(table) & own) > 0,
        total_us=view.total_time_us,
    )


def _split(ops: _Ops, rows: list[int], above: Key, depth: int | None) -> tuple[Group, ...]:
    """The groups of `rows` one level below `above`; none where all of them end there."""
    level = len(above)
    if depth is not None and level >= depth:
        return ()
    members: dict[str, list[int]] = defaultdict(list)
    for op in rows:
        key = ops.keys[op]
        members[key[level] if len(key) > level else ""].append(op)
    if level and list(members) == [""]:
        return ()
    groups = [_group(ops, (*above, name), at, depth) for name, at in members.items()]
    return _with_sisters(sorted(groups, key=lambda one: (-one.self_time_us, one.name)))


def _group(ops: _Ops, path: Key, rows: list[int], depth: int | None) -> Group:
    time = ops.time_us[rows]
    total = float(time.sum())
    efficiency, saving = ops.efficiency[rows], ops.saving_us[rows]
    placed = ~np.isnan(efficiency)
    placed_time = float(time[placed].sum())
    flop, flop_share = _known_sum(ops.flop[rows], ops.flop_known[rows], time)
    moved, moved_share = _known_sum(ops.bytes[rows], ops.bytes_known[rows], time)
    return Group(
        name=path[-1],
        path=path,
        ops=tuple(rows),
        self_time_us=total,
        self_time_per_core_us=float(ops.per_core_us[rows].sum()),
        share_ratio=total / ops.total_us if ops.total_us else None,
        roofline_efficiency_ratio=(
            float((time[placed] * efficiency[placed]).sum()) / placed_time if placed_time else None
        ),
        efficiency_known_ratio=placed_time / total if total else 0.0,
        saving_per_core_us=None if np.isnan(saving).all() else float(np.nansum(saving)),
        flop=flop,
        flop_known_ratio=flop_share,
        bytes=moved,
        bytes_known_ratio=moved_share,
        children=_split(ops, rows, path, depth) if path[-1] else (),
    )


def _known_sum(values: Floats, known: Bools, time: Floats) -> tuple[float | None, float]:
    """The sum of what is known, and of which share of the time it is."""
    total = float(time.sum())
    share = float(time[known].sum()) / total if total else 0.0
    return (float(values[known].sum()) if known.any() else None), share


# ----------------------------------------------------------------------------------------- sisters


def _with_sisters(groups: list[Group]) -> tuple[Group, ...]:
    """`groups`, those with sisters held against the median of them."""
    alike: dict[str, list[Group]] = defaultdict(list)
    for one in groups:
        if _NUMBER.search(one.name):
            alike[_NUMBER.sub("#", one.name)].append(one)
    found: dict[str, Group] = {}
    for family in alike.values():
        for sisters in _of_equal_work(family):
            usual = median(one.self_time_us for one in sisters)
            if len(sisters) < _FEWEST_SISTERS or not usual:
                continue
            for one in sisters:
                ratio = one.self_time_us / usual
                found[one.name] = replace(one, sisters=len(sisters), slower_ratio=ratio)
    return tuple(found.get(one.name, one) for one in groups)


def _of_equal_work(family: list[Group]) -> list[list[Group]]:
    """`family` in parts of equal known work: as many ops, FLOPs and bytes."""
    parts: list[list[Group]] = []
    for one in family:
        if one.flop is None and one.bytes is None:
            continue
        part = next((part for part in parts if _is_equal(part[0], one)), None)
        if part is None:
            parts.append([one])
        else:
            part.append(one)
    return parts


def _is_equal(a: Group, b: Group) -> bool:
    return (
        len(a.ops) == len(b.ops)
        and Counter(child.name for child in a.children)
        == Counter(child.name for child in b.children)
        and _is_near(a.flop, b.flop)
        and _is_near(a.bytes, b.bytes)
    )


def _is_near(a: float | None, b: float | None) -> bool:
    if a is None or b is None:
        return a is b
    return abs(a - b) <= _SAME_WORK * max(abs(a), abs(b))
