"""Notes for a reader of the analysis: unknown costs, work above the roof, lost peaks."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from roofline.analysis import roofline
from roofline.analysis.above_roof import OVER
from roofline.analysis.causes import CAUSE_LABELS, EXPLAINED, Cause
from roofline.analysis.cells import MOST_TIMES
from roofline.analysis.clocks import clock_of_peaks
from roofline.analysis.context import Context
from roofline.analysis.nearest_records import NearestOps
from roofline.analysis.records import UNDECIDED, Cost, OpRecords, ProgramPoints
from roofline.model.ceilings import Ceiling
from roofline.model.compute import UndecidedUnit
from roofline.model.device import CountedUnits, DeviceKind, MemoryPeak, PeakOrigin
from roofline.model.memory import MemoryLevel
from roofline.model.notes import noted, notes_beside
from roofline.model.profile import Diagnostic, Profile, Provenance

_NOTES = notes_beside(__file__)

DISAGREEMENT = 0.03
"""A useful share may exceed the busy share of its unit by this much: clocks of two passes."""


def worded(found: Diagnostic) -> Diagnostic:
    """An importer's note as sentences that read alone: "ops are …" becomes "Some ops are …"."""
    if not found.message[:1].islower():
        return found
    times = f" Noticed {found.count:,} times." if found.count > 1 else ""
    return replace(found, message=f"Some {found.message}{times}")


def diagnose(
    context: Context, ops: OpRecords, program: ProgramPoints, nearest: NearestOps
) -> list[Diagnostic]:
    """Notes for the reader: unknown costs, work above the roof, differences from XProf.

    A message that is about several ops says how many itself; `count` repeats it as a number.
    """
    if context.oddities.on:
        return []
    found = [
        _unknown_costs(context, ops),
        _above_compute_peak(context, ops),
        _units_without_peak(context),
        _undecided_units(context, ops),
        _precision_not_stated(context),
        _above_memory_roof(ops),
        _above_memory_peak(context, program),
        _counters_disagree(context, nearest),
        _lost_flags(context),
        _wrapped_time(context),
        _no_peaks(context),
        _partly_counted(context),
        async_collectives(context, ops),
        clock_of_peaks(context),
        *ask_for_links(context, ops),
    ]
    return [diagnostic for diagnostic in found if diagnostic is not None]


def _unknown_costs(context: Context, ops: OpRecords) -> Diagnostic | None:
    count = sum(cost is Cost.UNKNOWN for cost in ops.cost)
    if not count:
        return None
    have, their, them = ("op has", "its", "it") if count == 1 else ("ops have", "their", "them")
    modelled = context.profile.flop_provenance is Provenance.MODELLED
    xprof = f" XProf shows zeros for {them}." if modelled else ""
    is_tpu = context.device.kind is DeviceKind.TPU
    remedy = ""
    if modelled and (is_tpu or context.profile.ops.cost_known.any()):
        remedy = "For a Pallas or custom call, pass cost_estimate= so that its work is counted."
    return noted(_NOTES, "unknown-cost", count, have=have, their=their, xprof=xprof, remedy=remedy)


def _units_without_peak(context: Context) -> Diagnostic | None:
    """Work that no peak can be held against: it does not enter any share of a compute roof."""
    table, peaks = context.profile.ops, context.peaks
    unheld = [
        unit
        for unit in context.units
        if not peaks.unit_gflops.get(unit)
        and not np.isfinite(table.unit_capacity_flop.get(unit, np.full(1, np.nan))).any()
        and table.unit_flop[unit].any()
    ]
    if not unheld or not peaks.is_of_one_unit:
        return None
    share = sum(float(table.unit_flop[unit].sum()) for unit in unheld) / float(table.flop.sum())
    names = " and ".join(unit.label for unit in unheld)
    return noted(_NOTES, "unit-without-peak", percent=100 * share, names=names)


def _undecided_units(context: Context, ops: OpRecords) -> Diagnostic | None:
    """Work of one of several units, of which neither its element type nor a kernel's name tells."""
    undecided = context.profile.ops.undecided_flop
    count = int(sum((flop > 0).sum() for flop in undecided.values()))
    if not count:
        return None
    names = [among for among, flop in undecided.items() if flop.any()]
    units = {
        unit.label for among in names if among is not UndecidedUnit.ANY for unit in among.units
    }
    between = f" ({', '.join(sorted(units))})" if units else ""
    unbound = int((ops.measures.unit == UNDECIDED).sum())
    op, share = ("op", "its share") if count == 1 else ("ops", "their shares")
    return noted(
        _NOTES, "unit-undecided", count, op=op, between=between, share=share, unbound=unbound
    )


def _precision_not_stated(context: Context) -> Diagnostic | None:
    """FLOPs of a person's table without a precision, against the peak of a matrix unit."""
    table, main = context.profile.ops, context.device.compute[:1]
    if context.profile.flop_provenance is not Provenance.STATED:
        return None
    of_units = sum(table.unit_flop.values(), np.zeros(len(table), np.uint64))
    count = int(((table.flop > 0) & (of_units == 0)).sum())
    unit = main[0].unit if main and main[0].origin is not PeakOrigin.PROFILE else None
    if not count or unit is None or not unit.is_matrix:
        return None
    ops = "op" if count == 1 else "ops"
    return noted(_NOTES, "precision-not-stated", count, ops=ops, unit=unit.label)


def _above_compute_peak(context: Context, ops: OpRecords) -> Diagnostic | None:
    doubtful = [cause not in EXPLAINED for cause in ops.compute_cause]
    used = np.nan_to_num(ops.measures.compute_efficiency_ratio) * doubtful
    count = int((used > 1.0).sum())
    if not count:
        return None
    run = "op runs" if count == 1 else "ops run"
    its, uses = ("Its", "it uses") if count == 1 else ("Their", "they use")
    causes = {ops.compute_cause[op] for op in np.flatnonzero(used > 1.0).tolist()}
    why = f"{its} FLOPs are over-counted, or {uses} a faster precision than the peak's."
    if causes == {Cause.COMPILER_COUNT}:
        why = "The compiler counts a function such as exp as many FLOPs: the counts are too high."
    check = "FLOPs of a custom call are its author's estimate: check cost_estimate."
    check = check if Cause.OWN_ESTIMATE in causes else ""
    return noted(
        _NOTES,
        "above-compute-peak",
        count,
        run=run,
        up_to=_up_to(float(used.max())),
        why=why,
        check=check,
    )


def _above_memory_roof(ops: OpRecords) -> Diagnostic | None:
    """Ops that seem to move more bytes than their memory or link can, with the likely causes."""
    share = ops.measures.roofline_efficiency_ratio
    over = np.nan_to_num(share) > OVER
    is_memory = (ops.measures.bound > roofline.COMPUTE_BOUND) & over
    causes = Counter(c for c, memory in zip(ops.above_roof, is_memory, strict=True) if c and memory)
    if not causes:
        return None
    count, most = causes.total(), float(np.nanmax(share[is_memory]))
    run = "op runs" if count == 1 else "ops run"
    often = causes.most_common()
    cause = "cause" if len(causes) == 1 else "causes"
    why = ", ".join(
        f"{CAUSE_LABELS[c]} ({n:,})" if len(often) > 1 else CAUSE_LABELS[c] for c, n in often
    )
    return noted(
        _NOTES, "above-memory-roof", count, run=run, up_to=_up_to(most), cause=cause, why=why
    )


def _up_to(times: float) -> str:
    """How far above a roof; a number that nothing explains is not told."""
    if times > MOST_TIMES:
        return f"some by more than {MOST_TIMES} times"
    return f"up to {times:,.2f} times it"


def _factor(times: float) -> str:
    over = times > MOST_TIMES
    return f"more than {MOST_TIMES} times" if over else f"{times:,.2f} times"


def _above_memory_peak(context: Context, program: ProgramPoints) -> Diagnostic | None:
    """The whole program cannot move more than its memory can; single asynchronous copies may."""
    measures = program.measures
    code, used = int(measures.bound[0]), float(measures.memory_utilisation_ratio[0])
    if code <= roofline.COMPUTE_BOUND or not used > 1.0:
        return None
    label = context.levels[code - 2].label
    return noted(
        _NOTES,
        "above-memory-peak",
        times=_factor(used),
        label=label,
        why=why_bytes_exceed_peak(context.profile),
    )


def _counters_disagree(context: Context, nearest: NearestOps) -> Diagnostic | None:
    """Work that exceeds what its unit was busy for: counters and time are of different passes.

    Peaks that a benchmark reached are below the greatest rates that busy shares are of.
    """
    if any(_is_benchmark(context, peak) for peak in context.device.memory):
        return None
    over = nearest.useful > nearest.busy + DISAGREEMENT  # false where either is unknown
    rows = np.flatnonzero(over.any(axis=0)).tolist()
    if not rows:
        return None
    units = [nearest.ceilings[place] for place in np.flatnonzero(over.any(axis=1)).tolist()]
    names = " and ".join(Ceiling(one).label for one in units)
    ops_do = "op does" if len(rows) == 1 else "ops do"
    return noted(_NOTES, "counters-disagree", len(rows), ops_do=ops_do, names=names)


def _is_benchmark(context: Context, peak: MemoryPeak) -> bool:
    """A measured peak that is not of the launches themselves."""
    is_of_launches = peak.level in context.profile.ops.level_capacity_bytes
    return peak.origin is PeakOrigin.MEASURED and not is_of_launches


def why_bytes_exceed_peak(profile: Profile) -> str:
    """One sentence: how a program can seem to move more than its memory can."""
    if profile.bytes_provenance is Provenance.MEASURED:
        return "Counters and time were taken in different runs of the program, or the peak is low."
    if profile.bytes_provenance is Provenance.ESTIMATED:
        return "Bytes are estimated from shapes; what caches kept never reached that memory."
    if profile.bytes_provenance is Provenance.STATED:
        return "Check the units of bytes and time in the file, and the peak."
    if not profile.ops.traffic_known.any():
        return (
            "This capture does not tell bytes of HBM from bytes that stayed on the chip, "
            "so all count as HBM's."
        )
    return (
        "The compiler's byte counts are estimates and include bytes that never reach that memory."
    )


def _lost_flags(context: Context) -> Diagnostic | None:
    on_chip = [level for level in context.peaks.counted_gibs if not level.is_main]
    modelled = context.profile.bytes_provenance is Provenance.MODELLED
    if context.profile.host_count < 2 or not on_chip or not modelled:
        return None
    return noted(_NOTES, "on-chip-peaks-kept")


def _wrapped_time(context: Context) -> Diagnostic | None:
    """Where XProf's time without infeed and outfeed wraps below zero."""
    steps = context.profile.steps
    short = int((steps.sums.time_ps[:, 1] > steps.time_ps).sum())
    whole = context.infeed_outfeed_ps > context.profile.time_ps
    if not short and not whole:
        return None
    what = "the program" if whole else "a step" if short == 1 else f"{short:,} of the steps"
    return noted(_NOTES, "infeed-exceeds-program", what=what)


def _partly_counted(context: Context) -> Diagnostic | None:
    """A TPU counts the work of its matrix unit, and of no other."""
    if context.device.counters.counted_units is not CountedUnits.MATRIX_ONLY:
        return None
    return noted(_NOTES, "matrix-unit-only")


def _no_peaks(context: Context) -> Diagnostic | None:
    compute, memory = bool(context.peaks.gflops), bool(context.peaks.binding_gibs)
    if not len(context.profile.ops) or (compute and memory) or context.profile.is_host_only:
        return None
    said = "no peak of its device, so there is no roof to compare with"
    if compute or memory:
        lacking = "memory" if compute else "compute"
        said = f"no {lacking} peak of its device, so that roof is missing"
    return noted(_NOTES, "no-peaks", said=said)


# ------------------------------------------------------------------ fusions that hold communication

_NAME = re.compile(r"async-collective-(?:start|done|fusion)")
_WORTH_A_WORD = 0.001  # of the time


def may_communicate(name: str, cost: Cost) -> bool:
    """True for `async-collective-*` fusions without FLOPs: what they hold may be a transfer."""
    return cost in {Cost.NO_FLOPS, Cost.UNKNOWN} and _NAME.match(name) is not None


def async_collectives(context: Context, ops: OpRecords) -> Diagnostic | None:
    """Time in `async-collective-*` fusions without FLOPs, a line of its own."""
    rows = [
        row
        for row, (name, cost) in enumerate(zip(ops.name, ops.cost, strict=True))
        if may_communicate(name, cost)
    ]
    total = float(np.nansum(ops.measures.self_time_us))
    share = float(ops.measures.self_time_us[rows].sum()) / total if total else 0.0
    if share < _WORTH_A_WORD:
        return None
    source = "capture" if context.profile.timeline is not None else "table"
    return noted(_NOTES, "async-collectives", len(rows), percent=100 * share, source=source)


# -------------------------------------------------------------------------------------------- links


def ask_for_links(context: Context, ops: OpRecords) -> list[Diagnostic]:
    """Notes where transfers have no roof, because their link or its peak is not known."""
    unheld = ops.measures.bound == context.unknown_link_bound
    links = [ops.moved.link[op] for op in unheld.nonzero()[0].tolist()]
    known = [level for level in MemoryLevel if level in links]
    found = [_without_peak(known, sum(link is not None for link in links))] if known else []
    unknown = links.count(None)
    return [*found, *([_unknown(unknown)] if unknown else [])]


def _without_peak(levels: Sequence[MemoryLevel], count: int) -> Diagnostic:
    names = ["the host link" if level is MemoryLevel.HOST else level.label for level in levels]
    those = " and ".join(sorted(names, key=lambda name: name[0].islower()))
    peak, is_ = ("peaks", "are") if len(names) > 1 else ("peak", "is")
    asked = " ".join(f"--peak {level.value}=45GB/s" for level in levels)
    return noted(
        _NOTES,
        "links-without-peak",
        count,
        peak=peak,
        those=those,
        is_=is_,
        transfers=_transfers(count),
        asked=asked,
    )


def _unknown(count: int) -> Diagnostic:
    return noted(_NOTES, "unknown-link", count, transfers=_transfers(count))


def _transfers(count: int) -> str:
    return f"{count:,} transfer has" if count == 1 else f"{count:,} transfers have"
