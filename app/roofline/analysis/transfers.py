"""Transfers held against the links they use: rates, exposed time, what the link allows."""

import numpy as np

from roofline.analysis.roofline import Floats
from roofline.analysis.time_records import (
    GBS_PER_BYTE_PER_PS,
    TransferRecord,
    TransferRecords,
    at_peak_us,
)
from roofline.model.categories import is_collective
from roofline.model.device import Device
from roofline.model.op_columns import Bools, OpColumns
from roofline.model.profile import Profile
from roofline.model.timeline import TransferOccurrences, Transfers
from roofline.model.units import PS_PER_US


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
