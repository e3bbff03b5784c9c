"""Names of things, within a sentence and in a table: levels, ceilings, bounds, costs, causes."""

from typing import Any

from roofline.analysis.causes import CAUSE_LABELS
from roofline.analysis.records import Cost
from roofline.analysis.verdict import LATENCY
from roofline.model.ceilings import COMPUTE, Ceiling
from roofline.model.compute import ComputeUnit
from roofline.model.device import Device
from roofline.model.memory import MemoryLevel
from roofline.presentation.palette import COMPUTE_STYLE, LEVEL_STYLES
from roofline.presentation.sentences import for_browser

COMPUTE_BOUND_WORDS = "compute-bound"
UNKNOWN_BOUND_WORDS = "without a known bound"

COST_LABELS = {
    Cost.KNOWN: "counted",
    Cost.NO_FLOPS: "no FLOPs",
    Cost.FLOPS_UNKNOWN: "FLOPs unknown",
    Cost.BYTES_UNKNOWN: "bytes unknown",
    Cost.UNKNOWN: "work unknown",
    Cost.TRANSFER: "transfer",
    Cost.IDLE: "idle",
}
TERM_LABELS = {
    "calls": "calls",
    "work": "FLOPs per call",
    "traffic": "bytes per call",
    "peaks": "peaks",
    "closeness": "use of the hardware",
    "regrouped": "fused or split",
    "new": "new operations",
    "gone": "operations gone",
    "unknown": "cost not known",
    "idle": "idle time",
    "communication": "waiting for links",
    "transfers": "host transfers",
}
"""The name of each term of a comparison, within a sentence and in a table."""


def spoken(level: MemoryLevel) -> str:
    """A memory level within a sentence: "VMEM write"."""
    memory, *way = level.label.split(" ")
    return " ".join([memory, *(word.lower() for word in way)])


def bound_words(level: MemoryLevel) -> str:
    """The words for a program that `level` binds: "HBM-bound", "bound by VMEM write"."""
    name = spoken(level)
    return f"bound by {name}" if " " in name else f"{name}-bound"


def page_words() -> dict[str, Any]:
    """The words that the browser needs: templates of sentences, and labels by id."""
    return {
        "sentences": for_browser(),
        "costs": {cost.value: label for cost, label in COST_LABELS.items()},
        "causes": {cause.value: label for cause, label in CAUSE_LABELS.items()},
    }


# The ceilings that a level has the colour of; all other units are drawn as compute is.
_LIKE = {Ceiling.NVLINK.value: MemoryLevel.NVLINK, Ceiling.XBAR.value: MemoryLevel.L2}
_UNITS = frozenset(unit.value for unit in ComputeUnit) | {COMPUTE}
_LEVELS = frozenset(level.value for level in MemoryLevel)
_CEILINGS = frozenset(one.value for one in Ceiling)
# Shorter than the label, for "…-bound".
_SHORT = {
    Ceiling.L1: "L1",
    Ceiling.ALU: "ALU",
    Ceiling.FMA: "FMA",
    Ceiling.FP16: "fp16",
    Ceiling.FP64: "fp64",
    Ceiling.TENSOR: "tensor",
    Ceiling.XU: "XU",
    Ceiling.LSU: "LSU",
}


def ceiling_words(ceiling: str, device: Device | None = None) -> str:
    """A ceiling by its id: "L1/TEX", "HBM", "Matrix bf16", or latency; "" for none.

    A unit has the name that its roof has on `device`.
    """
    if ceiling == LATENCY:
        return LATENCY
    if ceiling in _CEILINGS:
        return Ceiling(ceiling).label
    if ceiling in _LEVELS:
        return spoken(MemoryLevel(ceiling))
    if ceiling == COMPUTE:
        return "compute"
    if not ceiling:
        return ""
    unit = ComputeUnit(ceiling)
    peak = None if device is None else device.peak_of(unit)
    if peak is None:
        return unit.label
    return COMPUTE if peak.unit is None else peak.label


def bound_by(ceiling: str) -> str:
    """What it binds: "HBM-bound", "compute-bound", "L1-bound", "bound by issue slots"."""
    if ceiling == LATENCY:
        return f"{LATENCY}-bound"
    if ceiling in _UNITS:
        return COMPUTE_BOUND_WORDS
    if ceiling in _LEVELS and ceiling not in {Ceiling.L1.value}:
        return bound_words(MemoryLevel(ceiling))
    short = _SHORT.get(Ceiling(ceiling))
    return f"{short}-bound" if short else f"bound by {Ceiling(ceiling).label}"


def half_bound_by(ceiling: str) -> str:
    """The same before another: "HBM-" of "partly HBM-, partly compute-bound"."""
    return bound_by(ceiling).removesuffix("bound")


def ceiling_token(ceiling: str) -> str:
    """The colour token of a ceiling."""
    if ceiling == LATENCY:
        return "--warn"
    level = _LIKE.get(ceiling) or (MemoryLevel(ceiling) if ceiling in _LEVELS else None)
    return COMPUTE_STYLE.token if level is None else LEVEL_STYLES[level].token
