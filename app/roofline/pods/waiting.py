"""Collectives over ranks: the transfer is the shortest time of any rank, the rest is waiting.

A rank that comes last waits for none. Instances are matched by group and order; where only sums are
known, their differences are less than the wait was, or equal to it. That holds where all ranks took
part equally often. A rank whose capture is shorter did not wait less: then mean times are compared.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from statistics import median_low

import numpy as np

from roofline.model.op_columns import I64
from roofline.pods.partial import CHIP, COLLECTIVE, OCCURRENCES, TIME, CollectiveKey, Partial
from roofline.pods.report import CollectiveReport, WaitBound

FEWEST_TOLD, MOST_PARTS = 3, 12
"""Single times of a collective that tell whether a host is late all the time, and the parts of a
capture in which they are looked at."""
_RANKS_AT_ONCE = 64


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Waits:
    """Waiting per host and core in ps, what it is to the real one, and the collectives.

    `late_ps` is how much later than the first one each host came to the collectives of all chips,
    of shape (hosts, parts of the capture); `None` where too few single times tell it.
    """

    host_ps: tuple[int | None, ...]
    bound: WaitBound | None
    collectives: tuple[CollectiveReport, ...]
    late_ps: I64 | None


@dataclass(frozen=True, slots=True, eq=False)
class _Rank:
    """One chip in one collective: its host's place, all its time there, and single times.

    `often` is how often it took part; 0 is unknown.
    """

    host: int
    sum_ps: int
    each_ps: I64
    often: float


def waits(partials: Sequence[Partial]) -> Waits:
    """The waiting of `partials`, which are in order."""
    found: dict[CollectiveKey, list[_Rank]] = {}
    places: dict[str, _Places] = {}
    for host, partial in enumerate(partials):
        _collect(partial, host, found, places)
    total = [0] * len(partials)
    matched = [False] * len(partials)
    reports: list[CollectiveReport] = []
    even: list[list[_Rank]] = []
    chips = sum(len(partial.header.chips) for partial in partials)
    for key in sorted(found, key=lambda one: (one.program, one.name, one.kind, one.ranks)):
        ranks = found[key]
        if len(ranks) < 2:
            continue
        report, waited = _matched(key, ranks, partials)
        reports.append(report)
        for rank, wait in zip(ranks, waited, strict=True):
            total[rank.host] += wait
            matched[rank.host] = True
        if len(ranks) == chips <= key.group_size and _is_even(ranks):
            even.append(ranks)
    host_ps = tuple(
        wait // partial.header.cores if known else None
        for wait, known, partial in zip(total, matched, partials, strict=True)
    )
    return Waits(
        host_ps=host_ps,
        bound=_together([one.wait_bound for one in reports]),
        collectives=tuple(reports),
        late_ps=_late_in_parts(even, len(partials)),
    )


def _is_even(ranks: Sequence[_Rank]) -> bool:
    """True where all ranks took part equally often, as far as it is known."""
    return len({rank.often for rank in ranks}) == 1


def _late_in_parts(collectives: Sequence[Sequence[_Rank]], hosts: int) -> I64 | None:
    """How much later than the first one each host's latest chip came, in each part of the capture.

    Only sums say nothing of it: one long stall makes them as large as being late all the time.
    """
    told = [(ranks, min(len(rank.each_ps) for rank in ranks)) for ranks in collectives]
    told = [(ranks, count) for ranks, count in told if count >= FEWEST_TOLD]
    if not told:
        return None
    parts = min(MOST_PARTS, *(count for _, count in told))
    late = np.zeros((hosts, parts), np.int64)
    for ranks, _ in told:
        late += _lateness(ranks, hosts, parts)
    return late


def _lateness(ranks: Sequence[_Rank], hosts: int, parts: int) -> I64:
    """The same for one collective.

    A chip's own time is the shorter, the later it comes. The median of a part counts: a host that
    was held up once, as by the start of its profiler, is not late all the time.
    """
    late = np.zeros((hosts, parts), np.int64)
    longest = reduce(np.maximum, (rank.each_ps for rank in ranks))
    bounds = np.linspace(0, len(longest), parts + 1).astype(np.int64).tolist()
    for first in range(0, len(ranks), _RANKS_AT_ONCE):
        some = ranks[first : first + _RANKS_AT_ONCE]
        behind = longest - np.stack([rank.each_ps for rank in some])
        at = [rank.host for rank in some]
        for part, (begin, end) in enumerate(pairwise(bounds)):
            own = np.rint(np.median(behind[:, begin:end], axis=1) * (end - begin))
            np.maximum.at(late[:, part], at, own.astype(np.int64))
    return late


def _collect(
    partial: Partial,
    host: int,
    found: dict[CollectiveKey, list[_Rank]],
    places: "dict[str, _Places]",
) -> None:
    """Add the chips of one host to the collectives that they took part in."""
    each = partial.each
    for number, key in enumerate(partial.header.collectives):
        of_key = each[:, each[COLLECTIVE] == number]
        often = 0.0 if of_key.shape[1] else _per_core(partial, key, places)
        for chip, sum_ps in enumerate(partial.sums_ps[:, number].tolist()):
            if sum_ps >= 0:
                single = of_key[TIME, of_key[CHIP] == chip]
                rank = _Rank(host, sum_ps, single, len(single) or often)
                found.setdefault(key, []).append(rank)


_Places = dict[tuple[str, str], list[int]]
"""The places of operations by program and name."""


def _per_core(partial: Partial, key: CollectiveKey, places: dict[str, _Places]) -> float:
    """How often a core of the host ran the operation of a collective; 0 is unknown."""
    digest = partial.names.digest
    if digest not in places:
        known: _Places = {}
        for place, one in enumerate(partial.names.keys):
            known.setdefault((one.program, one.name), []).append(place)
        places[digest] = known
    mine = places[digest].get((key.program, key.name), [])
    return float(partial.ops[OCCURRENCES, mine].sum()) / partial.header.cores


def _matched(
    key: CollectiveKey, ranks: Sequence[_Rank], partials: Sequence[Partial]
) -> tuple[CollectiveReport, list[int]]:
    """The report of one collective, and how long each rank waited in it."""
    is_even = _is_even(ranks)
    instances = min(len(rank.each_ps) for rank in ranks) if is_even else 0
    if instances:
        least = np.minimum.reduce([rank.each_ps for rank in ranks])
        transfers = [int(least.sum())] * len(ranks)
    elif is_even or not all(rank.often for rank in ranks):
        transfers = [min(rank.sum_ps for rank in ranks)] * len(ranks)
    else:
        shortest = min(rank.sum_ps / rank.often for rank in ranks)
        transfers = [round(shortest * rank.often) for rank in ranks]
    waited = [rank.sum_ps - one for rank, one in zip(ranks, transfers, strict=True)]
    report = CollectiveReport(
        name=key.name,
        kind=key.kind,
        group=key.ranks,
        ranks=len(ranks),
        instances=instances,
        transfer_ps=median_low(transfers),
        wait_ps=sum(waited) // len(ranks),
        wait_bound=_bound(key, len(ranks), by_instance=instances > 0, is_even=is_even),
        waited_for=partials[ranks[int(np.argmin(waited))].host].header.host,
    )
    return report, waited


def _bound(key: CollectiveKey, ranks: int, *, by_instance: bool, is_even: bool) -> WaitBound:
    """The relation of the found wait to the real one.

    Ranks that are missing may have come later; ranks of another group may have been faster. A
    group that the file does not tell is taken as all ranks. Mean times bound nothing.
    """
    if not is_even:
        return WaitBound.ABOUT
    too_little = not by_instance or 0 < ranks < key.group_size
    too_much = key.group_size == 0 or ranks > key.group_size
    bounds = [WaitBound.AT_LEAST] * too_little + [WaitBound.AT_MOST] * too_much
    return _together(bounds) or WaitBound.EXACT


def _together(bounds: Sequence[WaitBound]) -> WaitBound | None:
    """The relation of a sum of waits to the real one."""
    apart = set(bounds) - {WaitBound.EXACT}
    if not apart:
        return WaitBound.EXACT if bounds else None
    return apart.pop() if len(apart) == 1 else WaitBound.ABOUT
