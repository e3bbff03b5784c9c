"""The processes of a program and its children, by their numbers in the system."""

from pathlib import Path

from roofline.children.program import Program
from roofline.model.outer_limits import ImportLimits

LIMITS = ImportLimits(
    memory_bytes=2 << 30,
    cpu_seconds=60,
    wall_seconds=60,
    max_unpacked_bytes=1 << 30,
    max_unpacked_files=100,
    max_expansion_ratio=300,
)


def program_id(program: Program) -> int:
    """The process of the program that was started last."""
    program.start()
    process = vars(program)["_process"]
    number: int = process.pid
    return number


def children_of(number: int) -> list[int]:
    """The children of a process."""
    tasks = Path(f"/proc/{number}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]
