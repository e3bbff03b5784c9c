"""Two lists of names, aligned: which kernel of a replay is which launch of a capture.

A longest common subsequence by the greedy search from both ends of E. W. Myers, "An O(ND)
Difference Algorithm and Its Variations" (1986): time grows with the length times the number of
differences, memory with the length. Where two lists hardly agree, the search of one part ends
after `_LIMIT` differences at the place that it reached, so that time stays linear.
"""

import numpy as np
from numpy.typing import NDArray

from roofline.importers.kernels import kernel, part

I64 = NDArray[np.int64]

UNALIGNED = -1
_LIMIT = 1024
_FAR = 2**62


@part
def _extend_forward(a, b, box, near, lowest, highest):  # type: ignore[no-untyped-def]
    """One more difference from the start of the box on each diagonal; the first that meets."""
    _, a_end, b_start, b_end, shift = box
    forward, backward, meets, low, high = near
    for d in range(highest, lowest - 1, -2):
        before, behind = forward[d - 1 + shift], forward[d + 1 + shift]
        x = behind if before < behind else before + 1
        y = x - d
        while x < a_end and y < b_end and y >= b_start and a[x] == b[y]:
            x += 1
            y += 1
        forward[d + shift] = x
        if meets and low <= d <= high and backward[d + shift] <= x:
            return x, y
    return -1, -1


@part
def _extend_backward(a, b, box, near, lowest, highest):  # type: ignore[no-untyped-def]
    """The same from the end of the box."""
    a_start, _, b_start, b_end, shift = box
    forward, backward, meets, low, high = near
    for d in range(highest, lowest - 1, -2):
        before, behind = backward[d - 1 + shift], backward[d + 1 + shift]
        x = before if before < behind else behind - 1
        y = x - d
        while x > a_start and y > b_start and y <= b_end and a[x - 1] == b[y - 1]:
            x -= 1
            y -= 1
        backward[d + shift] = x
        if meets and low <= d <= high and x <= forward[d + shift]:
            return x, y
    return -1, -1


@part
def _furthest(box, forward, backward, ranges):  # type: ignore[no-untyped-def]
    """Where to divide a box whose search took too long: the place reached with most progress."""
    a_start, a_end, b_start, b_end, shift = box
    f_low, f_high, b_low, b_high = ranges
    best, best_x = np.int64(-1), a_start
    for d in range(f_high, f_low - 1, -2):
        x = min(forward[d + shift], a_end)
        if x - d > b_end:
            x = b_end + d
        if x >= a_start and x - d >= b_start and 2 * x - d > best:
            best, best_x = 2 * x - d, x
    least, least_x = np.int64(_FAR), a_end
    for d in range(b_high, b_low - 1, -2):
        x = max(backward[d + shift], a_start)
        if x - d < b_start:
            x = b_start + d
        if x <= a_end and x - d <= b_end and 2 * x - d < least:
            least, least_x = 2 * x - d, x
    if a_end + b_end - least < best - (a_start + b_start):
        return best_x, best - best_x
    return least_x, least - least_x


@part
def _divide(a, b, box, forward, backward):  # type: ignore[no-untyped-def]
    """A place that a best alignment of the box goes through."""
    a_start, a_end, b_start, b_end, shift = box
    least, most = a_start - b_end, a_end - b_start
    f_low = f_high = a_start - b_start
    b_low = b_high = a_end - b_end
    is_odd = (f_low - b_low) % 2 != 0
    forward[f_low + shift], backward[b_low + shift] = a_start, a_end
    for _ in range(_LIMIT):
        if f_low > least:
            f_low -= 1
            forward[f_low - 1 + shift] = -1
        else:
            f_low += 1
        if f_high < most:
            f_high += 1
            forward[f_high + 1 + shift] = -1
        else:
            f_high -= 1
        near = (forward, backward, is_odd, b_low, b_high)
        x, y = _extend_forward(a, b, box, near, f_low, f_high)
        if x >= 0:
            return x, y
        if b_low > least:
            b_low -= 1
            backward[b_low - 1 + shift] = _FAR
        else:
            b_low += 1
        if b_high < most:
            b_high += 1
            backward[b_high + 1 + shift] = _FAR
        else:
            b_high -= 1
        near = (forward, backward, not is_odd, f_low, f_high)
        x, y = _extend_backward(a, b, box, near, b_low, b_high)
        if x >= 0:
            return x, y
    return _furthest(box, forward, backward, (f_low, f_high, b_low, b_high))


@kernel("void(int64[], int64[], int64[], int64[], int64[,], int64[])")
def _match(a, b, forward, backward, boxes, found):  # type: ignore[no-untyped-def]
    """Fill in the place in `b` of each element of `a`. Boxes that are left lie on a stack."""
    shift = len(b) + 1
    boxes[0, 0], boxes[0, 1], boxes[0, 2], boxes[0, 3] = 0, len(a), 0, len(b)
    depth = 1
    while depth:
        depth -= 1
        a_start, a_end = boxes[depth, 0], boxes[depth, 1]
        b_start, b_end = boxes[depth, 2], boxes[depth, 3]
        while a_start < a_end and b_start < b_end and a[a_start] == b[b_start]:
            found[a_start] = b_start
            a_start += 1
            b_start += 1
        while a_start < a_end and b_start < b_end and a[a_end - 1] == b[b_end - 1]:
            a_end -= 1
            b_end -= 1
            found[a_end] = b_end
        if a_start == a_end or b_start == b_end:
            continue
        box = (a_start, a_end, b_start, b_end, shift)
        x, y = _divide(a, b, box, forward, backward)
        if (x, y) == (a_start, b_start) or (x, y) == (a_end, b_end):
            # Nothing is left to divide: the ends differ, and one of them is left out.
            x, y = a_start + 1, b_start
        boxes[depth, 0], boxes[depth, 1], boxes[depth, 2], boxes[depth, 3] = x, a_end, y, b_end
        depth += 1
        boxes[depth, 0], boxes[depth, 1], boxes[depth, 2], boxes[depth, 3] = a_start, x, b_start, y
        depth += 1


def aligned(kernels: I64, launches: I64) -> I64:
    """Place of each kernel among the launches, both in order and by number of their names.

    `UNALIGNED` where there is none. Names that are left equally often on both sides are matched in
    order, because kernels of streams that ran side by side change places.
    """
    found = np.full(len(kernels), UNALIGNED, np.int64)
    both = len(kernels) + len(launches)
    _match(
        np.ascontiguousarray(kernels, np.int64),
        np.ascontiguousarray(launches, np.int64),
        np.empty(both + 3, np.int64),
        np.empty(both + 3, np.int64),
        # A division leaves one box on the stack and goes on with a smaller one. Memory that the
        # stack does not reach is never touched.
        np.empty((both + 2, 4), np.int64),
        found,
    )
    _match_left_over(kernels, launches, found)
    return found


def _match_left_over(kernels: I64, launches: I64, found: I64) -> None:
    left = np.flatnonzero(found == UNALIGNED)
    free = np.ones(len(launches), np.bool_)
    free[found[found >= 0]] = False
    open_ones = np.flatnonzero(free)
    if not len(left) or not len(open_ones):
        return
    left = left[np.argsort(kernels[left], kind="stable")]
    open_ones = open_ones[np.argsort(launches[open_ones], kind="stable")]
    names, at, count = np.unique(kernels[left], return_index=True, return_counts=True)
    others, other_at, other_count = np.unique(
        launches[open_ones], return_index=True, return_counts=True
    )
    _, mine, theirs = np.intersect1d(names, others, return_indices=True)
    same = count[mine] == other_count[theirs]
    for k, j in zip(mine[same].tolist(), theirs[same].tolist(), strict=True):
        n = int(count[k])
        found[left[at[k] : at[k] + n]] = open_ones[other_at[j] : other_at[j] + n]


def most_in_common(kernels: I64, launches: I64) -> int:
    """How many could be aligned at most: names in common, whatever their order."""
    names, count = np.unique(kernels, return_counts=True)
    others, other_count = np.unique(launches, return_counts=True)
    _, mine, theirs = np.intersect1d(names, others, return_indices=True)
    return int(np.minimum(count[mine], other_count[theirs]).sum())
