"""The processes of a program and its children, by their numbers in the system."""

from pathlib import Path

from roofline.children.program import Program


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
