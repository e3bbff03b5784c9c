"""One instruction as a program of its own, cut from the compiled program that it is part of.

The instruction is copied as it is, with fields that we do not know; its operands become parameters.
A fusion that a library runs is taken apart, for the compiler has no input that holds its name: the
compiler fuses its computation again.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from google.protobuf.message import DecodeError

from roofline.errors import BadViewError
from roofline.importers.source import SourceFile
from roofline.importers.xspace.hlo import hlo_pb2 as pb
from roofline.importers.xspace.hlo.module import group_size_of, local_id, type_name
from roofline.importers.xspace.hlo.ops import HloPlane
from roofline.importers.xspace.planes import open_space, text

_OPCODES_OF_OTHERS = frozenset(
    ("infeed", "outfeed", "send", "send-done", "recv", "recv-done", "partition-id", "replica-id")
)
_COLLECTIVES = (
    "all-reduce", "all-gather", "all-to-all", "reduce-scatter", "collective-permute",
    "collective-broadcast", "ragged-all-to-all",
)  # fmt: skip
# Targets of custom calls that hold an address of the process, or talk to the host.
_OF_THE_PROGRAM = re.compile("callback|python|host|send|recv|infeed|outfeed", re.IGNORECASE)
_ENTRY = b"main"
_PARAMETER, _TUPLE, _TUPLE_TYPE, _NO_ARRAYS = b"parameter", b"tuple", "tuple", ("token", "opaque")


@dataclass(frozen=True, slots=True, kw_only=True)
class Alone:
    """An instruction as a serialized HloModuleProto; `inputs` are type and extents of each
    parameter."""

    module: bytes
    inputs: Sequence[tuple[str, Sequence[int]]]
    opcode: str
    is_apart: bool


def program_of(sources: Sequence[SourceFile], program_id: int) -> bytes:
    """The serialized HloProto of a program; empty where no capture has it."""
    for source in sources:
        space = open_space(np.frombuffer(source.data, np.uint8), source.name)
        if raw := HloPlane(space).raw(program_id):
            return raw
    return b""


def cut_out(raw: bytes, name: str) -> Alone:
    """The instruction `name` of the program in a serialized HloProto.

    Raises `BadViewError` where there is none, and where it cannot run alone.
    """
    try:
        module = pb.HloProto.FromString(raw).hlo_module
    except DecodeError as error:
        raise _refused("its compiled program is damaged") from error
    for computation in module.computations:
        for instruction in computation.instructions:
            if text(instruction.name) == name:
                return _cut(module, computation, instruction)
    raise _refused("the compiled program in the capture has no instruction of its name")


def _cut(module: pb.Module, computation: pb.Computation, one: pb.Instruction) -> Alone:
    opcode = text(one.opcode)
    _refuse(opcode, one)
    by_id = {made.id: made for made in module.computations}
    is_apart = opcode == "fusion"
    if is_apart and one.called_computation_ids[0] in by_id:
        entry = pb.Computation()
        entry.CopyFrom(by_id[one.called_computation_ids[0]])
    else:
        entry = _entry_of(computation, one, 1 + max(by_id, default=0))
    inside = _called(entry, by_id)
    result = pb.Module(name=b"replay", entry_computation_name=entry.name)
    result.entry_computation_id = entry.id
    result.host_program_shape = entry.program_shape
    result.computations.extend([by_id[number] for number in inside if number != entry.id])
    result.computations.append(entry)
    for made in result.computations:
        _without_bitcasts(made)
        for instruction in made.instructions:
            _refuse_inside(instruction)
            for name in ("sharding", "control_predecessor_ids", "metadata"):
                instruction.ClearField(name)
    shape = pb.ProgramShape.FromString(entry.program_shape)
    inputs = [_input(one) for one in shape.parameters]
    return Alone(
        module=result.SerializeToString(deterministic=True),
        inputs=inputs,
        opcode=opcode,
        is_apart=is_apart,
    )


def _refused(reason: str) -> BadViewError:
    return BadViewError(f"Not replayed: {reason}.", remedy="Replay another operation.")


def _refuse_inside(one: pb.Instruction) -> None:
    """Refuses a computation that needs other devices or a host, at any depth; and calls of
    functions of the program that was captured, whose addresses mean nothing here, or harm."""
    opcode, target = text(one.opcode), text(one.custom_call_target)
    if opcode not in ("parameter", "get-tuple-element", "tuple"):
        _refuse(opcode, one)
    if _OF_THE_PROGRAM.search(target):
        raise _refused("it calls a function of the captured program")


def _refuse(opcode: str, one: pb.Instruction) -> None:
    bare = opcode.removesuffix("-start").removesuffix("-done")
    if bare in _COLLECTIVES:
        raise _refused(f"it needs {max(2, group_size_of(one))} devices: a collective")
    if opcode in _OPCODES_OF_OTHERS or opcode.endswith("-done"):
        raise _refused(f"{opcode} is one half of a transfer")
    if opcode in ("parameter", "get-tuple-element", "tuple"):
        raise _refused(f"{opcode} computes nothing")


def _entry_of(computation: pb.Computation, one: pb.Instruction, number: int) -> pb.Computation:
    """A computation of the instruction alone; operands that are tuples are made of their parts."""
    by_id = {local_id(made.id): made for made in computation.instructions}
    entry = pb.Computation(name=_ENTRY, id=number)
    shape = pb.ProgramShape()

    def added(opcode: bytes, of: pb.Shape, operands: Sequence[int] = ()) -> int:
        place = 1 + len(entry.instructions)
        made = entry.instructions.add(name=b"%s.%d" % (opcode, place), opcode=opcode, id=place)
        made.shape.CopyFrom(of)
        made.operand_ids.extend(operands)
        if opcode == _PARAMETER:
            made.parameter_number = len(shape.parameters)
            shape.parameters.add().CopyFrom(of)
            shape.parameter_names.append(made.name)
        return place

    def given(of: pb.Shape) -> int:
        if type_name(of.element_type) == _TUPLE_TYPE:
            return added(_TUPLE, of, [given(part) for part in of.tuple_shapes])
        return added(_PARAMETER, of)

    places = [given(by_id[local_id(k)].shape) for k in one.operand_ids if local_id(k) in by_id]
    root = entry.instructions.add()
    root.CopyFrom(one)
    root.id = 1 + len(places) + len(entry.instructions)
    del root.operand_ids[:]
    root.operand_ids.extend(places)
    entry.root_id = root.id
    shape.result.CopyFrom(one.shape)
    entry.program_shape = shape.SerializeToString()
    return entry


def _called(entry: pb.Computation, by_id: dict[int, pb.Computation]) -> list[int]:
    """Numbers of all computations that it runs, inner ones first, as XLA reads them."""
    order: dict[int, None] = {}
    open_ones: list[tuple[pb.Computation, bool]] = [(entry, False)]
    seen: set[int] = set()
    while open_ones:
        computation, is_left = open_ones.pop()
        if is_left:
            order[computation.id] = None
        elif computation.id not in seen:
            seen.add(computation.id)
            open_ones.append((computation, True))
            for instruction in computation.instructions:
                numbers = instruction.called_computation_ids
                open_ones += [(by_id[k], False) for k in numbers if k in by_id]
    return list(order)


def _without_bitcasts(computation: pb.Computation) -> None:
    """Says of each bitcast, which only a compiler may write, what it does: it reads the elements in
    the order in which they lie, and gives them other extents."""
    listed = list(computation.instructions)
    by_id = {local_id(made.id): made for made in listed}
    free = 1 + max(by_id, default=0)
    result: list[pb.Instruction] = []
    for made in listed:
        if made.opcode == b"bitcast" and local_id(made.operand_ids[0]) in by_id:
            chain = _unfolded(made, by_id[local_id(made.operand_ids[0])], free)
            free += len(chain) - 1
            result += chain
        else:
            result.append(made)
    if len(result) > len(listed) or any(one.opcode == b"bitcast" for one in listed):
        kept = [pb.Instruction.FromString(one.SerializeToString()) for one in result]
        del computation.instructions[:]
        computation.instructions.extend(kept)


def _unfolded(bitcast: pb.Instruction, operand: pb.Instruction, free: int) -> list[pb.Instruction]:
    """A bitcast as a transpose to the order in memory, a reshape, and a transpose back."""
    before, after = operand.shape, bitcast.shape
    if before.element_type != after.element_type:
        raise _refused("it reads numbers of one type as those of another")
    stored, wanted = _outer_first(before), _outer_first(after)
    chain: list[pb.Instruction] = []

    def add(opcode: bytes, dims: Sequence[int], order: Sequence[int] = ()) -> None:
        one = pb.Instruction(name=b"%s.%d" % (opcode, free + len(chain)), opcode=opcode)
        one.id = free + len(chain)
        one.operand_ids.append(chain[-1].id if chain else bitcast.operand_ids[0])
        one.dimensions.extend(order)
        one.shape.element_type = after.element_type
        one.shape.dimensions.extend(dims)
        one.shape.layout.minor_to_major.extend(range(len(dims) - 1, -1, -1))
        chain.append(one)

    if stored != sorted(stored):
        add(b"transpose", [before.dimensions[k] for k in stored], stored)
    add(b"reshape", [after.dimensions[k] for k in wanted])
    if wanted != sorted(wanted):
        add(b"transpose", list(after.dimensions), [wanted.index(k) for k in range(len(wanted))])
        chain[-1].shape.CopyFrom(after)
    chain[-1].id, chain[-1].name = bitcast.id, bitcast.name
    return chain


def _outer_first(shape: pb.Shape) -> list[int]:
    """The dimensions from the one that changes slowest in memory."""
    order = list(shape.layout.minor_to_major)[::-1]
    return order if len(order) == len(shape.dimensions) else list(range(len(shape.dimensions)))


def _input(shape: pb.Shape) -> tuple[str, Sequence[int]]:
    kind = type_name(shape.element_type)
    if kind in _NO_ARRAYS:
        raise _refused(f"an operand is a {kind}")
    return kind, list(shape.dimensions)
