"""Numbers, units and labels as Nsight Compute prints them, to metrics in base units.

Base units: ns, byte, Hz, per second. The profiler prints whole numbers, or two or six decimals; in
the user's locale on some pages. Before 2025 units are words ("usecond", "cycle/nsecond"), later
symbols ("us", "Ghz"). Labels of the details page stand for metrics, by label and unit.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

_SPACES = dict.fromkeys(map(ord, " \u00a0\u202f\u2009'’\t"))
_NUMERIC = re.compile(r"[+-]?\d[\d.,]*(?:[eE][+-]?\d+)?")
_INSTANCES = re.compile(r"(?<!\s)\s++\(.*$", re.DOTALL)
_GROUP_DIGITS = 3
_ENOUGH_VOTES = 2_000

_EXPONENTS = {"n": -9, "u": -6, "m": -3, "": 0, "K": 3, "k": 3, "M": 6, "G": 9, "T": 12}
_SECOND = re.compile(r"(?P<prefix>[num]?)s(?:econd)?")
_OTHER = re.compile(
    r"(?P<prefix>[KkMGT]?)(?:byte|hz|cycle|inst|sector|warp|thread|request)s?", re.I
)
_NS_EXPONENT = 9


def decimal_mark(cells: Iterable[str]) -> str:
    """The decimal mark of a file: "." or ",", by its clearest cells; "." if none tells.

    Two kinds of mark in a number: the last is decimal. One kind, twice: it groups. Once, before
    other than three digits: it is decimal, and certainly so, because three are never printed.
    """
    votes = {".": 0, ",": 0}
    hints = {".": 0, ",": 0}
    for cell in cells:
        mark, is_sure = _vote(strip(cell))
        if mark:
            (votes if is_sure else hints)[mark] += 1
        if votes["."] + votes[","] >= _ENOUGH_VOTES:
            break
    counted = votes if any(votes.values()) else hints
    return "," if counted[","] > counted["."] else "."


def strip(cell: str) -> str:
    """A cell without spaces, apostrophes, and the values per instance that follow in brackets."""
    return _INSTANCES.sub("", cell.strip()).translate(_SPACES)


def _vote(text: str) -> tuple[str, bool]:
    """The decimal mark that a cell speaks for, and whether it leaves no doubt."""
    if not _NUMERIC.fullmatch(text):
        return "", False
    dots, commas = text.count("."), text.count(",")
    if dots and commas:
        return max(".,", key=text.rfind), True
    mark = "." if dots else ","
    other = "," if dots else "."
    if dots + commas > 1:
        return other, True
    if dots + commas == 1:
        digits = len(text) - text.index(mark) - 1
        return (other, False) if digits == _GROUP_DIGITS else (mark, True)
    return "", False


def parse(cell: str, decimal: str) -> float | None:
    """The number in `cell`; `None` for what is empty, `n/a`, NaN, or no number."""
    text = strip(cell)
    if not _NUMERIC.fullmatch(text):
        return None
    text = text.replace("," if decimal == "." else ".", "").replace(decimal, ".")
    try:
        return float(text)
    except ValueError:  # two decimal marks
        return None


def digits(cell: str) -> int:
    """Significant digits of a number as printed; 0 for zero."""
    mantissa = re.split("[eE]", strip(cell))[0]
    return len(re.sub(r"\D", "", mantissa).lstrip("0"))


@lru_cache(maxsize=512)
def factor(unit: str) -> float:
    """The factor from a value in `unit` to base units; 1 for units without a scale.

    Times become nanoseconds, rates per second: "usecond" is 1e3, "Gbyte/second" 1e9, "/nsecond"
    1e9, "cycle/nsecond" 1e9. "%" and whatever is unknown stay as they are.
    """
    above, _, below = unit.strip().partition("/")
    exponent = 0
    if time := _SECOND.fullmatch(above):
        exponent = _EXPONENTS[time["prefix"]] + _NS_EXPONENT
    elif amount := _OTHER.fullmatch(above):
        exponent = _EXPONENTS[amount["prefix"]]
    if per := _SECOND.fullmatch(below):
        exponent -= _EXPONENTS[per["prefix"]]
    return 10.0**exponent


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
