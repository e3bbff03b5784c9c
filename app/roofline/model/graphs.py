"""Kernels that ran in graphs, and how many of them a trace of the graph's capture explains."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """A capture that explains kernels: its file, its annotation ("" without one), their number."""

    file_name: str
    label: str
    kernels: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UnalignedKernel:
    """Kernels of one name without a launch in a capture."""

    name: str
    count: int
    time_ps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphReplays:
    """Launches of graphs: the kernels that they ran, and those that have a launch in a capture.

    Times are ps of device time. `left` are the kernels without a launch, longest time first.
    """

    replays: int
    kernels: int
    aligned: int
    time_ps: int
    aligned_ps: int
    captures: tuple[Capture, ...]
    left: tuple[UnalignedKernel, ...]
