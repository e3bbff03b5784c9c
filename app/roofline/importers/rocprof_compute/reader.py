"""Reads the files of a workload folder into one profile."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np

from roofline.errors import CorruptProfileError, IncompleteProfileError, UploadRejectedError
from roofline.importers.rocprof_compute.files import (
    Kind,
    Table,
    counter_names,
    counters,
    gpu_name,
    number,
    positive,
    read_device,
    read_environment,
    read_file,
    read_program,
    read_size,
)
from roofline.importers.shared.amd_counters import (
    COUNTED_LIMITS,
    AmdSize,
    CacheSizes,
    cache_sizes,
    counted_launch,
    integer_operations,
    passes_joined,
)
from roofline.importers.shared.kernel_names import kernel_category, shown
from roofline.importers.shared.launches import Launch, Launches, launch_tables, without_steps
from roofline.importers.shared.listed_tables import tables_of, with_stated_sums
from roofline.importers.source import Progress, SourceFile
from roofline.model.device import ReportedDevice
from roofline.model.memory import MemoryLevel
from roofline.model.notes import counted, noted, notes_beside
from roofline.model.profile import Diagnostic, Host, Profile, Provenance
from roofline.model.units import PS_PER_NS, PS_PER_S

_CLONE = re.compile(r"(?<!\s)\s*+(?:\[clone [^\[\]]*\]|\(\.kd\)|\.kd)\s*+$")
_NANOSECONDS = re.compile(r"\+?\d{1,20}(?:\.\d{0,20})?(?:[eE]\+?\d{1,2})?", re.ASCII)
_LONGEST_PS = 11 * 86_400 * PS_PER_S  # eleven days: no kernel runs longer, damaged clocks say so
_TOTALS = {"kernel name", "count", "sum"}
_LIMITS = (
    "Every kernel ran several times to collect its counters: there are no steps and no idle time.",
    *COUNTED_LIMITS,
)
_TIMES_ALONE = "Kernels are listed one by one, without what ran between them."
_L1_OF_LINES = "L1 bytes are accesses times the cache line, an upper bound."
_L1_AS_BENCHMARK = (
    "L1 bytes are accesses times 64 bytes, as in the benchmark that measured the roof of L1."
)
_NOTES = notes_beside(__file__)


def read(sources: Sequence[SourceFile], *, progress: Progress) -> Profile:
    """The profile in the files of one workload, of one or several ranks."""
    tables = []
    for k, source in enumerate(sources):
        progress("read", k / len(sources))
        tables.append(read_file(source))
    measured = _counter_tables(tables, sources)
    system = _system(tables)
    roofs = next((table for table in tables if table.kind is Kind.ROOFS), None)
    sizes = _sizes(system, measured, has_roofs=roofs is not None)
    work = _Work(sizes, read_size(system), _exact_times(tables))
    for table in measured:
        work.add(table)
    device = read_device(system, roofs, core_count=max(1, len(work.devices)))
    profile = _profile(work, device, measured, system, has_roofs=roofs is not None)
    totals = [
        one
        for source, table in zip(sources, tables, strict=True)
        if table.kind is Kind.TOTALS
        for one in tables_of(bytes(source.data), source.name, [_TOTALS])
    ]
    return with_stated_sums(profile, totals, _sum_of) if totals else profile


def _sum_of(name: str, **rest: Any) -> Launch:
    return Launch(name=_own_name(name), flop=None, **rest)


def roofs_alone(sources: Sequence[SourceFile]) -> ReportedDevice | None:
    """The device of a workload without its counters, without the roof of L1: the benchmark counts
    64 bytes per access of it, and rocprofv3's counters whole lines."""
    tables = [read_file(source) for source in sources]
    roofs = next((table for table in tables if table.kind is Kind.ROOFS), None)
    if roofs is None or any(table.kind is Kind.COUNTERS for table in tables):
        return None
    device = read_device(_system(tables), roofs, core_count=1)
    levels = dict(device.bandwidth_gbs)
    levels.pop(MemoryLevel.L1, None)
    return replace(device, bandwidth_gbs=levels)


def _own_name(text: str) -> str:
    return _CLONE.sub("", text).strip() or "unnamed kernel"


def _system(tables: Sequence[Table]) -> Mapping[str, str]:
    """The machine by `sysinfo.csv`; the ranks of one workload ran on one kind."""
    systems = [dict(t.rows[0]) for t in tables if t.kind is Kind.SYSTEM and t.rows]
    gpus = dict.fromkeys(name for system in systems if (name := gpu_name(system)))
    if len(gpus) > 1:
        raise UploadRejectedError(
            f"These files are of workloads on different machines: {' and '.join(gpus)}.",
            remedy="Upload the folder of one workload at a time.",
        )
    return systems[0] if systems else {}


def _counter_tables(tables: Sequence[Table], sources: Sequence[SourceFile]) -> list[Table]:
    """`pmc_perf.csv`, one per rank; not other files, which have few columns. Tables of times where
    there are no others."""
    if all(table.kind is Kind.TIMES for table in tables):
        return [*tables]  # results.csv of rocprof, which counted nothing
    tables_of_counters = _joined([table for table in tables if table.kind is Kind.COUNTERS])
    widest = max((table.n_columns for table in tables_of_counters), default=0)
    if not tables_of_counters:
        names = ", ".join(source.name for source in sources[:4])
        raise IncompleteProfileError(
            f"{names}: these files of a rocprof-compute workload hold no counters.",
            remedy="Upload pmc_perf.csv with them, or the whole folder of the workload as a zip.",
        )
    result = [table for table in tables_of_counters if 2 * table.n_columns > widest]
    if not any(table.rows for table in result):
        raise CorruptProfileError(
            f"{result[0].name} lists no dispatch.",
            remedy="Profile again: the application launched no kernel, or the filter left none.",
        )
    return result


def _joined(tables: Sequence[Table]) -> list[Table]:
    """Passes of one program as one table: the same kernels in the same order, other counters.

    Newer versions write `pmc_perf_0.csv`, `pmc_perf_1.csv` …, with or without all of them in one.
    Times are those of the table with most columns.
    """
    passes: list[Table] = []
    for table in sorted(tables, key=lambda table: -table.n_columns):
        names, wider = (
            counter_names(table),
            [one for one in passes if _kernels(one) == _kernels(table)],
        )
        if not any(names < counter_names(one) for one in wider):
            passes.append(table)  # else a pass of a table that has its counters
    joined = passes_joined(passes, kernels=_kernels, counters=counter_names, join=_with_pass)
    order = [table.name for table in tables]
    return sorted(joined, key=lambda table: order.index(table.name))


def _kernels(table: Table) -> list[str | None]:
    return [row.get("kernel_name") for row in table.rows]


def _with_pass(table: Table, other: Table) -> Table:
    rows = zip(table.rows, other.rows, strict=True)
    merged = tuple({**more, **row} for row, more in rows)
    return replace(table, rows=merged, n_columns=table.n_columns + other.n_columns)


def _sizes(system: Mapping[str, str], measured: Sequence[Table], *, has_roofs: bool) -> CacheSizes:
    architecture = system.get("gpu_arch", "").strip()
    if not architecture and any("TCC_EA0_RDREQ_sum" in t.rows[0] for t in measured if t.rows):
        architecture = "gfx942"  # only MI300 and later spell it so
    banks = positive(system, "lds_banks_per_cu")
    return cache_sizes(architecture, int(banks) if banks else None, counts_as_benchmark=has_roofs)


def _exact_times(tables: Sequence[Table]) -> dict[str, int]:
    """Durations in ps by dispatch, of `timestamps.csv`."""
    result = {}
    for table in tables:
        for row in table.rows if table.kind is Kind.TIMES else ():
            time_ps = _time_ps(row)
            if time_ps is not None:
                result[row.get("dispatch_id", "").strip()] = time_ps
    return result


def _time_ps(row: Mapping[str, str]) -> int | None:
    """How long a dispatch took; `None` where its ends are missing or not exact to 1 ns.

    The profiler writes the mean over its passes, so ends have fractions of a nanosecond. They have
    more digits than a float, and a spreadsheet leaves fewer ("8.1E+14").
    """
    edges = _edges(row)
    if not all(_NANOSECONDS.fullmatch(edge) for edge in edges):
        return None
    begin, end = map(Decimal, edges)
    is_exact = max(_exponent(begin), _exponent(end)) <= 0
    time_ps = round((end - begin) * PS_PER_NS)
    return time_ps if is_exact and 0 < time_ps < _LONGEST_PS else None


def _edges(row: Mapping[str, str]) -> list[str]:
    return [row.get(f"{edge}_timestamp", "").strip() for edge in ("start", "end")]


def _exponent(number: Decimal) -> int:
    """The power of ten of the last digit that was written."""
    return int(number.as_tuple().exponent)


class _Work:
    """Launches of all ranks, and what was noticed on the way."""

    def __init__(self, sizes: CacheSizes, size: AmdSize, exact_ps: Mapping[str, int]) -> None:
        self._sizes = sizes
        self._size = size
        self._exact_ps = exact_ps
        self.launches: list[Launch] = []
        self.devices: set[str] = set()
        self.integer_operations = 0
        self.is_counted = False
        self.unread = ""

    def add(self, table: Table) -> None:
        """The dispatches of one file."""
        for k, row in enumerate(table.rows):
            collected = counters(table, k)
            self.is_counted |= table.kind is Kind.COUNTERS
            dispatch = row.get("dispatch_id", "").strip()
            time_ps = _time_ps(row) or self._exact_ps.get(dispatch)
            if time_ps is None and not self.unread:
                self.unread = "” to “".join(shown(edge)[:40] for edge in _edges(row))
            self.devices.add(row.get("gpu_id", "").strip())
            self.integer_operations += integer_operations(collected)
            name = row.get("kernel_name", "")
            blocks, threads = _shape(table, k)
            self.launches.append(
                counted_launch(
                    collected,
                    self._sizes,
                    self._size,
                    time_ps,
                    blocks,
                    name=_own_name(name),
                    category=kernel_category(name),
                    detail=_detail(row),
                    long_name=name,
                    shape=(blocks or 0, 0, 0, threads or 0, 0, 0),
                )
            )

    def diagnostics(self) -> list[Diagnostic]:
        """Notes for the reader about the launches."""
        counts = {"time-unknown": sum(one.time_ps is None for one in self.launches)}
        if self.is_counted:
            counts["flop-not-counted"] = sum(one.flop is None for one in self.launches)
            counts["bytes-not-counted"] = sum(not one.traffic_bytes for one in self.launches)
        notes = [*counted(_NOTES, counts, launches=len(self.launches), first=self.unread)]
        if not self.is_counted:
            notes.append(noted(_NOTES, "times-alone"))
        if self.integer_operations:
            notes.append(noted(_NOTES, "integer-operations", operations=self.integer_operations))
        return notes


def _shape(table: Table, row: int) -> tuple[int | None, int | None]:
    """Workgroups of a dispatch, whose grid is in work items, and work items of one; of all axes."""
    items, each = number(table, row, "grid_size"), number(table, row, "workgroup_size")
    return (math.ceil(items / each), int(each)) if items and each else (None, None)


def _detail(row: Mapping[str, str]) -> str:
    parts = (
        ("dispatch", "dispatch_id"),
        ("GPU", "gpu_id"),
        ("grid", "grid_size"),
        ("workgroup", "workgroup_size"),
    )
    return ", ".join(
        f"{word} {row[key].strip()}" for word, key in parts if row.get(key, "").strip()
    )


def _profile(
    work: _Work,
    device: ReportedDevice,
    measured: Sequence[Table],
    system: Mapping[str, str],
    *,
    has_roofs: bool,
) -> Profile:
    found = Launches.of(work.launches)
    ops, launches, kernels, _ = launch_tables(found)
    of_l1 = _L1_AS_BENCHMARK if has_roofs else _L1_OF_LINES
    limits = [*_LIMITS, of_l1] if work.is_counted else [_TIMES_ALONE]
    if work.is_counted and not has_roofs:
        limits.append("There is no roofline.csv: peaks are not measured on this machine.")
    return without_steps(
        ops,
        int(ops.self_time_ps.sum(dtype=np.uint64)),
        Provenance.MEASURED,
        device=device,
        hosts=tuple(
            Host(file_name=table.name, hostname=device.traits.hostname, core_count=1)
            for table in measured
        ),
        diagnostics=tuple(work.diagnostics()),
        limits=tuple(limits),
        launches=launches,
        kernels=kernels,
        kernels_timed=found.partly_timed,
        environment=read_environment(system),
        program=read_program(system),
    )
