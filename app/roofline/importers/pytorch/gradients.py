"""Which gradients an old convolution's backward computes: those whose inner operators ran.

Newer traces record a mask of gradients. Traces of 2021 do not, but there each gradient has an
operator of its own inside (`cudnn_convolution_backward_input`, `…_weight`).
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from roofline.importers.pytorch.signatures import Signature
from roofline.importers.pytorch.trace import Trace

_INPUT, _WEIGHT = 1, 2
_BOTH = _INPUT | _WEIGHT


def settle_gradients(trace: Trace, parent: NDArray[np.int32]) -> None:
    """Give calls whose inner operators tell their gradients the FLOPs of these, in place.

    `parent` is the operator around each one.
    """
    open_ones = np.array([s.are_gradients_unknown for s in trace.signatures], np.bool_)
    if not open_ones.any():
        return
    signature = trace.operators["signature"]
    ran = _ran_inside(trace, parent)
    told = open_ones[signature] & (ran > 0)
    keys = signature[told].astype(np.int64) * (_BOTH + 1) + ran[told]
    distinct, inverse = np.unique(keys, return_inverse=True)
    first = len(trace.signatures)
    for key in distinct.tolist():
        number, gradients = divmod(key, _BOTH + 1)
        trace.signatures.append(_settled(trace.signatures[number], gradients))
    signature[told] = first + inverse


def _ran_inside(trace: Trace, parent: NDArray[np.int32]) -> NDArray[np.int64]:
    """The gradients that operators directly inside each operator compute."""
    kinds = np.array([_gradient(s.operator) for s in trace.signatures], np.int64)
    kind = kinds[trace.operators["signature"]]
    inner = (kind > 0) & (parent >= 0)
    found = np.zeros(len(parent), np.int64)
    np.bitwise_or.at(found, parent[inner], kind[inner])
    return found


def _gradient(operator: str) -> int:
    if operator.endswith("_backward_input"):
        return _INPUT
    return _WEIGHT if operator.endswith("_backward_weight") else 0


def _settled(call: Signature, gradients: int) -> Signature:
    """The call with known gradients; with one of two it has half of the FLOPs."""
    if gradients == _BOTH or call.flop is None:
        return replace(call, are_gradients_unknown=False)
    return replace(call, are_gradients_unknown=False, flop=call.flop // 2, moved_bytes=None)
