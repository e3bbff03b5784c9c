"""Checks of the roofline model on two runs: does it explain what changed between them?

Each compares what the model of one run says with what the other run shows, and keeps the numbers on
which it rests. The five checks are those of a published guide to rooflines; where the guide's own
threshold cannot hold (a time above T max is not a mistake), the numbers are told without a verdict.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from roofline.analysis.above_roof import IMPOSSIBLE
from roofline.compare.changes import Comparison, OpChange, Side
from roofline.compare.sides import MEMORIES
from roofline.devices.choice import known_part
from roofline.errors import BadViewError
from roofline.model.memory import MemoryLevel
from roofline.model.tensors import tensors_of
from roofline.model.units import GIGA, US_PER_S
from roofline.presentation.sentences import Number, Sentence, say


class CheckState(StrEnum):
    """The result of a check: the model holds, it does not, numbers alone, or nothing to test."""

    HELD = "held"
    BROKEN = "broken"
    TOLD = "told"
    UNTESTED = "untested"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check: its id, what it found, the numbers, and the sentence for people."""

    id: str
    state: CheckState
    numbers: Mapping[str, float | None]
    said: Sentence


_APART = 0.1  # logarithm of the ratio between two changes that can be told apart
_CHANGED = 0.05  # logarithm of a change of the roof time that is a lever
_DOUBTFUL = 0.05
_HITS = (0.7, 1.1)
_MOST = 0.5
_LIKE_TYPES = 0.1
_BF16_BYTES = 2
_BETWEEN = (MemoryLevel.ICI, MemoryLevel.NVLINK, MemoryLevel.XGMI)


def checks_of(found: Comparison) -> tuple[Check, ...]:
    """The five checks of a comparison, in their usual order."""
    pairs = [one for one in found.ops if one.a.is_known and one.b.is_known]
    return (
        _classification(found, pairs),
        _bounds(found),
        _lever(pairs),
        _dtype(pairs),
        _flip(found),
    )


# ------------------------------------------------------------------------------- classification


def _classification(found: Comparison, pairs: Sequence[OpChange]) -> Check:
    """Where FLOPs and bytes changed by different factors, time follows the one that binds."""
    tested = [one for one in pairs if _tells_apart(one)]
    time_us = sum(one.a.time_us for one in tested)
    followed_us = sum(one.a.time_us for one in tested if _follows(one))
    flips = sum(_is_memory(one.a) != _is_memory(one.b) for one in pairs)
    share = followed_us / time_us if time_us else None
    before, after = map(_memory_share, found.sides)
    numbers = {
        "tested": float(len(tested)),
        "followed_time_share": share,
        "memory_bound_share_a": before,
        "memory_bound_share_b": after,
        "flips": float(flips),
    }
    bound: Sentence = []
    if before is not None and after is not None:
        shares = {"old_share": Number(before, "ratio"), "new_share": Number(after, "ratio")}
        bound = say("check_bound", **shares, count=Number(flips, "count"))
    if share is None:
        state, said = CheckState.UNTESTED, say("check_class_none")
    else:
        state = CheckState.HELD if share >= _MOST else CheckState.BROKEN
        said = say("check_class", count=Number(len(tested), "count"), share=Number(share, "ratio"))
    return Check(id="classification", state=state, numbers=numbers, said=said + bound)


def _is_memory(side: Side) -> bool:
    return side.memory_us > side.compute_us


def _memory_share(sides: Sequence[Side]) -> float | None:
    """The share of the time of known cost in operations that a memory binds."""
    known = [one for one in sides if one.is_known]
    whole = sum(one.time_us for one in known)
    return sum(one.time_us for one in known if _is_memory(one)) / whole if whole else None


def _tells_apart(one: OpChange) -> bool:
    """True where the two resources would change the time differently, and one binds both runs."""
    clocks = (one.a.compute_us, one.a.memory_us, one.b.compute_us, one.b.memory_us)
    if min(clocks) <= 0 or _is_memory(one.a) != _is_memory(one.b):
        return False
    compute, memory = math.log(clocks[2] / clocks[0]), math.log(clocks[3] / clocks[1])
    return abs(compute - memory) > _APART


def _follows(one: OpChange) -> bool:
    """True where the time moved like the resource that binds rather than like the other."""
    took = math.log(one.b.time_us / one.a.time_us)
    compute = abs(took - math.log(one.b.compute_us / one.a.compute_us))
    memory = abs(took - math.log(one.b.memory_us / one.a.memory_us))
    return memory <= compute if _is_memory(one.a) else compute <= memory


# ---------------------------------------------------------------------------------- time bounds


def _bounds(found: Comparison) -> Check:
    """T min <= T <= T max in B; time above T max is latency, links or work that was not counted."""
    known = [one for one in found.sides[1] if one.is_known]
    whole = sum(one.time_us for one in known)
    below = sum(one.time_us for one in known if one.roof_us > IMPOSSIBLE * one.time_us)
    above = [one for one in known if one.time_us > one.serial_us]
    beyond_us = sum(one.time_us - one.serial_us for one in above)
    if not whole:
        numbers = dict.fromkeys(("between_share", "below_share", "above_t_max_us"))
        return Check(
            id="time_bounds",
            state=CheckState.UNTESTED,
            numbers=numbers,
            said=say("check_no_cost"),
        )
    between = (whole - below - sum(one.time_us for one in above)) / whole
    return Check(
        id="time_bounds",
        state=CheckState.BROKEN if below > _DOUBTFUL * whole else CheckState.HELD,
        numbers={
            "between_share": between,
            "below_share": below / whole,
            "above_t_max_us": beyond_us,
        },
        said=say(
            "check_bounds",
            share=Number(max(between, 0.0), "ratio"),
            time=Number(beyond_us, "time_us"),
            below=Number(below / whole, "ratio"),
        ),
    )


# ---------------------------------------------------------------------------------------- lever


def _lever(pairs: Sequence[OpChange]) -> Check:
    """The expected effect of changed work, traffic or peaks, at the same closeness to the roof."""
    moved = [one for one in pairs if abs(math.log(one.b.roof_us / one.a.roof_us)) > _CHANGED]
    predicted = sum(one.a.time_us * (one.b.roof_us / one.a.roof_us - 1) for one in moved)
    measured = sum(one.b.time_us - one.a.time_us for one in moved)
    hit = measured / predicted if predicted else None
    numbers = {
        "tested": float(len(moved)),
        "predicted_us": predicted,
        "measured_us": measured,
        "hit_ratio": hit,
    }
    if hit is None:
        state, said = CheckState.UNTESTED, say("check_lever_none")
    else:
        state = CheckState.HELD if _HITS[0] <= hit <= _HITS[1] else CheckState.BROKEN
        said = say(
            "check_lever",
            count=Number(len(moved), "count"),
            predicted=_signed(predicted),
            measured=_signed(measured),
            hit=Number(hit, "number"),
        )
    return Check(id="lever", state=state, numbers=numbers, said=said)


# ---------------------------------------------------------------------------------------- dtype


def _dtype(pairs: Sequence[OpChange]) -> Check:
    """Other element types of the same shapes: bytes should change by the sizes of the elements."""
    changed = [one for one in pairs if _has_other_types(one) and one.a.bytes and one.b.bytes]
    before = sum((one.a.bytes or 0.0) * one.a.calls for one in changed)
    expected = sum((one.a.bytes or 0.0) * one.a.calls * _by_types(one) for one in changed)
    counted = sum((one.b.bytes or 0.0) * one.a.calls for one in changed)
    if not before:
        return Check(
            id="dtype",
            state=CheckState.UNTESTED,
            numbers=dict.fromkeys(("bytes_ratio", "expected_bytes_ratio", "rows_a", "rows_b")),
            said=say("check_dtype_none"),
        )
    like = abs(counted / expected - 1) <= _LIKE_TYPES
    rows = _threshold(changed, "a"), _threshold(changed, "b")
    said = say(
        "check_dtype",
        count=Number(len(changed), "count"),
        counted=Number(counted / before, "ratio"),
        expected=Number(expected / before, "ratio"),
    )
    if rows[0] and rows[1]:
        said += say(
            "check_rows", old_rows=Number(rows[0], "count"), new_rows=Number(rows[1], "count")
        )
    return Check(
        id="dtype",
        state=CheckState.HELD if like else CheckState.BROKEN,
        numbers={
            "tested": float(len(changed)),
            "bytes_ratio": counted / before,
            "expected_bytes_ratio": expected / before,
            "rows_a": rows[0],
            "rows_b": rows[1],
        },
        said=said,
    )


def _has_other_types(one: OpChange) -> bool:
    """True where the tensors have the same shapes and other element types."""
    a, b = (tensors_of(f"{side.operands}; {side.results}") for side in (one.a, one.b))
    shapes_a, shapes_b = ([each.shape for each in tensors] for tensors in (a, b))
    return bool(a) and shapes_a == shapes_b and a != b


def _by_types(one: OpChange) -> float:
    a, b = (tensors_of(f"{side.operands}; {side.results}") for side in (one.a, one.b))
    whole = sum(each.bytes for each in a)
    return sum(each.bytes for each in b) / whole if whole else 1.0


def _threshold(changed: Sequence[OpChange], side: str) -> float | None:
    """B*, the rows from which arithmetic binds: ridge · w / 2, of the longest product's weights."""
    for one in sorted(changed, key=lambda each: -each.a.time_us):
        of = one.a if side == "a" else one.b
        weights = [each for each in tensors_of(of.operands) if len(each.shape) == 2]
        main_bytes = of.main_bytes or 0.0
        if len(weights) > 1 and of.flop and main_bytes and min(of.compute_us, of.memory_us) > 0:
            ridge = (of.flop / of.compute_us) / (main_bytes / of.memory_us)
            return ridge * weights[-1].element_bytes / 2
    return None


# ----------------------------------------------------------------------------- distributed flip


def _flip(found: Comparison) -> Check:
    """Which is longer in each run, exposed communication or the work at its roof."""
    exposed, needs = found.exposed_us, tuple(map(_at_roof_us, found.sides))
    size = _crossover(found)
    numbers = {
        "exposed_a_us": exposed[0],
        "exposed_b_us": exposed[1],
        "at_roof_a_us": needs[0],
        "at_roof_b_us": needs[1],
        "crossover_size": size,
    }
    if not any(one > 0 for one in exposed):
        said = say("check_flip_none")
        return Check(id="distributed_flip", state=CheckState.UNTESTED, numbers=numbers, said=said)
    if not all(one > 0 for one in needs):
        said = say("check_flip_unknown")
        return Check(id="distributed_flip", state=CheckState.UNTESTED, numbers=numbers, said=said)
    longer = [comms > work for comms, work in zip(exposed, needs, strict=True)]
    said = say(
        "check_flipped" if longer[0] != longer[1] else "check_same",
        exposed_a=Number(exposed[0], "time_us"),
        exposed_b=Number(exposed[1], "time_us"),
        at_roof_a=Number(needs[0], "time_us"),
        at_roof_b=Number(needs[1], "time_us"),
    )
    if size:
        said += say("check_crossover", size_of=Number(size, "count"))
    return Check(id="distributed_flip", state=CheckState.TOLD, numbers=numbers, said=said)


def _at_roof_us(sides: Sequence[Side]) -> float:
    return sum(min(one.roof_us, one.time_us) for one in sides if one.is_known)


def _crossover(found: Comparison) -> float | None:
    """The contracted size from which arithmetic binds a product over two chips: w · peak ÷ link.

    Of B's device, with elements of two bytes; `None` where its link or peak is not known.
    """
    peaks = found.peaks[1]
    flop_per_us = max((value for name, value in peaks.items() if name not in MEMORIES), default=0.0)
    device = next((one.b for one in found.differences if one.name == "Device"), "")
    try:
        links = known_part(device).links() if device else ()
    except BadViewError:
        return None
    gbs = next((one.gbs for one in links if one.level in _BETWEEN), 0.0)
    return _BF16_BYTES * flop_per_us / (gbs * GIGA / US_PER_S) if gbs and flop_per_us else None


def _signed(us: float) -> Sentence:
    return say("check_change", sign="−" if us < 0 else "+", change=Number(abs(us), "time_us"))
