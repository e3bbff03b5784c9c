"""Kinds of operations and profilers, and what an operation reads, as rules tell them apart."""

import re
from functools import lru_cache

from roofline.analysis.records import RooflineAnalysis
from roofline.model.device import DeviceKind
from roofline.model.tensors import REMEMBERED, tensors_of

ATTENTION, COPY, OPTIMIZER, UPDATE = "attention", "copy", "optimizer", "update"
FUSION, STENCIL = "fusion", "stencil"
MOVED = frozenset({COPY, UPDATE})
"""Kinds that do no arithmetic: more parallelism is not what they lack."""

NCU, NSYS, ROCPROF, TORCH, TPU, XLA_GPU = "ncu", "nsys", "rocprof", "torch", "tpu", "xla_gpu"

_OPTIMIZERS = re.compile(
    r"\badamw?\b|_adamw?_|multi_tensor_apply|_foreach_|\bsgd\b|optimizer", re.I
)
_STENCILS = re.compile(r"stencil|jacobi|laplac|\bheat\b", re.I)
_COPIES = frozenset({"copy", "copy fusion", "memcpy", "data formatting", "memset", "transpose"})
_PROFILERS = {
    "nsight_compute": NCU,
    "rocprof_compute": ROCPROF,
    "rocprofiler_sdk": ROCPROF,
    "nsight_systems": NSYS,
    "pytorch": TORCH,
}


@lru_cache(maxsize=REMEMBERED)
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


_ON_CHIP = re.compile(r"S\([1-9]")
_PRODUCTS = ("aten::mm", "aten::addmm", "aten::linear", "aten::matmul")
_HALF = frozenset({"bf16", "f16"})


@lru_cache(maxsize=REMEMBERED)
def tensor_bytes(tensors: str) -> float:
    """Bytes of all tensors in a text such as `bf16[8,128]{1,0}; f32[]`; 0 without any."""
    return float(sum(one.bytes for one in tensors_of(tensors)))


def is_in_main_memory(tensors: str) -> bool:
    """False where a layout names another memory: `S(1)` is on the chip, `S(5)` the host."""
    return not _ON_CHIP.search(tensors)


@lru_cache(maxsize=REMEMBERED)
def weight_share(name: str, operands: str, op_bytes: float) -> float:
    """Share of the bytes of a matrix product that its two-byte second matrix is.

    0 where the op is not a product of which that is known, or its weights are smaller already.
    """
    if not name.startswith(_PRODUCTS) or op_bytes <= 0:
        return 0.0
    matrices = [one for one in tensors_of(operands) if len(one.shape) == 2]
    if len(matrices) < 2 or matrices[-1].dtype not in _HALF:
        return 0.0
    return min(matrices[-1].bytes / op_bytes, 1.0)


_SCORED = ("aten::_softmax", "aten::softmax", "aten::_safe_softmax")
_FLASH = ("aten::_flash_attention_forward", "aten::_efficient_attention_forward")


def is_softmax(name: str) -> bool:
    """True for the softmax operators of PyTorch."""
    return name.partition(" ")[0] in _SCORED


@lru_cache(maxsize=REMEMBERED)
def cache_share(name: str, operands: str, op_bytes: float) -> float:
    """Share of the bytes of an attention operator that its two-byte keys and values are.

    0 where the op is not attention of PyTorch, or keys and values are smaller already.
    """
    operator = name.partition(" ")[0]
    if op_bytes <= 0 or not (operator in _FLASH or "scaled_dot_product" in operator):
        return 0.0
    inputs = [one for one in tensors_of(operands) if len(one.shape) == 4][:3]
    if len(inputs) < 3 or inputs[1].dtype not in _HALF:
        return 0.0
    return min((inputs[1].bytes + inputs[2].bytes) / op_bytes, 1.0)
