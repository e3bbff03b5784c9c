"""The peaks that a profile itself states or measured."""

from roofline.devices.comparisons import correction
from roofline.devices.parts import main_units, same_hardware
from roofline.devices.peak_table import PeakTable
from roofline.devices.published import PublishedPeaks
from roofline.model.compute import ComputeUnit
from roofline.model.device import MOST_PEAK, ComputePeak, MemoryPeak, ReportedDevice
from roofline.model.memory import MemoryLevel

_COMPUTE_SOURCE = "peak_teraflops_per_second of the device plane"
_MEMORY_SOURCES = {
    MemoryLevel.HBM: "peak_hbm_bw_gigabytes_per_second",
    MemoryLevel.CMEM_READ: "peak_cmem_rd_bw_gigabytes_per_second",
    MemoryLevel.CMEM_WRITE: "peak_cmem_wr_bw_gigabytes_per_second",
    MemoryLevel.VMEM_READ: "peak_vmem_rd_bw_gigabytes_per_second",
    MemoryLevel.VMEM_WRITE: "peak_vmem_wr_bw_gigabytes_per_second",
    MemoryLevel.SHARED_L1: "peak_sram_rd_bw_gigabytes_per_second",
}


def profile_peaks(reported: ReportedDevice, published: PublishedPeaks | None) -> PeakTable:
    """The profile's peaks; one that is not a positive number counts as unknown.

    `published` are those of the part: they say which units a nameless peak stands for, and which
    bandwidths are known to be wrong.
    """
    memory = {
        level: _memory_peak(reported, level, published)
        for level in MemoryLevel
        if _is_peak(reported.bandwidth_gbs.get(level))
    }
    return PeakTable(
        compute=(*_nameless_peak(reported, published), *_unit_peaks(reported)), memory=memory
    )


def _nameless_peak(
    reported: ReportedDevice, published: PublishedPeaks | None
) -> tuple[ComputePeak, ...]:
    gflops = reported.peak_gflops
    if gflops is None or not _is_peak(gflops):
        return ()
    peak = ComputePeak(
        id="peak",
        label="Compute",
        gflops=gflops,
        origin=reported.peak_origin,
        source=reported.derivation.get("compute", _COMPUTE_SOURCE),
        covers=_stands_for(reported, published),
        clock_ghz=reported.peak_clock_ghz,
    )
    return (peak,)


def _stands_for(
    reported: ReportedDevice, published: PublishedPeaks | None
) -> tuple[ComputeUnit, ...]:
    """Units that the profile's one peak is about: the part's main one, and those as fast."""
    peaks = published.compute if published else ()
    return tuple(
        peak.unit
        for peak in peaks
        if peak.gflops == peaks[0].gflops and peak.unit not in reported.unit_gflops
    )


def _unit_peaks(reported: ReportedDevice) -> tuple[ComputePeak, ...]:
    """Peaks that the profile has by unit and precision, the main one first."""
    found = [
        ComputePeak(
            id=unit.value,
            label=unit.label,
            gflops=reported.unit_gflops[unit],
            origin=reported.peak_origin,
            source=reported.derivation.get(unit.value, f"{unit.label} peak in the profile"),
            unit=unit,
            covers=tuple(
                other
                for other in same_hardware(reported.kind, unit)
                if other not in reported.unit_gflops
            ),
            clock_ghz=reported.peak_clock_ghz,
        )
        for unit in ComputeUnit
        if _is_peak(reported.unit_gflops.get(unit))
    ]
    first = main_units(reported.kind)
    return tuple(
        sorted(found, key=lambda p: first.index(p.unit) if p.unit in first else len(first))
    )


def _memory_peak(
    reported: ReportedDevice, level: MemoryLevel, published: PublishedPeaks | None
) -> MemoryPeak:
    gbs, stat = reported.bandwidth_gbs[level], _MEMORY_SOURCES.get(level)
    stated = f"{stat} of the device plane" if stat else f"{level.label} bandwidth in the profile"
    source = reported.derivation.get(level.value, stated)
    known = published.memory.get(level) if published else None
    if published and known:
        mended = correction(reported, published.part, level, gbs / known.gbs)
        if mended:
            how = "Half of" if mended < 1 else "Twice"
            gbs, source = (
                gbs * mended,
                f"{how} the profile's figure, which is known wrong: {source}",
            )
    # Main memory has a clock of its own.
    clock_ghz = None if level.is_main else reported.peak_clock_ghz
    return MemoryPeak(
        level=level, gbs=gbs, origin=reported.peak_origin, source=source, clock_ghz=clock_ghz
    )


def _is_peak(value: float | None) -> bool:
    """A damaged file may state anything; beyond every device a peak is unknown."""
    return value is not None and 0 < value < MOST_PEAK
