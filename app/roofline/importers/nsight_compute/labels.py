"""Labels of the details page, which stand for metrics, by label and unit; 2020 to 2025."""

import re

_LABELS = {
    ("Duration", "ns"): "gpu__time_duration.sum",
    ("SM Frequency", "Hz"): "sm__cycles_elapsed.avg.per_second",
    ("DRAM Frequency", "Hz"): "dram__cycles_elapsed.avg.per_second",
    ("Memory Throughput", "byte/s"): "dram__bytes.sum.per_second",
    ("# SMs", ""): "device__attribute_multiprocessor_count",
    ("Elapsed Cycles", ""): "gpc__cycles_elapsed.max",
    ("SM Active Cycles", ""): "sm__cycles_active.avg",
    ("Compute (SM) Throughput", "%"): "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    ("SM [%]", "%"): "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    ("SM Busy", "%"): "sm__instruction_throughput.avg.pct_of_peak_sustained_active",
    ("Issue Slots Busy", "%"): "sm__inst_issued.avg.pct_of_peak_sustained_active",
    ("Memory Throughput", "%"): "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    ("Memory [%]", "%"): "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    ("L1/TEX Cache Throughput", "%"): "l1tex__throughput.avg.pct_of_peak_sustained_active",
    ("SOL L1/TEX Cache", "%"): "l1tex__throughput.avg.pct_of_peak_sustained_active",
    ("L2 Cache Throughput", "%"): "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    ("SOL L2 Cache", "%"): "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    ("DRAM Throughput", "%"): "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
    ("SOL DRAM", "%"): "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
    ("Achieved Occupancy", "%"): "sm__warps_active.avg.pct_of_peak_sustained_active",
    ("Grid Size", ""): "launch__grid_size",
    ("Waves Per SM", ""): "launch__waves_per_multiprocessor",
    ("Block Limit Registers", ""): "launch__occupancy_limit_registers",
    ("Block Limit Shared Mem", ""): "launch__occupancy_limit_shared_mem",
    ("Block Limit Warps", ""): "launch__occupancy_limit_warps",
    ("Block Limit SM", ""): "launch__occupancy_limit_blocks",
    ("Block Limit Barriers", ""): "launch__occupancy_limit_barriers",
}
_KINDS = {
    "ns": re.compile(r"[num]?s(econd)?"),
    "Hz": re.compile(r"[KkMGT]?hz|cycle/[num]?second", re.IGNORECASE),
    "byte/s": re.compile(r"[KkMGT]?byte/s(econd)?"),
    "%": re.compile("%"),
}


def metric_of(label: str, unit: str) -> str:
    """The metric that `label` stands for; empty where the arithmetic does not use it."""
    kind = next((kind for kind, unit_of in _KINDS.items() if unit_of.fullmatch(unit)), "")
    return _LABELS.get((label, kind), "")
