"""What a profiler measured as a share of its own device's peaks, under the peaks of another.

Rates and times stay when the peaks change. A share that was measured does not: it is divided by
the new peak, or left out where only the share was measured.
"""

import math
from dataclasses import replace

from roofline.model.device import Device
from roofline.model.profile import Profile


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
