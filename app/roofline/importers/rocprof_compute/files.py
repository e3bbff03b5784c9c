"""The CSV files of a workload folder, told apart by their columns, and the device that they state.

Spelling varies by version: `KernelName`, `BeginNs` and `numCU` in Omniperf 1, `Kernel_Name`,
`Start_Timestamp` and `cu_per_gpu` since; `HBMBwLow` beside `hbmBwHigh`. Names are compared in lower
case.

`sysinfo.csv` names the device, `roofline.csv` its measured peaks: one row per GPU, as the benchmark
numbers them. A dispatch's `GPU_ID` counts the machine's processors too, so rows cannot be matched:
the first is used, as AMD's own plot does.
"""

import contextlib
import math
import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from roofline.errors import CorruptProfileError
from roofline.importers.shared.amd_counters import READ_COUNTERS, AmdSize, amd_size
from roofline.importers.shared.tables_text import decode, parse_number, read_whole_table
from roofline.importers.source import SourceFile
from roofline.model.compute import ComputeUnit
from roofline.model.device import DeviceKind, DeviceTraits, PeakOrigin, ReportedDevice
from roofline.model.environment import environment
from roofline.model.memory import MemoryLevel
from roofline.model.plain_data import read_beside
from roofline.model.units import KILO

MAX_ROWS = 200_000
# Counters have at most 64 bits.
_LARGEST_COUNT = 2**64

_COUNTER = re.compile(
    r"(?:SQ|SQC|TA|TD|TCP|TCC|SPI|CPC|CPF|GRBM)_\w+(?:\[\d+\])?|FETCH_SIZE|WRITE_SIZE"
)
_READ_COUNTER = re.compile(
    r"SQ_INSTS_VALU_(?:ADD|MUL|FMA|TRANS|MFMA_MOPS)_\w+|SQ_LDS_(?:IDX_ACTIVE|BANK_CONFLICT)"
    r"|(?:TCP_TOTAL_CACHE_ACCESSES|TCP_TCC_[A-Z_]+_REQ|TCC_EA0?_(?:RD|WR)REQ(?:_32B|_64B)?"
    r"|TCC_BUBBLE)(?:_sum|\[\d+\])|FETCH_SIZE|WRITE_SIZE"
)
_STEPPED = re.compile(r"(MI\d+[AX]?)_A\d")
_CHANNEL = re.compile(r"(\w+)\[\d+\]")
_COLUMNS = read_beside(__file__, "columns.json")
_ALIASES: Mapping[str, str] = _COLUMNS["aliases"]
_ROCPROFV3 = frozenset({"counter_name", "counter_value"})


class Kind(Enum):
    """The kind of a file of the folder."""

    COUNTERS = auto()
    TIMES = auto()
    SYSTEM = auto()
    ROOFS = auto()
    TOTALS = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One file: column names in lower case (counters as spelt) and the rows' cells."""

    name: str
    kind: Kind
    rows: tuple[dict[str, str], ...]
    lines: tuple[int, ...]
    n_columns: int


def kind_of(header: Sequence[str]) -> Kind | None:
    """The kind of file with these columns; `None` for other tables."""
    names = {column_name(cell) for cell in header}
    if {"kernel_name", "count", "sum(ns)"} <= names:
        return Kind.TOTALS
    if "kernel_name" in names and not names & _ROCPROFV3 and "kind" not in names:
        if any(_COUNTER.fullmatch(cell.strip()) for cell in header):
            return Kind.COUNTERS
        return Kind.TIMES if "dispatch_id" in names else None
    if "workload_name" in names and names & {"command", "gpu_arch"}:
        return Kind.SYSTEM
    return Kind.ROOFS if {"device", "hbmbw"} <= names else None


def column_name(cell: str) -> str:
    """A column's name: counters as they are, others in lower case and one spelling."""
    bare = cell.strip().strip("\ufeff")
    if _COUNTER.fullmatch(bare):
        return bare
    return _ALIASES.get(bare.lower(), bare.lower())


def read_file(source: SourceFile) -> Table:
    """The table in `source`. Raises `CorruptProfileError` where it was cut."""
    text, remedy = decode(bytes(source.data)), "Copy the workload folder again."
    table = read_whole_table(text, name=source.name, max_rows=MAX_ROWS, remedy=remedy)
    kind = kind_of(table.header)
    assert kind is not None  # it was recognised
    # The columns of a later pass repeat those of the first, and the first counts.
    columns = {column_name(cell): k for k, cell in reversed(list(enumerate(table.header)))}
    columns_read = {name: k for name, k in columns.items() if _is_read(name, kind, columns)}
    return Table(
        name=source.name,
        kind=kind,
        rows=tuple({name: row[k] for name, k in columns_read.items()} for row in table.rows),
        lines=table.lines,
        n_columns=len(table.header),
    )


def _is_read(column: str, kind: Kind, columns: Container[str]) -> bool:
    """False for most of thousands of counters: their cells would take most of the memory.

    Those of single channels are read where no other of `columns` has their sum.
    """
    if kind is not Kind.COUNTERS or not _COUNTER.fullmatch(column):
        return True
    channel = _CHANNEL.fullmatch(column)
    whole = f"{channel[1]}_sum" if channel else column
    if channel and whole in columns:
        return False
    return whole in READ_COUNTERS or _READ_COUNTER.fullmatch(column) is not None


def number(table: Table, row: int, column: str) -> float | None:
    """A cell as a number, `None` where it is missing or the column is."""
    cell = table.rows[row].get(column, "")
    try:
        value = parse_number(cell)
    except ValueError:
        value = math.inf
    if value is None or 0 <= value <= _LARGEST_COUNT:
        return value
    raise CorruptProfileError(
        f"{table.name}, line {table.lines[row]:,}: “{cell[:60]}” in column {column} is not a "
        "number.",
        remedy="Copy the workload folder again; spreadsheets change numbers when they save.",
    )


def counter_names(table: Table) -> set[str]:
    """The counters of its dispatches that are read."""
    return {name for name in (table.rows or ({},))[0] if _COUNTER.fullmatch(name)}


def counters(table: Table, row: int) -> dict[str, float]:
    """The counters of one dispatch; those of single channels are added up to `<name>_sum`."""
    result: dict[str, float] = {}
    sums: dict[str, float] = {}
    for column in table.rows[row]:
        if not _COUNTER.fullmatch(column):
            continue
        value = number(table, row, column)
        if value is None:
            continue
        channel = _CHANNEL.fullmatch(column)
        if channel:
            sums[f"{channel[1]}_sum"] = sums.get(f"{channel[1]}_sum", 0.0) + value
        else:
            result[column] = value
    for name, value in sums.items():
        result.setdefault(name, value)
    return result


_NOT_KNOWN = "NA"
_ENVIRONMENT: Mapping[str, str] = _COLUMNS["environment"]
_LEVEL_COLUMNS = {MemoryLevel(of): names for of, names in _COLUMNS["levels"].items()}
_UNIT_COLUMNS = {ComputeUnit(of): names for of, names in _COLUMNS["units"].items()}


def read_device(
    system: Mapping[str, str], roofs: Table | None, *, core_count: int
) -> ReportedDevice:
    """The device of a workload; without `roofs` only the HBM bandwidth that `system` states."""
    traits = _traits(system)
    name = gpu_name(system)
    if roofs is None or not roofs.rows:
        stated = traits.memory_gbs
        return ReportedDevice(
            kind=DeviceKind.GPU,
            name=name,
            core_count=core_count,
            bandwidth_gbs={MemoryLevel.HBM: stated} if stated else {},
            traits=traits,
            derivation={MemoryLevel.HBM.value: "hbm_bw of sysinfo.csv, the memory's clock × width"},
        )
    row, source = roofs.rows[0], _roofs_source(roofs)
    units = {unit: value for unit, names in _UNIT_COLUMNS.items() if (value := _peak(row, names))}
    levels = {lv: value for lv, names in _LEVEL_COLUMNS.items() if (value := _peak(row, names))}
    return ReportedDevice(
        kind=DeviceKind.GPU,
        name=name,
        core_count=core_count,
        unit_gflops=units,
        bandwidth_gbs=levels,
        traits=traits,
        derivation={key.value: source for key in (*units, *levels)},
        peak_origin=PeakOrigin.MEASURED,
    )


def gpu_name(system: Mapping[str, str]) -> str:
    """The GPU's model, else its architecture; empty where `sysinfo.csv` says neither.

    MI300 parts stand there with their stepping: "MI300X_A1".
    """
    model = _text(system, "gpu_model")
    if stepped := _STEPPED.fullmatch(model):
        return f"AMD Instinct {stepped[1]}"
    return model or _traits(system).architecture


def positive(system: Mapping[str, str], column: str) -> float | None:
    """A positive number of `sysinfo.csv`, `None` where there is none."""
    with contextlib.suppress(ValueError):
        value = parse_number(system.get(column, ""))
        if value is not None and math.isfinite(value) and value > 0:
            return value
    return None


def read_size(system: Mapping[str, str]) -> AmdSize:
    """The size of the GPU, as `sysinfo.csv` says it."""

    def count(column: str) -> int | None:
        value = positive(system, column)
        return round(value) if value else None

    traits = _traits(system)
    return amd_size(
        traits.architecture,
        units=traits.processor_count,
        clock_ghz=traits.clock_ghz,
        dies=count("num_xcd"),
        l2_channels=count("total_l2_chan"),
        unit_waves=count("max_waves_per_cu"),
    )


def read_environment(system: Mapping[str, str]) -> dict[str, str]:
    """Versions and partitions of the machine, as `sysinfo.csv` says them."""
    texts = {name: _text(system, column) for name, column in _ENVIRONMENT.items()}
    return environment({name: text for name, text in texts.items() if text != _NOT_KNOWN})


def read_program(system: Mapping[str, str]) -> str:
    """The program of the workload's command line, as `sysinfo.csv` has it: its first word."""
    return next(iter(_text(system, "command").split()), "")


def _traits(system: Mapping[str, str]) -> DeviceTraits:
    units, clock_mhz = positive(system, "cu_per_gpu"), positive(system, "max_sclk")
    return DeviceTraits(
        processor_count=int(units) if units else None,
        clock_ghz=clock_mhz / KILO if clock_mhz else None,
        memory_gbs=positive(system, "hbm_bw") or positive(system, "hbmbw"),
        architecture=_text(system, "gpu_arch"),
        hostname=_text(system, "hostname"),
    )


def _text(system: Mapping[str, str], column: str) -> str:
    return system.get(column, "").strip()


def _peak(row: Mapping[str, str], names: Sequence[str]) -> float | None:
    """The first of `names` with a positive mean; 0 says that the part cannot do it."""
    return next((value for name in names if (value := positive(row, name))), None)


def _roofs_source(roofs: Table) -> str:
    if len(roofs.rows) == 1:
        return f"measured by rocprof-compute's benchmark ({roofs.name})"
    return (
        f"measured by rocprof-compute's benchmark ({roofs.name}, device "
        f"{roofs.rows[0].get('device', '0').strip() or '0'} of {len(roofs.rows):,})"
    )
