"""Of what a unit was busy with, the share that was of use: lanes, sectors, waves of blocks."""

from collections.abc import Mapping
from math import ceil

from roofline.importers.nsight_compute.busy import Numbers, active_ratio
from roofline.model.ceilings import Ceiling, UseFactor
from roofline.model.compute import ComputeUnit

WAVES = "launch__waves_per_multiprocessor"
MANY_WAVES = 10
_WARP_LANES = 32
_LANES = "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio"
# Numerator and denominator of a share: what would have been enough, and what there was.
_RATIOS = {
    UseFactor.SECTORS: (
        "memory_l2_theoretical_sectors_global_ideal",
        "memory_l2_theoretical_sectors_global",
    ),
    UseFactor.BANK_CONFLICTS: ("memory_l1_wavefronts_shared_ideal", "memory_l1_wavefronts_shared"),
    UseFactor.REPLAYS: ("smsp__inst_executed.sum", "smsp__inst_issued.sum"),
}
WANTED = frozenset({WAVES, _LANES, *(name for pair in _RATIOS.values() for name in pair)})
_PIPES = {
    Ceiling.FP64: ComputeUnit.VECTOR_FP64,
    Ceiling.FP16: ComputeUnit.VECTOR_FP16,
    Ceiling.FMA: ComputeUnit.VECTOR_FP32,
}


def use_factors(
    numbers: Numbers, busy: Mapping[Ceiling, float], fused: Mapping[ComputeUnit, float]
) -> dict[UseFactor, float]:
    """Shares (0 to 1) of use by factor, only what was measured.

    `fused` is, per vector unit, its operations over those of as many multiply-adds. An op has one
    such factor: that of the busiest of these pipes.
    """
    found = {
        UseFactor.LANES: _over(numbers.get(_LANES), _WARP_LANES),
        UseFactor.MULTIPLY_ADDS: _fused(busy, fused),
        **{
            factor: _over(numbers.get(ideal), numbers.get(real))
            for factor, (ideal, real) in _RATIOS.items()
        },
        **_waves(numbers),
    }
    return {factor: share for factor, share in found.items() if share is not None}


def _fused(busy: Mapping[Ceiling, float], fused: Mapping[ComputeUnit, float]) -> float | None:
    pipe = max(_PIPES, key=lambda one: busy.get(one, 0.0))
    return fused.get(_PIPES[pipe]) if busy.get(pipe) else None


def _waves(numbers: Numbers) -> dict[UseFactor, float | None]:
    """Use of the last wave of blocks, and of the SMs where many waves should level them out."""
    waves = numbers.get(WAVES, 0.0)
    if waves <= 0:
        return {}
    levelled = active_ratio(numbers) if waves >= MANY_WAVES else None
    return {UseFactor.LAST_WAVE: waves / ceil(waves), UseFactor.EQUAL_SMS: levelled}


def _over(part: float | None, whole: float | None) -> float | None:
    if part is None or whole is None or part < 0 or whole <= 0:
        return None
    return min(1.0, part / whole)
