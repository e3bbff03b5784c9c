"""The work of GPU kernels, by their names alone: libraries and compilers name them by habit."""

import re

COMMUNICATION, COPY, OTHER = "communication", "copy", "other"

NORM = r"norm(?!al(_|\W|$))"
"""A norm, neither the random numbers of `normal_` nor the iterator `normal_iterator` of thrust."""
# The function's own name: what stands before its template arguments and parameters.
_OWN_NAME = r"\A(?:\(anonymous namespace\)|<unnamed>|[^<(])*?"
_KERNEL_CATEGORIES = (
    ("communication", r"nccl|rccl|all_?reduce|all_?gather|reduce_?scatter|nvshmem"),
    ("sort", r"radixsort|mergesort"),  # CUB's and thrust's, by the agent that the name contains
    ("reduction", r"devicescan|devicereduce|reduceagent"),
    ("attention", r"attention|attn|fmha|flash_fwd|flash_bwd"),
    ("fused (Inductor)", r"^triton_"),
    ("convolution", r"conv|fprop|dgrad|wgrad|winograd|implicit_gemm|\A(?>.*?cudnn).*offsets"),
    (
        "matmul",
        r"(?<!fb)gemm|gemv|^cijk_|nvjet|wgmma|splitk|cutlass|dot_kernel"
        r"|(?<!finalize_)matmul|matrix_mult",
    ),
    ("random numbers", rf"{_OWN_NAME}(?:distribution_|philox|curand|rng|random)"),
    ("normalisation", rf"{NORM}|bn_fw|bn_bw"),
    ("softmax", r"softmax|nll_loss"),
    ("optimizer", r"adam|multi_tensor|foreach"),
    ("embedding", r"embedding"),
    ("pooling", r"pool"),
    ("sort", r"sort|topk"),
    ("indexing", r"index|gather|scatter"),
    ("reduction", r"reduce|scan"),
    ("copy", r"copy|(?<![a-z])fill(?!_matrix|_vector)|memcpy|memset|transpose"),
    ("elementwise", r"elementwise|vectorized|pointwise"),
)


def kernel_category(kernel: str) -> str:
    """Category of a kernel by its name."""
    return first_match(_KERNEL_CATEGORIES, kernel.lower()) or OTHER


def is_communication(kernel: str) -> bool:
    """True for kernels of collectives: their time includes waiting for other ranks."""
    return first_match(_KERNEL_CATEGORIES[:1], kernel.lower()) is not None


def first_match(table: tuple[tuple[str, str], ...], name: str) -> str | None:
    """The first category of `table` whose pattern is found in `name`."""
    return next((category for category, pattern in table if re.search(pattern, name)), None)
