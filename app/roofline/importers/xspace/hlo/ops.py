"""Ops of a capture whose costs come from compiled programs: names, categories, sources, costs.

Used for GPU kernels and CPU ops, whose events name an HLO instruction and its program. The programs
are in the plane `/host:metadata`, each a HloProto; only those that events refer to are read.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from roofline.importers.shared.op_tables import OpLabels, described
from roofline.importers.xspace.hlo.cost import CostModel, OpCost
from roofline.importers.xspace.hlo.descriptions import description_of_proto
from roofline.importers.xspace.hlo.module import Instruction, Module, parse_module, run_by
from roofline.importers.xspace.oddities import Oddities
from roofline.importers.xspace.planes import HLO_METADATA, EventKind, Plane, Space
from roofline.model.categories import UNKNOWN_CATEGORY
from roofline.model.compute import ComputeUnit

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


@dataclass(frozen=True, slots=True, kw_only=True)
class HloOp:
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
            cost = replace(cost, unit=self._unit_of(instruction))
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
