"""The groups of a page: each grouping as a list, the waits, and instances of modules."""

from collections.abc import Mapping, Sequence

from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.subjects.records import Kind, Subject
from roofline.presentation.contract import GroupList, GroupRow, Groups, LayerInstances
from roofline.presentation.goal import wait_words
from roofline.presentation.goal_numbers import Scale, whole_percent
from roofline.presentation.grouping import all_keys
from roofline.presentation.grouping_choice import LABELS, Grouping
from roofline.presentation.groups import (
    Group,
    gain_text,
    groups_of,
    is_complete,
    listed,
    merged,
    name_of,
    roof_text,
)
from roofline.presentation.layers import Layers, layers_of, line_of
from roofline.presentation.quantities import DASH
from roofline.presentation.rounding import six_digits
from roofline.presentation.sentences import plain_text, say
from roofline.presentation.usual_groups import choices, usual_grouping

_SHOWN = 6
_LEAST_SHARE = 0.01  # of the work, of a row that is shown before somebody asks for all
_ROWS = 30
_ROWS_INSIDE = 12
_LEVELS = 3


def groups_data(analysis: RooflineAnalysis, subject: Subject) -> Groups:
    """The key `groups` of the page data."""
    keys = all_keys(analysis)
    layers, scale = layers_of(analysis, subject, keys), Scale.of(subject.time_us)
    waits = {wait_words(subject, k): us for k, us in subject.parts.waits.items()}
    lists = {
        by: listed(groups_of(analysis, subject, Grouping(by), keys[by]))
        for by in choices(subject, keys)
    }
    return {
        "by": usual_grouping(subject, keys),
        "unit": scale.unit,
        "lists": [_Rows(subject, rows, by).grouping() for by, rows in lists.items()],
        "waits": {name: six_digits(us) for name, us in waits.items() if us > 0},
        "waiting_title": _waiting_title(subject, scale, waits),
        "unnamed_us": six_digits(max(subject.parts.work - float(subject.ops.work_us.sum()), 0.0)),
        "layers": [_layers(one) for one in layers],
        "note": "" if layers else _note(analysis),
    }


def _waiting_title(subject: Subject, scale: Scale, waits: Mapping[str, float]) -> str:
    if subject.kind is Kind.KERNELS:
        return "Not known: the profiler measured the kernels one by one."
    return ", ".join(f"{scale.length(us)} {name}" for name, us in waits.items() if us > 0)


def _known(value: float | None) -> float | None:
    return None if value is None else six_digits(value)


def _note(analysis: RooflineAnalysis) -> str:
    """How to record what tells layers apart, where the recorder can."""
    profile = analysis.profile
    is_torch = profile.format_id == "pytorch" and not profile.is_host_only
    return plain_text(say("layers_hidden")) if is_torch else ""


class _Rows:
    """Rows of groups; texts are in the unit of the time, with three digits of the longest."""

    def __init__(self, subject: Subject, groups: Sequence[Group], by: str) -> None:
        self._by = by
        self._time_us, self._groups = subject.time_us, groups
        self._waits_us = sum(subject.parts.waits.values())
        self._has_waits = subject.kind is not Kind.KERNELS
        self._scale = Scale.of(subject.time_us).finer(groups[0].time_us)

    def grouping(self) -> GroupList:
        """One grouping."""
        groups, by = self._groups, self._by
        rest = self._rest_of(groups)
        return {
            "id": by,
            "label": LABELS[by],
            "rows": self._rows(groups, _ROWS, 1),
            "waiting": self._scale.number(self._waits_us) if self._has_waits else DASH,
            "shown": len(groups) - len(rest),
            "more": self._rest(rest) if rest else None,
        }

    def _rest_of(self, groups: Sequence[Group]) -> Sequence[Group]:
        """Groups that one row stands for, until it is opened: short ones, and those past six."""
        least_us = _LEAST_SHARE * sum(one.time_us for one in groups)
        shown = max(sum(one.time_us >= least_us for one in groups[:_SHOWN]), 1)
        return groups[shown:] if len(groups) > shown + 1 else ()

    def _rows(self, groups: Sequence[Group], most: int, level: int) -> list[GroupRow]:
        """The longest groups, and all others as one row."""
        rows = [self._row(one, level) for one in groups[:most]]
        return [*rows, self._rest(groups[most:])] if groups[most:] else rows

    def _rest(self, groups: Sequence[Group]) -> GroupRow:
        row = self._row(merged(groups), _LEVELS)
        return {**row, "path": [], "name": f"{len(groups):,} more"}

    def _row(self, one: Group, level: int) -> GroupRow:
        return {
            "name": name_of(one.path, self._by),
            "title": self._title(one),
            "cells": [
                self._scale.number(one.time_us),
                roof_text(one),
                gain_text(one, self._scale),
            ],
            "path": [*one.path],
            "op_count": len(one.ops),
            "time_us": six_digits(one.time_us),
            "needed_us": six_digits(one.needed_us),
            "to_gain_us": six_digits(one.to_gain_us),
            "wasted_us": _known(one.wasted_us),
            "unknown_us": six_digits(one.unknown_us),
            "impossible_us": six_digits(one.impossible_us),
            "gain_us": six_digits(one.gain_us),
            "roof_ratio": _known(one.roof_ratio),
            "known_ratio": _known(one.known_ratio),
            "bound": one.bound,
            "groups": self._rows(one.children, _ROWS_INSIDE, level + 1) if level < _LEVELS else [],
        }

    def _title(self, one: Group) -> str:
        """What the row is of, and what of its time is not known or cannot be."""
        n_ops, scale = len(one.ops), self._scale
        said = [
            f"{n_ops:,} {'operation' if n_ops == 1 else 'operations'}, "
            f"{whole_percent(one.time_us / self._time_us)} of the time"
        ]
        if not is_complete(one):
            known_us = (one.known_ratio or 0.0) * one.time_us
            said.append(f"{scale.number(known_us)} of {scale.length(one.time_us)} known")
        if one.impossible_us > 0:
            said.append(f"{scale.length(one.impossible_us)} have impossible numbers")
        name = " / ".join(filter(None, one.path)) or f"without a {LABELS[self._by]}"
        return f"{name}: {'; '.join(said)}"


def _layers(one: Layers) -> LayerInstances:
    scale = Scale.of(max(of.time_us for of in one.instances))
    return {
        "name": one.name,
        "direction": one.direction,
        "line": plain_text(line_of(one)),
        "stands_out": one.slowest is not None,
        "instances": [
            {
                "name": of.name,
                "text": scale.length(of.time_us),
                "group": [*of.path] if of.is_group else [],
                "time_us": six_digits(of.time_us),
                "median_ratio": _known(of.ratio),
            }
            for of in one.instances
        ],
        "rest": scale.length(one.rest_us),
        "rest_us": six_digits(one.rest_us),
    }
