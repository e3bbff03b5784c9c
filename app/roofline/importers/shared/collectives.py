"""What is moved between devices or from and to the host, and what a kernel's name tells of it.

Sources: kernels of NCCL, RCCL, NVSHMEM, PyTorch's symmetric memory and vLLM, as captures name them.
"""

import re
from dataclasses import dataclass

from roofline.importers.shared.wire_bytes import wire_bytes

NAN = float("nan")
_LIBRARIES = r"nccl|rccl|nvshmem|multimem_(?:all|reduce)|cross_device_reduce"
_LIBRARY = re.compile(_LIBRARIES)
_COMMUNICATION = re.compile(
    _LIBRARIES + r"|(?:one|two)_?shot_all_?reduce|all_?reduce|all_?gather|reduce_?scatter"
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
    return _COMMUNICATION.search(kernel.lower()) is not None


def is_of_library(kernel: str) -> bool:
    """True for kernels of libraries that only communicate. Compilers may give other kernels names
    such as `reduce_scatter`."""
    return _LIBRARY.search(kernel.lower()) is not None


def kind_by_kernel(kernel: str) -> str:
    """The kind of a collective by its kernel's name; "collective" where the name does not tell."""
    return next((kind for kind, pattern in _BY_KERNEL if pattern.search(kernel)), "collective")
