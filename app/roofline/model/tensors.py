"""Tensors in XLA's notation: shapes and sizes of what an op reads."""

import re
from functools import lru_cache
from math import prod
from typing import NamedTuple

REMEMBERED = 16_384
"""Texts of operations whose reading is remembered: views under other peaks ask for the same."""

_TENSOR = re.compile(r"\b([a-z]+\d+(?:e\d+m\d+\w*)?|pred)\[([\d,]*)\]")
_BITS = re.compile(r"[a-z]+(\d+)")


class Tensor(NamedTuple):
    """An element type such as "bf16", and the sizes of the dimensions."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def elements(self) -> int:
        """How many numbers it has."""
        return prod(self.shape)

    @property
    def element_bytes(self) -> float:
        """Bytes of one number."""
        bits = 8 if self.dtype == "pred" else int((_BITS.match(self.dtype) or ["", "0"])[1])
        return bits / 8

    @property
    def bytes(self) -> float:
        """Bytes of all numbers."""
        return self.element_bytes * self.elements


@lru_cache(maxsize=REMEMBERED)
def tensors_of(text: str) -> tuple[Tensor, ...]:
    """All tensors in a text such as `bf16[8,128]{1,0}; f32[]`."""
    return tuple(
        Tensor(dtype, tuple(int(size) for size in shape.split(",") if size))
        for dtype, shape in _TENSOR.findall(text)
    )


class Product(NamedTuple):
    """A matrix product: `batch` times (m x k) by (k x n)."""

    batch: int
    m: int
    k: int
    n: int
    first: Tensor
    second: Tensor


_PLAIN = ("aten::mm", "aten::addmm", "aten::linear", "aten::matmul")
_BATCHED = ("aten::bmm", "aten::baddbmm")
TORCH_PRODUCTS = _PLAIN + _BATCHED
"""Operators of PyTorch that are one matrix product."""


@lru_cache(maxsize=REMEMBERED)
def product_of(name: str, operands: str) -> Product | None:
    """The product that an operator of PyTorch computes; `None` for others.

    `aten::linear` has its second matrix as n x k, all others as k x n.
    """
    operator = name.partition(" ")[0]
    if operator not in TORCH_PRODUCTS:
        return None
    ranks = (3,) if operator in _BATCHED else (2,)
    found = [one for one in tensors_of(operands) if len(one.shape) in ranks][-2:]
    if len(found) < 2:
        return None
    first, second = found
    k, n = second.shape[-2:] if operator != "aten::linear" else second.shape[::-1]
    if first.shape[-1] != k:
        return None
    batch = first.shape[0] if operator in _BATCHED else 1
    return Product(batch=batch, m=first.shape[-2], k=k, n=n, first=first, second=second)
