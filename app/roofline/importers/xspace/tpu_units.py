"""Which unit of a TensorCore does the FLOPs of an op: its matrix unit, or its vector unit.

Products and convolutions run on the matrix unit (MXU), at the precision of their operands. Those of
32 bits are done in passes of bf16: one, unless the program asks for more. Elementwise work and
reductions run on the vector unit, whose lanes have 32 bits. Opcode and element types decide, as the
op's text or its program has them. Where neither tells, the unit stays unknown: a category alone is
not enough, a custom call may use both, and a collective is bound by its link.
"""

from collections.abc import Iterable, Iterator, Mapping

from roofline.importers.shared.hlo_text import Instruction
from roofline.importers.xspace.hlo.module import ELEMENTWISE
from roofline.model.compute import ComputeUnit

PRODUCTS = ("convolution", "dot")
"""How opcodes and categories of work for the matrix unit begin."""

_REDUCTIONS = frozenset({"reduce", "reduce-window", "select-and-scatter", "scatter", "map", "sort"})
# Fusions of loops and reductions hold no product: XLA's compiler for TPUs makes output fusions of
# those, and puts them into a category of their own.
_VECTOR_FUSIONS = frozenset({"kLoop", "kInput"})
_WIDE = frozenset({"f64", "c128"})
# Element types of operands, and the matrix unit's precision for them. Of types that are not listed,
# such as indices and masks, a product has none.
_MATRIX: Mapping[str, ComputeUnit] = {
    "bf16": ComputeUnit.MATRIX_BF16,
    "f32": ComputeUnit.MATRIX_BF16,
    "f16": ComputeUnit.MATRIX_FP16,
    "s8": ComputeUnit.MATRIX_INT8,
    "u8": ComputeUnit.MATRIX_INT8,
    "s4": ComputeUnit.MATRIX_INT4,
    "u4": ComputeUnit.MATRIX_INT4,
}
_FP8, _FP4 = "f8", "f4"


def unit_by_text(category: str, found: Instruction) -> ComputeUnit | None:
    """The unit by the opcode and the element types in the op's own text."""
    if category.lower().startswith(PRODUCTS):
        # Scalars are factors and offsets: a product has operands with extents.
        types = [shape.dtype for shape in found.operands if shape.rank > 0]
        return matrix_unit(types, precision=found.precision)
    is_fusion = found.opcode == "fusion" and found.fusion_kind in _VECTOR_FUSIONS
    if is_fusion or found.opcode in ELEMENTWISE or found.opcode in _REDUCTIONS:
        return vector_unit(shape.dtype for shape in (*found.operands, *found.results))
    return None


def vector_unit(types: Iterable[str]) -> ComputeUnit | None:
    """The vector unit at 32 bits, to which narrower types are widened; `None` for wider ones."""
    return None if _WIDE.intersection(types) else ComputeUnit.VECTOR_FP32


def matrix_unit(types: Iterable[str], *, precision: str = "") -> ComputeUnit | None:
    """The matrix unit at the precision of operands of `types`; `None` where these differ.

    `precision` is what the program asks for, "" the default. Beyond it, products of 32 bits take
    three or six passes, for which there is no published peak.
    """
    kinds = list(types)
    if "f32" in kinds and precision:
        return ComputeUnit.MATRIX_FP32
    found = set(_units(kinds))
    return found.pop() if len(found) == 1 else None


def _units(types: Iterable[str]) -> Iterator[ComputeUnit]:
    for kind in types:
        if kind.startswith(_FP8):
            yield ComputeUnit.MATRIX_FP8
        elif kind.startswith(_FP4):
            yield ComputeUnit.MATRIX_FP4
        elif kind in _MATRIX:
            yield _MATRIX[kind]
