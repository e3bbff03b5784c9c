"""Bytes of tensors in XLA's notation, and how much of an op's bytes are weights."""

import re
from functools import cache

from roofline.advice.tensors import tensors_of

_ON_CHIP = re.compile(r"S\([1-9]")
_PRODUCTS = ("aten::mm", "aten::addmm", "aten::linear", "aten::matmul")
_HALF = frozenset({"bf16", "f16"})


@cache
def tensor_bytes(tensors: str) -> float:
    """Bytes of all tensors in a text such as `bf16[8,128]{1,0}; f32[]`; 0 without any."""
    return float(sum(one.bytes for one in tensors_of(tensors)))


def is_in_main_memory(tensors: str) -> bool:
    """False where a layout names another memory: `S(1)` is on the chip, `S(5)` the host."""
    return not _ON_CHIP.search(tensors)


@cache
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


@cache
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
