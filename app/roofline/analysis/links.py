"""The traffic of each op over links: its bytes as traffic of the link, and its rate there.

A transfer is bound by its link. Its bytes count once, at the op that waits for them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from roofline.analysis import roofline
from roofline.analysis.context import NAN, Context
from roofline.analysis.records import I64, LinkUse
from roofline.analysis.roofline import Floats
from roofline.analysis.time_records import GBS_PER_BYTE_PER_PS, TransferRecords, at_peak_us
from roofline.model.device import Device
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import Bools, OpColumns
from roofline.model.profile import Profile
from roofline.model.units import gb_to_gib


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
