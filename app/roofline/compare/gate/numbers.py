"""Exact numbers of a run: from the compiler or counters, the same digits for the same program."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from roofline.analysis.paths import RECOMPUTED, op_path
from roofline.analysis.roofline import Floats
from roofline.compare.run import Run
from roofline.model.op_columns import Bools

MAIN_BYTES = frozenset({"hbm_bytes", "dram_bytes"})
"""Names for the bytes of the main memory, whichever the profile has."""

FORMULAS = {
    "flops": "sum over operations of calls x FLOPs per call",
    "bytes": "sum over operations of calls x bytes per call, of all memories",
    "roof_time": "sum over operations of calls x longest of work / peak over all roofs, in us",
    "op_count": "number of operations that ran",
    "recomputed_flops": "FLOPs of operations that are rematerialised",
    "unknown_cost_share": "time of operations whose bound is not known / time of all operations",
    "largest_new_op": "roof time of the largest operation that the baseline lacks / all roof time",
    "roof_efficiency": "roof time / time",
    "step": "median over captures of each capture's median time per unit, in us",
    "efficiency": "roof time / time per unit",
    "idle_share": "idle / time per unit",
    "communication_share": "exposed communication / time per unit",
    "transfer_share": "exposed host transfers / time per unit",
    "class": "class of the verdict on what the numbers are of",
    "ratio": "share of the ceiling that binds, of the time in which something runs",
    "idle": "time in which nothing runs / time per unit",
}
_BYTES_FORMULA = "sum over operations of calls x bytes per call at this memory"


def formula(metric: str) -> str:
    """How `metric` is computed, in words."""
    return FORMULAS.get(metric, _BYTES_FORMULA)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Amounts:
    """One number per operation, per unit of the run; NaN where it is not known."""

    values: Floats

    def total(self, rows: Bools | None = None) -> float | None:
        """The sum of what is known; `None` where nothing is."""
        chosen = self.values if rows is None else self.values[rows]
        known = chosen[~np.isnan(chosen)]
        return float(known.sum()) if len(known) else None

    def unknown(self, rows: Bools | None = None) -> int:
        """How many operations are not known."""
        chosen = self.values if rows is None else self.values[rows]
        return int(np.isnan(chosen).sum())


def amounts(run: Run, unit: str, metric: str, other: Run | None = None) -> Amounts:
    """The values of `metric` (flops, bytes, a level's bytes, roof_time, op_count …) in `run`.

    Roof times are held against the peaks of `other`, a baseline of another device.
    """
    times = run.units[unit]
    runs = times.calls > 0
    per_call = _per_call(run, metric, other)
    return Amounts(
        values=np.where(runs, times.calls * per_call, 0.0)
        if metric != "op_count"
        else runs.astype(float)
    )


def _per_call(run: Run, metric: str, other: Run | None) -> Floats:
    if metric == "flops":
        return run.flop
    if metric == "bytes":
        return run.bytes
    if metric == "roof_time":
        return roof_times(run, other)
    if metric == "recomputed_flops":
        return np.where(_is_recomputed(run), run.flop, 0.0)
    if metric == "op_count":
        return np.ones(len(run))
    level = run.main_memory if metric in MAIN_BYTES else metric.removesuffix("_bytes")
    column = run.work.get(level)
    if column is not None:
        return column
    # The run keeps no column of zeros: bytes of a level beside the main memory may be none, or may
    # not have been counted.
    return np.where(np.isnan(run.bytes) | (level != run.main_memory), np.nan, 0.0)


def roof_times(run: Run, other: Run | None) -> Floats:
    """Time of one call at its roof, in us; NaN where the bound is not known."""
    if other is not None and other.peaks != run.peaks:
        columns = _on_peaks_of(run, other)
    else:
        columns = [np.nan_to_num(column) for column in run.roof_us.values()]
    if not columns:
        return np.full(len(run), np.nan)
    longest = np.max(columns, axis=0)
    return np.where((run.is_placed > 0) & (longest > 0), longest, np.nan)


def _on_peaks_of(run: Run, other: Run) -> list[Floats]:
    return [
        np.nan_to_num(column) / other.peaks[name]
        for name, column in run.work.items()
        if other.peaks.get(name, 0.0) > 0
    ]


def _is_recomputed(run: Run) -> Bools:
    def is_one(path: str, name: str) -> bool:
        found = op_path(path)
        return ".remat" in name or (found is not None and found.direction == RECOMPUTED)

    pairs: Sequence[tuple[str, str]] = list(zip(run.text("path"), run.text("name"), strict=True))
    return np.array([is_one(path, name) for path, name in pairs], np.bool_)
