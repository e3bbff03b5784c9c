"""Notes for the reader of a trace: on missing, skipped and assumed parts, and on graphs."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from roofline.importers.pytorch.lengths import Assumed
from roofline.importers.pytorch.replays import Alignment
from roofline.model.device import DeviceKind
from roofline.model.profile import Diagnostic, OpTable, Severity
from roofline.model.units import NS_PER_MS, NS_PER_US

_SHOWN = 4
_NAME_CHARACTERS = 60
_HOW = {
    "vLLM": "vLLM from 0.26 writes one to capture_traces/ with --profiler-config.profiler torch"
    " --profiler-config.capture_torch_profiler True; set VLLM_USE_V2_MODEL_RUNNER=0, because the"
    " newer runner of 0.26 to 0.28 does not. Versions before 0.26 run with enforce_eager=True.",
    "SGLang": "SGLang from 0.5.13 writes one per batch size with --enable-profile-cuda-graph,"
    " SGLANG_GRAPH_BATCH_CAPTURE=1 and SGLANG_TORCH_PROFILER_DIR; older versions run with"
    " --disable-cuda-graph.",
    "": "Start the profiler before the graph is recorded (vLLM from 0.26:"
    " --profiler-config.capture_torch_profiler True; SGLang from 0.5.13:"
    " --enable-profile-cuda-graph and SGLANG_GRAPH_BATCH_CAPTURE=1), or run without graphs.",
}


def of_replays(replays: Alignment, server: str) -> Iterator[Diagnostic]:
    """How many kernels were aligned, and which were not; nothing where no graph ran."""
    if replays.aligned:
        yield _aligned(replays)
    missing = replays.kernels - replays.aligned
    if missing:
        yield _missing(replays, missing, server)
    if replays.ambiguous:
        yield Diagnostic(
            severity=Severity.WARNING,
            code="graph-batch-unknown",
            message="kernels of graphs fit captures of several batches equally well, and the trace"
            " does not tell which batch ran: their shapes are unknown.",
            remedy="Upload only the capture of the batch that ran, or annotate the steps (vLLM:"
            " --profiler-config.detailed_trace_annotation True).",
            count=replays.ambiguous,
        )
    if replays.too_large:
        yield Diagnostic(
            severity=Severity.INFO,
            code="graph-batch-larger",
            message="kernels of graphs ran for fewer tokens than their graph was captured for:"
            " servers fill the batch up. Their shapes and their work are those of the full batch.",
            count=replays.too_large,
        )
    if replays.by_order:
        yield Diagnostic(
            severity=Severity.INFO,
            code="graph-aligned-by-order",
            message="kernels of graphs were aligned by their order alone: the capture has as many"
            " launches, but does not name their kernels.",
            count=replays.by_order,
        )


def _aligned(replays: Alignment) -> Diagnostic:
    captures = [f"{label} of {name}" if label else name for name, label in replays.used]
    more = len(captures) - _SHOWN
    shown = ", ".join(captures[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
    return Diagnostic(
        severity=Severity.INFO,
        code="graphs-aligned",
        message=f"{replays.aligned:,} of {replays.kernels:,} kernels of graphs"
        f" ({_percent(replays)} of their time) have the operators and shapes of their launches in"
        f" the capture: {shown}.",
        count=replays.aligned,
    )


def _percent(replays: Alignment) -> str:
    share = 100 * replays.aligned_ns / max(replays.time_ns, 1)
    return "100 %" if replays.aligned_ns == replays.time_ns else f"{min(share, 99.9):.1f} %"


def _missing(replays: Alignment, missing: int, server: str) -> Diagnostic:
    how = "Upload the trace of the graph's capture together with this one. " + _HOW[server]
    if replays.aligned:
        ranked = sorted(replays.left.items(), key=lambda item: -item[1][1])
        listed = [
            f"{name[:_NAME_CHARACTERS]} ×{count:,} ({ns / NS_PER_US:,.0f} us)"
            for name, (count, ns) in ranked[:_SHOWN]
        ]
        more = len(ranked) - len(listed)
        rest = f"; {more:,} more names" if more > 0 else ""
        what = f"have no launch in the captures: {'; '.join(listed)}{rest}"
        how = "Add the captures of all batch sizes and pieces."
    else:
        what = "ran in graphs, which do not record the operators they were made of"
    return Diagnostic(
        severity=Severity.WARNING,
        code="kernels-in-graphs",
        message=f"{missing:,} of {replays.kernels:,} kernels of graphs {what}. They are listed by"
        " kernel name; their FLOPs and bytes are unknown.",
        remedy=how,
        count=missing,
    )


_RECORD_SHAPES = "Capture with torch.profiler.profile(record_shapes=True)."
_WITH_KERNELS = (
    "Capture with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], and check that CUPTI"
    " (roctracer on AMD) may trace and that no other profiler uses it."
)
_HOST_ONLY = (
    "Only the host's time is known: the trace has no kernels, so it does not tell what the"
    " accelerator computed."
)
_ESTIMATES = (
    "FLOPs are estimated from shapes, for matrix products, convolutions and attention. Of causal"
    " attention only the scores that the mask keeps count. Copies have none. The FLOPs of all other"
    " operations are unknown.",
    "Bytes are a lower bound from shapes: every input and output once. Real traffic is higher where"
    " data is read again, and lower where it stays in a cache. Those of operations without a"
    " formula (custom operators, lists of tensors, experts that hold their weights) are unknown.",
    "Only one memory level is known: there is no traffic by cache.",
)

# Calls whose formula lacks an argument: key of the count, severity, code and message.
_COUNTED_OTHERWISE = (
    (
        "uncounted",
        Severity.WARNING,
        "flop-not-counted",
        "kernels belong to matrix products, convolutions or attention whose FLOPs do not follow"
        " from what was recorded (strides and padding, or lengths of sequences).",
    ),
    (
        "mask-unknown",
        Severity.INFO,
        "attention-mask-unknown",
        "attention calls do not record whether their mask is causal. Their FLOPs are counted"
        " without a mask; up to half of them may be masked.",
    ),
    (
        "gradients-unknown",
        Severity.INFO,
        "gradients-unknown",
        "kernels belong to a convolution's backward whose gradients were not recorded. Its FLOPs"
        " are counted for both, the input's and the weight's; up to half of them may not have been"
        " computed.",
    ),
)


@dataclass(slots=True, kw_only=True)
class Findings:
    """Counts over all files.

    `accelerator` is what the host launched work on, in words, where the files hold no kernels of
    it, `unused` a device of the machine that did none; `counter_flop` sums hardware counters.
    `server` is the language-model server whose steps are in the trace, `replays` what is known of
    graphs.
    """

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
    accelerator: str = ""
    unused: str = ""
    server: str = ""
    replays: Alignment = field(default_factory=Alignment)
    assumed: Assumed = field(default_factory=Assumed)
    other_categories: Counter[str] = field(default_factory=Counter)

    @property
    def is_host_only(self) -> bool:
        """True where all times are those of a host that launched work."""
        return bool(self.accelerator and self.n_operators)


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
    yield from _of_device(found, notes)
    if not found.accelerator:
        yield from of_replays(found.replays, found.server)
        yield from found.assumed.notes()
        yield from _of_kernels(notes)
        yield from _of_costs(notes)
    yield from _of_times(notes)
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


def _of_device(found: Findings, notes: Counter[str]) -> Iterator[Diagnostic]:
    if found.is_host_only:
        yield _launches_only(found)
    elif found.kind is not DeviceKind.GPU:
        yield _no_kernels(found)
    elif not notes["kernels"]:
        yield Diagnostic(
            severity=Severity.WARNING,
            code="no-kernels",
            message="The trace has copies to or from a GPU but no kernel, so it does not tell"
            " what the GPU computed.",
            remedy=_WITH_KERNELS,
        )
    elif not found.is_named:
        yield Diagnostic(
            severity=Severity.WARNING,
            code="gpu-unnamed",
            message="The trace does not name its GPU, so there is no peak to hold it against.",
            remedy="Choose the device by hand.",
        )


def _launches_only(found: Findings) -> Diagnostic:
    return Diagnostic(
        severity=Severity.WARNING,
        code="launches-without-kernels",
        message=f"The trace shows only the host of a program that ran on {found.accelerator}: it"
        " has no kernels. Operators are shown by the time that the host spent in them, which is the"
        " time to launch work, not to compute it. FLOP/s, bandwidth and the bound are unknown.",
        remedy=f"{_WITH_KERNELS} Kernels of NVIDIA and AMD GPUs are read. If the program ran on the"
        " CPU, hide the GPU from it (CUDA_VISIBLE_DEVICES=) during the capture.",
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
        f" CPU themselves.{_unused(found)}",
        remedy="If the model ran on a GPU, capture with ProfilerActivity.CUDA.",
    )


def _unused(found: Findings) -> str:
    if not found.unused:
        return ""
    return f" The machine has {found.unused}, but the trace has no call of its runtime."


def _of_kernels(notes: Counter[str]) -> Iterator[Diagnostic]:
    """Kernels without an operator, and operators without their kernels."""
    shares = [
        (
            "unattributed",
            "kernels-without-operator",
            "cannot be traced to an operator: the launch lies outside of every operator or is not"
            " in the trace",
            "Capture with ProfilerActivity.CPU, from before the first launch on.",
        ),
        (
            "in-regions",
            "kernels-in-compiled-code",
            "ran in compiled code, which does not record what each of them computes",
            "A newer PyTorch records compiled kernels with their shapes.",
        ),
    ]
    for key, code, what, remedy in shares:
        if notes[key]:
            yield Diagnostic(
                severity=Severity.WARNING,
                code=code,
                message=f"{_kernels(notes[key], notes['kernels'])} {what}."
                f" {'It is' if notes[key] == 1 else 'They are'} listed by kernel name; FLOPs and"
                " bytes are unknown.",
                remedy=remedy,
                count=notes[key],
            )
    if 2 * notes["launches-not-run"] > notes["launches"]:
        yield _launches_not_run(notes)


def _kernels(part: int, whole: int) -> str:
    return "The only kernel" if whole == 1 else f"{part:,} of {whole:,} kernels"


def _launches_not_run(notes: Counter[str]) -> Diagnostic:
    missing = notes["launches-not-run"]
    return Diagnostic(
        severity=Severity.WARNING,
        code="launches-not-run",
        message=f"{missing:,} of {notes['launches']:,} launches {'has' if missing == 1 else 'have'}"
        " no kernel in the trace: a graph was recorded, or the profiler dropped kernels. Only the"
        " kernels in the trace are shown.",
        remedy="Capture iterations after the graph was recorded.",
        count=notes["launches-not-run"],
    )


def _of_costs(notes: Counter[str]) -> Iterator[Diagnostic]:
    if notes["without-shapes"] and not notes["with-shapes"]:
        yield Diagnostic(
            severity=Severity.WARNING,
            code="no-shapes",
            message="operator calls have no recorded shapes, so their FLOPs and bytes are unknown.",
            remedy=_RECORD_SHAPES,
            count=notes["without-shapes"],
        )
    for key, severity, code, message in _COUNTED_OTHERWISE:
        if notes[key]:
            yield Diagnostic(
                severity=severity,
                code=code,
                message=message,
                remedy="A newer PyTorch records the plain arguments too. " + _RECORD_SHAPES,
                count=notes[key],
            )


def _of_times(notes: Counter[str]) -> Iterator[Diagnostic]:
    if notes["outside-steps"]:
        yield Diagnostic(
            severity=Severity.INFO,
            code="work-outside-steps",
            message="kernels and copies were launched outside of every step. They count in the"
            " whole program only.",
            count=notes["outside-steps"],
        )
    if notes["overlap-ns"] > 0:
        overlap_ms = notes["overlap-ns"] / NS_PER_MS
        yield Diagnostic(
            severity=Severity.INFO,
            code="overlapping-streams",
            message=f"Kernels of several streams ran at once for {overlap_ms:,.3g} ms. The device's"
            " busy time counts such time once, the kernels' own times count it for each.",
        )
    if notes["whole-microseconds"]:
        yield Diagnostic(
            severity=Severity.INFO,
            code="whole-microseconds",
            message="Times are whole microseconds: rates of kernels of a few microseconds are"
            " uncertain by half.",
        )


def limits(found: Findings, ops: OpTable, *, n_steps: int) -> tuple[str, ...]:
    """The limits of this profiler, in plain sentences."""
    sentences = [_HOST_ONLY] if found.accelerator else list(_ESTIMATES)
    if found.kind is DeviceKind.GPU:
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
