"""Kernels that Inductor generates: bytes and FLOPs at least, from their arguments and names.

`triton_poi_fused_add_mul_3` names the operators that it fused. Its arguments are tensors, written
ones among them, and at the end the number of its elements: `xnumel`, and `rnumel` of reductions.
Which part of a larger argument it reads is not recorded, and neither is which arguments it writes:
each counts once, with no more elements than the kernel has. Templates (`triton_tem_`: products,
convolutions, attention) have no such rule.
"""

import math
import re
from functools import lru_cache

from roofline.importers.pytorch.inputs import Family, Inputs, Tensor, first_precision
from roofline.importers.pytorch.vector_work import FLOATS, FUNCTION, flop_per_element, words

_NAME = re.compile(r"triton_(poi|red|per)_fused_(\w*?)_?\d+\Z")
# Operators that move, name or look up numbers.
_MOVES = words(
    "_to_copy _unsafe_view alias as_strided cat clone constant_pad_nd copy detach embedding expand"
    " flip full full_like gather index index_put index_select lift_fresh moe_forward new_zeros ones"
    " permute repeat reshape roll scatter select select_scatter slice slice_scatter split squeeze"
    " stack t take transpose unsqueeze view zeros zeros_like"
)
_PICKS = words("index index_select gather embedding take index_put scatter")


def is_generated(operator: str) -> bool:
    """True for a kernel of Inductor that has the rules above."""
    return _NAME.match(operator) is not None


@lru_cache(maxsize=4096)
def _operators(kernel: str) -> tuple[str, ...]:
    """The operators in a kernel's name, the longest names first; "" for what is none of them."""
    match = _NAME.match(kernel)
    words = match[2].split("_") if match else []
    found, at = [], 0
    while at < len(words):
        stop = next(
            (stop for stop in range(len(words), at, -1) if _is_known("_".join(words[at:stop]))), 0
        )
        found.append("_".join(words[at:stop]) if stop else "")
        at = stop or at + 1
    return tuple(found)


def _is_known(name: str) -> bool:
    return name in _MOVES or flop_per_element(name) is not None


def _count(inputs: Inputs) -> int | None:
    """The elements that the kernel works on; `None` where its sizes were not recorded."""
    n_sizes = 1 if inputs.operator.startswith("triton_poi") else 2
    sizes: list[int] = []
    for place in range(len(inputs.tensors) - 1, -1, -1):
        size = None if inputs.tensors[place] else inputs.number(place)
        if size is None or size < 1:
            break
        sizes.append(size)
    every = math.prod(sizes)
    if any(tensor.elements == every for tensor in inputs.all_tensors):
        return every  # several sizes of the elements, or of what is reduced
    return math.prod(sizes[:n_sizes]) if len(sizes) >= n_sizes else None


def _moved(inputs: Inputs) -> int | None:
    count, tensors = _count(inputs), inputs.all_tensors
    if count is None or not tensors or any(tensor.item_bytes is None for tensor in tensors):
        return None
    picks = not _PICKS.isdisjoint(_operators(inputs.operator))
    last = tensors[-1]
    counted = [t for t in tensors if not picks or t is last or t.elements == count]
    first, *others = tensors
    is_in_place = (
        inputs.operator.startswith("triton_poi")
        and first.elements == count
        and all(tensor.elements < count for tensor in others)
    )
    return sum(_at_most(t, count) for t in counted) + is_in_place * _at_most(first, count)


def _at_most(tensor: Tensor, count: int) -> int:
    return min(tensor.elements, count) * (tensor.item_bytes or 0)


def _flop(inputs: Inputs) -> int | None:
    names, count = _operators(inputs.operator), _count(inputs)
    each = [0 if name in _MOVES else flop_per_element(name) for name in names]
    if names and not any(each):
        return 0 if None not in each else None
    types = {tensor.dtype for tensor in inputs.all_tensors}
    if count is None or not names or "" in types:
        return None
    return count if types & FLOATS else 0


FAMILY = Family(
    names=frozenset(),
    flops=_flop,
    moved=_moved,
    precision=first_precision,
    slack=lambda inputs: (_flop(inputs) or 0) * (FUNCTION - 1),
)
