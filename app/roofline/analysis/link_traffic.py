"""Which link each op uses, and its bytes there as traffic of that link.

A TPU's collectives use ICI, other links are those that the capture, the file or the user tells.
Where none of them does, the link is not known.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from roofline.analysis.records import U64
from roofline.analysis.time_records import TransferRecords
from roofline.model.categories import is_collective
from roofline.model.device import Device, DeviceKind, PeakOrigin
from roofline.model.memory import LINKS, MemoryLevel
from roofline.model.op_columns import Bools, OpColumns
from roofline.model.profile import Profile
from roofline.model.timeline import Timeline

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
