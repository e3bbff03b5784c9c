"""Transfers between devices or from and to the host, and their kinds by a kernel's name.

Sources: kernels of NCCL, RCCL, NVSHMEM, PyTorch's symmetric memory and vLLM, as captures name them.
"""

import re
from dataclasses import dataclass

from roofline.importers.shared.wire_bytes import wire_bytes

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
        found = wire_bytes(self.kind, self.payload_bytes, self.group_size)
        return NAN if found is None else found


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
