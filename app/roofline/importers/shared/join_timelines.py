"""Timelines of several hosts or ranks as one: cores one after the other, ops by their new rows.

Collectives: how long they take without the wait for other ranks is the shortest time among the
ranks. A kernel of a collective runs until all ranks have come. The k-th occurrence on each rank is
the same collective, where all of its group are in the profile and ran it equally often.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np

from roofline.importers.shared.launch_times import all_joined, renumbered
from roofline.importers.shared.time_bins import with_ops
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import F64, I64, Bools
from roofline.model.profile import Profile
from roofline.model.timeline import (
    WHOLE_CAPTURE,
    CoreTimes,
    EachTransfer,
    Timeline,
    TransferOccurrences,
    Transfers,
    WorkTimes,
)


def with_least(transfers: Transfers, n_cores: int) -> Transfers:
    """`transfers` with the shortest times of those whose group is the `n_cores` of the profile."""
    each = transfers.each
    if each is None or n_cores < 2:
        return transfers
    least_ps = np.full(len(transfers), np.nan)
    for row in np.flatnonzero(transfers.group_size == n_cores).tolist():
        least_ps[row] = _least(each, each.transfer == row, n_cores)
    return replace(transfers, least_ps=least_ps)


def _least(each: EachTransfer, mine: Bools, n_cores: int) -> float:
    """Sum over occurrences of the shortest time; NaN where ranks ran it differently often."""
    core, time_ps = each.core[mine], each.time_ps[mine]
    counts = np.bincount(core, minlength=n_cores)
    if len(counts) > n_cores or not counts[0] or (counts != counts[0]).any():
        return float("nan")
    by_rank: F64 = time_ps[np.argsort(core, kind="stable")].reshape(n_cores, counts[0])
    return float(by_rank.min(axis=0).sum())


_PLAIN = [field.name for field in fields(CoreTimes) if field.name != "exposed_ps"]


def joined_timeline(
    parts: Sequence[tuple[Timeline, str, I64]], steps: int | None = None
) -> Timeline | None:
    """One timeline; each part comes with its host's name and the new row of each of its ops.

    Steps are kept where all parts have as many as the joined profile (`steps`).
    """
    if not parts:
        return None
    counts = {timeline.steps for timeline, _, _ in parts}
    keeps_steps = counts == {steps} if steps is not None else len(counts) == 1
    first_cores = np.cumsum([0, *(len(timeline.cores) for timeline, _, _ in parts)]).tolist()
    moved = [
        _moved(timeline, op, core)
        for (timeline, _, op), core in zip(parts, first_cores[:-1], strict=True)
    ]
    joined = Timeline(
        cores=tuple(
            f"{host} {core}".strip() for timeline, host, _ in parts for core in timeline.cores
        ),
        steps=counts.pop() if keeps_steps else 0,
        times=_joined_times([part.times for part in moved]),
        work=WorkTimes.joined([part.work for part in moved]),
        transfers=with_least(
            _joined_transfers([part.transfers for part in moved]),
            sum(len(timeline.cores) for timeline, _, _ in parts),
        ),
        # Clocks of several files differ by more than a bin, so only one file's bins are kept.
        bins=moved[0].bins if len(moved) == 1 else None,
        launches=all_joined([part.launches for part in moved]),
    )
    return joined if keeps_steps else _without_steps(joined)


def _moved(timeline: Timeline, op: I64, core: int) -> Timeline:
    """The timeline with its cores from `core` on, and ops by their new rows."""
    rows = np.append(op, -1)  # -1 stays -1
    transfers = timeline.transfers
    occurrences, each = transfers.occurrences, transfers.each
    return replace(
        timeline,
        times=replace(timeline.times, core=timeline.times.core + core),
        work=replace(timeline.work, core=timeline.work.core + core, op=rows[timeline.work.op]),
        transfers=replace(
            transfers,
            op=rows[transfers.op],
            done=rows[transfers.done],
            occurrences=replace(occurrences, core=occurrences.core + core),
            each=each and replace(each, core=each.core + core),
        ),
        bins=with_ops(timeline.bins, op),
        launches=renumbered(timeline.launches, op),
    )


def _joined_times(parts: Sequence[CoreTimes]) -> CoreTimes:
    links = {link: None for part in parts for link in part.exposed_ps}
    exposed = {
        link: np.concatenate([p.exposed_ps.get(link, np.zeros(len(p))) for p in parts])
        for link in links
    }
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _PLAIN}
    return CoreTimes(exposed_ps=exposed, **columns)


_Kind = tuple[int, int, bool, int, str, MemoryLevel | None]


def _joined_transfers(parts: Sequence[Transfers]) -> Transfers:
    """The same transfer on several hosts is one row; an op may move different things."""
    numbers: dict[_Kind, int] = {}
    first: list[tuple[Transfers, int]] = []
    occurrences, each = [], []
    for part in parts:
        columns = (part.op, part.done, part.unpaired, part.group_size)
        numbered = (column.tolist() for column in columns)
        keys = zip(*numbered, part.kind, part.link, strict=True)
        place = []
        for row, key in enumerate(keys):
            if key not in numbers:
                first.append((part, row))
            place.append(numbers.setdefault(key, len(numbers)))
        seen = part.occurrences
        new = np.array(place, np.int64)[seen.transfer]
        occurrences.append(replace(seen, transfer=new))
        if part.each is not None:
            new = np.array(place, np.int64)[part.each.transfer]
            each.append(replace(part.each, transfer=new))
    return Transfers(
        op=np.array([part.op[row] for part, row in first], np.int64),
        done=np.array([part.done[row] for part, row in first], np.int64),
        kind=tuple(part.kind[row] for part, row in first),
        link=tuple(part.link[row] for part, row in first),
        group_size=np.array([part.group_size[row] for part, row in first], np.int64),
        unpaired=np.array([part.unpaired[row] for part, row in first], np.bool_),
        occurrences=TransferOccurrences.joined(occurrences),
        each=EachTransfer.joined(each) if each else None,
    )


def _without_steps(timeline: Timeline) -> Timeline:
    times, work = timeline.times, timeline.work
    return replace(
        timeline,
        times=times.taken(times.scope == WHOLE_CAPTURE),
        work=work.taken(work.scope == WHOLE_CAPTURE),
    )


def host_names(profiles: Sequence[Profile]) -> tuple[str, ...]:
    """A name per profile, each of one host: its host's, its file's where that is not known or not
    alone, and its place behind it where two files are called the same."""
    hosts = [profile.hosts[0] for profile in profiles]
    counted = Counter(host.hostname for host in hosts)
    names = [
        host.hostname if host.hostname and counted[host.hostname] == 1 else host.file_name
        for host in hosts
    ]
    again = Counter(names)
    return tuple(
        name if again[name] == 1 else f"{name} {place + 1}" for place, name in enumerate(names)
    )
