"""One side of many changes at once: costs and clocks of classes of operations of one run."""

import math
from collections.abc import Sequence

import numpy as np

from roofline.analysis.roofline import Floats
from roofline.compare.attribution import Costs, roof_us
from roofline.compare.changes import Side
from roofline.compare.run import Run, UnitTimes
from roofline.model.memory import MemoryLevel

MEMORIES = frozenset(level.value for level in MemoryLevel)
"""Resources that are memories or links; all others are compute units."""


def costs_of(run: Run, other: Run, unit: str, rows: Sequence[tuple[int, ...]]) -> Costs:
    """One row per entry of `rows`: calls and time of all its members, work of the first one."""
    resources = list(dict.fromkeys((*run.work, *other.work)))
    if run.work.keys() != other.work.keys():
        resources.sort()  # the same order for both sides
    units = [name for name in resources if name not in MEMORIES]
    levels = [name for name in resources if name in MEMORIES]
    first = np.array([members[0] for members in rows])
    flop, flop_peaks = _work_of(run, units, first)
    moved, bytes_peaks = _work_of(run, levels, first)
    times = run.units[unit]
    calls, time_us = _sums(times.calls, rows), _sums(times.time_us, rows)
    return Costs(
        calls=calls,
        time_us=time_us,
        flop=flop,
        bytes=moved,
        flop_peaks=flop_peaks,
        bytes_peaks=bytes_peaks,
        is_known=(run.is_placed[first] > 0) & (calls > 0),
    )


def _sums(column: Floats, rows: Sequence[tuple[int, ...]]) -> Floats:
    flat = np.array([row for members in rows for row in members])
    starts = np.cumsum([0, *(len(members) for members in rows)])[:-1]
    return np.asarray(np.add.reduceat(column[flat], starts))


def _work_of(run: Run, resources: Sequence[str], first: Floats) -> tuple[Floats, Floats]:
    """Work per call by resource, and the peak it is held against: an op's own, or the device's."""
    work, peaks = np.zeros((len(first), len(resources))), np.zeros((len(first), len(resources)))
    for number, name in enumerate(resources):
        device_peak = run.peaks.get(name, 0.0)
        if name not in run.work:
            peaks[:, number] = device_peak
            continue
        done, needs = run.work[name][first], run.roof_us[name][first]
        has_own = (np.nan_to_num(done) > 0) & (np.nan_to_num(needs) > 0)
        own = np.where(has_own, done / np.where(has_own, needs, 1.0), 0.0)
        work[:, number] = np.nan_to_num(done)
        peaks[:, number] = np.where(np.nan_to_num(done) > 0, own, device_peak)
    return work, peaks


def sides_of(run: Run, unit: str, costs: Costs, rows: Sequence[tuple[int, ...]]) -> list[Side]:
    """One side per entry of `rows`, whose costs in a `unit` are `costs`."""
    names, per_call, times = run.text("name"), roof_us(costs), run.units[unit]
    is_judged = ~np.isnan(times.needed_us)
    needed = _sums(np.nan_to_num(times.needed_us), rows).tolist()
    judged = _sums(np.where(is_judged, times.time_us, 0.0), rows).tolist()
    operands, results = run.text("operands"), run.text("results")
    paths, categories = run.text("path"), run.text("category")
    clocks = _clocks(costs)
    replicates = _replicates(times, rows)
    library = run.text("library")
    allowed = per_call * costs.calls
    known = costs.is_known & (per_call > 0)
    shown = known & (costs.time_us > 0)
    efficiency = np.where(shown, allowed / np.where(shown, costs.time_us, 1.0), np.nan)
    return [
        Side(
            names=tuple(names[row] for row in members),
            time_us=time_us,
            needed_us=needed_us,
            judged_us=judged_us,
            calls=calls,
            flop=_number(run.flop[members[0]]),
            bytes=_number(run.bytes[members[0]]),
            main_bytes=_main_bytes(run, members[0]),
            efficiency=_number(share),
            bound=bound if is_known else None,
            source=run.source(members[0]),
            library=library[members[0]],
            captures_us=captures,
            compute_us=compute_us,
            memory_us=memory_us,
            serial_us=serial_us,
            operands=operands[members[0]],
            results=results[members[0]],
            path=paths[members[0]],
            category=categories[members[0]],
        )
        for members, bound, time_us, needed_us, judged_us, calls, share, is_known, captures, (
            compute_us,
            memory_us,
            serial_us,
        ) in zip(
            rows,
            _bounds(run, [members[0] for members in rows]),
            costs.time_us.tolist(),
            needed,
            judged,
            costs.calls.tolist(),
            efficiency.tolist(),
            known.tolist(),
            replicates,
            clocks,
            strict=True,
        )
    ]


def _replicates(times: UnitTimes, rows: Sequence[tuple[int, ...]]) -> list[tuple[float, ...]]:
    """The time of each entry of `rows` in every capture of the run's side, in us."""
    found = times.replicates
    if found is None:
        return [()] * len(rows)
    return [tuple(found.ops_us[:, list(members)].sum(axis=1).tolist()) for members in rows]


def _main_bytes(run: Run, row: int) -> float | None:
    column = run.work.get(run.main_memory)
    return None if column is None else _number(column[row])


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _clocks(costs: Costs) -> list[tuple[float, float, float]]:
    """Longest compute clock, longest memory clock and the sum of all, over all calls; NaN unknown.

    Work without a peak has no clock.
    """
    flop_us, bytes_us = (
        np.where(peaks > 0, work / np.where(peaks > 0, peaks, 1.0), 0.0)
        for work, peaks in ((costs.flop, costs.flop_peaks), (costs.bytes, costs.bytes_peaks))
    )
    columns = (
        flop_us.max(axis=1, initial=0.0),
        bytes_us.max(axis=1, initial=0.0),
        flop_us.sum(axis=1) + bytes_us.sum(axis=1),
    )
    known = [np.where(costs.is_known, one * costs.calls, np.nan).tolist() for one in columns]
    return list(zip(*known, strict=True))


def _bounds(run: Run, rows: list[int]) -> list[str | None]:
    """The resource that needs the longest time at its peak, of each row."""
    names = list(run.roof_us)
    if not names:
        return [None] * len(rows)
    needs = np.nan_to_num(np.stack([run.roof_us[name][rows] for name in names]))
    longest = zip(needs.argmax(axis=0).tolist(), needs.max(axis=0).tolist(), strict=True)
    return [names[at] if need > 0 else None for at, need in longest]
