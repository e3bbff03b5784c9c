"""A profile: one table of ops, the program's time, its steps, and what the importer noticed.

Ops travel as columns (one row per op), never as objects. Times are integer picoseconds summed
over cores; work is counted per op over all its occurrences. Unsigned columns wrap like XProf's
64-bit counters; the importer decides whether a wrapped value may leave it.

Single kernels of a profile: what files of one program are joined by.

A profile that says when work ran and one that counted what it did name the same kernels, with the
same launch shapes, in the same order.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, Self

import numpy as np

from roofline.model.device import ReportedDevice
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import F64, I64, SCHEMA, U64, OpColumns, declared
from roofline.model.plain_data import Aligned
from roofline.model.serving import ServingSteps
from roofline.model.timeline import LaunchTimes, Timeline

SHAPE_AXES = 6
"""Blocks along x, y and z, then threads of a block along x, y and z."""
_IMPOSSIBLE = 2**62  # of a size: more than any device launches
# A flag for each possible key while these are few, or not many more than the events.
_MOST_FLAGS = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Kernels:
    """One row per kernel, in the order of start on each device; copies are not among them.

    `name` is a place in `names`, whole names as the profiler wrote them. `op` is the row of the op
    table that the kernel is of, `step` that of the step table, -1 for none. `shape` is a row of
    `shapes`, which have one column per axis of `SHAPE_AXES`: 0 where a profiler wrote none; where
    it wrote totals alone, these are along x. `time_ps` is 0 where it is unknown.
    `work` has one row per kernel where it was counted.
    """

    names: tuple[str, ...]
    shapes: I64
    name: I64
    op: I64
    step: I64
    shape: I64
    time_ps: U64
    work: OpColumns | None = None

    def __len__(self) -> int:
        return len(self.op)


def sizes_along(shapes: Sequence[Sequence[int]]) -> I64:
    """The sizes of kernels along each axis, axis by axis."""
    try:
        rows = np.array(shapes, np.int64).reshape(-1, SHAPE_AXES)
    except OverflowError:  # of a damaged file: such sizes are unknown
        known = [[size if abs(size) < _IMPOSSIBLE else 0 for size in shape] for shape in shapes]
        rows = np.array(known, np.int64)
    return rows.T


def distinct_shapes(sizes: Sequence[I64] | I64) -> dict[str, I64]:
    """The columns `shapes`, of which the first is unknown, and `shape` of kernels with these sizes
    along each axis."""
    found, place = distinct_rows(sizes)
    return {
        "shapes": np.concatenate([np.zeros((1, SHAPE_AXES), np.int64), found]),
        "shape": place + 1,
    }


def distinct_rows(columns: Sequence[I64] | I64) -> tuple[I64, I64]:
    """The distinct rows of these columns in their order, and the place of each row among them."""
    place = np.zeros(len(columns[0]), np.int64)
    for column in columns:  # one after the other: sorting whole rows takes long
        values, at = distinct(column)
        _, place = distinct(place * len(values) + at) if len(values) > 1 else (values, place)
    example = np.zeros(int(place.max(initial=-1)) + 1, np.int64)
    example[place] = np.arange(len(place))
    return np.stack([column[example] for column in columns], axis=1), place


def distinct(keys: I64) -> tuple[I64, I64]:
    """Distinct keys in order, and the place of each key among them."""
    least, most = (int(keys.min()), int(keys.max())) if len(keys) else (0, 0)
    if most - least > max(_MOST_FLAGS, len(keys)):
        found, place = np.unique(keys, return_inverse=True)
        return found, place
    is_used, flag = np.zeros(most - least + 1, np.bool_), keys - least
    is_used[flag] = True
    used = np.flatnonzero(is_used)
    places = np.empty(len(is_used), np.int64)
    places[used] = np.arange(len(used))
    return used + least, places[flag]


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """A capture that explains kernels: its file, its annotation ("" without one), their number."""

    file_name: str
    label: str
    kernels: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UnalignedKernel:
    """Kernels of one name without a launch in a capture."""

    name: str
    count: int
    time_ps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphReplays:
    """Launches of graphs: the kernels that they ran, and those that have a launch in a capture.

    Times are ps of device time. `left` are the kernels without a launch, longest time first.
    """

    replays: int
    kernels: int
    aligned: int
    time_ps: int
    aligned_ps: int
    captures: tuple[Capture, ...]
    left: tuple[UnalignedKernel, ...]


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


@dataclass(frozen=True, slots=True)
class Label:
    """One column of what names an op: its type, and what it is where nothing is known."""

    dtype: type[np.generic] | type[str] = str
    default: str | int = ""

    def column(self, values: Iterable[Any]) -> Any:
        """`values` as a column: a tuple of texts, or an array."""
        return tuple(values) if self.dtype is str else np.array(list(values), self.dtype)

    def unknown(self, rows: int) -> Any:
        """A column of `rows` of which nothing is known."""
        return self.column([self.default] * rows)


_NOT_GIVEN: Any = None
# A host that calls itself so may be any.
_NO_NAMES = ("", "localhost")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OpTable(OpColumns):
    """One row per (program, op name): what names and describes the op, and its times and work.

    `source_line` is -1 where unknown, `group_size` 0, a text empty. `source_stack` has a frame per
    line, the innermost first. `framework_path` is the op as its framework knows it:
    `jit(step)/dot_general`, or modules and operator joined with "/". `operands` and `results` are
    shapes in XLA's notation joined with "; ", as in `bf16[8,128]{1,0:S(1)}; f32[]`;
    `operand_names` are the ops that made the operands, joined likewise. `replica_groups` is the
    text of the file, `group_size` the devices of one group of a collective. `slow_why` is a code of
    what keeps all units of an op waiting ("few_blocks", "dependency:long_scoreboard"), as its
    profiler measured it, and `slow_words` the same in words; both are empty where not measured.
    """

    name: Annotated[tuple[str, ...], Label()]
    category: Annotated[tuple[str, ...], Label()]
    program_id: Annotated[U64, Label(np.uint64, 0)]
    source_file: Annotated[tuple[str, ...], Label()]
    source_line: Annotated[I64, Label(np.int64, -1)]
    source_stack: Annotated[tuple[str, ...], Label()]
    long_name: Annotated[tuple[str, ...], Label()]
    framework_path: Annotated[tuple[str, ...], Label()] = _NOT_GIVEN
    operands: Annotated[tuple[str, ...], Label()] = _NOT_GIVEN
    results: Annotated[tuple[str, ...], Label()] = _NOT_GIVEN
    operand_names: Annotated[tuple[str, ...], Label()] = _NOT_GIVEN
    replica_groups: Annotated[tuple[str, ...], Label()] = _NOT_GIVEN
    group_size: Annotated[I64, Label(np.int64, 0)] = _NOT_GIVEN
    slow_why: Annotated[tuple[str, ...], Label()] = _NOT_GIVEN
    slow_words: Annotated[tuple[str, ...], Label()] = _NOT_GIVEN

    def __post_init__(self) -> None:
        # Not `super()`: a dataclass with slots is made anew, and is then another class.
        OpColumns.__post_init__(self)
        for name, label in LABELS.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, label.unknown(len(self)))

    @classmethod
    def of(cls, labels: Mapping[str, Iterable[Any]], numbers: OpColumns) -> Self:
        """The table of `numbers`, whose rows are named by `labels`, one list per column."""
        named = {name: label.column(labels[name]) for name, label in LABELS.items()}
        return cls(**named, **{name: getattr(numbers, name) for name in SCHEMA})


LABELS: Mapping[str, Label] = declared(OpTable, Label)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LaunchTable(Aligned):
    """Single launches of ops (kernels), in the file's order: what an op's row sums up.

    `op` is the row of the op in the op table; `detail` says what tells launches apart (grid, block,
    stream). Numbers are NaN where unknown.
    """

    op: I64
    detail: tuple[str, ...]
    time_ps: U64
    flop: F64
    traffic_bytes: Mapping[MemoryLevel, F64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StepTable(Aligned):
    """Steps in order. `time_ps` is core-time (summed over cores, idle included).

    `begin_ps`, `end_ps` and `duration_ps` are those of the step's longest marker on any core.
    `sums` are the times and work of the step's ops that are not containers. Their columns have
    shape (n_steps, 2): [:, 0] all ops but infeed and outfeed, [:, 1] infeed and outfeed alone, so
    that both of the page's states are one addition away.
    """

    label: tuple[str, ...]
    begin_ps: U64
    end_ps: U64
    duration_ps: U64
    time_ps: U64
    sums: OpColumns


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """One input file: where it came from and how many accelerator cores it holds.

    `device` is what this file alone says about its device, `rank` which process of its job wrote
    it; `None` where it says nothing.
    """

    file_name: str
    hostname: str
    core_count: int
    device: ReportedDevice | None = None
    rank: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CellSource:
    """One file, or the files of one profiler, that tell of a program; `note` is how they do.

    `quality` is "counted" by hardware, or "stated" by the profiler whose file has the times.
    """

    file: str
    format: str
    quality: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JoinedCells:
    """The sources of cells of the op table: places in `sources`, -1 where a cell is unknown.

    `of` has a column for "flop", "bytes" and "busy"; `words` say, for an op with counted cells,
    how they were counted.
    """

    sources: tuple[CellSource, ...]
    of: Mapping[str, I64]
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStep:
    """A command that records what a profile lacks, and what that adds.

    `kind` is "what" (its kernels compute) or "when" (they ran in the program); `tool` is the
    profiler whose file completes this one, `of` the longest kernel that it is to count.
    """

    kind: str
    command: str
    adds: str
    tool: str
    of: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """A number that a file states, and the same as computed here, in the unit that `what` names.

    `where` is the file or the table; `agrees` is true within the tolerance of this kind of number.
    """

    what: str
    ours: float
    theirs: float
    where: str
    agrees: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModuleInstances:
    """Single instances of modules, a row per (step, instance): sums over all cores.

    An instance in one direction ("forward", "backward" or "recomputed") has a `name`
    ("DecoderLayer_17") and the `path` of its class ("Model/DecoderLayer"), one entry each; `step`
    is a place among the steps (-1: in none), `instance` a place in `name`.
    `flop` and `bytes` are sums of what is known.
    """

    name: tuple[str, ...]
    path: tuple[str, ...]
    direction: tuple[str, ...]
    step: I64
    instance: I64
    calls: I64
    time_ps: F64
    flop: F64
    bytes: F64

    def __len__(self) -> int:
        return len(self.step)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Profile:
    """Everything an analysis needs, from one or several hosts.

    `time_ps` is the core-time of the whole capture, idle included; `op_time_ps` the part spent in
    ops; `normalised_op_time_ps` that part scaled to the default clock (XProf's DVFS multiplier).
    `wall_time_ps` is from the first event of any core to the last of any, of the longest host where
    there are several, `None` when unknown;
    `program_names` maps a program id to its module name where the capture has one. `limits` are
    sentences about what this profiler cannot know; `launches` are single launches, where kept;
    `launch_times` how long they took, where there is no timeline, which has them.
    `format_id` and `format_label` name the format: the registry of importers sets them. A format
    sets `format_detail` where there is more to say: its version, or which of its tables this is.
    `timeline` says where each core's time went, where the file has events in time. `graphs` tells
    of kernels that ran in graphs, where any did, `instances` of single modules, `serving` of the
    steps of a language-model server.
    `environment` is what the program ran with, by the keys of `model.environment`; `program` is its
    own name as the capture says it, an executable or a module, where no `program_names` do.
    `time_range_ps` is the part of the capture that this profile is of, `None` for the whole, and
    `labels_of_all_steps` then has the steps of the whole.
    `is_host_only` is true where the files have no kernel, copy or counter of a device although one
    did the work: times are those of the host that launched it. `kernels_timed` are how many kernels
    have a time, and how many were launched, where launches without a kernel in the files are
    counted; `stated_total_ps` is the time of all ops as the files state it, where they lack some.
    `clock_tick_ps` is the step of the clock of all times, 0 where it is not known.
    `flop_slack_ratio` is by which part of the FLOPs they may be more: some formulas give the least.
    `by_host` are the profiles of which this one is the sum, where its importer has them. `host` is
    the one of `all_hosts` that this profile is of, empty for all. `kernels` are single kernels,
    which only the joining of files needs; `is_busy_sampled` is true where busy shares are of the
    few units of which samples over time were taken; `cells` say from which file the work of each
    op is, where several files tell of one program. `stated` are numbers that the files state,
    `next_steps` commands that record what they lack.
    """

    device: ReportedDevice
    hosts: tuple[Host, ...]
    ops: OpTable
    time_ps: int
    op_time_ps: int
    normalised_op_time_ps: int
    wall_time_ps: int | None = None
    steps: StepTable
    has_average: bool = False
    captured_at_ns: int | None = None
    program_names: Mapping[int, str] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()
    flop_provenance: Provenance = Provenance.MODELLED
    bytes_provenance: Provenance = Provenance.MODELLED
    limits: tuple[str, ...] = ()
    launches: LaunchTable | None = None
    launch_times: LaunchTimes | None = None
    format_id: str = ""
    format_label: str = ""
    format_detail: str = ""
    timeline: Timeline | None = None
    graphs: GraphReplays | None = None
    instances: ModuleInstances | None = None
    serving: ServingSteps | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    program: str = ""
    time_range_ps: tuple[int, int] | None = None
    labels_of_all_steps: tuple[str, ...] | None = None
    is_host_only: bool = False
    kernels_timed: tuple[int, int] | None = None
    stated_total_ps: int | None = None
    clock_tick_ps: int = 0
    flop_slack_ratio: float = 0.0
    by_host: tuple["Profile", ...] = ()
    host: str = ""
    all_hosts: tuple[str, ...] = ()
    kernels: Kernels | None = None
    is_busy_sampled: bool = False
    cells: JoinedCells | None = None
    stated: tuple[Stated, ...] = ()
    next_steps: tuple[NextStep, ...] = ()

    @property
    def step_labels(self) -> tuple[str, ...]:
        """The labels of all steps of the capture."""
        return self.steps.label if self.labels_of_all_steps is None else self.labels_of_all_steps

    @property
    def host_count(self) -> int:
        """How many hosts did work; others only describe it. The files of one name are one host."""
        working = [host for host in self.hosts if host.core_count > 0] or self.hosts
        names = [host.hostname for host in working if host.hostname not in _NO_NAMES]
        return len(set(names)) + len(working) - len(names)
