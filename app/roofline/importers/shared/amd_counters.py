"""The work of a dispatch by AMD's counters: FLOPs by unit, bytes by memory level.

Formulas: roofline_calc.py and the panels of ROCm/rocprofiler-compute (January 2025), except where
that tool uses 64 bytes for caches whose lines are 128 bytes (gfx94x): there the hardware's size,
but for an L1 whose roof that tool measured.
Counters of instructions count waves of 64 lanes, all taken as active.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from roofline.model.compute import ComputeUnit
from roofline.model.memory import MemoryLevel

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
    found: dict[ComputeUnit, int] = {}
    for precision, unit in _VALU.items():
        weighed = [
            weight * counters[name]
            for kind, weight in _FLOP_PER_INSTRUCTION.items()
            if (name := f"SQ_INSTS_VALU_{kind}_{precision}") in counters
        ]
        if weighed:
            found[unit] = round(LANES * sum(weighed))
    for precision, unit in _MFMA.items():
        operations = counters.get(f"SQ_INSTS_VALU_MFMA_MOPS_{precision}")
        if operations is not None:
            found[unit] = round(_FLOP_PER_MOPS * operations)
    return found or None


def integer_operations(counters: Counters) -> int:
    """Operations of the matrix unit on integers, which are not FLOPs."""
    return round(_FLOP_PER_MOPS * counters.get(_INTEGER_MFMA, 0.0))


def traffic_bytes(counters: Counters, sizes: CacheSizes) -> dict[MemoryLevel, int]:
    """Bytes by level, without those whose counters were not collected."""
    found = {
        MemoryLevel.HBM: _hbm(counters, sizes),
        MemoryLevel.L2: _l2(counters, sizes),
        MemoryLevel.L1: _times(counters, "TCP_TOTAL_CACHE_ACCESSES_sum", sizes.l1_line),
        MemoryLevel.LDS: _lds(counters, sizes),
    }
    return {level: max(0, round(value)) for level, value in found.items() if value is not None}


def _hbm(counters: Counters, sizes: CacheSizes) -> float | None:
    """L2 to the fabric: reads of 32, 64 and (MI300) 128 bytes, writes of 32 and 64."""
    unit = "TCC_EA0" if "TCC_EA0_RDREQ_sum" in counters else "TCC_EA"
    reads, writes = counters.get(f"{unit}_RDREQ_sum"), counters.get(f"{unit}_WRREQ_sum")
    small, large = counters.get(f"{unit}_RDREQ_32B_sum"), counters.get(f"{unit}_WRREQ_64B_sum")
    if reads is None or writes is None or small is None or large is None:
        return None
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


def _times(counters: Counters, name: str, size: int) -> float | None:
    count = counters.get(name)
    return None if count is None else count * size
