"""Properties of an HLO instruction while they are computed: FLOPs and bytes, 32-bit floats.

FLOPs per element are those of XLA's cost analysis for GPUs: clock cycles that XLA measured on one
GPU generation (its default op profile) and takes for FLOPs; measured from XProf 2.24.2. Pairs that
are not listed cost `DEFAULT_FLOP`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from struct import Struct
from typing import Protocol

from roofline.importers.xspace.hlo.module import TUPLE, Computation, Instruction, Shape
from roofline.importers.xspace.oddities import Oddities
from roofline.model.plain_data import read_beside

DEFAULT_FLOP = 3

_FLOP_BY_OPCODE: Mapping[str, Mapping[str, int]] = read_beside(__file__, "flop_per_element.json")


def flop_per_element(opcode: str, element_type: str) -> int:
    """FLOPs of one result element; `element_type` is the result's."""
    return _FLOP_BY_OPCODE.get(opcode, {}).get(element_type, DEFAULT_FLOP)


FLOP_PER_FMA = 2

Index = tuple[int, ...]


@dataclass(slots=True)
class Properties:
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


def f32(value: float) -> float:
    """Rounded to a 32-bit float; three times as fast as NumPy for one number."""
    rounded: float = _unpack(_pack(value))[0]
    return rounded


class Costs(Protocol):
    """A source of the properties of other instructions of the same program."""

    oddities: Oddities

    def properties(self, instruction: Instruction) -> Properties:
        """Properties of one instruction."""

    def total(self, computation: Computation) -> Properties:
        """Properties summed over a computation."""

    def flop_of(self, computation: Computation | None) -> float:
        """FLOPs of one run of a computation, such as a reducer."""


Handler = Callable[[Costs, Instruction, Properties], None]
"""Changes the default properties of an instruction of one opcode."""


def add_properties(total: Properties, part: Properties) -> None:
    """Adds the properties of `part`, rounding each sum."""
    total.flop = f32(total.flop + part.flop)
    total.bytes = f32(total.bytes + part.bytes)
    for k, by_index in part.reads.items():
        mine = total.reads.setdefault(k, {})
        for index, count in by_index.items():
            mine[index] = f32(mine.get(index, 0.0) + count)
    for index, count in part.writes.items():
        total.writes[index] = f32(total.writes.get(index, 0.0) + count)


def default_properties(instruction: Instruction) -> Properties:
    """Operands read, result written. A tuple operand is its table of pointers."""
    total = written = f32(instruction.shape.leaf_bytes)
    reads: dict[int, dict[Index, float]] = {}
    for k, operand in enumerate(instruction.operands):
        read = f32(operand.shape.bytes)
        total = f32(total + read)
        reads[k] = {(): read}
    return Properties(bytes=total, reads=reads, writes={(): written})


def move(cost: Properties, reads: Mapping[int, float], written: float, total: float) -> None:
    """Replace the bytes of some operands, of the result, and the total."""
    for k, count in reads.items():
        cost.reads[k] = {(): f32(count)}
    cost.writes = {(): f32(written)}
    cost.bytes = f32(total)


def free(model: Costs, instruction: Instruction, cost: Properties) -> None:
    """Makes an instruction cost nothing."""
    move(cost, dict.fromkeys(range(len(instruction.operands)), 0.0), 0.0, 0.0)


def replace_by(cost: Properties, parts: list[Properties]) -> None:
    """Makes the properties the sum of `parts`."""
    cost.flop, cost.bytes, cost.reads, cost.writes = 0.0, 0.0, {}, {}
    for part in parts:
        add_properties(cost, part)


def callee(instruction: Instruction) -> Computation | None:
    """The computation an instruction applies, such as its reducer."""
    return instruction.called[0] if instruction.called else None


def first_array(shape: Shape) -> Shape:
    """The shape itself, or the first part of a tuple."""
    return shape.parts[0] if shape.kind == TUPLE and shape.parts else shape


def elementwise_flop(opcode: str, shape: Shape) -> float:
    """FLOPs of an opcode applied to every element of `shape`."""
    return f32(flop_per_element(opcode, shape.kind) * shape.all_elements)
