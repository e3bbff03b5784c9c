"""What a reader must know about a trace: what it lacks, what was skipped, what was assumed."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from roofline.model.device import DeviceKind
from roofline.model.profile import Diagnostic, OpTable, Severity
from roofline.model.units import NS_PER_MS

_RECORD_SHAPES = "Capture with torch.profiler.profile(record_shapes=True)."


@dataclass(slots=True, kw_only=True)
class Findings:
    """Counts over all files; `counters` holds sums of hardware counters by metric."""

    n_devices: int
    kind: DeviceKind
    n_operators: int = 0
    n_cut: int = 0
    n_damaged: int = 0
    n_counter_ranges: int = 0
    n_merged: int = 0
    idle_files: int = 0
    counter_flop: int = 0
    is_named: bool = False
    other_categories: Counter[str] = field(default_factory=Counter)


def diagnostics(found: Findings, notes: Counter[str], *, n_steps: int) -> tuple[Diagnostic, ...]:
    """Everything worth telling, worst first."""
    order = [Severity.ERROR, Severity.WARNING, Severity.INFO]
    every = [*_of_files(found), *_of_work(found, notes, n_steps)]
    return tuple(sorted(every, key=lambda one: order.index(one.severity)))


def _of_files(found: Findings) -> Iterator[Diagnostic]:
    if found.n_cut:
        yield Diagnostic(
            severity=Severity.WARNING,
            code="truncated",
            message="trace ends in the middle: the events up to there are shown.",
            remedy="Let the profiler finish writing, or copy the file again.",
            count=found.n_cut,
        )
    if found.n_damaged:
        yield Diagnostic(
            severity=Severity.WARNING,
            code="damaged-events",
            message="events could not be read and were skipped.",
            remedy="Export the trace again if the numbers look wrong.",
            count=found.n_damaged,
        )
    if found.other_categories:
        shown = ", ".join(name for name, _ in found.other_categories.most_common(6))
        yield Diagnostic(
            severity=Severity.INFO,
            code="unknown-events",
            message=f"events are of kinds that this importer does not know: {shown}. An"
            " accelerator other than a GPU is not read.",
            count=found.other_categories.total(),
        )
    if found.n_counter_ranges:
        yield _counters(found)
    if found.n_merged:
        yield Diagnostic(
            severity=Severity.INFO,
            code="many-shapes",
            message="operator calls differ in shape only; the rarer shapes share one row per"
            " operator. Their work is counted in full.",
            count=found.n_merged,
        )


def _counters(found: Findings) -> Diagnostic:
    return Diagnostic(
        severity=Severity.INFO,
        code="counters-without-time",
        message=f"ranges of the CUPTI range profiler count {found.counter_flop:,} FLOPs of the"
        " vector units in this trace. The times of these ranges are made up by the profiler, so"
        " they are not placed on the roofline.",
        remedy="For measured FLOPs and times, profile the kernels with Nsight Compute.",
        count=found.n_counter_ranges,
    )


def _of_work(found: Findings, notes: Counter[str], n_steps: int) -> Iterator[Diagnostic]:
    if found.kind is not DeviceKind.GPU:
        yield _no_kernels(found)
    elif not notes["kernels"]:
        yield Diagnostic(
            severity=Severity.WARNING,
            code="no-kernels",
            message="The trace has copies to or from a GPU but no kernel, so it does not tell"
            " what the GPU computed.",
            remedy="Capture with ProfilerActivity.CUDA, where CUPTI or roctracer may trace.",
        )
    elif not found.is_named:
        yield Diagnostic(
            severity=Severity.WARNING,
            code="gpu-unnamed",
            message="The trace does not name its GPU, so there is no peak to hold it against.",
            remedy="Choose the device by hand.",
        )
    yield from _of_attribution(notes)
    if not n_steps and (notes["kernels"] or found.n_operators):
        yield Diagnostic(
            severity=Severity.INFO,
            code="no-steps",
            message="The trace marks no steps; all numbers are of the whole capture.",
            remedy="Call profiler.step() after every iteration.",
        )
    if found.idle_files:
        yield Diagnostic(
            severity=Severity.INFO,
            code="files-without-work",
            message="files hold no work that the others do on GPUs, and are left out.",
            count=found.idle_files,
        )


def _no_kernels(found: Findings) -> Diagnostic:
    if not found.n_operators:
        return Diagnostic(
            severity=Severity.WARNING,
            code="no-work",
            message="The trace holds neither kernels nor operators: there is nothing to place on a"
            " roofline.",
            remedy="Capture with ProfilerActivity.CPU and ProfilerActivity.CUDA, around the code"
            " that runs the model.",
        )
    return Diagnostic(
        severity=Severity.INFO,
        code="cpu-only",
        message="The trace holds no GPU kernels. Operators are shown by the time they spent on the"
        " CPU themselves.",
        remedy="If the model ran on a GPU, capture with ProfilerActivity.CUDA.",
    )


def _of_attribution(notes: Counter[str]) -> Iterator[Diagnostic]:
    if notes["unattributed"]:
        yield Diagnostic(
            severity=Severity.WARNING,
            code="kernels-without-operator",
            message=f"{notes['unattributed']:,} of {notes['kernels']:,} kernels cannot be traced to"
            " an operator (their launch is not in the trace, as with CUDA graphs). They are listed"
            " by kernel name; nobody knows their FLOPs and bytes.",
            remedy="Capture with ProfilerActivity.CPU, and without CUDA graphs.",
            count=notes["unattributed"],
        )
    if notes["without-shapes"] and not notes["with-shapes"]:
        yield Diagnostic(
            severity=Severity.WARNING,
            code="no-shapes",
            message="operator calls have no recorded shapes, so their FLOPs and bytes are unknown.",
            remedy=_RECORD_SHAPES,
            count=notes["without-shapes"],
        )
    if notes["uncounted"]:
        yield Diagnostic(
            severity=Severity.WARNING,
            code="flop-not-counted",
            message="kernels belong to matrix products, convolutions or attention whose FLOPs"
            " do not follow from what was recorded (strides and padding, or ragged batches).",
            remedy="A newer PyTorch records the plain arguments too. " + _RECORD_SHAPES,
            count=notes["uncounted"],
        )
    if notes["outside-steps"]:
        yield Diagnostic(
            severity=Severity.INFO,
            code="work-outside-steps",
            message="kernels and copies were launched outside of every step. They count in the"
            " whole program only.",
            count=notes["outside-steps"],
        )
    if notes["overlap-ns"] > 0:
        yield Diagnostic(
            severity=Severity.INFO,
            code="overlapping-streams",
            message=f"Kernels of several streams ran at once for"
            f" {notes['overlap-ns'] / NS_PER_MS:,.3g} ms. The device's busy time counts such time"
            " once, the kernels' own times count it for each.",
        )
    if notes["whole-microseconds"]:
        yield Diagnostic(
            severity=Severity.INFO,
            code="whole-microseconds",
            message="Times are whole microseconds: rates of kernels of a few microseconds are"
            " uncertain by half.",
        )


def limits(kind: DeviceKind, ops: OpTable, *, n_steps: int) -> tuple[str, ...]:
    """What this profiler cannot know, in plain sentences."""
    sentences = [
        "FLOPs are estimated from shapes, for matrix products, convolutions and attention only. "
        "Those of all other operations are unknown, and count as none in sums.",
        "Bytes are a lower bound from shapes: every input and output once. Real traffic is higher "
        "where data is read again, and lower where it stays in a cache.",
        "Only one memory level is known: there is no traffic by cache.",
    ]
    if kind is DeviceKind.GPU:
        sentences.append(
            "The trace states no clocks and no bandwidth: peaks come from the device's name."
        )
    if any("HtoD" in name or "DtoH" in name for name in ops.name):
        sentences.append(
            "Copies between host and device are held against the device's memory; the link between "
            "them, which is slower, is not known."
        )
    if "communication" in ops.category:
        sentences.append("The time of communication kernels includes waiting for other ranks.")
    if not n_steps:
        sentences.append("The trace has no steps.")
    return tuple(sentences)
