"""Host events, their nesting and their launch links, and the roots whose groups they get.

A root is a step annotation or what a framework marks as one. Groups go down from it: to nested
events, and over links to what it launched. Facts: XProf 2.24.2, measured.
"""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from roofline.importers.xspace import spans
from roofline.importers.xspace.event_scan import INT64, UINT64, Events, StatColumn
from roofline.importers.xspace.messages import Line
from roofline.importers.xspace.planes import MODULE_LINES, Plane
from roofline.model.op_columns import I64, U64

_ROOT_EVENT = "TraceContext"
_ENQUEUE, _CALLBACKS = "DoEnqueueProgram", "CompleteCallbacks"
LAUNCH_STATS = ("device_ordinal", "queue_id", "run_id", "core_type")
LINK_STATS = ("_pt", "_p", "_ct", "_c", "_pid")
CORRELATION = "correlation_id"
_STEP_NUMBER = "step_num"
# Host run ids are wider than what the device repeats: only these bits are compared.
_RUN_ID_MASK = 2**27 - 1
# A link with this many producers and as many consumers is not a launch but a shared constant.
_MAX_BOTH_SIDES = 64

LinkKey = tuple[object, ...]


class Forest:
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
        has_launch = (at >= 0) & (ids[order][np.maximum(at, 0)] == wanted)
        self._linked[0].append(nodes[order][at[has_launch]])
        self._linked[1].append(kernels[has_launch])

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


def may_have_roots(plane: Plane) -> bool:
    """Whether any event of the plane may start a group."""
    return plane.has_stat("_r") or _ROOT_EVENT in plane.event_names


def add_grouping_line(forest: Forest, events: Events) -> int:
    """Add a device's markers as nodes without parents; the first one's number."""
    no_parent = np.full(len(events), -1, np.int64)
    return forest.add(events.begin_ps, events.end_ps, no_parent, np.zeros(len(events), np.int64))


def add_host_plane(forest: Forest, plane: Plane) -> None:
    """Add all events of a host's plane, nested, with the links that they make."""
    names = np.array([*plane.event_names, ""], dtype=object)
    stats = ("_r", "_a", CORRELATION, _STEP_NUMBER, *LINK_STATS, *LAUNCH_STATS)
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


def _add_correlated(forest: Forest, plane: Plane, events: Events, first: int) -> None:
    column = events.stats.get(CORRELATION)
    if column is None or not (plane.is_gpu or plane.is_host):
        return
    rows = np.flatnonzero(column.present)
    forest.add_correlated(column.int_or_uint()[rows], first + rows, on_device=plane.is_gpu)


def _add_step_numbers(forest: Forest, events: Events, level: I64, first: int) -> None:
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


def _add_links(forest: Forest, plane: Plane, events: Events, node: I64) -> None:
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
    columns = {name: _column(events, name) for name in LAUNCH_STATS}
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


def _add_launches(forest: Forest, events: Events, names: NDArray[np.object_], first: int) -> None:
    for table, name in ((forest.producers, _ENQUEUE), (forest.consumers, _CALLBACKS)):
        rows = np.flatnonzero(names[events.meta] == name)
        for row, key in _launch_keys(events, rows, None):
            table.setdefault(key, []).append(first + row)


def credit_plane(forest: Forest, plane: Plane, grouping: Line, markers: Events, first: int) -> None:
    """Links of a device plane's events count for the grouping event that contains them."""
    own = first + np.arange(len(markers))
    _credit_events(forest, plane, grouping, markers, own)
    if not plane.is_tensor_core and not any(plane.has_stat(name) for name in LINK_STATS):
        return
    for line in plane.lines:
        is_modules = line.name in MODULE_LINES
        if (
            line is grouping
            or not line.event_count
            or not (is_modules or any(plane.has_stat(n) for n in LINK_STATS))
        ):
            continue
        events = plane.scan(line, (*LINK_STATS, *LAUNCH_STATS))
        steps = spans.StepFollower(markers.begin_ps, markers.end_ps, containing=True)
        containing = steps.find(events.begin_ps, events.end_ps)
        _credit_events(
            forest, plane, line, events, np.where(containing >= 0, containing + first, -1)
        )


def _credit_events(forest: Forest, plane: Plane, line: Line, events: Events, node: I64) -> None:
    _add_links(forest, plane, events, node)
    if not plane.is_tensor_core or line.name != "XLA Modules":
        return
    for row, key in _launch_keys(events, np.flatnonzero(node >= 0), plane.ordinal):
        forest.consumers.setdefault(key, []).append(int(node[row]))


def spread_roots(forest: Forest) -> tuple[I64, list[int]]:
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


def _ordered_roots(forest: Forest, level: I64) -> Iterable[int]:
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
