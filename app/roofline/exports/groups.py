"""Groups of a subject's time for people's own tools: JSON as a tree, CSV with a row each, text."""

from collections.abc import Iterator, Sequence
from typing import Any

from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.subjects.records import Subject
from roofline.exports.csv_files import csv_bytes
from roofline.model.plain_data import taken
from roofline.presentation.goal import length, wait_words
from roofline.presentation.goal_numbers import Scale
from roofline.presentation.grouping_choice import LABELS, Grouping
from roofline.presentation.groups import (
    Group,
    Groups,
    gain_text,
    groups_of,
    is_complete,
    listed,
    name_of,
    roof_text,
)
from roofline.presentation.layers import Layers, layers_of, line_of
from roofline.presentation.quantities import DASH
from roofline.presentation.sentences import plain_text
from roofline.presentation.text_table import cut, plain, spaced, table

ROWS_SHOWN = 60
_NAME_WIDTH = 46
_NUMBERS = (
    *("time_us", "needed_us", "to_gain_us", "wasted_us", "unknown_us", "impossible_us"),
    *("gain_us", "roof_ratio", "known_ratio"),
)

Record = dict[str, Any]


def groups_record(analysis: RooflineAnalysis, subject: Subject, grouping: Grouping) -> Record:
    """`by`, `depth`, the tree, and instances of modules; times in us per unit and core.

    The outermost groups, `waits_us` and `unnamed_us` add up to `time_us`.
    """
    found = groups_of(analysis, subject, grouping)
    return {
        "by": grouping.by,
        "depth": grouping.depth,
        "time_us": found.time_us,
        "tree": [_record(one, analysis) for one in found.rows],
        "waits_us": dict(found.waits),
        "unnamed_us": found.unnamed_us,
        "layers": [_layers_record(one) for one in layers_of(analysis, subject)],
    }


def groups_to_csv(analysis: RooflineAnalysis, subject: Subject, grouping: Grouping) -> bytes:
    """A row per group, outermost first, each before the groups in it; then waits. RFC 4180, UTF-8.

    Rows of level 1 and waits add up to the subject's time.
    """
    found = groups_of(analysis, subject, grouping)
    rows = [
        ["/".join(one.path), len(one.path), len(one.ops), *(getattr(one, k) for k in _NUMBERS)]
        for one in _walk(found.rows)
    ]
    others = {
        **{wait_words(subject, kind): us for kind, us in found.waits.items()},
        "(no name)": found.unnamed_us,
    }
    blank = [None] * (len(_NUMBERS) - 1)
    rows += [[name, 1, 0, us, *blank] for name, us in others.items() if us > 0]
    return csv_bytes(["group", "level", "op_count", *_NUMBERS], rows)


def groups_text(analysis: RooflineAnalysis, subject: Subject, grouping: Grouping) -> str:
    """The tree as a table for terminals, which adds up to the time, and the lines of layers."""
    found = groups_of(analysis, subject, grouping)
    longest_us = max((one.time_us for one in listed(found)), default=subject.time_us)
    scale = Scale.of(subject.time_us).finer(longest_us)
    groups = list(_walk(found.rows))
    heads = ("Group", "ops", scale.unit, "of roof", "to gain")
    rows = [_cells(one, scale, grouping.by) for one in groups[:ROWS_SHOWN]]
    rows += [(name, "", scale.number(us), "", "") for name, us in _others(found, subject)]
    left = len(groups) - ROWS_SHOWN
    title = f"By {LABELS[grouping.by]}, of {plain_text(length(subject))}"
    lines = [spaced(title), table(heads, rows, left={0})]
    lines += [f"{left:,} more groups"] if left > 0 else []
    if any(one.roof_ratio is not None and not is_complete(one) for one in groups):
        lines.append("* of the part whose cost is known")
    for one in layers_of(analysis, subject):
        lines.append(plain(spaced(plain_text(line_of(one)))))
        lines += [_instances_text(one)] if grouping.by == "layer" else []
    return "\n".join(lines)


def _instances_text(layers: Layers) -> str:
    """Each instance, and all other work."""
    scale = Scale.of(max(one.time_us for one in layers.instances))
    rows = [
        (
            cut(one.name, _NAME_WIDTH),
            scale.number(one.time_us),
            DASH if one.ratio is None else f"{one.ratio:.2f}",
        )
        for one in layers.instances
    ]
    rows.append(("all other work", scale.number(layers.rest_us), ""))
    return table(("Layer", scale.unit, "of median"), rows, left={0})


def _record(one: Group, analysis: RooflineAnalysis) -> Record:
    names = analysis.ops.name
    deeper = [_record(child, analysis) for child in one.children]
    return {
        "name": one.path[-1] or None,
        "op_count": len(one.ops),
        **taken(one, *_NUMBERS),
        **({"groups": deeper} if deeper else {"ops": [names[op] for op in one.ops]}),
    }


def _layers_record(one: Layers) -> Record:
    return {
        "name": one.name,
        "direction": one.direction or None,
        "slowest": None if one.slowest is None else one.slowest.name,
        "instances": [
            {"name": of.name, "time_us": of.time_us, "median_ratio": of.ratio}
            for of in one.instances
        ],
        "time_ratio": one.time_ratio,
        "rest_us": one.rest_us,
    }


def _walk(groups: Sequence[Group]) -> Iterator[Group]:
    for one in groups:
        yield one
        yield from _walk(one.children)


def _others(found: Groups, subject: Subject) -> Iterator[tuple[str, float]]:
    waits = [(wait_words(subject, kind), us) for kind, us in found.waits.items()]
    yield from ((name, us) for name, us in [("(no name)", found.unnamed_us), *waits] if us > 0)


def _cells(one: Group, scale: Scale, by: str) -> tuple[str, ...]:
    level = len(one.path) - 1
    return (
        "  " * level + cut(name_of(one.path, by), max(12, _NAME_WIDTH - 2 * level)),
        str(len(one.ops)),
        scale.number(one.time_us),
        spaced(roof_text(one)),
        gain_text(one, scale),
    )
