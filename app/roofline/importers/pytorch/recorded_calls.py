"""The arguments with which operators were called, as the trace has them: to call them again."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from roofline.importers.pytorch.attribution import attribute, settle_lists
from roofline.importers.pytorch.events import read_trace
from roofline.importers.pytorch.inputs import Tensor
from roofline.importers.pytorch.signatures import Signature
from roofline.importers.pytorch.trace import Trace
from roofline.importers.shared.tables_text import json_of
from roofline.importers.source import SourceFile
from roofline.model.op_columns import F64, I64
from roofline.model.units import NS_PER_US

# C++ names of element types by our word, and of those of so many bytes where no type is known.
_SPELLED = {
    "fp32": "float", "fp64": "double", "fp16": "c10::Half", "bf16": "c10::BFloat16",
    "int64": "long int", "int32": "int", "int16": "short", "int8": "signed char",
    "uint8": "unsigned char", "bool": "bool",
}  # fmt: skip
_OF_BYTES = {1: "unsigned char", 2: "short", 4: "int", 8: "long int"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall:
    """A call of an operator. One entry per argument: `dims`, `types` and `strides` of tensors, and
    of lists of them, `values` of others; all as the trace spells them.

    `list_types` are the types of the tensors in lists, which kernels' names tell; empty: unknown.
    """

    name: str
    dims: Sequence[Any]
    types: Sequence[str]
    strides: Sequence[Any]
    values: Sequence[str]
    list_types: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """What a row of the op table sums up: its operator, and the call with most of its time.

    `call` is `None` where no shapes were recorded. `share` is what that call has of the row's time,
    `time_us` how long it takes; where the row has such calls alone, the row knows that better.
    """

    operator: str
    call: RecordedCall | None
    share: float
    time_us: float


def calls_of(sources: Sequence[SourceFile], labels: Collection[str]) -> Mapping[str, Called]:
    """The calls behind the rows named `labels`; kernels without an operator have none."""
    found: dict[str, Called] = {}
    for source in sources:
        trace = read_trace(source, lambda _: None, keeps_arguments=True)
        time_ns, count = _times(trace)
        of_label: dict[str, list[int]] = {}
        for k, call in enumerate(trace.signatures):
            if call.label in labels and count[k]:
                of_label.setdefault(call.label, []).append(k)
        for label, signatures in of_label.items():
            longest = max(signatures, key=lambda k: time_ns[k])
            share = time_ns[longest] / max(sum(time_ns[k] for k in signatures), 1.0)
            one = trace.signatures[longest]
            found.setdefault(
                label,
                Called(
                    operator=one.operator,
                    call=_recorded(one),
                    share=float(share),
                    time_us=float(time_ns[longest] / count[longest] / NS_PER_US),
                ),
            )
    return found


def _times(trace: Trace) -> tuple[F64, I64]:
    """Time in ns and calls of each signature: those of kernels, or of operators where none ran."""
    operators = trace.operators
    if not len(trace.work):
        ran, time = np.arange(len(operators)), operators["duration"]
    else:
        around = attribute(trace)
        settle_lists(trace, around)
        of_operator = around.operator >= 0
        ran, at = np.unique(around.operator[of_operator], return_inverse=True)
        time = np.bincount(at, trace.work["duration"][of_operator])
    signature, size = operators["signature"][ran], len(trace.signatures)
    counts = np.bincount(signature, minlength=size).astype(np.int64)
    return np.bincount(signature, time, size).astype(np.float64), counts


def _recorded(call: Signature) -> RecordedCall | None:
    given = json_of(call.recorded) if call.has_shapes else None
    if not isinstance(given, dict):
        return None
    dims, types = given.get("Input Dims"), given.get("Input type", given.get("Input Type"))
    if not isinstance(dims, list) or not isinstance(types, list) or len(dims) != len(types):
        return None
    places = call.inputs.tensors if call.inputs is not None else ()
    return RecordedCall(
        name=call.operator,
        dims=[one if isinstance(one, list) else [] for one in dims],
        types=[one if isinstance(one, str) else "" for one in types],
        strides=_as_long(given.get("Input Strides"), len(dims)),
        values=[
            one if isinstance(one, str) else ""
            for one in _as_long(given.get("Concrete Inputs"), len(dims))
        ],
        list_types=[_of_list(places[k] if k < len(places) else ()) for k in range(len(dims))],
    )


def _as_long(given: object, count: int) -> list[Any]:
    """`given`, if it is a list with one entry for each argument; else nothing is known of them."""
    return given if isinstance(given, list) and len(given) == count else [None] * count


def _of_list(tensors: Sequence[Tensor]) -> str:
    if not tensors:
        return ""
    known = _SPELLED.get(tensors[0].dtype)
    return known or _OF_BYTES.get(tensors[0].item_bytes or 0, "")
