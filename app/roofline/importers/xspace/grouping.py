"""Steps: host launches, step markers and kernels to a group id per step.

Group ids come from host events that are roots (step annotations), through nesting and launch links,
to the step markers of each TPU plane, or to the kernels of each GPU and the ops of each thread.
Without such roots the markers are numbered in order; kernels stay without a step.
Facts: XProf 2.24.2, measured; described beside each rule.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from roofline.importers.xspace import spans
from roofline.importers.xspace.oddities import Oddities
from roofline.importers.xspace.planes import MODULE_LINES, STEPS_LINES, Plane, Space
from roofline.importers.xspace.wire import INT64, UINT64, Events, Line, StatColumn

I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]
Bools = NDArray[np.bool_]

GROUP_ID = "group_id"
DEVICE_CLOCK = ("device_offset_ps", "device_duration_ps")
FIRST_WINS = frozenset(DEVICE_CLOCK)

# A host event of these names starts a loop of a framework that has its own idea of steps.
_LOOP_EVENTS = frozenset(
    {"WhileOp-EvalCond", "WhileOp-StartBody", "ForOp", "ParallelForOp", "ForeverOp"}
)
_ROOT_EVENT = "TraceContext"
_ENQUEUE, _CALLBACKS = "DoEnqueueProgram", "CompleteCallbacks"
_LAUNCH_STATS = ("device_ordinal", "queue_id", "run_id", "core_type")
_LINK_STATS = ("_pt", "_p", "_ct", "_c", "_pid")
CORRELATION = "correlation_id"
_STEP_NUMBER = "step_num"
# Host run ids are wider than what the device repeats: only these bits are compared.
_RUN_ID_MASK = 2**27 - 1
# A link with this many producers and as many consumers is not a launch but a shared constant.
_MAX_BOTH_SIDES = 64

LinkKey = tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Markers:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """Step markers by plane index. `from_file`: the capture came grouped, nothing was derived."""

    markers: Mapping[int, Markers]
    from_file: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRoots:
    """The host events that start a group each, by group id. `number` is the annotation's own count,
    -1 where it has none."""

    begin_ps: U64
    end_ps: U64
    number: I64


@dataclass(frozen=True, slots=True, kw_only=True)
class EventGroups:
    """Group id per event (-1: none) of each requested (plane, line), by their indices.

    `from_file`: the capture came grouped, nothing was derived.
    """

    by_line: Mapping[tuple[int, int], I64]
    roots: StepRoots
    from_file: bool


def device_span(events: Events) -> tuple[U64, U64]:
    """Begin and end per event, on the device's clock where both its stats are there."""
    offset, duration = (events.stats.get(name) for name in DEVICE_CLOCK)
    if offset is None or duration is None:
        return events.begin_ps, events.end_ps
    both = offset.present & duration.present
    begin = np.where(both, offset.int_or_uint(), events.begin_ps)
    return begin, begin + np.where(both, duration.int_or_uint(), events.duration_ps)


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
    if loops or not any(_may_have_roots(plane) for plane in hosts):
        none = {at: _file_group(space, at) for at in _lines_of(space, planes)}
        return EventGroups(by_line=none, roots=_NO_ROOTS, from_file=False)
    forest = _Forest()
    for plane in hosts:
        _add_host_plane(forest, plane)
    forest.link_launches()
    groups, roots = _spread_roots(forest)
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
    own = np.full(line.event_count, -1, np.int64) if derived is None else derived
    if not plane.has_stat(GROUP_ID):
        return own
    return _read_group(plane.scan(line, (GROUP_ID,)), own)


def _roots(forest: "_Forest", nodes: Sequence[int]) -> StepRoots:
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
    found = [line for line in plane.lines if line.name in names]
    return found[-1] if found and found[-1].event_count else None


def _grouping_line(plane: Plane) -> Line | None:
    return last_line(plane, STEPS_LINES) or last_line(plane, MODULE_LINES)


def _scan_grouping(plane: Plane, line: Line) -> Events:
    stats = (*DEVICE_CLOCK, GROUP_ID, *_LINK_STATS, *_LAUNCH_STATS)
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
    kept = np.flatnonzero(keep)
    ids = group[kept]
    first = np.flatnonzero(np.concatenate(([True], ids[1:] != ids[:-1])))
    last = np.append(first[1:], len(kept)) - 1
    begin, end = events.begin_ps[kept], events.end_ps[kept]
    span_begin, span_end = device_span(events)
    on_device = _has_device_clock(events)[kept][first]
    hull_begin = np.minimum.reduceat(span_begin[kept], first)
    hull_end = np.maximum.reduceat(span_end[kept], first)
    return Markers(
        group=ids[first],
        begin_ps=begin[first],
        end_ps=end[last],
        span_begin_ps=np.where(on_device, hull_begin, begin[first]),
        span_end_ps=np.where(on_device, hull_end, end[last]),
    )


def _has_device_clock(events: Events) -> Bools:
    columns = [events.stats.get(name) for name in DEVICE_CLOCK]
    if any(column is None for column in columns):
        return np.zeros(len(events), np.bool_)
    present = [column.present for column in columns if column is not None]
    return np.logical_and(*present)


def _number_without_host(space: Space, groups: Mapping[int, I64], start: int) -> None:
    """Without any group on a TensorCore, all TensorCores number their markers in lock step."""
    cores = [k for k in groups if space.planes[k].is_tensor_core]
    if any((groups[k] >= 0).any() for k in cores):
        return
    for k in cores:
        groups[k][:] = np.arange(start, start + len(groups[k]))


# --------------------------------------------------------------------------- host roots and links


class _Forest:
    """Nodes of all host lines and of the grouping lines, their nesting and their launch links."""

    def __init__(self) -> None:
        self.begin: list[U64] = []
        self.end: list[U64] = []
        self.parent: list[I64] = []
        self.root_level: list[I64] = []
        self.size = 0
        self.producers: dict[LinkKey, list[int]] = {}
        self.consumers: dict[LinkKey, list[int]] = {}
        self.first_node: dict[tuple[int, int], int] = {}
        self.step_number: dict[int, int] = {}
        self._launches: tuple[list[U64], list[I64]] = ([], [])
        self._kernels: tuple[list[U64], list[I64]] = ([], [])
        self._linked: tuple[list[I64], list[I64]] = ([], [])

    def add_correlated(self, ids: U64, nodes: I64, *, on_device: bool) -> None:
        """Launches on the host and kernels on a GPU that share an id."""
        table = self._kernels if on_device else self._launches
        table[0].append(ids)
        table[1].append(nodes)

    def link_launches(self) -> None:
        """Make each launch the parent of the kernels with its id; of equal ids the last counts."""
        if not self._launches[0] or not self._kernels[0]:
            return
        ids, nodes = (np.concatenate(column) for column in self._launches)
        wanted, kernels = (np.concatenate(column) for column in self._kernels)
        order = np.argsort(ids, kind="stable")
        at = np.searchsorted(ids[order], wanted, side="right") - 1
        found = (at >= 0) & (ids[order][np.maximum(at, 0)] == wanted)
        self._linked[0].append(nodes[order][at[found]])
        self._linked[1].append(kernels[found])

    def add(self, begin: U64, end: U64, parent: I64, root_level: I64) -> int:
        """Append nodes with parents relative to the first; returns the first node's number."""
        first = self.size
        self.begin.append(begin)
        self.end.append(end)
        self.parent.append(np.where(parent >= 0, parent + first, -1))
        self.root_level.append(root_level)
        self.size += len(begin)
        return first

    def edges(self) -> tuple[I64, I64]:
        """All (parent, child) pairs: nesting and links."""
        parent = np.concatenate(self.parent)
        nested = np.flatnonzero(parent >= 0)
        above, below = [parent[nested], *self._linked[0]], [nested, *self._linked[1]]
        for key, makers in self.producers.items():
            users = self.consumers.get(key, [])
            if len(makers) >= _MAX_BOTH_SIDES and len(users) >= _MAX_BOTH_SIDES:
                continue
            above.append(np.repeat(np.array(makers, np.int64), len(users)))
            below.append(np.tile(np.array(users, np.int64), len(makers)))
        return np.concatenate(above), np.concatenate(below)


def _groups_from_host(
    space: Space, lines: Mapping[int, Line], scanned: Mapping[int, Events]
) -> tuple[dict[int, I64], int]:
    """Group id per grouping event, by plane, -1 where no host root leads to it; and how many groups
    the host's roots started, linked to a device or not."""
    none = {k: np.full(len(events), -1, np.int64) for k, events in scanned.items()}
    if not any(_may_have_roots(plane) for plane in space.planes if not plane.is_tpu):
        return none, 0
    forest = _Forest()
    for plane in space.planes:
        if not plane.is_tpu:
            _add_host_plane(forest, plane)
    first_node = {k: _add_grouping_line(forest, events) for k, events in scanned.items()}
    for k, line in lines.items():
        _credit_plane(forest, space.planes[k], line, scanned[k], first_node[k])
    groups, roots = _spread_roots(forest)
    found = {k: groups[first_node[k] : first_node[k] + len(none[k])].copy() for k in none}
    return found, len(roots)


def _may_have_roots(plane: Plane) -> bool:
    return plane.has_stat("_r") or _ROOT_EVENT in plane.event_names


def _add_grouping_line(forest: _Forest, events: Events) -> int:
    no_parent = np.full(len(events), -1, np.int64)
    return forest.add(events.begin_ps, events.end_ps, no_parent, np.zeros(len(events), np.int64))


def _add_host_plane(forest: _Forest, plane: Plane) -> None:
    names = np.array([*plane.event_names, ""], dtype=object)
    stats = ("_r", "_a", CORRELATION, _STEP_NUMBER, *_LINK_STATS, *_LAUNCH_STATS)
    for number, line in enumerate(plane.lines):
        if not line.event_count:
            continue
        events = plane.scan(line, stats)
        apart = _column(events, "_a").int_or_uint() == 1
        parent = spans.parents(events.begin_ps, events.end_ps, apart)
        level = _column(events, "_r").int_or_uint().view(np.int64)
        level = np.where((level == 0) & (names[events.meta] == _ROOT_EVENT), 1, level)
        first = forest.add(events.begin_ps, events.end_ps, parent, level)
        forest.first_node[id(plane), number] = first
        _add_links(forest, plane, events, first + np.arange(len(events)))
        _add_launches(forest, events, names, first)
        _add_correlated(forest, plane, events, first)
        _add_step_numbers(forest, events, level, first)


def _add_correlated(forest: _Forest, plane: Plane, events: Events, first: int) -> None:
    column = events.stats.get(CORRELATION)
    if column is None or not (plane.is_gpu or plane.is_host):
        return
    rows = np.flatnonzero(column.present)
    forest.add_correlated(column.int_or_uint()[rows], first + rows, on_device=plane.is_gpu)


def _add_step_numbers(forest: _Forest, events: Events, level: I64, first: int) -> None:
    column = events.stats.get(_STEP_NUMBER)
    if column is None:
        return
    numbers = column.int_or_uint().view(np.int64)
    for row in np.flatnonzero((level != 0) & column.present).tolist():
        forest.step_number[first + row] = int(numbers[row])


def _column(events: Events, name: str) -> StatColumn:
    column = events.stats.get(name)
    if column is not None:
        return column
    count = len(events)
    return StatColumn(words=np.zeros(count, np.uint64), kinds=np.zeros(count, np.uint8))


def _add_links(forest: _Forest, plane: Plane, events: Events, node: I64) -> None:
    """Producers and consumers that the capture names itself (`_pt`/`_p`, `_ct`/`_c`)."""
    process = plane.stats.int_or_uint("process_id")
    sides = ((forest.producers, "_pt", "_p"), (forest.consumers, "_ct", "_c"))
    for table, type_name, id_name in sides:
        kind, number = events.stats.get(type_name), events.stats.get(id_name)
        if kind is None or number is None:
            continue
        rows = np.flatnonzero(kind.present & number.present & (node >= 0))
        pids = _column(events, "_pid")
        own = np.where(pids.present, pids.int_or_uint(), np.uint64(process))
        keys = zip(
            kind.words[rows].tolist(), number.words[rows].tolist(), own[rows].tolist(), strict=True
        )
        for key, at in zip(keys, node[rows].tolist(), strict=True):
            table.setdefault(key, []).append(at)


def _launch_keys(events: Events, rows: I64, ordinal: int | None) -> Iterator[tuple[int, LinkKey]]:
    """(row, key) of launches: device ordinal, queue, run and core type, where the stats exist."""
    columns = {name: _column(events, name) for name in _LAUNCH_STATS}
    for row in rows.tolist():
        known = {
            name: int(column.words[row])
            for name, column in columns.items()
            if column.kinds[row] in (INT64, UINT64)
        }
        device = ordinal if ordinal is not None else known.get("device_ordinal")
        if device is None or "queue_id" not in known or "run_id" not in known:
            continue
        run = known["run_id"] if ordinal is not None else known["run_id"] & _RUN_ID_MASK
        yield row, ("launch", device, known["queue_id"], run, known.get("core_type", 0))


def _add_launches(forest: _Forest, events: Events, names: NDArray[np.object_], first: int) -> None:
    for table, name in ((forest.producers, _ENQUEUE), (forest.consumers, _CALLBACKS)):
        rows = np.flatnonzero(names[events.meta] == name)
        for row, key in _launch_keys(events, rows, None):
            table.setdefault(key, []).append(first + row)


def _credit_plane(
    forest: _Forest, plane: Plane, grouping: Line, markers: Events, first: int
) -> None:
    """Links of a device plane's events count for the grouping event that contains them."""
    own = first + np.arange(len(markers))
    _credit_events(forest, plane, grouping, markers, own)
    if not plane.is_tensor_core and not any(plane.has_stat(name) for name in _LINK_STATS):
        return
    for line in plane.lines:
        is_modules = line.name in MODULE_LINES
        if (
            line is grouping
            or not line.event_count
            or not (is_modules or any(plane.has_stat(n) for n in _LINK_STATS))
        ):
            continue
        events = plane.scan(line, (*_LINK_STATS, *_LAUNCH_STATS))
        steps = spans.StepFollower(markers.begin_ps, markers.end_ps, containing=True)
        found = steps.find(events.begin_ps, events.end_ps)
        _credit_events(forest, plane, line, events, np.where(found >= 0, found + first, -1))


def _credit_events(forest: _Forest, plane: Plane, line: Line, events: Events, node: I64) -> None:
    _add_links(forest, plane, events, node)
    if not plane.is_tensor_core or line.name != "XLA Modules":
        return
    for row, key in _launch_keys(events, np.flatnonzero(node >= 0), plane.ordinal):
        forest.consumers.setdefault(key, []).append(int(node[row]))


def _spread_roots(forest: _Forest) -> tuple[I64, list[int]]:
    """Group ids of all nodes, and each group's root: a root without group or related root starts
    the next one."""
    groups = np.full(forest.size, -1, np.int64)
    above, below = forest.edges()
    first_child, children = _adjacency(above, below, forest.size)
    first_parent, parents = _adjacency(below, above, forest.size)
    level = np.concatenate(forest.root_level)
    started: list[int] = []
    for root in _ordered_roots(forest, level):
        if groups[root] >= 0 or _has_root_above(root, level, first_parent, parents):
            continue
        spans.spread_group(first_child, children, root, len(started), groups)
        started.append(root)
    return groups, started


def _adjacency(source: I64, target: I64, size: int) -> tuple[I64, I64]:
    """Targets grouped by source: start of each source's run, and the targets."""
    order = np.argsort(source, kind="stable")
    starts = np.zeros(size + 1, np.int64)
    np.cumsum(np.bincount(source, minlength=size), out=starts[1:])
    return starts, np.ascontiguousarray(target[order])


def _ordered_roots(forest: _Forest, level: I64) -> Iterable[int]:
    """Roots by level descending, start ascending, duration descending."""
    begin, end = np.concatenate(forest.begin), np.concatenate(forest.end)
    roots = np.flatnonzero(level != 0)
    longest_first = np.uint64(2**64 - 1) - (end[roots] - begin[roots])
    order = np.lexsort((longest_first, begin[roots], -level[roots]))
    ordered: list[int] = roots[order].tolist()
    return ordered


def _has_root_above(root: int, level: I64, first_parent: I64, parents: I64) -> bool:
    """True if any ancestor is a root of the same level."""
    seen, waiting = {root}, [root]
    while waiting:
        node = waiting.pop()
        for parent in parents[first_parent[node] : first_parent[node + 1]].tolist():
            if parent in seen:
                continue
            if level[parent] == level[root]:
                return True
            seen.add(parent)
            waiting.append(parent)
    return False
