"""Answers for the owner of a language-model server: by phase and batch, per step.

The bound of a step is the time that its operations take at their roofs, one after the other; work
that is not known adds nothing, so it is a lower bound, and `known_ratio` says of which share of the
busy time the work is known. Shares of the peaks are over the time of the step.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from roofline.analysis import roofline
from roofline.analysis.context import Context
from roofline.analysis.knowledge import KNOWN_SHARE, both_known
from roofline.analysis.measure import measure
from roofline.analysis.records import I64, U64, Bools
from roofline.analysis.roofline import Floats
from roofline.analysis.serving_records import ServingColumns, ServingGroup, ServingRecords
from roofline.model.serving import PHASES, ServingSteps
from roofline.model.units import GIGA, PS_PER_S, PS_PER_US

MAX_GROUPS = 64


def by_batch(steps: ServingSteps) -> list[tuple[str, I64]]:
    """Phase and steps of each group: those of decode by their number of sequences, those of other
    phases together; the groups with most time first where there are too many."""
    phase = np.array(steps.phase, object)
    groups: list[tuple[str, I64]] = []
    for name in PHASES:
        rows = np.flatnonzero(phase == name)
        sizes = np.nan_to_num(steps.sequences[rows], nan=-1)
        if name == "decode":
            groups += [(name, rows[sizes == size]) for size in np.unique(sizes).tolist()]
        elif len(rows):
            groups.append((name, rows))
    if len(groups) > MAX_GROUPS:
        groups.sort(key=lambda group: -float(steps.span_ps[group[1]].sum()))
    return groups[:MAX_GROUPS]


def batches(steps: ServingSteps | None) -> list[tuple[str, I64]]:
    """The same under the names that people read: "decode, 32 sequences"."""
    if steps is None:
        return []
    return [(batch_name(phase, steps.sequences[rows]), rows) for phase, rows in by_batch(steps)]


def batch_name(phase: str, sequences: NDArray[np.float64]) -> str:
    """The name of steps with these numbers of sequences; without a number where they differ."""
    sizes = np.unique(sequences)
    if len(sizes) != 1 or not np.isfinite(sizes[0]):
        return phase
    return f"{phase}, {sizes[0]:,.0f} {'sequence' if sizes[0] == 1 else 'sequences'}"


def step_label(name: str) -> str:
    """The name of a step of these: "Decode step, 32 sequences"."""
    phase, comma, size = name.partition(", ")
    return f"{phase.capitalize()} step{comma}{size}"


def serving_records(context: Context) -> ServingRecords | None:
    """Records of the server's steps; `None` where the profile has none."""
    steps = context.profile.serving
    if steps is None or not len(steps):
        return None
    columns = _columns(steps, context)
    groups = [_group(steps, columns, context, phase, rows) for phase, rows in by_batch(steps)]
    return ServingRecords(steps=steps, columns=columns, groups=tuple(groups))


def _columns(steps: ServingSteps, context: Context) -> ServingColumns:
    cores = max(context.device.core_count, 1)
    count = len(steps)
    least = _at_roofs(steps, context)
    known = both_known(context.profile, steps.work)
    work_ps = steps.work.self_time_ps.astype(np.float64)
    spent, of_known = np.zeros(count), np.zeros(count)
    np.add.at(spent, steps.work_step, work_ps)
    np.add.at(of_known, steps.work_step[known], work_ps[known])
    wait = steps.wait_ps / PS_PER_US
    time = steps.span_ps / PS_PER_US
    # The wait before the first step of a capture is not known to be a part of serving.
    since = np.where(np.arange(count) > 0, wait, 0.0)
    return ServingColumns(
        time_us=time,
        busy_us=steps.busy_ps / PS_PER_US,
        period_us=time + since,
        wait_us=wait,
        flop=_summed(steps, steps.work.flop, steps.work.flop_known) / cores,
        moved_bytes=_summed(steps, steps.work.bytes_accessed, steps.work.bytes_known) / cores,
        bound_us=_added(steps, least) / cores,
        known_ratio=roofline.ratio(of_known, spent, missing=0.0),
    )


def _at_roofs(steps: ServingSteps, context: Context) -> Floats:
    """Time in us of each row of work at its roof; NaN where it has none."""
    found = measure(steps.work.split(context.levels, context.units), context)
    used = [
        found.main_utilisation_ratio,
        *found.unit_utilisation_ratio.values(),
        *found.utilisation_ratio.values(),
    ]
    highest = roofline.highest(used, length=len(steps.work), missing=np.nan)
    return highest * steps.work.time_ps.astype(np.float64) / PS_PER_US


def _summed(steps: ServingSteps, values: U64, known: Bools) -> Floats:
    return _added(steps, np.where(known & steps.work.cost_known, values.astype(np.float64), 0.0))


def _added(steps: ServingSteps, values: Floats) -> Floats:
    total = np.zeros(len(steps))
    np.add.at(total, steps.work_step, np.nan_to_num(values))
    return total


def _group(
    steps: ServingSteps, columns: ServingColumns, context: Context, phase: str, rows: I64
) -> ServingGroup:
    new = steps.prefill_tokens[rows] + steps.decode_tokens[rows]
    time_us = float(np.median(columns.time_us[rows]))
    period_us = float(np.median(columns.period_us[rows]))
    waits = columns.wait_us[rows[rows > 0]]
    tokens = _known(np.median(new))
    work = _work_of(steps, columns, context, rows)
    rate = _bandwidth(context)
    return ServingGroup(
        phase=phase,
        sequences=_single(steps.sequences[rows]),
        steps=len(rows),
        new_tokens=tokens,
        context_tokens=_known(np.median(steps.context_tokens[rows])),
        time_us=time_us,
        busy_us=float(np.median(columns.busy_us[rows])),
        period_us=period_us,
        wait_us=float(np.median(waits)) if len(waits) else None,
        longest_wait_us=float(columns.wait_us[rows].max()),
        tokens_per_s=_per_second(tokens, period_us),
        time_per_token_us=_per_token(phase, steps, rows, period_us),
        flop=work["flop"],
        weight_bytes=work["weight"],
        weight_bytes_least=work["least"],
        weight_bytes_most=work["most"],
        cache_bytes=work["cache"],
        other_bytes=work["other"],
        bound_us=work["bound"] or None,
        known_ratio=float(np.median(columns.known_ratio[rows])),
        bandwidth_ratio=_share(work["moved"], rate, time_us),
        weight_ratio=_share(work["weight"], rate, time_us),
        cache_ratio=_share(work["cache"], rate, time_us),
        flop_ratio=_share(work["flop"], context.peaks.gflops * GIGA or None, time_us),
    )


def _work_of(
    steps: ServingSteps, columns: ServingColumns, context: Context, rows: I64
) -> dict[str, float | None]:
    """Medians of the work of steps, of one core; all unknown where most of their work is.

    Without the lengths of the sequences, what attention reads of the cache is not known.
    """
    cores = max(context.device.core_count, 1)
    if float(np.median(columns.known_ratio[rows])) < KNOWN_SHARE:
        names = ("flop", "moved", "bound", "weight", "least", "most", "cache", "other")
        return dict.fromkeys(names)
    moved = float(np.median(columns.moved_bytes[rows]))
    weight = float(np.median(steps.weight_bytes[rows])) / cores
    has_lengths = bool(np.isfinite(np.median(steps.context_tokens[rows])))
    cache = float(np.median(steps.cache_bytes[rows])) / cores if has_lengths else None
    return {
        "flop": float(np.median(columns.flop[rows])),
        "moved": moved,
        "bound": float(np.median(columns.bound_us[rows])),
        "weight": weight,
        "least": float(np.median(steps.weight_least[rows])) / cores,
        "most": float(np.median(steps.weight_most[rows])) / cores,
        "cache": cache,
        "other": max(moved - weight - (cache or 0.0), 0.0),
    }


def _bandwidth(context: Context) -> float | None:
    """Peak of the main memory in B/s, of one core."""
    peaks = {peak.level: peak.gbs for peak in context.device.memory}
    gbs = peaks.get(context.main_level)
    return gbs * GIGA if gbs else None


def _share(amount: float | None, peak: float | None, time_us: float) -> float | None:
    if amount is None or not peak or not time_us:
        return None
    return amount / (peak * time_us * PS_PER_US / PS_PER_S)


def _per_second(tokens: float | None, period_us: float) -> float | None:
    return tokens / (period_us * PS_PER_US / PS_PER_S) if tokens and period_us else None


def _per_token(phase: str, steps: ServingSteps, rows: I64, period_us: float) -> float | None:
    """Time per output token of a sequence in decode, which gets one per query and step."""
    if phase != "decode":
        return None
    each = np.median(steps.decode_tokens[rows] / steps.sequences[rows])
    return period_us / float(each) if np.isfinite(each) and each > 0 else None


def _single(values: Floats) -> float | None:
    """The one value of all rows; `None` where they differ or are unknown."""
    found = np.unique(values)
    return _known(found[0]) if len(found) == 1 else None


def _known(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None
