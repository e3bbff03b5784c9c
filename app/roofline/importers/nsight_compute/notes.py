"""The limits of a capture, in sentences, and the notes of its reader."""

from collections.abc import Iterator, Sequence

from roofline.importers.nsight_compute.busy import is_counted_half
from roofline.importers.nsight_compute.launches import Capture, Launch
from roofline.importers.nsight_compute.work import LaunchWork
from roofline.model.compute import ComputeUnit
from roofline.model.memory import MemoryLevel
from roofline.model.notes import counted, noted, notes_beside
from roofline.model.profile import Diagnostic

Pairs = Sequence[tuple[Launch, LaunchWork]]

_NAMES_SHOWN = 3
_NAME_LENGTH = 60
_LIMITS = (
    "Nsight Compute profiles kernels one by one: it has no steps, no idle time and no "
    "communication that runs beside a kernel.",
    "Times are of replayed kernels, by default with caches emptied and clocks locked to their "
    "base: they differ from an ordinary run's.",
    "Integer operations outside the tensor cores are counted on their own, not as FLOPs. "
    "Conversions and special functions are not counted.",
)
_NOTES = notes_beside(__file__)


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
    half = sum(is_counted_half(launch.numbers) for launch, _ in measured)
    yield from counted(_NOTES, {"few-digits": vague, "l1-counted-half": half})
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
    names = list(dict.fromkeys(_shown(launch.name) for launch in launches))
    more = len(names) - _NAMES_SHOWN
    return ", ".join(names[:_NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _shown(name: str) -> str:
    return name if len(name) <= _NAME_LENGTH else f"{name[:_NAME_LENGTH]}…"
