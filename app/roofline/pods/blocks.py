"""The operations of all hosts, a block at a time: memory grows with hosts, not with hosts × ops."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from roofline.model.op_columns import I64
from roofline.pods.partial import Names, OpKey, Partial

OPS_PER_BLOCK = 500


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


def blocks(partials: Sequence[Partial], size: int = OPS_PER_BLOCK) -> Iterator[Block]:
    """All operations of `partials` in order."""
    tables = {partial.names.digest: partial.names for partial in partials}
    keys = tuple(sorted({key for names in tables.values() for key in names.keys}))
    places = {digest: _places(names, keys) for digest, names in tables.items()}
    for first in range(0, len(keys), size):
        yield _block(partials, places, keys[first : first + size], first)


def _places(names: Names, keys: tuple[OpKey, ...]) -> I64:
    """The place of each name among all; both are in order, so places rise."""
    number = {key: k for k, key in enumerate(keys)}
    return np.array([number[key] for key in names.keys], np.int64)


def _block(
    partials: Sequence[Partial], places: dict[str, I64], keys: tuple[OpKey, ...], first: int
) -> Block:
    n_chips = sum(len(partial.header.chips) for partial in partials)
    quantities = np.zeros((5, len(partials), len(keys)), np.int64)
    work_ps, calls = np.zeros((2, n_chips, len(keys)), np.int64)
    chip = 0
    for host, partial in enumerate(partials):
        place = places[partial.names.digest]
        start, stop = np.searchsorted(place, [first, first + len(keys)])
        at = place[start:stop] - first
        chips = slice(chip, chip + len(partial.header.chips))
        quantities[:, host, at] = partial.ops[:, start:stop]
        work_ps[chips, at] = partial.work_ps[:, start:stop]
        calls[chips, at] = partial.calls[:, start:stop]
        chip = chips.stop
    return Block(keys=keys, quantities=quantities, work_ps=work_ps, calls=calls)
