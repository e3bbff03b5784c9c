"""Kernels inside an operator that each do a work of their own, told apart by their names.

`vllm::moe_forward` names a layer and runs two products of all experts; attention that names a layer
runs one kernel for layers with a window and another for those without. The trace of a capture has
the rest: the operators that ran inside, with the sizes of what they allocated.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from roofline.importers.pytorch.attention import names_a_layer
from roofline.importers.pytorch.experts import Routing, grouped_product
from roofline.importers.pytorch.signatures import Signature
from roofline.importers.pytorch.trace import Trace
from roofline.model.op_columns import I32, I64

# aiter runs its two-dimensional kernel for layers with a window, and for all if lengths are short;
# beside the other kernel it is that of windowed layers. (`use_2d_kernel`, aiter 2026.)
_WINDOWED, _FULL = "kernel_unified_attention_2d", "kernel_unified_attention_3d"
# By query heads per head of keys and by depth: gpt-oss, `sliding_window` in its config.json.
_WINDOWS = {(8, 64): 128}
_EXPERTS = frozenset({"vllm::moe_forward", "vllm::moe_forward_shared"})
_SUM = "_finalize_matmul_scatter"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Launched:
    """Launches of a graph: what each launches, and the place of the innermost operator around it
    (-1: none)."""

    nodes: Sequence[str]
    operator: I32


def inner_calls(trace: Trace, launched: Launched) -> dict[int, Signature]:
    """The calls that the launches at these places make by themselves."""
    result = _windowed(trace.signatures, trace.operators["signature"], launched)
    routings: dict[int, Routing | None] = {}
    for place, (node, operator) in enumerate(
        zip(launched.nodes, launched.operator.tolist(), strict=True)
    ):
        if operator < 0 or not node.startswith("_"):
            continue
        outer = trace.signatures[int(trace.operators["signature"][operator])]
        if outer.operator not in _EXPERTS:
            continue
        if operator not in routings:
            routings[operator] = _routing(trace, operator, outer)
        routing = routings[operator]
        call = _product(node, outer, routing) if routing else None
        if call is not None:
            result[place] = call
    return result


def _windowed(
    signatures: Sequence[Signature], of_operator: I64, launched: Launched
) -> dict[int, Signature]:
    """Attention of layers with a window; its work is unknown where the window is."""
    if not {_WINDOWED, _FULL} <= set(launched.nodes):
        return {}
    result = {}
    for place, node in enumerate(launched.nodes):
        operator = int(launched.operator[place])
        if node != _WINDOWED or operator < 0:
            continue
        outer = signatures[int(of_operator[operator])]
        if names_a_layer(outer.operator):
            result[place] = _of_window(outer)
    return result


def _of_window(outer: Signature) -> Signature:
    inputs = outer.inputs
    query, key = (inputs.tensor(0), inputs.tensor(1)) if inputs else (None, None)
    window = None
    if query is not None and key is not None and len(query.shape) == len(key.shape) == 3:
        per_head = query.shape[1] // max(key.shape[1], 1)
        window = _WINDOWS.get((per_head, query.shape[2]))
    if window is None or outer.ragged is None:
        return replace(outer, label=f"{outer.label} windowed", ragged=None)
    return replace(
        outer,
        label=f"{outer.label} window {window}",
        window=window,
        ragged=replace(outer.ragged, window=window),
    )


def _routing(trace: Trace, operator: int, outer: Signature) -> Routing | None:
    """Sizes of a mixture of experts, from its arguments and the operators inside it."""
    inputs = outer.inputs
    hidden, logits = (inputs.tensor(0), inputs.tensor(1)) if inputs else (None, None)
    if hidden is None or logits is None or len(hidden.shape) != 2 or len(logits.shape) != 2:
        return None
    tokens, width = hidden.shape
    inside = _inside(trace, operator)
    chosen = _chosen(inside, tokens)
    inner = _inner(inside, tokens * chosen) if chosen else None
    if not chosen or not inner or logits.shape[0] != tokens:
        return None
    return Routing(tokens=tokens, width=width, experts=logits.shape[1], chosen=chosen, inner=inner)


def _inside(trace: Trace, operator: int) -> list[Signature]:
    operators = trace.operators
    begin, lasts = int(operators["begin"][operator]), int(operators["duration"][operator])
    inside = (
        (operators["thread"] == operators["thread"][operator])
        & (operators["begin"] >= begin)
        & (operators["begin"] <= begin + lasts)
    )
    return [trace.signatures[k] for k in np.unique(operators["signature"][inside]).tolist()]


def _chosen(inside: Sequence[Signature], tokens: int) -> int | None:
    """Experts per token: what sorts the tokens has a row per token and a column per choice."""
    for signature in inside:
        first = (
            signature.inputs.tensor(0)
            if signature.inputs and signature.operator == "SortTokens"
            else None
        )
        if first is not None and len(first.shape) == 2 and first.shape[0] == tokens:
            return first.shape[1]
    return None


def _inner(inside: Sequence[Signature], rows: int) -> int | None:
    """Width between the two products: of the room that is made for it, one row per choice."""
    for signature in inside:
        sizes = (
            signature.inputs.whole_numbers(0)
            if signature.inputs and signature.operator == "aten::empty"
            else []
        )
        if len(sizes) == 3 and sizes[:2] == [1, rows]:
            return sizes[2]
    return None


def _product(node: str, outer: Signature, routing: Routing) -> Signature | None:
    grouped = grouped_product(node, routing)
    if grouped is not None:
        return replace(
            outer,
            label=f"{outer.operator} {grouped.label}",
            flop=grouped.flop,
            moved_bytes=grouped.moved_bytes,
            weight_bytes=grouped.touched.weight_bytes,
            touched=grouped.touched,
            is_uncountable=False,
        )
    hidden = outer.inputs.tensor(0) if outer.inputs else None
    item = hidden.item_bytes if hidden is not None else None
    if not node.startswith(_SUM) or item is None:
        return None
    rows = routing.tokens * (routing.chosen + 1)
    return replace(
        outer,
        label=f"{outer.operator} sum of {routing.chosen} [{routing.tokens}x{routing.width}]",
        moved_bytes=rows * routing.width * item,
    )
