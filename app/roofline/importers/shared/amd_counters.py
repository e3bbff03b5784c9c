"""The work of a dispatch by AMD's counters: FLOPs by unit, bytes by memory level, busy units.

Formulas: roofline_calc.py and the panels of ROCm/rocprofiler-compute (January 2025), except where
that tool uses 64 bytes for caches whose lines are 128 bytes (gfx94x): there the hardware's size,
but for an L1 whose roof that tool measured. Counters of instructions count waves of 64 lanes, all
taken as active. Busy shares: the panel "system speed of light" (gfx942), in which every share is of
the cycles that the dispatch took. Counters that say that a unit had any work (`TCC_BUSY`,
`TA_TA_BUSY`, `GRBM_*_BUSY`) are not shares of a greatest rate and are not read.
The profiler adds some of these up itself, on any GPU (`VALUBusy`, in per cent): these are read too.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, TypeVar

from roofline.importers.shared.launches import Launch
from roofline.model.ceilings import Ceiling, UseFactor
from roofline.model.compute import ComputeUnit
from roofline.model.memory import MemoryLevel
from roofline.model.units import KIB, PS_PER_NS, PS_PER_US

COUNTED_LIMITS = (
    "HBM bytes are those between L2 and the memory fabric: they include traffic to other devices, "
    "to the host and to the Infinity Cache.",
    "Vector FLOPs assume that all 64 lanes of a wave work; packed fp16 operations count once.",
)
"""What counters of dispatches cannot tell."""

LANES = 64
_FLOP_PER_MOPS = 512
_LDS_BYTES_PER_BANK = 4
_DEFAULT_LDS_BANKS = 32

# Precision in counter names → the vector unit; packed fp16 operations count once.
_VALU = {
    "F16": ComputeUnit.VECTOR_FP16,
    "F32": ComputeUnit.VECTOR_FP32,
    "F64": ComputeUnit.VECTOR_FP64,
}
_FLOP_PER_INSTRUCTION = {"ADD": 1, "MUL": 1, "TRANS": 1, "FMA": 2}
_MFMA = {
    "F16": ComputeUnit.MATRIX_FP16,
    "BF16": ComputeUnit.MATRIX_BF16,
    "F32": ComputeUnit.MATRIX_FP32,
    "F64": ComputeUnit.MATRIX_FP64,
    "F8": ComputeUnit.MATRIX_FP8,
    "XF32": ComputeUnit.MATRIX_TF32,
    "F6F4": ComputeUnit.MATRIX_FP4,
}
_INTEGER_MFMA = "SQ_INSTS_VALU_MFMA_MOPS_I8"

Counters = Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheSizes:
    """Bytes per access of one architecture."""

    l1_line: int
    l2_read: int
    lds_banks: int
    has_wide_reads: bool


def cache_sizes(
    architecture: str, lds_banks: int | None, *, counts_as_benchmark: bool = False
) -> CacheSizes:
    """MI300 and later (gfx94x, gfx95x) read lines of 128 bytes, earlier parts 64.

    With `counts_as_benchmark` an access of L1 has 64 bytes on every part, as in rocprof-compute's
    benchmark (`roofline_calc.py`): bytes must be of the convention of the roof they are held
    against.
    """
    is_wide = architecture.lower().startswith(("gfx94", "gfx95"))
    return CacheSizes(
        l1_line=128 if is_wide and not counts_as_benchmark else 64,
        l2_read=128 if is_wide else 64,
        lds_banks=lds_banks or _DEFAULT_LDS_BANKS,
        has_wide_reads=is_wide,
    )


def unit_flop(counters: Counters) -> dict[ComputeUnit, int] | None:
    """FLOPs by unit, `None` where no counter of floating-point work was collected (MI100)."""
    by_unit: dict[ComputeUnit, int] = {}
    for precision, unit in _VALU.items():
        weighed = [
            weight * counters[name]
            for kind, weight in _FLOP_PER_INSTRUCTION.items()
            if (name := f"SQ_INSTS_VALU_{kind}_{precision}") in counters
        ]
        if weighed:
            by_unit[unit] = round(LANES * sum(weighed))
    for precision, unit in _MFMA.items():
        operations = counters.get(f"SQ_INSTS_VALU_MFMA_MOPS_{precision}")
        if operations is not None:
            by_unit[unit] = round(_FLOP_PER_MOPS * operations)
    return by_unit or None


def integer_operations(counters: Counters) -> int:
    """Operations of the matrix unit on integers, which are not FLOPs."""
    return round(_FLOP_PER_MOPS * counters.get(_INTEGER_MFMA, 0.0))


def traffic_bytes(counters: Counters, sizes: CacheSizes) -> dict[MemoryLevel, int]:
    """Bytes by level, without those whose counters were not collected."""
    by_level = {
        MemoryLevel.HBM: _hbm(counters, sizes),
        MemoryLevel.L2: _l2(counters, sizes),
        MemoryLevel.L1: _times(counters, "TCP_TOTAL_CACHE_ACCESSES_sum", sizes.l1_line),
        MemoryLevel.LDS: _lds(counters, sizes),
    }
    return {level: max(0, round(value)) for level, value in by_level.items() if value is not None}


def _hbm(counters: Counters, sizes: CacheSizes) -> float | None:
    """L2 to the fabric: reads of 32, 64 and (MI300) 128 bytes, writes of 32 and 64.

    The profiler adds them up itself as `FETCH_SIZE` and `WRITE_SIZE`, on any GPU; both are 0 on
    those whose counters it cannot read (RDNA 4), which says nothing about the traffic.
    """
    unit = "TCC_EA0" if "TCC_EA0_RDREQ_sum" in counters else "TCC_EA"
    reads, writes = counters.get(f"{unit}_RDREQ_sum"), counters.get(f"{unit}_WRREQ_sum")
    small, large = counters.get(f"{unit}_RDREQ_32B_sum"), counters.get(f"{unit}_WRREQ_64B_sum")
    if reads is None or writes is None or small is None or large is None:
        sums = [_first(counters, names) for names in _MOVED_KIB]
        return None if None in sums else sum(value or 0.0 for value in sums) * KIB or None
    wide = counters.get("TCC_BUBBLE_sum", 0.0) if sizes.has_wide_reads else 0.0
    read = 128 * wide + 32 * small + 64 * (reads - wide - small)
    return read + 64 * large + 32 * (writes - large)


def _l2(counters: Counters, sizes: CacheSizes) -> float | None:
    reads = counters.get("TCP_TCC_READ_REQ_sum")
    others = [
        counters.get(f"TCP_TCC_{kind}_REQ_sum")
        for kind in ("WRITE", "ATOMIC_WITH_RET", "ATOMIC_WITHOUT_RET")
    ]
    if reads is None or others[0] is None:
        return None
    return sizes.l2_read * reads + 64 * sum(value or 0.0 for value in others)


def _lds(counters: Counters, sizes: CacheSizes) -> float | None:
    active, conflicts = counters.get("SQ_LDS_IDX_ACTIVE"), counters.get("SQ_LDS_BANK_CONFLICT")
    if active is None or conflicts is None:
        return None
    return _LDS_BYTES_PER_BANK * sizes.lds_banks * (active - conflicts)


_MOVED_KIB = (("FETCH_SIZE", "FetchSize"), ("WRITE_SIZE", "WriteSize"))


def _first(counters: Counters, names: Sequence[str]) -> float | None:
    return next((counters[name] for name in names if name in counters), None)


def _times(counters: Counters, name: str, size: int) -> float | None:
    count = counters.get(name)
    return None if count is None else count * size


# Cycles in which a unit was used, over all compute units.
_CYCLES = {
    Ceiling.VALU: ("SQ_ACTIVE_INST_VALU",),
    Ceiling.TENSOR: ("SQ_VALU_MFMA_BUSY_CYCLES",),
    Ceiling.SALU: ("SQ_ACTIVE_INST_SCA",),
    Ceiling.BRANCH: ("SQ_ACTIVE_INST_MISC",),
    Ceiling.LSU: ("SQ_ACTIVE_INST_FLAT", "SQ_ACTIVE_INST_VMEM"),
    Ceiling.LDS: ("SQ_LDS_IDX_ACTIVE",),
    Ceiling.L1: ("TCP_TOTAL_CACHE_ACCESSES_sum",),
    Ceiling.L2: ("TCC_REQ_sum",),
}
# The same as the profiler divides them itself, in per cent.
_PERCENT = {Ceiling.VALU: "VALUBusy", Ceiling.SALU: "SALUBusy", Ceiling.TENSOR: "MfmaUtil"}
_LANES_PERCENT, _RESIDENT_PERCENT = "VALUUtilization", "OccupancyPercent"
_GPU_CYCLES = "GRBM_GUI_ACTIVE"
_LANE_CYCLES = "SQ_THREAD_CYCLES_VALU"
_CONFLICTS = "SQ_LDS_BANK_CONFLICT"
# Cycles in which a wave was resident, added up over waves: the second is in quads of cycles.
_WAVE_CYCLES = {"SQ_LEVEL_WAVES": 1, "SQ_WAVE_CYCLES": 4}
READ_COUNTERS = frozenset(
    {_GPU_CYCLES, _LANE_CYCLES, _CONFLICTS, *_WAVE_CYCLES}
    | {name for names in _CYCLES.values() for name in names}
)

_SIMDS_PER_UNIT = 4
# Requests that the L2 of a die serves per cycle: one in each of its channels.
_L2_CHANNELS = {"gfx908": 32, "gfx90a": 32, "gfx942": 16, "gfx950": 16}
_SEVERAL_DIES = ("gfx94", "gfx95")
_OVER_SOON_US = 10.0
_FEW_WAVES = 0.4

Slowness = tuple[str, str]
"""Why no unit is busy, as a code and in words; two empty texts where it was not measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AmdSize:
    """The size of a GPU of the CDNA family. `None` is unknown, and so are shares that need it.

    `dies` are the dies (XCDs) with compute units, of which each counts the GPU's cycles;
    `unit_waves` is how many waves fit on one compute unit, `clock_ghz` the greatest clock.
    """

    units: int | None = None
    dies: int | None = None
    clock_ghz: float | None = None
    l2_channels: int | None = None
    unit_waves: int | None = None


def amd_size(
    architecture: str,
    *,
    units: int | None,
    clock_ghz: float | None,
    dies: int | None = None,
    l2_channels: int | None = None,
    unit_waves: int | None = None,
) -> AmdSize:
    """What is known of a GPU, completed by what its architecture (`gfx942`) says.

    Nothing is known of other families: their counters of one name count something else.
    """
    name = architecture.lower()
    if not name.startswith("gfx9"):
        return AmdSize()
    dies = dies or (None if name.startswith(_SEVERAL_DIES) else 1)
    per_die = _L2_CHANNELS.get(name)
    return AmdSize(
        units=units,
        dies=dies,
        clock_ghz=clock_ghz,
        l2_channels=l2_channels or (per_die * dies if per_die and dies else None),
        unit_waves=unit_waves,
    )


Run = TypeVar("Run")


def passes_joined(
    runs: Iterable[Run],
    *,
    kernels: Callable[[Run], Sequence[object]],
    counters: Callable[[Run], AbstractSet[str]],
    join: Callable[[Run, Run], Run],
) -> list[Run]:
    """Passes of one program as one run: the same kernels in the same order, other counters. Runs
    without counters are others of the program."""
    result: list[Run] = []
    for run in runs:
        mine, names = kernels(run), counters(run)
        for at, known in enumerate(result):
            others = counters(known)
            if (names or others) and names.isdisjoint(others) and mine == kernels(known):
                result[at] = join(known, run)
                break
        else:
            result.append(run)
    return result


def counted_launch(
    counters: Counters,
    sizes: CacheSizes,
    size: AmdSize,
    time_ps: int | None,
    blocks: int | None,
    **labels: Any,
) -> Launch:
    """A dispatch of `blocks` workgroups with what its counters say; `labels` are the rest of it."""
    flop = unit_flop(counters)
    return Launch(
        time_ps=time_ps,
        flop=None if flop is None else sum(flop.values()),
        unit_flop=flop or {},
        traffic_bytes=traffic_bytes(counters, sizes),
        busy=busy_shares(counters, size, time_ps),
        use=use_shares(counters),
        slow=why_slow(counters, size, time_ps, blocks),
        **labels,
    )


def busy_shares(counters: Counters, size: AmdSize, time_ps: int | None) -> dict[Ceiling, float]:
    """Share of a dispatch's time, 0 to 1, in which each unit was used at its greatest rate.

    Units of which not every counter was collected are left out. The vector unit can issue two
    instructions at once: that is a share of 1.
    """
    result = {
        ceiling: min(1.0, counters[name] / 100)
        for ceiling, name in _PERCENT.items()
        if name in counters
    }
    cycles = _cycles(counters, size, time_ps)
    if not cycles or not size.units:
        return result
    places = {Ceiling.TENSOR: _SIMDS_PER_UNIT * size.units, Ceiling.L2: size.l2_channels}
    for ceiling, names in _CYCLES.items():
        used, place = [counters.get(name) for name in names], places.get(ceiling, size.units)
        if place and None not in used:
            result[ceiling] = min(
                1.0, sum(cycles_used or 0.0 for cycles_used in used) / (cycles * place)
            )
    return result


def use_shares(counters: Counters) -> dict[UseFactor, float]:
    """Share of the busy time, 0 to 1, that was of use: lanes at work, accesses without conflict."""
    vector, lanes = counters.get("SQ_ACTIVE_INST_VALU"), counters.get(_LANE_CYCLES)
    active, conflicts = counters.get("SQ_LDS_IDX_ACTIVE"), counters.get(_CONFLICTS)
    result = {}
    if _LANES_PERCENT in counters:
        result[UseFactor.LANES] = min(1.0, counters[_LANES_PERCENT] / 100)
    if vector and lanes is not None:
        result[UseFactor.LANES] = min(1.0, lanes / (vector * LANES))
    if active and conflicts is not None:
        result[UseFactor.BANK_CONFLICTS] = max(0.0, 1.0 - conflicts / active)
    return result


def why_slow(
    counters: Counters, size: AmdSize, time_ps: int | None, blocks: int | None
) -> Slowness:
    """Why a dispatch of `blocks` workgroups could not keep any unit busy."""
    if blocks and size.units and blocks < size.units:
        return "few_blocks", f"{blocks:,} blocks for {size.units:,} compute units"
    if time_ps and time_ps < _OVER_SOON_US * PS_PER_US:
        us = time_ps / PS_PER_US
        return "launch", f"a call of {us:.2g} µs is over before the device is full"
    resident = _resident(counters, size, time_ps)
    if resident is not None and resident < _FEW_WAVES:
        return "low_occupancy", f"only {100 * resident:.0f} % of the waves that fit are resident"
    return "", ""


def _cycles(counters: Counters, size: AmdSize, time_ps: int | None) -> float | None:
    """Cycles of one die during the dispatch.

    The counter also sees what comes before and after: 2.2 times the cycles of a kernel of 5 µs.
    """
    counted = counters.get(_GPU_CYCLES)
    if not counted or not size.dies or not time_ps:
        return None
    most = time_ps / PS_PER_NS * size.clock_ghz if size.clock_ghz else counted
    return min(counted / size.dies, most)


def _resident(counters: Counters, size: AmdSize, time_ps: int | None) -> float | None:
    """Waves on the GPU at a time, over those that fit."""
    if _RESIDENT_PERCENT in counters:
        return counters[_RESIDENT_PERCENT] / 100
    cycles = _cycles(counters, size, time_ps)
    waves = next((n * counters[key] for key, n in _WAVE_CYCLES.items() if key in counters), None)
    if waves is None or not (cycles and size.units and size.unit_waves):
        return None
    return waves / (cycles * size.units * size.unit_waves)
