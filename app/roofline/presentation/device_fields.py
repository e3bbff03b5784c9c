"""The device panel's fields, in XProf's order and then ours, each with where it comes from."""

from typing import Any

from roofline.analysis import roofline
from roofline.analysis.records import RooflineAnalysis, Scope
from roofline.analysis.utilisation import utilisation_of
from roofline.model.device import DeviceKind
from roofline.model.environment import LABELS
from roofline.model.profile import Provenance
from roofline.model.units import gb_to_gib, ps_to_us
from roofline.presentation.shown import shown_peaks

_MEGACORE_HELP = (
    "With Megacore an op is taken to run on both TensorCores of a chip with the whole chip's "
    "resources, so roofs are those of the chip."
)
_DVFS_HELP = (
    "Op time at the default clock ÷ measured op time. Below 1 the clock was lower than the default."
)


_COUNTERS_HELP = (
    "Work counted by the hardware itself, shown as Total (HW); all other work is as the compiler "
    "or the profiler's formulas count it."
)


def _counters(analysis: RooflineAnalysis) -> str:
    """Which hardware counters the capture has, in words."""
    profile, counters = analysis.profile, analysis.device.counters
    if Scope.TOTAL_HW not in analysis.with_infeed.program.scope:
        return "none in this profile"
    if profile.flop_provenance is Provenance.MEASURED:
        return "all FLOPs and bytes"
    if counters.measured is not None:
        return counters.measured.source
    parts = {"matrix unit": counters.matrix_unit_ratio, "HBM": counters.hbm_ratio}
    return " and ".join(name for name, value in parts.items() if value is not None)


def device_fields(analysis: RooflineAnalysis) -> list[dict[str, Any]]:
    """One entry per field: id, label, raw value with unit, origin of a peak, and help."""
    return [
        *_device(analysis),
        *_peaks(analysis),
        *_ridges(analysis),
        *_capture(analysis),
        *_environment(analysis),
    ]


def _field(
    name: str, label: str, value: Any, unit: str, *, origin: str | None = None, help: str = ""
) -> dict[str, Any]:
    return {
        "id": name,
        "label": label,
        "value": value,
        "unit": unit,
        "origin": origin,
        "help": help,
    }


def _device(analysis: RooflineAnalysis) -> list[dict[str, Any]]:
    device = analysis.device
    fields = [_field("device_type", "Device type", device.name or None, "text")]
    if device.kind is DeviceKind.TPU:
        megacore = "yes" if device.has_megacore else "no"
        fields.append(_field("megacore", "Megacore", megacore, "text", help=_MEGACORE_HELP))
    cores = f"{device.core_word[0].upper()}{device.core_word[1:]}s"
    fields.append(_field("cores", cores, device.core_count, "count"))
    fields.append(_field("hosts", "Hosts", analysis.profile.host_count, "count"))
    return fields


def _environment(analysis: RooflineAnalysis) -> list[dict[str, Any]]:
    """The environment of the program, as far as the capture says it."""
    found = analysis.profile.environment
    return [_field(name, LABELS[name], value, "text") for name, value in found.items()]


def _peaks(analysis: RooflineAnalysis) -> list[dict[str, Any]]:
    device, per = analysis.device, f"per {analysis.device.core_word}"
    compute = [
        _field(
            "peak_flop_rate" if number == 0 else f"peak_{peak.id}_flop_rate",
            f"Peak FLOP rate {per}" if number == 0 else f"{peak.label} {per}",
            peak.gflops,
            "gflops",
            origin=peak.origin.value,
            help=peak.source,
        )
        for number, peak in enumerate(device.compute)
    ]
    memory = [
        _field(
            f"peak_{peak.level}_bandwidth",
            f"Peak {peak.level.label} bandwidth {per}",
            gb_to_gib(peak.gbs),
            "gibs",
            origin=peak.origin.value,
            help=f"{peak.source}: {peak.gbs:,.6g} GB/s",
        )
        for peak in shown_peaks(analysis)
    ]
    return compute + memory


def _ridges(analysis: RooflineAnalysis) -> list[dict[str, Any]]:
    gflops = analysis.peaks.gflops
    if not gflops:
        return []
    return [
        _field(
            f"{peak.level}_ridge_point",
            f"Ridge point, {peak.level.label}",
            roofline.ridge_point(gflops, gb_to_gib(peak.gbs)),
            "flop_per_byte",
            help="Peak FLOP rate ÷ peak bandwidth: below it the bandwidth binds, above it compute.",
        )
        for peak in shown_peaks(analysis)
    ]


_MFU_HELP = (
    "FLOPs without those of recomputation ÷ (time × peak FLOP rate). Recomputation is what the "
    "framework path calls rematted_computation. Chowdhery et al., PaLM, 2022, appendix B."
)
_HFU_HELP = "All FLOPs that ran, recomputation included ÷ (time × peak FLOP rate)."
_MBU_HELP = "Bytes of the main memory ÷ (time × its peak bandwidth)."


def _utilisation(analysis: RooflineAnalysis) -> list[dict[str, Any]]:
    """MFU, HFU and memory-bandwidth utilisation of the average step, where they are known."""
    found = utilisation_of(analysis, analysis.with_infeed)
    of = {Scope.AVERAGE: "average step"}.get(found.scope, "whole capture")
    flops = ", at least" if found.flop_is_least else ""
    bytes_ = ", at least" if found.bytes_is_least else ""
    peak = f" Peak: {found.peak_label}." if found.peak_label else ""
    named = (
        ("mfu", f"MFU, {of}{flops}", found.mfu_ratio, _MFU_HELP + peak),
        ("hfu", f"HFU, {of}{flops}", found.hfu_ratio, _HFU_HELP + peak),
        (
            "memory_bandwidth_utilisation",
            f"Memory-bandwidth utilisation, {of}{bytes_}",
            found.memory_bandwidth_ratio,
            _MBU_HELP,
        ),
    )
    return [
        _field(name, label, value, "ratio", help=help)
        for name, label, value, help in named
        if value is not None
    ]


def _capture(analysis: RooflineAnalysis) -> list[dict[str, Any]]:
    profile = analysis.profile
    wall = profile.wall_time_ps
    fields = [
        _field(
            "wall_time",
            "Profile duration",
            None if wall is None else ps_to_us(wall),
            "time_us",
            help="From the first event of any core to the last of any; of the longest host.",
        ),
        _field("steps", "Complete steps", len(profile.steps), "count"),
        _field("counters", "Hardware counters", _counters(analysis), "text", help=_COUNTERS_HELP),
    ]
    fields += _utilisation(analysis)
    scale = analysis.time_scale_multiplier
    if scale is not None and abs(scale - 1) > 1e-6:
        fields.append(
            _field("time_scale", "Time scale multiplier", scale, "ratio", help=_DVFS_HELP)
        )
    return fields
