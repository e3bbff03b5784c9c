"""Lookups in many tables at once: the forward pass of FBGEMM's embedding tables.

Source: `fbgemm_gpu`, codegen of `split_embedding_codegen_lookup_*_function`: weights of several
places, offsets of the tables' widths [T + 1], their total and largest width, sizes of hashes, their
bits, indices [L], offsets of bags [T·B + 1], how bags are pooled, and weights of the indices.
"""

import math
from dataclasses import dataclass

from roofline.importers.pytorch.inputs import Family, Inputs
from roofline.importers.pytorch.vector_work import FLOATS, words

_OPTIMIZERS = words(
    "none sgd approx_sgd adagrad rowwise_adagrad approx_rowwise_adagrad"
    " rowwise_adagrad_with_counter rowwise_adagrad_with_weight_decay"
    " approx_rowwise_adagrad_with_counter rowwise_weighted_adagrad adam partial_rowwise_adam lamb"
    " partial_rowwise_lamb lars_sgd"
)
_NAMES = {
    f"fbgemm::split_embedding_codegen_lookup_{name}_function{kind}"
    for name in _OPTIMIZERS
    for kind in ("", "_pt2")
}
_NOT_POOLED = 2  # PoolingMode.NONE: a row for each index
_LEAST_WIDTH, _RESULT_BYTES = 4, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lookup:
    """One call: indices and results in bytes, elements of the rows at least and at most."""

    elements: int
    most_elements: int
    weight_bytes: int
    other_bytes: int
    flop_per_element: int


def _lookup(inputs: Inputs) -> _Lookup | None:
    """The call, `None` where the widths of the tables are not recorded, as in old traces."""
    places = range(1, len(inputs.tensors))
    at = next((k for k in places if inputs.number(k) and inputs.number(k + 1)), None)
    if at is None:
        return None
    widths, total, most = inputs.tensor(at - 1), inputs.number(at), inputs.number(at + 1)
    indices, bags = inputs.tensor(at + 4), inputs.tensor(at + 5)
    weights = [one for k in range(at - 1) if (one := inputs.tensor(k)) and one.dtype in FLOATS]
    if not (weights and widths and indices and bags and total and most):
        return None
    tables = math.prod(widths.shape) - 1
    if tables < 1 or not bags.elements or not 0 < most <= total <= tables * most:
        return None
    n_indices, n_bags = math.prod(indices.shape), (math.prod(bags.shape) - 1) // tables
    least = max(total - (tables - 1) * most, min(_LEAST_WIDTH, most))
    is_pooled = inputs.number(at + 6) != _NOT_POOLED
    results = n_bags * total if is_pooled else n_indices * least
    return _Lookup(
        elements=n_indices * least,
        most_elements=n_indices * most,
        weight_bytes=max(weights, key=lambda tensor: tensor.elements).item_bytes or 0,
        other_bytes=(indices.size_bytes or 0) + (bags.size_bytes or 0) + results * _RESULT_BYTES,
        flop_per_element=(1 + (inputs.tensor(at + 7) is not None)) * is_pooled,
    )


def _flops(inputs: Inputs) -> int | None:
    """One addition for each element that is looked up, and a product where indices have weights."""
    call = _lookup(inputs)
    return None if call is None else call.elements * call.flop_per_element


def _slack(inputs: Inputs) -> int:
    call = _lookup(inputs)
    return (call.most_elements - call.elements) * call.flop_per_element if call else 0


def _moved(inputs: Inputs) -> int | None:
    """Each row as often as it is looked up, as of `aten::embedding`; indices, bags and results."""
    call = _lookup(inputs)
    return None if call is None else call.elements * call.weight_bytes + call.other_bytes


def _precision(inputs: Inputs) -> str:
    return next((one.dtype for one in inputs.all_tensors if one.dtype in FLOATS), "")


FAMILY = Family(
    names=_NAMES,
    flops=_flops,
    moved=_moved,
    precision=_precision,
    reads_values=_NAMES,
    slack=_slack,
)
