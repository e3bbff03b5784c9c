"""What changed in the numbers, by results version: a profile that another release computed says so.

A change of a number that users see is a row of the next version here, in plain words.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberChange:
    """A change of numbers: its sentence, and how the names of its formats begin (none: all)."""

    results_version: int
    said: str
    formats: tuple[str, ...] = ()


CHANGES = (
    NumberChange(
        results_version=3,
        formats=("PyTorch profiler",),
        said="Elementwise operators, normalisations, reductions and optimizers have FLOPs, and"
        " kernels of Inductor have FLOPs and bytes, so more of the time has a roof.",
    ),
    NumberChange(
        results_version=3,
        formats=("rocprofv3",),
        said="A copy from or to the host is a transfer over the host link, and not an operation"
        " below the roof of HBM.",
    ),
    NumberChange(
        results_version=4,
        formats=("Nsight Systems",),
        said="Samples of GPU metrics say how busy the tensor pipe, issue slots, memory and links"
        " were, and how many bytes moved.",
    ),
    NumberChange(
        results_version=4,
        said="A collective is held against the links that join its own group: two of eight MI300X"
        " have one link, and a group on two axes of a TPU slice has both.",
    ),
    NumberChange(
        results_version=3,
        said="Groups divide the time of what the page shows and add up to it: they were of the"
        " whole capture.",
    ),
    NumberChange(
        results_version=5,
        said="Idle time waits for the host only where the file shows that its launch came too late;"
        " the cause of all other idle time is not in the file.",
    ),
    NumberChange(
        results_version=6,
        formats=("PyTorch profiler",),
        said="Lookups of FBGEMM's embedding tables have FLOPs and bytes.",
    ),
)
RESULTS_VERSION = max(one.results_version for one in CHANGES)


def changes_since(version: str | None, format_name: str) -> tuple[str, ...]:
    """The sentences on numbers of a format that changed after results of `version`.

    `version` is one of `results_version`, none for results that were not computed before.
    """
    if version is None:
        return ()
    before = results_number(version)
    return tuple(
        one.said
        for one in CHANGES
        if one.results_version > before and format_name.startswith(one.formats or "")
    )


def results_number(version: str) -> int:
    """The results version in the name of a version, 0 in one of another form."""
    number = version.partition("-")[0].removeprefix("v")
    return int(number) if number.isdecimal() else 0
