"""Every table and hover column once: id, label, unit, whether shown at first, and its formula."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from roofline.model.compute import ComputeUnit
from roofline.model.memory import MemoryLevel


@dataclass(frozen=True, slots=True)
class Column:
    """A column as the page reads it. `unit` is the raw unit of its values, `sub` the shown one."""

    id: str
    label: str
    unit: str
    sub: str
    default: bool
    help: str


def op_columns(
    levels: Sequence[MemoryLevel], units: Mapping[ComputeUnit, str], core_word: str
) -> tuple[Column, ...]:
    """Columns of the op table; a memory level has its own pair, a compute unit its own rate.

    `units` are those that work is split by, each with its label on this device.
    """
    per = f"per {core_word}"
    return (
        Column("name", "Operation", "text", "", True, "Name of the op in the compiled program."),
        Column(
            "category", "Category", "category", "", True, "Kind of op, as the compiler calls it."
        ),
        Column(
            "self_share_ratio",
            "Share of time",
            "ratio",
            "self, of program",
            True,
            "Self time ÷ the program's time, idle included.",
        ),
        Column(
            "self_time_per_core_us",
            "Self time",
            "time_us",
            per,
            True,
            "Time without the ops inside it ÷ number of cores.",
        ),
        Column(
            "bound_by",
            "Bound by",
            "bound",
            "",
            True,
            "The most utilised of compute and each memory: achieved ÷ peak.",
        ),
        Column(
            "roofline_efficiency_ratio",
            "Share of roof",
            "ratio",
            "efficiency",
            True,
            "Utilisation of the most utilised resource. Above 100 %: bytes that move after the op "
            "has ended (asynchronous copies), or FLOPs that are over-counted.",
        ),
        Column(
            "saving_per_core_us",
            "Saves at roof",
            "time_us",
            per,
            True,
            "Self time × (1 - share of roof): what reaching the roof would save.",
        ),
        Column(
            "bottleneck_intensity",
            "Intensity",
            "flop_per_byte",
            "at the bound",
            True,
            "FLOPs ÷ bytes of the resource that binds; the x value of the chart.",
        ),
        Column(
            "flop_rate_gflops",
            "FLOP rate",
            "gflops",
            per,
            True,
            "FLOPs ÷ total time, as the compiler counts FLOPs (XProf: Normalized FLOP Rate).",
        ),
        Column(
            "model_flop_rate_gflops",
            "Model FLOP rate",
            "gflops",
            per,
            False,
            "FLOPs of the model, before the compiler rewrote it, ÷ total time.",
        ),
        Column(
            "compute_efficiency_ratio",
            "FLOP rate / peak",
            "ratio",
            "",
            True,
            "FLOP rate ÷ peak FLOP rate.",
        ),
        *_unit_columns(units, core_word),
        *_level_columns(levels),
        Column(
            "memory_utilisation_ratio",
            "Max memory use",
            "ratio",
            "of peak",
            True,
            "The highest bandwidth ÷ peak among the memories with a known peak.",
        ),
        Column(
            "memory_bandwidth_gibs",
            "All memories",
            "gibs",
            per,
            False,
            "All bytes accessed ÷ total time.",
        ),
        Column(
            "operational_intensity",
            "Intensity, all",
            "flop_per_byte",
            "",
            False,
            "FLOPs ÷ all bytes accessed.",
        ),
        Column(
            "occurrences", "Occurrences", "count", "", True, "How often the op ran, on all cores."
        ),
        Column(
            "total_time_us",
            "Total time",
            "time_us",
            "all cores",
            False,
            "Time of all occurrences on all cores, ops inside it included.",
        ),
        Column(
            "total_time_per_core_us",
            "Total time",
            "time_us",
            per,
            False,
            "Total time ÷ number of cores.",
        ),
        Column("avg_time_us", "Time each", "time_us", "", False, "Total time ÷ occurrences."),
        Column(
            "self_time_us",
            "Self time",
            "time_us",
            "all cores",
            False,
            "Time without the ops inside it.",
        ),
        Column(
            "avg_self_time_us", "Self time each", "time_us", "", False, "Self time ÷ occurrences."
        ),
        Column(
            "total_share_ratio",
            "Total share",
            "ratio",
            "of program",
            False,
            "Total time ÷ the program's time.",
        ),
        Column(
            "cumulative_share_ratio",
            "Cumulative",
            "ratio",
            "of program",
            False,
            "Share of time of this op and all longer ones.",
        ),
        Column(
            "saving_share_ratio",
            "Saves at roof",
            "ratio",
            "of program",
            False,
            "What reaching the roof would save ÷ the program's time.",
        ),
        Column(
            "dma_stall_ratio",
            "Stalled by DMA",
            "ratio",
            "of total time",
            False,
            "Time the op waited for a transfer ÷ its total time.",
        ),
        Column(
            "attainable_gflops",
            "Attainable",
            "gflops",
            per,
            False,
            "FLOP rate ÷ share of roof: the rate at the op's roof.",
        ),
        Column("source", "Source", "source", "", True, "Line of the program that made the op."),
        Column("program", "Program", "program", "", False, "Compiled program, by name or id."),
        Column("cost", "Cost", "text", "", False, "What is known of the op's work."),
        Column("rank", "Rank", "count", "", False, "Place by self time."),
    )


def program_columns(
    levels: Sequence[MemoryLevel], units: Mapping[ComputeUnit, str], core_word: str
) -> tuple[Column, ...]:
    """Columns of the program table, in XProf's order and then ours."""
    per = f"per {core_word}"
    return (
        Column("label", "Step", "text", "", True, "Total: every op. Average: complete steps only."),
        Column(
            "total_time_per_core_us",
            "Time",
            "time_us",
            per,
            True,
            "Time of the program or step, idle included, ÷ number of cores.",
        ),
        Column("flop_rate_gflops", "FLOP rate", "gflops", per, True, "FLOPs of all ops ÷ time."),
        Column("bound_by", "Bound by", "bound", "", True, "The most utilised resource."),
        *_unit_columns(units, core_word),
        *_level_columns(levels),
        Column(
            "roofline_efficiency_ratio",
            "Share of roof",
            "ratio",
            "efficiency",
            True,
            "Utilisation of the most utilised resource.",
        ),
        Column(
            "compute_efficiency_ratio",
            "FLOP rate / peak",
            "ratio",
            "",
            True,
            "FLOP rate ÷ peak FLOP rate.",
        ),
        Column(
            "memory_utilisation_ratio",
            "Max memory use",
            "ratio",
            "of peak",
            True,
            "The highest bandwidth ÷ peak among the memories with a known peak.",
        ),
        Column(
            "bottleneck_intensity",
            "Intensity",
            "flop_per_byte",
            "at the bound",
            True,
            "FLOPs ÷ bytes of the resource that binds.",
        ),
        Column(
            "model_flop_rate_gflops",
            "Model FLOP rate",
            "gflops",
            per,
            False,
            "FLOPs of the model, before the compiler rewrote it, ÷ time.",
        ),
        Column("memory_bandwidth_gibs", "All memories", "gibs", per, True, "All bytes ÷ time."),
        Column(
            "operational_intensity",
            "Intensity, all",
            "flop_per_byte",
            "",
            False,
            "FLOPs ÷ all bytes accessed.",
        ),
        Column("total_time_us", "Time", "time_us", "all cores", False, "Time summed over cores."),
        Column(
            "attainable_gflops",
            "Attainable",
            "gflops",
            per,
            False,
            "FLOP rate ÷ share of roof: the rate at the roof.",
        ),
    )


def _unit_columns(units: Mapping[ComputeUnit, str], core_word: str) -> tuple[Column, ...]:
    if not units:
        return ()
    roof = Column(
        "compute_unit",
        "Compute roof",
        "roof",
        "",
        len(units) > 1,
        "The compute unit whose peak is used most; FLOP rate / peak is against it.",
    )
    rates = (
        Column(
            f"{unit}_flop_rate_gflops",
            label,
            "gflops",
            f"per {core_word}",
            False,
            f"FLOPs of {label} ÷ total time.",
        )
        for unit, label in units.items()
    )
    return (roof, *rates)


def _level_columns(levels: Sequence[MemoryLevel]) -> tuple[Column, ...]:
    columns = []
    for level in levels:
        first = level.is_main
        columns.append(
            Column(
                f"{level}_bandwidth_gibs",
                level.label,
                "gibs",
                "bandwidth",
                first,
                f"Bytes through {level.label} ÷ total time.",
            )
        )
        columns.append(
            Column(
                f"{level}_intensity",
                f"Intensity, {level.label}",
                "flop_per_byte",
                "",
                False,
                f"FLOPs ÷ bytes through {level.label}.",
            )
        )
    return tuple(columns)
