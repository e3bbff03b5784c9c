"""FLOPs and bytes of HLO instructions: XLA's cost analysis for GPUs as XProf 2.24.2 runs it.

Structure after XLA's HloCostAnalysis (openxla/xla, xla/service): every instruction starts from the
default cost (no FLOPs; operands read, result written) and its opcode changes that. Properties are
32-bit floats there, so sums round here too; integers come out by truncation. Measured against
XProf on programs compiled for CPU and written by hand for GPU (tests/golden/hlo).
"""

import struct
from functools import cached_property
from math import ceil
from typing import NamedTuple

from roofline.importers.xspace.hlo import handlers
from roofline.importers.xspace.hlo.handlers import is_cublas_lt
from roofline.importers.xspace.hlo.module import Computation, Instruction, Module, Shape
from roofline.importers.xspace.hlo.properties import (
    Costs,
    Handler,
    Index,
    Properties,
    add_properties,
    default_properties,
    f32,
    replace_by,
)
from roofline.importers.xspace.oddities import Oddities
from roofline.model.compute import ComputeUnit

# Constants of a fusion with up to this many elements are part of its code.
_IMMEDIATE_ELEMENTS = 8

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


class OpCost(NamedTuple):
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


def _call(model: Costs, instruction: Instruction, cost: Properties) -> None:
    replace_by(cost, [model.total(callee) for callee in instruction.called[:1]])


def _while(model: Costs, instruction: Instruction, cost: Properties) -> None:
    """One iteration: how many there are, the program does not say."""
    replace_by(cost, [model.total(callee) for callee in instruction.called])


def _conditional(model: Costs, instruction: Instruction, cost: Properties) -> None:
    """The most of each property over all branches."""
    parts = [model.total(callee) for callee in instruction.called]
    replace_by(cost, parts[:1])
    for part in parts[1:]:
        cost.flop, cost.bytes = max(cost.flop, part.flop), max(cost.bytes, part.bytes)
        for k, by_index in part.reads.items():
            mine = cost.reads.setdefault(k, {})
            mine.update({at: max(mine.get(at, 0.0), count) for at, count in by_index.items()})
        for index, count in part.writes.items():
            cost.writes[index] = max(cost.writes.get(index, 0.0), count)


def gather_or_scatter(instruction: Instruction) -> Instruction | None:
    """The gather or scatter for which a custom fusion stands."""
    if instruction.opcode != "fusion" or instruction.proto.fusion_kind != b"kCustom":
        return None
    inner = instruction.called[0].instructions if instruction.called else ()
    return next((i for i in inner if i.opcode in ("gather", "scatter")), None)


def _fusion(model: Costs, instruction: Instruction, cost: Properties) -> None:
    """Each fused instruction counts as often as its result is used; inner bytes stay on chip."""
    stands_for = gather_or_scatter(instruction)
    if stands_for is not None:
        handlers.HANDLERS[stands_for.opcode](model, stands_for, cost)
        return
    if not instruction.called:
        return
    body = instruction.called[0]
    in_place = _fusion_writes(instruction, body, cost)
    utilisation, cost.flop = _utilisation(model, body, in_place)
    for inner in body.instructions:
        if inner.opcode == "constant" and inner.shape.elements > _IMMEDIATE_ELEMENTS:
            share = min(utilisation[id(inner)], 1.0)
            cost.bytes = f32(cost.bytes + f32(inner.shape.bytes * share))
    cost.reads = {}
    for k, parameter in enumerate(body.parameters):
        # Bytes a fusion reads of one parameter, by index; each element at most once.
        reads: dict[Index, float] = {}
        for index, leaf in parameter.shape.leaves():
            at = _element(parameter, index)
            reads[index] = f32(int(f32(leaf.bytes * min(f32(utilisation[id(at)]), 1.0))))
        reads[()] = f32(sum(reads.values()))
        cost.reads[k] = reads
        cost.bytes = f32(cost.bytes + cost.reads[k][()])
        cost.used[k] = utilisation[id(parameter)]


def _fusion_writes(instruction: Instruction, body: Computation, cost: Properties) -> set[int]:
    """Set the bytes written; returns the updates in place, whose first operand is not read."""
    in_place: set[int] = set()
    cost.bytes, cost.writes = 0.0, {}
    for index, leaf in instruction.shape.leaves():
        if not leaf.is_array:
            continue
        source = body.root
        if len(index) == 1 and source.opcode == "tuple":
            source = source.operands[index[0]]
        size = leaf.bytes
        if source.opcode == "dynamic-update-slice" and len(index) <= 1:
            size = source.operands[1].shape.bytes
            in_place.add(id(source))
        cost.bytes = f32(cost.bytes + size)
        cost.writes[index] = f32(size)
    cost.writes[()] = f32(sum(cost.writes.values()))
    return in_place


def _utilisation(
    model: Costs, body: Computation, in_place: set[int]
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
            own = f32(own + share[place])
        utilisation[id(inner)] = own
        cost = model.properties(inner)
        flop = f32(flop + f32(own * cost.flop))
        passes_on = inner.is_elementwise or inner.opcode in ("tuple", "get-tuple-element")
        for k, operand in enumerate(inner.operands):
            if passes_on:
                places[id(operand)].update(places[id(inner)])
                continue
            used = 0.0 if k == 0 and id(inner) in in_place else cost.used.get(k, 1.0)
            places[id(operand)][id(operand)] = None
            share[id(operand)] = f32(share[id(operand)] + _whole(f32(own * used), operand.shape))
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
    return f32(ceil(f32(share * f32(elements))) / elements) if elements else 0.0


def _element(parameter: Instruction, index: Index) -> Instruction:
    """The get-tuple-element that takes this part of a tuple parameter."""
    at = parameter
    for number in index:
        picks = (u for u in at.users if u.opcode == "get-tuple-element")
        at = next((u for u in picks if u.proto.tuple_index == number), at)
    return at


_HANDLERS: dict[str, Handler] = {
    **handlers.HANDLERS,
    "call": _call,
    "while": _while,
    "conditional": _conditional,
    "fusion": _fusion,
}
