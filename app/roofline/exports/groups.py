"""Groups of ops for people's own tools: JSON as a tree, CSV with a row per group, text."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from typing import Any

from roofline.analysis.records import RooflineAnalysis, View
from roofline.exports.csv_files import csv_bytes
from roofline.model.units import GIGA
from roofline.presentation.grouping_choice import Grouping
from roofline.presentation.groups import SLOWER, Group, group_ops
from roofline.presentation.quantities import DASH, duration, flop_rate, percent, size
from roofline.presentation.sentences import Number, plain_text, say
from roofline.presentation.text_table import cut, plain, spaced, table

ROWS_SHOWN = 60
_NAME_WIDTH = 46
_NOT_KNOWN = "(not known)"
_DEEPER_NOT_KNOWN = "(here)"
_ALL = 1 - 1e-9
_OWN = ("name", "path", "ops", "children")
_NUMBERS = tuple(one.name for one in fields(Group) if one.name not in _OWN)

Record = dict[str, Any]


def groups_record(analysis: RooflineAnalysis, view: View, grouping: Grouping) -> Record:
    """`by`, `depth` and the tree; ops of a group without deeper groups are listed by name."""
    return {
        "by": grouping.by,
        "depth": grouping.depth,
        "tree": [_record(one, analysis) for one in group_ops(analysis, view, grouping)],
    }


def groups_to_csv(analysis: RooflineAnalysis, view: View, grouping: Grouping) -> bytes:
    """A row per group, outermost first, each before the groups in it; RFC 4180, UTF-8."""
    rows = (
        [
            *("/".join(one.path), len(one.path), len(one.ops)),
            *(getattr(one, name) for name in _NUMBERS),
            one.is_slower,
        ]
        for one in _walk(group_ops(analysis, view, grouping))
    )
    return csv_bytes(["group", "level", "op_count", *_NUMBERS, "is_slower"], rows)


def groups_text(analysis: RooflineAnalysis, view: View, grouping: Grouping) -> str:
    """The tree as a table for terminals, and which groups are slower than their sisters."""
    groups = list(_walk(group_ops(analysis, view, grouping)))
    heads = ("Group", "ops", "self/core", "share", "of roof", "saves", "FLOPs", "bytes")
    rows = [_cells(one) for one in groups[:ROWS_SHOWN]]
    left = len(groups) - ROWS_SHOWN
    lines = [f"By {grouping}", table(heads, rows, left={0})]
    lines += [f"{left:,} more groups"] if left > 0 else []
    return "\n".join([*lines, *_slower(groups)])


def _record(one: Group, analysis: RooflineAnalysis) -> Record:
    names = analysis.ops.name
    deeper = [_record(child, analysis) for child in one.children]
    return {
        "name": one.name or None,
        "op_count": len(one.ops),
        **{name: getattr(one, name) for name in _NUMBERS},
        "is_slower": one.is_slower,
        **({"groups": deeper} if deeper else {"ops": [names[op] for op in one.ops]}),
    }


def _walk(groups: Sequence[Group]) -> Iterator[Group]:
    for one in groups:
        yield one
        yield from _walk(one.children)


def _cells(one: Group) -> tuple[str, ...]:
    level = len(one.path) - 1
    name = one.name or (_DEEPER_NOT_KNOWN if level else _NOT_KNOWN)
    return (
        "  " * level + cut(name, max(12, _NAME_WIDTH - 2 * level)) + (" !" * one.is_slower),
        str(len(one.ops)),
        spaced(duration(one.self_time_per_core_us)),
        _share(one.share_ratio),
        _share(one.roofline_efficiency_ratio),
        spaced(duration(one.saving_per_core_us)),
        _work(one.flop, one.flop_known_ratio, _flops),
        _work(one.bytes, one.bytes_known_ratio, size),
    )


def _work(value: float | None, known: float, write: Callable[[float | None], str]) -> str:
    """A sum of which a part is not known is a lower bound; "at least nothing" says nothing."""
    if known > _ALL:
        return spaced(write(value))
    return f"≥ {spaced(write(value))}" if value else DASH


def _flops(flop: float | None) -> str:
    return DASH if flop is None else flop_rate(flop / GIGA).removesuffix("/s")


def _share(ratio: float | None) -> str:
    return spaced(percent(ratio))


def _slower(groups: Sequence[Group]) -> Iterator[str]:
    """The reason for each `!`."""
    for one in groups:
        if one.slower_ratio is None or one.slower_ratio <= SLOWER:
            continue
        said = say(
            "op_group_slower",
            name=plain("/".join(one.path)),
            sisters=Number(one.sisters - 1, "count"),
            ratio=Number(one.slower_ratio, "number"),
        )
        yield f"! {spaced(plain_text(said))}."
