"""Sentences about the same program on another device."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from roofline.analysis.records import RooflineAnalysis
from roofline.devices.parts import Part
from roofline.model.compute import ComputeUnit
from roofline.presentation.quantities import count, percent, size
from roofline.presentation.shown import unit_labels

_RATE = "rate:"


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Ops that are not counted for one reason: how many, their share of the time, some names."""

    ops: int
    share: float
    names: tuple[str, ...]


def notes_of(
    here: RooflineAnalysis,
    left: Mapping[str, LeftOut],
    own_line: Mapping[str, Any] | None,
    *,
    there: RooflineAnalysis | None = None,
    part: Part | None = None,
    own: Part | None = None,
) -> list[str]:
    """What is to be known of a line; `own_line` is that of the profile's own device.

    Elsewhere it is that of `part`; `own` is the part of the profile's device, if known.
    """
    if own_line is not None or there is None or part is None:
        return [text for text in (_impossible(own_line or {}), _left(here, left)) if text]
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


def _impossible(line: Mapping[str, Any]) -> str:
    """A least time cannot be longer than the measured one; estimates from it are wrong, too."""
    if not (line.get("bound_us") or 0) > (line.get("measured_us") or 0):
        return ""
    return (
        "The least time is longer than the measured one: the peaks in use or the counted work are"
        " not those of this device, so do not rely on the estimates."
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
    """The operations that are not counted, and why: neither time has them."""
    labels = {unit.value: label for unit, label in unit_labels(here).items()}
    return " ".join(
        _reason(reason, one, labels, {unit.value for unit in absent})
        for reason, one in left.items()
    )


def _reason(reason: str, left: "LeftOut", labels: Mapping[str, str], absent: set[str]) -> str:
    more = " …" if left.ops > len(left.names) else ""
    share = percent(left.share)
    word = "operation" if left.ops == 1 else "operations"
    ops = f"{count(left.ops)} {word} ({share} of the time: {', '.join(left.names)}{more})"
    if reason == "idle":
        return f"Idle time ({share}) is left out."
    if reason == "cost":
        return f"{ops} without counted work {'is' if left.ops == 1 else 'are'} left out."
    if reason == "bandwidth":
        return f"No memory bandwidth is known: {ops} left out."
    unit = reason.removeprefix(_RATE)
    if unit in absent:
        return f"It has no {labels.get(unit, unit)}: {ops} left out."
    return f"No rate is known for {labels.get(unit, unit) if unit else 'compute'}: {ops} left out."
