"""Python's stack at a launch, from the calls of functions that a trace `with_stack` has."""

import re

import numpy as np
from numpy.typing import NDArray

from roofline.importers.pytorch.nesting import nest
from roofline.importers.pytorch.trace import Trace

I64 = NDArray[np.int64]

MOST_FRAMES = 24
# `torch/nn/functional.py(2428): embedding`; functions in C have no file.
_FRAME = re.compile(r"(?P<file>.+?)\((?P<line>\d{1,9})\): .+\Z")


def stacks_at(trace: Trace, launches: I64) -> list[str]:
    """The stack of each launch, a frame per line, the innermost first; "" where there is none."""
    frames, calls = trace.frames, trace.launches
    if not len(frames):
        return [""] * len(launches)
    parent, around, _ = nest(
        begin=frames["begin"],
        duration=frames["duration"],
        thread=frames["thread"],
        point_ns=calls["begin"][launches],
        point_thread=calls["thread"][launches],
    )
    known: dict[int, str] = {-1: ""}
    for frame in np.unique(around).tolist():
        if frame >= 0:
            known[frame] = _stack(trace, frame, parent)
    return [known[frame] for frame in around.tolist()]


def _stack(trace: Trace, frame: int, parent: NDArray[np.int32]) -> str:
    lines: list[str] = []
    name = trace.frames["name"]
    while frame >= 0 and len(lines) < MOST_FRAMES:
        text = trace.names[int(name[frame])]
        if _FRAME.match(text):
            lines.append(text)
        frame = int(parent[frame])
    return "\n".join(lines)


def source_of(stack: str) -> tuple[str, int]:
    """File and line of the innermost frame; "" and -1 without one."""
    match = _FRAME.match(stack.partition("\n")[0])
    return (match["file"], int(match["line"])) if match else ("", -1)
