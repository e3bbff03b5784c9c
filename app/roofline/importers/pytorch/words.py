"""What names tell of operators and kernels: their category, and the compute unit that ran them.

The unit is that of a matrix product, a convolution or attention. Device and element type decide
first: a part has one unit for most types. Where it has two, the name of the kernel may tell, then
an argument of the operator. Otherwise the unit stays undecided, and the work has a range. Names:
cuBLAS, cuDNN and CUTLASS (`s1688`, `sgemm`, `simt`), Tensile (`Cijk_…_SB_`, `MI16x16`: with the
matrix unit). Units by part: CUDA C++ Programming Guide (arithmetic throughput by compute
capability), AMD CDNA instruction set references.
"""

import re
from collections.abc import Iterable, Mapping

from roofline.importers.pytorch import attention, convolutions
from roofline.importers.pytorch.inputs import known_as
from roofline.importers.pytorch.rows import Unit
from roofline.importers.pytorch.vector_work import is_generated
from roofline.importers.shared.kernel_names import NORM, first_match, kernel_category
from roofline.model.compute import ComputeUnit, Precision, UndecidedUnit

_OPERATOR_CATEGORIES = (
    ("communication", r"nccl|rccl|c10d|record_param_comms|all_?reduce|all_?gather|reduce_scatter"),
    ("key-value cache", r"reshape_and_cache|store_cache|and_cache_mla|kv_cache|kv_buffer"),
    ("attention", r"attention|attn"),
    ("mixture of experts", r"(^|_)moe(_|$)|experts"),
    ("optimizer", r"_fused_(adam|sgd|adagrad|lion)|_foreach_|multi_tensor|optimizer"),
    ("convolution", r"conv"),
    (
        "matmul",
        r"(^|_)(mm|bmm|addmm|baddbmm|addmv|mv|dot|vdot|matmul|linear)(_|$)|(?<!fb)gemm|cijk_",
    ),
    ("random numbers", r"^(rand|bernoulli|(normal|uniform|exponential)_?$)"),
    ("normalisation", NORM),
    ("embedding", r"embedding|index_select|lookupfunction"),
    ("pooling", r"pool"),
    ("softmax", r"softmax|cross_entropy|nll_loss"),
    ("sort", r"sort|topk|unique"),
    ("indexing", r"index|gather|scatter|masked_select|nonzero|bincount"),
    ("reduction", r"^(sum|mean|max|min|amax|amin|argmax|argmin|std|var|prod|any|all|cumsum)"),
    ("copy", r"copy|^clone|contiguous|^cat$|^stack$|^fill_|^zero_|memcpy|memset|transpose"),
    ("fused (Inductor)", r"^triton_"),
    (
        "elementwise",
        r"^(add|sub|rsub|mul|div|relu|gelu|silu|sigmoid|tanh|exp|log|sqrt|rsqrt|pow|neg|abs|clamp"
        r"|where|threshold|native_dropout|masked_fill|lerp|addc)",
    ),
)


def operator_category(operator: str, kernel: str) -> str:
    """Category of an operator, of its longest kernel where the operator's name says nothing."""
    known, name = known_as(operator), operator.rpartition("::")[2].lower()
    if operator.startswith("c10d::"):
        return "communication"
    if known in convolutions.FAMILY.names:
        return "convolution"
    if known in attention.FAMILY.names:
        return "attention"
    found = first_match(_OPERATOR_CATEGORIES, name) or kernel_category(kernel)
    # A generated kernel that names a product is what follows the product.
    follows = found in {"matmul", "convolution"} and is_generated(operator)
    return "fused (Inductor)" if follows else found


# Words around compiled code that say nothing about it.
_REGIONS = re.compile(
    r"Torch-Compiled Region|CompiledFunction(?:Backward)?\d*\Z|(?:## )?Call CompiledFxGraph"
    r"|Pregraph bytecode|AOTDispatcher Runtime Wrapper|TorchDynamo Cache Lookup"
    r"|autograd::engine::evaluate_function: CompiledFunction"
)


def is_region(operator: str) -> bool:
    """True for what only encloses compiled code: kernels inside are told apart by their names."""
    return _REGIONS.match(operator) is not None


_HELPERS = frozenset(
    {"copy", "elementwise", "random numbers", "reduction", "indexing", "sort", "communication"}
)


def may_compute(kernel: str) -> bool:
    """True unless a kernel's name says that it only moves or combines elements."""
    return kernel_category(kernel) not in _HELPERS


Matrix = frozenset[Precision]

# The first compute capability whose matrix unit has a type.
_SINCE = {
    Precision.FP16: 70,
    Precision.INT8: 75,
    Precision.BF16: 80,
    Precision.TF32: 80,
    Precision.FP8: 89,
    Precision.FP4: 100,
}
_WITH_FP64 = frozenset({80, 90, 100, 103})
_CDNA = frozenset({Precision.FP32, Precision.FP16, Precision.BF16, Precision.INT8})
_CDNA2 = _CDNA | {Precision.FP64}
_CDNA3 = _CDNA2 | {Precision.TF32, Precision.FP8}
_CDNA4 = _CDNA2 | {Precision.FP8, Precision.FP4}
_GFX = {"908": _CDNA, "90a": _CDNA2, "940": _CDNA3, "941": _CDNA3, "942": _CDNA3, "950": _CDNA4}
_CUDA = re.compile(r"sm_(\d+)")
_AMD = re.compile(r"gfx([0-9a-f]+)")
_TENSILE_ISA = re.compile(r"_ISA([0-9a-f]{3})_")
_INSTINCT = (("MI100", "908"), (r"MI2\d\dX?", "90a"), (r"MI3[02]\d[AX]", "942"), ("MI35", "950"))
# All that a part may have, where it is not known which one it is.
_EVERY: Matrix = frozenset(Precision)


def matrix_precisions(architecture: str, name: str, kernels: Iterable[str]) -> Matrix:
    """The types that the device's matrix unit has; all where the file does not tell the part.

    `architecture` is "sm_80" or "gfx942", `name` the device's; Tensile's `kernels` tell AMD's.
    """
    capability, gfx = _CUDA.match(architecture), _AMD.match(architecture)
    if capability:
        number = int(capability.group(1))
        precisions = {kind for kind, since in _SINCE.items() if number >= since}
        return frozenset(precisions | ({Precision.FP64} if number in _WITH_FP64 else set()))
    names = [gfx.group(1)] if gfx else [isa for model, isa in _INSTINCT if re.search(model, name)]
    names += [isa.group(1) for kernel in kernels if (isa := _TENSILE_ISA.search(kernel))]
    return next((_GFX[part] for part in names if part in _GFX), _EVERY)


_TENSILE = re.compile(r"Cijk_[A-Za-z]+_[A-Za-z]+_([A-Z0-9]+)_")
_TENSILE_TYPES = {
    "I8": Precision.INT8,
    "F8": Precision.FP8,
    "B8": Precision.FP8,
    "B": Precision.BF16,
    "H": Precision.FP16,
    "S": Precision.FP32,
    "D": Precision.FP64,
}
_TENSILE_MATRIX = re.compile(r"_MI(?!1x1x)\d+x\d+x\d+")
_TENSILE_XF32 = re.compile(r"_MX_|xf32", re.I)
_VECTOR = re.compile(
    r"simt|sgemm|dgemm|ffma|f32f32_f32f32|gemv|dot_kernel|fft|\A(?>.*?winograd).*fp32", re.I
)
_MATRIX = {
    Precision.FP32: re.compile(r"tf32|xf32|\A(?>.*s1688)(?!.*f16)|s884gemm_fp32", re.I),
    Precision.FP64: re.compile(r"tensorop_d|d884|dmma", re.I),
}
# cuBLAS and cuDNN convert fp32 to fp16 for the tensor cores of Volta and Turing.
_CONVERTED = re.compile(r"[sh]884", re.I)
_SUMS = re.compile(r"gemv|dot_kernel|(?<!splitk)reduce", re.I)
# Kernels that follow or prepare another one, which did the work.
_SECONDARY = re.compile(r"splitkreduce|computeoffsets|epilogue::impl", re.I)
_TYPE_IN_NAME = ((re.compile(r"sgemm", re.I), "fp32"), (re.compile("dgemm", re.I), "fp64"))
_IN_MATRIX = {Precision.FP32: (Precision.FP32, Precision.TF32)}
_IN_VECTOR = {Precision.BF16: ComputeUnit.VECTOR_FP32}


def unit_of(dtype: str, kernel: str, matrix: Matrix, *, tf32: bool = True) -> Unit:
    """The unit on which work on inputs of `dtype` ran, or those that it may have been.

    `matrix` are the types of the part's matrix unit; `tf32` is false where the program forbids it.
    """
    types = _TENSILE.search(kernel)
    if types:
        return _tensile_unit(types.group(1), kernel)
    word = dtype or next((word for of, word in _TYPE_IN_NAME if of.search(kernel)), "")
    if word not in set(Precision):
        return UndecidedUnit.ANY
    precision = Precision(word)
    units = _candidates(precision, matrix if tf32 else matrix - {Precision.TF32})
    if precision in _MATRIX:
        units = _named(precision, kernel, units, matrix)
    elif "simt" in kernel:
        return UndecidedUnit.ANY  # on the vector unit, at a precision that the name does not tell
    elif _SUMS.search(kernel):
        return ComputeUnit.VECTOR_FP32
    return next(iter(units)) if len(units) == 1 else UndecidedUnit.of(units)


def working_kernel(kernels: Mapping[str, tuple[int, int]]) -> str:
    """The kernel that did the work: the longest of those that do not only help another one.

    `kernels` holds count and time per name.
    """
    return max(
        kernels, key=lambda name: (not _SECONDARY.search(name), kernels[name][1]), default=""
    )


def _candidates(precision: Precision, matrix: Matrix) -> frozenset[ComputeUnit]:
    """The units of the part that take inputs of this type: of narrow types the matrix unit."""
    inside = _IN_MATRIX.get(precision, (precision,))
    units = {ComputeUnit(f"matrix_{kind.value}") for kind in inside if kind in matrix}
    if units and precision not in _MATRIX:
        return frozenset(units)
    name = f"vector_{precision.value}"
    vector = _IN_VECTOR.get(precision) or (ComputeUnit(name) if name in set(ComputeUnit) else None)
    return frozenset(units | {vector} if vector else units)


def _named(
    precision: Precision, kernel: str, units: frozenset[ComputeUnit], matrix: Matrix
) -> frozenset[ComputeUnit]:
    """Those of `units` that the kernel's name leaves; of fp32 and fp64 there may be two."""
    fast = units & {ComputeUnit.MATRIX_TF32, ComputeUnit.MATRIX_FP64}
    if fast and _MATRIX[precision].search(kernel):
        return fast
    is_older = precision is Precision.FP32 and Precision.TF32 not in matrix
    if is_older and Precision.FP16 in matrix and _CONVERTED.search(kernel):
        return frozenset({ComputeUnit.MATRIX_FP16})
    if _VECTOR.search(kernel):
        return frozenset(unit for unit in units if not unit.is_matrix)
    return units


def _tensile_unit(types: str, kernel: str) -> Unit:
    precision = next((of for word, of in _TENSILE_TYPES.items() if types.startswith(word)), None)
    if precision is None:
        return UndecidedUnit.ANY
    if not _TENSILE_MATRIX.search(kernel):
        name = f"vector_{precision.value}"
        return ComputeUnit(name) if precision in _MATRIX else UndecidedUnit.ANY
    if precision is Precision.FP32 and _TENSILE_XF32.search(kernel):
        return ComputeUnit.MATRIX_TF32
    return ComputeUnit(f"matrix_{precision.value}")
