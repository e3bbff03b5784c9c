"""An analysis as the columns of a comparison: work and roofs per call, times per unit."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

import numpy as np

from roofline.analysis import roofline
from roofline.analysis.program import step_us
from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.roofline import Floats
from roofline.analysis.source_frames import Source, own_source
from roofline.analysis.subjects.choose import choose
from roofline.analysis.subjects.costs import Costs
from roofline.analysis.subjects.options import options
from roofline.analysis.subjects.records import Kind, OpPart, Subject
from roofline.analysis.transfers import fixed_ratio
from roofline.analysis.undecided import decided, fastest
from roofline.analysis.verdict import MOSTLY, verdict_of
from roofline.compare.run import CAPTURE, EXECUTION, STEP, Run, RunSubject, UnitTimes
from roofline.model.categories import is_container
from roofline.model.environment import LABELS
from roofline.model.memory import main_level
from roofline.model.plain_data import alike
from roofline.model.units import GIGA, KILO, PS_PER_US, US_PER_S

_OF_STEPS = {Kind.STEP, Kind.SERVING}
COMPUTE = "compute"
"""The resource of FLOPs that the profile does not assign to a compute unit."""

_FLOP_PER_US = GIGA / US_PER_S  # of a GFLOP/s
_BYTES_PER_US = GIGA / US_PER_S  # of a GB/s
_ROUNDING = 1e-9


def run_of(analysis: RooflineAnalysis, label: str = "", subject: Subject | None = None) -> Run:
    """The part of `analysis` that a comparison needs. `label` is the reader's name of this run.

    Times are those of `subject` alone, else of the default one, its capture and its executions.
    """
    table, count = analysis.profile.ops, len(analysis.profile.ops)
    calls = np.maximum(table.occurrences.astype(np.float64), 1)
    known = table.cost_known
    work, roof_us = _resources(analysis, calls)
    places = zip(table.source_file, table.source_line.tolist(), table.source_stack, strict=True)
    sources = [own_source(*one) for one in places]
    return Run(
        label=label or _label(analysis),
        texts=_texts(analysis, sources),
        source_line=np.array([one.line for one in sources], np.float64),
        flop=np.where(known & table.flop_known, table.flop / calls, np.nan),
        bytes=np.where(known & table.bytes_known, table.bytes_accessed / calls, np.nan),
        work=work,
        roof_us=roof_us,
        is_placed=(analysis.ops.measures.bound[:count] != roofline.UNKNOWN_BOUND).astype(float),
        peaks=_peaks(analysis),
        main_memory=main_level(analysis.levels).value,
        units=units_of(analysis, subject),
        provenance=(
            analysis.profile.flop_provenance.value,
            analysis.profile.bytes_provenance.value,
        ),
        facts=_facts(analysis),
        fixed_link_ratio=fixed_ratio(analysis.transfers),
    )


def run_of_address(analysis: RooflineAnalysis, of: str | None, label: str = "") -> Run:
    """The same, of the subject with the address `of` alone; without one of the default subject."""
    return run_of(analysis, label, None if of is None else choose(analysis, of))


def _label(analysis: RooflineAnalysis) -> str:
    hosts = analysis.profile.hosts
    return PurePath(hosts[0].file_name).name if hosts else ""


def _texts(analysis: RooflineAnalysis, sources: Sequence[Source]) -> dict[str, tuple[str, ...]]:
    table, names = analysis.profile.ops, analysis.profile.program_names
    return {
        "name": table.name,
        "category": table.category,
        "program": tuple(_program(names.get(one, "")) for one in table.program_id.tolist()),
        "path": table.framework_path,
        "operands": table.operands,
        "results": table.results,
        "source_file": tuple(one.file for one in sources),
        "library": tuple(one.library for one in sources),
    }


def _program(name: str) -> str:
    """A module's name without its id or fingerprint: `jit_step(1234)` is `jit_step`."""
    return name.partition("(")[0]


# ------------------------------------------------------------------------------------------- work


def _resources(
    analysis: RooflineAnalysis, calls: Floats
) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Work per call by resource, and the time it needs at the peak there; NaN without a peak."""
    table, count = decided(analysis.profile.ops, analysis.peaks, fastest), len(calls)
    measures = analysis.ops.measures
    per_call_us = table.time_ps.astype(np.float64) / PS_PER_US / calls
    work: dict[str, Floats] = {}
    roof_us: dict[str, Floats] = {}
    flop = np.where(table.cost_known & table.flop_known, table.flop / calls, np.nan)
    rest = flop.copy()
    for unit in analysis.units:
        column = table.unit_flop[unit] / calls
        share = measures.unit_utilisation_ratio[unit][:count]
        held = (column > 0) & np.isfinite(share)
        claimed = column > 0 if analysis.peaks.is_of_one_unit else held
        work[unit.value] = np.where(np.isnan(flop), np.nan, column)
        roof_us[unit.value] = np.where(held, share * per_call_us, np.nan)
        rest = rest - np.where(claimed, column, 0.0)
    main = np.where(rest > np.nan_to_num(flop) * _ROUNDING, rest, np.where(np.isnan(rest), rest, 0))
    work[COMPUTE] = main
    peak = analysis.peaks.gflops * _FLOP_PER_US
    roof_us[COMPUTE] = np.where(main > 0, main / peak, np.nan) if peak else np.full(count, np.nan)
    for level in analysis.levels:
        moved_us = measures.utilisation_ratio[level][:count] * per_call_us
        work[level.value] = _traffic(analysis, level.value, calls)
        roof_us[level.value] = np.where(work[level.value] > 0, moved_us, np.nan)
    peaks = _peaks(analysis)
    kept = {name: column for name, column in work.items() if np.nansum(column) > 0}
    return kept, {name: _exact(roof_us[name], work[name], peaks.get(name)) for name in kept}


def _exact(roof_us: Floats, work: Floats, peak: float | None) -> Floats:
    """Work ÷ the device's peak, to the last digit, unless the op has a measured peak of its own."""
    if not peak:
        return roof_us
    by_peak = work / peak
    is_same = np.abs(roof_us - by_peak) <= _ROUNDING * by_peak
    return np.where(is_same, by_peak, roof_us)


def _traffic(analysis: RooflineAnalysis, key: str, calls: Floats) -> Floats:
    table = analysis.profile.ops
    level = next(one for one in analysis.levels if one.value == key)
    whole = np.where(table.cost_known & table.bytes_known, table.bytes_accessed / calls, np.nan)
    otherwise = whole if level is main_level(analysis.levels) else np.full(len(calls), np.nan)
    split = np.where(np.isnan(whole), np.nan, table.traffic_bytes[level] / calls)
    return np.where(table.traffic_known, split, otherwise)


def _peaks(analysis: RooflineAnalysis) -> dict[str, float]:
    """The device's peaks by resource, in FLOP/us and bytes/us."""
    device, peaks = analysis.device, analysis.peaks
    found = {unit.value: gflops * _FLOP_PER_US for unit, gflops in peaks.unit_gflops.items()}
    if peaks.gflops:
        found[COMPUTE] = peaks.gflops * _FLOP_PER_US
    return found | {peak.level.value: peak.gbs * _BYTES_PER_US for peak in device.memory}


# ------------------------------------------------------------------------------------------ facts


def _four(value: float) -> str:
    """Four digits, without an exponent: 989.4, 3,350, 12,290."""
    return f"{float(f'{value:.4g}'):,.10g}"


def _facts(analysis: RooflineAnalysis) -> dict[str, str]:
    """Facts that a reader should see when they differ between two captures."""
    profile, device = analysis.profile, analysis.device
    compute = [f"{_four(peak.gflops / KILO)} TFLOP/s ({peak.label})" for peak in device.compute]
    memory = [f"{_four(peak.gbs)} GB/s ({peak.level.label})" for peak in device.memory]
    programs = sorted({_program(name) for name in profile.program_names.values()})
    return {
        "Device": device.name,
        "Cores": str(device.core_count) if profile.device.counts_cores else "",
        "Hosts": str(len(profile.hosts)),
        "Compute peak": compute[0] if compute else "",
        "Memory peak": memory[0] if memory else "",
        "Format": profile.format_label,
        "Steps": str(len(profile.steps)),
        "Programs": ", ".join(programs[:4]),
        "FLOPs": profile.flop_provenance.value,
        "Bytes": profile.bytes_provenance.value,
        **_batch(analysis),
        **{LABELS[name]: value for name, value in profile.environment.items()},
    }


def _batch(analysis: RooflineAnalysis) -> dict[str, str]:
    """Sequences of a server's steps, where it states them: half of the steps have fewer."""
    serving = analysis.profile.serving
    if serving is None or np.isnan(serving.sequences).all():
        return {}
    return {"Sequences a step": f"{float(np.nanmedian(serving.sequences)):g}"}


def units_of(analysis: RooflineAnalysis, asked: Subject | None = None) -> dict[str, UnitTimes]:
    """The times of the subject that was asked for, alone; without one those of the default
    subject, of the capture that it is a step of, and of an execution of a compiled program."""
    subject = asked or choose(analysis)
    own, is_step = _times(analysis, subject), subject.kind in _OF_STEPS
    if asked is not None:
        return {STEP if is_step else CAPTURE: own}
    units = {STEP: own} if is_step else {}
    whole = _times(analysis, choose(analysis, options(analysis)[-1].of)) if is_step else own
    executions = _executions(analysis, whole)
    if executions:
        units[EXECUTION] = _divided(whole, executions)
    return {**units, CAPTURE: whole}


def _times(analysis: RooflineAnalysis, subject: Subject) -> UnitTimes:
    count, waits = len(analysis.profile.ops), subject.parts.waits
    work_us = subject.ops.work_us[:count]
    is_work = np.array([part is OpPart.WORK for part in subject.ops.part[:count]], np.bool_)
    is_judged = is_work & ~Costs.of(analysis).assumed[:count]
    parts = {
        "communication": float(waits["links"]),
        "transfers": waits["transfers"] + waits["input"],
        "idle": subject.parts.idle,
    }
    rest_us = subject.time_us - float(work_us.sum()) - sum(parts.values())
    is_rounding = abs(rest_us) < _ROUNDING * subject.time_us
    return UnitTimes(
        calls=subject.ops.calls[:count],
        time_us=work_us,
        needed_us=np.where(is_judged, subject.ops.needed_us[:count], np.nan),
        parts={**parts, "unknown": 0.0 if is_rounding else rest_us},
        total_us=subject.time_us,
        samples_us=_samples_us(analysis, subject),
        subject=_subject_facts(analysis, subject),
    )


def _subject_facts(analysis: RooflineAnalysis, subject: Subject) -> RunSubject:
    verdict, idle_us = verdict_of(analysis, subject), subject.parts.idle
    return alike(
        RunSubject,
        subject,
        kind=subject.kind.value,
        verdict=verdict.kind.value,
        ceiling=verdict.ceiling,
        ratio=verdict.ratio,
        is_counted=verdict.known.busy >= MOSTLY,
        host_wait_ratio=subject.parts.host_wait / idle_us if idle_us > 0 else 1.0,
    )


def _samples_us(analysis: RooflineAnalysis, subject: Subject) -> tuple[float, ...]:
    """The times of the single steps that a mean step is of; none of other subjects."""
    profile = analysis.profile
    if subject.kind is Kind.SERVING and profile.serving is not None:
        option = next(one for one in options(analysis) if one.of == subject.of)
        return tuple((profile.serving.span_ps[option.steps] / PS_PER_US).tolist())
    if subject.of != Kind.STEP.value:
        return ()
    if profile.timeline is not None:
        return tuple(us for us in step_us(profile.timeline).tolist() if us > 0)
    cores = max(analysis.device.core_count, 1)
    return tuple((profile.steps.time_ps / PS_PER_US / cores).tolist())


def _executions(analysis: RooflineAnalysis, whole: UnitTimes) -> int:
    """How often a core ran the program: the most frequent call count of a compiled one's ops."""
    table = analysis.profile.ops
    if not analysis.profile.program_names:
        return 0
    counted = Counter(
        round(calls)
        for calls, category, program in zip(
            whole.calls.tolist(), table.category, table.program_id.tolist(), strict=True
        )
        if calls >= 1 and not is_container(category) and program in analysis.profile.program_names
    )
    return max(counted, key=lambda calls: (counted[calls], calls)) if counted else 0


def _divided(whole: UnitTimes, count: int) -> UnitTimes:
    return UnitTimes(
        calls=whole.calls / count,
        time_us=whole.time_us / count,
        needed_us=whole.needed_us / count,
        parts={name: value / count for name, value in whole.parts.items()},
        total_us=whole.total_us / count,
        subject=None if whole.subject is None else _of_execution(whole.subject, count),
    )


def _of_execution(subject: RunSubject, count: int) -> RunSubject:
    return replace(
        subject,
        label=f"Execution, mean of {count:,}",
        unit_word="an execution",
        time_us=subject.time_us / count,
        floor_us=None if subject.floor_us is None else subject.floor_us / count,
    )
