"""The device of a workload: `sysinfo.csv` says which, `roofline.csv` what it was measured to reach.

`roofline.csv` has one row per GPU, as the benchmark numbers them. A dispatch's `GPU_ID` counts the
machine's processors too, so rows cannot be matched: the first is used, as AMD's own plot does.
"""

import contextlib
import math
from collections.abc import Mapping, Sequence

from roofline.importers.rocprof_compute.files import Table
from roofline.importers.shared.amd_busy import AmdSize, amd_size
from roofline.importers.shared.tables_text import parse_number
from roofline.model.beside_ops import environment
from roofline.model.compute import ComputeUnit
from roofline.model.device import DeviceKind, DeviceTraits, PeakOrigin, ReportedDevice
from roofline.model.memory import MemoryLevel
from roofline.model.units import KILO

_NOT_KNOWN = "NA"
_ENVIRONMENT = {
    "rocm_version": "rocm_version",
    "driver_version": "amd_gpu_kernel_version",
    "compute_partition": "compute_partition",
    "memory_partition": "memory_partition",
    "firmware": "vbios",
    "kernel_version": "linux_kernel_version",
}
_LEVEL_COLUMNS = {
    MemoryLevel.HBM: ("hbmbw",),
    MemoryLevel.LLC: ("mallbw",),
    MemoryLevel.L2: ("l2bw",),
    MemoryLevel.L1: ("l1bw", "l0bw"),
    MemoryLevel.LDS: ("ldsbw",),
}
_UNIT_COLUMNS = {
    ComputeUnit.VECTOR_FP64: ("fp64flops",),
    ComputeUnit.VECTOR_FP32: ("fp32flops",),
    ComputeUnit.VECTOR_FP16: ("fp16flops",),
    ComputeUnit.MATRIX_FP64: ("mfmaf64flops",),
    ComputeUnit.MATRIX_FP32: ("mfmaf32flops",),
    ComputeUnit.MATRIX_BF16: ("mfmabf16flops", "wmmabf16flops"),
    ComputeUnit.MATRIX_FP16: ("mfmaf16flops", "wmmaf16flops"),
    ComputeUnit.MATRIX_FP8: ("mfmaf8flops", "wmmaf8flops"),
    ComputeUnit.MATRIX_INT8: ("mfmai8ops", "wmmai8ops"),
    ComputeUnit.MATRIX_FP4: ("mfmaf4flops", "mfmaf6f4flops"),
}


def read_device(
    system: Mapping[str, str], roofs: Table | None, *, core_count: int
) -> ReportedDevice:
    """The device of a workload; without `roofs` only the HBM bandwidth that `system` states."""
    traits = _traits(system)
    name = gpu_name(system)
    if roofs is None or not roofs.rows:
        stated = traits.memory_gbs
        return ReportedDevice(
            kind=DeviceKind.GPU,
            name=name,
            core_count=core_count,
            bandwidth_gbs={MemoryLevel.HBM: stated} if stated else {},
            traits=traits,
            derivation={MemoryLevel.HBM.value: "hbm_bw of sysinfo.csv, the memory's clock × width"},
        )
    row, source = roofs.rows[0], _roofs_source(roofs)
    units = {unit: value for unit, names in _UNIT_COLUMNS.items() if (value := _peak(row, names))}
    levels = {lv: value for lv, names in _LEVEL_COLUMNS.items() if (value := _peak(row, names))}
    return ReportedDevice(
        kind=DeviceKind.GPU,
        name=name,
        core_count=core_count,
        unit_gflops=units,
        bandwidth_gbs=levels,
        traits=traits,
        derivation={key.value: source for key in (*units, *levels)},
        peak_origin=PeakOrigin.MEASURED,
    )


def gpu_name(system: Mapping[str, str]) -> str:
    """The GPU's model, else its architecture; empty where `sysinfo.csv` says neither."""
    model = _text(system, "gpu_model") or _text(system, "gpu_soc")
    return model or _traits(system).architecture


def positive(system: Mapping[str, str], column: str) -> float | None:
    """A positive number of `sysinfo.csv`, `None` where there is none."""
    with contextlib.suppress(ValueError):
        value = parse_number(system.get(column, ""))
        if value is not None and math.isfinite(value) and value > 0:
            return value
    return None


def read_size(system: Mapping[str, str]) -> AmdSize:
    """The size of the GPU, as `sysinfo.csv` says it."""

    def count(column: str) -> int | None:
        value = positive(system, column)
        return round(value) if value else None

    traits = _traits(system)
    return amd_size(
        traits.architecture,
        units=traits.processor_count,
        clock_ghz=traits.clock_ghz,
        dies=count("num_xcd"),
        l2_channels=count("total_l2_chan"),
        unit_waves=count("max_waves_per_cu"),
    )


def read_environment(system: Mapping[str, str]) -> dict[str, str]:
    """Versions and partitions of the machine, as `sysinfo.csv` says them."""
    found = {name: _text(system, column) for name, column in _ENVIRONMENT.items()}
    return environment({name: text for name, text in found.items() if text != _NOT_KNOWN})


def read_program(system: Mapping[str, str]) -> str:
    """The program of the workload's command line, as `sysinfo.csv` has it: its first word."""
    return next(iter(_text(system, "command").split()), "")


def _traits(system: Mapping[str, str]) -> DeviceTraits:
    units, clock_mhz = positive(system, "cu_per_gpu"), positive(system, "max_sclk")
    return DeviceTraits(
        processor_count=int(units) if units else None,
        clock_ghz=clock_mhz / KILO if clock_mhz else None,
        memory_gbs=positive(system, "hbm_bw"),
        architecture=_text(system, "gpu_arch"),
        hostname=_text(system, "hostname"),
    )


def _text(system: Mapping[str, str], column: str) -> str:
    return system.get(column, "").strip()


def _peak(row: Mapping[str, str], names: Sequence[str]) -> float | None:
    """The first of `names` with a positive mean; 0 says that the part cannot do it."""
    return next((value for name in names if (value := positive(row, name))), None)


def _roofs_source(roofs: Table) -> str:
    if len(roofs.rows) == 1:
        return f"measured by rocprof-compute's benchmark ({roofs.name})"
    return (
        f"measured by rocprof-compute's benchmark ({roofs.name}, device "
        f"{roofs.rows[0].get('device', '0').strip() or '0'} of {len(roofs.rows):,})"
    )
