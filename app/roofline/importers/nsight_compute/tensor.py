"""Operations of the tensor cores: by the profiler's own counter, else from the opcode histogram.

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

from roofline.importers.nsight_compute.launches import Launch
from roofline.model.compute import ComputeUnit

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

_UNITS = {
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
    return _UNITS.get(src.split("_")[0])


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
