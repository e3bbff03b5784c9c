"""Which grouping a page opens with, and which others it offers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.subjects.records import Subject
from roofline.presentation.grouping import Key, instance_level, op_keys
from roofline.presentation.grouping_choice import LABELS, Grouping
from roofline.presentation.groups import groups_of, listed, name_of

_MOSTLY = 0.5
_FEW_OPS = 8


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
