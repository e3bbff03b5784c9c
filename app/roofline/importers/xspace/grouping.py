"""Steps: host launches, step markers and kernels to a group id per step.

Group ids come from host events that are roots (step annotations), through nesting and launch links,
to the step markers of each TPU plane, or to the kernels of each GPU and the ops of each thread.
Without such roots the markers are numbered in order; kernels stay without a step.
Facts: XProf 2.24.2, measured; described beside each rule.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from roofline.importers.shared.op_tables import OpRows
from roofline.importers.xspace.event_scan import Events
from roofline.importers.xspace.launch_forest import (
    LAUNCH_STATS,
    LINK_STATS,
    Forest,
    add_grouping_line,
    add_host_plane,
    credit_plane,
    may_have_roots,
    spread_roots,
)
from roofline.importers.xspace.messages import Line
from roofline.importers.xspace.oddities import Oddities
from roofline.importers.xspace.planes import MODULE_LINES, STEPS_LINES, Plane, Space
from roofline.model.categories import is_container, is_infeed_outfeed
from roofline.model.op_columns import I64, U64, Bools
from roofline.model.profile import StepTable

GROUP_ID = "group_id"
DEVICE_CLOCK = ("device_offset_ps", "device_duration_ps")
FIRST_WINS = frozenset(DEVICE_CLOCK)

# A host event of these names starts a loop of a framework that has its own idea of steps.
_LOOP_EVENTS = frozenset(
    {"WhileOp-EvalCond", "WhileOp-StartBody", "ForOp", "ParallelForOp", "ForeverOp"}
)


class Markers(NamedTuple):
    """Step markers of one device plane, one entry per step in line order.

    `begin_ps`/`end_ps` are on the host's clock and place other events in steps; `span_begin_ps` and
    `span_end_ps` are the marker's own span, on the device's clock where the file has one. `group`
    is -1 for a marker without step.
    """

    group: I64
    begin_ps: U64
    end_ps: U64
    span_begin_ps: U64
    span_end_ps: U64


class Grouping(NamedTuple):
    """Step markers by plane index. `from_file`: the capture came grouped, nothing was derived."""

    markers: Mapping[int, Markers]
    from_file: bool


class StepRoots(NamedTuple):
    """The host events that start a group each, by group id. `number` is the annotation's own count,
    -1 where it has none."""

    begin_ps: U64
    end_ps: U64
    number: I64


class EventGroups(NamedTuple):
    """Group id per event (-1: none) of each requested (plane, line), by their indices.

    `from_file`: the capture came grouped, nothing was derived.
    """

    by_line: Mapping[tuple[int, int], I64]
    roots: StepRoots
    from_file: bool


def device_span(events: Events) -> tuple[U64, U64]:
    """Begin and end per event, on the device's clock where both its stats are there."""
    if not (both := _has_device_clock(events)).any():
        return events.begin_ps, events.end_ps
    offset, duration = (events.stats[name].int_or_uint() for name in DEVICE_CLOCK)
    begin = np.where(both, offset, events.begin_ps)
    return begin, begin + np.where(both, duration, events.duration_ps)


def _has_device_clock(events: Events) -> Bools:
    columns = [events.stats[name].present for name in DEVICE_CLOCK if name in events.stats]
    return np.logical_and(*columns) if len(columns) == 2 else np.zeros(len(events), np.bool_)


def group_steps(space: Space, oddities: Oddities) -> Grouping:
    """Step markers of every TPU plane with their group ids."""
    if _came_grouped(space):
        return Grouping(markers=_file_markers(space, oddities), from_file=True)
    if any(_LOOP_EVENTS.intersection(plane.event_names) for plane in space.planes):
        return Grouping(markers={}, from_file=False)
    lines = {
        k: line
        for k, plane in enumerate(space.planes)
        if plane.is_tpu and (line := _grouping_line(plane)) is not None
    }
    scanned = {k: _scan_grouping(space.planes[k], line) for k, line in lines.items()}
    groups, n_roots = _groups_from_host(space, lines, scanned)
    used = max((int(g.max(initial=-1)) for g in groups.values()), default=-1) + 1
    _number_without_host(space, groups, n_roots if oddities.counts_roots_without_launch else used)
    markers = {
        k: _merge_markers(scanned[k], _read_group(scanned[k], groups[k]))
        for k, line in lines.items()
        if line.name in STEPS_LINES
    }
    return Grouping(markers=markers, from_file=False)


def group_events(space: Space, planes: Collection[int]) -> EventGroups:
    """Groups of all events of some planes that are not a TPU's: kernels by their launches, nested
    events by their parents. An id in the file is kept."""
    if _came_grouped(space):
        read = {at: _file_group(space, at) for at in _lines_of(space, planes)}
        return EventGroups(by_line=read, roots=_NO_ROOTS, from_file=True)
    loops = any(_LOOP_EVENTS.intersection(plane.event_names) for plane in space.planes)
    hosts = [plane for plane in space.planes if not plane.is_tpu]
    if loops or not any(may_have_roots(plane) for plane in hosts):
        none = {at: _file_group(space, at) for at in _lines_of(space, planes)}
        return EventGroups(by_line=none, roots=_NO_ROOTS, from_file=False)
    forest = Forest()
    for plane in hosts:
        add_host_plane(forest, plane)
    forest.link_launches()
    groups, roots = spread_roots(forest)
    by_line = {}
    for at in _lines_of(space, planes):
        plane = space.planes[at[0]]
        first = forest.first_node[id(plane), at[1]]
        own = groups[first : first + plane.lines[at[1]].event_count]
        by_line[at] = _file_group(space, at, own)
    return EventGroups(by_line=by_line, roots=_roots(forest, roots), from_file=False)


def _lines_of(space: Space, planes: Collection[int]) -> Iterator[tuple[int, int]]:
    for k in sorted(planes):
        for j, line in enumerate(space.planes[k].lines):
            if line.event_count:
                yield k, j


def _file_group(space: Space, at: tuple[int, int], derived: I64 | None = None) -> I64:
    plane = space.planes[at[0]]
    line = plane.lines[at[1]]
    own = np.broadcast_to(np.int64(-1), line.event_count) if derived is None else derived
    if not plane.has_stat(GROUP_ID):
        return own
    return _read_group(plane.scan(line, (GROUP_ID,)), own)


def _roots(forest: Forest, nodes: Sequence[int]) -> StepRoots:
    at = np.array(nodes, np.int64)
    return StepRoots(
        begin_ps=np.concatenate(forest.begin)[at],
        end_ps=np.concatenate(forest.end)[at],
        number=np.array([forest.step_number.get(node, -1) for node in nodes], np.int64),
    )


_NO_ROOTS = StepRoots(
    begin_ps=np.zeros(0, np.uint64), end_ps=np.zeros(0, np.uint64), number=np.zeros(0, np.int64)
)


def _came_grouped(space: Space) -> bool:
    """XProf leaves a capture alone when all its host and device planes know the stat group_id."""
    return all(
        plane.has_stat(GROUP_ID) for plane in space.planes if plane.is_host or plane.is_device
    )


def last_line(plane: Plane, names: Sequence[str]) -> Line | None:
    """The last line of one of these names, if it has events."""
    named = [line for line in plane.lines if line.name in names]
    return named[-1] if named and named[-1].event_count else None


def _grouping_line(plane: Plane) -> Line | None:
    return last_line(plane, STEPS_LINES) or last_line(plane, MODULE_LINES)


def _scan_grouping(plane: Plane, line: Line) -> Events:
    stats = (*DEVICE_CLOCK, GROUP_ID, *LINK_STATS, *LAUNCH_STATS)
    return plane.scan(line, stats, first_wins=FIRST_WINS)


def _file_markers(space: Space, oddities: Oddities) -> Mapping[int, Markers]:
    markers: dict[int, Markers] = {}
    for k, plane in enumerate(space.planes):
        line = last_line(plane, STEPS_LINES) if plane.is_tpu else None
        if line is None:
            continue
        events = plane.scan(line, (*DEVICE_CLOCK, GROUP_ID), first_wins=FIRST_WINS)
        column = events.stats.get(GROUP_ID)
        if column is None:
            continue
        signed = oddities.reads_signed_group_ids
        ids = column.int_only() if signed else column.int_or_uint().view(np.int64)
        markers[k] = _markers(events, np.where(column.present, ids, -1), column.present)
    return markers


def _markers(events: Events, group: I64, keep: Bools) -> Markers:
    span_begin, span_end = device_span(events)
    return Markers(
        group=group[keep],
        begin_ps=events.begin_ps[keep],
        end_ps=events.end_ps[keep],
        span_begin_ps=span_begin[keep],
        span_end_ps=span_end[keep],
    )


def _read_group(events: Events, derived: I64) -> I64:
    """The id in the file where there is one, else the derived id."""
    column = events.stats.get(GROUP_ID)
    if column is None:
        return derived
    return np.where(column.present, column.int_only(), derived)


def _merge_markers(events: Events, group: I64) -> Markers:
    """Consecutive markers of one step become one; markers without step go, unless all would."""
    keep = group >= 0
    if not keep.any():
        return _markers(events, group, np.ones(len(events), np.bool_))
    in_step = np.flatnonzero(keep)
    ids = group[in_step]
    first = np.flatnonzero(np.concatenate(([True], ids[1:] != ids[:-1])))
    last = np.append(first[1:], len(in_step)) - 1
    begin, end = events.begin_ps[in_step], events.end_ps[in_step]
    span_begin, span_end = device_span(events)
    on_device = _has_device_clock(events)[in_step][first]
    hull_begin = np.minimum.reduceat(span_begin[in_step], first)
    hull_end = np.maximum.reduceat(span_end[in_step], first)
    return Markers(
        group=ids[first],
        begin_ps=begin[first],
        end_ps=end[last],
        span_begin_ps=np.where(on_device, hull_begin, begin[first]),
        span_end_ps=np.where(on_device, hull_end, end[last]),
    )


def _number_without_host(space: Space, groups: Mapping[int, I64], start: int) -> None:
    """Without any group on a TensorCore, all TensorCores number their markers in lock step."""
    cores = [k for k in groups if space.planes[k].is_tensor_core]
    if any((groups[k] >= 0).any() for k in cores):
        return
    for k in cores:
        groups[k][:] = np.arange(start, start + len(groups[k]))


def _groups_from_host(
    space: Space, lines: Mapping[int, Line], scanned: Mapping[int, Events]
) -> tuple[dict[int, I64], int]:
    """Group id per grouping event, by plane, -1 where no host root leads to it; and how many groups
    the host's roots started, linked to a device or not."""
    none = {k: np.full(len(events), -1, np.int64) for k, events in scanned.items()}
    if not any(may_have_roots(plane) for plane in space.planes if not plane.is_tpu):
        return none, 0
    forest = Forest()
    for plane in space.planes:
        if not plane.is_tpu:
            add_host_plane(forest, plane)
    first_node = {k: add_grouping_line(forest, events) for k, events in scanned.items()}
    for k, line in lines.items():
        credit_plane(forest, space.planes[k], line, scanned[k], first_node[k])
    groups, roots = spread_roots(forest)
    by_plane = {k: groups[first_node[k] : first_node[k] + len(none[k])].copy() for k in none}
    return by_plane, len(roots)


def step_labels(groups: I64, roots: StepRoots) -> tuple[str, ...]:
    """Names of steps: the annotations' own numbers if all have different ones, else group ids."""
    numbers = [int(roots.number[g]) if g < len(roots.number) else -1 for g in groups.tolist()]
    if min(numbers, default=-1) >= 0 and len(set(numbers)) == len(numbers):
        return tuple(map(str, numbers))
    return tuple(map(str, groups.tolist()))


def add_step_work(table: StepTable, scope: I64, rows: OpRows, categories: Sequence[str]) -> None:
    """Add rows to the steps they belong to (`scope`: index of each row's step), in place.

    `categories` are those of the labels that the rows refer to.
    """
    kind = work_classes(categories)[rows.label]
    counts = kind >= 0
    table.sums.add_at((scope[counts], kind[counts]), rows.select(counts))


def work_classes(categories: Sequence[str]) -> I64:
    """Second index of a step's sums, per op: 0 work, 1 infeed and outfeed, -1 containers."""
    return np.array(
        [-1 if is_container(of) else int(is_infeed_outfeed(of)) for of in categories], np.int64
    )
