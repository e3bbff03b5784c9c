"""Element types of lists of tensors: a trace records none, but the name of their kernel has one."""

import re
from dataclasses import replace

import numpy as np

from roofline.importers.pytorch.attribution import Attribution
from roofline.importers.pytorch.inputs import element_of
from roofline.importers.pytorch.signatures import Signature, priced
from roofline.importers.pytorch.trace import Trace

_OF_LISTS = re.compile(r"aten::(?:cat|stack|_foreach_\w+|_fused_\w+)\Z")
_KERNEL = re.compile(
    r"(?:CatArray\w*|(?<!Copy)Functor)<(?:\w+::)*(?:\(anonymous namespace\)::)?(?:c10::)?"
    r"(?:OpaqueType<(\d+)|(BFloat16|Half|float|double|long|int|short|(?:un)?signed char|bool)\b)"
)


def settle_lists(trace: Trace, attribution: Attribution) -> None:
    """Give calls with lists of tensors the types in the names of their kernels, in place."""
    is_open = np.array([_is_open(call) for call in trace.signatures], np.bool_)
    if not is_open.any():
        return
    kinds = [found.groups() if (found := _KERNEL.search(name)) else None for name in trace.names]
    types = list(dict.fromkeys(kind for kind in kinds if kind))
    number = np.array([types.index(kind) if kind else -1 for kind in kinds], np.int64)
    signature = trace.operators["signature"]
    kind = number[trace.work["name"]]
    ran = np.flatnonzero((attribution.operator >= 0) & (kind >= 0))
    operator = attribution.operator[ran]
    of_list = is_open[signature[operator]]
    operator, kind = operator[of_list], kind[ran[of_list]]
    keys = signature[operator].astype(np.int64) * len(types) + kind
    distinct, inverse = np.unique(keys, return_inverse=True)
    first = len(trace.signatures)
    for key in distinct.tolist():
        call, at = divmod(key, len(types))
        trace.signatures.append(_typed(trace.signatures[call], *types[at]))
    signature[operator] = first + inverse


def _is_open(call: Signature) -> bool:
    tensors = call.inputs.all_tensors if call.inputs and _OF_LISTS.match(call.operator) else []
    return any(tensor.item_bytes is None for tensor in tensors)


def _typed(call: Signature, opaque: str | None, spelled: str | None) -> Signature:
    """The call with tensors of the type `spelled`, or of so many bytes per element."""
    if call.inputs is None:
        return call
    dtype, item_bytes = ("", int(opaque)) if opaque else element_of(spelled or "")
    tensors = tuple(
        tuple(
            replace(tensor, dtype=dtype, item_bytes=item_bytes)
            if tensor.item_bytes is None
            else tensor
            for tensor in place
        )
        for place in call.inputs.tensors
    )
    return priced(replace(call, inputs=replace(call.inputs, tensors=tensors)))
