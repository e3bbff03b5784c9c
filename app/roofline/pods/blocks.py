"""The operations of all hosts, a block at a time, so that memory does not grow with hosts × ops."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from roofline.model.op_columns import I64
from roofline.pods.partial import Names, OpKey, Partial

MOST_OPS, MOST_CELLS = 500, 1 << 21
"""Operations of one block, and chips × operations of it."""
HOSTS_BETWEEN_RELEASES = 128


def keep() -> None:
    """For partials in memory: nothing to give back."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Block:
    """Some operations of all hosts.

    `quantities` has the shape (rows of `Partial.ops`, hosts, ops), `work_ps` and `calls` (chips,
    ops). An op that a host did not run is 0.
    """

    keys: tuple[OpKey, ...]
    quantities: I64
    work_ps: I64
    calls: I64


def chip_hosts(partials: Sequence[Partial]) -> I64:
    """The place of the host of each chip; chips are in the order of their hosts."""
    counts = [len(partial.header.chips) for partial in partials]
    return np.repeat(np.arange(len(partials)), counts)


def blocks(
    partials: Sequence[Partial], size: int = MOST_OPS, *, release: Callable[[], None] = keep
) -> Iterator[Block]:
    """All operations of `partials` in order; `release` gives back the memory of those on disk."""
    chips = sum(len(partial.header.chips) for partial in partials)
    size = max(1, min(size, MOST_CELLS // max(chips, 1)))
    tables = {partial.names.digest: partial.names for partial in partials}
    keys = tuple(sorted({key for names in tables.values() for key in names.keys}))
    places = {digest: _places(names, keys) for digest, names in tables.items()}
    for first in range(0, len(keys), size):
        yield _block(partials, places, keys[first : first + size], first, release)


def _places(names: Names, keys: tuple[OpKey, ...]) -> I64:
    """The place of each name among all; both are in order, so places rise."""
    number = {key: k for k, key in enumerate(keys)}
    return np.array([number[key] for key in names.keys], np.int64)


def _block(
    partials: Sequence[Partial],
    places: dict[str, I64],
    keys: tuple[OpKey, ...],
    first: int,
    release: Callable[[], None],
) -> Block:
    n_chips = sum(len(partial.header.chips) for partial in partials)
    quantities = np.zeros((5, len(partials), len(keys)), np.int64)
    work_ps, calls = np.zeros((2, n_chips, len(keys)), np.int64)
    rows = {name: _rows(place, first, len(keys)) for name, place in places.items()}
    chip = 0
    for host, partial in enumerate(partials):
        if host % HOSTS_BETWEEN_RELEASES == 0:
            release()
        start, stop, at = rows[partial.names.digest]
        chips = slice(chip, chip + len(partial.header.chips))
        quantities[:, host, at] = partial.ops[:, start:stop]
        work_ps[chips, at] = partial.work_ps[:, start:stop]
        calls[chips, at] = partial.calls[:, start:stop]
        chip = chips.stop
    return Block(keys=keys, quantities=quantities, work_ps=work_ps, calls=calls)


def _rows(place: I64, first: int, count: int) -> tuple[int, int, I64]:
    """The rows of a table whose places lie in a block, from and to, and their places in it."""
    start, stop = np.searchsorted(place, [first, first + count]).tolist()
    return start, stop, place[start:stop] - first
