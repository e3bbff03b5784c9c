"""Work by opcode: how often threads executed each opcode, and operations of the tensor cores.

The histogram counts threads whose predicate was true, as the profiler's own FLOP counters do. An
opcode is a name and modifiers: "HFMA2.BF16_V2", "IMAD.WIDE.U32". A multiply-add is two operations,
and an instruction whose name ends in 2 works on two lanes. Names of opcodes: NVIDIA, CUDA Binary
Utilities, "Instruction Set Reference".

Moves are not work: `IMAD.MOV` copies a register, and the compiler loads constants with a
half-precision multiply-add (`HFMA2.MMA R1, -RZ, RZ, 1, 0`), whose count looks like that of real
ones. A kernel whose only half-precision arithmetic is this instruction computes nothing with it.

Operations of the tensor cores come from the profiler's own counter, else from the histogram:
1. `sm__ops_path_tensor_src_<operands>[_dst_<result>].sum` counts operations (a multiply-add is
   two). Sources with and without `_dst_` and `_sparsity_` overlap: only one layer is added up.
2. Opcodes with their warp-level counts: an opcode names its tile as digits, and a warp does
   2·m·n·k operations (NVIDIA, PTX ISA, "Warp Level Matrix Instructions"). `.SP` opcodes count by
   their digits, zeros that are skipped included.

Counts of tensor *instructions* (`sm__inst_executed_pipe_tensor*`) are never turned into operations:
an instruction is 512 to 65,536 of them. They, and opcodes without digits (Hopper's warp groups),
only say that there was work that was not measured.
"""

import re
from collections.abc import Iterable, Mapping
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
_UNITS = {"D": ComputeUnit.VECTOR_FP64, "F": ComputeUnit.VECTOR_FP32, "H": ComputeUnit.VECTOR_FP16}
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


_PATH = re.compile(
    r"sm__ops_path_tensor_src_(?P<src>(?:(?!_dst_|_sparsity_)\w)+)"
    r"(?:_dst_(?P<dst>(?:(?!_sparsity_)\w)+))?(?:_sparsity_(?P<sparsity>on|off))?\.sum"
)
_WARP_OPCODES = (
    "sass__inst_executed_per_opcode_with_modifier_selective",
    "sass__inst_executed_per_opcode_with_modifier_all",
)
_OPCODES_WITHOUT_SHAPE = "sass__inst_executed_per_opcode"
_TILE = re.compile(r"(?P<pipe>[HIDQO]MMA)(?:\.\w+)*?\.(?P<tile>(?:16|8)8?\d{1,3})(?=\.|$)")
_TENSOR_OPCODE = re.compile(r"(?:UTC)?[A-Z]{1,2}MMA(?:\.|$)")
_NO_WORK = re.compile(r"(HFMA2|WARPGROUP|UTCATOMSWS)")
_PIPE = re.compile(r"sms?p?__inst_executed_pipe_(tensor|tc)\w*\.(sum|avg)(\.|$)(?!peak_sustained)")

_MATRIX_UNITS = {
    "fp64": ComputeUnit.MATRIX_FP64,
    "tf32": ComputeUnit.MATRIX_TF32,
    "bf16": ComputeUnit.MATRIX_BF16,
    "fp16": ComputeUnit.MATRIX_FP16,
    "fp8": ComputeUnit.MATRIX_FP8,
    "int8": ComputeUnit.MATRIX_INT8,
    "fp4": ComputeUnit.MATRIX_FP4,
    "int4": ComputeUnit.MATRIX_INT4,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorWork:
    """Operations by unit, what a unit can do per second, and whether all work was counted.

    `operations` is `None` where they were not measured; `is_whole` is false where tensor
    instructions ran that no source turns into operations.
    """

    operations: Mapping[ComputeUnit, float] | None
    peak_flop_s: Mapping[ComputeUnit, float] = field(default_factory=dict)
    is_whole: bool
    by_opcode: bool = False


@dataclass(slots=True)
class _Path:
    """One operand type of the profiler's counter: its count and its peak (FLOP/s) per layer."""

    counts: dict[str, float] = field(default_factory=dict)
    peaks: dict[str, float] = field(default_factory=dict)

    def count(self) -> float | None:
        if "" in self.counts:
            return self.counts[""]
        halves = [self.counts[half] for half in ("off", "on") if half in self.counts]
        return sum(halves) if halves else None

    def peak(self, *, sparse: bool) -> float | None:
        """The dense peak: the whole counter's own one is the sparse peak, twice as high."""
        return self.peaks.get("off", None if sparse else self.peaks.get(""))


def tensor_work(launch: Launch, time_s: float | None, clock_hz: float | None) -> TensorWork:
    """The work of the tensor cores during `launch`, whose SMs ran at `clock_hz`."""
    paths = _paths(launch.numbers, time_s, clock_hz)
    counts = {key: count for key, path in paths.items() if (count := path.count()) is not None}
    peaks = _dense_peaks(paths)
    histogram = next((launch.opcodes[name] for name in _WARP_OPCODES if name in launch.opcodes), {})
    # Zero by some of the counters proves nothing: the opcodes may show work of other operands.
    if any(counts.values()) or (counts and not histogram):
        return TensorWork(operations=_by_unit(counts), peak_flop_s=peaks, is_whole=True)
    if histogram:
        return _from_opcodes(histogram, peaks)
    plain = launch.opcodes.get(_OPCODES_WITHOUT_SHAPE)
    if plain is not None:
        ran = any(count and _is_tensor(opcode) for opcode, count in plain.items())
        return TensorWork(operations=None if ran else {}, is_whole=not ran, by_opcode=True)
    ran = any(value > 0 and _PIPE.match(name) for name, value in launch.numbers.items())
    idle = any(value == 0 and _PIPE.match(name) for name, value in launch.numbers.items())
    return TensorWork(operations={} if idle and not ran else None, is_whole=not ran)


def _paths(
    numbers: Mapping[str, float], time_s: float | None, clock_hz: float | None
) -> dict[tuple[str, str], _Path]:
    """The profiler's own counters by (operands, result)."""
    paths: dict[tuple[str, str], _Path] = {}
    for name, value in numbers.items():
        match = _PATH.match(name)
        if match is None:
            continue
        path = paths.setdefault((match["src"], match["dst"] or ""), _Path())
        layer, suffix = match["sparsity"] or "", name[match.end() :]
        if suffix == "":
            path.counts[layer] = value
        elif suffix == ".per_second" and time_s is not None:
            path.counts.setdefault(layer, value * time_s)
        elif suffix == ".peak_sustained" and clock_hz is not None:
            path.peaks[layer] = value * clock_hz
        elif suffix == ".peak_sustained_elapsed.per_second":
            path.peaks.setdefault(layer, value)
    return paths


def _by_unit(counts: Mapping[tuple[str, str], float]) -> dict[ComputeUnit, float]:
    """Counts that do not overlap, by unit: a source as a whole, else by its results."""
    totals: dict[ComputeUnit, float] = {}
    for (src, dst), count in counts.items():
        unit = _unit_of(src)
        if unit is None or _is_covered(src, dst, counts):
            continue
        totals[unit] = totals.get(unit, 0.0) + count
    return totals


def _is_covered(src: str, dst: str, keys: Iterable[tuple[str, str]]) -> bool:
    """True if other counters hold the same operations."""
    known = set(keys)
    if dst and (src, "") in known:
        return True
    members = src.split("_")
    return len(members) > 1 and any(
        (member, other) in known for member in members for other in (dst, "")
    )


def _dense_peaks(paths: Mapping[tuple[str, str], _Path]) -> dict[ComputeUnit, float]:
    peaks: dict[ComputeUnit, float] = {}
    for (src, _), path in paths.items():
        unit = _unit_of(src)
        peak = path.peak(sparse=unit is not ComputeUnit.MATRIX_FP64)
        if unit is not None and peak is not None and peak > 0:
            peaks[unit] = max(peaks.get(unit, 0.0), peak)
    return peaks


def _unit_of(src: str) -> ComputeUnit | None:
    """The unit of operands; where the counter merges several (`fp16_bf16_tf32`), the first's."""
    return _MATRIX_UNITS.get(src.split("_")[0])


def _from_opcodes(
    counts: Mapping[str, int], peak_flop_s: Mapping[ComputeUnit, float]
) -> TensorWork:
    totals: dict[ComputeUnit, float] = {}
    is_whole = True
    for opcode, count in counts.items():
        if not count or not _is_tensor(opcode):
            continue
        known = operations_per_warp(opcode)
        if known is None:
            is_whole = False
            continue
        unit, operations = known
        totals[unit] = totals.get(unit, 0.0) + count * operations
    return TensorWork(operations=totals, peak_flop_s=peak_flop_s, is_whole=is_whole, by_opcode=True)


def _is_tensor(opcode: str) -> bool:
    return bool(_TENSOR_OPCODE.match(opcode)) and not _NO_WORK.match(opcode)


def operations_per_warp(opcode: str) -> tuple[ComputeUnit, int] | None:
    """Unit and operations of one warp-level matrix instruction; `None` where its tile is unknown.

    "HMMA.16816.F32" is a 16×8×16 tile: 4,096 operations on fp16.
    """
    match = _TILE.match(opcode)
    if match is None:
        return None
    tile = match["tile"]
    m, rest = (16, tile[2:]) if tile.startswith("16") else (8, tile[1:])
    if not rest.startswith("8") or len(rest) < 2:
        return None
    n, k = 8, int(rest[1:])
    modifiers = set(opcode.split("."))
    operations = 2 * m * n * k
    if match["pipe"] == "HMMA" and tile == "884" and "F16" in modifiers and "F32" not in modifiers:
        operations *= 2  # Volta: four quads in two steps; in four with 32-bit results
    return _unit_of_opcode(match["pipe"], m, k, modifiers), operations


def _unit_of_opcode(pipe: str, m: int, k: int, modifiers: set[str]) -> ComputeUnit:
    if pipe == "DMMA":
        return ComputeUnit.MATRIX_FP64
    if pipe == "QMMA":
        return ComputeUnit.MATRIX_FP8
    if pipe == "OMMA":
        return ComputeUnit.MATRIX_FP4
    if pipe == "IMMA":
        is_short = modifiers & {"S4", "U4"} or (m, k) in {(8, 32), (16, 64)}
        return ComputeUnit.MATRIX_INT4 if is_short else ComputeUnit.MATRIX_INT8
    if "TF32" in modifiers or (m, k) == (16, 4):
        return ComputeUnit.MATRIX_TF32
    return ComputeUnit.MATRIX_BF16 if "BF16" in modifiers else ComputeUnit.MATRIX_FP16
