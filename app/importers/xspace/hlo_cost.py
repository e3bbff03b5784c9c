"""FLOPs and bytes of HLO instructions: XLA's cost analysis for GPUs as XProf 2.24.2 runs it.

Structure after XLA's HloCostAnalysis (openxla/xla, xla/service): every instruction starts from the
default cost (no FLOPs; operands read, result written) and its opcode changes that. Properties are
32-bit floats there, so sums round here too; integers come out by truncation. Measured against
XProf on programs compiled for CPU and written by hand for GPU (tests/golden/hlo).
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil, gcd, prod
from struct import Struct

from app.importers.xspace import hlo_pb2 as pb
from app.importers.xspace.hlo_flops import flop_per_element
from app.importers.xspace.hlo_module import (
    ELEMENTWISE,
    TUPLE,
    Computation,
    Instruction,
    Module,
    Shape,
    group_size,
)
from app.model.compute import ComputeUnit

_FLOP_PER_FMA = 2
_UNKNOWN = -1.0
# Constants of a fusion with up to this many elements are part of its code.
_IMMEDIATE_ELEMENTS = 8
_WARP_SIZE = 32
_CONCAT_FLOP, _UNEVEN_CONCAT_FLOP = 6, 400
# More than any program has along one dimension; a damaged one may claim it.
_MAX_TAPS = 1 << 20
# Complex multiplication in an FFT butterfly, in FMAs.
_FMA_PER_COMPLEX_MULTIPLY = 4

# Opcodes whose called computations are analysed with them.
_ENTERED = frozenset(
    [
        "async-start",
        "call",
        "conditional",
        "fusion",
        "map",
        "reduce",
        "reduce-window",
        "scatter",
        "select-and-scatter",
        "while",
    ]
)

_COUNTER_LIMIT = 2**64
# What a program that is damaged, or of a kind we have not seen, may raise. It then has no cost.
_DAMAGE = (
    LookupError,
    ValueError,
    ArithmeticError,
    TypeError,
    RecursionError,
    MemoryError,
)

Index = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpCost:
    """Cost of one execution: `device_flop` is scaled to 16-bit arithmetic, `hbm_bytes` is traffic
    by the breakdown (`None` without one). Zero where unknown; `known` tells. `unit` does the
    arithmetic, `None` where the program does not tell."""

    known: bool
    model_flop: int
    device_flop: int
    bytes_accessed: int
    hbm_bytes: int | None
    unit: ComputeUnit | None = None

    @property
    def is_countable(self) -> bool:
        """True if every number fits an unsigned 64-bit counter, as those of real programs do."""
        counts = (self.model_flop, self.device_flop, self.bytes_accessed, self.hbm_bytes or 0)
        return all(0 <= count < _COUNTER_LIMIT for count in counts)


NO_COST = OpCost(known=False, model_flop=0, device_flop=0, bytes_accessed=0, hbm_bytes=None)


@dataclass(slots=True)
class _Cost:
    """Properties of one instruction while they are computed, all 32-bit floats.

    `reads[operand]` and `writes` hold bytes by index into the operand's or result's tuple;
    `used` is the share of each operand's elements that is read (1 where not stated).
    """

    flop: float = 0.0
    bytes: float = 0.0
    reads: dict[int, dict[Index, float]] = field(default_factory=dict)
    writes: dict[Index, float] = field(default_factory=dict)
    used: dict[int, float] = field(default_factory=dict)


_SINGLE = Struct("<f")
_pack, _unpack = _SINGLE.pack, _SINGLE.unpack


def _f32(value: float) -> float:
    """Rounded to a 32-bit float; three times as fast as NumPy for one number."""
    rounded: float = _unpack(_pack(value))[0]
    return rounded


class CostModel:
    """Costs of a module's instructions, each computed when first asked for."""

    def __init__(self, module: Module, *, xprof_compat: bool) -> None:
        self._module = module
        self._costs: dict[int, _Cost] = {}
        self._sums: dict[int, _Cost] = {}
        self.xprof_compat = xprof_compat

    def cost_of(self, instruction: Instruction) -> OpCost:
        """Cost of one execution."""
        # Oddity of XProf: its analysis does not enter comparators, reducers of collectives and
        # asynchronous computations, so their instructions cost nothing.
        if self.xprof_compat and instruction.name not in self._reached:
            return NO_COST
        try:
            found = self._cost_of(instruction)
        except _DAMAGE:
            return NO_COST
        return found if found.is_countable else NO_COST

    def _cost_of(self, instruction: Instruction) -> OpCost:
        cost = self.properties(instruction)
        moved = _valid(int(cost.bytes))
        return OpCost(
            known=cost.bytes >= 0 and cost.flop >= 0,
            model_flop=_valid(int(cost.flop)),
            device_flop=_valid(int(cost.flop) - int(_narrow_adjustment(instruction, cost.flop))),
            bytes_accessed=moved,
            hbm_bytes=self._hbm_bytes(instruction, cost, moved) if moved > 0 else None,
        )

    def _hbm_bytes(self, instruction: Instruction, cost: _Cost, moved: int) -> int | None:
        # Oddity of XProf: it does not see into tuples, so a library call's result is no traffic.
        if self.xprof_compat:
            return _bytes_by_space(instruction, cost)
        return max(0, moved - _bytes_elsewhere(instruction, cost))

    @cached_property
    def _reached(self) -> set[str]:
        reached: set[str] = set()
        waiting = [self._module.entry] if self._module.entry is not None else []
        seen: set[int] = set()
        while waiting:
            computation = waiting.pop()
            if id(computation) in seen:
                continue
            seen.add(id(computation))
            for inner in computation.instructions:
                reached.add(inner.name)
                if inner.opcode in _ENTERED and _gather_or_scatter(inner) is None:
                    waiting.extend(inner.called)
        return reached

    def properties(self, instruction: Instruction) -> _Cost:
        """Properties of one instruction."""
        known = self._costs.get(id(instruction))
        if known is None:
            known = _default(instruction)
            handle = _HANDLERS.get(instruction.opcode)
            if handle is not None:
                handle(self, instruction, known)
            self._costs[id(instruction)] = known
        return known

    def total(self, computation: Computation) -> _Cost:
        """Properties summed over a computation."""
        known = self._sums.get(id(computation))
        if known is None:
            known = _Cost()
            for instruction in computation.instructions:
                _add(known, self.properties(instruction))
            self._sums[id(computation)] = known
        return known

    def flop_of(self, computation: Computation | None) -> float:
        """FLOPs of one run of a computation, such as a reducer."""
        return self.total(computation).flop if computation is not None else 0.0


def _valid(count: int) -> int:
    """XProf takes minus one for nothing."""
    return 0 if count == -1 else count


def _narrow_adjustment(instruction: Instruction, flop: float) -> float:
    """FLOPs to take off where the operands are narrower than 16 bits: those run twice as fast."""
    if instruction.opcode == "custom-call":
        if not _is_cublas_lt(instruction) or not instruction.operands:
            return 0.0
        widest = instruction.operands[0].shape.bits
    else:
        widest = max((op.shape.bits for op in instruction.operands if op.shape.is_array), default=0)
    return flop - _f32(flop / {8: 2, 4: 4}.get(widest, 1))


def _bytes_by_space(instruction: Instruction, cost: _Cost) -> int | None:
    """Bytes read from and written to main memory; `None` where no entry remains."""
    read = sum(
        int(cost.reads.get(k, {}).get(index, 0.0))
        for k, operand in enumerate(instruction.operands)
        for index, leaf in operand.shape.leaves()
        if leaf.memory_space == 0
    )
    written = sum(
        int(cost.writes.get(index, 0.0))
        for index, leaf in instruction.shape.leaves()
        if leaf.memory_space == 0
    )
    entries = [count for count in (read, written) if count > 0]
    return sum(entries) if entries else None


def _bytes_elsewhere(instruction: Instruction, cost: _Cost) -> int:
    """Bytes of operands and results that are not in main memory, such as the host's."""
    read = sum(
        int(cost.reads.get(k, {}).get((), 0.0))
        for k, operand in enumerate(instruction.operands)
        if operand.shape.memory_space
    )
    return read + (int(cost.writes.get((), 0.0)) if instruction.shape.memory_space else 0)


def _add(total: _Cost, part: _Cost) -> None:
    total.flop = _f32(total.flop + part.flop)
    total.bytes = _f32(total.bytes + part.bytes)
    for k, by_index in part.reads.items():
        mine = total.reads.setdefault(k, {})
        for index, count in by_index.items():
            mine[index] = _f32(mine.get(index, 0.0) + count)
    for index, count in part.writes.items():
        total.writes[index] = _f32(total.writes.get(index, 0.0) + count)


# ------------------------------------------------------------------------------ default and trivial


def _default(instruction: Instruction) -> _Cost:
    """Operands read, result written. A tuple operand is its table of pointers."""
    result = float(instruction.shape.leaf_bytes)
    cost = _Cost(bytes=_f32(result), writes={(): _f32(result)})
    for k, operand in enumerate(instruction.operands):
        cost.bytes = _f32(cost.bytes + _f32(operand.shape.bytes))
        cost.reads[k] = {(): _f32(operand.shape.bytes)}
    return cost


def _move(cost: _Cost, reads: Mapping[int, float], written: float, total: float) -> None:
    """Replace the bytes of some operands, of the result, and the total."""
    for k, count in reads.items():
        cost.reads[k] = {(): _f32(count)}
    cost.writes = {(): _f32(written)}
    cost.bytes = _f32(total)


def _free(model: CostModel, instruction: Instruction, cost: _Cost) -> None:
    _move(cost, dict.fromkeys(range(len(instruction.operands)), 0.0), 0.0, 0.0)


def _tuple(model: CostModel, instruction: Instruction, cost: _Cost) -> None:
    _free(model, instruction, cost)
    cost.bytes = _f32(instruction.shape.bytes)
    cost.writes = {(): cost.bytes}


def _transpose(model: CostModel, instruction: Instruction, cost: _Cost) -> None:
    """Free where it only renames dimensions, which the layouts then say."""
    source, result = instruction.operands[0].shape, instruction.shape
    dims = list(instruction.proto.dimensions)
    if len(dims) != len(source.minor_to_major) or len(dims) != len(result.minor_to_major):
        return
    if source.kind == result.kind and source.minor_to_major == tuple(
        dims[k] for k in result.minor_to_major
    ):
        _free(model, instruction, cost)


def _elementwise(model: CostModel, instruction: Instruction, cost: _Cost) -> None:
    cost.flop = _elementwise_flop(instruction.opcode, instruction.shape)


def _elementwise_flop(opcode: str, shape: Shape) -> float:
    return _f32(flop_per_element(opcode, shape.kind) * shape.all_elements)


def _infeed(model: CostModel, instruction: Instruction, cost: _Cost) -> None:
    leaves = {index: _f32(leaf.bytes) for index, leaf in instruction.shape.leaves()}
    cost.bytes = _f32(instruction.shape.leaf_bytes)
    cost.writes = {**leaves, (): cost.bytes}


def _outfeed(model: CostModel, instruction: Instruction, cost: _Cost) -> None:
    cost.bytes = 0.0
    for k, operand in enumerate(instruction.operands):
        leaves = {index: _f32(leaf.bytes) for index, leaf in operand.shape.leaves()}
        cost.reads[k] = {**leaves, (): _f32(operand.shape.leaf_bytes)}
        cost.bytes = _f32(cost.bytes + cost.reads[k][()])


def _asynchronous(model: CostModel, instruction: Instruction, cost: _Cost) -> None:
    _free(model, instruction, cost)


# -------------------------------------------------------------------------------- parts of operands


def _share(part: Shape, whole: Shape) -> float:
    return _f32(part.elements / whole.elements) if whole.elements else 0.0


def _slice(model: CostModel, instruction: Instruction, cost: _Cost) -> None:
    size = instruction.shape.bytes
    _move(cost, {0: size}, size, 2 * size)
    cost.used[0] = _share(instruction.shape, instruction.operands[0].shape)


def _dynamic_slice(model: CostModel, instruction: Instruction, cost: _Cost) -> None:
    size, index = instruction.shape.bytes, instruction.operands[1].shape.bytes
    _move(cost, {0: size, 1: index}, size, 2 * size + index)
    cost.used[0] = _share(instruction.shape, instruction.operands[0].shape)


def _dynamic_update_slice(model: CostModel, instruction: Instruction, cost: _Cost) -> None:
    update, index = (operand.shape.bytes for operand in instruction.operands[1:3])
    _move(cost, {0: 0, 1: update, 2: index}, update, 2 * update + index)
    kept = instruction.shape.elements - instruction.operands[1].shape.elements
    cost.used[0] = _f32(kept / instruction.shape.elements) if instruction.shape.elements else 0.0


def _gather(model: CostModel, instruction: Instruction, cost: _Cost) -> None:
    size, index = instruction.shape.bytes, instruction.operands[1].shape.bytes
    _move(cost, {0: size, 1: index}, size, 2 * size + index)
    cost.used[0] = _share(instruction.shape, instruction.operands[0].shape)


def _scatter(model: CostModel, instruction: Instruction, cost: _Cost) -> None:
    """Reads updates and what they change, writes that back."""
    count = (len(instruction.operands) - 1) // 2
    updates = [operand.shape for operand in instruction.operands[count + 1 :]]
    index = instruction.operands[count].shape.bytes
    total = sum(shape.bytes for shape in updates)
    reads = {count: index}
    for k, shape in enumerate(updates):
        reads[k] = reads[count + 1 + k] = shape.bytes
    _move(cost, reads, total, 3 * total + index)
    times = updates[0].elements if updates else 0
    cost.flop = _f32(model.flop_of(_callee(instruction)) * _f32(times))


def _concatenate(model: CostModel, instruction: Instruction, cost: _Cost) -> None:
    """Warps that straddle two operands run both branches; XLA charges for that, by operand 0."""
    dimension = next(iter(instruction.proto.dimensions), 0)
    uneven = dimension > 0 and instruction.operands[0].shape.dimensions[dimension] % _WARP_SIZE
    each = _UNEVEN_CONCAT_FLOP if uneven else _CONCAT_FLOP
    cost.flop = _f32(each * instruction.shape.all_elements)


# -------------------------------------------------------------------------- reductions and the like


def _callee(instruction: Instruction) -> Computation | None:
    return instruction.called[0] if instruction.called else None


def _first_array(shape: Shape) -> Shape:
    return shape.parts[0] if shape.kind == TUPLE and shape.parts else shape


def _reduce(model: CostModel, instruction: Instruction, cost: _Cost) -> None:
    """One call of the reducer less per result; initial values are read once per result element."""
    result = _first_array(instruction.shape)
    inputs = len(instruction.operands) // 2
    applied = instruction.operands[0].shape.elements - result.elements
    cost.flop = _f32(model.flop_of(_callee(instruction)) * _f32(applied))
    written = instruction.shape.leaf_bytes
    read = sum(int(cost.reads[k][()]) for k in range(inputs))
    initial = dict.fromkeys(range(inputs, len(instruction.operands)), result.bytes)
    cost.used.update(dict.fromkeys(initial, _f32(result.elements)))
    _move(cost, initial, written, written + read + sum(initial.values()))


def _reduce_window(model: CostModel, instruction: Instruction, cost: _Cost) -> None:
    dims = instruction.proto.window.dimensions
    window = prod(dim.size for dim in dims)
    result = _first_array(instruction.shape)
    applied = (window - 1) * result.elements
    axis = _scan_axis(instruction)
    if axis is not None:
        extent = result.dimensions[axis]
        applied = result.elements // extent + extent - 1
    cost.flop = _f32(model.flop_of(_callee(instruction)) * _f32(applied))


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


def _select_and_scatter(model: CostModel, instruction: Instruction, cost: _Cost) -> None:
    window = prod(dim.size for dim in instruction.proto.window.dimensions)
    sources = instruction.operands[1].shape.elements
    for computation, times in zip(
        instruction.called, (sources * (window - 1), sources), strict=False
    ):
        cost.flop = _f32(cost.flop + _f32(model.flop_of(computation) * _f32(times)))


def _map(model: CostModel, instruction: Instruction, cost: _Cost) -> None:
    times = instruction.shape.elements
    cost.flop = _f32(model.flop_of(_callee(instruction)) * _f32(times))


def _sort(model: CostModel, instruction: Instruction, cost: _Cost) -> None:
    count = instruction.operands[0].shape.elements
    cost.flop = _f32(count * (count - 1).bit_length() if count > 0 else 0)


# -------------------------------------------------------------------------------------- collectives


def _all_reduce(model: CostModel, instruction: Instruction, cost: _Cost) -> None:
    written = instruction.shape.leaf_bytes
    read = sum(operand.shape.bytes for operand in instruction.operands)
    cost.writes = {(): _f32(written)}
    cost.bytes = _f32(written + read)
    cost.flop = _collective_flop(instruction)


def _all_reduce_start(model: CostModel, instruction: Instruction, cost: _Cost) -> None:
    cost.bytes = _f32(instruction.shape.leaf_bytes)
    cost.flop = _collective_flop(instruction)


def _collective_flop(instruction: Instruction) -> float:
    reducer = _callee(instruction)
    return _elementwise_flop(reducer.root.opcode, instruction.shape) if reducer else 0.0


def _all_gather(model: CostModel, instruction: Instruction, cost: _Cost) -> None:
    """Ring: each rank passes all shards but one on, and keeps all."""
    cost.bytes = _ring_bytes(instruction, _results(instruction))


def _reduce_scatter(model: CostModel, instruction: Instruction, cost: _Cost) -> None:
    cost.bytes = _ring_bytes(instruction, [operand.shape for operand in instruction.operands])
    cost.flop = _collective_flop(instruction)


def _results(instruction: Instruction) -> list[Shape]:
    """Arrays a collective makes; a `-start` instruction's tuple holds its operands first."""
    if instruction.opcode.endswith("-start") and instruction.shape.kind == TUPLE:
        return [leaf for index, leaf in instruction.shape.leaves() if index[0] != 0]
    return [leaf for _, leaf in instruction.shape.leaves()]


def _ring_bytes(instruction: Instruction, whole: list[Shape]) -> float:
    ranks = group_size(instruction)
    shard = sum(shape.bytes for shape in whole) // ranks
    return _f32(shard * (3 * ranks - 1))


# -------------------------------------------------------------------- matrix products, convolutions


def _dot(model: CostModel, instruction: Instruction, cost: _Cost) -> None:
    contracted = instruction.proto.dot_dimensions.lhs_contracting_dimensions
    cost.flop = _dot_flop(instruction.operands[0].shape, instruction.shape, list(contracted))


def _dot_flop(left: Shape, result: Shape, contracted: list[int]) -> float:
    width = prod(left.dimensions[k] for k in contracted if k < len(left.dimensions))
    return _f32(_FLOP_PER_FMA * result.elements * width)


def _convolution(model: CostModel, instruction: Instruction, cost: _Cost) -> None:
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
    made = result.dimensions[dims.output_feature_dimension]
    return _f32(_FLOP_PER_FMA * features * made * batch * positions)


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


def _fft(model: CostModel, instruction: Instruction, cost: _Cost) -> None:
    lengths = [max(1, length) for length in instruction.proto.fft_length]
    stages = prod(length.bit_length() - 1 for length in lengths)
    elements = _first_array(instruction.operands[0].shape).elements
    cost.flop = _f32(_FLOP_PER_FMA * _FMA_PER_COMPLEX_MULTIPLY * stages * elements)


def _triangular_solve(model: CostModel, instruction: Instruction, cost: _Cost) -> None:
    """Half of the matrix is read; n² / 2 FMAs per right-hand side."""
    matrix, right = (operand.shape for operand in instruction.operands[:2])
    total = instruction.shape.bytes + matrix.bytes / 2 + right.bytes
    # XLA files the right-hand side under the matrix, and leaves its own entry alone.
    _move(cost, {0: right.bytes}, instruction.shape.bytes, total)
    cost.flop = _f32(_FLOP_PER_FMA * matrix.dimensions[-1] * right.elements)


def _cholesky(model: CostModel, instruction: Instruction, cost: _Cost) -> None:
    """Half of the matrix is read, half written; n³ / 3 FLOPs."""
    matrix = instruction.operands[0].shape
    _move(cost, {0: matrix.bytes / 2}, matrix.bytes / 2, matrix.bytes)
    cost.flop = _f32(matrix.dimensions[-1] * matrix.elements // 3)


# ------------------------------------------------------------------------------------- custom calls


def _is_cublas_lt(instruction: Instruction) -> bool:
    return instruction.custom_call_target.startswith("__cublas$lt$matmul")


def _custom_call(model: CostModel, instruction: Instruction, cost: _Cost) -> None:
    target = instruction.custom_call_target
    result = _first_array(instruction.shape)
    if _is_cublas_lt(instruction) or (target == _CUBLAS_GEMM and not model.xprof_compat):
        left = instruction.operands[0].shape
        cost.flop = _dot_flop(left, result, _contracted_by_config(instruction))
    elif target in _CONVOLUTION_TARGETS:
        cost.flop = _convolution_flop(instruction, result)
    else:
        _move(cost, dict.fromkeys(range(len(instruction.operands)), _UNKNOWN), _UNKNOWN, _UNKNOWN)
        cost.flop = _UNKNOWN
        return
    if instruction.shape.kind == TUPLE:
        # The rest of the tuple is scratch memory, which is no useful traffic.
        cost.bytes = _f32(_f32(cost.bytes - cost.writes[()]) + _f32(result.bytes))
        cost.writes = {(): _f32(result.bytes)}


# Oddity of XProf: it knows cuBLASLt's products, but not those of its predecessor.
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


# --------------------------------------------------------------------------- calls, loops, branches


def _call(model: CostModel, instruction: Instruction, cost: _Cost) -> None:
    _replace(cost, [model.total(callee) for callee in instruction.called[:1]])


def _while(model: CostModel, instruction: Instruction, cost: _Cost) -> None:
    """One iteration: how many there are, the program does not say."""
    _replace(cost, [model.total(callee) for callee in instruction.called])


def _replace(cost: _Cost, parts: list[_Cost]) -> None:
    cost.flop, cost.bytes, cost.reads, cost.writes = 0.0, 0.0, {}, {}
    for part in parts:
        _add(cost, part)


def _conditional(model: CostModel, instruction: Instruction, cost: _Cost) -> None:
    """The most of each property over all branches."""
    parts = [model.total(callee) for callee in instruction.called]
    _replace(cost, parts[:1])
    for part in parts[1:]:
        cost.flop, cost.bytes = max(cost.flop, part.flop), max(cost.bytes, part.bytes)
        for k, by_index in part.reads.items():
            mine = cost.reads.setdefault(k, {})
            mine.update({at: max(mine.get(at, 0.0), count) for at, count in by_index.items()})
        for index, count in part.writes.items():
            cost.writes[index] = max(cost.writes.get(index, 0.0), count)


# ------------------------------------------------------------------------------------------ fusions


def _gather_or_scatter(instruction: Instruction) -> Instruction | None:
    """The gather or scatter for which a custom fusion stands."""
    if instruction.opcode != "fusion" or instruction.proto.fusion_kind != b"kCustom":
        return None
    inner = instruction.called[0].instructions if instruction.called else ()
    return next((i for i in inner if i.opcode in ("gather", "scatter")), None)


def _fusion(model: CostModel, instruction: Instruction, cost: _Cost) -> None:
    """Each fused instruction counts as often as its result is used; inner bytes stay on chip."""
    stands_for = _gather_or_scatter(instruction)
    if stands_for is not None:
        _HANDLERS[stands_for.opcode](model, stands_for, cost)
        return
    if not instruction.called:
        return
    body = instruction.called[0]
    in_place = _fusion_writes(instruction, body, cost)
    utilisation, cost.flop = _utilisation(model, body, in_place)
    for inner in body.instructions:
        if inner.opcode == "constant" and inner.shape.elements > _IMMEDIATE_ELEMENTS:
            share = min(utilisation[id(inner)], 1.0)
            cost.bytes = _f32(cost.bytes + _f32(inner.shape.bytes * share))
    cost.reads = {}
    for k, parameter in enumerate(body.parameters):
        cost.reads[k] = _parameter_reads(parameter, utilisation)
        cost.bytes = _f32(cost.bytes + cost.reads[k][()])
        cost.used[k] = utilisation[id(parameter)]


def _fusion_writes(instruction: Instruction, body: Computation, cost: _Cost) -> set[int]:
    """Set the bytes written; returns the updates in place, whose first operand is not read."""
    in_place: set[int] = set()
    cost.bytes, cost.writes = 0.0, {}
    for index, leaf in instruction.shape.leaves():
        if not leaf.is_array:
            continue
        made = body.root
        if len(index) == 1 and made.opcode == "tuple":
            made = made.operands[index[0]]
        size = leaf.bytes
        if made.opcode == "dynamic-update-slice" and len(index) <= 1:
            size = made.operands[1].shape.bytes
            in_place.add(id(made))
        cost.bytes = _f32(cost.bytes + size)
        cost.writes[index] = _f32(size)
    cost.writes[()] = _f32(sum(cost.writes.values()))
    return in_place


def _utilisation(
    model: CostModel, body: Computation, in_place: set[int]
) -> tuple[dict[int, float], float]:
    """How often each fused instruction's elements are computed per element, and FLOPs in all.

    From the root to the parameters. Elementwise instructions hand on the places where they are
    used (`roots`); others make a new place of each operand, scaled by the share they read of it.
    """
    places: dict[int, dict[int, None]] = {id(i): {} for i in body.instructions}
    share = {id(i): 0.0 for i in body.instructions}
    share[id(body.root)] = 1.0
    places[id(body.root)][id(body.root)] = None
    utilisation: dict[int, float] = {}
    flop = 0.0
    for inner in reversed(_post_order(body)):
        own = 0.0
        for place in places[id(inner)]:
            own = _f32(own + share[place])
        utilisation[id(inner)] = own
        cost = model.properties(inner)
        flop = _f32(flop + _f32(own * cost.flop))
        passes_on = inner.is_elementwise or inner.opcode in ("tuple", "get-tuple-element")
        for k, operand in enumerate(inner.operands):
            if passes_on:
                places[id(operand)].update(places[id(inner)])
                continue
            used = 0.0 if k == 0 and id(inner) in in_place else cost.used.get(k, 1.0)
            places[id(operand)][id(operand)] = None
            share[id(operand)] = _f32(share[id(operand)] + _whole(_f32(own * used), operand.shape))
    return utilisation, flop


def _post_order(body: Computation) -> list[Instruction]:
    """Operands before users, depth first from the root, as XLA walks it."""
    done: dict[int, Instruction] = {}
    for start in (body.root, *body.instructions):
        waiting = [(start, iter(start.operands))]
        while waiting:
            inner, operands = waiting[-1]
            if id(inner) in done:
                waiting.pop()
                continue
            following = next((o for o in operands if id(o) not in done), None)
            if following is None:
                done[id(inner)] = inner
                waiting.pop()
            else:
                waiting.append((following, iter(following.operands)))
    return list(done.values())


def _whole(share: float, shape: Shape) -> float:
    """A share of a shape's elements, rounded up to whole elements."""
    elements = shape.all_elements
    return _f32(ceil(_f32(share * _f32(elements))) / elements) if elements else 0.0


def _parameter_reads(
    parameter: Instruction, utilisation: Mapping[int, float]
) -> dict[Index, float]:
    """Bytes a fusion reads of one parameter, by index; each element at most once."""
    reads: dict[Index, float] = {}
    for index, leaf in parameter.shape.leaves():
        at = _element(parameter, index)
        reads[index] = _f32(int(_f32(leaf.bytes * min(_f32(utilisation[id(at)]), 1.0))))
    reads[()] = _f32(sum(reads.values()))
    return reads


def _element(parameter: Instruction, index: Index) -> Instruction:
    """The get-tuple-element that takes this part of a tuple parameter."""
    at = parameter
    for number in index:
        picks = (u for u in at.users if u.opcode == "get-tuple-element")
        at = next((u for u in picks if u.proto.tuple_index == number), at)
    return at


_Handler = Callable[[CostModel, Instruction, _Cost], None]

_HANDLERS: dict[str, _Handler] = {
    **dict.fromkeys(ELEMENTWISE, _elementwise),
    **dict.fromkeys(
        ("parameter", "constant", "get-tuple-element", "bitcast", "after-all", "add-dependency",
         "domain"), _free,
    ),
    "tuple": _tuple,
    "transpose": _transpose,
    "infeed": _infeed,
    "outfeed": _outfeed,
    "async-start": _asynchronous,
    "slice": _slice,
    "dynamic-slice": _dynamic_slice,
    "dynamic-update-slice": _dynamic_update_slice,
    "gather": _gather,
    "scatter": _scatter,
    "concatenate": _concatenate,
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
    "dot": _dot,
    "convolution": _convolution,
    "fft": _fft,
    "triangular-solve": _triangular_solve,
    "cholesky": _cholesky,
    "custom-call": _custom_call,
    "call": _call,
    "while": _while,
    "conditional": _conditional,
    "fusion": _fusion,
}  # fmt: skip
