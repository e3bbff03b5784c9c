"""Whether the roofs that work is held against belong to one clock, in a sentence.

A profiler measures peaks at the clock that the kernels ran at, a data sheet states them for the
boost clock. Shares of roofs of two clocks do not compare.
"""

from collections.abc import Sequence

from roofline.analysis.context import Context
from roofline.model.device import ComputePeak, Device, MemoryPeak, PeakOrigin
from roofline.model.notes import noted, notes_beside
from roofline.model.profile import Diagnostic

_NOTES = notes_beside(__file__)

_MEASURED, _PUBLISHED = PeakOrigin.MEASURED, PeakOrigin.CATALOGUE


def clock_of_peaks(context: Context) -> Diagnostic | None:
    """A note where measured roofs stand beside published ones that the program uses."""
    device = context.device
    clock = measured_clock_ghz(device)
    published = _published_in_use(context)
    if not published or not any(peak.origin is _MEASURED for peak in device.compute):
        return None
    other = [peak for peak in published if clock is None or peak.clock_ghz != clock]
    return _two_clocks(other, clock) if other else _one_clock(published, clock)


def measured_clock_ghz(device: Device) -> float | None:
    """The clock of the measured compute peaks, or `None` where it is not known."""
    return next((p.clock_ghz for p in device.compute if p.origin is _MEASURED), None)


def _published_in_use(context: Context) -> list[ComputePeak | MemoryPeak]:
    """Published peaks of units and on-chip memories for which the program has work."""
    device = context.device
    compute = (
        peak
        for peak in device.compute
        if peak.origin is _PUBLISHED and {peak.unit, *peak.covers} & {*context.units}
    )
    memory = (
        peak
        for peak in device.memory
        if peak.origin is _PUBLISHED and peak.level in context.levels and not peak.level.is_main
    )
    return [*compute, *memory]


def _one_clock(peaks: Sequence[ComputePeak | MemoryPeak], clock: float | None) -> Diagnostic:
    return noted(_NOTES, "measured-clock", roofs=_roofs(peaks), clock=clock)


def _two_clocks(peaks: Sequence[ComputePeak | MemoryPeak], clock: float | None) -> Diagnostic:
    at = "" if clock is None else f" at {clock:.4g} GHz"
    return noted(_NOTES, "two-clocks", roofs=_roofs(peaks), at=at)


def _roofs(peaks: Sequence[ComputePeak | MemoryPeak]) -> str:
    names = [peak.label if isinstance(peak, ComputePeak) else peak.level.label for peak in peaks]
    if len(names) == 1:
        return f"The roof of {names[0]} is"
    return f"The roofs of {', '.join(names[:-1])} and {names[-1]} are"
