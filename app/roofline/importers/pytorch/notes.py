"""Notes for the reader of a trace: on missing, skipped and assumed parts, and on graphs."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from roofline.importers.pytorch.lengths import Assumed
from roofline.importers.pytorch.replays import Alignment
from roofline.model.device import DeviceKind
from roofline.model.notes import counted, noted, notes_beside, recorded
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
_HOST_ONLY = (
    "Only the host's time is known: the trace has no kernels, so it does not tell what the"
    " accelerator computed."
)
_ESTIMATES = (
    "FLOPs are estimated from shapes. Of causal attention only scores that the mask keeps count."
    " Elementwise operations, normalisations and reductions count as what they need at least."
    " Copies have none. The FLOPs of operations without a formula are unknown.",
    "Bytes are a lower bound from shapes: every input and output once. Real traffic is higher where"
    " data is read again, and lower where it stays in a cache. Those of operations without a"
    " formula (custom operators, lists of tensors, experts that hold their weights) are unknown.",
    "Only one memory level is known: there is no traffic by cache.",
)
_NOTES = notes_beside(__file__)


@dataclass(slots=True, kw_only=True)
class Findings:
    """Counts over all files.

    `accelerator` is what the host launched work on, in words, where the files hold no kernels of
    it, `unused` a device of the machine that did none; `counter_flop` sums hardware counters.
    `server` is the language-model server whose steps are in the trace, `replays` what is known of
    graphs.
    """

    kind: DeviceKind = DeviceKind.UNKNOWN
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
    recordings: Sequence[object] = ()

    @property
    def is_host_only(self) -> bool:
        """True where all times are those of a host that launched work."""
        return bool(self.accelerator and self.n_operators)


def diagnostics(findings: Findings, notes: Counter[str], *, n_steps: int) -> tuple[Diagnostic, ...]:
    """Everything worth telling, worst first."""
    order = [Severity.ERROR, Severity.WARNING, Severity.INFO]
    ours = {note.code: note for one in findings.recordings for note in recorded(one)}
    every = [*ours.values(), *_of_files(findings), *_of_work(findings, notes, n_steps)]
    return tuple(sorted(every, key=lambda note: order.index(note.severity)))


def _of_files(findings: Findings) -> Iterator[Diagnostic]:
    counts = {
        "truncated": findings.n_cut,
        "damaged-events": findings.n_damaged,
        "unknown-events": findings.other_categories.total(),
        "counters-without-time": findings.n_counter_ranges,
        "many-shapes": findings.n_merged,
    }
    kinds = ", ".join(name for name, _ in findings.other_categories.most_common(6))
    yield from counted(_NOTES, counts, kinds=kinds, flop=findings.counter_flop)


def _of_work(findings: Findings, notes: Counter[str], n_steps: int) -> Iterator[Diagnostic]:
    yield from _of_device(findings, notes)
    if not findings.accelerator:
        yield from _of_replays(findings.replays, findings.server)
        yield from _of_assumptions(findings.assumed)
        yield from _of_kernels(notes)
        unshaped = notes["without-shapes"] if not notes["with-shapes"] else 0
        uncounted = {
            "no-shapes": unshaped,
            "flop-not-counted": notes["uncounted"],
            "attention-mask-unknown": notes["mask-unknown"],
            "gradients-unknown": notes["gradients-unknown"],
            "reuse-unknown": notes["reuse-unknown"],
        }
        yield from counted(_NOTES, uncounted)
    yield from counted(_NOTES, {"work-outside-steps": notes["outside-steps"]})
    if notes["overlap-ns"] > 0:
        yield noted(_NOTES, "overlapping-streams", overlap_ms=notes["overlap-ns"] / NS_PER_MS)
    if notes["whole-microseconds"]:
        yield noted(_NOTES, "whole-microseconds")
    if not n_steps and (notes["kernels"] or findings.n_operators):
        yield noted(_NOTES, "no-steps")
    yield from counted(_NOTES, {"files-without-work": findings.idle_files})


def _of_device(findings: Findings, notes: Counter[str]) -> Iterator[Diagnostic]:
    if findings.is_host_only:
        yield noted(_NOTES, "launches-without-kernels", accelerator=findings.accelerator)
    elif findings.kind is not DeviceKind.GPU and not findings.n_operators:
        yield noted(_NOTES, "no-work")
    elif findings.kind is not DeviceKind.GPU:
        unused = f" The machine has {findings.unused}, but the trace has no call of its runtime."
        yield noted(_NOTES, "cpu-only", unused=unused if findings.unused else "")
    elif not notes["kernels"]:
        yield noted(_NOTES, "no-kernels")
    elif not findings.is_named:
        yield noted(_NOTES, "gpu-unnamed")


def _of_kernels(notes: Counter[str]) -> Iterator[Diagnostic]:
    """Kernels without an operator, and operators without their kernels."""
    shares = {"unattributed": "kernels-without-operator", "in-regions": "kernels-in-compiled-code"}
    whole = notes["kernels"]
    for key, code in shares.items():
        if count := notes[key]:
            part = "The only kernel" if whole == 1 else f"{count:,} of {whole:,} kernels"
            they_are = "It is" if count == 1 else "They are"
            yield noted(_NOTES, code, count, part=part, they_are=they_are)
    missing, launches = notes["launches-not-run"], notes["launches"]
    if 2 * missing > launches:
        have = "has" if missing == 1 else "have"
        yield noted(_NOTES, "launches-not-run", missing, launches=launches, have=have)


def _of_assumptions(assumed: Assumed) -> Iterator[Diagnostic]:
    """The assumptions about a server's kernels: experts that were touched, windows."""
    if touched := assumed.touched:
        main = max(touched, key=lambda experts: experts.weight_bytes * touched[experts])
        yield noted(
            _NOTES,
            "experts-assumed",
            sum(touched.values()),
            expected=main.expected,
            experts=main.experts,
            least=main.least,
            most=main.most,
        )
    sizes = ", ".join(f"{window:,}" for window in sorted(assumed.windows))
    yield from counted(_NOTES, {"window-assumed": sum(assumed.windows.values())}, sizes=sizes)


def _of_replays(replays: Alignment, server: str) -> Iterator[Diagnostic]:
    """How many kernels were aligned, and which were not; nothing where no graph ran."""
    if replays.aligned:
        captures = [f"{label} of {name}" if label else name for name, label in replays.used]
        more = len(captures) - _SHOWN
        share = 100 * replays.aligned_ns / max(replays.time_ns, 1)
        is_whole = replays.aligned_ns == replays.time_ns
        yield noted(
            _NOTES,
            "graphs-aligned",
            replays.aligned,
            kernels=replays.kernels,
            percent="100 %" if is_whole else f"{min(share, 99.9):.1f} %",
            captures=", ".join(captures[:_SHOWN]) + (f" and {more} more" if more > 0 else ""),
        )
    missing = replays.kernels - replays.aligned
    if missing:
        what = "ran in graphs, which do not record the operators they were made of"
        how = "Upload the trace of the graph's capture together with this one. " + _HOW[server]
        if replays.aligned:
            what = f"have no launch in the captures: {_left_kernels(replays)}"
            how = "Add the captures of all batch sizes and pieces."
        slots = {"kernels": replays.kernels, "what": what, "how": how}
        yield noted(_NOTES, "kernels-in-graphs", missing, **slots)
    counts = {
        "graph-batch-unknown": replays.ambiguous,
        "graph-batch-larger": replays.too_large,
        "graph-aligned-by-order": replays.by_order,
    }
    yield from counted(_NOTES, counts)


def _left_kernels(replays: Alignment) -> str:
    """The kernels without a launch in any capture, longest time first."""
    ranked = sorted(replays.left.items(), key=lambda item: -item[1][1])
    listed = [
        f"{name[:_NAME_CHARACTERS]} ×{count:,} ({ns / NS_PER_US:,.0f} us)"
        for name, (count, ns) in ranked[:_SHOWN]
    ]
    more = len(ranked) - len(listed)
    return "; ".join(listed) + (f"; {more:,} more names" if more > 0 else "")


def limits(findings: Findings, ops: OpTable, *, n_steps: int) -> tuple[str, ...]:
    """The limits of this profiler, in plain sentences."""
    sentences = [_HOST_ONLY] if findings.accelerator else list(_ESTIMATES)
    if findings.kind is DeviceKind.GPU:
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
