"""Where a profile's peaks and the catalogue's differ, and why, in plain English.

XProf computes a GPU's peaks from its clock and a table of FLOP per cycle, and a TPU's driver states
them; neither is the data sheet. Reasons: XProf 2.24.2 as measured, and the parts' own sources.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from roofline.devices.parts import Part, PartBandwidth, PartPeak
from roofline.model.device import DeviceKind, PeakComparison, PeakOrigin, ReportedDevice
from roofline.model.memory import MemoryLevel
from roofline.model.units import GB_PER_GIB

TOLERANCE = 0.03

_CHECK = "Check which of the two is meant for this part, clock and power limit."
_GENERIC = f"No known reason. {_CHECK}"
_MEASURED = (
    "The profiler measured this peak, with a benchmark or at the clock that the device ran at "
    "(Nsight Compute holds the base clock unless told otherwise). The catalogue's is a data "
    "sheet's, at the boost clock, which programs seldom reach."
)
_BOOST_CLOCK = (
    "The profile's peak counts the boost clock of the multiprocessors: so XProf computes it. The "
    "unit behind the data sheet's figure runs slower (1.83 instead of 1.98 GHz on H100)."
)
_GEFORCE = (
    "The profile's peak is the architecture's full tensor rate, as XProf's table has it. GeForce "
    "parts halve it when they accumulate in fp32, and the catalogue counts that."
)
_VECTOR_ADDED = (
    "The profile's peak is a little above the matrix unit's own, as if the vector unit were added. "
    "That is inferred from the numbers, not documented."
)
_TPU7X_CLOCK = (
    "The profile's peak belongs to a clock of 1.9 GHz, the published one to 2.2 GHz; the profile's "
    "is what the part ran at."
)
_XPROFS_AMD = "AMD GPU - "
_NO_RATE = (
    "The profile has no compute peak: XProf knows no rate of some AMD architectures and computes "
    "zero. The catalogue's is used."
)
_NO_PEAK = (
    "The profile does not say enough about this GPU to compute a peak. The catalogue's is used."
)
_ONE_ROOF = (
    "The profile names one compute peak; XProf's is the higher of fp32 and fp16. Kernels of faster "
    "precisions can lie above it, and fp32 kernels lie far below it."
)
_SHARED_TWICE = (
    "XProf counts 256 bytes per cycle and multiprocessor; since Volta shared memory moves 128. The "
    "roof is drawn at half of the profile's figure."
)
_WHOLE_CHIP = (
    "XProf prints the whole chip's bandwidth beside the FLOP rate of one of its two cores."
)
_HALF_TRANSFERS = (
    "The driver's memory clock counts half of the transfers that this memory makes, and XProf "
    "computes the bandwidth from it. The roof is drawn at twice the profile's figure."
)
_GIB = "The two differ by 2^30 / 10^9: one of them is probably counted in GiB/s and labelled GB/s."
_ESTIMATE = "The catalogue's figure is an estimate ({note}); the profile's is nearer."


class _Case(NamedTuple):
    """The facts that an explanation may look at; `ratio` is profile over catalogue."""

    reported: ReportedDevice
    part: Part
    ratio: float

    @property
    def is_measured(self) -> bool:
        """True for a peak that a benchmark reached, below the data sheet's."""
        return self.reported.peak_origin is PeakOrigin.MEASURED and self.ratio < 1


def compare(
    reported: ReportedDevice,
    part: Part,
    compute: Sequence[PartPeak],
    memory: Mapping[MemoryLevel, PartBandwidth],
) -> tuple[PeakComparison, ...]:
    """Peaks of the profile that are more than 3 % off the part's, compute first.

    `compute` and `memory` are the part's peaks, already per device and by the profile's levels.
    """
    return (
        *_main_peak(reported, part, compute),
        *_named_peaks(reported, part, compute),
        *_memories(reported, part, memory),
    )


def _main_peak(
    reported: ReportedDevice, part: Part, compute: Sequence[PartPeak]
) -> Iterator[PeakComparison]:
    if not compute or reported.unit_gflops:
        return
    published, profile = compute[0].gflops, reported.peak_gflops
    if not profile:
        if reported.kind is DeviceKind.GPU:
            why = _NO_RATE if reported.name.startswith(_XPROFS_AMD) else _NO_PEAK
            yield _comparison("peak", "Compute", "gflops", None, published, why)
        return
    if _differ(profile, published):
        why = _why_compute(_Case(reported, part, profile / published))
        yield _comparison("peak", "Compute", "gflops", profile, published, why)
    fastest = max(compute, key=lambda peak: peak.gflops)
    if reported.kind is DeviceKind.GPU and fastest.gflops > 1.5 * max(profile, published):
        yield _comparison(
            fastest.unit.value, fastest.label, "gflops", profile, fastest.gflops, _ONE_ROOF
        )


def _why_compute(case: _Case) -> str:
    part, ratio = case.part, case.ratio
    if case.is_measured:
        return _MEASURED
    if "GeForce" in part.name and 1.8 < ratio < 2.2:
        return _GEFORCE
    if part.vendor == "NVIDIA" and 1 < ratio < 1.15:
        return _BOOST_CLOCK
    if part.id == "tpu-v7x" and 0.85 < ratio < 1:
        return _TPU7X_CLOCK
    if part.kind is DeviceKind.TPU and 1 < ratio < 1.08:
        return _VECTOR_ADDED
    return f"{part.notes} {_CHECK}" if part.notes else _GENERIC


def _named_peaks(
    reported: ReportedDevice, part: Part, compute: Sequence[PartPeak]
) -> Iterator[PeakComparison]:
    for peak in compute:
        profile = reported.unit_gflops.get(peak.unit)
        if profile and _differ(profile, peak.gflops):
            case = _Case(reported, part, profile / peak.gflops)
            why = _MEASURED if case.is_measured else _why_named(case)
            yield _comparison(peak.unit.value, peak.label, "gflops", profile, peak.gflops, why)


def _why_named(case: _Case) -> str:
    boost = case.part.vendor == "NVIDIA" and 1 < case.ratio < 1.15
    return _BOOST_CLOCK if boost else _GENERIC


def _memories(
    reported: ReportedDevice, part: Part, memory: Mapping[MemoryLevel, PartBandwidth]
) -> Iterator[PeakComparison]:
    for level, published in memory.items():
        profile = reported.bandwidth_gbs.get(level)
        if profile and _differ(profile, published.gbs):
            why = _why_memory(_Case(reported, part, profile / published.gbs), published, level)
            yield _comparison(level.value, level.label, "gbs", profile, published.gbs, why)


def _why_memory(case: _Case, published: PartBandwidth, level: MemoryLevel) -> str:
    part, ratio = case.part, case.ratio
    if case.is_measured:
        return _MEASURED
    mended = correction(case.reported, part, level, ratio)
    if mended is not None:
        return _SHARED_TWICE if mended < 1 else _HALF_TRANSFERS
    if part.id == "tpu-v2" and level.is_main and 1.9 < ratio < 2.1:
        return _WHOLE_CHIP
    if level is MemoryLevel.SHARED_L1 and part.vendor == "NVIDIA" and 1 < ratio < 1.15:
        return _BOOST_CLOCK
    if any(abs(ratio / expected - 1) < 0.004 for expected in (GB_PER_GIB, 1 / GB_PER_GIB)):
        return _GIB
    if published.figure.source.kind in ("guide", "derived") and not level.is_main:
        return _ESTIMATE.format(note=published.figure.note or published.figure.source.title)
    return _GENERIC


def correction(
    reported: ReportedDevice, part: Part, level: MemoryLevel, ratio: float
) -> float | None:
    """The factor of a profile's bandwidth where it is known to be wrong.

    `ratio` is the profile's over the catalogue's. XProf counts NVIDIA's shared memory twice, and
    AMD's driver half of the transfers of its HBM: ops of real captures lie above that roof.
    Measured peaks are never changed.
    """
    if reported.peak_origin is not PeakOrigin.PROFILE:
        return None
    if level is MemoryLevel.SHARED_L1 and part.vendor == "NVIDIA" and 1.8 < ratio < 2.4:
        return 0.5
    if level.is_main and part.vendor == "AMD" and 0.48 < ratio < 0.53:
        return 2.0
    return None


def _differ(profile: float, published: float) -> bool:
    return abs(profile / published - 1) > TOLERANCE


def _comparison(
    key: str, label: str, unit: str, profile: float | None, published: float, why: str
) -> PeakComparison:
    return PeakComparison(
        id=key,
        label=label,
        unit=unit,
        profile=profile,
        catalogue=published,
        ratio=None if profile is None else profile / published,
        explanation=why,
    )
