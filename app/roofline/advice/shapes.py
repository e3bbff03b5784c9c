"""Bytes of tensors in XLA's notation, and how much of an op's bytes are weights."""

import re
from functools import cache
from math import prod

_TENSOR = re.compile(r"\b([a-z]+\d+(?:e\d+m\d+\w*)?|pred)\[([\d,]*)\]")
_ON_CHIP = re.compile(r"S\([1-9]")
_BITS = re.compile(r"[a-z]+(\d+)")
_PRODUCTS = ("aten::mm", "aten::addmm", "aten::linear", "aten::matmul")


@cache
def tensor_bytes(tensors: str) -> float:
    """Bytes of all tensors in a text such as `bf16[8,128]{1,0}; f32[]`; 0 without any."""
    return float(sum(_bytes(dtype, shape) for dtype, shape in _TENSOR.findall(tensors)))


def is_in_main_memory(tensors: str) -> bool:
    """False where a layout names another memory: `S(1)` is on the chip, `S(5)` the host."""
    return not _ON_CHIP.search(tensors)


def _bytes(dtype: str, shape: str) -> float:
    bits = 8 if dtype == "pred" else int((_BITS.match(dtype) or ["", "0"])[1])
    return bits / 8 * prod(int(size) for size in shape.split(",") if size)


@cache
def weight_share(name: str, operands: str, op_bytes: float) -> float:
    """Share of the bytes of a matrix product that its two-byte second matrix is.

    0 where the op is not a product of which that is known, or its weights are smaller already.
    """
    if not name.startswith(_PRODUCTS) or op_bytes <= 0:
        return 0.0
    matrices = [one for one in operands.split("; ") if one.count(",", 0, one.find("]")) == 1]
    if len(matrices) < 2 or not matrices[-1].startswith(("bf16", "f16")):
        return 0.0
    return min(tensor_bytes(matrices[-1]) / op_bytes, 1.0)
