"""Which compute unit runs an HLO instruction, as far as its types tell.

Matrix products and convolutions of GPUs are left to the device's main peak, which XProf takes from
the matrix unit at 16 bits: whether 32-bit ones run there too (TF32) is not in the program.
"""

from collections.abc import Sequence

import numpy as np

from roofline.importers.xspace.hlo.module import Instruction
from roofline.model.compute import ComputeUnit
from roofline.model.op_columns import U64

VECTOR_UNITS = (ComputeUnit.VECTOR_FP64, ComputeUnit.VECTOR_FP32)
_MATRIX_OPCODES = frozenset({"dot", "convolution", "custom-call"})
_VECTOR = {
    "f64": ComputeUnit.VECTOR_FP64,
    "c128": ComputeUnit.VECTOR_FP64,
    "f32": ComputeUnit.VECTOR_FP32,
    "c64": ComputeUnit.VECTOR_FP32,
    # Narrow elementwise arithmetic is widened to 32 bits by the code generators.
    "bf16": ComputeUnit.VECTOR_FP32,
    "f16": ComputeUnit.VECTOR_FP32,
}


def unit_on_gpu(instruction: Instruction) -> ComputeUnit | None:
    """The vector unit for elementwise work and reductions; `None` for the main peak."""
    return None if _has_matrix_work(instruction) else _vector_unit(instruction)


def unit_on_cpu(instruction: Instruction) -> ComputeUnit | None:
    """The vector unit at the operands' precision: a CPU does its matrix products there, too."""
    return _vector_unit(instruction)


def _vector_unit(instruction: Instruction) -> ComputeUnit | None:
    shapes = (*(operand.shape for operand in instruction.operands), instruction.shape)
    kinds = {leaf.kind for shape in shapes for _, leaf in shape.leaves()}
    units = {unit for kind in kinds if (unit := _VECTOR.get(kind)) is not None}
    # Work on several precisions at once cannot be told apart.
    return units.pop() if len(units) == 1 else None


def _has_matrix_work(instruction: Instruction) -> bool:
    return instruction.opcode in _MATRIX_OPCODES or any(
        inner.opcode in _MATRIX_OPCODES or _has_matrix_work(inner)
        for body in instruction.called
        for inner in body.instructions
    )


def split_by_unit(units: Sequence[ComputeUnit | None], flop: U64) -> dict[ComputeUnit, U64]:
    """FLOPs of rows (`units`: each row's unit) as one column per unit that occurs."""
    identity = np.fromiter(map(id, units), np.int64, len(units))
    masks = {unit: identity == id(unit) for unit in ComputeUnit}
    return {unit: np.where(at, flop, np.uint64(0)) for unit, at in masks.items() if at.any()}
