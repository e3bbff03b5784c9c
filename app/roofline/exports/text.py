"""An analysis as plain text: device, program, where the time goes, what could be saved, notes."""

import math
from collections.abc import Iterable, Sequence

from roofline.analysis.clocks import measured_clock_ghz
from roofline.analysis.records import RooflineAnalysis, Scope, Timing, View
from roofline.analysis.roofline import ridge_point
from roofline.model.device import ComputePeak, MemoryPeak, PeakComparison, PeakOrigin
from roofline.model.profile import Diagnostic, Severity
from roofline.model.units import GIGA, gb_to_gib, ps_to_us
from roofline.presentation.untimed_words import untimed_words

OPS_SHOWN = 20
STEPS_SHOWN = 10
NAME_WIDTH = 34
CATEGORY_WIDTH = 20
MULTIPLE_FROM = 10  # ratios from here on read better as a multiple than in percent
MISSING = "–"
_MARKS = {Severity.INFO: "i", Severity.WARNING: "!", Severity.ERROR: "x"}


def describe(analysis: RooflineAnalysis, view: View) -> str:
    """The report of one state of the infeed/outfeed switch, at most 120 columns wide."""
    sections = [
        _device(analysis),
        _verdict(analysis, view),
        _program(analysis, view),
        _operations(analysis, view),
        _notes(analysis.diagnostics),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def _device(analysis: RooflineAnalysis) -> str:
    device, profile = analysis.device, analysis.profile
    hosts = _counted(len(profile.hosts), "host")
    wall = f" · {_time(ps_to_us(profile.wall_time_ps))}" if profile.wall_time_ps else ""
    cores = _counted(device.core_count, device.core_word)
    lines = [f"{_plain(device.name) or 'Unknown device'} · {cores} · {hosts}{wall}"]
    clock = measured_clock_ghz(device)
    lines += [_roof(p.label, _flops(p.gflops), p, clock) for p in _compute_roofs(analysis)]
    for memory in device.memory:
        if memory.level not in analysis.levels and memory.origin is PeakOrigin.CATALOGUE:
            continue  # this program's bytes were not measured there
        gibs = gb_to_gib(memory.gbs)
        ridge = ridge_point(device.peak_gflops, gibs) if device.peak_gflops else None
        at = f", ridge at {_number(ridge)} FLOP/B" if ridge is not None else ""
        lines.append(_roof(memory.level.label, f"{_number(gibs)} GiB/s", memory, clock) + at)
    origins = {*(peak.origin for peak in device.compute), *(peak.origin for peak in device.memory)}
    if origins & _LOOKED_UP:
        lines.append(f"  Looked up: {device.part_name} (`roofline devices {device.part_id}`)")
    return "\n".join([*lines, *_wrapped(_comparison(found) for found in device.comparisons)])


def _comparison(found: PeakComparison) -> str:
    """What profile and catalogue say about one peak, and why they differ."""

    def shown(value: float) -> str:
        return f"{_number(gb_to_gib(value))} GiB/s" if found.unit == "gbs" else _flops(value)

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
    return f"  {label:<18}{value:>15}  {_ORIGINS[peak.origin]}{at}"


def _verdict(analysis: RooflineAnalysis, view: View) -> str:
    untimed = untimed_words(analysis)
    if untimed is not None:
        return "\n".join(_wrapped([f"{untimed.headline}. {untimed.lead}"]))
    measures = view.program.measures
    efficiency = float(measures.roofline_efficiency_ratio[0])
    bound = analysis.bound_label(int(measures.bound[0]))
    if math.isnan(efficiency) or bound == "Unknown":
        return "What bounds the program is unknown: the capture counts no work or names no peak."
    return f"The program runs at {_percent(efficiency)} of its roof, bound by {bound}."


def _program(analysis: RooflineAnalysis, view: View) -> str:
    points, measures = view.program, view.program.measures
    steps = [k for k, scope in enumerate(points.scope) if scope is Scope.STEP]
    shown = [k for k in range(len(points)) if k not in steps[STEPS_SHOWN:]]
    rows = [
        (
            ("step " if k in steps else "") + _plain(points.label[k]),
            _time(measures.total_time_per_core_us[k]),
            _flops(measures.flop_rate_gflops[k]),
            _number(measures.memory_bandwidth_gibs[k]),
            _number(measures.bottleneck_intensity[k]),
            _percent(measures.roofline_efficiency_ratio[k]),
            analysis.bound_label(int(measures.bound[k])),
        )
        for k in shown
    ]
    heads = ("Program", "time/core", "FLOP/s", "GiB/s", "FLOP/B", "of roof", "bound by")
    table = _table(heads, rows, left={0, 6})
    more = len(steps) - STEPS_SHOWN
    return f"{table}\n{more} more steps" if more > 0 else table


def _operations(analysis: RooflineAnalysis, view: View) -> str:
    ops, measures = analysis.ops, analysis.ops.measures
    rows = [
        (
            str(int(view.rank[row])),
            _cut(ops.name[k], NAME_WIDTH),
            _cut(ops.category[k], CATEGORY_WIDTH),
            _time(ops.self_time_per_core_us[k]),
            _percent(view.self_share_ratio[row]),
            _flops(measures.flop_rate_gflops[k]),
            "at best"
            if ops.timing[k] is Timing.PREDICTED
            else _percent(measures.roofline_efficiency_ratio[k]),
            _percent(view.saving_share_ratio[row]),
            analysis.bound_label(int(measures.bound[k])),
        )
        for row, k in enumerate(view.op[:OPS_SHOWN].tolist())
    ]
    if not rows:
        return ""
    heads = ("#", "Operation", "Category", "self/core", "share", "FLOP/s", "of roof", "saves")
    total = len(view.op) + view.beyond_ops
    table = _table((*heads, "bound by"), rows, left={1, 2, 8})
    return table if total <= OPS_SHOWN else f"{table}\n{OPS_SHOWN} of {total:,} rows by self time"


def _notes(diagnostics: Iterable[Diagnostic]) -> str:
    lines = ["Notes"]
    for note in diagnostics:
        # Messages about several things go on from their number: "3 ops run above …".
        counted = f"{note.count:,} " if note.message[:1].islower() else ""
        lines.append(f"  {_MARKS[note.severity]} {counted}{_plain(note.message)}")
        if note.remedy:
            lines.append(f"    {_plain(note.remedy)}")
    return "\n".join(_wrapped(lines)) if len(lines) > 1 else ""


def _wrapped(lines: Iterable[str]) -> Iterable[str]:
    import textwrap  # only reports need it

    for line in lines:
        yield from textwrap.wrap(line, 100, subsequent_indent="    ") or [""]


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, left: set[int]) -> str:
    widths = [max(len(row[k]) for row in (heads, *rows)) for k in range(len(heads))]

    def line(cells: Sequence[str]) -> str:
        padded = (
            cell.ljust(width) if k in left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return "  ".join(padded).rstrip()

    return "\n".join([line(heads), *(line(row) for row in rows)])


def _number(value: float | None) -> str:
    """Three significant digits, integer digits never dropped."""
    if value is None or math.isnan(value):
        return MISSING
    if value == 0:
        return "0"
    decimals = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{min(decimals, 9)}f}"


def _flops(gflops: float) -> str:
    if math.isnan(gflops):
        return MISSING
    for factor, unit in ((1e6, "P"), (1e3, "T"), (1, "G"), (1e-3, "M")):
        if gflops >= factor:
            return f"{_number(gflops / factor)} {unit}FLOP/s"
    return "0" if gflops == 0 else f"{_number(gflops * GIGA)} FLOP/s"


def _time(microseconds: float) -> str:
    if math.isnan(microseconds):
        return MISSING
    for factor, unit in ((1e6, "s"), (1e3, "ms")):
        if microseconds >= factor:
            return f"{_number(microseconds / factor)} {unit}"
    return f"{_number(microseconds)} µs"


def _percent(ratio: float) -> str:
    if math.isnan(ratio):
        return MISSING
    if 0 < ratio < 0.001:
        return "<0.1 %"
    if ratio >= MULTIPLE_FROM:
        return f"{ratio:,.0f}×"
    return f"{ratio:.1%}".replace("%", " %")


def _counted(count: int, word: str) -> str:
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def _plain(text: str) -> str:
    """Text from a file without control characters, which could steer the terminal."""
    return "".join(ch if ch.isprintable() else "�" for ch in text)


def _cut(text: str, width: int) -> str:
    plain = _plain(text)
    return plain if len(plain) <= width else f"{plain[: width - 1]}…"
