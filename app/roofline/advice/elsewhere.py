"""C2 and W1 as options: another division of the work over chips, another part."""

from collections.abc import Iterator, Mapping

import numpy as np

from roofline.advice import thresholds as limit
from roofline.advice.findings import Candidate
from roofline.advice.rows import Rows
from roofline.analysis.op_clocks import MAIN
from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.roofline import Floats
from roofline.devices.catalogue import part as part_of
from roofline.devices.catalogue import parts
from roofline.devices.parts import Part
from roofline.model.compute import ComputeUnit
from roofline.model.memory import MemoryLevel

_UNITS = {unit.value: unit for unit in ComputeUnit}
_LEVELS = {level.value: level for level in MemoryLevel}
_KNOWN = 0.5
_PART = "part"


def sharding(analysis: RooflineAnalysis, rows: Rows) -> Iterator[Candidate]:
    """C2: links between chips that at their peak take longer than all work at its roof.

    With twice the tokens per chip the work doubles, and the traffic of weights and gradients stays.
    """
    moved = [one for one in analysis.transfers.rows if one.link is not MemoryLevel.HOST]
    work_us = float(rows.state.roof_us().sum())
    link_us = rows.state.least_us
    if not moved or len(moved) < len(analysis.transfers.rows) or not 0 < work_us < link_us:
        return
    yield Candidate(
        rule="C2",
        ops=(),
        what=next((one.link.label for one in moved if one.link is not None), "the links"),
        resource="sharding",
        factor=None,
        lever=None,
        term="",
        confidence="low",
        time_us=link_us,
        gain=2 * link_us / max(2 * work_us, link_us),
        facts={"link_us": link_us, "work_us": work_us, "longer": link_us / work_us},
    )


def another_part(analysis: RooflineAnalysis, rows: Rows) -> Iterator[Candidate]:
    """W1: the part of the same maker on which this program takes least, at its present closeness.

    Silent where less than half of the time has a known roof. Launches, idle time and communication
    keep their time, and so does work of unknown cost.
    """
    roof_us, own_us = rows.state.roof_us(), rows.state.own_us
    held = (roof_us > 0) & (roof_us <= limit.IMPOSSIBLE * rows.state.busy_us)
    held[: len(rows.calls)] &= np.array(rows.diagnoses.rule, object) != "L1"
    if not own_us[held].sum() >= _KNOWN * rows.total_us > 0:
        return
    found = [
        (rows.total_us - float((own_us * (1 - ratio))[held].sum()), part, ratio)
        for part in _others(analysis)
        if (ratio := _ratio(analysis, rows, part, roof_us)) is not None
    ]
    if not found:
        return
    after_us, part, ratio = min(found, key=lambda one: (one[0], one[1].id))
    if rows.total_us < limit.OPTION * after_us:
        return
    yield Candidate(
        rule="W1",
        ops=(),
        what=part.name,
        resource=_PART,
        factor=None,
        lever=None,
        term="",
        confidence="low",
        time_us=rows.total_us,
        gain=rows.total_us / after_us,
        facts={
            "after_us": after_us,
            "work_us": float((roof_us * ratio)[held].sum()),
            "here_us": float(roof_us[held].sum()),
        },
    )


def _others(analysis: RooflineAnalysis) -> list[Part]:
    """Parts of the same maker and kind; none where the device is not known."""
    own = part_of(analysis.device.part_id or "")
    if own is None:
        return []
    return [
        one
        for one in parts()
        if (one.vendor, one.kind) == (own.vendor, own.kind) and one is not own
    ]


def _ratio(analysis: RooflineAnalysis, rows: Rows, part: Part, roof_us: Floats) -> Floats | None:
    """Time at the roof of `part` over that of the device, per row; `None` where a peak that the
    program uses is not known of the part."""
    factors = _factors(analysis, part)
    longest = np.zeros_like(roof_us)
    for name, clock in rows.state.clocks.items():
        if name not in factors:
            return None
        longest = np.fmax(longest, clock * factors[name])
    ratio: Floats = longest / np.where(roof_us > 0, roof_us, np.inf)
    return ratio


def _factors(analysis: RooflineAnalysis, part: Part) -> Mapping[str, float]:
    """The factor of each clock: the device's peak over that of the part."""
    device, compute = analysis.device, part.compute()
    rates = {peak.unit: peak.gflops for peak in compute}
    found = {
        name: own / rates[unit]
        for name, unit in _UNITS.items()
        if (own := device.unit_gflops(unit)) and unit in rates
    }
    main = device.compute[0] if device.compute else None
    if main is not None and (main.unit in rates or (main.unit is None and compute)):
        of_part = rates[main.unit] if main.unit is not None else compute[0].gflops
        found[MAIN] = main.gflops / of_part
    widths = {one.level: one.gbs for one in part.memory()}
    main_gbs = next((gbs for level, gbs in widths.items() if level.is_main), None)
    for name, level in _LEVELS.items():
        own_gbs = device.memory_gbs(level)
        gbs = main_gbs if level.is_main else widths.get(level)
        if own_gbs and gbs:
            found[name] = own_gbs / gbs
    return found
