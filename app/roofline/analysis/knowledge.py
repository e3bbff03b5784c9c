"""Of which share of the busy time the work is known, and what may be told from it.

A rate, an intensity or a verdict uses only ops for which that quantity is known, and the shares
here say how much of the time that is.
"""

from collections.abc import Callable

import numpy as np

from roofline.analysis.records import Bools, KnownTime
from roofline.model.categories import is_async_copy, is_container
from roofline.model.op_columns import OpColumns
from roofline.model.profile import Profile, Provenance

# A program's bound, intensity and share of the roof are told from this share of its busy time on:
# from less, the part that is not known could outweigh the part that is. For the same reason the
# compute use of a row is known where at least this share of its FLOPs has a peak.
KNOWN_SHARE = 0.5
# From this share on the rest changes nothing that a reader acts on: sentences leave it out.
NEARLY_ALL = 0.9


def flop_known(work: OpColumns) -> Bools:
    """Rows whose FLOPs are known; 0 may be one of the numbers."""
    return work.cost_known & work.flop_known


def bytes_known(work: OpColumns) -> Bools:
    """Rows whose bytes are known."""
    return work.cost_known & work.bytes_known


def is_light(profile: Profile, work: OpColumns) -> Bools:
    """Rows that move bytes and have no formula for FLOPs, because they do hardly any.

    Estimates from shapes have formulas for the operators that compute most; losses and random
    numbers have one for their bytes alone. Elsewhere unknown FLOPs say nothing, as where the bytes
    were sampled, with busy shares.
    """
    estimated = profile.flop_provenance is Provenance.ESTIMATED
    light = bytes_known(work) & ~flop_known(work) & estimated
    for busy_ps in work.busy_ps.values():
        light &= ~np.isfinite(busy_ps)
    return light


def both_known(profile: Profile, work: OpColumns) -> Bools:
    """Rows that have a place on the roofline: FLOPs and bytes known, or bytes of a light row."""
    return (bytes_known(work) & flop_known(work)) | is_light(profile, work)


def has_no_place(profile: Profile) -> bool:
    """True where no peak would tell more: no op has a place on a roofline, nor goes over a link."""
    work, timeline = profile.ops, profile.timeline
    has_moves = timeline is not None and len(timeline.transfers.op) > 0
    return not has_moves and len(work) > 0 and not both_known(profile, work).any()


def opaque_in(profile: Profile) -> Callable[[str], bool]:
    """By category, ops whose own time has no cost: containers, and asynchronous copies of a table,
    which does not say what memory they wait for."""
    if profile.timeline is not None:
        return is_container
    return lambda category: is_container(category) or is_async_copy(category)


def is_part_unknown(known: KnownTime) -> bool:
    """True where the part that is not known is worth a word."""
    return known.both < NEARLY_ALL


def coverage(profile: Profile) -> float | None:
    """The part of the program that the files hold, 0 to 1: of the kernels that were launched, or of
    the time of all ops that the files state, whichever is less; `None` where neither is known.
    """
    timed, launched = profile.kernels_timed or (0, 0)
    shares = [timed / launched] if launched else []
    if profile.stated_total_ps:
        shares.append(profile.op_time_ps / profile.stated_total_ps)
    return min(shares, default=None)


def is_mostly_missing(profile: Profile) -> bool:
    """True where the files hold less than half of the program: of the rest nothing is known."""
    share = coverage(profile)
    return share is not None and share < KNOWN_SHARE


def known_time(profile: Profile, work: OpColumns) -> KnownTime:
    """Shares of the self time of `work` (of its rows, where nothing has a time)."""
    weight = work.self_time_ps.astype(np.float64)
    weight = weight if weight.any() else np.ones(len(work))
    whole = float(weight.sum())

    def share(rows: Bools) -> float:
        return float(weight[rows].sum()) / whole if whole else 0.0

    return KnownTime(
        flop=share(flop_known(work)),
        bytes=share(bytes_known(work)),
        both=share(both_known(profile, work)),
    )
