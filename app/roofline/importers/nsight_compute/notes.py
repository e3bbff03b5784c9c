"""The limits of a capture, in sentences, and the notes of its reader."""

from collections.abc import Iterator, Sequence

from roofline.importers.nsight_compute.launches import Capture, Launch
from roofline.importers.nsight_compute.work import LaunchWork
from roofline.model.compute import ComputeUnit
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Diagnostic, Severity

Pairs = Sequence[tuple[Launch, LaunchWork]]

_NAMES_SHOWN = 3
_NAME_LENGTH = 60
_COLLECT = "Profile again with: ncu --set full -o report PROGRAM"
_OPCODES = "Upload the .ncu-rep of --set full: its opcode histogram has the FLOPs."


def limits(works: Sequence[LaunchWork]) -> tuple[str, ...]:
    """Sentences about what Nsight Compute cannot know, and how it counts here."""
    always = (
        "Nsight Compute profiles kernels one by one: it has no steps, no idle time and no "
        "communication that runs beside a kernel.",
        "Times are of replayed kernels, by default with caches emptied and clocks locked to their "
        "base: they differ from an ordinary run's.",
        "Integer operations outside the tensor cores are counted on their own, not as FLOPs. "
        "Conversions and special functions are not counted.",
    )
    return (*always, *_sources(works))


def _sources(works: Sequence[LaunchWork]) -> Iterator[str]:
    for level in (MemoryLevel.DRAM, MemoryLevel.L2, MemoryLevel.L1, MemoryLevel.SHARED):
        used = sorted({work.moved[level].source for work in works if level in work.moved})
        if used:
            yield f"{level.label} bytes: {'; '.join(used)}."


def diagnostics(captures: Sequence[Capture], pairs: Pairs) -> Iterator[Diagnostic]:
    """Everything survivable, with how often it was met."""
    measured = [(launch, work) for launch, work in pairs if not work.is_empty]
    yield from _failed([launch for launch, work in pairs if work.is_empty])
    yield from _without_time([launch for launch, work in measured if work.time_ns is None])
    yield from _without_work(measured)
    yield from _partly_counted(measured)
    yield from _tensor(measured)
    yield from _half(measured)
    yield from _opcodes(measured)
    yield from _devices(measured)
    yield from _vague(captures)
    yield from _cut(captures)


def _failed(launches: Sequence[Launch]) -> Iterator[Diagnostic]:
    if launches:
        yield Diagnostic(
            severity=Severity.WARNING,
            code="failed-kernels",
            message="kernels could not be profiled: the file has no values for them, so they are "
            f"left out ({_names(launches)}).",
            remedy="Nsight Compute prints why while it profiles: often too little memory to save "
            "and restore, or a timeout.",
            count=len(launches),
        )


def _without_time(launches: Sequence[Launch]) -> Iterator[Diagnostic]:
    if launches:
        yield Diagnostic(
            severity=Severity.WARNING,
            code="kernels-without-time",
            message="kernels have no time in this file: their rates are predictions, what the roof "
            "allows at best, and are not part of the total.",
            remedy="Add gpu__time_duration.sum to --metrics, or use --set roofline.",
            count=len(launches),
        )


def _without_work(pairs: Pairs) -> Iterator[Diagnostic]:
    neither = sum(1 for _, work in pairs if not (work.flop or work.moved or work.busy))
    if neither:
        yield Diagnostic(
            severity=Severity.WARNING,
            code="only-times",
            message="kernels have a time but neither FLOPs, bytes nor busy shares of units: the "
            "file has no such metric of them.",
            remedy="Profile again with: ncu -o report PROGRAM, whose default set has busy shares; "
            "--set full adds FLOPs, bytes and what warps wait for.",
            count=neither,
        )
    dry = sum(1 for _, work in pairs if work.flop and MemoryLevel.DRAM not in work.moved)
    if dry:
        yield Diagnostic(
            severity=Severity.WARNING,
            code="no-dram-bytes",
            message="kernels have FLOPs but no bytes of device memory, so their intensity there "
            "is unknown.",
            remedy="Add dram__bytes.sum to --metrics, or use --set roofline.",
            count=dry,
        )
    yield from _without_flop([w for _, w in pairs if not w.flop_known and w.tensor.is_whole])
    derived = sum(1 for _, w in pairs if any(one.is_derived for one in w.moved.values()))
    if derived:
        yield Diagnostic(
            severity=Severity.INFO,
            code="dram-bytes-derived",
            message="kernels have no counter of DRAM bytes: theirs are from the share of DRAM's "
            "peak (its clock × bus width × 2) and the time.",
            count=derived,
        )


def _without_flop(works: Sequence[LaunchWork]) -> Iterator[Diagnostic]:
    """Kernels without a count of FLOPs; where busy shares are known, so is the nearest ceiling."""
    shown = sum(1 for work in works if work.busy)
    if shown:
        yield Diagnostic(
            severity=Severity.INFO,
            code="busy-without-flops",
            message="kernels have busy shares of units but no count of their FLOPs: what kept them "
            "busy is known; their FLOPs are unknown, not zero.",
            remedy="The .ncu-rep of --set full has FLOPs, bytes of the caches and what warps wait "
            "for, too.",
            count=shown,
        )
    uncounted = sum(1 for work in works if work.moved and not work.busy)
    if uncounted:
        yield Diagnostic(
            severity=Severity.WARNING,
            code="no-flop-counters",
            message="kernels have bytes, but the file has no counter of their FLOPs, or only some "
            "that are zero: their FLOPs are unknown, not zero.",
            remedy=_OPCODES,
            count=uncounted,
        )


def _partly_counted(pairs: Pairs) -> Iterator[Diagnostic]:
    partial = sum(1 for _, work in pairs if work.partial)
    if partial:
        yield Diagnostic(
            severity=Severity.WARNING,
            code="partial-flop-counters",
            message="kernels lack some of the add, multiply and multiply-add counters: their FLOPs "
            "are a lower bound.",
            remedy=_COLLECT,
            count=partial,
        )


def _tensor(pairs: Pairs) -> Iterator[Diagnostic]:
    unknown = [launch for launch, work in pairs if not work.tensor.is_whole]
    if unknown:
        yield Diagnostic(
            severity=Severity.WARNING,
            code="tensor-work-unknown",
            message="kernels used the tensor cores, but the file does not say how many operations "
            f"that were: their FLOPs are unknown ({_names(unknown)}).",
            remedy=f"{_OPCODES} Or add --metrics regex:sm__ops_path_tensor_src_.*.sum where your "
            "GPU and version have it.",
            count=len(unknown),
        )
    uncounted = sum(
        1 for _, w in pairs if w.flop and w.tensor.is_whole and w.tensor.operations is None
    )
    if uncounted:
        yield Diagnostic(
            severity=Severity.WARNING,
            code="tensor-not-collected",
            message="kernels have no tensor-core counters (tensor: not collected): such work is "
            "missing from their FLOPs, if they did any.",
            remedy=_COLLECT,
            count=uncounted,
        )
    by_opcode = sum(1 for _, w in pairs if w.tensor.by_opcode and w.tensor.operations)
    if by_opcode:
        yield Diagnostic(
            severity=Severity.INFO,
            code="tensor-by-opcode",
            message="kernels have their tensor operations counted by opcode: executed instructions "
            "× 2·m·n·k of the tile in the opcode's name.",
            count=by_opcode,
        )


def _half(pairs: Pairs) -> Iterator[Diagnostic]:
    counted = [work for _, work in pairs if work.flop_known and not work.opcodes.is_half_doubtful]
    missing = sum(1 for work in counted if ComputeUnit.VECTOR_FP16 not in work.flop)
    if missing:
        yield Diagnostic(
            severity=Severity.INFO,
            code="fp16-not-collected",
            message="kernels have no fp16 counters (fp16: not collected). Half-precision work "
            "outside the tensor cores is missing from their FLOPs.",
            remedy="Upload the .ncu-rep of --set full, whose opcode histogram shows it.",
            count=missing,
        )
    doubtful = sum(1 for _, work in pairs if work.opcodes.is_half_doubtful)
    if doubtful:
        yield Diagnostic(
            severity=Severity.WARNING,
            code="fp16-doubtful",
            message="kernels ran half-precision multiply-adds (HFMA2) that may only load "
            "constants: they are missing from their FLOPs.",
            count=doubtful,
        )


def _opcodes(pairs: Pairs) -> Iterator[Diagnostic]:
    """FLOPs that come from the histogram, and what in it is not work."""
    listed = [used for _, work in pairs if (used := [u for u in work.by_opcode if work.flop[u]])]
    if listed:
        units = [unit for unit in ComputeUnit if any(unit in used for used in listed)]
        yield Diagnostic(
            severity=Severity.INFO,
            code="flops-by-opcode",
            message=f"kernels have no counters of some FLOPs ({_precisions(units)}): these come "
            "from the opcode histogram. A multiply-add is two operations, and a packed "
            "half-precision instruction works on two lanes.",
            count=len(listed),
        )
    moves = sum(1 for _, work in pairs if work.opcodes.moves_constants)
    if moves:
        yield Diagnostic(
            severity=Severity.INFO,
            code="constant-moves",
            message="kernels use half-precision multiply-adds (HFMA2.MMA) and no other "
            "half-precision arithmetic: these load constants and do not count as FLOPs.",
            count=moves,
        )


def _precisions(units: Sequence[ComputeUnit]) -> str:
    return ", ".join(unit.precision.value for unit in units)


def _devices(pairs: Pairs) -> Iterator[Diagnostic]:
    names = sorted({launch.device_name for launch, _ in pairs if launch.device_name})
    if len(names) > 1:
        yield Diagnostic(
            severity=Severity.WARNING,
            code="several-gpu-models",
            message=f"The kernels ran on different GPUs: {', '.join(names)}. Roofs are those of "
            "the one with most time; each kernel's utilisation is of its own GPU's peaks.",
            remedy="Profile one model of GPU per report.",
        )


def _vague(captures: Sequence[Capture]) -> Iterator[Diagnostic]:
    vague = sum(capture.vague_cells for capture in captures)
    if vague:
        yield Diagnostic(
            severity=Severity.WARNING,
            code="few-digits",
            message="cells of the CSV have fewer than three digits left after the profiler chose "
            "the column's unit, so small kernels are inexact.",
            remedy="Upload the .ncu-rep itself.",
            count=vague,
        )


def _cut(captures: Sequence[Capture]) -> Iterator[Diagnostic]:
    names = [capture.file_name for capture in captures if capture.is_cut]
    if names:
        yield Diagnostic(
            severity=Severity.WARNING,
            code="cut-table",
            message=f"The table ends in the middle of a kernel's row ({', '.join(names)}): that "
            "kernel is left out, and others may be missing.",
            remedy="Check that the file was copied completely, or export it again.",
        )


def _names(launches: Sequence[Launch]) -> str:
    names = list(dict.fromkeys(launch.name[:_NAME_LENGTH] for launch in launches))
    more = len(names) - _NAMES_SHOWN
    return ", ".join(names[:_NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")
