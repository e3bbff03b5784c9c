"""Work outside the tensor cores by the opcode histogram: how often threads executed each opcode.

The histogram counts threads whose predicate was true, as the profiler's own FLOP counters do. An
opcode is a name and modifiers: "HFMA2.BF16_V2", "IMAD.WIDE.U32". A multiply-add is two operations,
and an instruction whose name ends in 2 works on two lanes. Names of opcodes: NVIDIA, CUDA Binary
Utilities, "Instruction Set Reference".

Moves are not work: `IMAD.MOV` copies a register, and the compiler loads constants with a
half-precision multiply-add (`HFMA2.MMA R1, -RZ, RZ, 1, 0`), whose count looks like that of real
ones. A kernel whose only half-precision arithmetic is this instruction computes nothing with it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from roofline.importers.nsight_compute.launches import Launch
from roofline.model.compute import ComputeUnit

# The complete opcodes, then those without most modifiers, then names alone.
_COMPLETE = "sass__thread_inst_executed_true_per_opcode_with_modifier_all"
_HISTOGRAMS = (
    _COMPLETE,
    "sass__thread_inst_executed_true_per_opcode_with_modifier_selective",
    "sass__thread_inst_executed_true_per_opcode",
)
_HALF_PIPE = re.compile(r"sms?p?__inst_executed_pipe_fp16\.(sum|avg)(\.|$)(?!peak_sustained)")

_FLOATING = re.compile(r"(?P<kind>[DFH])(?P<operation>ADD|MUL|FMA)(?P<packed>2?)(?:_?32I)?")
_UNITS = {
    "D": ComputeUnit.VECTOR_FP64,
    "F": ComputeUnit.VECTOR_FP32,
    "H": ComputeUnit.VECTOR_FP16,
}
_HALF_UNITS = (ComputeUnit.VECTOR_FP16, ComputeUnit.VECTOR_BF16)
_PER_LANE = {"ADD": 1, "MUL": 1, "FMA": 2}
_MOVE, _PLAIN = "HFMA2.MMA", "HFMA2"
_FIRST_PLAIN_MOVES = 10  # from this compute capability on, constants are loaded by plain HFMA2

_INTEGER = re.compile(r"IADD3?|ISCADD|LEA|LOP3?|SHF|SHL|SHR|IMUL|IABS|VIADD|V?IMNMX3?")
# The compiler's replacement of a multiply-add whose factor is 1 or 0.
_SUMS = frozenset({"IADD", "SHL", "X"})


class _Half(Enum):
    """The kind of a launch's half-precision instructions."""

    WORK = "work"
    MOVES = "moves of constants"
    DOUBTFUL = "either"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpcodeWork:
    """Work of one launch by its histogram; a unit without an entry was not counted.

    `integer_ops` is `None` where the histogram does not tell copies from multiply-adds.
    `moves_constants` is true where half-precision multiply-adds were taken for moves of constants,
    and `is_half_doubtful` where they may be work as well: then fp16 has no entry.
    """

    flop: Mapping[ComputeUnit, float] = field(default_factory=dict)
    integer_ops: float | None = None
    moves_constants: bool = False
    is_half_doubtful: bool = False


def opcode_work(launch: Launch) -> OpcodeWork | None:
    """Work by the most complete histogram of `launch`; `None` without one."""
    name = next((name for name in _HISTOGRAMS if name in launch.opcodes), None)
    if name is None:
        return None
    counts = {opcode: count for opcode, count in launch.opcodes[name].items() if count}
    totals = dict.fromkeys(_UNITS.values(), 0.0)
    for opcode, count in counts.items():
        unit, flop = _floating(opcode)
        if unit is not None:
            totals[unit] = totals.get(unit, 0.0) + count * flop
    half = _half(launch, counts, is_complete=name == _COMPLETE)
    if half is not _Half.WORK:
        totals = {unit: flop for unit, flop in totals.items() if unit not in _HALF_UNITS}
    if half is _Half.MOVES:
        totals[ComputeUnit.VECTOR_FP16] = 0.0
    return OpcodeWork(
        flop=totals,
        integer_ops=_integer_ops(launch.opcodes.get(_COMPLETE)),
        moves_constants=half is _Half.MOVES,
        is_half_doubtful=half is _Half.DOUBTFUL,
    )


def _floating(opcode: str) -> tuple[ComputeUnit | None, int]:
    """Unit and operations per thread; no unit for what does no floating-point arithmetic."""
    base, modifiers = _split(opcode)
    match = _FLOATING.fullmatch(base)
    if match is None or (match["kind"] == "H" and "F32" in modifiers):  # HADD2.F32 converts
        return None, 0
    lanes = 2 if match["packed"] else 1
    is_brain = any(modifier.startswith("BF16") for modifier in modifiers)
    unit = ComputeUnit.VECTOR_BF16 if is_brain else _UNITS[match["kind"]]
    return unit, _PER_LANE[match["operation"]] * lanes


def _split(opcode: str) -> tuple[str, frozenset[str]]:
    base, *modifiers = opcode.split(".")
    return base, frozenset(modifiers)


def _half(launch: Launch, counts: Mapping[str, int], *, is_complete: bool) -> _Half:
    """Whether multiply-adds that stand alone are work: by their opcode and by their pipe."""
    arithmetic = {opcode for opcode in counts if _floating(opcode)[0] in _HALF_UNITS}
    capability = launch.numbers.get("device__attribute_compute_capability_major", 0)
    is_plain_open = not is_complete or capability >= _FIRST_PLAIN_MOVES
    if not arithmetic or arithmetic - {_MOVE, *([_PLAIN] if is_plain_open else ())}:
        return _Half.WORK
    pipe = [value for name, value in launch.numbers.items() if _HALF_PIPE.match(name)]
    if any(pipe):  # HFMA2.MMA runs on another pipe, conversions on this one
        return _Half.DOUBTFUL if _MOVE in arithmetic else _Half.WORK
    return _Half.MOVES if pipe or arithmetic == {_MOVE} else _Half.DOUBTFUL


def _integer_ops(counts: Mapping[str, int] | None) -> float | None:
    """Integer operations: two per multiply-add, one per addition, shift, logic or minimum."""
    if counts is None:
        return None
    return float(sum(count * _per_integer(*_split(opcode)) for opcode, count in counts.items()))


def _per_integer(base: str, modifiers: frozenset[str]) -> int:
    if base == "IMAD":
        is_copy = "MOV" in modifiers or modifiers == {"U32"}
        return 0 if is_copy else 1 if modifiers & _SUMS else 2
    return 1 if _INTEGER.fullmatch(base) else 0
