"""A profile: one table of ops, the program's time, its steps, and what the importer noticed.

Ops travel as columns (one row per op), never as objects. Times are integer picoseconds summed
over cores; work is counted per op over all its occurrences. Unsigned columns wrap like XProf's
64-bit counters; the importer decides whether a wrapped value may leave it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from roofline.model.compute import ComputeUnit
from roofline.model.device import ReportedDevice
from roofline.model.memory import MemoryLevel

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Provenance(StrEnum):
    """How a quantity was obtained: counted by hardware, by the compiler's cost model, or guessed.

    `ESTIMATED` is from shapes and documented formulas; `STATED` is what a person's file says.
    """

    MEASURED = "measured"
    MODELLED = "modelled"
    ESTIMATED = "estimated"
    STATED = "stated"


class Severity(StrEnum):
    """How much a diagnostic matters to the reader of a roofline."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """Something survivable the reader should know: what, how often, and what to do about it."""

    severity: Severity
    code: str
    message: str
    remedy: str = ""
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OpTable:
    """One row per (program, op name). All columns have the same length.

    `flop`, `model_flop`, `bytes_accessed` and `traffic_bytes` are totals over all occurrences.
    `traffic_bytes[level]` counts only where `traffic_known`; elsewhere only `bytes_accessed` is
    known. `cost_known` is false where nobody counted (no FLOP and no byte count in the file);
    `flop_known` and `bytes_known` are false where only the other of the two was counted, `None`
    where a file counts both or neither.

    `unit_flop` splits `flop` by compute unit where the profiler can (a unit's column is 0 where the
    op did not use it; an op whose columns are all 0 counts against the device's main peak).
    `unit_capacity_flop` and `level_capacity_bytes` hold, where a profiler measured peaks per
    launch, what the hardware could have done in the op's time (peak × time, summed over launches);
    NaN where unknown, then the device's peak counts.
    """

    name: tuple[str, ...]
    category: tuple[str, ...]
    program_id: U64
    occurrences: I64
    time_ps: U64
    self_time_ps: U64
    dma_stall_ps: U64
    flop: U64
    model_flop: U64
    bytes_accessed: U64
    traffic_bytes: Mapping[MemoryLevel, U64]
    traffic_known: Bools
    cost_known: Bools
    source_file: tuple[str, ...]
    source_line: I64  # -1 where unknown
    source_stack: tuple[str, ...]
    long_name: tuple[str, ...]
    unit_flop: Mapping[ComputeUnit, U64] = field(default_factory=dict)
    unit_capacity_flop: Mapping[ComputeUnit, F64] = field(default_factory=dict)
    level_capacity_bytes: Mapping[MemoryLevel, F64] = field(default_factory=dict)
    flop_known: Bools | None = None
    bytes_known: Bools | None = None

    def __len__(self) -> int:
        return len(self.name)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LaunchTable:
    """Single launches of ops (kernels), in the file's order: what an op's row sums up.

    `op` is the row of the op in the op table; `detail` says what tells launches apart (grid, block,
    stream). Numbers are NaN where unknown.
    """

    op: I64
    detail: tuple[str, ...]
    time_ps: U64
    flop: F64
    traffic_bytes: Mapping[MemoryLevel, F64]

    def __len__(self) -> int:
        return len(self.op)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScopeSums:
    """Work summed over ops that are not containers, one row per scope (a step).

    Every column has shape (n_scopes, 2): [:, 0] all ops but infeed and outfeed, [:, 1] infeed and
    outfeed alone, so that both of the page's states are one addition away. `traffic_known` is true
    where any op of the class reported traffic by level.
    """

    time_ps: U64
    flop: U64
    model_flop: U64
    bytes_accessed: U64
    traffic_bytes: Mapping[MemoryLevel, U64]
    traffic_known: Bools
    unit_flop: Mapping[ComputeUnit, U64] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StepTable:
    """Steps in order. `time_ps` is core-time (summed over cores, idle included).

    `begin_ps`, `end_ps` and `duration_ps` are those of the step's longest marker on any core.
    """

    label: tuple[str, ...]
    begin_ps: U64
    end_ps: U64
    duration_ps: U64
    time_ps: U64
    sums: ScopeSums

    def __len__(self) -> int:
        return len(self.label)


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """One input file: where it came from and how many accelerator cores it holds.

    `device` is what this file alone says about its device, `None` where it says nothing.
    """

    file_name: str
    hostname: str
    core_count: int
    device: ReportedDevice | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Profile:
    """Everything an analysis needs, from one or several hosts.

    `time_ps` is the core-time of the whole capture, idle included; `op_time_ps` the part spent in
    ops; `normalised_op_time_ps` that part scaled to the default clock (XProf's DVFS multiplier).
    `wall_time_ps` is the capture's duration on the device, `None` when unknown;
    `program_names` maps a program id to its module name where the capture has one. `limits` are
    sentences about what this profiler cannot know; `launches` are single launches, where kept.
    """

    format_id: str
    format_label: str
    device: ReportedDevice
    hosts: tuple[Host, ...]
    ops: OpTable
    time_ps: int
    op_time_ps: int
    normalised_op_time_ps: int
    wall_time_ps: int | None
    steps: StepTable
    has_average: bool
    captured_at_ns: int | None
    program_names: Mapping[int, str]
    diagnostics: tuple[Diagnostic, ...]
    flop_provenance: Provenance = Provenance.MODELLED
    bytes_provenance: Provenance = Provenance.MODELLED
    limits: tuple[str, ...] = ()
    launches: LaunchTable | None = None
