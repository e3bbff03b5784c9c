"""What a profiler measured as a share of its own device's peaks, under the peaks of another.

Rates and times stay when the peaks change. A share that was measured does not: it is divided by
the new peak, or left out where only the share was measured.
"""

import math
from dataclasses import replace

from roofline.analysis.context import time_scale
from roofline.errors import NoSuchRangeError
from roofline.model.device import Device, PeakOrigin
from roofline.model.memory import MemoryLevel
from roofline.model.notes import noted, notes_beside
from roofline.model.profile import Profile

_NOTES = notes_beside(__file__)


def under_other_peaks(profile: Profile, own: Device, device: Device) -> tuple[Profile, Device]:
    """`profile` and `device`, without the shares of peaks of `own` that `device` does not have.

    What launches could have done at most was measured of the peaks of `own`, and is left out where
    the peak is another one. A counter's share is that of the same rate under the new peak.
    """
    ops = profile.ops
    levels = {
        level: column
        for level, column in ops.level_capacity_bytes.items()
        if device.memory_gbs(level) == own.memory_gbs(level)
    }
    units = {
        unit: column
        for unit, column in ops.unit_capacity_flop.items()
        if device.unit_gflops(unit) == own.unit_gflops(unit)
    }
    counters = device.counters
    main = [
        next((peak.gbs for peak in one.memory if peak.level.is_main), None) for one in (own, device)
    ]
    return (
        replace(profile, ops=replace(ops, level_capacity_bytes=levels, unit_capacity_flop=units)),
        replace(
            device,
            counters=replace(
                counters,
                matrix_unit_ratio=_of(
                    counters.matrix_unit_ratio, own.peak_gflops, device.peak_gflops
                ),
                hbm_ratio=_of(counters.hbm_ratio, *main),
            ),
        ),
    )


def _of(ratio: float | None, own: float | None, other: float | None) -> float | None:
    """A share of the peak `own` as a share of `other`; not known where one of them is not."""
    if ratio is None or own == other:
        return ratio
    return ratio * own / other if own and other else math.nan


# ------------------------------------------------------------------------------- the clock that ran
# XProf's switch "Apply Dvfs Scaling Factor" does the same: it multiplies the peak FLOP rate and the
# peaks of VMEM by the capture's time scale multiplier, and leaves those of HBM and CMEM.

_FOLLOWS_CLOCK = frozenset({MemoryLevel.VMEM_READ, MemoryLevel.VMEM_WRITE})
_SAME = 1e-6


def clock_scale(profile: Profile) -> float | None:
    """The clock that ran over the default one; `None` where they are the same or not known."""
    scale = time_scale(profile)
    if scale is None or not math.isfinite(scale) or scale <= 0 or abs(scale - 1) <= _SAME:
        return None
    return scale


def at_running_clock(profile: Profile, device: Device) -> tuple[Profile, Device]:
    """The device with compute and VMEM peaks at the clock that ran, and a note in the profile.

    Peaks that the user set stay. Raises `NoSuchRangeError` where the clock is not known to differ.
    """
    scale = clock_scale(profile)
    if scale is None:
        raise NoSuchRangeError(
            "This capture does not say that its clock differed from the default one.",
            remedy="Show it by its own peaks. Only captures of TPUs with time scales of their ops"
            " have such a clock.",
        )
    source = f"× {scale:.4g}, the clock that ran ÷ the default one"
    compute = tuple(
        one
        if one.origin is PeakOrigin.USER
        else replace(one, gflops=one.gflops * scale, source=f"{one.source} {source}".strip())
        for one in device.compute
    )
    memory = tuple(
        one
        if one.origin is PeakOrigin.USER or one.level not in _FOLLOWS_CLOCK
        else replace(one, gbs=one.gbs * scale, source=f"{one.source} {source}".strip())
        for one in device.memory
    )
    note = noted(_NOTES, "running-clock", scale=scale)
    return (
        replace(profile, diagnostics=(note, *profile.diagnostics)),
        replace(device, compute=compute, memory=memory, dvfs_scale=scale),
    )
