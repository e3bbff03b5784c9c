"""An analysis in the generic format (docs/generic-format.md), which this program reads again.

Work, bytes per memory, busy shares and self times per op are exact; idle time, steps, the sum of
bytes over all memories, shares of peaks measured per launch and the reasons why a kernel is slow
have no place in that format.
"""

import math
from typing import Any

from roofline.analysis.records import RooflineAnalysis
from roofline.model.categories import is_container, is_infeed_outfeed
from roofline.model.device import ComputePeak, MemoryPeak, PeakOrigin
from roofline.model.memory import main_level
from roofline.model.profile import OpTable
from roofline.presentation.json_text import to_json
from roofline.presentation.shown import shown_peaks

SCHEMA = "roofline-generic/1"

_MEASURED = (PeakOrigin.MEASURED, PeakOrigin.CALIBRATED)


def to_generic(analysis: RooflineAnalysis, *, include_infeed_outfeed: bool) -> bytes:
    """The ops and roofs of `analysis` as UTF-8 JSON; containers are left out, as in its totals."""
    ops, device = analysis.profile.ops, analysis.device
    kept = [
        op
        for op, category in enumerate(ops.category)
        if not is_container(category)
        and (include_infeed_outfeed or not is_infeed_outfeed(category))
    ]
    document = {
        "schema": SCHEMA,
        "device": {"name": device.name, "count": device.core_count},
        "roofs": {
            "compute": [_compute(peak) for peak in device.compute],
            "memory": [_memory(peak) for peak in shown_peaks(analysis)],
        },
        "kernels": [_kernel(analysis, op) for op in kept],
    }
    return to_json(document)


def _kernel(analysis: RooflineAnalysis, op: int) -> dict[str, Any]:
    ops, names = analysis.profile.ops, analysis.profile.program_names
    program = int(ops.program_id[op])
    tags = {"program": names.get(program, str(program) if program else None)}
    kernel: dict[str, Any] = {
        "name": ops.name[op],
        "calls": int(ops.occurrences[op]),
        "category": ops.category[op],
        "tags": {key: value for key, value in tags.items() if value},
    }
    described = {
        "framework_path": ops.framework_path[op],
        "operand_shapes": ops.operands[op],
        "result_shapes": ops.results[op],
    }
    kernel |= {key: text for key, text in described.items() if text}
    if ops.time_known[op]:
        kernel["time"] = {"value": int(ops.self_time_ps[op]), "unit": "ps"}
    elif ops.time_ps[op]:
        return kernel | _rates(ops, op)
    if ops.flop_known[op]:
        kernel["flops"] = _flops(ops, op)
    if busy := _busy(ops, op):
        kernel["busy"] = busy
    moved = _moved(analysis, op)
    if ops.bytes_known[op] or ops.traffic_known[op]:
        memory = _bytes(ops, op)
        kernel["bytes"] = {**_by_level(analysis, memory), **moved} if moved else memory
    elif moved:
        kernel["bytes"] = moved
    return kernel


def _by_level(analysis: RooflineAnalysis, memory: int | dict[str, int]) -> dict[str, int]:
    return {main_level(analysis.levels).value: memory} if isinstance(memory, int) else memory


def _moved(analysis: RooflineAnalysis, op: int) -> dict[str, int]:
    """Bytes over links that moved in the op's own time."""
    clocks, traffic = analysis.ops.clocks.of, analysis.profile.ops.traffic_bytes
    return {
        level.value: int(column[op])
        for level, column in traffic.items()
        if level.is_link and column[op] and not math.isnan(clocks[level.value][op])
    }


def _rates(ops: OpTable, op: int) -> dict[str, Any]:
    """FLOP/s and byte/s of an op of which only rates are known: its row is one second."""
    rates: dict[str, Any] = {}
    if ops.flop_known[op]:
        rates["flops_rate"] = {"value": int(ops.flop[op]), "unit": "FLOP/s"}
    units = [unit for unit, flop in ops.unit_flop.items() if flop[op] == ops.flop[op]]
    if units and ops.flop[op]:
        rates["precision"] = units[0].value
    if ops.traffic_known[op]:
        moved = ((level.value, int(column[op])) for level, column in ops.traffic_bytes.items())
        rates["bandwidth"] = {key: {"value": value, "unit": "B/s"} for key, value in moved if value}
    return rates


def _busy(ops: OpTable, op: int) -> dict[str, float]:
    """Busy shares in per cent of the op's time, of the units for which they are known."""
    time_ps = float(ops.time_ps[op])
    known = {of: float(ps[op]) for of, ps in ops.busy_ps.items() if time_ps and ps[op] == ps[op]}
    return {of.value: 100 * ps / time_ps for of, ps in known.items()}


def _flops(ops: OpTable, op: int) -> int | dict[str, int]:
    """By compute unit if that is all of it, else one number."""
    split = {unit.value: int(flop[op]) for unit, flop in ops.unit_flop.items() if flop[op]}
    whole = int(ops.flop[op])
    return split if split and sum(split.values()) == whole else whole


def _bytes(ops: OpTable, op: int) -> int | dict[str, int]:
    """By memory level, else all of them as the main memory's."""
    if not ops.traffic_known[op]:
        return int(ops.bytes_accessed[op])
    memories = {lv: moved for lv, moved in ops.traffic_bytes.items() if not lv.is_link}
    return {level.value: int(moved[op]) for level, moved in memories.items()}


def _compute(peak: ComputePeak) -> dict[str, Any]:
    return {
        "name": peak.label,
        "precision": peak.unit.value if peak.unit else None,
        "value": peak.gflops,
        "unit": "GFLOP/s",
        "kind": _kind(peak.origin),
    }


def _memory(peak: MemoryPeak) -> dict[str, Any]:
    return {
        "name": peak.level.label,
        "level": peak.level.value,
        "value": peak.gbs,
        "unit": "GB/s",
        "kind": _kind(peak.origin),
    }


def _kind(origin: PeakOrigin) -> str:
    return "measured" if origin in _MEASURED else "theoretical"
