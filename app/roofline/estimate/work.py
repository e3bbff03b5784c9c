"""The work of an op: FLOPs by unit, bytes by tensor and on a link; bytes of each element type."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from roofline.devices.parts import pruned_bytes
from roofline.errors import BadViewError
from roofline.model.compute import Precision

_BYTES = {
    "fp64": 8.0,
    "fp32": 4.0,
    "tf32": 4.0,
    "bf16": 2.0,
    "fp16": 2.0,
    "fp8": 1.0,
    "int8": 1.0,
    "fp4": 0.5,
    "int4": 0.5,
    # Blocks of 16 values with a scale of one byte; blocks of 32 with one of one byte.
    "nvfp4": 0.5 + 1 / 16,
    "mxfp4": 0.5 + 1 / 32,
}
_ALSO = {"f64": "fp64", "f32": "fp32", "float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}
_PRECISIONS = {"nvfp4": "fp4", "mxfp4": "fp4"}
# A group of quantised values carries a scale and a zero point of two bytes each, a square block one
# scale of four.
_SCALE_BYTES = 4
_KEPT = 256
_GROUPED = re.compile(r"(?P<name>[a-z0-9]+):(?P<form>[gb])(?P<size>[1-9]\d{0,8})")


@lru_cache(_KEPT)
def bytes_per_element(name: str) -> float:
    """Bytes of one element of type `name`, its share of a group's scales included.

    "int4:g128" is int4 in groups of 128, "fp8:b128" fp8 in blocks of 128 by 128. `BadViewError`
    names the known types.
    """
    grouped = _GROUPED.fullmatch(name.strip().casefold())
    if grouped:
        values = int(grouped["size"]) ** (2 if grouped["form"] == "b" else 1)
        return _BYTES[_known(grouped["name"])] + _SCALE_BYTES / values
    return _BYTES[_known(name)]


def sparse_ratio(name: str) -> float:
    """Bytes of weights of this type pruned to 2 of 4 over the dense ones."""
    size = bytes_per_element(name)
    return pruned_bytes(size) / size


def precision_of(name: str) -> Precision:
    """The precision in which elements of this type are multiplied."""
    base = _known(name.partition(":")[0])
    return Precision(_PRECISIONS.get(base, base))


def _known(name: str) -> str:
    spelled = name.strip().casefold()
    spelled = _ALSO.get(spelled, spelled)
    if spelled not in _BYTES:
        raise BadViewError(
            f'"{name}" is not an element type.',
            remedy=f"Name one of: {', '.join(_BYTES)}; int4:g128 has groups of 128, "
            "fp8:b128 blocks of 128 by 128.",
        )
    return spelled


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The work of one call of an op.

    `matrix_flop` are those of the matrix unit, `vector_flop` of the vector unit. `tensors` are the
    bytes that cross the main memory, each input read and each output written once. `link_bytes`
    cross a link, in one direction per device, in `link_steps` steps, of `payload_bytes` in all.
    `exp_ops` are exponentials.
    """

    matrix_flop: float = 0.0
    vector_flop: float = 0.0
    tensors: Mapping[str, float] = field(default_factory=dict)
    link_bytes: float = 0.0
    link_steps: int = 0
    payload_bytes: float = 0.0
    exp_ops: float = 0.0

    @property
    def memory_bytes(self) -> float:
        """Bytes of all tensors."""
        return sum(self.tensors.values())
