"""How long an op's work takes at the peak of each resource: one clock per unit, memory and link.

Formulas: T = work / peak of each resource, T_min the longest (all of them at once), T_max the sum
(one after the other); T_min <= T_max <= k T_min for k resources.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from roofline.analysis import roofline
from roofline.analysis.context import NAN, Context
from roofline.analysis.prediction import Untimed
from roofline.analysis.records import Bools, Measures, OpClocks
from roofline.analysis.roofline import Floats
from roofline.analysis.time_records import at_peak_us
from roofline.analysis.transfers import OpLinks, at_own_link, link_bytes, of_group
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import OpColumns
from roofline.model.units import PS_PER_S, PS_PER_US


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinkClocks:
    """Time that each op's bytes need at the peak of each link, and, of transfers, of their own."""

    moves: Bools
    at_peak_us: Mapping[MemoryLevel, Floats]
    own_us: Floats


def link_clocks(context: Context, work: OpColumns, links: OpLinks) -> LinkClocks:
    """The clocks of links, for the ops of `work`."""
    at_peak: dict[MemoryLevel, Floats] = {}
    for level in context.links:
        at_peak_of_link = at_peak_us(link_bytes(work, level), context.device.link_gbs(level) or NAN)
        at_peak[level] = at_peak_of_link / of_group(links, level)
    own_us = at_own_link(context, links, at_peak)
    return LinkClocks(
        moves=links.moves, at_peak_us=at_peak, own_us=np.where(own_us > 0, own_us, NAN)
    )


MAIN = "compute"
_AT_RIDGE = (0.8, 1.25)  # of intensity / ridge
_SECOND_US = PS_PER_S / PS_PER_US


def clocks_of(
    measures: Measures, total_time_us: Floats, rows: Untimed, starts: Bools, links: LinkClocks
) -> OpClocks:
    """The clocks of ops.

    In `measures`, ops without a time took one second each. Ops that are not held against the roofs
    have no clocks. Nor has a start (of `starts`) of an asynchronous transfer, or a transfer over a
    link, whose bytes take longer than it ran: they moved in the time of other ops. The other bytes
    and FLOPs of a transfer are not held against its time.
    """
    time_us = np.where(rows.is_predicted, _SECOND_US, total_time_us)
    elsewhere = starts & (measures.roofline_efficiency_ratio > 1)
    held = (measures.bound != roofline.UNKNOWN_BOUND) & ~elsewhere & ~links.moves
    time_us = np.where(held, time_us, NAN)

    def took(shares: Mapping[Any, Floats]) -> dict[str, Floats]:
        return {str(key): share * time_us for key, share in shares.items()}

    def at_peak(clock_us: Floats) -> Floats:
        is_elsewhere = links.moves & (np.isnan(links.own_us) | (links.own_us > total_time_us))
        return np.where(is_elsewhere | ~(held | links.moves), NAN, clock_us)

    compute = took({MAIN: measures.main_utilisation_ratio, **measures.unit_utilisation_ratio})
    memory = took({k: v for k, v in measures.utilisation_ratio.items() if not k.is_link})
    memory |= {level.value: at_peak(clock_us) for level, clock_us in links.at_peak_us.items()}
    clocks = list((compute | memory).values())
    t_min_us = roofline.highest(clocks, length=len(time_us), missing=NAN)
    t_max_us = np.where(np.isnan(t_min_us), NAN, np.nansum(clocks, axis=0))
    return OpClocks(
        of=compute | memory,
        t_min_us=t_min_us,
        t_max_us=t_max_us,
        above_t_max_us=np.maximum(total_time_us - t_max_us, 0.0),
        at_ridge=_is_at_ridge(compute, memory),
    )


def _is_at_ridge(compute: Mapping[str, Floats], memory: Mapping[str, Floats]) -> Bools:
    """Where intensity / ridge, which is compute time / memory time, is about one."""
    least, most = _AT_RIDGE
    ratio = _longest(compute) / _longest(memory)
    near: Bools = (ratio >= least) & (ratio <= most)
    return near


def _longest(clocks: Mapping[str, Floats]) -> Floats:
    """The longest of each row; NaN where nothing takes time."""
    longest = np.fmax.reduce(list(clocks.values())) if clocks else np.array(NAN)
    return np.where(longest > 0, longest, NAN)
