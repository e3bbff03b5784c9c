"""Rows of XProf's tables as ops: counts are rates × total time, children included.

XProf divides an op's work by its total time, never by its self time, in every tool. It writes 0 for
what was not counted: an op of which every rate is 0 has an unknown cost. The table hlo_stats has
ops with their HLO text, but no program, no steps and no peaks: the program's time follows from an
op's self time and its share. Infeed and outfeed are not listed there, so their time counts as idle.

Peaks of an export: stated by the JSON's properties, or recovered from the CSV's shares of them.

The CSV loses the properties, but its rows hold rates and their shares of the peak: the peak is
one over the other. A memory's peak follows from rows that it binds. What cannot be recovered stays
unknown.
"""

import html
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from roofline.importers.shared.op_tables import (
    OpLabels,
    OpRows,
    OpTableBuilder,
    described_by_text,
    path_of_tf_op,
)
from roofline.importers.xprof_export.tables import ExportTable
from roofline.model.categories import IDLE_CATEGORY
from roofline.model.device import DeviceKind, DeviceTraits, ReportedDevice
from roofline.model.memory import TPU_ON_CHIP_LEVELS, MemoryLevel
from roofline.model.op_columns import F64, I64, U64, Bools
from roofline.model.profile import OpTable
from roofline.model.units import GIB, GIGA, PS_PER_US, US_PER_S, gib_to_gb

_MAX_COUNT = float(2**63)
_MAX_PROGRAM_ID = 2**64

_SOURCE_TITLE = re.compile(r"title='([^']*)'")
_TAG = re.compile(r"<[^<>]*>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Counts of rows, all of one length; 0 where the rate is 0 or missing."""

    flop: U64
    model_flop: U64
    bytes_accessed: U64
    traffic_bytes: Mapping[MemoryLevel, U64]


def work_of(table: ExportTable, time_us: F64, levels: Sequence[MemoryLevel]) -> Work:
    """The work of rows in `time_us`, from their rates."""

    def flop(column: str) -> U64:
        return _product(table.numbers(column), time_us, GIGA / US_PER_S)

    def moved(column: str) -> U64:
        return _product(table.numbers(column), time_us, GIB / US_PER_S)

    return Work(
        flop=flop("measured_flop_rate"),
        model_flop=flop("model_flop_rate"),
        bytes_accessed=moved("measured_memory_bw"),
        traffic_bytes={level: moved(BANDWIDTH_COLUMNS[level]) for level in levels},
    )


def counts(values: F64) -> U64:
    """Whole numbers; 0 where unknown. Damaged files may hold anything: nothing leaves the range."""
    known = np.nan_to_num(values, nan=0.0, posinf=_MAX_COUNT, neginf=0.0)
    return np.rint(np.clip(known, 0.0, _MAX_COUNT)).astype(np.uint64)


def picoseconds(us: F64) -> U64:
    """Times in µs, with six decimals in the export, as whole picoseconds."""
    return _product(us, 1.0, PS_PER_US)


def _product(rate: F64, time: F64 | U64 | float, factor: float) -> U64:
    with np.errstate(over="ignore"):  # past every number is past the range of counts
        return counts(rate * time * factor)


def op_table(
    table: ExportTable, wanted: I64, *, names: Sequence[str], levels: Sequence[MemoryLevel]
) -> OpTable:
    """The ops in rows `wanted`; rows of one program and name are added up."""
    time_us = table.numbers("total_time")
    time_ps, self_ps = picoseconds(time_us), picoseconds(table.numbers("total_self_time"))
    work = work_of(table, time_us, levels)
    stalled = np.nan_to_num(table.numbers("dma_stall_percent")) / _percent_base(table)
    counted = (work.flop > 0) | (work.model_flop > 0) | (work.bytes_accessed > 0)
    builder = OpTableBuilder(levels)
    builder.add(
        _labels(table, wanted, names),
        OpRows(
            label=np.arange(len(wanted)),
            occurrences=counts(table.numbers("occurrences"))[wanted].astype(np.int64),
            time_ps=time_ps[wanted],
            self_time_ps=self_ps[wanted],
            dma_stall_ps=_product(stalled, time_ps, 1.0)[wanted],
            flop=work.flop[wanted],
            model_flop=work.model_flop[wanted],
            bytes_accessed=work.bytes_accessed[wanted],
            traffic_bytes={level: work.traffic_bytes[level][wanted] for level in levels},
            traffic_known=counted[wanted],
            cost_known=counted[wanted],
        ),
    )
    return builder.build()


def without_breakdown(ops: OpTable, unknown: Bools) -> OpTable:
    """`ops`, of which `unknown` have bytes that are not split by memory."""
    return replace(
        ops,
        traffic_known=ops.traffic_known & ~unknown,
        traffic_bytes={
            level: np.where(unknown, np.uint64(0), column)
            for level, column in ops.traffic_bytes.items()
        },
    )


def program_number(text: str) -> int:
    """A program id, 0 where the cell holds none."""
    digits = text.removesuffix(".0")
    return (
        int(digits) % _MAX_PROGRAM_ID
        if len(digits) < 100 and digits.isascii() and digits.isdigit()
        else 0
    )


def _percent_base(table: ExportTable) -> float:
    """Shares are fractions in the roofline table and percent in hlo_stats, both called "%"."""
    return 1.0 if "bottleneck_operational_intensity" in table.columns else 100.0


def _labels(table: ExportTable, wanted: I64, names: Sequence[str]) -> list[OpLabels]:
    categories, sources = table.texts("category"), table.texts("source_info")
    programs, texts = table.texts("hlo_module_id"), table.texts("hlo_op_expression")
    paths = table.texts("tf_op_name")
    return [
        described_by_text(
            replace(
                _sourced(names[row], sources[row]),
                program_id=program_number(programs[row]),
                category=categories[row],
                long_name=texts[row],
                framework_path=path_of_tf_op(paths[row]),
            )
        )
        for row in wanted.tolist()
    ]


def _sourced(name: str, source: str) -> OpLabels:
    place, stack = _source(source)
    file, _, line = place.rpartition(":")
    has_line = bool(file) and line.isascii() and line.isdigit() and len(line) < 10
    return OpLabels(
        name=name,
        has_source=bool(place or stack),
        source_file=file if has_line else place,
        source_line=int(line) if has_line else -1,
        source_stack=stack,
    )


def _source(cell: str) -> tuple[str, str]:
    """Place and call stack in XProf's HTML: the stack is the title, the place the text."""
    title = _SOURCE_TITLE.search(cell)
    place = html.unescape(_TAG.sub("", cell)).strip()
    return place, html.unescape(title[1]) if title else ""


_UNLISTED = frozenset({MemoryLevel.VMEM_READ, MemoryLevel.VMEM_WRITE})


def read_hlo_stats(table: ExportTable) -> tuple[OpTable, int]:
    """The ops, and the program's time in picoseconds with what it idled."""
    levels = levels_of(read_device(table, core_count=1).kind)
    levels = tuple(level for level in levels if level not in _UNLISTED)
    category = np.array(table.texts("category"))
    wanted = np.flatnonzero(category != IDLE_CATEGORY)
    ops = op_table(table, wanted, names=table.texts("hlo_op_name"), levels=levels)
    return ops, max(_time_ps(table), int(ops.self_time_ps.sum(dtype=np.uint64)))


def _time_ps(table: ExportTable) -> int:
    """Self time over its share, of the op with the largest share: the least rounded one."""
    self_us, percent = table.numbers("total_self_time"), table.numbers("total_self_time_percent")
    percent = np.nan_to_num(percent)
    at = int(np.argmax(percent))
    if not percent[at] > 0:
        return 0
    return int(picoseconds(self_us[at : at + 1] * 100.0 / percent[at])[0])


BANDWIDTH_COLUMNS = {
    MemoryLevel.HBM: "hbm_bw",
    MemoryLevel.CMEM_READ: "cmem_read_bw",
    MemoryLevel.CMEM_WRITE: "cmem_write_bw",
    MemoryLevel.VMEM_READ: "vmem_read_bw",
    MemoryLevel.VMEM_WRITE: "vmem_write_bw",
}
_COMPUTE = "compute"
# By a word of the device type, the first that fits: XProf 2.24.2, measured.
_XPROFS_SHARED_BYTES = {"gfx950": 256, "AMD": 128, "Fermi": 64, "Nvidia": 256}


def levels_of(kind: DeviceKind) -> tuple[MemoryLevel, ...]:
    """Memories whose bytes the export counts: on GPUs, what it calls SHM/L1 is never counted."""
    on_chip = TPU_ON_CHIP_LEVELS if kind is DeviceKind.TPU else ()
    return (MemoryLevel.HBM, *on_chip)


def device_kind(table: ExportTable) -> DeviceKind:
    """The kind of device by the columns: TPUs have CMEM and VMEM, GPUs have neither."""
    name = (table.properties or {}).get("device_type", "").upper()
    if "TPU" in name or any("TensorCore" in text for text in table.texts("core_type")):
        return DeviceKind.TPU
    if "GPU" in name:
        return DeviceKind.GPU
    if "bottleneck_operational_intensity" not in table.columns:
        # hlo_stats: ops of TPUs name their core; versions without that column tell nothing.
        return DeviceKind.GPU if "core_type" in table.columns else DeviceKind.UNKNOWN
    return DeviceKind.TPU if "cmem_read_bw" in table.columns else DeviceKind.GPU


def read_device(table: ExportTable, *, core_count: int) -> ReportedDevice:
    """The device of an export, per core; `name` is empty where the export does not name it."""
    kind = device_kind(table)
    if table.properties:
        return _stated(table.properties, kind, core_count)
    return _recovered(table, kind, core_count)


def _stated(properties: Mapping[str, str], kind: DeviceKind, core_count: int) -> ReportedDevice:
    stated = {
        level: gib_to_gb(_positive(properties.get(f"peak_{level.value}_bw")))
        for level in BANDWIDTH_COLUMNS
    }
    derivation = {level.value: f"peak_{level.value}_bw of the export" for level in stated}
    name, traits = properties.get("device_type", ""), DeviceTraits()
    if kind is DeviceKind.GPU:
        shared = stated.pop(MemoryLevel.VMEM_WRITE)
        stated[MemoryLevel.SHARED_L1] = shared
        derivation[MemoryLevel.SHARED_L1.value] = _shared_note(name)
        # Traits that tell parts of one architecture apart, as far as it follows from the peaks.
        count = _shared_bytes(name)
        traits = DeviceTraits(
            memory_gbs=stated[MemoryLevel.HBM] or None,
            cycles_per_ns=shared / count if count and shared else None,
        )
    return ReportedDevice(
        kind=kind,
        name=name,
        core_count=core_count,
        peak_gflops=_positive(properties.get("peak_flop_rate")) or None,
        bandwidth_gbs={level: value for level, value in stated.items() if value},
        has_megacore=properties.get("megacore") == "1",
        has_cmem=properties.get("has_cmem") == "1",
        has_merged_vmem=properties.get("has_merged_vmem") == "1" or kind is DeviceKind.GPU,
        traits=traits,
        derivation={_COMPUTE: "peak_flop_rate of the export", **derivation},
    )


def _shared_bytes(name: str) -> int | None:
    """Bytes of shared memory per processor and cycle from which XProf computes a GPU's peak."""
    return next((count for word, count in _XPROFS_SHARED_BYTES.items() if word in name), None)


def _shared_note(name: str) -> str:
    count = _shared_bytes(name)
    note = "peak_vmem_write_bw of the export"
    return note if count is None else f"{note}, at XProf's {count} bytes per processor and cycle"


def _recovered(table: ExportTable, kind: DeviceKind, core_count: int) -> ReportedDevice:
    efficiency = table.numbers("roofline_efficiency")
    bound_by = np.array(table.texts("bound_by"))
    compute = _one_over_other(
        table.numbers("measured_flop_rate"), table.numbers("compute_efficiency")
    )
    memory = {
        level: _one_over_other(
            table.numbers(BANDWIDTH_COLUMNS[level]), efficiency, bound_by == level.label
        )
        for level in levels_of(kind)
    }
    if kind is DeviceKind.GPU and memory[MemoryLevel.HBM] is None:  # the only memory that counts
        memory[MemoryLevel.HBM] = _one_over_other(
            table.numbers("hbm_bw"), table.numbers("max_mem_bw_utilization")
        )
    derivation = {
        level.value: f"{level.label} bandwidth ÷ its share of the peak, in the rows of the export"
        for level in memory
    }
    return ReportedDevice(
        kind=kind,
        name="",
        core_count=core_count,
        peak_gflops=compute,
        bandwidth_gbs={level: gib_to_gb(value) for level, value in memory.items() if value},
        has_cmem=bool(memory.get(MemoryLevel.CMEM_READ)),
        has_merged_vmem=kind is DeviceKind.GPU,
        derivation={
            _COMPUTE: "FLOP rate ÷ its share of the peak, in the rows of the export",
            **derivation,
        },
    )


def _one_over_other(rate: F64, share: F64, among: Bools | None = None) -> float | None:
    """The median of rate ÷ share, where both are known; `None` where no row tells."""
    known = (rate > 0) & (share > 0)
    if among is not None:
        known &= among
    with np.errstate(over="ignore"):
        peaks = rate[known] / share[known]
    peaks = peaks[np.isfinite(peaks)]
    return float(np.median(peaks)) if len(peaks) else None


def _positive(text: str | None) -> float:
    try:
        value = float(text or 0)
    except ValueError:
        return 0.0
    return value if math.isfinite(value) and value > 0 else 0.0
