"""The time of a subject by groups of its operations: parts of work that add up, and the waits;
and which grouping a page opens with.

Rows, waits and work without a name add up to the subject's time. Definitions: `docs/groups.md`.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from roofline.analysis.records import I64, RooflineAnalysis
from roofline.analysis.subjects.records import LEAST_KNOWN, Subject
from roofline.presentation.goal_numbers import COMPLETE, Scale, whole_percent
from roofline.presentation.grouping import Key, instance_level, op_keys
from roofline.presentation.grouping_choice import LABELS, Grouping
from roofline.presentation.quantities import DASH

_MOSTLY = 0.5
_FEW_OPS = 8


@dataclass(frozen=True, kw_only=True)
class Group:
    """The work of some ops in a subject, in us per unit and core; their waits are not in it.

    `needed_us`, `to_gain_us`, `unknown_us` and `impossible_us` add up to `time_us`; of
    `assumed_us` of `needed_us` only a busy share is known. In `wasted_us`
    of `to_gain_us` the nearest unit was busy (`None`: not measured). `gain_us` is what the group
    can gain: `to_gain_us` without what has to stay for the busiest link. `roof_ratio` is the share
    of the ceilings of `known_ratio` of the time, `None` where that is less than half of it.

    `path` names the groups from the outermost to this one; it ends with "" for ops that no deeper
    group has, and for those of which the profile does not say it. `ops` are places in the
    analysis, and `bound` the code of what binds most of their known time. `divide` makes the groups
    in it: a list shows those of few.
    """

    path: Key
    ops: tuple[int, ...]
    time_us: float
    needed_us: float
    assumed_us: float
    to_gain_us: float
    wasted_us: float | None
    unknown_us: float
    impossible_us: float
    gain_us: float
    roof_ratio: float | None
    known_ratio: float | None
    bound: int
    divide: Callable[[], tuple["Group", ...]] = field(default=tuple, compare=False, repr=False)

    @cached_property
    def children(self) -> tuple["Group", ...]:
        """The groups in it, those that take longest first."""
        return self.divide()


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """The groups of a subject, those that take longest first.

    `unnamed_us` is work that no op of the profile stands for, `waits` the waits by kind ("links",
    "transfers", "input", "host_wait", "unknown_wait"); rows, these and `unnamed_us` add up to
    `time_us`.
    """

    by: str
    time_us: float
    rows: tuple[Group, ...]
    unnamed_us: float
    waits: Mapping[str, float]


def groups_of(
    analysis: RooflineAnalysis,
    subject: Subject,
    grouping: Grouping,
    keys: list[Key] | None = None,
) -> Groups:
    """The whole tree of groups, outermost first; `keys` are those of the grouping, where known."""
    keys = keys or op_keys(analysis, grouping.by)
    works = np.flatnonzero(subject.ops.work_us > 0)
    tree = _Tree(analysis, subject, keys, grouping.depth)
    return Groups(
        by=grouping.by,
        time_us=subject.time_us,
        rows=tree.split(works, ()),
        unnamed_us=max(subject.parts.work - float(subject.ops.work_us.sum()), 0.0),
        waits=subject.parts.waits,
    )


def listed(groups: Groups) -> tuple[Group, ...]:
    """The rows of a list: a group with more than half of the work gives way to those in it."""
    rows, work_us = list(groups.rows), sum(one.time_us for one in groups.rows)
    while rows and rows[0].children and rows[0].time_us > _MOSTLY * work_us:
        rows = sorted([*rows[0].children, *rows[1:]], key=lambda one: (-one.time_us, one.path))
    return tuple(rows)


def name_of(path: Sequence[str], by: str) -> str:
    """The name of a group; of ops that no deeper group has, "… itself" or "without a module"."""
    if path[-1]:
        return path[-1]
    return f"{path[-2]} itself" if len(path) > 1 else f"without a {LABELS[by]}"


def roof_text(one: Group) -> str:
    """The share of the roof, with "*" where its work is not wholly known; "–" below half of it."""
    if one.roof_ratio is None:
        return DASH
    return f"{whole_percent(one.roof_ratio)}{'' if is_complete(one) else '*'}"


def is_complete(one: Group) -> bool:
    """True where (almost) all of the work is known."""
    return (one.known_ratio or 0.0) >= COMPLETE


def gain_text(one: Group, scale: Scale) -> str:
    """The time of a group above its roofs, in the unit of the list; "–" where it is not known."""
    return scale.gain(one.gain_us) if one.to_gain_us > 0 else DASH


def merged(groups: Sequence[Group]) -> Group:
    """Several groups as one without a name."""
    known = [one for one in groups if one.known_ratio is not None]
    time_us = sum(one.time_us for one in groups)
    judged_us = sum((one.known_ratio or 0.0) * one.time_us for one in known)
    needed_us = sum(one.needed_us - one.assumed_us for one in groups)
    wasted = [one.wasted_us for one in groups if one.wasted_us is not None]
    return Group(
        path=("",),
        ops=tuple(op for one in groups for op in one.ops),
        time_us=time_us,
        needed_us=sum(one.needed_us for one in groups),
        assumed_us=sum(one.assumed_us for one in groups),
        to_gain_us=sum(one.to_gain_us for one in groups),
        wasted_us=sum(wasted) if wasted else None,
        unknown_us=sum(one.unknown_us for one in groups),
        impossible_us=sum(one.impossible_us for one in groups),
        gain_us=sum(one.gain_us for one in groups),
        roof_ratio=_roof_ratio(needed_us, judged_us, time_us),
        known_ratio=judged_us / time_us if time_us > 0 else None,
        bound=max(groups, key=lambda one: one.time_us).bound,
    )


def _roof_ratio(needed_us: float, known_us: float, time_us: float) -> float | None:
    return needed_us / known_us if known_us > 0 and known_us >= LEAST_KNOWN * time_us else None


class _Tree:
    """How ops divide into groups."""

    def __init__(
        self, analysis: RooflineAnalysis, subject: Subject, keys: list[Key], depth: int | None
    ) -> None:
        ops = subject.ops
        self._keys, self._depth = keys, depth
        self._bound = np.asarray(analysis.ops.measures.bound).astype(np.int64)
        self._known_us = ops.needed_us + ops.to_gain_us
        is_measured = ~np.isnan(ops.wasted_us)
        # One array, because a program has hundreds of groups: to add up ten columns takes as long
        # as to add up one.
        self._columns = np.stack(
            [
                ops.work_us,
                ops.needed_us,
                np.where(ops.assumed, 0.0, ops.needed_us),
                np.where(ops.assumed, 0.0, ops.to_gain_us),
                ops.to_gain_us,
                np.where(is_measured, ops.wasted_us, 0.0),
                is_measured,
                ops.unknown_us,
                ops.impossible_us,
                ops.work_gain_us,
            ]
        )

    def split(self, rows: I64, above: Key) -> tuple[Group, ...]:
        """The groups of `rows` one level below `above`; none where all of them end there."""
        level = len(above)
        if self._depth is not None and level >= self._depth:
            return ()
        members: dict[str, list[int]] = defaultdict(list)
        for op in rows.tolist():
            key = self._keys[op]
            members[key[level] if len(key) > level else ""].append(op)
        if level and list(members) == [""]:
            return ()
        groups = [self._group((*above, name), at) for name, at in members.items()]
        return tuple(sorted(groups, key=lambda one: (-one.time_us, one.path)))

    def _group(self, path: Key, ops: list[int]) -> Group:
        rows = np.array(ops, np.int64)
        sums: list[float] = self._columns.take(rows, axis=1).sum(axis=1).tolist()
        time_us, needed, judged, judged_gain, to_gain, wasted, measured, *rest = sums
        unknown, impossible, gain = rest
        known = judged + judged_gain
        bound = np.bincount(self._bound[rows], self._known_us[rows])
        return Group(
            path=path,
            ops=tuple(ops),
            time_us=time_us,
            needed_us=needed,
            assumed_us=needed - judged,
            to_gain_us=to_gain,
            wasted_us=wasted if measured else None,
            unknown_us=unknown,
            impossible_us=impossible,
            gain_us=gain,
            roof_ratio=_roof_ratio(judged, known, time_us),
            known_ratio=known / time_us if time_us > 0 else None,
            bound=int(bound.argmax()) if bound.any() else 0,
            divide=(lambda: self.split(rows, path)) if path[-1] else tuple,
        )


def usual_grouping(subject: Subject, keys: Mapping[str, Sequence[Key]]) -> str | None:
    """By module where at least half of the work has one, else layer, else category.

    `None` of kernels measured one by one, and of a few operations: these are their own list.
    """
    scopes = keys["layer"]
    levels = {scope: instance_level(scope) for scope in set(scopes)}
    if _work_share(subject, _has_module(subject, scopes, levels)) >= _MOSTLY:
        return "module"
    if _work_share(subject, [levels[one] is not None for one in scopes]) >= _MOSTLY:
        return "layer"
    return "category" if int((subject.ops.work_us > 0).sum()) > _FEW_OPS else None


def choices(subject: Subject, keys: Mapping[str, Sequence[Key]]) -> tuple[str, ...]:
    """The groupings that divide the work: those with two groups or more."""
    works = (subject.ops.work_us > 0).nonzero()[0].tolist()
    found = [by for by, of in keys.items() if len({of[op] for op in works}) > 1]
    is_same = keys["module"] == keys["layer"]
    return tuple(by for by in found if by != "layer" or not is_same)


def _has_module(
    subject: Subject, keys: Sequence[Key], levels: Mapping[Key, int | None]
) -> list[bool]:
    """True for ops in a module: something besides the program's root and the layer itself."""
    works = (subject.ops.work_us > 0).tolist()
    roots = {key[0] for key, has_work in zip(keys, works, strict=True) if key and has_work}
    skipped = len(roots) == 1
    return [len(key) > skipped + (levels[key] is not None) for key in keys]


def _work_share(subject: Subject, mask: Sequence[bool]) -> float:
    work = subject.ops.work_us
    total = float(work.sum())
    return float(work[np.array(mask, np.bool_)].sum()) / total if total > 0 else 0.0


@dataclass(frozen=True, slots=True)
class GroupNames:
    """The group of each op by its row; `label` says of what they are, and `is_place` whether they
    are places in the program: modules or layers."""

    label: str
    is_place: bool
    names: Mapping[int, str]


def usual_names(analysis: RooflineAnalysis, subject: Subject) -> GroupNames | None:
    """The groups that the list beside the chart opens with; `None` where they do not divide it."""
    layers = op_keys(analysis, "layer")
    by = usual_grouping(subject, {"layer": layers})
    if by is None:
        return None
    keys = layers if by == "layer" else op_keys(analysis, by)
    if len({keys[op] for op in np.flatnonzero(subject.ops.work_us > 0).tolist()}) < 2:
        return None
    groups = listed(groups_of(analysis, subject, Grouping(by), keys))
    names = {op: name_of(one.path, by) for one in groups for op in one.ops}
    return GroupNames(LABELS[by], by != "category", names)
