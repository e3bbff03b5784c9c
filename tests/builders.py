"""Profiles written as tables, so that every test shows the numbers it depends on.

One line per op under a header. Columns: `op`, `category`, `self_us`, `time_us` (default: self),
`flop`, `model_flop` (default: flop), `bytes` (default: sum over memories), `{level}_bytes`,
`times`, `stall_us`, `program`, `source`, `long_name`, `path`, `operands`, `results`, `producers`,
`groups`, `group_size`. "–" is "not in the capture": without any
`{level}_bytes` the bytes have no breakdown, without FLOPs and bytes the cost is unknown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np

from roofline.analysis.analyse import analyse
from roofline.analysis.records import AnalysisOptions, RooflineAnalysis
from roofline.devices.resolve import resolve
from roofline.model.device import Device, DeviceKind, HardwareCounters, ReportedDevice
from roofline.model.memory import TPU_ON_CHIP_LEVELS, MemoryLevel
from roofline.model.op_columns import OpColumns
from roofline.model.profile import Diagnostic, Host, OpTable, Profile, StepTable
from roofline.model.units import gib_to_gb

LEVELS = (MemoryLevel.HBM, *TPU_ON_CHIP_LEVELS)
ABSENT = "–"
PS_PER_US = 10**6


def reported(
    *,
    kind: DeviceKind = DeviceKind.TPU,
    name: str = "TPU v0",
    cores: int = 1,
    gflops: float | None = 1000.0,
    gibs: Mapping[MemoryLevel, float] | None = None,
    **rest: Any,
) -> ReportedDevice:
    """A device as a file reports it: 1000 GFLOP/s and 100 GiB/s of HBM unless told."""
    levels = {MemoryLevel.HBM: 100.0} if gibs is None else gibs
    return ReportedDevice(
        kind=kind,
        name=name,
        core_count=cores,
        peak_gflops=gflops,
        bandwidth_gbs={level: gib_to_gb(value) for level, value in levels.items()},
        **rest,
    )


def make_device(**described: Any) -> Device:
    """`reported`, ready for analysis."""
    return resolve(reported(**described))


def counters(matrix: float | None = None, hbm: float | None = None) -> HardwareCounters:
    """Hardware utilisation as fractions of the peak."""
    return HardwareCounters(matrix_unit_ratio=matrix, hbm_ratio=hbm)


def profile_from_table(
    table: str = "",
    *,
    idle_us: float = 0,
    time_us: float | None = None,
    device: ReportedDevice | None = None,
    hosts: int = 1,
    host: Host | None = None,
    steps: StepTable | None = None,
    program_names: Mapping[int, str] | None = None,
    diagnostics: Sequence[Diagnostic] = (),
    **rest: Any,
) -> Profile:
    """The profile of a table: its ops, and `idle_us` (or the rest of `time_us`) of idling."""
    ops = ops_from_table(table)
    op_time_ps = int(ops.self_time_ps.sum(dtype=np.uint64))
    whole_ps = op_time_ps + _ps(idle_us) if time_us is None else _ps(time_us)
    device = device or reported()
    fields: dict[str, Any] = {
        "format_id": "test",
        "format_label": "A table",
        "device": device,
        "hosts": (host,) if host else tuple(_host(k, device) for k in range(hosts)),
        "ops": ops,
        "time_ps": whole_ps,
        "op_time_ps": op_time_ps,
        "normalised_op_time_ps": op_time_ps,
        "wall_time_ps": whole_ps // max(device.core_count, 1) or None,
        "steps": steps or make_steps(),
        "has_average": True,
        "captured_at_ns": None,
        "program_names": program_names or {},
        "diagnostics": tuple(diagnostics),
    }
    return Profile(**{**fields, **rest})


def analysed(
    table: str = "",
    *,
    device: ReportedDevice | None = None,
    xprof_compat: bool = False,
    **rest: Any,
) -> RooflineAnalysis:
    """The analysis of a table on its device."""
    profile = profile_from_table(table, device=device, **rest)
    return analysis_on(profile, xprof_compat=xprof_compat)


def analysis_on(profile: Profile, device: Device | None = None, **options: Any) -> RooflineAnalysis:
    """The analysis of a profile on `device`, or on its own."""
    return analyse(profile, device or resolve(profile.device), AnalysisOptions(**options))


def ops_from_table(table: str) -> OpTable:
    """The ops of a table, in its order."""
    rows = _rows(table)
    traffic = {level: _counts(rows, f"{level}_bytes") for level in LEVELS}
    known = [any(row.get(f"{level}_bytes", ABSENT) != ABSENT for level in LEVELS) for row in rows]
    flop = _counts(rows, "flop")
    moved = np.add.reduce(list(traffic.values()))
    return OpTable(
        name=tuple(row["op"] for row in rows),
        category=tuple(row.get("category", "fusion") for row in rows),
        program_id=_counts(rows, "program", default=1),
        occurrences=_counts(rows, "times", default=1).astype(np.int64),
        time_ps=_times(rows, "time_us", default="self_us"),
        self_time_ps=_times(rows, "self_us", default="time_us"),
        dma_stall_ps=_times(rows, "stall_us"),
        flop=flop,
        model_flop=np.where(_given(rows, "model_flop"), _counts(rows, "model_flop"), flop),
        bytes_accessed=np.where(_given(rows, "bytes"), _counts(rows, "bytes"), moved),
        traffic_bytes=traffic,
        traffic_known=np.array(known, np.bool_),
        cost_known=np.array(known, np.bool_) | _given(rows, "flop") | _given(rows, "bytes"),
        source_file=tuple(row.get("source", "").partition(":")[0] for row in rows),
        source_line=np.array([_line(row.get("source", "")) for row in rows], np.int64),
        source_stack=tuple(row.get("stack", "").replace(";", "\n") for row in rows),
        long_name=tuple(row.get("long_name", "") for row in rows),
        framework_path=tuple(row.get("path", "") for row in rows),
        operands=tuple(row.get("operands", "") for row in rows),
        results=tuple(row.get("results", "") for row in rows),
        operand_names=tuple(row.get("producers", "") for row in rows),
        replica_groups=tuple(row.get("groups", "") for row in rows),
        group_size=_counts(rows, "group_size").astype(np.int64),
    )


def make_steps(*steps: Mapping[str, Any]) -> StepTable:
    """Steps one after the other: `us` (core-time), and optionally `label`, `begin_us`, `end_us`,
    `flop`, `hbm`, and `infeed_us`, `infeed_flop`, `infeed_hbm` for the infeed in them."""
    begin, end, at = [], [], 0.0
    for step in steps:
        begin.append(step.get("begin_us", at))
        at = step.get("end_us", begin[-1] + step["us"])
        end.append(at)
    begin_ps, end_ps = _all_ps(begin), _all_ps(end)
    flop, hbm = _pairs(steps, "flop"), _pairs(steps, "hbm")
    nothing = np.zeros_like(hbm)
    return StepTable(
        label=tuple(step.get("label", str(k)) for k, step in enumerate(steps)),
        begin_ps=begin_ps,
        end_ps=end_ps,
        duration_ps=end_ps - begin_ps,
        time_ps=_all_ps([step["us"] for step in steps]),
        sums=OpColumns(
            occurrences=np.zeros(hbm.shape, np.int64),
            time_ps=_pairs(steps, "us", scale=PS_PER_US),
            flop=flop,
            model_flop=flop,
            bytes_accessed=hbm,
            traffic_bytes={level: hbm if level is MemoryLevel.HBM else nothing for level in LEVELS},
            traffic_known=hbm > 0,
            cost_known=hbm > 0,
        ),
    )


def _host(number: int, device: ReportedDevice) -> Host:
    name = f"host-{number}"
    return Host(file_name=f"{name}.pb", hostname=name, core_count=device.core_count)


def _rows(table: str) -> list[dict[str, str]]:
    lines = [[cell.strip() for cell in line.split("|")] for line in table.split("\n")]
    header, *rows = [line for line in lines if line != [""]] or [["op"]]
    return [dict(zip(header, row, strict=True)) for row in rows]


def _given(rows: Sequence[Mapping[str, str]], name: str) -> Any:
    return np.array([row.get(name, ABSENT) != ABSENT for row in rows], np.bool_)


def _counts(rows: Sequence[Mapping[str, str]], name: str, *, default: int = 0) -> Any:
    cells = [row.get(name, ABSENT) for row in rows]
    return np.array([default if c == ABSENT else int(Decimal(c)) for c in cells], np.uint64)


def _times(rows: Sequence[Mapping[str, str]], name: str, *, default: str = "") -> Any:
    return _all_ps([float(row.get(name, row.get(default, "0"))) for row in rows])


def _pairs(steps: Sequence[Mapping[str, Any]], name: str, *, scale: int = 1) -> Any:
    """Shape (steps, 2): work, and infeed. A step's time includes that of its infeed."""
    infeed = [step.get(f"infeed_{name}", 0) for step in steps]
    rest = [step.get(name, 0) - (step.get("infeed_us", 0) if name == "us" else 0) for step in steps]
    rows = [
        [round(max(work, 0) * scale), round(hosted * scale)]
        for work, hosted in zip(rest, infeed, strict=True)
    ]
    return np.array(rows, np.uint64).reshape(len(steps), 2)


def _ps(us: float) -> int:
    return round(us * PS_PER_US)


def _all_ps(us: Sequence[float]) -> Any:
    return np.array([_ps(value) for value in us], np.uint64)


def _line(source: str) -> int:
    return int(source.partition(":")[2] or -1)


def renamed(profile: Profile, *names: str) -> Profile:
    """`profile` with these op names, which no table can hold: bars, line breaks."""
    return replace(profile, ops=replace(profile.ops, name=names))
