"""Costs of matrix products, convolutions, transforms and the library calls for them."""

import json
from math import gcd, prod

from roofline.importers.xspace.hlo import hlo_pb2 as pb
from roofline.importers.xspace.hlo.module import TUPLE, Instruction, Shape
from roofline.importers.xspace.hlo.properties import (
    FLOP_PER_FMA,
    Costs,
    Handler,
    Properties,
    f32,
    first_array,
    move,
)

_UNKNOWN = -1.0
# More than any program has along one dimension; a damaged one may claim it.
_MAX_TAPS = 1 << 16
# Complex multiplication in an FFT butterfly, in FMAs.
_FMA_PER_COMPLEX_MULTIPLY = 4


def _dot(model: Costs, instruction: Instruction, cost: Properties) -> None:
    contracted = instruction.proto.dot_dimensions.lhs_contracting_dimensions
    cost.flop = _dot_flop(instruction.operands[0].shape, instruction.shape, list(contracted))


def _dot_flop(left: Shape, result: Shape, contracted: list[int]) -> float:
    width = prod(left.dimensions[k] for k in contracted if k < len(left.dimensions))
    return f32(FLOP_PER_FMA * result.elements * width)


def _convolution(model: Costs, instruction: Instruction, cost: Properties) -> None:
    cost.flop = _convolution_flop(instruction, instruction.shape)


def _convolution_flop(instruction: Instruction, result: Shape) -> float:
    """FMAs whose input lies inside the unpadded, undilated input."""
    proto, dims = instruction.proto, instruction.proto.convolution_dimensions
    left, kernel = (operand.shape.dimensions for operand in instruction.operands[:2])
    positions = 1
    for k, window in enumerate(proto.window.dimensions):
        positions *= _valid_positions(
            window,
            taps=kernel[dims.kernel_spatial_dimensions[k]],
            inputs=left[dims.input_spatial_dimensions[k]],
            outputs=result.dimensions[dims.output_spatial_dimensions[k]],
        )
    features = left[dims.input_feature_dimension] // max(1, proto.feature_group_count)
    batch = left[dims.input_batch_dimension] // max(1, proto.batch_group_count)
    channels = result.dimensions[dims.output_feature_dimension]
    return f32(FLOP_PER_FMA * features * channels * batch * positions)


def _valid_positions(window: pb.WindowDimension, *, taps: int, inputs: int, outputs: int) -> int:
    """(kernel tap, output) pairs along one dimension that meet an input element.

    Output o and tap t meet input (o × stride - padding + t × dilation) / spread if that is whole
    and inside; the outputs that do are every `period`-th one of a range.
    """
    if taps > _MAX_TAPS:
        raise ValueError(f"a kernel of {taps} taps")
    stride, dilation = max(1, window.stride), max(1, window.window_dilation)
    spread = max(1, window.base_dilation)
    common = gcd(stride, spread)
    period = spread // common
    count = 0
    for tap in range(taps):
        offset = window.padding_low - tap * dilation
        if offset % common:
            continue
        first = (offset // common) * pow(stride // common, -1, period) % period
        low = max(0, -(-offset // stride))
        high = min(outputs - 1, ((inputs - 1) * spread + offset) // stride)
        low += (first - low) % period
        count += max(0, (high - low) // period + 1)
    return count


def _fft(model: Costs, instruction: Instruction, cost: Properties) -> None:
    lengths = [max(1, length) for length in instruction.proto.fft_length]
    stages = prod(length.bit_length() - 1 for length in lengths)
    elements = first_array(instruction.operands[0].shape).elements
    cost.flop = f32(FLOP_PER_FMA * _FMA_PER_COMPLEX_MULTIPLY * stages * elements)


def _triangular_solve(model: Costs, instruction: Instruction, cost: Properties) -> None:
    """Half of the matrix is read; n² / 2 FMAs per right-hand side."""
    matrix, right = (operand.shape for operand in instruction.operands[:2])
    total = instruction.shape.bytes + matrix.bytes / 2 + right.bytes
    # XLA files the right-hand side under the matrix, and leaves its own entry alone.
    move(cost, {0: right.bytes}, instruction.shape.bytes, total)
    cost.flop = f32(FLOP_PER_FMA * matrix.dimensions[-1] * right.elements)


def _cholesky(model: Costs, instruction: Instruction, cost: Properties) -> None:
    """Half of the matrix is read, half written; n³ / 3 FLOPs."""
    matrix = instruction.operands[0].shape
    move(cost, {0: matrix.bytes / 2}, matrix.bytes / 2, matrix.bytes)
    cost.flop = f32(matrix.dimensions[-1] * matrix.elements // 3)


def is_cublas_lt(instruction: Instruction) -> bool:
    """True for a matrix product by cublasLt."""
    return instruction.custom_call_target.startswith("__cublas$lt$matmul")


def _custom_call(model: Costs, instruction: Instruction, cost: Properties) -> None:
    target = instruction.custom_call_target
    result = first_array(instruction.shape)
    knows_gemm = target == _CUBLAS_GEMM and not model.oddities.misses_cublas_gemm
    if is_cublas_lt(instruction) or knows_gemm:
        left = instruction.operands[0].shape
        cost.flop = _dot_flop(left, result, _contracted_by_config(instruction))
    elif target in _CONVOLUTION_TARGETS:
        cost.flop = _convolution_flop(instruction, result)
    else:
        move(cost, dict.fromkeys(range(len(instruction.operands)), _UNKNOWN), _UNKNOWN, _UNKNOWN)
        cost.flop = _UNKNOWN
        return
    if instruction.shape.kind == TUPLE:
        # The rest of the tuple is scratch memory, not useful traffic.
        cost.bytes = f32(f32(cost.bytes - cost.writes[()]) + f32(result.bytes))
        cost.writes = {(): f32(result.bytes)}


_CUBLAS_GEMM = "__cublas$gemm"
_CONVOLUTION_TARGETS = frozenset(
    f"__cudnn$conv{kind}"
    for kind in (
        "Forward",
        "ForwardGraph",
        "BackwardInput",
        "BackwardFilter",
        "BiasActivationForward",
    )
)


def _contracted_by_config(instruction: Instruction) -> list[int]:
    """Contracting dimensions of the left operand from a library call's configuration (JSON)."""
    try:
        config = json.loads(instruction.proto.backend_config)
        numbers = config["gemm_backend_config"]["dot_dimension_numbers"]
        return [int(k) for k in numbers.get("lhs_contracting_dimensions", [])]
    except (ValueError, KeyError, TypeError, AttributeError):
        return []


HANDLERS: dict[str, Handler] = {
    "dot": _dot,
    "convolution": _convolution,
    "fft": _fft,
    "triangular-solve": _triangular_solve,
    "cholesky": _cholesky,
    "custom-call": _custom_call,
}
