"""The same subject on other devices: what it would take, what binds it, and what is not known.

An op's lower bound on a device is the longest of its FLOPs ÷ compute peak and its bytes ÷
bandwidth: its self time × the share of that device's roof which its measured rates are.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from roofline.analysis.analyse import Prepared, hold
from roofline.analysis.other_device import under_other_peaks
from roofline.analysis.records import I64, Bools, Cost, RooflineAnalysis
from roofline.analysis.roofline import Floats
from roofline.analysis.subjects.records import Subject
from roofline.devices import catalogue
from roofline.devices.catalogue import parts
from roofline.devices.choice import PeakChoice
from roofline.devices.measured import read_machine
from roofline.devices.parts import Part
from roofline.devices.resolve import resolve
from roofline.model.compute import ComputeUnit
from roofline.model.device import ComputePeak, Device, DeviceKind
from roofline.model.units import gib_to_gb
from roofline.presentation.goal import wait_words
from roofline.presentation.other_device_words import LeftOut, Prediction, line_texts, notes_of
from roofline.presentation.page_roofs import bounds, roofs
from roofline.presentation.quantities import bandwidth, flop_rate, percent
from roofline.presentation.rounding import numbers, rounded
from roofline.presentation.shown import listed_ops

Json = dict[str, Any]

LATENCY_EFFICIENCY = 0.05
"""Below this share of its roof an op waits for something else: that time stays elsewhere."""
_LEAST_PART = 1e-4  # a smaller part of an op's FLOPs does not make it that unit's
LEAST_COVERED = 0.5
"""Below this share of the time no total is predicted."""
_MOST_OF_MAKER = 4
_CONSUMER = "GeForce"
ABSENT = "–"
MOST_OPS = 20
"""Operations of which `on_parts` has the best rates."""
_STAND_INS = {
    ComputeUnit.MATRIX_FP64: (ComputeUnit.VECTOR_FP64,),
    ComputeUnit.MATRIX_FP32: (ComputeUnit.VECTOR_FP32,),
    ComputeUnit.MATRIX_TF32: (ComputeUnit.MATRIX_FP32, ComputeUnit.VECTOR_FP32),
    ComputeUnit.MATRIX_BF16: (ComputeUnit.MATRIX_FP16, ComputeUnit.VECTOR_FP16),
}
"""The units that do the work of one that a device lacks: the same precision, only slower, and fp16
for bf16 as in estimates."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OnDevice:
    """A program on one device, by op: least time in us per core (NaN: not known), and its bound.

    `why` says why a time is not known: "idle", "cost", "rate:" with a unit, "bandwidth". `share` is
    that of the roof which the measured rates would be.
    """

    analysis: RooflineAnalysis
    us: Floats
    why: list[str]
    share: Floats
    bound: I64


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
    """The ops of `here` under the peaks of `there`.

    A rate that is shown here may be more than ten times a peak there, which hides it as a rate."""
    shown, every = there.ops.cells, there.ops.measures
    is_known = np.isfinite(here.ops.cells.roofline_efficiency_ratio)
    share = np.where(is_known, every.roofline_efficiency_ratio, shown.roofline_efficiency_ratio)
    why = _reasons(here, there)
    why = [reason or ("cost" if np.isnan(share[op]) else "") for op, reason in enumerate(why)]
    known = np.array([not reason for reason in why], np.bool_)
    us = np.where(known, here.ops.self_time_per_core_us * share, np.nan)
    bound = np.where(is_known, every.bound, shown.bound)
    return OnDevice(analysis=there, us=us, why=why, share=share, bound=bound)


def own_bounds(here: RooflineAnalysis) -> OnDevice:
    """The profile's own device in the same terms: self time × share of its roof."""
    share = here.ops.cells.roofline_efficiency_ratio
    us = here.ops.self_time_per_core_us * share
    idle = [cost is Cost.IDLE for cost in here.ops.cost]
    why = [
        "" if not np.isnan(time) else "idle" if is_idle else "cost"
        for time, is_idle in zip(us.tolist(), idle, strict=True)
    ]
    return OnDevice(analysis=here, us=us, why=why, share=share, bound=here.ops.cells.bound)


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


def predicted(here: RooflineAnalysis, subject: Subject, there: OnDevice) -> Prediction:
    """The subject's known work at the same share of the roofs of `there`; all else as it is."""
    known = subject.ops.needed_us + subject.ops.to_gain_us
    self_us = here.ops.self_time_per_core_us
    share = here.ops.cells.roofline_efficiency_ratio
    scaled = known * _estimate(self_us, share, there.us) / np.where(self_us > 0, self_us, np.nan)
    counted = ~np.isnan(scaled)
    sums = _sums_by_bound(here, there, np.where(counted, scaled, 0.0))
    work, left = float(scaled[counted].sum()), float(known[~counted].sum())
    unknown_us = left + subject.parts.unknown + subject.parts.impossible
    total = subject.time_us - subject.parts.work + unknown_us + work
    covered = 1 - unknown_us / subject.time_us if subject.time_us else 0.0
    sums |= {wait_words(subject, kind): us for kind, us in subject.parts.waits.items()}
    longest = max(sums, key=lambda label: sums[label], default="")
    return Prediction(
        time_us=total if covered >= LEAST_COVERED else None,
        unknown_us=unknown_us,
        covered_ratio=covered,
        bound=longest if sums.get(longest) else "",
    )


def _sums_by_bound(here: RooflineAnalysis, there: OnDevice, us: Floats) -> dict[str, float]:
    labels = [one["label"] for one in bounds(here)]
    bound = there.bound
    return {labels[code]: float(us[bound == code].sum()) for code in set(bound[us > 0].tolist())}


def _estimate(self_us: Floats, efficiency: Floats, least: Floats) -> Floats:
    """Times at the same share of the roof; far from both roofs the waits stay."""
    known = efficiency > 0
    waits = least + self_us * (1 - efficiency)
    nearer = least / np.where(known, efficiency, 1)
    return np.where(~known, self_us, np.where(efficiency < LATENCY_EFFICIENCY, waits, nearer))


def _left_out(subject: Subject, there: OnDevice) -> dict[str, LeftOut]:
    """Known work that has no peak there, by what is missing; *Covers* has the rest."""
    found: dict[str, LeftOut] = {}
    known = (subject.ops.needed_us + subject.ops.to_gain_us).tolist()
    for us, reason in zip(known, there.why, strict=True):
        if us > 0 and reason not in ("", "cost", "idle"):
            before = found.get(reason, LeftOut(ops=0, share=0.0))
            share = before.share + us / subject.time_us
            found[reason] = LeftOut(ops=before.ops + 1, share=share)
    return found


def usual_parts(own: Part | None) -> tuple[Part, ...]:
    """The parts that a table begins with: the generations of the maker of `own`, the newest first,
    then the newest of each other maker."""
    makers = dict.fromkeys(part.vendor for part in parts())
    newest = {maker: _generations(maker) for maker in makers}
    mine = newest.pop(own.vendor, []) if own is not None else []
    same = [part for part in mine if own is not None and part.id != own.id]
    return (*same[:_MOST_OF_MAKER], *(found[0] for found in newest.values() if found))


def _generations(maker: str) -> list[Part]:
    """The part with the fastest memory of each family of boards, the newest family first."""
    boards = [
        part
        for part in parts()
        if part.vendor == maker and part.kind is not DeviceKind.CPU and _CONSUMER not in part.name
    ]
    has_families = any(part.family for part in boards)
    found: dict[str, Part] = {}
    for part in boards:
        key = part.family if has_families else part.id
        before = found.get(key)
        if key and part.compute() and _main_gbs(part) >= (_main_gbs(before) if before else 1.0):
            found[key] = part
    return list(reversed(found.values()))


def _main_gbs(part: Part) -> float:
    return next((one.gbs for one in part.memory() if one.level.is_main), 0.0)


def on_parts(
    prepared: Prepared,
    here: RooflineAnalysis,
    subject: Subject,
    chosen: Sequence[Part],
    usual: Sequence[Part] = (),
) -> Json:
    """`subject` of `here` on its own device, on the `chosen` parts and on the `usual` ones.

    Chosen parts also have their roofs, and the least time of each listed op. Shares that were
    measured are those of the peaks of `here`.
    """
    own = catalogue.find(here.device.part_id or "")
    mine = own_bounds(here)
    return {
        "ops": [here.ops.name[op] for op in _longest(here)],
        "here": {
            "name": here.device.name or "Unknown device",
            "best": _best(here, mine),
            **_line(subject, replace(predicted(here, subject, mine), time_us=subject.time_us)),
            "notes": notes_of(here, {}, _least_sums(here, mine) if subject.time_us else None),
        },
        "devices": [
            _device(here, subject, part, _held(prepared, here, part), own) for part in chosen
        ],
        "usual": [
            _device_line(here, subject, part, _held(prepared, here, part), own)
            for part in usual
            if part not in chosen
        ],
    }


def _held(prepared: Prepared, here: RooflineAnalysis, part: Part) -> OnDevice:
    machine = read_machine()
    reported = prepared.profile.device
    device = resolve(reported, choice=PeakChoice(part_id=part.id), machine=machine)
    profile, device = under_other_peaks(prepared.profile, here.device, device)
    held = hold(replace(prepared, profile=profile), with_stand_ins(device))
    return on_device(here, held)


def _device_line(
    here: RooflineAnalysis, subject: Subject, part: Part, there: OnDevice, own: Part | None
) -> Json:
    left = _left_out(subject, there)
    return {
        "id": part.id,
        "name": part.name,
        **_line(subject, predicted(here, subject, there)),
        "notes": notes_of(here, left, None, there=there.analysis, part=part, own=own),
    }


def _device(
    here: RooflineAnalysis, subject: Subject, part: Part, there: OnDevice, own: Part | None
) -> Json:
    listed = listed_ops(here).tolist()
    shown = roofs(there.analysis)
    main = here.device.compute[0].unit if here.device.compute else None
    compute = shown["compute"]
    wanted = [roof for roof in compute if roof["unit"] == (main and main.value)] or compute
    memory = [roof for roof in shown["memory"] if roof["id"] in ("hbm", "dram")]
    return {
        **_device_line(here, subject, part, there, own),
        "memory": memory[0] if memory else None,
        "compute": wanted[0] if wanted else None,
        "best": _best(here, there),
        "us": numbers(there.us[listed]),
        "bound_by": there.bound[listed].tolist(),
    }


def _longest(here: RooflineAnalysis) -> list[int]:
    """The operations of which a table has a row."""
    timed = [op for op in listed_ops(here).tolist() if here.ops.cost[op] is not Cost.IDLE]
    return timed[:MOST_OPS]


def _best(here: RooflineAnalysis, there: OnDevice) -> list[str]:
    """The best rate of each of these operations there, its share of the peak of the unit that it
    uses, and what binds it: "776 TFLOP/s, 34 %, HBM"."""
    rates, labels = there.analysis.ops.measures, [one["label"] for one in bounds(there.analysis)]
    found = []
    for op in _longest(here):
        share = float(there.share[op])
        if there.why[op] or not share > 0:
            found.append(ABSENT)
            continue
        gflops, gibs = rates.flop_rate_gflops[op] / share, rates.memory_bandwidth_gibs[op] / share
        of_peak = float(rates.compute_efficiency_ratio[op]) / share
        rate = flop_rate(gflops) if gflops > 0 else bandwidth(gib_to_gb(gibs))
        used = [percent(of_peak, 0)] if gflops > 0 and np.isfinite(of_peak) else []
        found.append(", ".join([rate, *used, labels[int(there.bound[op])]]))
    return found


def _line(subject: Subject, found: Prediction) -> Json:
    """A row of the table: numbers, and the same as `texts` in the order of `HEADS`."""
    time_us = found.time_us if subject.time_us else None
    change = None if time_us is None else time_us - subject.time_us
    return {
        "time_us": rounded(time_us),
        "change_us": rounded(change),
        "covered_ratio": rounded(found.covered_ratio),
        "bound": found.bound,
        "texts": line_texts(subject, found),
    }


def _least_sums(here: RooflineAnalysis, there: OnDevice) -> tuple[float, float]:
    """The least time of the counted ops, and the time that they took, in us per core."""
    counted = ~np.isnan(there.us)
    return float(there.us[counted].sum()), float(here.ops.self_time_per_core_us[counted].sum())
