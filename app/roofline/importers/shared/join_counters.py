"""One program, two profilers: work counted by the hardware joins the profile of the whole program.

A program's capture knows steps, idle time and the compiler's costs; a kernel profiler knows what
the hardware counted, for kernels it replayed. Kernels match by name; what counts is the mean of a
kernel's launches times how often the program ran it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from roofline.model.device import MeasuredWork
from roofline.model.memory import MemoryLevel, main_level
from roofline.model.op_columns import U64
from roofline.model.profile import Diagnostic, OpTable, Profile, Severity

_ARGUMENTS = re.compile(r"[<(].*$", re.DOTALL)
_RETURN_TYPE = re.compile(r"^(?:void|__global__)\s+")
_NO_NAME = re.compile(r"[^0-9a-z]+")


def with_counters(program: Profile, counted: Profile) -> Profile | None:
    """`program` with the counters of `counted`; `None` if they share no kernel's name."""
    pairs = _matches(program.ops, counted.ops)
    if not pairs:
        return None
    measured = _measured(program, counted, pairs)
    counters = replace(program.device.counters, measured=measured)
    return replace(
        program,
        device=replace(program.device, counters=counters),
        diagnostics=(*program.diagnostics, _coverage(program, measured), *counted.diagnostics),
    )


def kernel_key(name: str) -> str:
    """The part that a kernel's name shares with its operation's: "loop_add_fusion.3" runs as
    "loop_add_fusion_3", and a demangled name has arguments and a return type around it."""
    return _plain(_ARGUMENTS.sub("", _RETURN_TYPE.sub("", name.strip())))


def _plain(name: str) -> str:
    return _NO_NAME.sub("_", name.lower()).strip("_")


def _coverage(program: Profile, measured: MeasuredWork) -> Diagnostic:
    share = measured.time_ps / program.op_time_ps if program.op_time_ps else 0.0
    return Diagnostic(
        severity=Severity.INFO,
        code="counters-joined",
        message=f"Total (HW) is from {measured.source}. Of its {measured.total_kernels:,} kernels, "
        f"{measured.matched_kernels:,} run in this program, by name, and take "
        f"{100 * share:.0f} % of the time in operations. The rest has no counters.",
    )


@dataclass(frozen=True, slots=True)
class _Match:
    """Row of the program's op, row of the counted kernel."""

    op: int
    kernel: int


def _matches(program: OpTable, counted: OpTable) -> list[_Match]:
    """Ops and kernels of one name, in full; else without arguments where that names one kernel."""
    known = counted.flop_known
    rows = [row for row in range(len(counted)) if known[row] and counted.occurrences[row] > 0]
    whole = {_plain(counted.name[row]): row for row in rows}
    short: dict[str, list[int]] = {}
    for row in rows:
        short.setdefault(kernel_key(counted.name[row]), []).append(row)
    alone = {key: rows[0] for key, rows in short.items() if key and len(rows) == 1}
    kernels = (whole.get(_plain(name), alone.get(kernel_key(name))) for name in program.name)
    return [_Match(op, kernel) for op, kernel in enumerate(kernels) if kernel is not None]


def _measured(program: Profile, counted: Profile, matches: list[_Match]) -> MeasuredWork:
    ops, kernels = program.ops, counted.ops
    op = np.array([match.op for match in matches])
    kernel = np.array([match.kernel for match in matches])
    runs = ops.occurrences[op] / kernels.occurrences[kernel]

    def scaled(column: U64) -> int:
        return round(float((column[kernel].astype(np.float64) * runs).sum()))

    used = sorted({match.kernel for match in matches})
    main = main_level(kernels.traffic_bytes)
    counted_bytes = kernels.traffic_bytes[main][kernel].astype(np.float64) * runs
    known = kernels.traffic_known[kernel] | kernels.bytes_known[kernel]
    return MeasuredWork(
        flop=scaled(kernels.flop),
        unit_flop={unit: scaled(column) for unit, column in kernels.unit_flop.items()},
        traffic_bytes=_traffic(
            {level: scaled(c) for level, c in kernels.traffic_bytes.items()}, kernels, used, ops
        ),
        time_ps=int(ops.self_time_ps[op].sum(dtype=np.uint64)),
        matched_kernels=len(used),
        total_kernels=len(kernels),
        op_bytes={
            match.op: round(moved)
            for match, moved, is_known in zip(
                matches, counted_bytes.tolist(), known.tolist(), strict=True
            )
            if is_known and moved > 0
        },
        source=f"{counted.format_label}: {', '.join(host.file_name for host in counted.hosts)}",
    )


def _traffic(
    moved: Mapping[MemoryLevel, int], kernels: OpTable, used: list[int], ops: OpTable
) -> dict[MemoryLevel, int]:
    """Bytes by level, the main memory under the program's name for it; unknown levels left out."""
    if not kernels.traffic_known[used].any():
        return {}
    main = main_level(ops.traffic_bytes)
    return {main if level.is_main else level: count for level, count in moved.items()}
