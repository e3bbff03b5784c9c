"""Model and peaks of a GPU from its plane's stats.

Facts: XProf 2.24.2, measured. FLOP per multiprocessor and cycle is the most that any 16- or 32-bit
unit does. Shared memory: XProf counts twice what NVIDIA's parts can move; NVIDIA's number per
multiprocessor and cycle: CUDA C++ Programming Guide, "Compute Capabilities" (32 banks of 4 bytes).
"""

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from roofline.importers.xspace.oddities import Oddities
from roofline.importers.xspace.planes import Plane, Stats
from roofline.model.device import DeviceKind, DeviceTraits, ReportedDevice
from roofline.model.memory import MemoryLevel
from roofline.model.units import GIGA, KILO

T = TypeVar("T")

_GFX = re.compile(r"gfx[0-9a-f]{3,}", re.IGNORECASE)
_BARE_GFX = re.compile(r"gfx[0-9a-f]{3,}\Z")

# NVIDIA: compute capability → FLOP per SM and cycle; a device has the entry at or below its own.
_NVIDIA_FLOP = {
    (2, 0): 64, (3, 0): 384, (5, 0): 256, (6, 0): 256, (6, 1): 256, (7, 0): 1024, (7, 5): 1024,
    (8, 0): 2048, (8, 6): 1024, (8, 9): 1024, (9, 0): 4096, (10, 0): 8192,
}  # fmt: skip
_NVIDIA_FAMILIES = {
    (2, 0): "Fermi", (3, 0): "Kepler", (5, 0): "Maxwell", (6, 0): "Pascal", (7, 0): "Volta",
    (7, 5): "Turing", (8, 0): "Ampere", (8, 9): "Ada Lovelace", (9, 0): "Hopper",
    (10, 0): "Blackwell",
}  # fmt: skip
_FIRST_NVIDIA = (2, 0)
_LAST_NVIDIA_MAJOR = 10
_MISSING_NVIDIA_MAJORS = (4,)
# Bytes per SM and cycle from shared memory and L1.
_NVIDIA_SHARED_BYTES = {(2, 0): 64, (3, 0): 256, (5, 0): 128, (7, 5): 64, (8, 0): 128}

# AMD: architecture → FLOP per compute unit and cycle.
_AMD_FLOP = {"gfx908": 1024, "gfx90a": 1024, "gfx942": 2048, "gfx950": 4096}
_AMD_SHARED_BYTES = {"gfx908": 128, "gfx90a": 128, "gfx942": 128, "gfx950": 256}
_AMD_BY_VERSION = {(9, 4): "gfx942", (9, 5): "gfx950"}


@dataclass(frozen=True, slots=True)
class _Rates:
    """The rates of one multiprocessor per cycle; `None` where that is unknown."""

    name: str
    flop: int | None
    shared_bytes: int | None


def read_gpu_device(plane: Plane, *, count: int, oddities: Oddities) -> ReportedDevice:
    """The device that a GPU plane describes; `count` of them are one host."""
    stats = plane.stats
    rates = _rates(stats, oddities)
    units = stats.int_or_uint("core_count")
    gigahertz = stats.int_or_uint("clock_rate") * KILO / GIGA
    cycles = units * gigahertz  # multiprocessor cycles per nanosecond
    peak = (stats.double("peak_teraflops_per_second") or 0.0) * KILO
    shared = stats.double("peak_sram_wr_bw_gigabytes_per_second") or 0.0
    bandwidth = {
        MemoryLevel.HBM: stats.int_or_uint("memory_bandwidth") / GIGA,
        MemoryLevel.SHARED_L1: shared if shared > 0 else (rates.shared_bytes or 0) * cycles,
    }
    return ReportedDevice(
        kind=DeviceKind.GPU,
        name=rates.name,
        core_count=count,
        peak_gflops=(peak if peak > 0 else (rates.flop or 0) * cycles) or None,
        bandwidth_gbs={level: value for level, value in bandwidth.items() if value},
        has_merged_vmem=True,
        traits=DeviceTraits(
            processor_count=units or None,
            clock_ghz=gigahertz or None,
            memory_bytes=stats.int_or_uint("memory_size") or None,
            memory_gbs=bandwidth[MemoryLevel.HBM] or None,
            architecture=_architecture(stats),
        ),
        derivation=_derivation(stats, rates, units, gigahertz),
    )


def _architecture(stats: Stats) -> str:
    """The architecture's own spelling: "sm_90", "gfx942"; empty where the file does not say."""
    if stats.text("device_vendor") == "AMD":
        return _gfx(stats, Oddities(on=False))
    major, minor = _version(stats)
    return f"sm_{major}{minor}" if major else ""


def _gfx(stats: Stats, oddities: Oddities) -> str:
    """AMD's name of the architecture, from the device's name or else its version; empty without."""
    name = stats.text("gpu_device_name")
    match = _BARE_GFX.match(name) if oddities.wants_bare_gfx_name else _GFX.search(name)
    return match[0].lower() if match else _AMD_BY_VERSION.get(_version(stats), "")


def _version(stats: Stats) -> tuple[int, int]:
    return stats.int_or_uint("compute_cap_major"), stats.int_or_uint("compute_cap_minor")


def _derivation(stats: Stats, rates: _Rates, units: int, gigahertz: float) -> dict[str, str]:
    """How peaks that the file does not state come about, by "compute" or level."""
    each = f"{units} multiprocessors × {gigahertz:g} GHz"
    derived = {MemoryLevel.HBM.value: "memory_bandwidth of the device plane"}
    if not (stats.double("peak_teraflops_per_second") or 0.0) > 0 and rates.flop:
        derived["compute"] = f"{each} × {rates.flop:,} FLOP per cycle"
    stated = (stats.double("peak_sram_wr_bw_gigabytes_per_second") or 0.0) > 0
    if not stated and rates.shared_bytes:
        derived[MemoryLevel.SHARED_L1.value] = f"{each} × {rates.shared_bytes} bytes per cycle"
    return derived


def _rates(stats: Stats, oddities: Oddities) -> _Rates:
    vendor = stats.text("device_vendor")
    version = _version(stats)
    if vendor == "Nvidia":
        return _nvidia(version, oddities)
    if vendor == "AMD":
        gfx = _gfx(stats, oddities)
        name = _amd_name(gfx, version[0])
        return _Rates(name, _AMD_FLOP.get(gfx), _AMD_SHARED_BYTES.get(gfx))
    return _Rates("GPU", None, None)


def _nvidia(version: tuple[int, int], oddities: Oddities) -> _Rates:
    major = version[0]
    if version < _FIRST_NVIDIA and not oddities.takes_unknown_gpu_for_oldest:
        return _Rates("Nvidia GPU", None, None)
    shared = _at_or_below(_NVIDIA_SHARED_BYTES, version)
    if oddities.doubles_shared_memory:
        shared = 64 if major <= 2 else 256
    known = 2 <= major <= _LAST_NVIDIA_MAJOR and major not in _MISSING_NVIDIA_MAJORS
    family = _at_or_below(_NVIDIA_FAMILIES, version)
    name = f"Nvidia GPU ({family})" if known else "Nvidia GPU"
    return _Rates(name, _at_or_below(_NVIDIA_FLOP, version), shared)


def _at_or_below(table: Mapping[tuple[int, int], T], version: tuple[int, int]) -> T:
    keys = sorted(table)
    return table[keys[max(0, bisect_right(keys, version) - 1)]]


def _amd_name(gfx: str, major: int) -> str:
    if gfx:
        return f"AMD GPU - {gfx}"
    series = {9: "gfx-9XX", 10: "gfx-10XX", 11: "gfx-11XX"}.get(major)
    return f"AMD GPU - {series} series" if series else "AMD GPU"
