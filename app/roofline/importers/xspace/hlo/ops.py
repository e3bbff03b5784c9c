"""Ops of a capture whose costs come from compiled programs: names, categories, sources, costs.

Used for GPU kernels and CPU ops, whose events name an HLO instruction and its program. The programs
are in the plane `/host:metadata`, each a HloProto; only those that events refer to are read. Shapes
and groups are written as XLA's own printer writes them.

An op's compute unit follows from its types. Matrix products and convolutions of GPUs are left to
the device's main peak, which XProf takes from the matrix unit at 16 bits: whether 32-bit ones run
there too (TF32) is not in the program.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from roofline.importers.shared.op_tables import SEPARATOR, OpLabels, described
from roofline.importers.xspace.hlo import hlo_pb2 as pb
from roofline.importers.xspace.hlo.cost import CostModel, OpCost
from roofline.importers.xspace.hlo.module import (
    NO_ARRAY,
    TUPLE,
    Instruction,
    Module,
    group_size_of,
    iota_groups,
    listed_groups,
    parse_module,
    run_by,
    type_name,
)
from roofline.importers.xspace.oddities import Oddities
from roofline.importers.xspace.planes import HLO_METADATA, EventKind, Plane, Space, text
from roofline.model.categories import UNKNOWN_CATEGORY
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


def description_of_proto(
    instruction: pb.Instruction, operands: Sequence[pb.Instruction], inner: pb.Instruction
) -> OpLabels:
    """Labels without a name; `inner` is the instruction that an `async-start` runs, or itself."""
    shape = instruction.shape
    results = shape.tuple_shapes if _is_tuple(shape) else [shape]
    return OpLabels(
        name="",
        framework_path=text(instruction.metadata.op_name),
        operands=SEPARATOR.join(shape_text(operand.shape) for operand in operands),
        results=SEPARATOR.join(map(shape_text, results)),
        operand_names=SEPARATOR.join(text(operand.name) for operand in operands),
        replica_groups=groups_text(inner),
        group_size=group_size_of(inner),
    )


def shape_text(shape: pb.Shape) -> str:
    """A shape as XLA prints it: `bf16[8,128]{1,0:T(8,128)S(1)}`."""
    if _is_tuple(shape):
        return f"({', '.join(map(shape_text, shape.tuple_shapes))})"
    kind = type_name(shape.element_type)
    if kind in NO_ARRAY:
        return f"{kind}[]"
    extents = ",".join(map(str, shape.dimensions))
    return f"{kind}[{extents}]{_layout_text(shape)}"


def _is_tuple(shape: pb.Shape) -> bool:
    return type_name(shape.element_type) == TUPLE


def _layout_text(shape: pb.Shape) -> str:
    layout = shape.layout
    tiles = "".join(f"({','.join(map(str, tile.dimensions))})" for tile in layout.tiles)
    space = f"S({layout.memory_space})" if layout.memory_space else ""
    placed = f"{'T' if tiles else ''}{tiles}{space}"
    order = ",".join(map(str, layout.minor_to_major))
    return f"{{{order}{':' if placed else ''}{placed}}}" if order or placed else ""


def groups_text(instruction: pb.Instruction) -> str:
    """Replica groups as XLA prints them: `{{0,1},{2,3}}` or `[4,2]<=[2,4]T(1,0)`."""
    if (iota := iota_groups(instruction)) is not None:
        return _iota_text(iota)
    groups = ",".join(
        f"{{{','.join(map(str, group.replica_ids))}}}" for group in listed_groups(instruction)
    )
    return f"{{{groups}}}" if groups else ""


def _iota_text(iota: pb.IotaReplicaGroups) -> str:
    shape = f"[{iota.num_replica_groups},{iota.num_devices_per_group}]"
    dims, order = (
        ",".join(map(str, numbers))
        for numbers in (iota.iota_reshape_dims, iota.iota_transpose_perm)
    )
    turned = f"T({order})" if len(iota.iota_transpose_perm) > 1 else ""
    return f"{shape}<=[{dims}]{turned}" if dims else shape


_PROGRAM_ID = re.compile(r"\((\d{1,20})\)\Z")
_PROTO_STATS = ("Hlo Proto", "HLO Proto")


class HloPlane:
    """Serialized programs by program id."""

    def __init__(self, space: Space) -> None:
        self._plane = space.named(HLO_METADATA)

    def raw(self, program_id: int) -> bytes:
        """A program's HloProto; empty where the capture does not have it."""
        kind = self._kinds.get(program_id)
        return next((r for name in _PROTO_STATS if kind and (r := kind.stats.raw(name))), b"")

    @cached_property
    def _kinds(self) -> Mapping[int, EventKind]:
        if self._plane is None:
            return {}
        return {_program_id(self._plane, k): kind for k, kind in enumerate(self._plane.event_kinds)}


def _program_id(plane: Plane, index: int) -> int:
    """The number in parentheses after the name, else a stat, else the metadata's own id."""
    kind = plane.event_kinds[index]
    match = _PROGRAM_ID.search(kind.name)
    if match:
        return int(match[1])
    return kind.stats.int_or_uint("program_id") or plane.event_ids[index]


UnitOf = Callable[[Instruction], ComputeUnit | None]
"""Which compute unit runs an instruction on this kind of device; `None` where unknown."""


class HloOp(NamedTuple):
    """One instruction of one program."""

    labels: OpLabels
    cost: OpCost


class Programs:
    """The compiled programs of a capture by program id, parsed on first use."""

    def __init__(self, space: Space, unit_of: UnitOf, oddities: Oddities) -> None:
        self._plane = HloPlane(space)
        self._unit_of = unit_of
        self._oddities = oddities
        self._models: dict[int, tuple[Module, CostModel] | None] = {}
        self._ops: dict[tuple[int, str], HloOp | None] = {}
        self.unreadable = 0

    def op(self, program_id: int, name: str) -> HloOp | None:
        """The instruction of this name; `None` if there is none."""
        key = (program_id, name)
        if key not in self._ops:
            self._ops[key] = self._op(program_id, name)
        return self._ops[key]

    def _op(self, program_id: int, name: str) -> HloOp | None:
        found = self._model(program_id)
        instruction = found[0].by_name.get(name) if found is not None else None
        if found is None or instruction is None:
            return None
        module, model = found
        cost = model.cost_of(instruction)
        if cost.model_flop and not self._oddities.has_one_compute_peak:
            cost = cost._replace(unit=self._unit_of(instruction))
        try:
            labels = _labels(module, instruction, program_id, names=not self._oddities.on)
            return HloOp(labels=labels, cost=cost)
        except RecursionError:  # fusions of fusions of fusions: no compiler's program
            return None

    def module(self, program_id: int) -> Module | None:
        """A program as a graph; `None` if it is not in the capture."""
        found = self._model(program_id)
        return found[0] if found is not None else None

    def name(self, program_id: int) -> str:
        """Module name of a program; empty if unknown."""
        module = self.module(program_id)
        return module.name if module is not None else ""

    def _model(self, program_id: int) -> tuple[Module, CostModel] | None:
        if program_id not in self._models:
            self._models[program_id] = self._read(program_id)
        return self._models[program_id]

    def _read(self, program_id: int) -> tuple[Module, CostModel] | None:
        raw = self._plane.raw(program_id)
        if not raw:
            return None
        module = parse_module(raw)
        if module is None:
            self.unreadable += 1
            return None
        return module, CostModel(module, self._oddities)


def _labels(module: Module, instruction: Instruction, program_id: int, *, names: bool) -> OpLabels:
    """Labels of an instruction; its stack `names` functions where the program does."""
    source = module.source(instruction, names_functions=names)
    labels = OpLabels(
        name=instruction.name,
        program_id=program_id,
        category=instruction.category,
        has_source=bool(source.file),
        source_file=source.file,
        source_line=source.line,
        source_stack=source.stack,
        long_name=long_name(instruction),
    )
    operands = [operand.proto for operand in instruction.operands]
    return described(
        labels, description_of_proto(instruction.proto, operands, run_by(instruction).proto)
    )


def long_name(instruction: Instruction) -> str:
    """The instruction in short: result type, opcode, operands' types and the framework's name."""
    result_shape = str(instruction.shape)
    read = ", ".join(str(operand.shape) for operand in instruction.operands)
    target = f" {instruction.custom_call_target}" if instruction.custom_call_target else ""
    name = instruction.framework_name
    origin = f" [{name}]" if name else ""
    return f"{instruction.name} = {result_shape} {instruction.opcode}{target}({read}){origin}"


def plain_labels(name: str, category: str) -> OpLabels:
    """Labels of an op that no program describes."""
    return OpLabels(name=name, category=category or UNKNOWN_CATEGORY)
