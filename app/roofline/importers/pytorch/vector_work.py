"""FLOPs of vector operators: what their definitions need at least, from shapes and types.

An addition, a product, a quotient and a function (`exp`, `sqrt`, `tanh`) are one FLOP each, a fused
multiply-add is two. Comparisons, selections, changes of sign, conversions and copies are none, and
neither is arithmetic of integers. Random numbers have no formula: what a generator needs is its own
choice. How many instructions a function takes differs by device and by library: every entry has the
factor by which its FLOPs may be more.

Lookups in many tables at once: FBGEMM's embedding tables. Source: `fbgemm_gpu`, codegen of
`split_embedding_codegen_lookup_*_function`: weights of several places, offsets of the tables'
widths [T + 1], their total and largest width, sizes of hashes, their bits, indices [L], offsets of
bags [T·B + 1], how bags are pooled, and weights of the indices. The backward pass,
`split_embedding_backward_codegen_*_exact_cuda`, has the gradient [B, total width] before the
weights, and no total: it adds up a gradient for each lookup, and reads and writes each row.

Kernels that Inductor generates: `triton_poi_fused_add_mul_3` names the operators that it fused. Its
arguments are tensors, written ones among them, and at the end the number of its elements: `xnumel`,
and `rnumel` of reductions. Which part of a larger argument it reads is not recorded, and neither is
which arguments it writes: each counts once, with no more elements than the kernel has. Templates
(`triton_tem_`: products, convolutions, attention) have no such rule.
"""

import math
import re
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from roofline.importers.pytorch.inputs import (
    Family,
    Inputs,
    Tensor,
    broadcast_shape,
    first_precision,
    words,
)
from roofline.model.plain_data import read_beside

# Factors: of additions and products, of softmax and normalisation, of functions.
EXACT, NORMALISED, FUNCTION = 1, 3, 8
_COMPLEX = "complex"


class Counted(Enum):
    """What an entry's FLOPs are counted for each element of."""

    OUTPUT = "output"  # the shape that all inputs broadcast to
    INPUT = "input"  # the first tensor
    HALF = "half"  # half of the largest tensor: gate and value side by side
    PARAMETERS = "parameters"  # the first list of tensors
    RESIZED = "resized"  # the first tensor in another size, which is a plain argument


@dataclass(frozen=True, slots=True)
class Entry:
    """FLOPs per element, the factor by which they may be more, and the affine parameters' places.

    Each tensor at one of these places is one FLOP more per element.
    """

    flop: int
    factor: int = EXACT
    counted: Counted = Counted.OUTPUT
    affine: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class VectorWork:
    """FLOPs of one execution at least, and how many more they may be."""

    flop: int
    slack: int


_FACTORS = {"exact": EXACT, "normalised": NORMALISED, "function": FUNCTION}
_FILE = read_beside(__file__, "vector_work.json")


def _entries(library: str) -> dict[str, Entry]:
    """The entries of a list of the file by the names in it."""
    return {
        name: Entry(
            flop=given["flop"],
            factor=_FACTORS[given.get("factor", "exact")],
            counted=Counted(given.get("counted", Counted.OUTPUT)),
            affine=tuple(given.get("affine", ())),
        )
        for given in _FILE[library]
        for name in words(" ".join(given["names"]))
    }


FLOATS = words("fp64 fp32 fp16 bf16 fp8 fp4")
_TRAINED = words("native_batch_norm _native_batch_norm_legit")
# PyTorch's operators without `aten::` and without the mark of working in place; a batch norm that
# evaluates only scales and shifts, see `_each` for training.
_ENTRIES = _entries("operators")
# Operators of the libraries that serve language models, without the library's name.
_LIBRARY = _entries("libraries")
_COMPLEX_FLOP = {"add": 2, "sub": 2, "rsub": 2, "sum": 2, "mean": 2, "cumsum": 2, "mul": 6}
_LISTS = "_foreach_"


def vector_work(name: str, inputs: Inputs) -> VectorWork | None:
    """The work of one execution; `None` without a formula, or where a type is not known.

    `name` is the operator as its family knows it, without the mark of working in place.
    """
    library, _, short = name.rpartition("::")
    short = short.removeprefix(_LISTS)
    entry = (_LIBRARY if library else _ENTRIES).get(short)
    tensors = inputs.all_tensors
    if entry is None or not tensors:
        return None
    if not entry.flop:
        return VectorWork(0, 0)
    types = {tensor.dtype for tensor in tensors}
    if "" in types:
        return None
    each: int | None = 0  # of integers
    if any(kind.startswith(_COMPLEX) for kind in types):
        each = _COMPLEX_FLOP.get(short)
    elif types & FLOATS:
        each = _each(entry, short, inputs)
    if each is None:
        return None
    elements = _elements(Counted.PARAMETERS if _LISTS in name else entry.counted, inputs)
    if elements is None:
        return None
    return VectorWork(each * elements, each * elements * (entry.factor - 1))


def flop_per_element(name: str) -> int | None:
    """FLOPs per element of one of PyTorch's operators; `None` without a formula."""
    entry = _ENTRIES.get(name)
    return None if entry is None else entry.flop


def flop_of(work: VectorWork | None) -> int | None:
    """Its FLOPs; `None` where they are not known."""
    return None if work is None else work.flop


def slack_of(work: VectorWork | None) -> int:
    """How many more FLOPs it may be."""
    return 0 if work is None else work.slack


def resized_elements(inputs: Inputs) -> int | None:
    """Elements of a resized picture; `None` where the trace does not hold its new size."""
    source, size = inputs.tensor(0), inputs.whole_numbers(1)
    if source is None or not size or len(source.shape) != len(size) + 2:
        return None
    return math.prod(source.shape[:2]) * math.prod(size)


def _each(entry: Entry, name: str, inputs: Inputs) -> int:
    if name in _TRAINED and inputs.flag(5):
        return 5 + sum(inputs.tensor(place) is not None for place in (1, 2))
    if name == "_fused_sgd" and len(inputs.tensors) > 2 and inputs.tensors[2]:
        return 2 * entry.flop  # with a momentum
    return entry.flop + sum(inputs.tensor(place) is not None for place in entry.affine)


def _elements(counted: Counted, inputs: Inputs) -> int | None:
    sizes = [math.prod(tensor.shape) for tensor in inputs.all_tensors]
    if counted is Counted.INPUT:
        return sizes[0]
    if counted is Counted.RESIZED:
        return resized_elements(inputs)
    if counted is Counted.HALF:
        return max(sizes) // 2
    if counted is Counted.PARAMETERS:
        return sum(math.prod(tensor.shape) for tensor in inputs.tensors[0])
    return math.prod(broadcast_shape(inputs.all_tensors))


_OPTIMIZERS = words(
    "none sgd approx_sgd adagrad rowwise_adagrad approx_rowwise_adagrad"
    " rowwise_adagrad_with_counter rowwise_adagrad_with_weight_decay"
    " approx_rowwise_adagrad_with_counter rowwise_weighted_adagrad adam partial_rowwise_adam lamb"
    " partial_rowwise_lamb lars_sgd"
)
_FBGEMM = {
    f"fbgemm::split_embedding_codegen_lookup_{name}_function{kind}"
    for name in _OPTIMIZERS
    for kind in ("", "_pt2")
}
_FBGEMM_BACKWARD = {
    f"fbgemm::split_embedding_backward_codegen_{name}_{kind}_exact_cuda"
    for name in _OPTIMIZERS
    for kind in ("weighted", "unweighted")
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
    is_backward = inputs.operator in _FBGEMM_BACKWARD
    places = range(1, len(inputs.tensors))
    at = next((k for k in places if inputs.number(k) and (is_backward or inputs.number(k + 1))), 0)
    if not at:
        return None
    gradient = inputs.tensor(0) if is_backward else None
    total = gradient.shape[-1] if gradient and gradient.shape else inputs.number(at)
    widths, most = inputs.tensor(at - 1), inputs.number(at if is_backward else at + 1)
    # Behind the largest width, since 2025 whether widths differ, and what tells hashes.
    first = at + 3 + (inputs.flag(at + 1) is not None) if is_backward else at + 4
    indices, bags = inputs.tensor(first), inputs.tensor(first + 1)
    found = [inputs.tensor(k) for k in range(is_backward, at - 1)]
    weights = [one for one in found if one and one.dtype in FLOATS]
    if not (weights and widths and indices and bags and total and most):
        return None
    tables = math.prod(widths.shape) - 1
    if tables < 1 or not bags.elements or not 0 < most <= total <= tables * most:
        return None
    n_indices, n_bags = math.prod(indices.shape), (math.prod(bags.shape) - 1) // tables
    least = max(total - (tables - 1) * most, min(_LEAST_WIDTH, most))
    is_pooled = inputs.number(first + 2) != _NOT_POOLED
    results = (n_bags * total if is_pooled else n_indices * least) * _RESULT_BYTES
    is_weighted = "_weighted_" in inputs.operator
    if not is_backward:
        is_weighted = inputs.tensor(first + 3) is not None
    return _Lookup(
        elements=n_indices * least,
        most_elements=n_indices * most,
        weight_bytes=(max(weights, key=lambda tensor: tensor.elements).item_bytes or 0)
        * (1 + is_backward),  # read, and written
        other_bytes=(indices.size_bytes or 0)
        + (bags.size_bytes or 0)
        + ((gradient.size_bytes or 0) if gradient else results),
        flop_per_element=(1 + is_weighted) * is_pooled,
    )


def _lookup_flop(inputs: Inputs) -> int | None:
    """One addition for each element that is looked up, and a product where indices have weights."""
    call = _lookup(inputs)
    return None if call is None else call.elements * call.flop_per_element


def _lookup_slack(inputs: Inputs) -> int:
    call = _lookup(inputs)
    return (call.most_elements - call.elements) * call.flop_per_element if call else 0


def _lookup_moved(inputs: Inputs) -> int | None:
    """Each row as often as it is looked up, as of `aten::embedding`; indices, bags and results."""
    call = _lookup(inputs)
    return None if call is None else call.elements * call.weight_bytes + call.other_bytes


def _lookup_precision(inputs: Inputs) -> str:
    return next((one.dtype for one in inputs.all_tensors if one.dtype in FLOATS), "")


LOOKUPS = Family(
    names=_FBGEMM | _FBGEMM_BACKWARD,
    flops=_lookup_flop,
    moved=_lookup_moved,
    precision=_lookup_precision,
    reads_values=_FBGEMM | _FBGEMM_BACKWARD,
    slack=_lookup_slack,
)


_TRITON = re.compile(r"triton_(poi|red|per)_fused_(\w*?)_?\d+\Z")
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
    return _TRITON.match(operator) is not None


@lru_cache(maxsize=4096)
def _operators(kernel: str) -> tuple[str, ...]:
    """The operators in a kernel's name, the longest names first; "" for what is none of them."""
    match = _TRITON.match(kernel)
    parts = match[2].split("_") if match else []
    found, at = [], 0
    while at < len(parts):
        stop = next(
            (stop for stop in range(len(parts), at, -1) if _is_known("_".join(parts[at:stop]))), 0
        )
        found.append("_".join(parts[at:stop]) if stop else "")
        at = stop or at + 1
    return tuple(found)


def _is_known(name: str) -> bool:
    return name in _MOVES or flop_per_element(name) is not None


def _generated_count(inputs: Inputs) -> int | None:
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


def _generated_moved(inputs: Inputs) -> int | None:
    count, tensors = _generated_count(inputs), inputs.all_tensors
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


def _generated_flop(inputs: Inputs) -> int | None:
    names, count = _operators(inputs.operator), _generated_count(inputs)
    each = [0 if name in _MOVES else flop_per_element(name) for name in names]
    if names and not any(each):
        return 0 if None not in each else None
    types = {tensor.dtype for tensor in inputs.all_tensors}
    if count is None or not names or "" in types:
        return None
    return count if types & FLOATS else 0


GENERATED = Family(
    names=frozenset(),
    flops=_generated_flop,
    moved=_generated_moved,
    precision=first_precision,
    slack=lambda inputs: (_generated_flop(inputs) or 0) * (FUNCTION - 1),
)
