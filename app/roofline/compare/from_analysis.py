"""An analysis as the columns of a comparison: work and roofs per call, times per unit."""

from collections import Counter
from collections.abc import Mapping
from pathlib import PurePath

import numpy as np

from roofline.analysis import roofline
from roofline.analysis.records import RooflineAnalysis, Timing
from roofline.analysis.roofline import Floats
from roofline.analysis.transfers import is_transfer
from roofline.compare.run import CAPTURE, EXECUTION, STEP, Run, UnitTimes
from roofline.model.categories import is_container, is_infeed_outfeed
from roofline.model.environment import LABELS
from roofline.model.memory import main_level
from roofline.model.op_columns import I64, Bools
from roofline.model.timeline import WHOLE_CAPTURE, Timeline
from roofline.model.units import GIGA, KILO, PS_PER_US, US_PER_S

COMPUTE = "compute"
"""The resource of FLOPs that the profile does not assign to a compute unit."""

_FLOP_PER_US = GIGA / US_PER_S  # of a GFLOP/s
_BYTES_PER_US = GIGA / US_PER_S  # of a GB/s
_ROUNDING = 1e-9


def run_of(analysis: RooflineAnalysis, label: str = "") -> Run:
    """The part of `analysis` that a comparison needs. `label` is the reader's name of this run."""
    table, count = analysis.profile.ops, len(analysis.profile.ops)
    calls = np.maximum(table.occurrences.astype(np.float64), 1)
    known = table.cost_known
    work, roof_us = _resources(analysis, calls)
    return Run(
        label=label or _label(analysis),
        texts=_texts(analysis),
        source_line=table.source_line.astype(np.float64),
        flop=np.where(known & table.flop_known, table.flop / calls, np.nan),
        bytes=np.where(known & table.bytes_known, table.bytes_accessed / calls, np.nan),
        work=work,
        roof_us=roof_us,
        is_placed=(analysis.ops.measures.bound[:count] != roofline.UNKNOWN_BOUND).astype(float),
        peaks=_peaks(analysis),
        main_memory=main_level(analysis.levels).value,
        units=_units(analysis),
        provenance=(
            analysis.profile.flop_provenance.value,
            analysis.profile.bytes_provenance.value,
        ),
        facts=_facts(analysis),
    )


def _label(analysis: RooflineAnalysis) -> str:
    hosts = analysis.profile.hosts
    return PurePath(hosts[0].file_name).name if hosts else ""


def _texts(analysis: RooflineAnalysis) -> dict[str, tuple[str, ...]]:
    table, names = analysis.profile.ops, analysis.profile.program_names
    return {
        "name": table.name,
        "category": table.category,
        "program": tuple(_program(names.get(one, "")) for one in table.program_id.tolist()),
        "path": table.framework_path,
        "operands": table.operands,
        "results": table.results,
        "source_file": table.source_file,
    }


def _program(name: str) -> str:
    """A module's name without its id or fingerprint: `jit_step(1234)` is `jit_step`."""
    return name.partition("(")[0]


# ------------------------------------------------------------------------------------------- work


def _resources(
    analysis: RooflineAnalysis, calls: Floats
) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Work per call by resource, and the time it needs at the peak there; NaN without a peak."""
    table, count = analysis.profile.ops, len(calls)
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
    kept = _without_empty(work)
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


def _without_empty(work: Mapping[str, Floats]) -> dict[str, Floats]:
    return {name: column for name, column in work.items() if np.nansum(column) > 0}


def _peaks(analysis: RooflineAnalysis) -> dict[str, float]:
    """The device's peaks by resource, in FLOP/us and bytes/us."""
    device, peaks = analysis.device, analysis.peaks
    found = {unit.value: gflops * _FLOP_PER_US for unit, gflops in peaks.unit_gflops.items()}
    if peaks.gflops:
        found[COMPUTE] = peaks.gflops * _FLOP_PER_US
    return found | {peak.level.value: peak.gbs * _BYTES_PER_US for peak in device.memory}


# ------------------------------------------------------------------------------------------- time


def _units(analysis: RooflineAnalysis) -> dict[str, UnitTimes]:
    timeline = analysis.profile.timeline
    if timeline is not None:
        whole = _of_timeline(timeline, analysis, np.array([WHOLE_CAPTURE]))
        step = None
        if timeline.steps:
            step = _of_timeline(timeline, analysis, np.arange(timeline.steps))
    else:
        whole = _of_sums(analysis)
        count = len(analysis.profile.steps)
        step = _divided(whole, count, _step_samples(analysis)) if count else None
    units = {} if step is None else {STEP: step}
    executions = _executions(analysis, whole)
    if executions:
        units[EXECUTION] = _divided(whole, executions)
    return {**units, CAPTURE: whole}


def _of_timeline(timeline: Timeline, analysis: RooflineAnalysis, scopes: I64) -> UnitTimes:
    """Means over cores and `scopes`: each instant has one owner, so the parts add up."""
    count = len(analysis.profile.ops)
    times, work = timeline.times, timeline.work
    rows, mine = np.isin(times.scope, scopes), np.isin(work.scope, scopes)
    n_means = max(int(rows.sum()), 1)
    op, time_ps = work.op[mine], work.time_ps[mine]
    has_op = op >= 0
    exposed = sum(float(column[rows].sum()) for column in times.exposed_ps.values())
    parts_ps = {
        "communication": exposed,
        "transfers": float(times.host_ps[rows].sum() + times.infeed_outfeed_ps[rows].sum()),
        "idle": float(times.launch_gaps_ps[rows].sum() + times.idle_ps[rows].sum()),
        "unknown": float(time_ps[~has_op].sum()),
    }
    sums = np.bincount(op[has_op], time_ps[has_op], count) / n_means / PS_PER_US
    parts = {name: value / n_means / PS_PER_US for name, value in parts_ps.items()}
    is_capture = len(scopes) == 1 and scopes[0] == WHOLE_CAPTURE
    return UnitTimes(
        calls=np.bincount(op[has_op], work.calls[mine][has_op], count) / n_means,
        time_us=sums,
        parts=parts,
        total_us=float(sums.sum()) + sum(parts.values()),
        samples_us=() if is_capture else _mean_by_scope(timeline, scopes),
    )


def _mean_by_scope(timeline: Timeline, scopes: I64) -> tuple[float, ...]:
    times = timeline.times
    chosen = [times.total_ps[times.scope == scope] for scope in scopes]
    return tuple(float(one.mean()) / PS_PER_US for one in chosen if len(one))


def _of_sums(analysis: RooflineAnalysis) -> UnitTimes:
    """The capture where the file has sums alone: self times, and what they leave is idle."""
    profile, table = analysis.profile, analysis.profile.ops
    cores = max(analysis.device.core_count, 1)
    self_us = np.where(table.time_known, table.self_time_ps / PS_PER_US, 0.0) / cores
    total_us = profile.time_ps / PS_PER_US / cores
    linked, hosted = is_transfer(profile), _is_hosted(table.category)
    is_part = linked | hosted
    parts = {
        "communication": float(self_us[linked & ~hosted].sum()),
        "transfers": float(self_us[hosted].sum()),
        "unknown": 0.0,
    }
    time_us = np.where(is_part, 0.0, self_us)
    parts["idle"] = total_us - float(time_us.sum()) - sum(parts.values())
    is_rate = np.array([one is Timing.RATE for one in analysis.ops.timing[: len(table)]], np.bool_)
    calls = np.where(is_rate, 0.0, table.occurrences / cores)
    return UnitTimes(
        calls=np.where(is_part, 0.0, calls),
        time_us=time_us,
        parts=parts,
        total_us=float(time_us.sum()) + sum(parts.values()),
    )


def _is_hosted(categories: tuple[str, ...]) -> Bools:
    return np.array([is_infeed_outfeed(category) for category in categories], np.bool_)


def _step_samples(analysis: RooflineAnalysis) -> tuple[float, ...]:
    cores = max(analysis.device.core_count, 1)
    return tuple((analysis.profile.steps.time_ps / PS_PER_US / cores).tolist())


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


def _divided(whole: UnitTimes, count: int, samples_us: tuple[float, ...] = ()) -> UnitTimes:
    return UnitTimes(
        calls=whole.calls / count,
        time_us=whole.time_us / count,
        parts={name: value / count for name, value in whole.parts.items()},
        total_us=whole.total_us / count,
        samples_us=samples_us,
    )


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
        "Cores": str(device.core_count),
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
