"""Sentences about the same program on another device."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.subjects.records import Subject
from roofline.devices.parts import Part
from roofline.model.compute import ComputeUnit
from roofline.presentation.goal_numbers import MINUS, Scale
from roofline.presentation.quantities import count, duration, percent, significant, size
from roofline.presentation.shown import unit_labels

_RATE = "rate:"
_SAME = 1e-6


HEADS = ("Part", "Would take", "Change", "Bound by", "Covers")
"""The columns of the table of parts; without the first, `line_texts` is one row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A subject on one device, in us per unit and core.

    `time_us` is `None` where less than half of its time is covered: the rest, `unknown_us`, would
    stay as it is. Waits stay, and count as covered. `bound` is what takes most of that time.
    """

    time_us: float | None
    unknown_us: float
    covered_ratio: float
    bound: str


def line_texts(subject: Subject, found: Prediction) -> list[str]:
    """What a part would take, the change, what binds, and how much of the time is covered.

    Predicted numbers have two digits. Without a prediction the first text says why.
    """
    covers = percent(found.covered_ratio, 0)
    if not subject.time_us:
        return ["cannot be told: the profile has no times", "", "", ""]
    if found.time_us is None:
        unknown = percent(1 - found.covered_ratio, 0)
        return [f"cannot be told: {unknown} of the time is unknown", "", "", covers]
    scale, change = Scale.of(subject.time_us), found.time_us - subject.time_us
    if abs(change) < _SAME * subject.time_us:
        return [duration(subject.time_us), "", found.bound, covers]
    saving = scale.saving(abs(change))
    ratio = significant(found.time_us / subject.time_us, 2)
    sign = MINUS if change < 0 else "+"
    changed = f"{sign}{saving.removeprefix(MINUS)} ({ratio}×)"
    return [duration(found.time_us, 2), changed, found.bound, covers]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Ops that are not counted for one reason: how many, their share of the time."""

    ops: int
    share: float


def notes_of(
    here: RooflineAnalysis,
    left: Mapping[str, LeftOut],
    own_sums: tuple[float, float] | None,
    *,
    there: RooflineAnalysis | None = None,
    part: Part | None = None,
    own: Part | None = None,
) -> list[str]:
    """What a reader must know of a line of the table, a sentence each.

    `own_sums` are least and measured us on the profile's own part `own`, `None` on another, `part`.
    """
    if own_sums is not None or there is None or part is None:
        return [
            text for text in (_impossible(*(own_sums or (0.0, 0.0))), _left(here, left)) if text
        ]
    chip = f"One device is a part of a chip: {part.scope}."
    texts = (
        chip if part.devices_per_chip > 1 else "",
        _memory(part, own),
        _precision(here, there),
        *_stand_ins(here, there, part),
        _levels(here, there),
        _left(here, left, part.absent_units),
    )
    return [text for text in texts if text]


def _impossible(least_us: float, measured_us: float) -> str:
    """A least time cannot be longer than the measured one; predictions from it are wrong, too."""
    if not least_us > measured_us:
        return ""
    return (
        "The least time is longer than the measured one: the peaks in use or the counted work are"
        " not those of this device, so do not rely on the predictions."
    )


def _memory(part: Part, own: Part | None) -> str:
    there, here = part.memory_bytes, None if own is None else own.memory_bytes
    if there is None or here is None or there >= here:
        return ""
    return f"Less memory: {size(there)} instead of {size(here)}, so the program may not fit."


def _precision(here: RooflineAnalysis, there: RooflineAnalysis) -> str:
    """FLOPs that are not split by precision count as the other device's main rate."""
    if here.units or not there.device.compute:
        return ""
    label = there.device.compute[0].label
    return f"Precisions are not in the profile: all FLOPs are compared with {label}."


def _stand_ins(here: RooflineAnalysis, there: RooflineAnalysis, part: Part) -> list[str]:
    labels, rates = unit_labels(here), here.ops.cells.unit_rate_gflops
    published = {one.unit for one in part.compute()}
    return [
        f"{labels[unit]} work is compared with {peak.label}."
        for peak in there.device.compute
        for unit in peak.covers
        if unit in labels and unit not in published and np.nan_to_num(rates[unit]).any()
    ]


def _levels(here: RooflineAnalysis, there: RooflineAnalysis) -> str:
    """Traffic of a memory whose bandwidth there is not known bounds nothing there."""
    known = {peak.level for peak in (*there.device.memory, *there.device.links)}
    missing = [
        level.label
        for level in here.levels
        if not level.is_main
        and level not in known
        and here.peaks.level_gibs(level) is not None
        and np.nan_to_num(here.ops.cells.bandwidth_gibs[level]).any()
    ]
    if not missing:
        return ""
    return f"No bandwidth is known there for {', '.join(missing)}: that traffic bounds nothing."


def _left(
    here: RooflineAnalysis, left: Mapping[str, LeftOut], absent: tuple[ComputeUnit, ...] = ()
) -> str:
    """The operations that are not scaled, and why: they stay as they are."""
    labels = {unit.value: label for unit, label in unit_labels(here).items()}
    return " ".join(
        _reason(reason, one, labels, {unit.value for unit in absent})
        for reason, one in left.items()
    )


def _reason(reason: str, left: "LeftOut", labels: Mapping[str, str], absent: set[str]) -> str:
    share = percent(left.share)
    word = "operation" if left.ops == 1 else "operations"
    ops = f"{count(left.ops)} {word} ({share} of the time)"
    if reason == "bandwidth":
        return f"No memory bandwidth is known: {ops} as long as here."
    unit = reason.removeprefix(_RATE)
    if unit in absent:
        return f"It has no {labels.get(unit, unit)}: {ops} as long as here."
    label = labels.get(unit, unit) if unit else "compute"
    return f"No rate is known for {label}: {ops} as long as here."
