"""Costs of HLO that runs other computations: calls, loops, branches and fusions."""

from math import ceil

from roofline.importers.xspace.hlo import movement
from roofline.importers.xspace.hlo.module import Computation, Instruction, Shape
from roofline.importers.xspace.hlo.properties import (
    Costs,
    Handler,
    Index,
    Properties,
    f32,
    replace_by,
)

# Constants of a fusion with up to this many elements are part of its code.
_IMMEDIATE_ELEMENTS = 8


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
        movement.HANDLERS[stands_for.opcode](model, stands_for, cost)
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


HANDLERS: dict[str, Handler] = {
    "call": _call,
    "while": _while,
    "conditional": _conditional,
    "fusion": _fusion,
}
