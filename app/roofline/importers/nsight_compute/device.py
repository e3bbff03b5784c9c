"""The GPU of a capture: its name, traits, and the peaks that the profiler measured."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import TypeVar

from roofline.importers.nsight_compute.launches import Launch
from roofline.importers.nsight_compute.work import LaunchWork
from roofline.model.compute import ComputeUnit
from roofline.model.device import DeviceKind, DeviceTraits, PeakOrigin, ReportedDevice
from roofline.model.memory import MemoryLevel
from roofline.model.units import GIGA, MEGA

Roof = TypeVar("Roof", ComputeUnit, MemoryLevel)
Key = TypeVar("Key", ComputeUnit, MemoryLevel, str)

# Short kernels end before clocks have risen: their peaks are lower than what the GPU sustains.
LONG_SHARE = 0.1
_BITS_PER_BYTE = 8
_DOUBLE_DATA_RATE = 2


def gpu_key(launch: Launch) -> tuple[int | None, str]:
    """A key that tells the GPUs of one capture apart."""
    return launch.device_index, launch.device_name


def read_device(launches: Sequence[Launch], works: Sequence[LaunchWork]) -> ReportedDevice:
    """The GPU that most time was spent on; `core_count` counts all of them."""
    times: dict[str, float] = {}
    for launch, work in zip(launches, works, strict=True):
        times[launch.device_name] = times.get(launch.device_name, 0.0) + (work.time_ns or 0.0)
    name = max(times, key=lambda key: (bool(key), times[key]))
    of_name = [k for k, launch in enumerate(launches) if launch.device_name == name]
    chosen = [works[k] for k in of_name]
    compute = _long_medians((w.time_ns, w.peak_flop_s) for w in chosen)
    memory = _long_medians((w.time_ns, _bandwidths(w)) for w in chosen)
    first = launches[of_name[0]]
    return ReportedDevice(
        kind=DeviceKind.GPU,
        name=name or "NVIDIA GPU",
        core_count=len({gpu_key(launch) for launch in launches}),
        unit_gflops={unit: value / GIGA for unit, (value, _) in compute.items()},
        bandwidth_gbs={level: value / GIGA for level, (value, _) in memory.items()},
        traits=_traits(first.numbers),
        derivation=_derivation(compute, "multiply-adds per cycle × SM clock")
        | _derivation(memory, "bytes per cycle × clock"),
        peak_origin=PeakOrigin.MEASURED,
        peak_clock_ghz=_clock_ghz(chosen),
    )


def named_device(launches: Sequence[Launch]) -> ReportedDevice | None:
    """The GPU of one file by its name and traits; `None` without a name, and for several models."""
    named = {launch.device_name: launch for launch in launches if launch.device_name}
    if len(named) != 1:
        return None
    name, launch = next(iter(named.items()))
    return ReportedDevice(
        kind=DeviceKind.GPU,
        name=name,
        core_count=1,
        traits=_traits(launch.numbers),
    )


def _bandwidths(work: LaunchWork) -> dict[MemoryLevel, float]:
    return {
        level: moved.peak_bytes_per_s
        for level, moved in work.moved.items()
        if moved.peak_bytes_per_s is not None
    }


def _long_medians(
    peaks: Iterable[tuple[float | None, Mapping[Key, float]]],
) -> dict[Key, tuple[float, int]]:
    """Median peak over long launches by key, and of how many."""
    known = [(time or 0.0, by_key) for time, by_key in peaks if by_key]
    longest = max((time for time, _ in known), default=0.0)
    by_key_peaks: dict[Key, list[tuple[float, float]]] = {}
    for time, by_key in known:
        for key, peak in by_key.items():
            by_key_peaks.setdefault(key, []).append((time, peak))
    result = {}
    for key, pairs in by_key_peaks.items():
        chosen = [peak for time, peak in pairs if time >= LONG_SHARE * longest]
        chosen = chosen or [max(pairs)[1]]
        result[key] = (median(chosen), len(chosen))
    return result


def _clock_ghz(works: Sequence[LaunchWork]) -> float | None:
    """The SMs' clock during the launches that the peaks are of; `None` where it was not counted."""
    with_peaks = [work for work in works if work.peak_flop_s] or works
    clocks = _long_medians((w.time_ns, {"clock": w.clock_hz}) for w in with_peaks if w.clock_hz)
    return clocks["clock"][0] / GIGA if clocks else None


def _derivation(peaks: Mapping[Roof, tuple[float, int]], words: str) -> dict[str, str]:
    return {
        key.value: f"measured by Nsight Compute: {words}, at the clocks of "
        + ("one long launch" if count == 1 else f"{count:,} long launches (median)")
        for key, (_, count) in peaks.items()
    }


def _traits(numbers: Mapping[str, float]) -> DeviceTraits:
    def attribute(name: str) -> float | None:
        return numbers.get(f"device__attribute_{name}") or None

    major, minor = (
        numbers.get(f"device__attribute_compute_capability_{part}") for part in ("major", "minor")
    )
    count, memory = attribute("multiprocessor_count"), attribute("total_memory")
    clock = attribute("clock_rate")
    return DeviceTraits(
        processor_count=None if count is None else int(count),
        clock_ghz=None if clock is None else clock / MEGA,
        memory_bytes=None if memory is None else int(memory),
        memory_gbs=_memory_gbs(
            attribute("fb_bus_width") or attribute("global_memory_bus_width"),
            attribute("max_mem_frequency_khz"),
        ),
        architecture="" if major is None or minor is None else f"sm_{int(major)}{int(minor)}",
    )


def _memory_gbs(width_bits: float | None, clock_khz: float | None) -> float | None:
    """Bandwidth in GB/s by the data sheet's rule: width × clock × 2 transfers per cycle."""
    if width_bits is None or clock_khz is None:
        return None
    return width_bits / _BITS_PER_BYTE * clock_khz * _DOUBLE_DATA_RATE / MEGA
