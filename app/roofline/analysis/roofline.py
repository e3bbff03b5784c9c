"""Roofline arithmetic: ceilings, ridge points, utilisation, what binds. Numbers in, numbers out.

roofline = min(intensity × peak bandwidth, peak compute); Williams, Waterman, Patterson,
CACM 52(4), 2009. Bandwidths here are GiB/s (2**30) as on the page; intensity is FLOP/byte.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from roofline.model.compute import ComputeUnit
from roofline.model.memory import MemoryLevel
from roofline.model.units import gib_to_gb

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

UNKNOWN_BOUND, COMPUTE_BOUND = 0, 1
_NOTHING = 1e-10


def ratio(part: Floats, whole: Floats | float, *, missing: float) -> Floats:
    """part / whole, `missing` where the whole is (next to) nothing, as XProf divides."""
    whole = np.asarray(whole, np.float64)
    nothing = np.abs(whole) < _NOTHING
    safe = np.where(nothing, 1.0, whole)
    return np.where(nothing, missing, part / safe)


def ridge_point(peak_gflops: float, peak_gibs: float) -> float | None:
    """Intensity, in FLOP/byte, where a memory ceiling meets the compute ceiling."""
    return peak_gflops / gib_to_gb(peak_gibs) if peak_gibs > _NOTHING else None


def attainable_gflops(intensity: float, *, peak_gflops: float, peak_gibs: float) -> float:
    """Best rate the roof allows at `intensity` (FLOP/byte), in GFLOP/s."""
    return min(intensity * gib_to_gb(peak_gibs), peak_gflops)


class Bounds(NamedTuple):
    """Per row: which ceiling is used most, and the intensity at that ceiling.

    `code` is 0 for unknown, 1 for compute, 2 + k for the k-th memory level.
    """

    code: Codes
    intensity: Floats


def classify(
    compute_utilisation: Floats,
    compute_intensity: Floats,
    memory: Sequence[tuple[Floats, Floats]],
) -> Bounds:
    """The most utilised ceiling: compute first, then each (utilisation, intensity) in order.

    A later one wins only if strictly higher, as in XProf; unknown (NaN) utilisation never wins.
    """
    best = np.zeros_like(compute_utilisation)
    code = np.full(len(best), UNKNOWN_BOUND, np.int64)
    intensity = np.zeros_like(best)
    for number, (used, at) in enumerate([(compute_utilisation, compute_intensity), *memory], 1):
        wins = np.nan_to_num(used, nan=0.0) > best
        best = np.where(wins, used, best)
        code = np.where(wins, number, code)
        intensity = np.where(wins, at, intensity)
    return Bounds(code=code, intensity=intensity)


def highest(columns: Sequence[Floats], *, length: int, missing: float) -> Floats:
    """Row-wise maximum of what is known; `missing` where nothing is."""
    if not columns:
        return np.full(length, missing)
    stacked = np.stack(columns)
    known = np.where(np.isnan(stacked), -np.inf, stacked).max(axis=0)
    return np.where(np.isinf(known), missing, known)


class Peaks(NamedTuple):
    """The ceilings rows are held against: GFLOP/s and GiB/s per core, 0 where unknown.

    `binding_gibs` decides what binds; `counted_gibs` holds the levels that enter efficiency;
    `link_gibs` are the links', one way.
    `unit_gflops` are the peaks by compute unit; `is_of_one_unit` is true where `gflops` itself is
    the peak of one of them, and says nothing about work done by another.
    """

    gflops: float
    unit_gflops: Mapping[ComputeUnit, float]
    is_of_one_unit: bool
    binding_gibs: Mapping[MemoryLevel, float]
    counted_gibs: Mapping[MemoryLevel, float]
    link_gibs: Mapping[MemoryLevel, float]

    def level_gibs(self, level: MemoryLevel) -> float | None:
        """Peak of a memory or a link, `None` where it is not known."""
        return (self.link_gibs if level.is_link else self.binding_gibs).get(level)
