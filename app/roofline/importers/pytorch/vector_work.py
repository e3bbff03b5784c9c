"""FLOPs of vector operators: what their definitions need at least, from shapes and types.

An addition, a product, a quotient and a function (`exp`, `sqrt`, `tanh`) are one FLOP each, a fused
multiply-add is two. Comparisons, selections, changes of sign, conversions and copies are none, and
neither is arithmetic of integers. Random numbers have no formula: what a generator needs is its own
choice. How many instructions a function takes differs by device and by library: every entry has the
factor by which its FLOPs may be more.
"""

import math
from dataclasses import dataclass
from enum import Enum

from roofline.importers.pytorch.inputs import Inputs, broadcast_shape

# Factors: of additions and products, of softmax and normalisation, of functions.
EXACT, NORMALISED, FUNCTION = 1, 3, 8
_COMPLEX = "complex"


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


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


def _entries(
    flop: int,
    names: str,
    factor: int = EXACT,
    counted: Counted = Counted.OUTPUT,
    affine: tuple[int, ...] = (),
) -> dict[str, Entry]:
    return dict.fromkeys(words(names), Entry(flop, factor, counted, affine))


FLOATS = words("fp64 fp32 fp16 bf16 fp8 fp4")
_TRAINED = words("native_batch_norm _native_batch_norm_legit")
_INPUT, _HALF = Counted.INPUT, Counted.HALF
# PyTorch's operators without `aten::` and without the mark of working in place.
_ENTRIES: dict[str, Entry] = {
    **_entries(
        0,
        "abs neg sign sgn positive relu relu6 hardtanh clamp clamp_min clamp_max threshold"
        " threshold_backward hardtanh_backward maximum minimum fmax fmin copysign heaviside"
        " round trunc floor ceil nan_to_num conj_physical bitwise_not bitwise_and bitwise_or"
        " bitwise_xor eq ne lt le gt ge isnan isinf isfinite isneginf isposinf logical_and"
        " logical_or logical_xor logical_not signbit where masked_fill max min amax amin aminmax"
        " argmax argmin any all topk kthvalue sort count_nonzero max_pool2d_with_indices"
        " max_pool3d_with_indices adaptive_max_pool2d max_pool2d_with_indices_backward"
        " max_pool3d_with_indices_backward arange cat stack upsample_nearest2d copy zero",
    ),
    **_entries(1, "add sub rsub mul square prelu native_dropout_backward masked_scale"),
    **_entries(
        1,
        "div true_divide floor_divide fmod remainder pow sqrt rsqrt exp exp2 expm1 log log2 log10"
        " log1p sin cos tan asin acos atan atan2 sinh cosh tanh erf erfc erfinv reciprocal",
        FUNCTION,
    ),
    **_entries(2, "lerp addcmul mse_loss_backward tanh_backward sigmoid_backward hardswish"),
    **_entries(2, "addcdiv softplus elu celu selu", FUNCTION),
    **_entries(3, "sigmoid logit", FUNCTION),
    **_entries(4, "silu gelu mish", FUNCTION),
    **_entries(5, "silu_backward", FUNCTION),
    **_entries(6, "gelu_backward", FUNCTION),
    **_entries(
        1,
        "sum nansum mean nanmean prod cumsum _cumsum cumprod _cumprod avg_pool2d avg_pool3d"
        " _adaptive_avg_pool2d _adaptive_avg_pool3d native_dropout",
        counted=_INPUT,
    ),
    **_entries(2, "norm linalg_vector_norm std var std_mean var_mean mse_loss", counted=_INPUT),
    **_entries(2, "logsumexp", FUNCTION, _INPUT),
    **_entries(4, "_softmax _log_softmax", NORMALISED, _INPUT),
    **_entries(3, "_softmax_backward_data _log_softmax_backward_data", NORMALISED, _INPUT),
    **_entries(5, "native_layer_norm", NORMALISED, _INPUT, (2, 3)),
    **_entries(
        5, "native_group_norm cudnn_batch_norm miopen_batch_norm", NORMALISED, _INPUT, (1, 2)
    ),
    # An evaluation only scales and shifts; see `_each` for training.
    **_entries(2, "native_batch_norm _native_batch_norm_legit", NORMALISED, _INPUT),
    **_entries(3, "_fused_rms_norm", NORMALISED, _INPUT, (2,)),
    **_entries(
        7,
        "native_layer_norm_backward native_group_norm_backward native_batch_norm_backward"
        " cudnn_batch_norm_backward miopen_batch_norm_backward batch_norm_backward"
        " _fused_rms_norm_backward",
        NORMALISED,
        _INPUT,
    ),
    **_entries(7, "upsample_bilinear2d", counted=Counted.RESIZED),
    **_entries(31, "upsample_bicubic2d", counted=Counted.RESIZED),
    **_entries(2, "_fused_sgd", EXACT, Counted.PARAMETERS),
    **_entries(10, "_fused_adam _fused_adamw", FUNCTION, Counted.PARAMETERS),
}
_GATED = "silu_and_mul gelu_and_mul gelu_tanh_and_mul mul_and_silu swigluoai_and_mul"
# Operators of the libraries that serve language models, without the library's name.
_LIBRARY: dict[str, Entry] = {
    **_entries(5, f"{_GATED} silu_and_mul_quant", FUNCTION, _HALF),
    **_entries(1, "fatrelu_and_mul", counted=_HALF),
    **_entries(4, "gelu_new gelu_fast gelu_quick", FUNCTION, _INPUT),
    **_entries(4, "rms_norm rmsnorm gemma_rmsnorm rms_norm_static_fp8_quant", NORMALISED, _INPUT),
    **_entries(
        5,
        "fused_add_rms_norm fused_add_rmsnorm gemma_fused_add_rmsnorm add_rmsnorm"
        " rmsnorm2d_fwd_with_add_ck",
        NORMALISED,
        _INPUT,
    ),
    **_entries(7, "_groupnorm_run", NORMALISED, _INPUT),
    **_entries(
        1,
        "static_scaled_fp8_quant dynamic_scaled_fp8_quant dynamic_per_token_scaled_fp8_quant"
        " static_scaled_int8_quant dynamic_scaled_int8_quant sgl_per_token_group_quant_fp8"
        " sgl_per_token_group_quant_int8 sgl_per_tensor_quant_fp8 sgl_per_token_quant_fp8",
        EXACT,
        _INPUT,
    ),
}
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
