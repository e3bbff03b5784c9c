"""Everything one page shows, as compact JSON. The contract with the browser: docs/page-data.md.

Columns instead of objects, six significant digits, `null` for what is unknown.

The strip of time below the charts: what the cores did, bin by bin, and the range in view.

A lane has a percentage of each bin per kind of time; the rest of a bin was empty. If the lanes of
all cores take too much of the page data, their mean is the only lane.

The groups of a page: each grouping as a list, the waits, and instances of modules.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.subjects.records import Kind, Subject
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import F64
from roofline.model.time_bins import TimeBins
from roofline.model.units import PS_PER_US
from roofline.presentation import page_frame, page_roofs
from roofline.presentation.charts import drawn_again, figures_of
from roofline.presentation.charts.choices import ChartChoice, Infeed
from roofline.presentation.charts.gain_figure import gain_of
from roofline.presentation.columns import page_menu
from roofline.presentation.contract import GroupList, GroupRow, Groups, LayerInstances
from roofline.presentation.facts_and_view import Document, is_in, joined, part_of_page
from roofline.presentation.goal import wait_words
from roofline.presentation.goal_numbers import Scale, whole_percent
from roofline.presentation.grouping import all_keys
from roofline.presentation.grouping_choice import LABELS, Grouping
from roofline.presentation.groups import (
    Group,
    choices,
    gain_text,
    groups_of,
    is_complete,
    listed,
    merged,
    name_of,
    roof_text,
    usual_grouping,
)
from roofline.presentation.json_text import to_json
from roofline.presentation.layers import Layers, layers_of, line_of
from roofline.presentation.op_columns import OP_COLUMNS
from roofline.presentation.op_values import OpRows
from roofline.presentation.page_ops import categories_of, infeed_view, page_ops, transfers
from roofline.presentation.palette import LEVEL_STYLES, category_styles
from roofline.presentation.program_columns import PROGRAM_COLUMNS, point_rows
from roofline.presentation.quantities import DASH
from roofline.presentation.rounding import six_digits
from roofline.presentation.sentences import plain_text, say
from roofline.presentation.serving import serving_data
from roofline.presentation.shown import listed_ops, places_of, shown_levels, unit_labels
from roofline.presentation.verdict import Answer, lines_of
from roofline.presentation.verdict_data import budget_data, subject_record, verdict_record
from roofline.presentation.what_if import OwnPeaks, what_if_lines
from roofline.presentation.words import page_words

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


Json = dict[str, Any]

SCHEMA = 2
BOTH_INFEEDS = ("in", "out")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageIdentity:
    """Whose page it is; sizes of the uploaded files by name, where known.

    Not its title: that can be edited, and page data are never made again for it.
    """

    id: str
    created_at: str
    file_sizes: Mapping[str, int] = field(default_factory=dict)


def build_page(
    analysis: RooflineAnalysis,
    answer: Answer,
    identity: PageIdentity,
    own: OwnPeaks | None = None,
) -> bytes:
    """The page data as UTF-8 JSON."""
    return to_json(page_data(analysis, answer, identity, own))


def page_data(
    analysis: RooflineAnalysis,
    answer: Answer,
    identity: PageIdentity,
    own: OwnPeaks | None = None,
) -> Json:
    """The page data as plain objects; `answer` is what its sentences and its subject are of.

    Under other peaks than its `own` the first lines say what these change.
    """
    page = _document(Document.PAGE, analysis, answer, identity, BOTH_INFEEDS, own)
    return {**page, "figures": _figures(analysis, answer, page)}


def facts_data(analysis: RooflineAnalysis, answer: Answer, identity: PageIdentity) -> Json:
    """The part of the page data that is the same under every device."""
    return _document(Document.FACTS, analysis, answer, identity, BOTH_INFEEDS)


def view_data(
    analysis: RooflineAnalysis,
    answer: Answer,
    identity: PageIdentity,
    infeed: Infeed,
    facts: Json | None = None,
    own: OwnPeaks | None = None,
) -> Json:
    """The part that peaks change, with ("in") or without ("out") infeed and outfeed.

    Its figures are drawn of the `facts` as well.
    """
    facts = facts or facts_data(analysis, answer, identity)
    view = _document(Document.VIEW, analysis, answer, identity, (infeed,), own)
    page = joined(facts, view, infeed)
    return {**view, "figures": _figures(analysis, answer, page, infeed)}


def _figures(analysis: RooflineAnalysis, answer: Answer, page: Json, infeed: Infeed = "in") -> Json:
    gain = gain_of(analysis, answer.subject, page)
    return {**figures_of(page, ChartChoice(infeed=infeed)), "gain": gain}


def view_of_page(page: Json, infeed: Infeed) -> Json:
    """The same of page data that were made before; their figures are those with infeed."""
    view = part_of_page(page, Document.VIEW, (infeed,))
    return (
        view
        if infeed == "in"
        else {**view, "figures": drawn_again(page, ChartChoice(infeed=infeed))}
    )


def _document(
    document: Document,
    analysis: RooflineAnalysis,
    answer: Answer,
    identity: PageIdentity,
    infeeds: Sequence[str],
    own: OwnPeaks | None = None,
) -> Json:
    """The page data, or that part of it which `document` has; only that is computed."""
    listed = listed_ops(analysis)
    levels, units = shown_levels(analysis, listed), unit_labels(analysis)
    categories = categories_of(analysis, listed)
    place = places_of(analysis)
    rows = OpRows(
        analysis=analysis,
        measures=analysis.ops.cells,
        at=listed,
        levels=levels,
        subject=answer.subject,
        view=analysis.with_infeed,
        categories={name: k for k, name in enumerate(categories)},
    )
    views = {"in": analysis.with_infeed, "out": analysis.without_infeed}

    def shown_view(infeed: str) -> Json:
        lines = lines_of(analysis, answer) if own is None else what_if_lines(analysis, answer, own)
        return infeed_view(document, rows, views[infeed], lines)

    makers: dict[str, Callable[[], Any]] = {
        "schema": lambda: SCHEMA,
        "profile": lambda: {
            "id": identity.id,
            "created_at": identity.created_at,
            **page_frame.profile(analysis, identity.file_sizes),
        },
        "subject": lambda: subject_record(answer),
        "verdict": lambda: verdict_record(answer),
        "device": lambda: page_frame.device(analysis),
        "roofs": lambda: page_roofs.roofs(analysis),
        "levels": lambda: page_roofs.levels(analysis, levels),
        "units": lambda: page_roofs.units(analysis, units),
        "clocks": lambda: page_roofs.clocks(analysis, levels),
        "bounds": lambda: page_roofs.bounds(analysis),
        "words": page_words,
        "x_axes": lambda: page_roofs.x_axes(analysis, levels),
        "columns": lambda: page_menu(OP_COLUMNS, rows),
        "program_columns": lambda: page_menu(
            PROGRAM_COLUMNS, point_rows(analysis, analysis.with_infeed.program, levels)
        ),
        "categories": lambda: [
            {"name": name, **asdict(style)}
            for name, style in zip(categories, category_styles(categories), strict=True)
        ],
        "ops": lambda: page_ops(document, rows),
        "views": lambda: {infeed: shown_view(infeed) for infeed in infeeds},
        "hosts": lambda: page_frame.hosts(analysis),
        "dvfs": lambda: page_frame.dvfs(analysis),
        "serving": lambda: serving_data(analysis),
        "budget": lambda: budget_data(analysis, answer.subject),
        "groups": lambda: groups_data(analysis, answer.subject),
        "timeline": lambda: strip_data(analysis),
        "transfers": lambda: transfers(analysis, place),
        "diagnostics": lambda: [page_frame.diagnostic(one) for one in analysis.diagnostics],
    }
    values = {key: make() for key, make in makers.items() if is_in(document, key)}
    return {k: value for k, value in values.items() if value is not None or k not in _CHOICES}


_CHOICES = frozenset({"hosts", "dvfs"})
"""Keys that are there only where there is a choice."""


_MOST_NUMBERS = 12_000
"""Of all lanes: about 36 kB, a few after compression."""

ALL_CORES = "All cores"


def strip_data(analysis: RooflineAnalysis) -> dict[str, Any] | None:
    """The strip of the page data; `None` where the profile has no bins.

    Times are not rounded: they come back as the ends of a range.
    """
    timeline = analysis.profile.timeline
    bins = timeline.bins if timeline else None
    if timeline is None or bins is None:
        return None
    kinds = _kinds(bins)
    shares = {kind["id"]: share for kind, share in kinds}
    names = list(timeline.cores)
    lanes = [_lane(ALL_CORES, {id: share.mean(axis=0) for id, share in shares.items()})]
    if 1 < len(names) <= _MOST_NUMBERS // (len(bins) * max(len(kinds), 1)):
        lanes += [
            _lane(name, {id: share[core] for id, share in shares.items()})
            for core, name in enumerate(names)
        ]
    chosen = analysis.profile.time_range_ps
    return {
        "edges_us": [ps / PS_PER_US for ps in bins.edges_ps.tolist()],
        "steps": _steps(analysis, bins),
        "kinds": [kind for kind, _ in kinds],
        "lanes": lanes,
        "range": None if chosen is None else [ps / PS_PER_US for ps in chosen],
    }


def _kinds(bins: TimeBins) -> list[tuple[dict[str, str], F64]]:
    """Kinds of time that occur: id, label and colour, and the share of each bin per core."""
    times = bins.times
    found = [
        ("work", "work", "--tl-work", times.work_ps),
        *((f"exposed.{_id(k)}", _label(k), _token(k), v) for k, v in times.exposed_ps.items()),
        ("host", "copies to and from the host", "--roof-host", times.host_ps),
        ("infeed_outfeed", "infeed and outfeed", "--wait-infeed", times.infeed_outfeed_ps),
    ]
    width = np.maximum(np.diff(bins.edges_ps), 1)
    return [
        ({"id": id, "label": label, "token": token}, time / width)
        for id, label, token, time in found
        if time.any()
    ]


def _id(link: MemoryLevel | None) -> str:
    return "unknown" if link is None else link.value


def _label(link: MemoryLevel | None) -> str:
    return f"exposed {'communication' if link is None else link.label}"


def _token(link: MemoryLevel | None) -> str:
    return "--warn" if link is None else LEVEL_STYLES[link].token


def _lane(name: str, shares: dict[str, F64]) -> dict[str, Any]:
    """Percentages; a kind that is there is one at least, so that no wait is lost."""
    parts = {}
    for kind, share in shares.items():
        percent = np.rint(np.clip(share, 0, 1) * 100).astype(np.int64)
        parts[kind] = np.where(share > 0, np.maximum(percent, 1), 0).tolist()
    return {"name": name, "parts": parts}


def _steps(analysis: RooflineAnalysis, bins: TimeBins) -> list[dict[str, Any]]:
    """Begin and end of each step. Their labels are those of the profile where it has as many."""
    labels = analysis.profile.step_labels
    edges = zip(bins.step_begin_ps.tolist(), bins.step_end_ps.tolist(), strict=True)
    return [
        {
            "label": labels[place] if len(labels) == len(bins.step_begin_ps) else str(place),
            "begin_us": begin / PS_PER_US,
            "end_us": end / PS_PER_US,
        }
        for place, (begin, end) in enumerate(edges)
    ]
