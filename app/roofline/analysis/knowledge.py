"""Of which share of the busy time the work is known, and what may be told from it.

A rate, an intensity or a verdict uses only ops for which that quantity is known, and the shares
here say how much of the time that is.
"""

import numpy as np

from roofline.analysis.records import Bools, KnownTime
from roofline.model.op_columns import OpColumns
from roofline.model.profile import Profile, Provenance

# A program's bound, intensity and share of the roof are told from this share of its busy time on:
# from less, the part that is not known could outweigh the part that is. For the same reason the
# compute use of a row is known where at least this share of its FLOPs has a peak.
KNOWN_SHARE = 0.5
# From this share on the rest changes nothing that a reader acts on: sentences leave it out.
NEARLY_ALL = 0.9


# The note of an importer on a file with the host of an accelerator alone.
HOST_ONLY = "launches-without-kernels"


def is_host_only(profile: Profile) -> bool:
    """True where times are those of the host that launched work, not of the device that did it."""
    return any(note.code == HOST_ONLY for note in profile.diagnostics)


def flop_known(work: OpColumns) -> Bools:
    """Rows whose FLOPs are known; 0 may be one of the numbers."""
    return work.cost_known & work.flop_known


def bytes_known(work: OpColumns) -> Bools:
    """Rows whose bytes are known."""
    return work.cost_known & work.bytes_known


def is_light(profile: Profile, work: OpColumns) -> Bools:
    """Rows that move bytes and have no formula for FLOPs, because they do hardly any.

    Estimates from shapes have formulas for the operators that compute most; elementwise ones,
    copies and normalisations have one for their bytes alone. Elsewhere unknown FLOPs say nothing.
    """
    estimated = profile.flop_provenance is Provenance.ESTIMATED
    return bytes_known(work) & ~flop_known(work) & estimated


def both_known(profile: Profile, work: OpColumns) -> Bools:
    """Rows that have a place on the roofline: FLOPs and bytes known, or bytes of a light row."""
    return (bytes_known(work) & flop_known(work)) | is_light(profile, work)


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
