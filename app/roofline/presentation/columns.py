"""Every table and hover column once: id, label, unit, whether shown at first, and its formula.

Declared as data. `{per}` in `sub` is "per TensorCore", "per GPU" …; columns that exist once per
memory level or compute unit have `{id}` and `{label}` of that level or unit in their texts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from roofline.model.compute import ComputeUnit
from roofline.model.memory import MAIN_LEVELS, MemoryLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column as the page reads it. `unit` is the raw unit of its values, `sub` the shown one."""

    id: str
    label: str
    unit: str
    sub: str = ""
    default: bool = False
    help: str


@dataclass(frozen=True, slots=True)
class Per:
    """Columns that exist once for each key of one kind: "level", "unit", "clock", "ceiling".

    Of levels, `default` holds for the main memory's.
    """

    kind: str
    columns: tuple[Column, ...]


Declared = Column | Per
Keys = Mapping[str, Mapping[str, str]]
"""Per kind of key, each key with its label."""

# The names under which a unit's and a level's numbers travel, in ops and program points.
UNIT_RATE = "{id}_flop_rate_gflops"
UNIT_USE = "{id}_utilisation_ratio"
LEVEL_BANDWIDTH = "{id}_bandwidth_gibs"
LEVEL_INTENSITY = "{id}_intensity"
LEVEL_USE = "{id}_utilisation_ratio"
CLOCK = "{id}_clock_us"
BUSY = "busy_{id}_ratio"
# Listed only for profiles that count integer operations.
INTEGER_RATE = "integer_rate_gops"
# A rate of those ops alone that have a place on the roofline, in program points.
PLACED = "placed_{id}"

_UNIT_RATES = Per(
    "unit",
    (
        Column(
            id=UNIT_RATE,
            label="{label}",
            unit="gflops",
            sub="{per}",
            help="FLOPs of {label} ÷ total time.",
        ),
    ),
)
_LEVELS = Per(
    "level",
    (
        Column(
            id=LEVEL_BANDWIDTH,
            label="{label}",
            unit="gibs",
            sub="bandwidth",
            default=True,
            help="Bytes through {label} ÷ total time.",
        ),
        Column(
            id=LEVEL_INTENSITY,
            label="Intensity, {label}",
            unit="flop_per_byte",
            help="FLOPs ÷ bytes through {label}.",
        ),
    ),
)
_CLOCKS = Per(
    "clock",
    (
        Column(
            id=CLOCK,
            label="T, {label}",
            unit="time_us",
            sub="all cores",
            help="Work ÷ peak of {label}: the time that this work takes there at best.",
        ),
    ),
)
_NEAREST = (
    Column(
        id="nearest_ceiling",
        label="Nearest ceiling",
        unit="text",
        default=True,
        help="The unit with the largest share of the op's time, counted busy or by its work.",
    ),
    Column(
        id="nearest_ratio",
        label="Busy",
        unit="ratio",
        sub="nearest ceiling",
        default=True,
        help="Share of the op's time in which its nearest ceiling was used at its greatest rate.",
    ),
    Per(
        "ceiling",
        (
            Column(
                id=BUSY,
                label="Busy, {label}",
                unit="ratio",
                help="Share of the op's time in which {label} was used at its greatest rate, as "
                "the profiler counted it.",
            ),
        ),
    ),
)
_COMPUTE_ROOF = Column(
    id="compute_unit",
    label="Compute roof",
    unit="roof",
    default=True,
    help="The compute unit whose peak is used most; FLOP rate / peak is against it.",
)
_FLOP_RATE_OF_PEAK = Column(
    id="compute_efficiency_ratio",
    label="FLOP rate / peak",
    unit="ratio",
    default=True,
    help="FLOP rate ÷ peak FLOP rate.",
)
_MEMORY_USE = Column(
    id="memory_utilisation_ratio",
    label="Max memory use",
    unit="ratio",
    sub="of peak",
    default=True,
    help="The highest bandwidth ÷ peak among the memories with a known peak.",
)
_INTENSITY_ALL = Column(
    id="operational_intensity",
    label="Intensity, all",
    unit="flop_per_byte",
    help="FLOPs ÷ all bytes accessed.",
)

OP_COLUMNS: tuple[Declared, ...] = (
    Column(
        id="name",
        label="Operation",
        unit="text",
        default=True,
        help="Name of the op in the compiled program.",
    ),
    Column(
        id="category",
        label="Category",
        unit="category",
        default=True,
        help="Kind of op, as the compiler calls it.",
    ),
    Column(
        id="self_share_ratio",
        label="Share of time",
        unit="ratio",
        sub="self, of program",
        default=True,
        help="Self time ÷ the program's time, idle included.",
    ),
    Column(
        id="self_time_per_core_us",
        label="Self time",
        unit="time_us",
        sub="{per}",
        default=True,
        help="Time without the ops inside it ÷ number of cores.",
    ),
    Column(
        id="bound_by",
        label="Bound by",
        unit="bound",
        default=True,
        help="The most utilised of compute and each memory: achieved ÷ peak. Unknown where FLOPs, "
        "bytes or a peak that this op uses are not known.",
    ),
    *_NEAREST,
    Column(
        id="roofline_efficiency_ratio",
        label="Share of roof",
        unit="ratio",
        sub="efficiency",
        default=True,
        help="Utilisation of the most utilised resource. An op above 100 % says what its likely "
        "cause is, on its card and in the column Above roof.",
    ),
    Column(
        id="saving_per_core_us",
        label="Saves at roof",
        unit="time_us",
        sub="{per}",
        default=True,
        help="Self time × (1 - share of roof): what reaching the roof would save.",
    ),
    Column(
        id="bottleneck_intensity",
        label="Intensity",
        unit="flop_per_byte",
        sub="at the bound",
        default=True,
        help="FLOPs ÷ bytes of the resource that binds; the x value of the chart.",
    ),
    Column(
        id="flop_rate_gflops",
        label="FLOP rate",
        unit="gflops",
        sub="{per}",
        default=True,
        help="FLOPs ÷ total time, as the compiler counts FLOPs (XProf: Normalized FLOP Rate).",
    ),
    Column(
        id="model_flop_rate_gflops",
        label="Model FLOP rate",
        unit="gflops",
        sub="{per}",
        help="FLOPs of the model, before the compiler rewrote it, ÷ total time.",
    ),
    _FLOP_RATE_OF_PEAK,
    _COMPUTE_ROOF,
    _UNIT_RATES,
    Column(
        id=INTEGER_RATE,
        label="Integer rate",
        unit="gops",
        sub="{per}",
        help="Integer operations outside the matrix unit ÷ total time. They are not FLOPs.",
    ),
    _LEVELS,
    _MEMORY_USE,
    Column(
        id="memory_bandwidth_gibs",
        label="All memories",
        unit="gibs",
        sub="{per}",
        help="All bytes accessed ÷ total time.",
    ),
    _INTENSITY_ALL,
    Column(
        id="occurrences",
        label="Occurrences",
        unit="count",
        default=True,
        help="How often the op ran, on all cores.",
    ),
    Column(
        id="total_time_us",
        label="Total time",
        unit="time_us",
        sub="all cores",
        help="Time of all occurrences on all cores, ops inside it included.",
    ),
    Column(
        id="total_time_per_core_us",
        label="Total time",
        unit="time_us",
        sub="{per}",
        help="Total time ÷ number of cores.",
    ),
    Column(id="avg_time_us", label="Time each", unit="time_us", help="Total time ÷ occurrences."),
    Column(
        id="self_time_us",
        label="Self time",
        unit="time_us",
        sub="all cores",
        help="Time without the ops inside it.",
    ),
    Column(
        id="avg_self_time_us",
        label="Self time each",
        unit="time_us",
        help="Self time ÷ occurrences.",
    ),
    Column(
        id="total_share_ratio",
        label="Total share",
        unit="ratio",
        sub="of program",
        help="Total time ÷ the program's time.",
    ),
    Column(
        id="cumulative_share_ratio",
        label="Cumulative",
        unit="ratio",
        sub="of program",
        help="Share of time of this op and all longer ones.",
    ),
    Column(
        id="saving_share_ratio",
        label="Saves at roof",
        unit="ratio",
        sub="of program",
        help="What reaching the roof would save ÷ the program's time.",
    ),
    Column(
        id="t_min_us",
        label="T min",
        unit="time_us",
        sub="all cores",
        help="The time that the work takes at best, everything at once: the longest of its times "
        "at the compute units, memories and links.",
    ),
    Column(
        id="t_max_us",
        label="T max",
        unit="time_us",
        sub="all cores",
        help="The time that the work takes at best, one after the other: the sum of its times at "
        "the compute units, memories and links.",
    ),
    Column(
        id="above_t_max_us",
        label="Above T max",
        unit="time_us",
        sub="all cores",
        help="Total time - T max: latency, and work that was not counted.",
    ),
    _CLOCKS,
    Column(
        id="dma_stall_ratio",
        label="Stalled by DMA",
        unit="ratio",
        sub="of total time",
        help="Time the op waited for a transfer ÷ its total time.",
    ),
    Column(
        id="attainable_gflops",
        label="Attainable",
        unit="gflops",
        sub="{per}",
        help="FLOP rate ÷ share of roof: the rate at the op's roof.",
    ),
    Column(
        id="source",
        label="Source",
        unit="source",
        default=True,
        help="Line of the program that made the op.",
    ),
    Column(id="program", label="Program", unit="program", help="Compiled program, by name or id."),
    Column(id="cost", label="Cost", unit="cost", help="What is known of the op's work."),
    Column(
        id="above_roof",
        label="Above roof",
        unit="cause",
        sub="likely cause",
        help="Why an op seems to run above its roof: no op can be faster than the hardware.",
    ),
    Column(id="rank", label="Rank", unit="count", help="Place by self time."),
)

# In XProf's order and then ours.
PROGRAM_COLUMNS: tuple[Declared, ...] = (
    Column(
        id="label",
        label="Step",
        unit="text",
        default=True,
        help="Total: every op. Average: complete steps only.",
    ),
    Column(
        id="total_time_per_core_us",
        label="Time",
        unit="time_us",
        sub="{per}",
        default=True,
        help="Time of the program or step, idle included, ÷ number of cores.",
    ),
    Column(
        id="flop_rate_gflops",
        label="FLOP rate",
        unit="gflops",
        sub="{per}",
        default=True,
        help="Known FLOPs ÷ time; ≥ where those of a part of the time are not known.",
    ),
    Column(
        id="bound_by",
        label="Bound by",
        unit="bound",
        default=True,
        help="The most utilised resource, by the ops whose FLOPs and bytes are both known. Unknown "
        "where these make less than half of the busy time.",
    ),
    _COMPUTE_ROOF,
    _UNIT_RATES,
    _LEVELS,
    Column(
        id="roofline_efficiency_ratio",
        label="Share of roof",
        unit="ratio",
        sub="efficiency",
        default=True,
        help="Utilisation of the most utilised resource.",
    ),
    _FLOP_RATE_OF_PEAK,
    _MEMORY_USE,
    Column(
        id="bottleneck_intensity",
        label="Intensity",
        unit="flop_per_byte",
        sub="at the bound",
        default=True,
        help="FLOPs ÷ bytes of the resource that binds.",
    ),
    Column(
        id="model_flop_rate_gflops",
        label="Model FLOP rate",
        unit="gflops",
        sub="{per}",
        help="FLOPs of the model, before the compiler rewrote it, ÷ time.",
    ),
    Column(
        id="memory_bandwidth_gibs",
        label="All memories",
        unit="gibs",
        sub="{per}",
        default=True,
        help="Known bytes ÷ time; ≥ where those of a part of the time are not known.",
    ),
    _INTENSITY_ALL,
    Column(
        id="total_time_us",
        label="Time",
        unit="time_us",
        sub="all cores",
        help="Time summed over cores.",
    ),
    Column(
        id="attainable_gflops",
        label="Attainable",
        unit="gflops",
        sub="{per}",
        help="FLOP rate ÷ share of roof: the rate at the roof.",
    ),
)


def op_columns(
    levels: Sequence[MemoryLevel],
    units: Mapping[ComputeUnit, str],
    core_word: str,
    clocks: Mapping[str, str],
    ceilings: Mapping[str, str],
) -> tuple[Column, ...]:
    """Columns of the op table; a memory level has its own pair, a compute unit its own rate.

    `units` are those that work is split by, each with its label on this device; `clocks` what it
    takes time at, and `ceilings` those with busy shares, likewise.
    """
    keys = {**_keys(levels, units), "clock": clocks, "ceiling": ceilings}
    return _filled(OP_COLUMNS, keys, core_word)


def program_columns(
    levels: Sequence[MemoryLevel], units: Mapping[ComputeUnit, str], core_word: str
) -> tuple[Column, ...]:
    """Columns of the program table."""
    return _filled(PROGRAM_COLUMNS, _keys(levels, units), core_word)


def _keys(levels: Sequence[MemoryLevel], units: Mapping[ComputeUnit, str]) -> Keys:
    return {
        "level": {level.value: level.label for level in levels},
        "unit": {unit.value: label for unit, label in units.items()},
    }


def _filled(declared: Sequence[Declared], keys: Keys, core_word: str) -> tuple[Column, ...]:
    found: list[Column] = []
    for entry in declared:
        if isinstance(entry, Per):
            labels = keys.get(entry.kind, {})
            found += (
                _of(one, key, label) for key, label in labels.items() for one in entry.columns
            )
        elif entry is _COMPUTE_ROOF:
            found += [replace(entry, default=len(keys["unit"]) > 1)] if keys["unit"] else []
        elif entry not in _NEAREST or keys.get("ceiling"):
            found.append(entry)
    return tuple(replace(one, sub=one.sub.replace("{per}", f"per {core_word}")) for one in found)


def _of(column: Column, key: str, label: str) -> Column:
    """`column` for one level, unit, clock or ceiling."""

    def fill(text: str) -> str:
        return text.replace("{id}", key).replace("{label}", label)

    is_default = column.default and key in _MAIN
    return replace(
        column,
        id=fill(column.id),
        label=fill(column.label),
        help=fill(column.help),
        default=is_default,
    )


_MAIN = frozenset(level.value for level in MAIN_LEVELS)
