"""Matrix products: FLOPs and bytes from the shapes of their factors.

A multiply-add is two FLOPs. Places are those of the operators' schemas: PyTorch's
`native_functions.yaml`, and the bindings of vLLM, SGLang and aiter. Quantised weights count with
the bytes in which they are stored.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from roofline.importers.pytorch.inputs import (
    PACKED_FP4,
    Family,
    Inputs,
    Tensor,
    known_as,
    total_bytes,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Product:
    """Places of a product's factors, and how they and the result are stored.

    `is_transposed`: the right factor is [n, k]. `inner` and `columns` numbers lie in one element
    of the factors along k, and of the right factor along n. `result` is the place of a tensor that
    receives the result; `result_type` are places where a number names its element type;
    `result_item` its bytes per element, else those of the left factor's.
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
_ADDED = _Product(left=1, right=2)
_TRANSPOSED = _Product(is_transposed=True)
_INTO = _Product(left=1, right=2, result=0)
_INTO_FP4 = _Product(left=1, right=2, result=0, is_transposed=True, inner=2)
_TYPED = _Product(result_type=(4,))

_PRODUCTS = {
    **dict.fromkeys(("mm", "bmm", "mv", "dot", "vdot"), _PLAIN),
    **dict.fromkeys(("addmm", "addmm_", "baddbmm", "baddbmm_", "_addmm_activation"), _ADDED),
    "addmv": _ADDED,
    "_int_mm": _Product(result_item=4),
    "_scaled_mm": _Product(result=8, result_type=(6, 3)),  # torch 2.1 has the type at 3
    **dict.fromkeys(("_grouped_mm", "_scaled_grouped_mm", "_scaled_mm_v2"), _PLAIN),
    "_weight_int8pack_mm": _TRANSPOSED,
    **dict.fromkeys(("_C::cutlass_scaled_mm", "_C::cutlass_scaled_mm_azp"), _INTO),
    **dict.fromkeys(("_C::cutlass_scaled_fp4_mm", "sgl_kernel::cutlass_scaled_fp4_mm"), _INTO_FP4),
    **dict.fromkeys(
        (
            "sgl_kernel::fp8_scaled_mm",
            "sgl_kernel::int8_scaled_mm",
            "sgl_kernel::fp8_blockwise_scaled_mm",
        ),
        _TYPED,
    ),
    **dict.fromkeys(
        (
            "vllm::rocm_unquantized_gemm",
            "_rocm_C::wvSplitK",
            "_rocm_C::LLMM1",
        ),
        _TRANSPOSED,
    ),
    "aiter::gemm_a16w16": _Product(is_transposed=True, result_type=(3,)),
    "_C::awq_gemm": _Product(columns=8),
}
# Which groups of weights are read depends on the tokens; or the types of scales are not recorded.
_BYTES_UNKNOWN = frozenset({"_grouped_mm", "_scaled_grouped_mm", "_scaled_mm_v2"})

# Products that state m, n and k as plain numbers, because their weights are packed.
_STATED = frozenset(
    {
        "_C::gptq_marlin_gemm",
        "_C::marlin_gemm",
        "_C::marlin_qqq_gemm",
        "sgl_kernel::gptq_marlin_gemm",
    }
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
