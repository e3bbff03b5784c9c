"""FLOPs and bytes of HLO instructions: XLA's cost analysis for GPUs as XProf 2.24.2 runs it.

Structure after XLA's HloCostAnalysis (openxla/xla, xla/service): every instruction starts from the
default cost (no FLOPs; operands read, result written) and its opcode changes that. Properties are
32-bit floats there, so sums round here too; integers come out by truncation. Measured against
XProf on programs compiled for CPU and written by hand for GPU (tests/golden/hlo).
"""

import struct
from dataclasses import dataclass
from functools import cached_property

from roofline.importers.xspace.hlo import fusions, matrix, movement, reductions
from roofline.importers.xspace.hlo.fusions import gather_or_scatter
from roofline.importers.xspace.hlo.matrix import is_cublas_lt
from roofline.importers.xspace.hlo.module import Computation, Instruction, Module
from roofline.importers.xspace.hlo.properties import (
    Handler,
    Properties,
    add_properties,
    default_properties,
    f32,
)
from roofline.importers.xspace.oddities import Oddities
from roofline.model.compute import ComputeUnit

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
# Errors of a program that is damaged, or of a kind that we have not seen. Then it has no cost.
_DAMAGE = (
    LookupError,
    ValueError,
    ArithmeticError,
    TypeError,
    RecursionError,
    MemoryError,
    struct.error,
)


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


class CostModel:
    """Costs of a module's instructions, each computed on first use."""

    def __init__(self, module: Module, oddities: Oddities) -> None:
        self._module = module
        self._costs: dict[int, Properties] = {}
        self._sums: dict[int, Properties] = {}
        self.oddities = oddities

    def cost_of(self, instruction: Instruction) -> OpCost:
        """Cost of one execution."""
        if self.oddities.skips_called_programs and instruction.name not in self._reached:
            return NO_COST
        try:
            cost = self._cost_of(instruction)
        except _DAMAGE:
            return NO_COST
        return cost if cost.is_countable else NO_COST

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

    def _hbm_bytes(self, instruction: Instruction, cost: Properties, moved: int) -> int | None:
        if self.oddities.misses_results_in_tuples:
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
                if inner.opcode in _ENTERED and gather_or_scatter(inner) is None:
                    waiting.extend(inner.called)
        return reached

    def properties(self, instruction: Instruction) -> Properties:
        """Properties of one instruction."""
        known = self._costs.get(id(instruction))
        if known is None:
            known = default_properties(instruction)
            handle = _HANDLERS.get(instruction.opcode)
            if handle is not None:
                handle(self, instruction, known)
            self._costs[id(instruction)] = known
        return known

    def total(self, computation: Computation) -> Properties:
        """Properties summed over a computation."""
        known = self._sums.get(id(computation))
        if known is None:
            known = Properties()
            for instruction in computation.instructions:
                add_properties(known, self.properties(instruction))
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
        if not is_cublas_lt(instruction) or not instruction.operands:
            return 0.0
        widest = instruction.operands[0].shape.bits
    else:
        widest = max((op.shape.bits for op in instruction.operands if op.shape.is_array), default=0)
    return flop - f32(flop / {8: 2, 4: 4}.get(widest, 1))


def _bytes_by_space(instruction: Instruction, cost: Properties) -> int | None:
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


def _bytes_elsewhere(instruction: Instruction, cost: Properties) -> int:
    """Bytes of operands and results that are not in main memory, such as the host's."""
    read = sum(
        int(cost.reads.get(k, {}).get((), 0.0))
        for k, operand in enumerate(instruction.operands)
        if operand.shape.memory_space
    )
    return read + (int(cost.writes.get((), 0.0)) if instruction.shape.memory_space else 0)


_HANDLERS: dict[str, Handler] = {
    **movement.HANDLERS,
    **reductions.HANDLERS,
    **matrix.HANDLERS,
    **fusions.HANDLERS,
}
