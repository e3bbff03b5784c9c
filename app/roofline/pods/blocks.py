"""What all hosts of a run have: operations, a block at a time, and the steps that they share.

Memory does not grow with hosts × operations.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from roofline.model.categories import is_container, is_start, is_work
from roofline.model.op_columns import I64, Bools
from roofline.model.units import PS_PER_S
from roofline.pods.partial import BYTES, BYTES_KNOWN, KNOWN, SELF, Names, Partial
from roofline.pods.report import OpKey

MOST_OPS, MOST_CELLS = 500, 1 << 21
"""Operations of one block, and chips × operations of it."""
HOSTS_BETWEEN_RELEASES = 128
_NONE = np.zeros(0, np.int64)


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


class Bandwidths:
    """Takes blocks of operations. Waits are left out, and ops whose bytes others move or count."""

    def __init__(self, hosts: int) -> None:
        self._bytes, self._time_ps = np.zeros(hosts, np.int64), np.zeros(hosts, np.int64)

    def take(self, block: Block) -> None:
        """Add the operations of one block."""
        known = _moving(block) & ((block.quantities[KNOWN] & BYTES_KNOWN) > 0)
        self._bytes += np.where(known, block.quantities[BYTES], 0).sum(axis=1)
        self._time_ps += np.where(known, block.quantities[SELF], 0).sum(axis=1)

    def per_core(self) -> list[float | None]:
        """Bytes per second and core of each host; `None` where no bytes are known."""
        return [
            moved * PS_PER_S / time_ps if moved > 0 and time_ps > 0 else None
            for moved, time_ps in zip(self._bytes.tolist(), self._time_ps.tolist(), strict=True)
        ]


def _moving(block: Block) -> Bools:
    """True for ops that move their bytes in their own time."""
    categories = [key.category for key in block.keys]
    return np.array(
        [is_work(one) and not is_container(one) and not is_start(one) for one in categories],
        np.bool_,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SharedSteps:
    """Columns are steps, rows hosts. Without steps the capture counts as one, without a label.

    `chip_work_ps` has a row for each chip, those of a host beside each other.
    """

    labels: tuple[str, ...]
    duration_ps: I64
    work_ps: I64
    chip_work_ps: I64


def shared_steps(partials: Sequence[Partial]) -> SharedSteps:
    """Steps are the same where their labels are; else where all hosts have equally many."""
    tables = [partial.header.steps for partial in partials]
    labels = _shared_labels(tables)
    if labels:
        rows = [[table.index(label) for label in labels] for table in tables]
    elif tables and len({len(table) for table in tables}) == 1:
        labels = tuple(str(k) for k in range(len(tables[0])))
        rows = [list(range(len(labels)))] * len(tables)
    if not labels:
        whole = np.array([one.chip_ps.max(initial=0) for one in partials], np.int64)
        return SharedSteps(
            labels=(),
            duration_ps=np.zeros((len(partials), 0), np.int64),
            work_ps=whole.reshape(-1, 1),
            chip_work_ps=np.concatenate([_NONE, *(one.chip_ps for one in partials)]).reshape(-1, 1),
        )
    columns = list(zip(partials, rows, strict=True))
    return SharedSteps(
        labels=labels,
        duration_ps=np.stack([one.step_ps[at] for one, at in columns]),
        work_ps=np.stack([one.step_work_ps[:, at].max(axis=0) for one, at in columns]),
        chip_work_ps=np.concatenate([one.step_work_ps[:, at] for one, at in columns]),
    )


def _shared_labels(tables: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The labels that every host has, in the first host's order; none if a host repeats one."""
    if not tables or any(len(set(table)) < len(table) for table in tables):
        return ()
    everywhere = set(tables[0]).intersection(*tables)
    return tuple(label for label in tables[0] if label in everywhere)
