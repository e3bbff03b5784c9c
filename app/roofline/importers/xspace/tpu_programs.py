"""The known facts of a TPU's ops beside their names: from their metadata, then from their programs.

The metadata of an event has the whole instruction as text, and the compiler's stats. The plane
`/host:metadata` has the compiled programs, of which only those whose ops ran are parsed.

Which unit of a TensorCore does the FLOPs of an op follows from opcode and element types, as the
op's text or its program has them. Products and convolutions run on the matrix unit (MXU), at the
precision of their operands. Those of 32 bits are done in passes of bf16: one, unless the program
asks for more. Elementwise work and reductions run on the vector unit, whose lanes have 32 bits.
Where neither tells, the unit stays unknown: a category alone is not enough, a custom call may use
both, and a collective is bound by its link.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from google.protobuf.message import DecodeError

from roofline.importers.shared.hlo_text import Instruction, parse_instruction
from roofline.importers.shared.op_tables import (
    OpLabels,
    described,
    description_of_text,
    shapes_label,
)
from roofline.importers.xspace.hlo import hlo_pb2 as pb
from roofline.importers.xspace.hlo.module import ELEMENTWISE, local_id, stack_frames, type_name
from roofline.importers.xspace.hlo.ops import HloPlane, description_of_proto
from roofline.importers.xspace.planes import Space, text
from roofline.model.compute import ComputeUnit
from roofline.model.units import MIB

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


def unit_by_text(category: str, instruction: Instruction) -> ComputeUnit | None:
    """The unit by the opcode and the element types in the op's own text."""
    if category.lower().startswith(PRODUCTS):
        # Scalars are factors and offsets: a product has operands with extents.
        types = [shape.dtype for shape in instruction.operands if shape.rank > 0]
        return matrix_unit(types, precision=instruction.precision)
    is_fusion = instruction.opcode == "fusion" and instruction.fusion_kind in _VECTOR_FUSIONS
    if is_fusion or instruction.opcode in ELEMENTWISE or instruction.opcode in _REDUCTIONS:
        return vector_unit(shape.dtype for shape in (*instruction.operands, *instruction.results))
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
    units = set(_units(kinds))
    return units.pop() if len(units) == 1 else None


def _units(types: Iterable[str]) -> Iterator[ComputeUnit]:
    for kind in types:
        if kind.startswith(_FP8):
            yield ComputeUnit.MATRIX_FP8
        elif kind.startswith(_FP4):
            yield ComputeUnit.MATRIX_FP4
        elif kind in _MATRIX:
            yield _MATRIX[kind]


# Programs beyond this say little that the metadata of their ops does not, and take long to parse.
MAX_PROGRAM_BYTES = 64 * MIB
# PrecisionConfig of XLA; 0 is the default.
_PRECISIONS = {1: "high", 2: "highest"}


class _Place(NamedTuple):
    """An instruction, and the computation that it is in."""

    instruction: pb.Instruction
    computation: pb.Computation


class _Program:
    """A compiled program, whose instructions are found by name."""

    def __init__(self, module: pb.Module) -> None:
        self._module = module
        self._by_name = {
            instruction.name: _Place(instruction, computation)
            for computation in reversed(module.computations)
            for instruction in reversed(computation.instructions)
        }
        self._computations = {computation.id: computation for computation in module.computations}
        self._operands: dict[int, Mapping[int, pb.Instruction]] = {}

    def completed(self, labels: OpLabels) -> OpLabels:
        """`labels` with what the program knows of their op."""
        place = self._by_name.get(labels.name.encode("utf-8", "replace"))
        if place is None:
            return labels
        description = description_of_proto(
            place.instruction, self._operands_of(place), self._run_by(place.instruction)
        )
        return self._with_source(described(labels, description), place.instruction)

    def unit(self, name: str) -> ComputeUnit | None:
        """The unit of the products in a fusion, the vector unit without any.

        `None` for other ops, whose own text tells, and where a fusion's parts need several units.
        """
        place = self._by_name.get(name.encode("utf-8", "replace"))
        if place is None or place.instruction.opcode != b"fusion":
            return None
        inner = list(self._inside(place.instruction, set()))
        if any(place.instruction.opcode == b"custom-call" for place in inner):
            return None
        products = [place for place in inner if text(place.instruction.opcode).startswith(PRODUCTS)]
        if not products:
            return vector_unit(type_name(place.instruction.shape.element_type) for place in inner)
        units = {self._unit_of_product(product) for product in products}
        return units.pop() if len(units) == 1 else None

    def _unit_of_product(self, product: _Place) -> ComputeUnit | None:
        precision = max(product.instruction.precision_config.operand_precision, default=0)
        operands = self._operands_of(product)
        types = [type_name(operand.shape.element_type) for operand in operands]
        return matrix_unit(types, precision=_PRECISIONS.get(precision, ""))

    def _inside(self, instruction: pb.Instruction, seen: set[int]) -> Iterator[_Place]:
        """All instructions of the computations that `instruction` calls, and they in turn."""
        for number in instruction.called_computation_ids:
            computation = self._computations.get(number)
            if computation is None or number in seen:
                continue
            seen.add(number)
            for inner in computation.instructions:
                yield _Place(inner, computation)
                yield from self._inside(inner, seen)

    def _operands_of(self, place: _Place) -> Sequence[pb.Instruction]:
        computation = place.computation
        if computation.id not in self._operands:
            self._operands[computation.id] = {
                local_id(inner.id): inner for inner in computation.instructions
            }
        known = self._operands[computation.id]
        numbers = map(local_id, place.instruction.operand_ids)
        return [known[number] for number in numbers if number in known]

    def _run_by(self, instruction: pb.Instruction) -> pb.Instruction:
        """The op that an `async-start` runs: the root of the computation that it calls."""
        if not instruction.opcode.startswith(b"async-"):
            return instruction
        called = map(self._computations.get, instruction.called_computation_ids)
        roots = (
            inner
            for computation in called
            if computation is not None
            for inner in computation.instructions
            if local_id(inner.id) == local_id(computation.root_id)
        )
        return next(roots, instruction)

    def _with_source(self, labels: OpLabels, instruction: pb.Instruction) -> OpLabels:
        """`labels` whose stack names functions; the program's source where they have none."""
        metadata = instruction.metadata
        frames = list(stack_frames(self._module.stack_frame_index, metadata.stack_frame_id))
        named = {frame.place: frame.text for frame in frames}
        if labels.source_stack:
            lines = labels.source_stack.split("\n")
            return replace(labels, source_stack="\n".join(named.get(x, x) for x in lines))
        # A TPU's metadata lists a stack from its outermost frame inwards.
        stack = "\n".join(reversed(named.values()))
        if labels.has_source or not (stack or metadata.source_file):
            return replace(labels, source_stack=stack) if stack else labels
        return replace(
            labels,
            has_source=True,
            source_file=text(metadata.source_file) or frames[0].file,
            source_line=metadata.source_line if metadata.source_file else frames[0].line,
            source_stack=stack,
        )


class TpuPrograms:
    """The programs of a host by id, parsed on first use."""

    def __init__(self, space: Space) -> None:
        self._plane = HloPlane(space)
        self._programs: dict[int, _Program | None] = {}
        self._units: dict[tuple[int, str], ComputeUnit | None] = {}
        self._texts: dict[tuple[int, str], Instruction | None] = {}

    def unit(self, labels: OpLabels) -> ComputeUnit | None:
        """The unit that does the op's FLOPs; `None` where nothing tells."""
        key = (labels.program_id, labels.name)
        if key not in self._units:
            program = self._program(labels.program_id)
            unit = program.unit(labels.name) if program is not None else None
            units = None if unit is not None else self._text(labels)
            self._units[key] = unit if units is None else unit_by_text(labels.category, units)
        return self._units[key]

    def _text(self, labels: OpLabels) -> Instruction | None:
        """The op's own text, read once."""
        key = (labels.program_id, labels.name)
        if key not in self._texts:
            self._texts[key] = parse_instruction(labels.long_name)
        return self._texts[key]

    def described(self, labels: OpLabels) -> OpLabels:
        """`labels` with all that is known of their op; what they say themselves stays."""
        result = replace(labels, results=shapes_label(labels.results)) if labels.results else labels
        instruction = self._text(labels)
        if instruction is not None:
            result = described(result, description_of_text(instruction))
        program = self._program(labels.program_id)
        return result if program is None else program.completed(result)

    def _program(self, program_id: int) -> _Program | None:
        if program_id not in self._programs:
            self._programs[program_id] = _parsed(self._plane.raw(program_id))
        return self._programs[program_id]


def _parsed(raw: bytes) -> _Program | None:
    if not 0 < len(raw) <= MAX_PROGRAM_BYTES:
        return None
    try:
        return _Program(pb.HloProto.FromString(raw).hlo_module)
    except DecodeError:
        return None
