"""Notes for the reader about graphs: the share that captures explain, and the rest."""

from collections.abc import Iterator

from roofline.importers.pytorch.replays import Alignment
from roofline.model.profile import Diagnostic, Severity
from roofline.model.units import NS_PER_US

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
