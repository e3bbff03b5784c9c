"""MFU, HFU and memory-bandwidth utilisation of the step.

HFU = FLOPs ÷ (time × peak), all FLOPs that ran. MFU = HFU without those of recomputation, which a
framework path names (`rematted_computation`). Both are defined in Chowdhery et al., "PaLM", 2022,
appendix B. MBU = bytes of the main memory ÷ (time × its peak bandwidth).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from roofline.analysis.records import UNDECIDED, Measures, RooflineAnalysis, Scope, View
from roofline.model.categories import is_container
from roofline.model.compute import ComputeUnit
from roofline.model.device import ComputePeak
from roofline.model.memory import main_level
from roofline.model.profile import Profile, Provenance

RECOMPUTED = "rematted_computation"
_NEARLY_ALL = 0.99  # of the FLOPs must have a path, else recomputation may hide among the others


@dataclass(frozen=True, slots=True, kw_only=True)
class Utilisation:
    """Shares (0 to 1) of the peaks in the average step, or in the whole capture without steps.

    `None` where not known. `is_least` is true where a part of the FLOPs or bytes is not known.
    `peak_gflops` is the peak that FLOPs are held against, `peak_label` whose it is.
    """

    scope: Scope
    mfu_ratio: float | None
    hfu_ratio: float | None
    memory_bandwidth_ratio: float | None
    recomputed_flop_ratio: float | None
    flop_is_least: bool
    bytes_is_least: bool
    peak_label: str
    peak_gflops: float | None


def utilisation_of(analysis: RooflineAnalysis, view: View) -> Utilisation:
    """How much of the device the program uses, by the definitions above."""
    points = view.program
    row = next((k for k, scope in enumerate(points.scope) if scope is Scope.AVERAGE), 0)
    peak = _peak(analysis, points.measures, row)
    hfu = _share(float(points.measures.flop_rate_gflops[row]), peak.gflops if peak else None)
    recomputed = recomputed_share(analysis.profile)
    main = main_level(analysis.levels)
    used = points.measures.utilisation_ratio.get(main)
    return Utilisation(
        scope=points.scope[row],
        hfu_ratio=hfu,
        mfu_ratio=None if hfu is None or recomputed is None else hfu * (1 - recomputed),
        memory_bandwidth_ratio=None if used is None else _known(float(used[row])),
        recomputed_flop_ratio=recomputed,
        flop_is_least=bool(points.flop_is_least[row]),
        bytes_is_least=bool(points.bytes_is_least[row]),
        peak_label=peak.label if peak else "",
        peak_gflops=peak.gflops if peak else None,
    )


def _peak(analysis: RooflineAnalysis, measures: Measures, row: int) -> ComputePeak | None:
    """The peak of the matrix unit at the precision of most FLOPs, else of the vector unit.

    A program without products has none of the matrix unit's work, and other programs are held
    against that unit, whatever else they do. The device's main peak where neither is known; none
    where it is not known which of several units did most of the work.
    """
    if measures.unit[row] == UNDECIDED:
        return None
    rates = {
        unit: float(np.nan_to_num(measures.unit_rate_gflops[unit][row])) for unit in analysis.units
    }
    every = float(np.nan_to_num(measures.flop_rate_gflops[row]))
    used = _most({unit: rate for unit, rate in rates.items() if unit.is_matrix})
    if used is None:
        used = _most(rates)
        used = used if used is not None and rates[used] > every / 2 else None
    if used is None:
        return next(iter(analysis.device.compute), None)
    roof = analysis.roof_of_unit(analysis.units.index(used))
    return None if roof is None else analysis.device.compute[roof]


def _most(rates: Mapping[ComputeUnit, float]) -> ComputeUnit | None:
    """The unit with the highest rate; `None` where none does any FLOP."""
    used = max(rates, key=rates.__getitem__, default=None)
    return used if used is not None and rates[used] > 0 else None


def recomputed_share(profile: Profile) -> float | None:
    """The share of all FLOPs (0 to 1) that repeat earlier ones; `None` where paths do not tell.

    Only XLA names recomputation in its paths; other frameworks run it under the same names.
    """
    ops = profile.ops
    if profile.flop_provenance is not Provenance.MODELLED:
        return None
    counted = np.array([not is_container(name) for name in ops.category], np.bool_)
    flop = np.where(counted & ops.flop_known, ops.flop.astype(np.float64), 0.0)
    total = float(flop.sum())
    has_path = np.array([bool(path) for path in ops.framework_path], np.bool_)
    if not total or float(flop[has_path].sum()) < _NEARLY_ALL * total:
        return None
    again = np.array([RECOMPUTED in path for path in ops.framework_path], np.bool_)
    return float(flop[again].sum()) / total


def _share(rate: float, peak: float | None) -> float | None:
    return _known(rate / peak) if peak else None


def _known(value: float) -> float | None:
    return value if np.isfinite(value) else None
