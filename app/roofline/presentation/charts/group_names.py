"""The usual groups of a page as names by operation, for charts."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.subjects.records import Subject
from roofline.presentation.grouping import op_keys
from roofline.presentation.grouping_choice import LABELS, Grouping
from roofline.presentation.groups import groups_of, listed, name_of
from roofline.presentation.usual_groups import usual_grouping


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
