"""The same program on other devices: the least time of each op, what binds it, and an estimate.

An op's lower bound on a device is the longest of its FLOPs ÷ compute peak and its bytes ÷
bandwidth: its self time × the share of that device's roof which its measured rates are.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from roofline.analysis.records import Bools, Cost, RooflineAnalysis, View
from roofline.analysis.roofline import Floats
from roofline.devices.parts import Part
from roofline.model.compute import ComputeUnit
from roofline.model.device import ComputePeak, Device
from roofline.presentation.other_device_words import LeftOut, notes_of
from roofline.presentation.page_roofs import bounds, roofs
from roofline.presentation.rounding import numbers, rounded
from roofline.presentation.shown import listed_ops

Json = dict[str, Any]

LATENCY_EFFICIENCY = 0.05
"""Below this share of its roof an op waits for something else: that time stays elsewhere."""
_LEAST_PART = 1e-4  # a smaller part of an op's FLOPs does not make it that unit's
_MOST_NAMES = 3
_STAND_INS = {
    ComputeUnit.MATRIX_FP64: (ComputeUnit.VECTOR_FP64,),
    ComputeUnit.MATRIX_FP32: (ComputeUnit.VECTOR_FP32,),
    ComputeUnit.MATRIX_TF32: (ComputeUnit.MATRIX_FP32, ComputeUnit.VECTOR_FP32),
}
"""The units that do the work of one that a device lacks: the same precision, only slower."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OnDevice:
    """A program on one device, by op: least time in us per core (NaN: not known), and its bound.

    `why` says why a time is not known: "idle", "cost", "rate:" with a unit, "bandwidth".
    """

    analysis: RooflineAnalysis
    us: Floats
    why: list[str]


def with_stand_ins(device: Device) -> Device:
    """`device`, whose units also do the work of those that it lacks."""
    has = {unit for peak in device.compute for unit in _units_of(peak)}
    stands = {
        missing: next((unit for unit in others if unit in has), None)
        for missing, others in _STAND_INS.items()
        if missing not in has
    }
    compute = [
        replace(peak, covers=(*peak.covers, *(u for u, by in stands.items() if by == peak.unit)))
        for peak in device.compute
    ]
    return replace(device, compute=tuple(compute))


def _units_of(peak: ComputePeak) -> tuple[ComputeUnit, ...]:
    return (*((peak.unit,) if peak.unit else ()), *peak.covers)


def on_device(here: RooflineAnalysis, there: RooflineAnalysis) -> OnDevice:
    """The ops of `here` under the peaks of `there`."""
    share = there.ops.cells.roofline_efficiency_ratio
    why = _reasons(here, there)
    why = [reason or ("cost" if np.isnan(share[op]) else "") for op, reason in enumerate(why)]
    known = np.array([not reason for reason in why], np.bool_)
    us = np.where(known, here.ops.self_time_per_core_us * share, np.nan)
    return OnDevice(analysis=there, us=us, why=why)


def own_bounds(here: RooflineAnalysis) -> OnDevice:
    """The profile's own device in the same terms: self time × share of its roof."""
    us = here.ops.self_time_per_core_us * here.ops.cells.roofline_efficiency_ratio
    idle = [cost is Cost.IDLE for cost in here.ops.cost]
    why = [
        "" if not np.isnan(time) else "idle" if is_idle else "cost"
        for time, is_idle in zip(us.tolist(), idle, strict=True)
    ]
    return OnDevice(analysis=here, us=us, why=why)


def _reasons(here: RooflineAnalysis, there: RooflineAnalysis) -> list[str]:
    """Why an op's lower bound is not known on a device; empty where it may be."""
    cells, device = here.ops.cells, there.device
    rate = np.nan_to_num(cells.flop_rate_gflops)
    moved = np.nan_to_num(cells.memory_bandwidth_gibs)
    has_main = any(peak.level.is_main for peak in device.memory)
    has = {unit for peak in device.compute for unit in _units_of(peak)}
    lacking: list[tuple[str, Bools]] = [
        (f"rate:{unit.value}", np.nan_to_num(cells.unit_rate_gflops[unit]) > rate * _LEAST_PART)
        for unit in here.units
        if unit not in has
    ]

    def reason(op: int) -> str:
        cost = here.ops.cost[op]
        if cost is Cost.IDLE:
            return "idle"
        if cost in (Cost.TRANSFER, Cost.UNKNOWN) or not (rate[op] > 0 or moved[op] > 0):
            return "cost"
        missing = next((why for why, works in lacking if works[op]), "")
        if missing:
            return missing
        if rate[op] > 0 and not device.compute:
            return "rate:"
        return "bandwidth" if moved[op] > 0 and not has_main else ""

    return [reason(op) for op in range(len(here.ops))]


def _summary(here: RooflineAnalysis, view: View, there: OnDevice) -> Json:
    """The program on one device, per core, over the ops whose bound is known there."""
    rows = view.op
    self_us = here.ops.self_time_per_core_us[rows]
    least = there.us[rows]
    counted = ~np.isnan(least) & ~np.isnan(self_us)
    efficiency = np.minimum(here.ops.cells.roofline_efficiency_ratio[rows], 1)
    estimate = _estimate(self_us, efficiency, least)
    share = np.nan_to_num(view.self_share_ratio)
    bound, own = there.analysis.ops.cells.bound[rows], here.ops.cells.bound[rows]
    bound_us = float(least[counted].sum())
    changed = counted & (bound != own)
    labels = [one["label"] for one in bounds(here)]
    limits = [
        (labels[code], float(least[counted & (bound == code)].sum()))
        for code in dict.fromkeys(bound[counted].tolist())
    ]
    return {
        "bound_us": rounded(bound_us),
        "estimate_us": rounded(float(estimate[counted].sum())),
        "measured_us": rounded(float(self_us[counted].sum())),
        "covered_ratio": rounded(float(share[counted].sum())),
        "limits": [
            {"label": label, "ratio": rounded(us / bound_us)}
            for label, us in sorted(limits, key=lambda one: -one[1])
            if us > 0
        ],
        "changed": {"ops": int(changed.sum()), "share_ratio": rounded(float(share[changed].sum()))},
    }


def _estimate(self_us: Floats, efficiency: Floats, least: Floats) -> Floats:
    """Times at the same share of the roof; far from both roofs the waits stay."""
    known = efficiency > 0
    waits = least + self_us * (1 - efficiency)
    nearer = least / np.where(known, efficiency, 1)
    return np.where(~known, self_us, np.where(efficiency < LATENCY_EFFICIENCY, waits, nearer))


def _left_out(here: RooflineAnalysis, view: View, there: OnDevice) -> dict[str, LeftOut]:
    found: dict[str, LeftOut] = {}
    share = np.nan_to_num(view.self_share_ratio).tolist()
    for op, part in zip(view.op.tolist(), share, strict=True):
        self_us = here.ops.self_time_per_core_us[op]
        if not np.isnan(there.us[op]) and not np.isnan(self_us):
            continue
        reason = there.why[op] or "cost"
        before = found.get(reason, LeftOut(ops=0, share=0.0, names=()))
        found[reason] = LeftOut(
            ops=before.ops + 1,
            share=before.share + part,
            names=(*before.names, here.ops.name[op])[:_MOST_NAMES],
        )
    return found


def other_devices(
    here: RooflineAnalysis,
    others: Sequence[tuple[Part, RooflineAnalysis]],
    own: Part | None,
    infeed: str,
) -> Json:
    """One line for the profile's own device and each of `others`, and what ops take there.

    `own` is the part of the profile's device, where it is known.
    """
    view = here.with_infeed if infeed == "in" else here.without_infeed
    listed = listed_ops(here)
    mine = own_bounds(here)
    line = _summary(here, view, mine)
    return {
        "here": {
            "name": here.device.name or "Unknown device",
            **line,
            "notes": notes_of(here, _left_out(here, view, mine), line),
        },
        "devices": [
            _device(here, view, part, on_device(here, there), own, listed.tolist())
            for part, there in others
        ],
    }


def _device(
    here: RooflineAnalysis,
    view: View,
    part: Part,
    there: OnDevice,
    own: Part | None,
    listed: Sequence[int],
) -> Json:
    shown = roofs(there.analysis)
    main = here.device.compute[0].unit if here.device.compute else None
    compute = shown["compute"]
    wanted = [roof for roof in compute if roof["unit"] == (main and main.value)] or compute
    memory = [roof for roof in shown["memory"] if roof["id"] in ("hbm", "dram")]
    left = _left_out(here, view, there)
    return {
        "id": part.id,
        "name": part.name,
        "memory": memory[0] if memory else None,
        "compute": wanted[0] if wanted else None,
        "us": numbers(there.us[listed]),
        "bound_by": there.analysis.ops.cells.bound[listed].tolist(),
        **_summary(here, view, there),
        "notes": notes_of(here, left, None, there=there.analysis, part=part, own=own),
    }
