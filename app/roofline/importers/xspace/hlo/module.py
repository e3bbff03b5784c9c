"""A compiled program (HLO module) as a graph: instructions, shapes, categories, sources.

Format: HloProto of XLA (hlo.proto holds the fields we read). Tried: modules of XLA 2023 to 2026.
Lost: values of constants, sharding, schedules.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import NamedTuple

from google.protobuf.message import DecodeError

from roofline.importers.xspace.hlo import hlo_pb2 as pb
from roofline.importers.xspace.planes import text
from roofline.model.plain_data import read_beside

TUPLE, TOKEN, OPAQUE = "tuple", "token", "opaque"
NO_ARRAY = (TUPLE, TOKEN, OPAQUE)
_POINTER_BYTES = 8
_BITS_PER_BYTE = 8

# PrimitiveType of XLA: number → (name, bits). Types that are missing are not arrays.
_TYPES: dict[int, tuple[str, int]] = {
    1: ("pred", 1), 2: ("s8", 8), 3: ("s16", 16), 4: ("s32", 32), 5: ("s64", 64),
    6: ("u8", 8), 7: ("u16", 16), 8: ("u32", 32), 9: ("u64", 64),
    10: ("f16", 16), 11: ("f32", 32), 12: ("f64", 64), 15: ("c64", 64), 16: ("bf16", 16),
    18: ("c128", 128), 19: ("f8e5m2", 8), 20: ("f8e4m3fn", 8), 21: ("s4", 4), 22: ("u4", 4),
    23: ("f8e4m3b11fnuz", 8), 24: ("f8e5m2fnuz", 8), 25: ("f8e4m3fnuz", 8), 26: ("s2", 2),
    27: ("u2", 2), 28: ("f8e4m3", 8), 29: ("f8e3m4", 8), 30: ("s1", 1), 31: ("u1", 1),
    32: ("f4e2m1fn", 4), 33: ("f8e8m0fnu", 8),
    13: (TUPLE, 0), 14: (OPAQUE, 0), 17: (TOKEN, 0),
}  # fmt: skip

# Opcodes whose result elements each depend on the same element of their operands.
ELEMENTWISE: frozenset[str] = frozenset(read_beside(__file__, "elementwise.json"))
_ALSO_ELEMENTWISE = frozenset({"copy", "rng"})
_DATA_FORMATTING = frozenset({"transpose", "copy", "reshape", "dynamic-reshape"})
_FUSION_CATEGORIES = {
    "kLoop": "loop fusion",
    "kInput": "input fusion",
    "kOutput": "output fusion",
    "kCustom": "custom fusion",
}


@dataclass(frozen=True, slots=True)
class Shape:
    """Type and extents of a value; a tuple has `parts` instead. `bytes` as XLA sizes buffers."""

    kind: str
    bits: int
    dimensions: tuple[int, ...]
    parts: tuple["Shape", ...]
    minor_to_major: tuple[int, ...]
    memory_space: int | None  # None without layout
    bytes: int

    @property
    def is_array(self) -> bool:
        """True for a value with elements."""
        return self.kind not in NO_ARRAY

    @property
    def elements(self) -> int:
        """Elements of an array."""
        return prod(self.dimensions)

    @property
    def all_elements(self) -> int:
        """Elements of all arrays in it."""
        return sum(leaf.elements for _, leaf in self.leaves() if leaf.is_array)

    def leaves(self, index: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], "Shape"]]:
        """(index, shape) of everything in it that is not a tuple."""
        if self.kind != TUPLE:
            yield index, self
        for k, part in enumerate(self.parts):
            yield from part.leaves((*index, k))

    def __str__(self) -> str:
        if self.kind == TUPLE:
            return f"({', '.join(map(str, self.parts))})"
        extents = ",".join(map(str, self.dimensions))
        return f"{self.kind}[{extents}]" if self.is_array else self.kind

    @property
    def leaf_bytes(self) -> int:
        """Bytes of all its leaves, instead of a tuple's pointers."""
        if self.kind != TUPLE:
            return self.bytes
        return sum(leaf.bytes for _, leaf in self.leaves())


@dataclass(slots=True, eq=False)
class Instruction:
    """One HLO instruction. `proto` keeps what only a few opcodes need."""

    name: str
    opcode: str
    shape: Shape
    proto: pb.Instruction
    operands: tuple["Instruction", ...] = ()
    called: tuple["Computation", ...] = ()
    users: list["Instruction"] = field(default_factory=list)

    @property
    def is_elementwise(self) -> bool:
        """True if each result element depends on one element of each operand."""
        if self.opcode == "bitcast-convert" and self.operands:
            return self.shape.bits == self.operands[0].shape.bits
        if self.opcode == "fusion":
            return bool(self.called) and self.called[0].is_elementwise
        if self.opcode == "map":
            return list(self.proto.dimensions) == list(range(len(self.shape.dimensions)))
        return self.opcode in ELEMENTWISE or self.opcode in _ALSO_ELEMENTWISE

    @property
    def category(self) -> str:
        """XLA's name for this kind of op."""
        if self.opcode == "fusion":
            return _FUSION_CATEGORIES.get(text(self.proto.fusion_kind), "fusion")
        if self.opcode in _DATA_FORMATTING:
            return "data formatting"
        if self.opcode == "constant" or self.is_elementwise:
            return "non-fusion elementwise"
        return self.opcode + self._dilation if self.opcode == "convolution" else self.opcode

    @property
    def _dilation(self) -> str:
        dims = self.proto.window.dimensions
        base = any(dim.base_dilation > 1 for dim in dims)
        window = any(dim.window_dilation > 1 for dim in dims)
        return " base-dilated" * base + " window-dilated" * window

    @property
    def framework_name(self) -> str:
        """The op as the framework knows it, such as `jit(step)/dot_general`."""
        return text(self.proto.metadata.op_name)

    @property
    def custom_call_target(self) -> str:
        """Name of the library function of a custom call."""
        return text(self.proto.custom_call_target)


@dataclass(slots=True, eq=False)
class Computation:
    """A list of instructions, operands before users, with one root."""

    name: str
    instructions: tuple[Instruction, ...]
    root: Instruction
    _is_elementwise: bool | None = None

    @property
    def is_elementwise(self) -> bool:
        """True if each result element depends on one element of each parameter."""
        if self._is_elementwise is None:
            self._is_elementwise = False  # the answer for one that runs itself
            self._is_elementwise = all(
                inner.opcode == "parameter" or inner.is_elementwise for inner in self.instructions
            )
        return self._is_elementwise

    @property
    def parameters(self) -> list[Instruction]:
        """Its parameters in order of their number."""
        result = [inner for inner in self.instructions if inner.opcode == "parameter"]
        return sorted(result, key=lambda inner: inner.proto.parameter_number)


class Source(NamedTuple):
    """Where an instruction comes from; `stack` has one `file:line:column` per frame, innermost
    first. Empty file where unknown."""

    file: str = ""
    line: int = -1
    stack: str = ""


class Module:
    """One compiled program."""

    def __init__(self, proto: pb.Module) -> None:
        self._proto = proto
        self.name = text(proto.name)
        self._computations: dict[int, Computation] = {}
        self._shapes: dict[bytes, Shape] = {}
        for made in proto.computations:
            self._computations[made.id] = self._build(made)
        for computation in self._computations.values():
            for inner in computation.instructions:
                inner.called = self._called(inner.proto)
        self.entry = self._computations.get(proto.entry_computation_id)

    @cached_property
    def by_name(self) -> Mapping[str, Instruction]:
        """Instructions of all computations by name; of equal names the first."""
        result: dict[str, Instruction] = {}
        for computation in self._computations.values():
            for instruction in computation.instructions:
                result.setdefault(instruction.name, instruction)
        return result

    def _build(self, proto: pb.Computation) -> Computation:
        by_id: dict[int, Instruction] = {}
        for inner in proto.instructions:
            by_id[local_id(inner.id)] = self._instruction(inner, by_id)
        instructions = tuple(by_id.values())
        root = by_id.get(local_id(proto.root_id)) or (instructions[-1] if instructions else None)
        if root is None:
            raise DecodeError("a computation without instructions")
        return Computation(text(proto.name), instructions, root)

    def _instruction(self, proto: pb.Instruction, by_id: Mapping[int, Instruction]) -> Instruction:
        operands = tuple(by_id[local_id(k)] for k in proto.operand_ids if local_id(k) in by_id)
        result = Instruction(
            name=text(proto.name),
            opcode=text(proto.opcode),
            shape=self._shape(proto.shape),
            proto=proto,
            operands=operands,
        )
        for operand in dict.fromkeys(operands):
            operand.users.append(result)
        return result

    def _called(self, proto: pb.Instruction) -> tuple[Computation, ...]:
        computations = (self._computations.get(k) for k in proto.called_computation_ids)
        return tuple(computation for computation in computations if computation is not None)

    def _shape(self, proto: pb.Shape) -> Shape:
        key = proto.SerializeToString(deterministic=True)
        known = self._shapes.get(key)
        if known is None:
            known = self._shapes[key] = _shape(proto)
        return known

    def source(self, instruction: Instruction, *, names_functions: bool = False) -> Source:
        """Source location: that of the instruction, else its innermost stack frame.

        With `names_functions`, each frame of the stack says which function it is in.
        """
        metadata = instruction.proto.metadata
        frames = list(stack_frames(self._proto.stack_frame_index, metadata.stack_frame_id))
        stack = "".join(f"{f.text if names_functions else f.place}\n" for f in frames)
        if metadata.source_file:
            return Source(file=text(metadata.source_file), line=metadata.source_line, stack=stack)
        if not frames:
            return Source()
        return Source(file=frames[0].file, line=frames[0].line, stack=stack)


class Frame(NamedTuple):
    """One frame of a stack; `function` is empty where the program does not name it."""

    file: str
    line: int
    column: int
    function: str

    @property
    def place(self) -> str:
        """As XLA writes it: `file:line:column`."""
        return f"{self.file}:{self.line}:{self.column}"

    @property
    def text(self) -> str:
        """The place, and the function where the program names it."""
        return f"{self.place} in {self.function}" if self.function else self.place


def stack_frames(index: pb.StackFrameIndex, frame_id: int) -> Iterator[Frame]:
    """Frames from the innermost one outwards."""
    seen: set[int] = set()
    while 0 < frame_id <= len(index.stack_frames) and frame_id not in seen:
        seen.add(frame_id)
        frame = index.stack_frames[frame_id - 1]
        if not 0 < frame.file_location_id <= len(index.file_locations):
            return
        at = index.file_locations[frame.file_location_id - 1]
        file = _numbered(index.file_names, at.file_name_id)
        yield Frame(file, at.line, at.column, _numbered(index.function_names, at.function_name_id))
        frame_id = frame.parent_frame_id


def _numbered(names: Sequence[bytes], number: int) -> str:
    """Names count from one; zero is none."""
    return text(names[number - 1]) if 0 < number <= len(names) else ""


def parse_module(raw: bytes) -> Module | None:
    """The module in a serialized HloProto; `None` where it cannot be read."""
    try:
        return Module(pb.HloProto.FromString(raw).hlo_module)
    except (DecodeError, IndexError):
        return None


def run_by(instruction: Instruction) -> Instruction:
    """The instruction that an `async-start` runs, else the instruction itself."""
    is_wrapper = instruction.opcode.startswith("async-") and instruction.called
    return instruction.called[0].root if is_wrapper else instruction


def group_size(instruction: Instruction) -> int:
    """Devices in the largest replica group of a collective; 1 where the program names none."""
    return group_size_of(instruction.proto) or 1


def iota_groups(proto: pb.Instruction) -> pb.IotaReplicaGroups | None:
    """Replica groups of a collective as a range of numbers; `None` where they are not one."""
    stated = (proto.iota_device_list, proto.collective_device_list.iota_replica_groups)
    return next((iota for iota in stated if iota.num_devices_per_group > 0), None)


def listed_groups(proto: pb.Instruction) -> Sequence[pb.ReplicaGroup]:
    """Replica groups of a collective as they are listed."""
    return proto.collective_device_list.replica_groups or proto.replica_groups


def group_size_of(proto: pb.Instruction) -> int:
    """Devices in the largest replica group of a collective; 0 where the program names none."""
    if (iota := iota_groups(proto)) is not None:
        return iota.num_devices_per_group
    return max((len(group.replica_ids) for group in listed_groups(proto)), default=0)


def type_name(element_type: int) -> str:
    """XLA's word for an element type by its number; a type that is not known is opaque."""
    return _TYPES.get(element_type, (OPAQUE, 0))[0]


def local_id(instruction_id: int) -> int:
    """Newer programs put the computation's number above an instruction's own 32 bits."""
    return instruction_id & 0xFFFFFFFF


def _shape(proto: pb.Shape) -> Shape:
    kind, bits = _TYPES.get(proto.element_type, (OPAQUE, 0))
    parts = tuple(_shape(part) for part in proto.tuple_shapes)
    dimensions = tuple(proto.dimensions)
    layout = proto.layout if proto.HasField("layout") else None
    return Shape(
        kind=kind,
        bits=bits,
        dimensions=dimensions,
        parts=parts,
        minor_to_major=tuple(layout.minor_to_major) if layout else (),
        memory_space=layout.memory_space if layout else None,
        bytes=_bytes(kind, bits, dimensions, parts, layout),
    )


def _bytes(
    kind: str,
    bits: int,
    dimensions: tuple[int, ...],
    parts: tuple[Shape, ...],
    layout: pb.Layout | None,
) -> int:
    """Buffer size: a tuple's is its table of pointers; sub-byte elements are packed only where the
    layout says so; an array without layout has none."""
    if kind == TUPLE:
        return _POINTER_BYTES * len(parts)
    if kind in NO_ARRAY or layout is None:
        return 0
    packed = layout.element_size_in_bits
    if packed:
        return -(-prod(dimensions) * packed // _BITS_PER_BYTE)
    return prod(dimensions) * max(1, bits // _BITS_PER_BYTE)
