"""A family of operators, as the formulas see it: its names, and what one execution costs."""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from roofline.importers.pytorch.inputs import Inputs

_ATEN = "aten::"
# SGLang's profiler wraps plain functions: file, function and line are in one name.
_WRAPPED = re.compile(
    r"sglang_profiler::\w*?_(paged_attention_ragged|mla_decode_fwd|fused_moe)_\d+\Z"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ragged:
    """The cost of attention where the lengths of its sequences are data: sums over them are needed.

    `queries` is how many rows of queries there are, `flop_per_pair` is per pair of a query and a
    key that the mask keeps, `bytes_per_key` per key and value in the cache, `other_bytes` are
    queries and results. `window` is how many keys a query sees at most, its own position included;
    `None` is all. `sees_all` is true without a causal mask.
    """

    queries: int
    flop_per_pair: int
    bytes_per_key: int
    other_bytes: int
    window: int | None = None
    sees_all: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Operators with formulas of one kind, by their names as `known_as` gives them.

    `flops` and `moved` are per execution, `None` where what was recorded does not tell.
    `precision` is the element type of the work, empty if unknown. `reads_values` names those whose
    formulas need plain arguments (strides, masks, sizes). Of the bytes, `weights` are the model's
    own and `cached` those of a key-value cache; `ragged` is for attention to sequences of unknown
    lengths.
    """

    names: Collection[str]
    flops: Callable[[Inputs], int | None]
    moved: Callable[[Inputs], int | None]
    precision: Callable[[Inputs], str]
    reads_values: Collection[str] = ()
    weights: Callable[[Inputs], int | None] = lambda _inputs: None
    cached: Callable[[Inputs], int | None] = lambda _inputs: None
    ragged: Callable[[Inputs], Ragged | None] = lambda _inputs: None


def known_as(operator: str) -> str:
    """The name under which formulas know `operator`: `aten::mm` is "mm", others keep theirs.

    An operator of another library is never taken for PyTorch's of the same name.
    """
    if operator.startswith(_ATEN):
        return operator.removeprefix(_ATEN)
    if wrapped := _WRAPPED.match(operator):
        return f"aiter::{wrapped.group(1)}"
    return operator if "::" in operator else ""


def recorded_as(name: str) -> str:
    """The operator's name in traces, from the name under which formulas know it."""
    return name if "::" in name else _ATEN + name


def first_precision(inputs: Inputs) -> str:
    """The element type of the first tensor that has a known one; empty if none has."""
    return next((tensor.dtype for tensor in inputs.all_tensors if tensor.dtype), "")
