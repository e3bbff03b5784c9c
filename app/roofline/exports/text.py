"""An analysis as plain text: device, program, where the time goes, what could be saved, notes."""

import math
from collections.abc import Iterable, Sequence

from roofline.analysis.causes import CAUSE_LABELS, WHY_ABOVE, Cause
from roofline.analysis.clocks import measured_clock_ghz
from roofline.analysis.program import slow_step_us
from roofline.analysis.records import Cost, RooflineAnalysis, Scope, Timing, View
from roofline.analysis.roofline import ridge_point
from roofline.analysis.short_names import ShortName, distinct, fitted
from roofline.analysis.utilisation import utilisation_of
from roofline.exports.serving_text import serving_table
from roofline.exports.text_table import cut, plain, spaced, table
from roofline.model.device import ComputePeak, MemoryPeak, PeakComparison, PeakOrigin, Sustained
from roofline.model.profile import Diagnostic, Severity
from roofline.model.units import gb_to_gib, gib_to_gb, ps_to_us
from roofline.presentation.budget_bar import budget_bars, equation
from roofline.presentation.placed import is_part_unknown
from roofline.presentation.quantities import (
    bandwidth,
    duration,
    flop_rate,
    percent,
    significant,
)
from roofline.presentation.sentences import Sentence, plain_text
from roofline.presentation.verdict import build_verdict

OPS_SHOWN = 20
STEPS_SHOWN = 10
NAME_WIDTH = 34
CATEGORY_WIDTH = 20
_MARKS = {Severity.INFO: "i", Severity.WARNING: "!", Severity.ERROR: "x"}


def describe(analysis: RooflineAnalysis, view: View) -> str:
    """The report of one state of the infeed/outfeed switch, at most 120 columns wide."""
    sections = [
        _device(analysis),
        _verdict(analysis, view),
        _budget(analysis),
        serving_table(analysis),
        _program(analysis, view),
        _operations(analysis, view),
        _notes(analysis.diagnostics),
        _limits(analysis),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def _device(analysis: RooflineAnalysis) -> str:
    device, profile = analysis.device, analysis.profile
    hosts = _counted(profile.host_count, "host")
    wall = f" · {_time(ps_to_us(profile.wall_time_ps))}" if profile.wall_time_ps else ""
    cores = _counted(device.core_count, device.core_word)
    lines = [f"{plain(device.name) or 'Unknown device'} · {cores} · {hosts}{wall}"]
    clock = measured_clock_ghz(device)
    lines += [_roof(p.label, _flops(p.gflops), p, clock) for p in _compute_roofs(analysis)]
    for memory in device.memory:
        if memory.level not in analysis.levels and memory.origin is PeakOrigin.CATALOGUE:
            continue  # the bytes of this program there were not measured
        rate = device.peak_gflops
        ridge = ridge_point(rate, gb_to_gib(memory.gbs)) if rate else None
        at = f", ridge at {_number(ridge)} FLOP/B" if ridge is not None else ""
        lines.append(_roof(memory.level.label, _bandwidth(memory.gbs), memory, clock) + at)
    used = [peak for peak in device.links if peak.level in analysis.levels]
    lines += [_roof(p.level.label, _bandwidth(p.gbs), p, clock) for p in used]
    origins = {p.origin for p in device.compute} | {p.origin for p in (*device.memory, *used)}
    if origins & _LOOKED_UP:
        lines.append(f"  Looked up: {device.part_name} (`roofline devices {device.part_id}`)")
    return "\n".join([*lines, *_wrapped(_comparison(found) for found in device.comparisons)])


def _comparison(found: PeakComparison) -> str:
    """The values of one peak in profile and catalogue, and why they differ."""

    def shown(value: float) -> str:
        return _bandwidth(value) if found.unit == "gbs" else _flops(value)

    profile = "no peak" if found.profile is None else shown(found.profile)
    return (
        f"  i {found.label}: {profile} in the profile, {shown(found.catalogue)} in the catalogue."
        f" {found.explanation}"
    )


def _compute_roofs(analysis: RooflineAnalysis) -> list[ComputePeak]:
    """The main peak and those that work is held against; `roofline devices` lists the others."""
    used = {analysis.roof_of_unit(number) for number in range(len(analysis.units))}
    peaks = enumerate(analysis.device.compute)
    return [peak for k, peak in peaks if k == 0 or k in used or peak.origin is PeakOrigin.USER]


_LOOKED_UP = {PeakOrigin.CATALOGUE, PeakOrigin.CALIBRATED}
_ORIGINS = {
    PeakOrigin.PROFILE: "from the profile",
    PeakOrigin.MEASURED: "measured by the profiler",
    PeakOrigin.CATALOGUE: "from the catalogue",
    PeakOrigin.CALIBRATED: "measured on this machine",
    PeakOrigin.USER: "as you gave it",
}


def _roof(label: str, value: str, peak: ComputePeak | MemoryPeak, clock: float | None) -> str:
    """One roof and where it comes from; `clock` is that of the measured peaks, in GHz."""
    converted = peak.origin is PeakOrigin.CATALOGUE and peak.clock_ghz == clock is not None
    at = f", at the measured {clock:.4g} GHz" if converted else ""
    return f"  {label:<18}{value:>15}  {_ORIGINS[peak.origin]}{at}{_reached(peak.sustained)}"


def _reached(sustained: Sustained | None) -> str:
    """The shares of a peak that programs reach at best."""
    if sustained is None:
        return ""
    low = "" if sustained.low_ratio == sustained.ratio else f"{sustained.low_ratio * 100:.0f} to "
    return f", {low}{sustained.ratio * 100:.0f} % is reached at best"


def _verdict(analysis: RooflineAnalysis, view: View) -> str:
    verdict = build_verdict(analysis, view)
    headline, lead = (_written(part) for part in (verdict.headline, verdict.lead))
    return "\n".join(_wrapped([f"{headline}.", *([lead] if lead else [])], indent=""))


def _budget(analysis: RooflineAnalysis) -> str:
    """Where the time of a core goes: one sum for the mean step, one for the capture."""
    bars = budget_bars(analysis)
    lines = [f"{bar.label}: {spaced(equation(bar))}" for bar in bars]
    notes = [spaced(" ".join(bar.notes)) for bar in bars[:1]]
    return "\n".join(_wrapped([*lines, *notes], indent="  "))


def _written(sentence: Sentence) -> str:
    """A sentence as text for a terminal: ordinary spaces, and names without control characters."""
    return plain(spaced(plain_text(sentence)))


def _known(view: View) -> str:
    """Of which share of the busy time the work is known."""
    known = view.known
    return (
        f"FLOPs are known for {_percent(known.flop)} of the busy time, bytes for "
        f"{_percent(known.bytes)}."
    )


def _program(analysis: RooflineAnalysis, view: View) -> str:
    points, measures = view.program, view.program.measures
    steps = [k for k, scope in enumerate(points.scope) if scope is Scope.STEP]
    shown = [k for k in range(len(points)) if k not in steps[STEPS_SHOWN:]]
    rows = [
        (
            ("step " if k in steps else "") + plain(points.label[k]),
            _time(measures.total_time_per_core_us[k]),
            _at_least(_flops(measures.flop_rate_gflops[k]), points.flop_is_least[k]),
            _at_least(
                _number(gib_to_gb(measures.memory_bandwidth_gibs[k])), points.bytes_is_least[k]
            ),
            _number(measures.bottleneck_intensity[k]),
            _percent(measures.roofline_efficiency_ratio[k]),
            analysis.bound_label(int(measures.bound[k])),
        )
        for k in shown
    ]
    # Bytes of all memories; the verdict has those of the memory that binds.
    heads = ("Program", "time/core", "FLOP/s", "all GB/s", "FLOP/B", "of roof", "bound by")
    listed = table(heads, rows, left={0, 6})
    more = len(steps) - STEPS_SHOWN
    lines = [listed, *([f"{more} more steps"] if more > 0 else [])]
    slow_us = slow_step_us(points)
    if slow_us is not None:
        lines.append(f"95 % of the {len(steps)} steps take {_time(slow_us)} per core or less.")
    if not is_part_unknown(view):  # else the verdict has said it
        lines.append(_known(view))
    return "\n".join([*lines, *_utilisation(analysis, view)])


def _utilisation(analysis: RooflineAnalysis, view: View) -> Iterable[str]:
    """MFU, HFU and memory-bandwidth utilisation, where they are known."""
    found = utilisation_of(analysis, view)
    named = (
        ("MFU", found.mfu_ratio, found.flop_is_least),
        ("HFU", found.hfu_ratio, found.flop_is_least),
        ("memory bandwidth", found.memory_bandwidth_ratio, found.bytes_is_least),
    )
    shares = [
        f"{name} {_at_least(_percent(share), is_least)}"
        for name, share, is_least in named
        if share is not None
    ]
    if shares:
        scope = "average step" if found.scope is Scope.AVERAGE else "whole capture"
        peak = (
            f", FLOPs of {_flops(found.peak_gflops)} ({found.peak_label})"
            if found.peak_gflops and found.hfu_ratio is not None
            else ""
        )
        yield f"Utilisation of the {scope}: {', '.join(shares)}{peak}."


def _at_least(text: str, is_least: object) -> str:
    """A rate that lacks the work of a part of the time is a lower bound, above 0 at least."""
    if is_least and text.startswith("<"):
        return "> 0 %"
    return f"≥ {text}" if is_least else text


def _operations(analysis: RooflineAnalysis, view: View) -> str:
    ops, measures = analysis.ops, analysis.ops.measures
    longest = view.op[:OPS_SHOWN].tolist()
    rows = [
        (
            str(int(view.rank[row])),
            fitted(name, NAME_WIDTH),
            cut(ops.category[k], CATEGORY_WIDTH),
            _time(ops.self_time_per_core_us[k]),
            _percent(view.self_share_ratio[row]),
            _flops(measures.flop_rate_gflops[k]),
            _of_roof(analysis, k),
            _percent(view.saving_share_ratio[row]),
            _bound_of(analysis, k),
        )
        for row, (k, name) in enumerate(zip(longest, _named(analysis, longest), strict=True))
    ]
    if not rows:
        return ""
    heads = ("#", "Operation", "Category", "self/core", "share", "FLOP/s", "of roof", "saves")
    total = len(view.op) + view.beyond_ops
    listed = table((*heads, "bound by"), rows, left={1, 2, 8})
    shown = [] if total <= OPS_SHOWN else [f"{OPS_SHOWN} of {total:,} rows by self time"]
    return "\n".join([listed, *shown, *_above_roof(analysis, longest)])


def _named(analysis: RooflineAnalysis, ops: Sequence[int]) -> list[ShortName]:
    return distinct([plain(analysis.ops.name[k]) for k in ops])


def _of_roof(analysis: RooflineAnalysis, op: int) -> str:
    if analysis.ops.timing[op] is Timing.PREDICTED:
        return "at best"
    measures, mark = analysis.ops.measures, "!" if _cause(analysis, op) else ""
    if mark and _has_no_share(analysis, op):
        return _percent(measures.memory_utilisation_ratio[op]) + mark
    return _percent(measures.roofline_efficiency_ratio[op]) + mark


def _has_no_share(analysis: RooflineAnalysis, op: int) -> bool:
    """True for a transfer of which no share of its link is known, as the start of a copy."""
    share = analysis.ops.measures.roofline_efficiency_ratio[op]
    return analysis.ops.cost[op] is Cost.TRANSFER and math.isnan(share)


def _cause(analysis: RooflineAnalysis, op: int) -> Cause | None:
    """Why the share in an op's row is above 100 %: of its link for a transfer, where known."""
    cause = analysis.ops.above_roof[op]
    moves = analysis.ops.cost[op] is Cost.TRANSFER and not _has_no_share(analysis, op)
    return None if moves and cause is not Cause.LINK else cause


def _bound_of(analysis: RooflineAnalysis, op: int) -> str:
    return analysis.bound_label(int(analysis.ops.measures.bound[op]))


def _above_roof(analysis: RooflineAnalysis, rows: Sequence[int]) -> Iterable[str]:
    """The reason for every `!`: the likely cause, once each."""
    causes = [cause for k in rows if (cause := _cause(analysis, k))]
    lines = [f"! {CAUSE_LABELS[cause]}: {WHY_ABOVE[cause]}" for cause in dict.fromkeys(causes)]
    return _wrapped(lines, indent="  ")


def _notes(diagnostics: Iterable[Diagnostic]) -> str:
    lines = ["Notes"]
    for note in diagnostics:
        # Messages about several things go on from their number: "3 ops run above …".
        counted = f"{note.count:,} " if note.message[:1].islower() else ""
        lines.append(f"  {_MARKS[note.severity]} {counted}{plain(note.message)}")
        if note.remedy:
            lines.append(f"    {plain(note.remedy)}")
    return "\n".join(_wrapped(lines)) if len(lines) > 1 else ""


def _limits(analysis: RooflineAnalysis) -> str:
    """What the profiler cannot know, as the page says it below the notes."""
    profile = analysis.profile
    lines = [f"  - {plain(limit)}" for limit in profile.limits]
    heads = [f"What a profile of {plain(profile.format_label)} cannot know"] if lines else []
    return "\n".join(_wrapped([*heads, *lines]))


def _wrapped(lines: Iterable[str], indent: str = "    ") -> Iterable[str]:
    import textwrap  # only reports need it

    for line in lines:
        yield from textwrap.wrap(line, 100, subsequent_indent=indent) or [""]


def _number(value: float | None) -> str:
    return spaced(significant(value))


def _flops(gflops: float) -> str:
    return spaced(flop_rate(gflops))


def _bandwidth(gbs: float) -> str:
    return spaced(bandwidth(gbs))


def _time(microseconds: float) -> str:
    return spaced(duration(microseconds))


def _percent(ratio: float) -> str:
    return spaced(percent(ratio))


def _counted(count: int, word: str) -> str:
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"
