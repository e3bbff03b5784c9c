"""Peaks of a device, each with its origin: from the profile today.

Resolution order: what the user set, then what the profile reports, then the catalogue.
"""

import math

from app.model.device import (
    ComputePeak,
    Device,
    MemoryPeak,
    PeakOrigin,
    ReportedDevice,
)
from app.model.memory import MemoryLevel

_COMPUTE_SOURCE = "peak_teraflops_per_second of the device plane"
_MEMORY_SOURCES = {
    MemoryLevel.HBM: "peak_hbm_bw_gigabytes_per_second",
    MemoryLevel.CMEM_READ: "peak_cmem_rd_bw_gigabytes_per_second",
    MemoryLevel.CMEM_WRITE: "peak_cmem_wr_bw_gigabytes_per_second",
    MemoryLevel.VMEM_READ: "peak_vmem_rd_bw_gigabytes_per_second",
    MemoryLevel.VMEM_WRITE: "peak_vmem_wr_bw_gigabytes_per_second",
    MemoryLevel.SHARED_L1: "peak_sram_rd_bw_gigabytes_per_second",
}


def resolve(reported: ReportedDevice) -> Device:
    """A device ready for analysis. Peaks that nobody reports stay unknown: no roof, no guess.

    So does a peak that is no positive number: nothing can be held against it.
    """
    return Device(
        kind=reported.kind,
        name=reported.name,
        core_count=reported.core_count,
        compute=_compute(reported),
        memory=tuple(
            MemoryPeak(
                level=level,
                gbs=reported.bandwidth_gbs[level],
                origin=PeakOrigin.PROFILE,
                source=reported.derivation.get(
                    level.value, f"{_MEMORY_SOURCES[level]} of the device plane"
                ),
            )
            for level in MemoryLevel
            if _is_peak(reported.bandwidth_gbs.get(level))
        ),
        has_megacore=reported.has_megacore,
        has_cmem=reported.has_cmem,
        has_merged_vmem=reported.has_merged_vmem,
        counters=reported.counters,
    )


def _compute(reported: ReportedDevice) -> tuple[ComputePeak, ...]:
    gflops = reported.peak_gflops
    if gflops is None or not _is_peak(gflops):
        return ()
    peak = ComputePeak(
        id="peak",
        label="Compute",
        gflops=gflops,
        origin=PeakOrigin.PROFILE,
        source=reported.derivation.get("compute", _COMPUTE_SOURCE),
    )
    return (peak,)


def _is_peak(value: float | None) -> bool:
    return value is not None and math.isfinite(value) and value > 0
