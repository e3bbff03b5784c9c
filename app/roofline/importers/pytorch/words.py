"""Words for operators and kernels: their category, and what only encloses compiled code."""

import re

from roofline.importers.pytorch import attention, convolutions
from roofline.importers.pytorch.families import known_as
from roofline.importers.shared.kernel_names import NORM, first_match, kernel_category

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
    ("random numbers", r"^(rand|bernoulli|(normal|uniform|exponential)_?$)"),
    ("normalisation", NORM),
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
        r"|where|threshold|native_dropout|masked_fill|lerp|addc)",
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


_HELPERS = frozenset(
    {"copy", "elementwise", "random numbers", "reduction", "indexing", "sort", "communication"}
)


def may_compute(kernel: str) -> bool:
    """True unless a kernel's name says that it only moves or combines elements."""
    return kernel_category(kernel) not in _HELPERS
