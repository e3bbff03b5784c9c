"""Transfers held against the links they use: rates, exposed time, what the link allows.

A TPU's collectives use ICI, other links are those that the capture, the file or the user tells.
Where none of them does, the link is not known.

A transfer is bound by its link. Its bytes count once, at the op that waits for them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from roofline.analysis import roofline
from roofline.analysis.context import NAN, Context
from roofline.analysis.records import I64, U64, LinkUse
from roofline.analysis.roofline import Floats
from roofline.analysis.time_records import (
    GBS_PER_BYTE_PER_PS,
    TransferRecord,
    TransferRecords,
    at_peak_us,
)
from roofline.model.categories import is_collective
from roofline.model.device import Device, DeviceKind, PeakOrigin
from roofline.model.memory import LINKS, MemoryLevel
from roofline.model.op_columns import Bools, OpColumns
from roofline.model.profile import Profile
from roofline.model.timeline import Timeline, TransferOccurrences, Transfers
from roofline.model.units import PS_PER_US, gb_to_gib


def is_transfer(profile: Profile) -> Bools:
    """Ops that move data over a link, one entry per op of the profile.

    A link bounds them and never a memory, so they are not held against the roofs of memories.
    """
    ops = profile.ops
    found = np.array([is_collective(category) for category in ops.category], np.bool_)
    found |= _only_moves(ops)
    if profile.timeline is not None:
        transfers = profile.timeline.transfers
        found[transfers.op] = True
        found[transfers.done[transfers.done >= 0]] = True
    return found


def _only_moves(ops: OpColumns) -> Bools:
    """Ops that move bytes over a link, and are not known to do any other work."""
    moved = np.zeros(len(ops), np.bool_)
    for level, column in ops.traffic_bytes.items():
        if level.is_link:
            moved |= column > 0
    only: Bools = moved & (ops.flop == 0) & (ops.bytes_accessed == 0)
    return only


def transfer_records(transfers: Transfers, device: Device) -> TransferRecords:
    """Every kind of transfer against its link's peak on `device`."""
    return TransferRecords(tuple(_record(transfers, k, device) for k in range(len(transfers))))


def _record(transfers: Transfers, row: int, device: Device) -> TransferRecord:
    link = transfers.link[row]
    peak = device.link_gbs(link) if link is not None else None
    seen, group, net = transfers.occurrences, int(transfers.group_size[row]), device.network
    of_group = net.on_the_wire(transfers.kind[row], group) if net and group else None
    if of_group and peak:
        peak = of_group[0]
    mine = seen.transfer == row
    sized = mine & ~np.isnan(seen.wire_bytes)
    moved = float(seen.wire_bytes[sized].sum()) if sized.any() else None
    took_ps, awaited = _took(seen, peak)
    skew_ps = _skew_ps(transfers, row, mine)
    is_part_sized = bool((mine & ~sized).any())
    time_ps = float(took_ps[sized].sum()) - (0.0 if is_part_sized else skew_ps or 0.0)
    exposed_us = float(seen.exposed_ps[mine].sum()) / PS_PER_US
    payload = mine & ~np.isnan(seen.payload_bytes)
    return TransferRecord(
        op=int(transfers.op[row]),
        done=int(transfers.done[row]),
        kind=transfers.kind[row],
        link=link,
        group_size=group or None,
        occurrences=int(seen.count[mine].sum()),
        unpaired=bool(transfers.unpaired[row]),
        bytes=moved,
        payload_bytes=float(seen.payload_bytes[payload].sum()) if payload.any() else None,
        time_us=float(np.nansum(seen.interval_ps[mine])) / PS_PER_US,
        exposed_us=exposed_us,
        achieved_gbs=moved / time_ps * GBS_PER_BYTE_PER_PS if moved and time_ps else None,
        is_lower_bound=bool((sized & ~awaited).any()),
        peak_gbs=peak,
        saving_us=_saving_us(moved, peak, exposed_us),
        bytes_is_lower_bound=is_part_sized and moved is not None,
        skew_us=None if skew_ps is None else skew_ps / PS_PER_US,
        least_us=_least_us(moved, float(seen.count[sized].sum()), of_group),
    )


def fixed_ratio(transfers: TransferRecords) -> float:
    """The part of the time of collectives that does not follow their bytes, where it is known."""
    rows = [row for row in transfers.rows if row.link is not MemoryLevel.HOST and row.time_us > 0]
    time_us = sum(row.time_us for row in rows)
    return sum(min(_fixed_us(row), row.time_us) for row in rows) / time_us if time_us else 0.0


def _fixed_us(row: TransferRecord) -> float:
    """The latency of its steps, and the wait for the last rank."""
    latency_us = 0.0
    if row.least_us is not None and row.bytes is not None and row.peak_gbs:
        latency_us = row.least_us - at_peak_us(row.bytes, row.peak_gbs)
    return latency_us + (row.skew_us or 0.0)


def _skew_ps(transfers: Transfers, row: int, mine: Bools) -> float | None:
    """Time in which ranks waited for the last of them, over all ranks; `None` where not known."""
    least_ps, seen = transfers.least_ps, transfers.occurrences
    if least_ps is None or np.isnan(least_ps[row]):
        return None
    ranks = len(np.unique(seen.core[mine]))
    return max(float(seen.interval_ps[mine].sum()) - ranks * float(least_ps[row]), 0.0)


def _took(seen: TransferOccurrences, peak_gbs: float | None) -> tuple[Floats, Bools]:
    """Time under the rate of each occurrence in ps, and where its end was observed.

    The wait in the done op, where that is long enough for the bytes at the link's peak; else the
    whole interval, for the transfer ended at an unknown time inside it. A synchronous transfer has
    no wait, and its interval is exact.
    """
    is_async = ~np.isnan(seen.wait_ps)
    if not peak_gbs:
        return seen.interval_ps, ~is_async
    least_ps = seen.wire_bytes / peak_gbs * GBS_PER_BYTE_PER_PS
    awaited = is_async & (seen.wait_ps >= least_ps)
    return np.where(awaited, seen.wait_ps, seen.interval_ps), awaited | ~is_async


def _least_us(
    moved: float | None, calls: float, of_group: tuple[float, float] | None
) -> float | None:
    if moved is None or of_group is None:
        return None
    return at_peak_us(moved, of_group[0]) + calls * of_group[1]


def _saving_us(moved: float | None, peak: float | None, exposed_us: float) -> float | None:
    if moved is None or not peak:
        return None
    return max(0.0, exposed_us - at_peak_us(moved, peak))


_HOST_CATEGORIES = ("host send", "host recv")
_TINY = 1e-300  # bytes over a link without a peak keep it busier than none


def links_of_ops(
    profile: Profile,
    moves: Bools,
    transfers: TransferRecords,
    device: Device,
    from_user: MemoryLevel | None,
) -> list[MemoryLevel | None]:
    """The link of each op of `profile` that is a transfer (`moves`), `None` where it is not known.

    `from_user` is the link of communication that the file does not name.
    """
    if not moves.any():
        return [None] * len(moves)
    link = _links_by_category(profile, moves, from_user)
    for level, used in _links_by_traffic(profile.ops, device).items():
        for op in np.flatnonzero(used & moves).tolist():
            link[op] = level
    for row in sorted(transfers.rows, key=lambda row: row.time_us):
        link[row.op] = link[row.waits] = row.link
    return link


def with_link_traffic(
    profile: Profile,
    moves: Bools,
    links: Sequence[MemoryLevel | None],
    transfers: TransferRecords,
) -> Profile:
    """`profile` with the bytes of its transfers as traffic of their links.

    Bytes of a transfer whose size or group is not known are unknown, and not zero. Over an unknown
    link they may be part of any traffic between devices.
    """
    ops = profile.ops
    used = {level for level in ops.traffic_bytes if level.is_link}
    used |= {row.link for row in transfers.rows if row.link is not None}
    used |= {link for link in links if link is not None}
    if not used:
        return profile
    unsized = _is_unsized(profile, moves, transfers)
    traffic, unknown = dict(ops.traffic_bytes), dict(ops.moves_unknown)
    nowhere = np.array([link is None for link in links], np.bool_) & moves
    for level in used:
        given = traffic.get(level, np.zeros(len(ops), np.uint64))
        traffic[level] = given + _moved(transfers, level, len(ops))
        mine = np.array([link is level for link in links], np.bool_) & unsized
        unknown[level] = mine | (nowhere & (level is not MemoryLevel.HOST))
    return replace(profile, ops=replace(ops, traffic_bytes=traffic, moves_unknown=unknown))


def _moved(transfers: TransferRecords, link: MemoryLevel, n_ops: int) -> U64:
    column = np.zeros(n_ops, np.uint64)
    for row in transfers.rows:
        if row.link is link and row.bytes is not None:
            column[row.waits] += np.uint64(round(row.bytes))
    return column


def _is_unsized(profile: Profile, moves: Bools, transfers: TransferRecords) -> Bools:
    """Transfers of which it is not known how many bytes they move; those of a start are known: its
    end moves them.
    """
    unsized = moves.copy()
    for level, column in profile.ops.traffic_bytes.items():
        if level.is_link:
            unsized &= column == 0
    for row in transfers.rows:
        unsized[[row.op, row.waits]] = False
    for row in transfers.rows:
        unsized[row.waits] |= row.bytes is None or row.bytes_is_lower_bound
    return unsized


def _links_by_category(
    profile: Profile, moves: Bools, from_user: MemoryLevel | None
) -> list[MemoryLevel | None]:
    """The link of each transfer as its category tells: a TPU's collectives use ICI."""
    is_tpu = profile.device.kind is DeviceKind.TPU

    def link_of(category: str) -> MemoryLevel | None:
        if category.startswith(_HOST_CATEGORIES):
            return MemoryLevel.HOST
        return MemoryLevel.ICI if is_tpu and is_collective(category) else from_user

    of_category = {category: link_of(category) for category in set(profile.ops.category)}
    named = zip(profile.ops.category, moves.tolist(), strict=True)
    return [of_category[category] if is_one else None for category, is_one in named]


def _links_by_traffic(ops: OpColumns, device: Device) -> dict[MemoryLevel, Bools]:
    """Per link, the ops that keep it busiest, where the file says how many bytes they moved."""
    levels = [level for level in ops.traffic_bytes if level.is_link]
    if not levels:
        return {}
    moved = np.stack([ops.traffic_bytes[level].astype(np.float64) for level in levels])
    peaks = np.array([[device.link_gbs(level) or np.inf] for level in levels])
    first = (moved / peaks + (moved > 0) * _TINY).argmax(axis=0)
    return {level: (first == k) & (moved[k] > 0) for k, level in enumerate(levels)}


# -------------------------------------------------------------------------------------------- links


def user_link(device: Device) -> MemoryLevel | None:
    """The one link between devices whose peak the user set; `None` where it is not exactly one."""
    from_user = {peak.level for peak in device.links if peak.origin is PeakOrigin.USER}
    between = from_user & LINKS - {MemoryLevel.HOST}
    return between.pop() if len(between) == 1 else None


def with_user_link(profile: Profile, link: MemoryLevel | None) -> Profile:
    """`profile`, whose communication over an unknown link is over `link`."""
    if profile.timeline is None or link is None:
        return profile
    return replace(profile, timeline=_over(profile.timeline, link))


def _over(timeline: Timeline, link: MemoryLevel) -> Timeline:
    exposed = dict(timeline.times.exposed_ps)
    unknown = exposed.pop(None, None)
    if unknown is not None:
        exposed[link] = exposed.get(link, 0.0) + unknown
    links = tuple(link if one is None else one for one in timeline.transfers.link)
    return replace(
        timeline,
        times=replace(timeline.times, exposed_ps=exposed),
        transfers=replace(timeline.transfers, link=links),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OpLinks:
    """Links of ops, one entry per op of the profile.

    `moves` marks transfers, which their link binds (`link`; `None`: not known). `gibs` is the rate
    over each link where the time of a transfer is known (else: bytes over the op's time).
    `exposed_us` is time in which a core only waited, over all cores, `saving_us` what of it is
    beyond what the link's peak needs. NaN is not known. `reach` is the part of its link's peak that
    the group of a transfer has: two chips of a mesh of eight have one of seven links.
    """

    moves: Bools
    link: tuple[MemoryLevel | None, ...]
    gibs: Mapping[MemoryLevel, Floats]
    exposed_us: Floats
    saving_us: Floats
    reach: Floats

    def with_idle(self) -> "OpLinks":
        """The same with a last row for IDLE, which moves nothing."""
        return OpLinks(
            moves=np.append(self.moves, False),
            link=(*self.link, None),
            gibs={level: np.append(rate, NAN) for level, rate in self.gibs.items()},
            exposed_us=np.append(self.exposed_us, NAN),
            saving_us=np.append(self.saving_us, NAN),
            reach=np.append(self.reach, 1.0),
        )


def op_links(
    profile: Profile,
    moves: Bools,
    link: Sequence[MemoryLevel | None],
    transfers: TransferRecords,
    device: Device,
) -> OpLinks:
    """The links of ops, of which `moves` are transfers and `link` their own links; `profile` has
    the traffic of links.
    """
    levels = [level for level in profile.ops.traffic_bytes if level.is_link]
    n_ops = len(profile.ops)
    exposed_us = _exposed(transfers, link)
    reach = _reach(transfers, link, device)
    return OpLinks(
        moves=moves,
        link=tuple(link),
        gibs={level: _rates(transfers, level, n_ops) for level in levels},
        exposed_us=exposed_us,
        saving_us=np.maximum(exposed_us - _at_peak(profile, link, device) / reach, 0.0),
        reach=reach,
    )


def _reach(
    transfers: TransferRecords, link: Sequence[MemoryLevel | None], device: Device
) -> Floats:
    """Time of an op's transfers at the peak of its link, over their time at that of their group."""
    whole, own = np.zeros(len(link)), np.zeros(len(link))
    for row in transfers.rows:
        peak = device.link_gbs(row.link) if row.link is not None else None
        if row.bytes and row.peak_gbs and peak and row.link is link[row.waits]:
            whole[row.waits] += row.bytes / peak
            own[row.waits] += row.bytes / row.peak_gbs
    return np.divide(whole, own, out=np.ones(len(link)), where=own > 0)


def _at_peak(profile: Profile, link: Sequence[MemoryLevel | None], device: Device) -> Floats:
    """Time that the bytes of each op need at the peak of its link, in us."""
    time_us = np.full(len(link), NAN)
    for level, column in profile.ops.traffic_bytes.items():
        peak = device.link_gbs(level)
        unknown = profile.ops.moves_unknown.get(level, False)
        mine = np.array([one is level for one in link], np.bool_) & ~np.asarray(unknown)
        if peak and mine.any():
            time_us[mine] = at_peak_us(column[mine].astype(np.float64), peak)
    return time_us


def _exposed(transfers: TransferRecords, link: Sequence[MemoryLevel | None]) -> Floats:
    """Exposed time of each op over its own link; NaN for ops that wait for no transfer."""
    exposed_us = np.full(len(link), NAN)
    for row in transfers.rows:
        if row.link is link[row.waits]:
            exposed_us[row.waits] = np.nan_to_num(exposed_us[row.waits]) + row.exposed_us
    return exposed_us


def _rates(transfers: TransferRecords, link: MemoryLevel, n_ops: int) -> Floats:
    """Bytes over the time that they took, in GiB/s."""
    moved, took_ps = np.zeros(n_ops), np.zeros(n_ops)
    for row in transfers.rows:
        if row.link is link and row.bytes and row.achieved_gbs:
            moved[row.waits] += row.bytes
            took_ps[row.waits] += row.bytes / row.achieved_gbs * GBS_PER_BYTE_PER_PS
    rates: Floats = np.full(n_ops, NAN)
    np.divide(moved * GBS_PER_BYTE_PER_PS, took_ps, out=rates, where=took_ps > 0)
    return gb_to_gib(rates)


# -------------------------------------------------------------------------------- rows of measures


def link_bytes(work: OpColumns, link: MemoryLevel) -> Floats:
    """Bytes that rows moved over `link`; NaN where that is not known."""
    unknown = work.moves_unknown.get(link, np.zeros(len(work), np.bool_))
    return np.where(unknown, NAN, work.traffic_bytes[link].astype(np.float64))


def over_links(
    bandwidth: Mapping[MemoryLevel, Floats], links: OpLinks
) -> dict[MemoryLevel, Floats]:
    """Rates over links, in GiB/s: by a transfer's own time where that is known."""
    return {
        level: np.where(np.isnan(rate), bandwidth[level], rate)
        for level, rate in links.gibs.items()
    }


def link_bounds(context: Context, links: OpLinks) -> I64:
    """Bound codes of transfers: their link, where it and its peak are known."""
    codes: dict[MemoryLevel | None, int] = {
        level: roofline.COMPUTE_BOUND + 1 + context.levels.index(level)
        for level in context.links
        if level in context.peaks.link_gibs
    }
    found = np.full(len(links.moves), context.unknown_link_bound)
    for op in np.flatnonzero(links.moves).tolist():
        found[op] = codes.get(links.link[op], context.unknown_link_bound)
    return found


def at_own_link(context: Context, links: OpLinks, columns: Mapping[MemoryLevel, Floats]) -> Floats:
    """The values of `columns` for the link that each transfer uses; NaN where it is not known."""
    found = np.full(len(links.moves), NAN)
    for level in context.links:
        mine = np.array([link is level for link in links.link], np.bool_)
        found = np.where(mine & links.moves, columns[level], found)
    return found


def of_group(links: OpLinks, level: MemoryLevel) -> Floats:
    """The part of a link's peak that is there for each op."""
    mine = np.array([link is level for link in links.link], np.bool_) & links.moves
    return np.where(mine, links.reach, 1.0)


def link_use(context: Context, work: OpColumns, links: OpLinks) -> LinkUse:
    """The traffic of the transfers among the ops of `work`."""
    moved = {level: link_bytes(work, level) for level in context.links}
    return LinkUse(
        link=tuple(
            link if moves else None for link, moves in zip(links.link, links.moves, strict=True)
        ),
        bytes=at_own_link(context, links, moved),
        exposed_us=np.where(links.moves, links.exposed_us, NAN),
        reach=links.reach,
    )
