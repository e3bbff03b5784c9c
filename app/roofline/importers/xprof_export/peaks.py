"""Peaks of an export: stated by the JSON's properties, or recovered from the CSV's shares of them.

The CSV loses the properties, but its rows hold rates and their shares of the peak: the peak is
one over the other. A memory's peak follows from rows that it binds. What cannot be recovered stays
unknown.
"""

import math
from collections.abc import Mapping

import numpy as np

from roofline.importers.xprof_export.tables import ExportTable
from roofline.model.device import DeviceKind, DeviceTraits, ReportedDevice
from roofline.model.memory import TPU_ON_CHIP_LEVELS, MemoryLevel
from roofline.model.op_columns import F64, Bools
from roofline.model.units import gib_to_gb

BANDWIDTH_COLUMNS = {
    MemoryLevel.HBM: "hbm_bw",
    MemoryLevel.CMEM_READ: "cmem_read_bw",
    MemoryLevel.CMEM_WRITE: "cmem_write_bw",
    MemoryLevel.VMEM_READ: "vmem_read_bw",
    MemoryLevel.VMEM_WRITE: "vmem_write_bw",
}
_COMPUTE = "compute"
# By a word of the device type, the first that fits: XProf 2.24.2, measured.
_XPROFS_SHARED_BYTES = {"gfx950": 256, "AMD": 128, "Fermi": 64, "Nvidia": 256}


def levels_of(kind: DeviceKind) -> tuple[MemoryLevel, ...]:
    """Memories whose bytes the export counts: on GPUs, what it calls SHM/L1 is never counted."""
    on_chip = TPU_ON_CHIP_LEVELS if kind is DeviceKind.TPU else ()
    return (MemoryLevel.HBM, *on_chip)


def device_kind(table: ExportTable) -> DeviceKind:
    """The kind of device by the columns: TPUs have CMEM and VMEM, GPUs have neither."""
    name = (table.properties or {}).get("device_type", "").upper()
    if "TPU" in name or any("TensorCore" in text for text in table.texts("core_type")):
        return DeviceKind.TPU
    if "GPU" in name:
        return DeviceKind.GPU
    if "bottleneck_operational_intensity" not in table.columns:
        # hlo_stats: ops of TPUs name their core; versions without that column tell nothing.
        return DeviceKind.GPU if "core_type" in table.columns else DeviceKind.UNKNOWN
    return DeviceKind.TPU if "cmem_read_bw" in table.columns else DeviceKind.GPU


def read_device(table: ExportTable, *, core_count: int) -> ReportedDevice:
    """The device of an export, per core; `name` is empty where the export does not name it."""
    kind = device_kind(table)
    if table.properties:
        return _stated(table.properties, kind, core_count)
    return _recovered(table, kind, core_count)


def _stated(properties: Mapping[str, str], kind: DeviceKind, core_count: int) -> ReportedDevice:
    stated = {
        level: gib_to_gb(_positive(properties.get(f"peak_{level.value}_bw")))
        for level in BANDWIDTH_COLUMNS
    }
    derivation = {level.value: f"peak_{level.value}_bw of the export" for level in stated}
    name, traits = properties.get("device_type", ""), DeviceTraits()
    if kind is DeviceKind.GPU:
        shared = stated.pop(MemoryLevel.VMEM_WRITE)
        stated[MemoryLevel.SHARED_L1] = shared
        derivation[MemoryLevel.SHARED_L1.value] = _shared_note(name)
        # Traits that tell parts of one architecture apart, as far as it follows from the peaks.
        count = _shared_bytes(name)
        traits = DeviceTraits(
            memory_gbs=stated[MemoryLevel.HBM] or None,
            cycles_per_ns=shared / count if count and shared else None,
        )
    return ReportedDevice(
        kind=kind,
        name=name,
        core_count=core_count,
        peak_gflops=_positive(properties.get("peak_flop_rate")) or None,
        bandwidth_gbs={level: value for level, value in stated.items() if value},
        has_megacore=properties.get("megacore") == "1",
        has_cmem=properties.get("has_cmem") == "1",
        has_merged_vmem=properties.get("has_merged_vmem") == "1" or kind is DeviceKind.GPU,
        traits=traits,
        derivation={_COMPUTE: "peak_flop_rate of the export", **derivation},
    )


def _shared_bytes(name: str) -> int | None:
    """Bytes of shared memory per processor and cycle from which XProf computes a GPU's peak."""
    return next((count for word, count in _XPROFS_SHARED_BYTES.items() if word in name), None)


def _shared_note(name: str) -> str:
    count = _shared_bytes(name)
    note = "peak_vmem_write_bw of the export"
    return note if count is None else f"{note}, at XProf's {count} bytes per processor and cycle"


def _recovered(table: ExportTable, kind: DeviceKind, core_count: int) -> ReportedDevice:
    efficiency = table.numbers("roofline_efficiency")
    bound_by = np.array(table.texts("bound_by"))
    compute = _one_over_other(
        table.numbers("measured_flop_rate"), table.numbers("compute_efficiency")
    )
    memory = {
        level: _one_over_other(
            table.numbers(BANDWIDTH_COLUMNS[level]), efficiency, bound_by == level.label
        )
        for level in levels_of(kind)
    }
    if kind is DeviceKind.GPU and memory[MemoryLevel.HBM] is None:  # the only memory that counts
        memory[MemoryLevel.HBM] = _one_over_other(
            table.numbers("hbm_bw"), table.numbers("max_mem_bw_utilization")
        )
    derivation = {
        level.value: f"{level.label} bandwidth ÷ its share of the peak, in the rows of the export"
        for level in memory
    }
    return ReportedDevice(
        kind=kind,
        name="",
        core_count=core_count,
        peak_gflops=compute,
        bandwidth_gbs={level: gib_to_gb(value) for level, value in memory.items() if value},
        has_cmem=bool(memory.get(MemoryLevel.CMEM_READ)),
        has_merged_vmem=kind is DeviceKind.GPU,
        derivation={
            _COMPUTE: "FLOP rate ÷ its share of the peak, in the rows of the export",
            **derivation,
        },
    )


def _one_over_other(rate: F64, share: F64, among: Bools | None = None) -> float | None:
    """The median of rate ÷ share, where both are known; `None` where no row tells."""
    known = (rate > 0) & (share > 0)
    if among is not None:
        known &= among
    with np.errstate(over="ignore"):
        peaks = rate[known] / share[known]
    peaks = peaks[np.isfinite(peaks)]
    return float(np.median(peaks)) if len(peaks) else None


def _positive(text: str | None) -> float:
    try:
        value = float(text or 0)
    except ValueError:
        return 0.0
    return value if math.isfinite(value) and value > 0 else 0.0
