"""Words for operators and kernels: their category, and the compute unit a matrix product ran on.

Kernel names carry the precision that shapes do not tell: whether fp32 inputs ran as TF32, and
whether on the matrix or on the vector unit. Names: cuBLAS, cuDNN and CUTLASS (`s1688`, `h16816`,
`sgemm`, `simt`), Tensile (`Cijk_…_SB_`, `MI16x16`: with the matrix unit). Undecided stays unknown.
"""

import re

from roofline.importers.pytorch import attention, convolutions
from roofline.importers.pytorch.families import known_as
from roofline.importers.shared.kernel_names import first_match, kernel_category
from roofline.model.compute import ComputeUnit

_OPERATOR_CATEGORIES = (
    ("communication", r"nccl|rccl|c10d|record_param_comms|all_?reduce|all_?gather|reduce_scatter"),
    ("key-value cache", r"reshape_and_cache|store_cache|and_cache_mla|kv_cache|kv_buffer"),
    ("attention", r"attention|attn"),
    ("mixture of experts", r"(^|_)moe(_|$)|experts"),
    ("optimizer", r"_fused_(adam|sgd|adagrad|lion)|_foreach_|multi_tensor|optimizer"),
    ("convolution", r"conv"),
    (
        "matmul",
        r"(^|_)(mm|bmm|addmm|baddbmm|addmv|mv|dot|vdot|matmul|linear)(_|$)|(?<!fb)gemm|cijk_",
    ),
    ("normalisation", r"norm(?!al(_|$))"),  # not the random numbers of aten::normal_
    ("embedding", r"embedding|index_select|lookupfunction"),
    ("pooling", r"pool"),
    ("softmax", r"softmax|cross_entropy|nll_loss"),
    ("sort", r"sort|topk|unique"),
    ("indexing", r"index|gather|scatter|masked_select|nonzero|bincount"),
    ("reduction", r"^(sum|mean|max|min|amax|amin|argmax|argmin|std|var|prod|any|all|cumsum)"),
    ("copy", r"copy|^clone|contiguous|^cat$|^stack$|^fill_|^zero_|memcpy|memset|transpose"),
    ("fused (Inductor)", r"^triton_"),
    (
        "elementwise",
        r"^(add|sub|rsub|mul|div|relu|gelu|silu|sigmoid|tanh|exp|log|sqrt|rsqrt|pow|neg|abs|clamp"
        r"|where|threshold|native_dropout|bernoulli|masked_fill|lerp|addc)",
    ),
)


def operator_category(operator: str, kernel: str) -> str:
    """Category of an operator, of its longest kernel where the operator's name says nothing."""
    known, name = known_as(operator), operator.rpartition("::")[2].lower()
    if operator.startswith("c10d::"):
        return "communication"
    if known in convolutions.FAMILY.names:
        return "convolution"
    if known in attention.FAMILY.names:
        return "attention"
    return first_match(_OPERATOR_CATEGORIES, name) or kernel_category(kernel)


# Words around compiled code that say nothing about it.
_REGIONS = re.compile(
    r"Torch-Compiled Region|CompiledFunction(?:Backward)?\d*\Z|(?:## )?Call CompiledFxGraph"
    r"|Pregraph bytecode|AOTDispatcher Runtime Wrapper|TorchDynamo Cache Lookup"
    r"|autograd::engine::evaluate_function: CompiledFunction"
)


def is_region(operator: str) -> bool:
    """True for what only encloses compiled code: kernels inside are told apart by their names."""
    return _REGIONS.match(operator) is not None


_HELPERS = frozenset({"copy", "elementwise", "reduction", "indexing", "sort", "communication"})


def may_compute(kernel: str) -> bool:
    """True unless a kernel's name says that it only moves or combines elements."""
    return kernel_category(kernel) not in _HELPERS


_TENSILE = re.compile(r"Cijk_[A-Za-z]+_[A-Za-z]+_([A-Z0-9]+)_")
_TENSILE_TYPES = {
    "I8": "int8",
    "F8": "fp8",
    "B8": "fp8",
    "B": "bf16",
    "H": "fp16",
    "S": "fp32",
    "D": "fp64",
}
_TENSILE_MATRIX = re.compile(r"_MI(?!1x1x)\d+x\d+x\d+")
_VECTOR = re.compile(
    r"simt|sgemm|gemv|dgemm|ffma|dot_kernel|splitkreduce|fft|\A(?>.*?winograd).*fp32", re.I
)
_TF32 = re.compile(r"tf32|\A(?>.*s1688)(?!.*f16)|s884gemm_fp32", re.I)
_MATRIX_FP64 = re.compile(r"tensorop_d|d884|dmma", re.I)
_MATRIX_ONLY = frozenset({"fp16", "bf16", "fp8", "fp4", "int8"})


def unit_of(dtype: str, kernel: str) -> ComputeUnit | None:
    """The unit on which a matrix product of `dtype` ran, `None` if the kernel does not tell."""
    tensile = _TENSILE.search(kernel)
    if tensile:
        return _tensile_unit(tensile.group(1), kernel)
    if dtype == "fp32":
        if _TF32.search(kernel):
            return ComputeUnit.MATRIX_TF32
        return ComputeUnit.VECTOR_FP32 if _VECTOR.search(kernel) else None
    if dtype == "fp64":
        if _MATRIX_FP64.search(kernel):
            return ComputeUnit.MATRIX_FP64
        return ComputeUnit.VECTOR_FP64 if _VECTOR.search(kernel) else None
    if dtype not in _MATRIX_ONLY or not kernel:
        return None
    if re.search(r"gemv|simt|dot_kernel", kernel, re.I):
        return None  # on the vector unit, at a precision that the name does not tell
    return ComputeUnit(f"matrix_{dtype}")


def _tensile_unit(types: str, kernel: str) -> ComputeUnit | None:
    dtype = next(
        (word for prefix, word in _TENSILE_TYPES.items() if types.startswith(prefix)), None
    )
    is_matrix = bool(_TENSILE_MATRIX.search(kernel))
    if dtype is None or (not is_matrix and dtype not in ("fp32", "fp64")):
        return None
    return ComputeUnit(f"{'matrix' if is_matrix else 'vector'}_{dtype}")
