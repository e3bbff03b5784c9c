"""Pointwise kernels that Inductor generates and names by the operators that it fused.

Where all of these only move data, each argument is read or written once, and nothing is computed.
All others may read a part of an argument, or read it often: their work is unknown.
"""

import re

from roofline.importers.pytorch.families import Family, first_precision
from roofline.importers.pytorch.inputs import Inputs, total_bytes

_MOVES = re.compile(
    r"triton_poi_fused_(?:(?:_to_copy|constant_pad_nd|clone|copy|moe_forward)_)+\d+\Z"
)


def only_moves(kernel: str) -> bool:
    """True for a kernel of operators that compute nothing and use each argument as a whole."""
    return _MOVES.match(kernel) is not None


def _moved(inputs: Inputs) -> int | None:
    return total_bytes(inputs.all_tensors) if inputs.all_tensors else None


FAMILY = Family(names=frozenset(), flops=lambda _inputs: 0, moved=_moved, precision=first_precision)
