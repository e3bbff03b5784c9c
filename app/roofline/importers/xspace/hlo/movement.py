"""Costs of HLO that moves or copies data, and of elementwise arithmetic."""

from roofline.importers.xspace.hlo.module import ELEMENTWISE, Instruction, Shape
from roofline.importers.xspace.hlo.properties import (
    Costs,
    Handler,
    Properties,
    callee,
    elementwise_flop,
    f32,
    free,
    move,
)

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


def _dynamic_slice(model: Costs, instruction: Instruction, cost: Properties) -> None:
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


def _gather(model: Costs, instruction: Instruction, cost: Properties) -> None:
    size, index = instruction.shape.bytes, instruction.operands[1].shape.bytes
    move(cost, {0: size, 1: index}, size, 2 * size + index)
    cost.used[0] = _share(instruction.shape, instruction.operands[0].shape)


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


HANDLERS: dict[str, Handler] = {
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
    "dynamic-slice": _dynamic_slice,
    "dynamic-update-slice": _dynamic_update_slice,
    "gather": _gather,
    "scatter": _scatter,
    "concatenate": _concatenate,
}  # fmt: skip
