"""What things are called within a sentence: memory levels, bounds, single numbers' slots."""

from roofline.model.memory import MemoryLevel

COMPUTE_BOUND_WORDS = "compute-bound"


def spoken(level: MemoryLevel) -> str:
    """A memory level within a sentence: "VMEM write"."""
    memory, *way = level.label.split(" ")
    return " ".join([memory, *(word.lower() for word in way)])


def bound_words(level: MemoryLevel) -> str:
    """What a program is that `level` binds: "HBM-bound", "bound by VMEM write"."""
    name = spoken(level)
    return f"bound by {name}" if " " in name else f"{name}-bound"
