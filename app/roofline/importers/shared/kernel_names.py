"""The work of GPU kernels by their names alone, and transfers between devices and with the host;
names and ranges as people read them.

Libraries and compilers name kernels by habit. Sources: kernels of NCCL, RCCL, NVSHMEM, PyTorch's
symmetric memory and vLLM, as captures name them; for bytes on the wire, the bus-bandwidth factors
of nccl-tests (`doc/PERFORMANCE.md`), which count what a ring moves; a switch that reduces in the
network moves less and may exceed the link's peak by this count.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_RING: Mapping[str, Callable[[int], float]] = {
    "all-reduce": lambda n: 2 * (n - 1) / n,
    "all-gather": lambda n: (n - 1) / n,
    "reduce-scatter": lambda n: (n - 1) / n,
    "all-to-all": lambda n: (n - 1) / n,
}
_WHOLE = frozenset({"collective-permute", "send", "recv", "broadcast", "reduce", "in", "out"})


def wire_bytes(kind: str, payload_bytes: float, group_size: int) -> float | None:
    """Bytes that each device puts on the wire; `None` where the kind or the group is unknown.

    The payload is the operand of an all-reduce, reduce-scatter and all-to-all, the full result of
    an all-gather, and what is sent of everything else.
    """
    if kind in _WHOLE:
        return payload_bytes
    factor = _RING.get(kind)
    if factor is None or group_size < 1:
        return None
    return factor(group_size) * payload_bytes


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
    ("reduction", r"reduce(?!d)|scan"),
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


NAN = float("nan")
UNKNOWN_KIND = "collective"
# Words, not a pattern: names of kernels are templates of a thousand characters.
_LIBRARIES = ("nccl", "rccl", "nvshmem", "multimem_all", "multimem_reduce", "cross_device_reduce")
_COLLECTIVES = (
    "allreduce",
    "all_reduce",
    "allgather",
    "all_gather",
    "reducescatter",
    "reduce_scatter",
)
_BY_KERNEL = (
    ("all-reduce", re.compile(r"all_?reduce|cross_device_reduce", re.IGNORECASE)),
    ("all-gather", re.compile(r"all_?gather", re.IGNORECASE)),
    ("reduce-scatter", re.compile(r"reduce_?scatter", re.IGNORECASE)),
    ("broadcast", re.compile(r"broadcast", re.IGNORECASE)),
)


@dataclass(frozen=True, slots=True)
class Collective:
    """One kind of transfer: payload in bytes (NaN: unknown) and ranks of the group (0: unknown)."""

    kind: str
    payload_bytes: float = NAN
    group_size: int = 0

    @property
    def wire_bytes(self) -> float:
        """Bytes on the wire per device; NaN where size or group is not known."""
        size = wire_bytes(self.kind, self.payload_bytes, self.group_size)
        return NAN if size is None else size


def is_collective(kernel: str) -> bool:
    """True for kernels that move data between devices; their time includes waiting for others."""
    name = kernel.lower()
    return any(word in name for word in (*_LIBRARIES, *_COLLECTIVES))


def is_of_library(kernel: str) -> bool:
    """True for kernels of libraries that only communicate. Compilers may give other kernels names
    such as `reduce_scatter`."""
    name = kernel.lower()
    return any(word in name for word in _LIBRARIES)


def kind_by_kernel(kernel: str) -> str:
    """The kind of a collective by its kernel's name; "collective" where the name does not tell."""
    return next((kind for kind, pattern in _BY_KERNEL if pattern.search(kernel)), UNKNOWN_KIND)


_MOST_LETTERS = 4_000
_INSTANCE = re.compile(r"[\s#:=_-]+\d{1,12}\Z")


def shown(text: str) -> str:
    """A text of the file without control characters, and not too long."""
    cut = text[:_MOST_LETTERS]
    if not cut.isprintable():
        cut = "".join(ch if ch.isprintable() else " " for ch in cut)
    return cut.strip()


def group_name(text: str) -> str:
    """The text of a range without the number of its instance: `step 17` is `step`."""
    return _INSTANCE.sub("", text) or text
