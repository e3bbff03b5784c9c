"""The share of each peak that programs reach at best: a thin ceiling below the roof.

A published peak is a product of units and clock; power, clocks and the ends of loops keep large
programs below it. A peak that somebody measured or set is what was reached, so it has none of its
own unless the user gives one.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from roofline.devices.catalogue import sources
from roofline.devices.parts import Part
from roofline.model.compute import ComputeUnit
from roofline.model.device import (
    ComputePeak,
    Device,
    DeviceKind,
    MemoryPeak,
    PeakOrigin,
    Sustained,
)
from roofline.model.memory import MemoryLevel

SUSTAINED_SOURCE = "GUIDE-sustained"
"""The source of what matrix units reach, as the catalogue calls it."""

# Shares of the peak of a matrix unit that large products reach.
_MATRIX: Mapping[DeviceKind, tuple[float, float]] = {
    DeviceKind.TPU: (0.95, 0.95),
    DeviceKind.GPU: (0.80, 0.85),
}
_NOMINAL = {PeakOrigin.PROFILE, PeakOrigin.CATALOGUE}
_BY_USER = "Set by you"

Peak = TypeVar("Peak", ComputePeak, MemoryPeak)
SustainedChoice = Mapping[ComputeUnit | MemoryLevel | None, float]
"""The user's own shares by unit or level; `None` is the main compute peak."""


def with_sustained(device: Device, part: Part | None, chosen: SustainedChoice) -> Device:
    """`device` with what is reached of its peaks; `chosen` are the user's shares (0 to 1)."""
    return replace(
        device,
        compute=tuple(
            _as_measured(part, _of_unit(device.kind, peak, chosen, is_main=k == 0), peak.unit)
            for k, peak in enumerate(device.compute)
        ),
        memory=tuple(
            _as_measured(part, _of_level(part, peak, chosen), peak.level) for peak in device.memory
        ),
        links=tuple(_of_level(part, peak, chosen) for peak in device.links),
    )


def _as_measured(part: Part | None, peak: Peak, of: ComputeUnit | MemoryLevel | None) -> Peak:
    """The peak with what was measured while the work went on, where it was measured."""
    if part is None or of is None or peak.origin is not PeakOrigin.CALIBRATED or peak.sustained:
        return peak
    best, reached = part.value(of.value), part.reached(of.value)
    if not best or reached is None:
        return peak
    share = min(reached.value / best, 1.0)
    return replace(
        peak, sustained=Sustained(low_ratio=share, ratio=share, source=reached.source.text)
    )


def _of_unit(
    kind: DeviceKind, peak: ComputePeak, chosen: SustainedChoice, *, is_main: bool
) -> ComputePeak:
    units = [*([peak.unit] if peak.unit else peak.covers), *([None] if is_main else [])]
    share = next((chosen[unit] for unit in units if unit in chosen), None)
    if share is not None:
        return replace(peak, sustained=_by_user(share))
    if peak.origin not in _NOMINAL or not _is_of_matrix(kind, peak):
        return peak
    return replace(peak, sustained=sustained_matrix_rate(kind))


def sustained_matrix_rate(kind: DeviceKind) -> Sustained | None:
    """The share of a matrix unit's peak that large products reach; `None` where it is not known."""
    if kind not in _MATRIX:
        return None
    low, high = _MATRIX[kind]
    return Sustained(low_ratio=low, ratio=high, source=sources()[SUSTAINED_SOURCE].text)


def _is_of_matrix(kind: DeviceKind, peak: ComputePeak) -> bool:
    """A TPU's peak without a precision is that of its matrix unit."""
    if peak.unit is not None:
        return peak.unit.is_matrix
    return kind is DeviceKind.TPU or any(unit.is_matrix for unit in peak.covers)


def _of_level(part: Part | None, peak: MemoryPeak, chosen: SustainedChoice) -> MemoryPeak:
    if peak.level in chosen:
        return replace(peak, sustained=_by_user(chosen[peak.level]))
    found = part.sustained_link(peak.level) if part and peak.level.is_link else None
    if found is None or peak.origin not in _NOMINAL:
        return peak
    share, figure = found
    return replace(peak, sustained=Sustained(low_ratio=share, ratio=share, source=figure.text))


def _by_user(share: float) -> Sustained:
    return Sustained(low_ratio=share, ratio=share, source=_BY_USER)
