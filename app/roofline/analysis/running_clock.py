"""Peaks at the clock that a program ran with, where the capture compares it with the default.

XProf's switch "Apply Dvfs Scaling Factor" does the same: it multiplies the peak FLOP rate and the
peaks of VMEM by the capture's time scale multiplier, and leaves those of HBM and CMEM.
"""

import math
from dataclasses import replace

from roofline.analysis.context import time_scale
from roofline.errors import NoSuchRangeError
from roofline.model.device import Device, PeakOrigin
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Diagnostic, Profile, Severity

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
    note = Diagnostic(
        severity=Severity.INFO,
        code="running-clock",
        message=f"Compute and VMEM peaks are multiplied by {scale:.4g}: the clock that ran, divided"
        " by the default one. Those of HBM, CMEM and links are not.",
    )
    return (
        replace(profile, diagnostics=(note, *profile.diagnostics)),
        replace(device, compute=compute, memory=memory, dvfs_scale=scale),
    )
