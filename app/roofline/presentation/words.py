"""Names of things, within a sentence and in a table: levels, bounds, costs, causes."""

from typing import Any

from roofline.analysis.causes import CAUSE_LABELS
from roofline.analysis.records import Cost
from roofline.model.memory import MemoryLevel
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
