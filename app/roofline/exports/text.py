"""An analysis as plain text: device, program, where the time goes, what could be saved, notes."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from roofline.analysis.clocks import measured_clock_ghz
from roofline.analysis.knowledge import is_part_unknown
from roofline.analysis.program import slow_step_us
from roofline.analysis.records import I64, RooflineAnalysis, Scope, Timing, View
from roofline.analysis.roofline import ridge_point
from roofline.analysis.subjects.records import Subject
from roofline.analysis.utilisation import utilisation_of
from roofline.exports.serving_model import curve, served_model
from roofline.model.device import ComputePeak, MemoryPeak, PeakComparison, PeakOrigin, Sustained
from roofline.model.profile import Diagnostic, Severity
from roofline.model.units import gb_to_gib, ps_to_us
from roofline.presentation.columns import text_table
from roofline.presentation.gain_words import equation_of
from roofline.presentation.goal import length
from roofline.presentation.op_columns import OP_COLUMNS
from roofline.presentation.op_values import OpRows, above_roof_lines
from roofline.presentation.program_columns import PROGRAM_COLUMNS, at_least, point_rows
from roofline.presentation.quantities import (
    bandwidth,
    duration,
    flop_rate,
    percent,
    quantity,
    significant,
)
from roofline.presentation.sentences import Segment, Sentence, plain_text, say
from roofline.presentation.serving import FIGURES, batch_text, weights_range
from roofline.presentation.text_table import plain, spaced, table, wrapped
from roofline.presentation.verdict import Answer, lines_of

OPS_SHOWN = 20
STEPS_SHOWN = 10
NAME_WIDTH = 34
_MARKS = {Severity.INFO: "i", Severity.WARNING: "!", Severity.ERROR: "x"}


def describe(analysis: RooflineAnalysis, view: View, answer: Answer) -> str:
    """The report of one state of the infeed/outfeed switch, at most 120 columns wide."""
    sections = [
        _device(analysis),
        _verdict(analysis, answer),
        _parts(answer.subject),
        serving_table(analysis),
        _program(analysis, view),
        _operations(analysis, answer.subject, _longest_first(analysis, answer.subject)),
        _notes(analysis.diagnostics),
        _limits(analysis),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def _device(analysis: RooflineAnalysis) -> str:
    device, profile = analysis.device, analysis.profile
    hosts = _counted(profile.host_count, "host")
    wall = f" · {_time(ps_to_us(profile.wall_time_ps))}" if profile.wall_time_ps else ""
    cores = f" · {_counted(device.core_count, device.core_word)}"
    shape = f"{cores} · {hosts}" if profile.device.counts_cores else ""
    lines = [f"{plain(device.name) or 'Unknown device'}{shape}{wall}"]
    clock = measured_clock_ghz(device)
    lines += [_roof(p.label, _flops(p.gflops), p, clock) for p in _compute_roofs(analysis)]
    for memory in device.memory:
        if memory.level not in analysis.levels and memory.origin is PeakOrigin.CATALOGUE:
            continue  # the bytes of this program there were not measured
        rate = device.peak_gflops
        ridge = ridge_point(rate, gb_to_gib(memory.gbs)) if rate else None
        at = f", ridge at {spaced(significant(ridge))} FLOP/B" if ridge is not None else ""
        lines.append(_roof(memory.level.label, _bandwidth(memory.gbs), memory, clock) + at)
    used = [peak for peak in device.links if peak.level in analysis.levels]
    lines += [_roof(p.level.label, _bandwidth(p.gbs), p, clock) for p in used]
    if device.network and any(row.least_us is not None for row in analysis.transfers.rows):
        lines.append(f"  Collectives: {device.network.in_words}")
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
    PeakOrigin.CALIBRATED: "measured by roofline calibrate",
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


def _verdict(analysis: RooflineAnalysis, answer: Answer) -> str:
    """What all of it is of, and the three lines."""
    lines = lines_of(analysis, answer)
    said = [_written(part) for part in (lines.headline, lines.do_first, lines.standing)]
    return "\n".join(_wrapped([one for one in (*said, *_subject(answer)) if one], indent=""))


def _subject(answer: Answer) -> Iterable[str]:
    """What the lines are of, where that is not the whole file, and what was asked for in vain."""
    subject = answer.subject
    if subject.not_found:
        yield f"This profile has no {plain(subject.not_found)}: this is of {subject.of}."
    yield f"Subject: {plain(subject.label)} (--of {subject.of})."


def _parts(subject: Subject) -> str:
    """Where the time of the subject goes: parts that add up to it."""
    return "\n".join(_wrapped([spaced(plain_text(equation(subject)))], indent="  "))


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
    points = view.program
    steps = [k for k, scope in enumerate(points.scope) if scope is Scope.STEP]
    shown = [k for k in range(len(points)) if k not in steps[STEPS_SHOWN:]]
    rows = replace(point_rows(analysis, points, ()), at=np.array(shown, np.int64))
    listed = text_table(PROGRAM_COLUMNS, rows)
    more = len(steps) - STEPS_SHOWN
    lines = [listed, *([f"{more} more steps"] if more > 0 else [])]
    slow_us = slow_step_us(points)
    if slow_us is not None:
        lines.append(f"95 % of the {len(steps)} steps take {_time(slow_us)} per core or less.")
    if not is_part_unknown(view.known):  # else the verdict has said it
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
        f"{name} {at_least(_percent(share), is_least=is_least)}"
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


def operations_found(analysis: RooflineAnalysis, view: View, subject: Subject) -> bytes:
    """The table of operations that were searched for, in the order of `view`."""
    listed = _operations(analysis, subject, view.every.op) or "No operation matches."
    return f"{listed}\n".encode()


def _operations(analysis: RooflineAnalysis, subject: Subject, order: I64) -> str:
    """The first operations of `order`."""
    longest = order[:OPS_SHOWN]
    if not len(longest):
        return ""
    rows = OpRows(
        analysis=analysis,
        measures=analysis.ops.cells,
        at=longest,
        levels=(),
        subject=subject,
        view=analysis.with_infeed,
    )
    listed = text_table(OP_COLUMNS, rows)
    shown = [] if len(order) <= OPS_SHOWN else [f"{OPS_SHOWN} of {len(order):,} operations"]
    reasons = above_roof_lines(analysis, longest.tolist())
    return "\n".join([listed, *shown, *_wrapped(reasons, indent="  ")])


def _longest_first(analysis: RooflineAnalysis, subject: Subject) -> I64:
    """The ops that take time in the subject, and behind them those whose time is not known."""
    count = len(analysis.profile.ops)
    width_us = subject.ops.width_us[:count]
    is_untimed = [timing is not Timing.MEASURED for timing in analysis.ops.timing[:count]]
    known = np.flatnonzero((width_us > 0) | np.array(is_untimed, np.bool_))
    order: I64 = known[np.argsort(-width_us[known], kind="stable")]
    return order


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
    for line in lines:
        yield from wrapped(line, indent=indent) or [""]


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


# Others are in the JSON and on the page.
_LEFT_OUT = {
    *("busy_us", "other_bytes", "weight_ratio", "cache_ratio", "known_ratio", "longest_wait_us"),
}


def serving_table(analysis: RooflineAnalysis) -> str:
    """A line per phase and batch; empty without steps of a server."""
    if analysis.serving is None:
        return ""
    figures = [one for one in FIGURES if one["id"] not in _LEFT_OUT]
    rows = [
        [
            batch_text(group),
            *(spaced(quantity(getattr(group, one["id"]), one["unit"])) for one in figures),
        ]
        for group in analysis.serving.groups
    ]
    note = weights_range(analysis.serving.groups)
    listed = table(["Steps of", *(one["label"] for one in figures)], rows, left={0})
    return "\n".join([listed, *wrapped(note), *_curve(analysis)])


def _curve(analysis: RooflineAnalysis) -> Iterator[str]:
    """The cost of other batches and contexts of the same model at the roofs."""
    model, points = served_model(analysis), curve(analysis)
    if model is None:
        return
    yield f"The sizes are those of {model.name}:"
    yield f"  {model.command}"
    if not points:
        return
    batches = list(dict.fromkeys(point.batch for point in points))
    times = {(point.context, point.batch): point.step_us for point in points}
    rows = [
        [f"{context:,}", *(_step_time(times.get((context, batch))) for batch in batches)]
        for context in dict.fromkeys(point.context for point in points)
    ]
    yield "Its decode step at the roofs, by context of a sequence and batch:"
    yield table(["context", *(f"batch {batch:,}" for batch in batches)], rows, left=set())


def _step_time(step_us: float | None) -> str:
    return spaced(quantity(step_us, "time_us"))


def equation(subject: Subject) -> Sentence:
    """ "34.9 ms a step = 16.7 at its roofs + 13.2 to gain + 2.0 cost not known + 3.0 waiting for
    the host." The same terms as under the page's chart."""
    if not subject.time_us > 0:
        return []
    terms = " + ".join(f"{one['amount']} {one['label']}" for one in equation_of(subject))
    parts: Sentence = [Segment(kind="plain", text=terms)]
    return say("equation", length=length(subject), parts=parts)
