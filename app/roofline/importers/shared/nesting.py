"""Which operator encloses which, and which one a launch was made in: by time, per thread."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from roofline.importers.kernels import kernel

I64 = NDArray[np.int64]
I32 = NDArray[np.int32]

NOT_FOUND = -1
_MOST_LEVELS = 64


@kernel(
    "void(int32[], int64[], int64[], int32[], int32[], int64[], int32[], int64[], int32[], int32[])"
)
def _sweep(  # type: ignore[no-untyped-def]
    order, begin, duration, thread, points, point_ns, point_thread, stack, parent, around
):
    """Walk operators and points in order of time, thread by thread, with a stack of open ones."""
    depth, p = 0, 0
    for k in range(len(order) + 1):
        op = order[k] if k < len(order) else -1
        while p < len(points):
            point = points[p]
            if op >= 0 and (
                point_thread[point] > thread[op]
                or (point_thread[point] == thread[op] and point_ns[point] >= begin[op])
            ):
                break
            while depth and (
                thread[stack[depth - 1]] != point_thread[point]
                or begin[stack[depth - 1]] + duration[stack[depth - 1]] < point_ns[point]
            ):
                depth -= 1
            around[point] = stack[depth - 1] if depth else -1
            p += 1
        if op < 0:
            break
        while depth and (
            thread[stack[depth - 1]] != thread[op]
            or begin[stack[depth - 1]] + duration[stack[depth - 1]] <= begin[op]
        ):
            depth -= 1
        parent[op] = stack[depth - 1] if depth else -1
        stack[depth] = op
        depth += 1


def _outside_in(begin: I64, duration: I64, thread: I64) -> I32:
    """The operators thread by thread in order of their begin, of those at once the longest first.

    Few begin at once, so only these are sorted by their lengths.
    """
    order = np.lexsort((begin, thread)).astype(np.int32)
    follows = (np.diff(begin[order]) == 0) & (np.diff(thread[order]) == 0)
    if follows.any():
        at_once = np.flatnonzero(np.append(follows, False) | np.append(False, follows))
        ops = order[at_once]
        order[at_once] = ops[np.lexsort((-duration[ops], begin[ops], thread[ops]))]
    return order


def nest(
    *, begin: I64, duration: I64, thread: I64, point_ns: I64, point_thread: I64
) -> tuple[I32, I32, I32]:
    """Parent of each operator, innermost operator around each point, and operators outside in.

    `NOT_FOUND` where there is none. A point on an operator's edge is inside it.
    """
    order = _outside_in(begin, duration, thread)
    points = np.lexsort((point_ns, point_thread)).astype(np.int32)
    parent = np.full(len(begin), NOT_FOUND, np.int32)
    around = np.full(len(point_ns), NOT_FOUND, np.int32)
    _sweep(
        order,
        np.ascontiguousarray(begin, np.int64),
        np.ascontiguousarray(duration, np.int64),
        np.ascontiguousarray(thread, np.int32),
        points,
        np.ascontiguousarray(point_ns, np.int64),
        np.ascontiguousarray(point_thread, np.int32),
        np.empty(len(begin), np.int64),  # a stack, as deep as all operators inside each other
        parent,
        around,
    )
    return parent, around, order


@kernel("void(int32[], int32[], bool[], bool[])")
def _clear_outer(order, parent, inside, counted):  # type: ignore[no-untyped-def]
    for k in range(len(order) - 1, -1, -1):
        op = order[k]
        holds = inside[op]
        if holds:
            counted[op] = False
        if (holds or counted[op]) and parent[op] >= 0:
            inside[parent[op]] = True


def innermost(order: I32, parent: I32, counted: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Those of the `counted` operators that enclose no other counted one: each work once."""
    kept = counted.copy()
    _clear_outer(order, parent, np.zeros(len(parent), np.bool_), kept)
    return kept


@kernel("void(int32[], int32[], bool[], bool[], bool[], bool[], int32[])")
def _lift(order, parent, counts, busy, counted, holds, target):  # type: ignore[no-untyped-def]
    for k in range(len(order) - 1, -1, -1):
        op = order[k]
        if counts[op] and busy[op] and not counted[op]:
            holds[op] = counted[op] = True
        outer = parent[op]
        if outer >= 0:
            busy[outer] |= busy[op]
            counted[outer] |= counted[op]
    for op in order:
        outer = parent[op]
        inherits = not holds[op] and outer >= 0 and holds[target[outer]]
        target[op] = target[outer] if inherits else op


def holders(order: I32, parent: I32, works: NDArray[np.bool_], counts: NDArray[np.bool_]) -> I32:
    """The operator whose work each one does: itself, or the one around it that has a formula.

    `works` are operators that ran kernels themselves, `counts` those with known FLOPs. One that
    counts takes over all that runs inside it if nothing in it counts.
    """
    target = np.empty(len(parent), np.int32)
    holds = np.zeros(len(parent), np.bool_)
    _lift(order, parent, counts, works.copy(), works & counts, holds, target)
    return target


@kernel("void(int64[], int32[], int64[])")
def _subtract_children(duration, parent, self_ns):  # type: ignore[no-untyped-def]
    for op in range(len(parent)):
        if parent[op] >= 0:
            self_ns[parent[op]] -= duration[op]


def self_times(duration: I64, parent: I32) -> I64:
    """Duration less that of the operators directly inside, never below 0."""
    self_ns = np.array(duration, np.int64)
    _subtract_children(np.ascontiguousarray(duration, np.int64), parent, self_ns)
    return np.maximum(self_ns, 0)


@kernel("void(int64[], int64[], int64[], int64[], int64[])")
def _unions(order, group, begin, duration, busy):  # type: ignore[no-untyped-def]
    last, reached = np.int64(-1), np.int64(0)
    for k in order:
        end = begin[k] + duration[k]
        if group[k] != last:
            last, reached = group[k], begin[k]
        if end > reached:
            busy[group[k]] += end - max(begin[k], reached)
            reached = end


def spans_of(group: I64, begin: I64, end: I64, n_groups: int) -> I64:
    """From the first event of each group to its last; 0 for a group without any."""
    first, last = np.full(n_groups, np.iinfo(np.int64).max), np.zeros(n_groups, np.int64)
    np.minimum.at(first, group, begin)
    np.maximum.at(last, group, end)
    return np.asarray(np.maximum(last - first, 0))


def busy_times(group: I64, begin: I64, duration: I64, n_groups: int) -> I64:
    """Length of the union of the spans of each group; groups below 0 are left out."""
    kept = np.flatnonzero(group >= 0)
    order = kept[np.lexsort((begin[kept], group[kept]))]
    busy = np.zeros(n_groups, np.int64)
    _unions(
        order,
        np.ascontiguousarray(group, np.int64),
        np.ascontiguousarray(begin, np.int64),
        np.ascontiguousarray(duration, np.int64),
        busy,
    )
    return busy


@kernel("void(int32[], int32[], int64[], int64[], uint64[])")
def _hash_paths(order, outer, name, level, path):  # type: ignore[no-untyped-def]
    for at in order:
        around = outer[at]
        level[at] = level[around] + 1 if around >= 0 else 1
        is_inside = around >= 0 and level[at] <= _MOST_LEVELS
        above = path[around] if is_inside else np.uint64(0)
        mixed = (above ^ np.uint64(name[at] + 1)) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
        path[at] = mixed ^ (mixed >> np.uint64(32))


def paths_of(names: Sequence[str], name: I64, outer: I32, order: I32) -> tuple[I64, list[str]]:
    """The path of each span, as a place among all paths; `name` is a place in `names`, `outer` and
    `order` are those of `nest`."""
    number = {text: k for k, text in enumerate(dict.fromkeys(names))}
    level, path = np.zeros(len(order), np.int64), np.zeros(len(order), np.uint64)
    _hash_paths(
        order, outer, np.array([number[text] for text in names], np.int64)[name], level, path
    )
    _, first, place = np.unique(path, return_index=True, return_inverse=True)
    found, paths = [""] * len(first), dict[str, int]()
    for k in np.argsort(level[first], kind="stable").tolist():
        at = int(first[k])
        is_inside = outer[at] >= 0 and level[at] <= _MOST_LEVELS
        inner = names[int(name[at])]
        found[k] = f"{found[int(place[outer[at]])]}/{inner}" if is_inside else inner
    numbers = [paths.setdefault(text, len(paths)) for text in found]
    return np.array(numbers, np.int64)[place], list(paths)
