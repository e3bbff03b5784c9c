"""Compute units by precision, listed once: key, label and order; every flat roof is one of them."""

from enum import StrEnum


class Precision(StrEnum):
    """Number format of the operands a rate is quoted for. All rates are dense."""

    FP64 = "fp64"
    FP32 = "fp32"
    TF32 = "tf32"
    BF16 = "bf16"
    FP16 = "fp16"
    FP8 = "fp8"
    INT8 = "int8"
    FP4 = "fp4"
    INT4 = "int4"


class ComputeUnit(StrEnum):
    """One flat ceiling: the vector or the matrix unit (tensor core, MXU, MFMA) at one precision."""

    VECTOR_FP64 = "vector_fp64"
    VECTOR_FP32 = "vector_fp32"
    VECTOR_BF16 = "vector_bf16"
    VECTOR_FP16 = "vector_fp16"
    VECTOR_INT8 = "vector_int8"
    MATRIX_FP64 = "matrix_fp64"
    MATRIX_FP32 = "matrix_fp32"
    MATRIX_TF32 = "matrix_tf32"
    MATRIX_BF16 = "matrix_bf16"
    MATRIX_FP16 = "matrix_fp16"
    MATRIX_FP8 = "matrix_fp8"
    MATRIX_INT8 = "matrix_int8"
    MATRIX_FP4 = "matrix_fp4"
    MATRIX_INT4 = "matrix_int4"

    @property
    def precision(self) -> Precision:
        """The operands' format."""
        return Precision(self.value.partition("_")[2])

    @property
    def is_matrix(self) -> bool:
        """True for the matrix unit, false for the vector unit."""
        return self.value.startswith("matrix_")

    @property
    def label(self) -> str:
        """As shown where a device has no own word for its unit: "Matrix bf16"."""
        kind = "Matrix" if self.is_matrix else "Vector"
        return f"{kind} {self.precision.value}"


class UndecidedUnit(StrEnum):
    """The units of which one ran some work, where a profile does not tell which.

    Such work has a range of shares: from work ÷ the largest of their peaks to work ÷ the smallest.
    """

    FP64 = "fp64"
    FP32 = "fp32"
    FP32_OR_MATRIX = "fp32_or_matrix"
    FP32_OR_XF32 = "fp32_or_xf32"
    ANY = "any"

    @property
    def units(self) -> tuple[ComputeUnit, ...]:
        """The units that it may have been."""
        return _UNDECIDED[self]

    @staticmethod
    def of(units: frozenset[ComputeUnit]) -> "UndecidedUnit":
        """The entry with these units, `ANY` where there is none."""
        found = (one for one in UndecidedUnit if frozenset(one.units) == units)
        return next(found, UndecidedUnit.ANY)


_UNDECIDED = {
    UndecidedUnit.FP64: (ComputeUnit.VECTOR_FP64, ComputeUnit.MATRIX_FP64),
    UndecidedUnit.FP32: (ComputeUnit.VECTOR_FP32, ComputeUnit.MATRIX_TF32),
    UndecidedUnit.FP32_OR_MATRIX: (ComputeUnit.VECTOR_FP32, ComputeUnit.MATRIX_FP32),
    UndecidedUnit.FP32_OR_XF32: (
        ComputeUnit.VECTOR_FP32,
        ComputeUnit.MATRIX_FP32,
        ComputeUnit.MATRIX_TF32,
    ),
    UndecidedUnit.ANY: tuple(ComputeUnit),
}
