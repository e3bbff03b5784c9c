"""Collectives over ranks: the transfer is the shortest time of any rank, the rest is waiting.

A rank that comes last waits for none. Instances are matched by group and order; where only sums are
known, their differences are less than the wait was, or equal to it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from roofline.model.op_columns import I64
from roofline.pods.partial import CHIP, COLLECTIVE, TIME, CollectiveKey, Partial
from roofline.pods.report import CollectiveReport, WaitBound


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Waits:
    """Waiting per host and core in ps, what it is to the real one, and the collectives."""

    host_ps: tuple[int | None, ...]
    bound: WaitBound | None
    collectives: tuple[CollectiveReport, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Rank:
    """One chip in one collective: its host's place, all its time there, and single times."""

    host: int
    sum_ps: int
    each_ps: I64


def waits(partials: Sequence[Partial]) -> Waits:
    """The waiting of `partials`, which are in order."""
    found: dict[CollectiveKey, list[_Rank]] = {}
    for host, partial in enumerate(partials):
        _collect(partial, host, found)
    total = [0] * len(partials)
    matched = [False] * len(partials)
    reports: list[CollectiveReport] = []
    for key in sorted(found, key=lambda one: (one.program, one.name, one.kind, one.ranks)):
        ranks = found[key]
        if len(ranks) < 2:
            continue
        report, waited = _matched(key, ranks, partials)
        reports.append(report)
        for rank, wait in zip(ranks, waited, strict=True):
            total[rank.host] += wait
            matched[rank.host] = True
    host_ps = tuple(
        wait // partial.header.cores if known else None
        for wait, known, partial in zip(total, matched, partials, strict=True)
    )
    return Waits(
        host_ps=host_ps,
        bound=_together([one.wait_bound for one in reports]),
        collectives=tuple(reports),
    )


def _collect(partial: Partial, host: int, found: dict[CollectiveKey, list[_Rank]]) -> None:
    """Add the chips of one host to the collectives that they took part in."""
    each = partial.each
    for number, key in enumerate(partial.header.collectives):
        of_key = each[:, each[COLLECTIVE] == number]
        for chip, sum_ps in enumerate(partial.sums_ps[:, number].tolist()):
            if sum_ps >= 0:
                single = of_key[TIME, of_key[CHIP] == chip]
                found.setdefault(key, []).append(_Rank(host, sum_ps, single))


def _matched(
    key: CollectiveKey, ranks: Sequence[_Rank], partials: Sequence[Partial]
) -> tuple[CollectiveReport, list[int]]:
    """The report of one collective, and how long each rank waited in it."""
    counts = {len(rank.each_ps) for rank in ranks}
    instances = counts.pop() if len(counts) == 1 else 0
    if instances:
        least = np.minimum.reduce([rank.each_ps for rank in ranks])
        transfer_ps = int(least.sum())
    else:
        transfer_ps = min(rank.sum_ps for rank in ranks)
    waited = [rank.sum_ps - transfer_ps for rank in ranks]
    report = CollectiveReport(
        name=key.name,
        kind=key.kind,
        group=key.ranks,
        ranks=len(ranks),
        instances=instances,
        transfer_ps=transfer_ps,
        wait_ps=sum(waited) // len(ranks),
        wait_bound=_bound(key, len(ranks), by_instance=instances > 0),
        waited_for=partials[ranks[int(np.argmin(waited))].host].header.host,
    )
    return report, waited


def _bound(key: CollectiveKey, ranks: int, *, by_instance: bool) -> WaitBound:
    """The relation of the found wait to the real one.

    Ranks that are missing may have come later; ranks of another group may have been faster. A
    group that the file does not tell is taken as all ranks.
    """
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
