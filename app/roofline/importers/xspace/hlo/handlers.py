"""What an instruction costs, by its opcode: products, convolutions, transforms, reductions and
elementwise arithmetic, library calls, collectives, moves and copies of data.

Also the message of an instruction between devices: kind, payload, and group.
"""

import json
import re
from math import gcd, prod

from roofline.importers.shared.kernel_names import NAN, Collective
from roofline.importers.xspace.hlo import hlo_pb2 as pb
from roofline.importers.xspace.hlo.module import (
    ELEMENTWISE,
    TUPLE,
    Instruction,
    Shape,
    group_size,
    group_size_of,
    iota_groups,
    listed_groups,
    run_by,
)
from roofline.importers.xspace.hlo.properties import (
    FLOP_PER_FMA,
    Costs,
    Handler,
    Properties,
    callee,
    elementwise_flop,
    f32,
    first_array,
    free,
    move,
)


def _reduce(model: Costs, instruction: Instruction, cost: Properties) -> None:
    """One call of the reducer less per result; initial values are read once per result element."""
    result = first_array(instruction.shape)
    inputs = len(instruction.operands) // 2
    applied = instruction.operands[0].shape.elements - result.elements
    cost.flop = f32(model.flop_of(callee(instruction)) * f32(applied))
    written = instruction.shape.leaf_bytes
    read = sum(int(cost.reads[k][()]) for k in range(inputs))
    initial = dict.fromkeys(range(inputs, len(instruction.operands)), result.bytes)
    cost.used.update(dict.fromkeys(initial, f32(result.elements)))
    move(cost, initial, written, written + read + sum(initial.values()))


def _reduce_window(model: Costs, instruction: Instruction, cost: Properties) -> None:
    dims = instruction.proto.window.dimensions
    window = prod(dim.size for dim in dims)
    result = first_array(instruction.shape)
    applied = (window - 1) * result.elements
    axis = _scan_axis(instruction)
    if axis is not None:
        extent = result.dimensions[axis]
        applied = result.elements // extent + extent - 1
    cost.flop = f32(model.flop_of(callee(instruction)) * f32(applied))


def _scan_axis(instruction: Instruction) -> int | None:
    """The dimension along which a window covers everything: a reduction broadcast back."""
    dims = list(instruction.proto.window.dimensions)
    wide = [k for k, dim in enumerate(dims) if dim.size != 1]
    padded = [dim for dim in dims if dim.padding_low or dim.padding_high]
    if len(wide) != 1 or len(padded) != 1 or not instruction.shape.is_array:
        return None
    dim, extent = dims[wide[0]], instruction.shape.dimensions[wide[0]]
    low = dim.padding_low
    whole = low > 0 and low == dim.padding_high and dim.size == 2 * low + 1 and low == extent - 1
    return wide[0] if whole else None


def _select_and_scatter(model: Costs, instruction: Instruction, cost: Properties) -> None:
    window = prod(dim.size for dim in instruction.proto.window.dimensions)
    sources = instruction.operands[1].shape.elements
    for computation, times in zip(
        instruction.called, (sources * (window - 1), sources), strict=False
    ):
        cost.flop = f32(cost.flop + f32(model.flop_of(computation) * f32(times)))


def _map(model: Costs, instruction: Instruction, cost: Properties) -> None:
    times = instruction.shape.elements
    cost.flop = f32(model.flop_of(callee(instruction)) * f32(times))


def _sort(model: Costs, instruction: Instruction, cost: Properties) -> None:
    count = instruction.operands[0].shape.elements
    cost.flop = f32(count * (count - 1).bit_length() if count > 0 else 0)


def _all_reduce(model: Costs, instruction: Instruction, cost: Properties) -> None:
    written = instruction.shape.leaf_bytes
    read = sum(operand.shape.bytes for operand in instruction.operands)
    cost.writes = {(): f32(written)}
    cost.bytes = f32(written + read)
    cost.flop = _collective_flop(instruction)


def _all_reduce_start(model: Costs, instruction: Instruction, cost: Properties) -> None:
    cost.bytes = f32(instruction.shape.leaf_bytes)
    cost.flop = _collective_flop(instruction)


def _collective_flop(instruction: Instruction) -> float:
    reducer = callee(instruction)
    return elementwise_flop(reducer.root.opcode, instruction.shape) if reducer else 0.0


def _all_gather(model: Costs, instruction: Instruction, cost: Properties) -> None:
    """Ring: each rank passes all shards but one on, and keeps all."""
    cost.bytes = _ring_bytes(instruction, results_of(instruction))


def _reduce_scatter(model: Costs, instruction: Instruction, cost: Properties) -> None:
    cost.bytes = _ring_bytes(instruction, [operand.shape for operand in instruction.operands])
    cost.flop = _collective_flop(instruction)


def results_of(instruction: Instruction) -> list[Shape]:
    """Arrays a collective makes; a `-start` instruction's tuple holds its operands first."""
    if instruction.opcode.endswith("-start") and instruction.shape.kind == TUPLE:
        return [leaf for index, leaf in instruction.shape.leaves() if index[0] != 0]
    return [leaf for _, leaf in instruction.shape.leaves()]


def _ring_bytes(instruction: Instruction, whole: list[Shape]) -> float:
    ranks = group_size(instruction)
    shard = sum(shape.bytes for shape in whole) // ranks
    return f32(shard * (3 * ranks - 1))


KINDS = {
    "all-reduce-scatter": "reduce-scatter",
    "all-reduce": "all-reduce",
    "all-gather": "all-gather",
    "reduce-scatter": "reduce-scatter",
    "ragged-all-to-all": "all-to-all",
    "all-to-all": "all-to-all",
    "collective-permute": "collective-permute",
    "collective-broadcast": "broadcast",
    "send": "send",
    "recv": "recv",
}
"""The names, in transfers, of collectives' opcodes without `-start` and `-done`."""

_HALF = re.compile(r"-(start|done|update)\Z")


def collective_of(instruction: Instruction) -> Collective | None:
    """The collective that `instruction` runs; `None` for any other instruction."""
    inner = run_by(instruction)
    kind = KINDS.get(_HALF.sub("", inner.opcode))
    if kind is None:
        return None
    return Collective(kind, _payload(kind, inner), group_size_of(inner.proto))


def fits_on_host(instruction: Instruction, n_devices: int) -> bool:
    """True where every group of a collective has its devices among the `n_devices` of one host.

    Hosts have devices with consecutive ids. Groups that are not listed must all fit.
    """
    proto = run_by(instruction).proto
    if (iota := iota_groups(proto)) is not None:
        return iota.num_devices_per_group * iota.num_replica_groups <= n_devices
    return group_size_of(proto) > 0 and all(
        len({k // n_devices for k in group.replica_ids}) <= 1 for group in listed_groups(proto)
    )


def _payload(kind: str, instruction: Instruction) -> float:
    """Bytes of the operands, or of the result of an all-gather; unknown for a done op."""
    if instruction.opcode.endswith("-done"):
        return NAN
    moved = results_of(instruction) if kind == "all-gather" else [
        operand.shape for operand in instruction.operands
    ]  # fmt: skip
    return float(sum(shape.leaf_bytes for shape in moved)) or NAN


_WARP_SIZE = 32
_CONCAT_FLOP, _UNEVEN_CONCAT_FLOP = 6, 400


def _tuple(model: Costs, instruction: Instruction, cost: Properties) -> None:
    free(model, instruction, cost)
    cost.bytes = f32(instruction.shape.bytes)
    cost.writes = {(): cost.bytes}


def _transpose(model: Costs, instruction: Instruction, cost: Properties) -> None:
    """Free where it only renames dimensions, which the layouts then say."""
    source, result = instruction.operands[0].shape, instruction.shape
    dims = list(instruction.proto.dimensions)
    if len(dims) != len(source.minor_to_major) or len(dims) != len(result.minor_to_major):
        return
    if source.kind == result.kind and source.minor_to_major == tuple(
        dims[k] for k in result.minor_to_major
    ):
        free(model, instruction, cost)


def _elementwise(model: Costs, instruction: Instruction, cost: Properties) -> None:
    cost.flop = elementwise_flop(instruction.opcode, instruction.shape)


def _infeed(model: Costs, instruction: Instruction, cost: Properties) -> None:
    leaves = {index: f32(leaf.bytes) for index, leaf in instruction.shape.leaves()}
    cost.bytes = f32(instruction.shape.leaf_bytes)
    cost.writes = {**leaves, (): cost.bytes}


def _outfeed(model: Costs, instruction: Instruction, cost: Properties) -> None:
    cost.bytes = 0.0
    for k, operand in enumerate(instruction.operands):
        leaves = {index: f32(leaf.bytes) for index, leaf in operand.shape.leaves()}
        cost.reads[k] = {**leaves, (): f32(operand.shape.leaf_bytes)}
        cost.bytes = f32(cost.bytes + cost.reads[k][()])


def _share(part: Shape, whole: Shape) -> float:
    return f32(part.elements / whole.elements) if whole.elements else 0.0


def _slice(model: Costs, instruction: Instruction, cost: Properties) -> None:
    size = instruction.shape.bytes
    move(cost, {0: size}, size, 2 * size)
    cost.used[0] = _share(instruction.shape, instruction.operands[0].shape)


def _pick(model: Costs, instruction: Instruction, cost: Properties) -> None:
    size, index = instruction.shape.bytes, instruction.operands[1].shape.bytes
    move(cost, {0: size, 1: index}, size, 2 * size + index)
    cost.used[0] = _share(instruction.shape, instruction.operands[0].shape)


def _dynamic_update_slice(model: Costs, instruction: Instruction, cost: Properties) -> None:
    update, index = (operand.shape.bytes for operand in instruction.operands[1:3])
    move(cost, {0: 0, 1: update, 2: index}, update, 2 * update + index)
    unchanged = instruction.shape.elements - instruction.operands[1].shape.elements
    cost.used[0] = (
        f32(unchanged / instruction.shape.elements) if instruction.shape.elements else 0.0
    )


def _scatter(model: Costs, instruction: Instruction, cost: Properties) -> None:
    """Reads updates and what they change, writes that back."""
    count = (len(instruction.operands) - 1) // 2
    updates = [operand.shape for operand in instruction.operands[count + 1 :]]
    index = instruction.operands[count].shape.bytes
    total = sum(shape.bytes for shape in updates)
    reads = {count: index}
    for k, shape in enumerate(updates):
        reads[k] = reads[count + 1 + k] = shape.bytes
    move(cost, reads, total, 3 * total + index)
    times = updates[0].elements if updates else 0
    cost.flop = f32(model.flop_of(callee(instruction)) * f32(times))


def _concatenate(model: Costs, instruction: Instruction, cost: Properties) -> None:
    """Warps that straddle two operands run both branches; XLA charges for that, by operand 0."""
    dimension = next(iter(instruction.proto.dimensions), 0)
    uneven = dimension > 0 and instruction.operands[0].shape.dimensions[dimension] % _WARP_SIZE
    each = _UNEVEN_CONCAT_FLOP if uneven else _CONCAT_FLOP
    cost.flop = f32(each * instruction.shape.all_elements)


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
    "reduce": _reduce,
    "reduce-window": _reduce_window,
    "select-and-scatter": _select_and_scatter,
    "map": _map,
    "sort": _sort,
    "all-reduce": _all_reduce,
    "all-reduce-start": _all_reduce_start,
    "all-gather": _all_gather,
    "all-gather-start": _all_gather,
    "reduce-scatter": _reduce_scatter,
    **dict.fromkeys(ELEMENTWISE, _elementwise),
    **dict.fromkeys(
        ("parameter", "constant", "get-tuple-element", "bitcast", "after-all", "add-dependency",
         "domain"), free,
    ),
    "tuple": _tuple,
    "transpose": _transpose,
    "infeed": _infeed,
    "outfeed": _outfeed,
    "async-start": free,
    "slice": _slice,
    "dynamic-slice": _pick,
    "dynamic-update-slice": _dynamic_update_slice,
    "gather": _pick,
    "scatter": _scatter,
    "concatenate": _concatenate,
    "dot": _dot,
    "convolution": _convolution,
    "fft": _fft,
    "triangular-solve": _triangular_solve,
    "cholesky": _cholesky,
    "custom-call": _custom_call,
}  # fmt: skip
