"""Matrix products and mixtures of experts: FLOPs and bytes from the shapes of their factors.

A multiply-add is two FLOPs. Places are those of the operators' schemas: PyTorch's
`native_functions.yaml`, and the bindings of vLLM, SGLang and aiter, and Triton's kernels.
Quantised weights count with the bytes in which they are stored.

Each of R tokens goes to k of E experts, so the products have R k rows, whatever the routing. The
weights of an expert are read once if any token goes to it. Which ones those are is data: between
min(E, k) and min(E, R k), and E (1 - (1 - k/E)^R) with equal chances, which is what counts here.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from roofline.importers.pytorch.inputs import (
    PACKED_FP4,
    Family,
    Inputs,
    Tensor,
    known_as,
    places_of,
    total_bytes,
    words,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Product:
    """Places of a product's factors, and how they and the result are stored.

    `is_transposed`: the right factor is [n, k]. `inner` and `columns` numbers lie in one element
    of the factors along k, and of the right factor along n. `result` is the place of a tensor that
    receives the result; `result_type` are places where a number names its element type (torch 2.1
    has that of `_scaled_mm` at 3); `result_item` its bytes per element, else the left factor's.
    """

    left: int = 0
    right: int = 1
    is_transposed: bool = False
    inner: int = 1
    columns: int = 1
    result: int | None = None
    result_type: tuple[int, ...] = ()
    result_item: int | None = None


# How many tensors each takes; one more is the tensor that receives the result.
_TAKES = {
    **dict.fromkeys(("mm", "bmm", "mv", "_int_mm"), 2),
    **dict.fromkeys(("addmm", "baddbmm", "addmv", "_addmm_activation"), 3),
}
_PLAIN = _Product()
_PRODUCTS = places_of(_Product, "products")
# Which groups of weights are read depends on the tokens; or the types of scales are not recorded.
_BYTES_UNKNOWN = frozenset({"_grouped_mm", "_scaled_grouped_mm", "_scaled_mm_v2"})

# Products that state m, n and k as plain numbers, because their weights are packed.
_STATED = words(
    "_C::gptq_marlin_gemm _C::marlin_gemm _C::marlin_qqq_gemm sgl_kernel::gptq_marlin_gemm"
)
# Products whose packed weights tell n: numbers of it per element, and along which dimension.
_PACKED = {"_weight_int4pack_mm": (8, 0), "_C::gptq_gemm": (1, 1), "sgl_kernel::gptq_gemm": (1, 1)}

# Bytes per element of PyTorch's element types by number, `c10::ScalarType`.
_ITEM_OF_NUMBER = {5: 2, 6: 4, 7: 8, 15: 2, **dict.fromkeys((23, 24, 25, 26), 1)}
_FP4_PER_ELEMENT = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sizes:
    """A product of `batch` [m, k] by [k, n] matrices."""

    batch: int
    m: int
    n: int
    k: int

    @property
    def flop(self) -> int:
        return 2 * self.batch * self.m * self.n * self.k

    @property
    def results(self) -> int:
        return self.batch * self.m * self.n


def _flops(inputs: Inputs) -> int | None:
    sizes = _sizes(inputs)
    return sizes.flop if sizes else None


def _sizes(inputs: Inputs) -> _Sizes | None:
    name = known_as(inputs.operator)
    if name in _STATED:
        return _stated_sizes(inputs)
    if name in _PACKED:
        return _packed_sizes(inputs, *_PACKED[name])
    return _factor_sizes(inputs, _PRODUCTS[name])


def _factor_sizes(inputs: Inputs, form: _Product) -> _Sizes | None:
    """From the shapes of both factors; `None` if they do not fit."""
    left, right = inputs.tensor(form.left), inputs.tensor(form.right)
    if left is None or right is None or not left.shape or not right.shape:
        return None
    a = left.shape if len(left.shape) > 1 else (1, *left.shape)
    b = right.shape if len(right.shape) > 1 else (*right.shape, 1)
    if form.is_transposed:
        b = (*b[:-2], b[-1], b[-2])
    if a[-1] != b[-2]:
        return None
    # Groups of one long sum: the batch of the left factor is not repeated along the right one.
    batch = math.prod(a[:-2]) if len(b) > 2 or "grouped" not in inputs.operator else 1
    packed = _FP4_PER_ELEMENT if left.dtype == PACKED_FP4 else form.inner
    return _Sizes(batch=batch, m=a[-2], n=b[-1] * form.columns, k=a[-1] * packed)


def _packed_sizes(inputs: Inputs, per_element: int, dimension: int) -> _Sizes | None:
    left, right = inputs.tensor(0), inputs.tensor(1)
    if left is None or right is None or len(left.shape) != 2 or len(right.shape) <= dimension:
        return None
    return _Sizes(batch=1, m=left.shape[0], n=right.shape[dimension] * per_element, k=left.shape[1])


def _stated_sizes(inputs: Inputs) -> _Sizes | None:
    """m, n and k stand one behind the other; m and k are those of the left factor."""
    left = inputs.tensor(0)
    if left is None or len(left.shape) != 2:
        return None
    numbers = [inputs.number(place) for place in range(len(inputs.values))]
    for m, n, k in zip(numbers, numbers[1:], numbers[2:], strict=False):
        if (m, k) == left.shape and n is not None and n > 0:
            return _Sizes(batch=1, m=left.shape[0], n=n, k=left.shape[1])
    return None


# -------------------------------------------------------------------------------------------- bytes


def _moved(inputs: Inputs) -> int | None:
    """Both factors and all that is added or scales them, and the result, each once."""
    name, sizes = known_as(inputs.operator), _sizes(inputs)
    if sizes is None or name in _BYTES_UNKNOWN:
        return None
    form = _PRODUCTS.get(name, _PLAIN)
    read = total_bytes(_without_indices(inputs.all_tensors))
    written = 0 if _has_result(inputs, form, sizes) else _written(inputs, form, sizes)
    return None if read is None or written is None else read + written


def product_rows(inputs: Inputs | None) -> int | None:
    """Rows of the left factor of one matrix product; `None` for all else."""
    if inputs is None or known_as(inputs.operator) not in FAMILY.names:
        return None
    sizes = _sizes(inputs)
    return sizes.m if sizes and sizes.batch == 1 else None


def _weights(inputs: Inputs) -> int | None:
    """The right factor, and the scales and zero points of packed weights."""
    name, sizes = known_as(inputs.operator), _sizes(inputs)
    if sizes is None or sizes.batch > 1 or name in _BYTES_UNKNOWN:
        return None
    left = inputs.tensor(_PRODUCTS.get(name, _PLAIN).left)
    form = _PRODUCTS.get(name)
    right = inputs.tensor(form.right) if form is not None else None
    if right is not None:
        return right.size_bytes
    # Of packed weights all that is neither the left factor nor the result.
    others = [t for t in _without_indices(inputs.all_tensors) if t is not left]
    return total_bytes(t for t in others if t.shape != (sizes.m, sizes.n))


def _has_result(inputs: Inputs, form: _Product, sizes: _Sizes) -> bool:
    """True if the tensor that receives the result was passed in."""
    name = known_as(inputs.operator)
    if name in _STATED:
        return any(tensor.shape == (sizes.m, sizes.n) for tensor in inputs.all_tensors)
    if form.result is not None and inputs.tensor(form.result) is not None:
        return True
    return name in _TAKES and len(inputs.all_tensors) > _TAKES[name]


def _written(inputs: Inputs, form: _Product, sizes: _Sizes) -> int | None:
    item = _result_item(inputs, form)
    return None if item is None else sizes.results * item


def _result_item(inputs: Inputs, form: _Product) -> int | None:
    """Bytes per element of the result; the left factor's type is that of a type left out."""
    left = inputs.tensor(form.left)
    if form.result_item is not None or left is None:
        return form.result_item
    if form.result_type and not inputs.values:
        return None
    numbers = (inputs.number(place) for place in form.result_type)
    stated = next((number for number in numbers if number is not None), None)
    return left.item_bytes if stated is None else _ITEM_OF_NUMBER.get(stated)


def _without_indices(tensors: Iterable[Tensor]) -> list[Tensor]:
    """Without lists of whole numbers: order of groups, work space."""
    return [t for t in tensors if len(t.shape) > 1 or not t.dtype.startswith("int")]


def _precision(inputs: Inputs) -> str:
    """The left factor's: weights may be stored in fewer bits."""
    form = _PRODUCTS.get(known_as(inputs.operator), _PLAIN)
    left = inputs.tensor(form.left)
    if form.inner > 1:
        return PACKED_FP4
    return left.dtype if left is not None else ""


FAMILY = Family(
    names=frozenset({*_PRODUCTS, *_STATED, *_PACKED}),
    flops=_flops,
    moved=_moved,
    precision=_precision,
    weights=_weights,
    reads_values=frozenset(
        {*_STATED, *(name for name, form in _PRODUCTS.items() if form.result_type)}
    ),
)


# Bytes per weight by the names of Triton's kernels: 4 bits and one byte of scale per 32 (mxfp4).
_WEIGHT_BYTES = {"mxfp4": 17 / 32, "bf16": 2.0, "fp16": 2.0, "fp8e4nv": 1.0, "fp8e5": 1.0}
_ACTIVATION_BYTES = {"bf16": 2, "fp16": 2, "fp32": 4, "fp8e4nv": 1, "fp8e5": 1}
_GROUPED = re.compile(r"_(?:p_)?matmul_ogs_[A-Z]+_(\w+?)x(\w+?)x(\w+?)_\d+x\d+x\d+x\d+(_swiglu)?")
_HIDDEN, _UP, _DOWN, _CHOICE = 0, 1, 2, 4
_FUSED = frozenset(
    {
        "vllm::inplace_fused_experts",
        "vllm::outplace_fused_experts",
        "vllm::rocm_aiter_fused_moe",
        "sglang::inplace_fused_experts",
        "sglang::outplace_fused_experts",
        "aiter::fused_moe",
        "aiter::fused_moe_",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """How many of `experts` are read, each `bytes_each` of weights: at least, at most, expected."""

    experts: int
    least: int
    most: int
    expected: float
    bytes_each: int

    @property
    def weight_bytes(self) -> int:
        """With equal chances."""
        return round(self.expected * self.bytes_each)


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """`tokens` of `width` numbers, each sent to `chosen` of `experts` that are `inner` wide."""

    tokens: int
    width: int
    experts: int
    chosen: int
    inner: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouped:
    """One product of all experts: its work, and a label of its shapes."""

    label: str
    flop: int
    moved_bytes: int
    touched: Touched


def touched(experts: int, chosen: int, tokens: int, bytes_each: int) -> Touched:
    """Which experts `tokens` touch that each choose `chosen` of them."""
    untouched = (1 - min(chosen / experts, 1.0)) ** tokens
    return Touched(
        experts=experts,
        least=min(experts, chosen) if tokens else 0,
        most=min(experts, tokens * chosen),
        expected=experts * (1 - untouched),
        bytes_each=bytes_each,
    )


def grouped_product(kernel: str, routing: Routing) -> Grouped | None:
    """One of the two products of Triton's `matmul_ogs`; `None` for other kernels and types.

    With `_swiglu` it is the first, whose halves are multiplied into one on the way out.
    """
    match = _GROUPED.match(kernel)
    if match is None:
        return None
    out, taken, stored, is_first = match.groups()
    weight = _WEIGHT_BYTES.get(stored)
    sizes = _ACTIVATION_BYTES.get(out), _ACTIVATION_BYTES.get(taken)
    if weight is None or sizes[0] is None or sizes[1] is None:
        return None
    rows = routing.tokens * routing.chosen
    inner, columns = (
        (routing.width, 2 * routing.inner) if is_first else (routing.inner, routing.width)
    )
    read = routing.tokens * routing.width if is_first else rows * routing.inner
    written = rows * (routing.inner if is_first else routing.width)
    touched_experts = touched(
        routing.experts, routing.chosen, routing.tokens, round(inner * columns * weight)
    )
    name = "gate and up" if is_first else "down"
    return Grouped(
        label=f"experts {name} [{rows}x{inner}, {routing.experts} of {inner}x{columns}] {stored}",
        flop=2 * rows * inner * columns,
        moved_bytes=read * sizes[1] + written * sizes[0] + touched_experts.weight_bytes,
        touched=touched_experts,
    )


# ------------------------------------------------------------------------------- weights as inputs


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    """The arguments of experts in one call: hidden [R, D], w1 [E, N, D], w2 [E, D, F], ids [R, k].

    Packed weights have fewer elements along their last dimension.
    """

    hidden: Tensor
    up: Tensor
    down: Tensor
    choice: Tensor


def _given(inputs: Inputs) -> _Given | None:
    places = [inputs.tensor(at) for at in (_HIDDEN, _UP, _DOWN, _CHOICE)]
    hidden, up, down, choice = places
    if hidden is None or up is None or down is None or choice is None:
        return None
    if (len(hidden.shape), len(up.shape), len(down.shape), len(choice.shape)) != (2, 3, 3, 2):
        return None
    if not up.shape[0] or up.shape[0] != down.shape[0] or choice.shape[0] != hidden.shape[0]:
        return None
    return _Given(hidden=hidden, up=up, down=down, choice=choice)


def touched_by(inputs: Inputs) -> Touched | None:
    """Experts of a call whose weights are arguments; `None` for all others."""
    weights = _given(inputs) if known_as(inputs.operator) in _FUSED else None
    sizes = total_bytes((weights.up, weights.down)) if weights else None
    if weights is None or sizes is None:
        return None
    experts, (tokens, chosen) = weights.up.shape[0], weights.choice.shape
    return touched(experts, chosen, tokens, sizes // experts)


def _experts_flops(inputs: Inputs) -> int | None:
    """Both products of the tokens that are routed; gated experts have twice as many columns."""
    arguments = _given(inputs)
    if arguments is None:
        return None
    rows, width = arguments.choice.shape[0] * arguments.choice.shape[1], arguments.hidden.shape[1]
    columns = arguments.up.shape[1]
    is_packed = arguments.up.shape[2] != width
    inner = arguments.down.shape[2] * (width // max(arguments.up.shape[2], 1) if is_packed else 1)
    return (
        2 * rows * (columns * width + inner * width) if arguments.down.shape[1] == width else None
    )


def _experts_moved(inputs: Inputs) -> int | None:
    """Weights of the experts touched, tokens read and written; what lies between is not counted."""
    arguments, experts = _given(inputs), touched_by(inputs)
    if arguments is None or experts is None or arguments.hidden.size_bytes is None:
        return None
    return experts.weight_bytes + 2 * arguments.hidden.size_bytes


def _experts_weights(inputs: Inputs) -> int | None:
    experts = touched_by(inputs)
    return experts.weight_bytes if experts else None


def _experts_precision(inputs: Inputs) -> str:
    hidden = inputs.tensor(_HIDDEN)
    return hidden.dtype if hidden is not None else ""


EXPERTS = Family(
    names=_FUSED,
    flops=_experts_flops,
    moved=_experts_moved,
    precision=_experts_precision,
    weights=_experts_weights,
)
