"""The work of an op: FLOPs by unit, bytes by tensor, bytes on a link."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The work of one call of an op.

    `matrix_flop` are those of the matrix unit, `vector_flop` of the vector unit. `tensors` are the
    bytes that cross the main memory, each input read and each output written once. `link_bytes`
    cross a link, in one direction per device, in `link_steps` steps.
    """

    matrix_flop: float = 0.0
    vector_flop: float = 0.0
    tensors: Mapping[str, float] = field(default_factory=dict)
    link_bytes: float = 0.0
    link_steps: int = 0

    @property
    def memory_bytes(self) -> float:
        """Bytes of all tensors."""
        return sum(self.tensors.values())
