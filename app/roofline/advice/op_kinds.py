"""Kinds of operations and profilers, as far as rules and texts of advice tell them apart."""

import re

from roofline.analysis.records import RooflineAnalysis
from roofline.model.device import DeviceKind

ATTENTION, COPY, OPTIMIZER, UPDATE = "attention", "copy", "optimizer", "update"
FUSION, STENCIL = "fusion", "stencil"
MOVED = frozenset({COPY, UPDATE})
"""Kinds that do no arithmetic: more parallelism is not what they lack."""

NCU, ROCPROF, TORCH, TPU, XLA_GPU = "ncu", "rocprof", "torch", "tpu", "xla_gpu"

_OPTIMIZERS = re.compile(
    r"\badamw?\b|_adamw?_|multi_tensor_apply|_foreach_|\bsgd\b|optimizer", re.I
)
_STENCILS = re.compile(r"stencil|jacobi|laplac|\bheat\b", re.I)
_COPIES = frozenset({"copy", "copy fusion", "memcpy", "data formatting", "memset", "transpose"})
_PROFILERS = {
    "nsight_compute": NCU,
    "rocprof_compute": ROCPROF,
    "rocprofiler_sdk": ROCPROF,
    "pytorch": TORCH,
}


def op_kind(category: str, name: str) -> str:
    """The kind of an operation by its category and name; "" for all others."""
    if "dynamic-update-slice" in category:
        return UPDATE
    if category in _COPIES:
        return COPY
    if category == "attention" or "scaled_dot_product" in name or "_attention_" in name:
        return ATTENTION
    if _OPTIMIZERS.search(name):
        return OPTIMIZER
    if _STENCILS.search(name):
        return STENCIL
    return FUSION if category == "loop fusion" else ""


def profiler_of(analysis: RooflineAnalysis) -> str:
    """The profiler whose options a text may name; "" for tables and other files."""
    found = _PROFILERS.get(analysis.profile.format_id)
    if found is not None or analysis.profile.format_id not in {"xspace", "xprof_export"}:
        return found or ""
    return {DeviceKind.TPU: TPU, DeviceKind.GPU: XLA_GPU}.get(analysis.device.kind, "")


def is_graph_capture(analysis: RooflineAnalysis) -> bool:
    """True for the trace of a graph's recording, whose kernels ran in another trace."""
    return any(note.code == "launches-not-run" for note in analysis.profile.diagnostics)
