"""The limits of a capture, in sentences, and the notes of its reader."""

from collections.abc import Iterator, Sequence

from roofline.importers.nsight_compute.launches import Capture, Launch
from roofline.importers.nsight_compute.work import LaunchWork
from roofline.importers.shared.notes import Note, counted, noted
from roofline.model.compute import ComputeUnit
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Diagnostic, Severity

Pairs = Sequence[tuple[Launch, LaunchWork]]

_NAMES_SHOWN = 3
_NAME_LENGTH = 60
_COLLECT = "Profile again with: ncu --set full -o report PROGRAM"
_OPCODES = "Upload the .ncu-rep of --set full: its opcode histogram has the FLOPs."
_LIMITS = (
    "Nsight Compute profiles kernels one by one: it has no steps, no idle time and no "
    "communication that runs beside a kernel.",
    "Times are of replayed kernels, by default with caches emptied and clocks locked to their "
    "base: they differ from an ordinary run's.",
    "Integer operations outside the tensor cores are counted on their own, not as FLOPs. "
    "Conversions and special functions are not counted.",
)
_NOTES = {
    "failed-kernels": Note(
        Severity.WARNING,
        "kernels could not be profiled: the file has no values for them, so they are left out"
        " ({names}).",
        "Nsight Compute prints why while it profiles: often too little memory to save and restore,"
        " or a timeout.",
    ),
    "kernels-without-time": Note(
        Severity.WARNING,
        "kernels have no time in this file: their rates are predictions, what the roof allows at"
        " best, and are not part of the total.",
        "Add gpu__time_duration.sum to --metrics, or use --set roofline.",
    ),
    "only-times": Note(
        Severity.WARNING,
        "kernels have a time but neither FLOPs, bytes nor busy shares of units: the file has no"
        " such metric of them.",
        "Profile again with: ncu -o report PROGRAM, whose default set has busy shares; --set full"
        " adds FLOPs, bytes and what warps wait for.",
    ),
    "no-dram-bytes": Note(
        Severity.WARNING,
        "kernels have FLOPs but no bytes of device memory, so their intensity there is unknown.",
        "Add dram__bytes.sum to --metrics, or use --set roofline.",
    ),
    "busy-without-flops": Note(
        Severity.INFO,
        "kernels have busy shares of units but no count of their FLOPs: what kept them busy is"
        " known; their FLOPs are unknown, not zero.",
        "The .ncu-rep of --set full has FLOPs, bytes of the caches and what warps wait for, too.",
    ),
    "no-flop-counters": Note(
        Severity.WARNING,
        "kernels have bytes, but the file has no counter of their FLOPs, or only some that are"
        " zero: their FLOPs are unknown, not zero.",
        _OPCODES,
    ),
    "dram-bytes-derived": Note(
        Severity.INFO,
        "kernels have no counter of DRAM bytes: theirs are from the share of DRAM's peak (its clock"
        " × bus width × 2) and the time.",
    ),
    "partial-flop-counters": Note(
        Severity.WARNING,
        "kernels lack some of the add, multiply and multiply-add counters: their FLOPs are a lower"
        " bound.",
        _COLLECT,
    ),
    "tensor-work-unknown": Note(
        Severity.WARNING,
        "kernels used the tensor cores, but the file does not say how many operations that were:"
        " their FLOPs are unknown ({names}).",
        f"{_OPCODES} Or add --metrics regex:sm__ops_path_tensor_src_.*.sum where your GPU and"
        " version have it.",
    ),
    "tensor-not-collected": Note(
        Severity.WARNING,
        "kernels have no tensor-core counters (tensor: not collected): such work is missing from"
        " their FLOPs, if they did any.",
        _COLLECT,
    ),
    "tensor-by-opcode": Note(
        Severity.INFO,
        "kernels have their tensor operations counted by opcode: executed instructions × 2·m·n·k of"
        " the tile in the opcode's name.",
    ),
    "fp16-not-collected": Note(
        Severity.INFO,
        "kernels have no fp16 counters (fp16: not collected). Half-precision work outside the"
        " tensor cores is missing from their FLOPs.",
        "Upload the .ncu-rep of --set full, whose opcode histogram shows it.",
    ),
    "fp16-doubtful": Note(
        Severity.WARNING,
        "kernels ran half-precision multiply-adds (HFMA2) that may only load constants: they are"
        " missing from their FLOPs.",
    ),
    "flops-by-opcode": Note(
        Severity.INFO,
        "kernels have no counters of some FLOPs ({precisions}): these come from the opcode"
        " histogram. A multiply-add is two operations, and a packed half-precision instruction"
        " works on two lanes.",
    ),
    "constant-moves": Note(
        Severity.INFO,
        "kernels use half-precision multiply-adds (HFMA2.MMA) and no other half-precision"
        " arithmetic: these load constants and do not count as FLOPs.",
    ),
    "several-gpu-models": Note(
        Severity.WARNING,
        "The kernels ran on different GPUs: {models}. Roofs are those of the one with most time;"
        " each kernel's utilisation is of its own GPU's peaks.",
        "Profile one model of GPU per report.",
    ),
    "few-digits": Note(
        Severity.WARNING,
        "cells of the CSV have fewer than three digits left after the profiler chose the column's"
        " unit, so small kernels are inexact.",
        "Upload the .ncu-rep itself.",
    ),
    "cut-table": Note(
        Severity.WARNING,
        "The table ends in the middle of a kernel's row ({names}): that kernel is left out, and"
        " others may be missing.",
        "Check that the file was copied completely, or export it again.",
    ),
}


def limits(works: Sequence[LaunchWork]) -> tuple[str, ...]:
    """Sentences about what Nsight Compute cannot know, and how it counts here."""
    sources = {
        level: sorted({work.moved[level].source for work in works if level in work.moved})
        for level in (MemoryLevel.DRAM, MemoryLevel.L2, MemoryLevel.L1, MemoryLevel.SHARED)
    }
    texts = (f"{of.label} bytes: {'; '.join(used)}." for of, used in sources.items() if used)
    return (*_LIMITS, *texts)


def diagnostics(captures: Sequence[Capture], pairs: Pairs) -> Iterator[Diagnostic]:
    """Everything survivable, with how often it was met."""
    measured = [(launch, work) for launch, work in pairs if not work.is_empty]
    if failed := [launch for launch, work in pairs if work.is_empty]:
        yield noted(_NOTES, "failed-kernels", len(failed), names=_names(failed))
    yield from counted(_NOTES, _without_a_count([work for _, work in measured]))
    yield from _of_opcodes(measured)
    models = sorted({launch.device_name for launch, _ in measured if launch.device_name})
    if len(models) > 1:
        yield noted(_NOTES, "several-gpu-models", models=", ".join(models))
    vague = sum(capture.vague_cells for capture in captures)
    yield from counted(_NOTES, {"few-digits": vague})
    if cut := [capture.file_name for capture in captures if capture.is_cut]:
        yield noted(_NOTES, "cut-table", names=", ".join(cut))


def _without_a_count(works: Sequence[LaunchWork]) -> dict[str, int]:
    """How many launches lack a time, bytes or FLOPs, by the code of the note.

    Of launches without FLOPs whose busy shares are known, the nearest ceiling is known as well.
    """
    without_flop = [w for w in works if not w.flop_known and w.tensor.is_whole]
    return {
        "kernels-without-time": sum(w.time_ns is None for w in works),
        "only-times": sum(not (w.flop or w.moved or w.busy) for w in works),
        "no-dram-bytes": sum(bool(w.flop) and MemoryLevel.DRAM not in w.moved for w in works),
        "busy-without-flops": sum(bool(w.busy) for w in without_flop),
        "no-flop-counters": sum(bool(w.moved) and not w.busy for w in without_flop),
        "dram-bytes-derived": sum(any(m.is_derived for m in w.moved.values()) for w in works),
        "partial-flop-counters": sum(bool(w.partial) for w in works),
    }


def _of_opcodes(pairs: Pairs) -> Iterator[Diagnostic]:
    """Work of the tensor cores and at half precision, and FLOPs that the opcode histogram has."""
    works = [work for _, work in pairs]
    if unknown := [launch for launch, work in pairs if not work.tensor.is_whole]:
        yield noted(_NOTES, "tensor-work-unknown", len(unknown), names=_names(unknown))
    counted_half = [w for w in works if w.flop_known and not w.opcodes.is_half_doubtful]
    by_opcode = [used for w in works if (used := [unit for unit in w.by_opcode if w.flop[unit]])]
    units = [unit for unit in ComputeUnit if any(unit in used for used in by_opcode)]
    counts = {
        "tensor-not-collected": sum(
            bool(w.flop) and w.tensor.is_whole and w.tensor.operations is None for w in works
        ),
        "tensor-by-opcode": sum(w.tensor.by_opcode and bool(w.tensor.operations) for w in works),
        "fp16-not-collected": sum(ComputeUnit.VECTOR_FP16 not in w.flop for w in counted_half),
        "fp16-doubtful": sum(w.opcodes.is_half_doubtful for w in works),
        "flops-by-opcode": len(by_opcode),
        "constant-moves": sum(w.opcodes.moves_constants for w in works),
    }
    yield from counted(_NOTES, counts, precisions=", ".join(unit.precision.value for unit in units))


def _names(launches: Sequence[Launch]) -> str:
    names = list(dict.fromkeys(launch.name[:_NAME_LENGTH] for launch in launches))
    more = len(names) - _NAMES_SHOWN
    return ", ".join(names[:_NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")
