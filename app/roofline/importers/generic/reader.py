"""Reads files of kernels and roofs into one profile."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace

import numpy as np

from roofline.errors import CorruptProfileError, IncompleteProfileError, UploadTooLargeError
from roofline.importers.generic.documents import is_document, read_json
from roofline.importers.generic.names import names_unit, precision_named, unit_named
from roofline.importers.generic.stated import (
    Conflict,
    Kernel,
    Machine,
    completed,
    conflicts,
    main_memory,
    merged,
    reported_device,
    with_main,
)
from roofline.importers.generic.tables import Reading, is_points, is_roofs, read_csv
from roofline.importers.shared.launches import (
    MAX_COUNT,
    Launch,
    Launches,
    launch_tables,
    without_steps,
)
from roofline.importers.shared.tables_text import decode, first_row
from roofline.importers.source import HEAD_BYTES, Progress, SourceFile
from roofline.model.compute import ComputeUnit
from roofline.model.memory import MemoryLevel
from roofline.model.notes import counted, noted, notes_beside
from roofline.model.plain_data import alike
from roofline.model.profile import Diagnostic, Host, Profile, Provenance
from roofline.model.units import MIB, PS_PER_S

MAX_BYTES = 64 * MIB
CATEGORY = "kernel"
_SHOWN = 3
_LIMITS = {
    Provenance.STATED: "The numbers are what the file states: Roofline did not verify them.",
    Provenance.MODELLED: "A model predicted the numbers, times too: nothing of this was measured.",
}
_NO_STEPS = "It has no steps and no idle time."
_TEMPLATE = "`roofline template csv` prints an example; docs/generic-format.md explains them."
_NOTES = notes_beside(__file__)


def recognises(source: SourceFile) -> bool:
    """True for a table or document with a name and two quantities of kernels, or with roofs."""
    head = decode(source.head)
    if "\x00" in head[:1024]:
        return False
    if head.lstrip()[:1] in {"[", "{"}:
        return is_document(head, is_whole=source.size_bytes <= HEAD_BYTES)
    header = first_row(source.head)
    return is_points(header) or is_roofs(header)


def read(sources: Sequence[SourceFile], *, progress: Progress) -> Profile:
    """The profile in files of kernels, and of roofs for them."""
    readings = []
    for k, source in enumerate(sources):
        progress("read", k / len(sources))
        readings.append(_read_file(source))
    machine = merged([reading.machine for reading in readings])
    kernels = [kernel for reading in readings for kernel in reading.kernels]
    if not kernels:
        raise _nothing_to_show(sources, readings)
    main = main_memory(
        machine.roofs, (level for kernel in kernels for level in (*kernel.moved, *kernel.bandwidth))
    )
    whole = [completed(with_main(kernel, main)) for kernel in kernels]
    _check_enough(whole, sources[0].name)
    device = reported_device(machine, main)
    ops, launches, *_ = launch_tables(
        Launches.of([_launch(kernel, device.unit_gflops) for kernel in _told_apart(whole)])
    )
    hosts = [
        Host(
            file_name=source.name,
            hostname=machine.hostname,
            core_count=device.core_count,
            device=reported_device(reading.machine, main) if reading.machine.name else None,
        )
        for source, reading in zip(sources, readings, strict=True)
        if reading.kernels
    ]
    provenance = _provenance(readings)
    return without_steps(
        ops,
        int(ops.self_time_ps[ops.time_known].sum(dtype=np.uint64)),
        provenance,
        device=device,
        hosts=tuple(hosts),
        diagnostics=tuple(_diagnostics(readings, whole, machine)),
        limits=(_LIMITS[provenance], _NO_STEPS),
        launches=launches,
    )


def _provenance(readings: Sequence[Reading]) -> Provenance:
    """That of all files with kernels; numbers of several kinds are only what files state."""
    said = {reading.provenance for reading in readings if reading.kernels}
    return Provenance.STATED if len(said) != 1 else said.pop()


def _read_file(source: SourceFile) -> Reading:
    if source.size_bytes > MAX_BYTES:
        raise UploadTooLargeError(
            f"{source.name} is larger than {MAX_BYTES // MIB} MiB, the most for a generic table.",
            remedy="Sum up the launches of each kernel before the export, or split the file.",
        )
    text = decode(bytes(source.data))
    if text.lstrip()[:1] in {"[", "{"}:
        return read_json(text, source.name)
    return read_csv(text, source.name)


def _nothing_to_show(
    sources: Sequence[SourceFile], readings: Sequence[Reading]
) -> CorruptProfileError | IncompleteProfileError:
    left_out = [text for reading in readings for text in reading.left_out]
    if left_out:
        rows = f"none of its {len(left_out):,} rows can" if len(left_out) > 1 else "its row cannot"
        return CorruptProfileError(
            f"{sources[0].name}: {rows} be used; {left_out[0]}.", remedy=_TEMPLATE
        )
    names = " and ".join(source.name for source in sources[:_SHOWN])
    return IncompleteProfileError(
        f"{names}: roofs alone, without any kernel.",
        remedy="Upload the file with the kernels together with it.",
    )


def _check_enough(kernels: Sequence[Kernel], name: str) -> None:
    """Refuses what can give no point at all, and what overflows when added up."""
    if not any(kernel.flop is not None or kernel.moved or kernel.busy for kernel in kernels):
        raise IncompleteProfileError(
            f"{name} has names and times of kernels, but neither FLOPs nor bytes that can be "
            "worked out, nor busy shares.",
            remedy="Give two of FLOPs, bytes and time for each kernel, best all three. "
            + _TEMPLATE,
        )
    sums = (
        sum(kernel.flop or 0.0 for kernel in kernels),
        *(sum(k.moved.get(level, 0.0) for k in kernels) for level in _levels(kernels)),
        sum((kernel.time_s or 0.0) * PS_PER_S for kernel in kernels),
    )
    if max(sums) > MAX_COUNT:
        raise CorruptProfileError(
            f"{name}: the counts of its kernels add up to {max(sums):.3g}, which is beyond what "
            "can be counted here (4.6e18 FLOPs or bytes, 53 days).",
            remedy="Check the units, or give the work and the time of one step.",
        )


def _levels(kernels: Iterable[Kernel]) -> set[MemoryLevel]:
    return {level for kernel in kernels for level in kernel.moved}


def _launch(kernel: Kernel, known: Iterable[ComputeUnit]) -> Launch:
    return alike(
        Launch,
        kernel,
        category=kernel.category or CATEGORY,
        time_ps=None if kernel.time_s is None else round(kernel.time_s * PS_PER_S),
        flop=None if kernel.flop is None else round(kernel.flop),
        unit_flop=_unit_flop(kernel, frozenset(known)),
        traffic_bytes={level: round(value) for level, value in kernel.moved.items()},
        busy={of: min(percent / 100, 1.0) for of, percent in kernel.busy.items()},
    )


def _told_apart(kernels: Sequence[Kernel]) -> list[Kernel]:
    """`kernels` under names that one op may have: rows of one name are its launches.

    Work without a time is not part of a kernel whose time is known, and each point of rates is one
    of its own: rates have no sum.
    """
    timed = {kernel.name for kernel in kernels if kernel.time_s is not None}
    taken = Counter(kernel.name for kernel in kernels if not kernel.is_rate)
    return [_renamed(kernel, timed, taken) for kernel in kernels]


def _renamed(kernel: Kernel, timed: Set[str], taken: Counter[str]) -> Kernel:
    name = kernel.name
    if kernel.is_rate:
        taken[name] += 1
        return kernel if taken[name] == 1 else replace(kernel, name=f"{name} (point {taken[name]})")
    if kernel.time_s is None and name in timed:
        return replace(kernel, name=f"{name} (no time)")
    return kernel


def _unit_flop(kernel: Kernel, known: frozenset[ComputeUnit]) -> dict[ComputeUnit, int]:
    """FLOPs by unit; empty where the file names no precision."""
    split = kernel.precision_flop
    if not split and kernel.precision and kernel.flop is not None:
        split = {kernel.precision: kernel.flop}
    by_unit: dict[ComputeUnit, int] = defaultdict(int)
    for text, flop in split.items():
        unit = _unit(text, known)
        if unit is not None:
            by_unit[unit] += round(flop)
    return dict(by_unit)


def _unit(text: str, known: frozenset[ComputeUnit]) -> ComputeUnit | None:
    """The unit of a precision: of two possible ones, that for which the file has a roof."""
    precision = precision_named(text)
    if precision is None:
        return None
    usual = unit_named(text, precision)
    same = [unit for unit in known if unit.precision is precision]
    is_open = usual not in known and not names_unit(text)
    return same[0] if len(same) == 1 and is_open else usual


def _diagnostics(
    readings: Sequence[Reading], kernels: Sequence[Kernel], machine: Machine
) -> Iterator[Diagnostic]:
    if left_out := [text for reading in readings for text in reading.left_out]:
        rows = "1 row was" if len(left_out) == 1 else f"{len(left_out):,} rows were"
        reasons = "; ".join(left_out[:_SHOWN])
        yield noted(_NOTES, "rows-left-out", len(left_out), rows=rows, reasons=reasons)
    yield from _contradictions([c for kernel in kernels for c in conflicts(kernel)])
    yield from _unknowns(kernels)
    for reading in readings:
        for text in reading.notes:
            yield noted(_NOTES, "doubtful-table", text=text)
    roofs = ", ".join(machine.skipped[:_SHOWN])
    yield from counted(_NOTES, {"roofs-left-out": len(machine.skipped)}, roofs=roofs)


def _contradictions(contradictions: Sequence[Conflict]) -> Iterator[Diagnostic]:
    """One message per pair of columns and likely cause."""
    groups: dict[tuple[str, str], list[Conflict]] = defaultdict(list)
    for conflict in contradictions:
        groups[conflict.what, conflict.cause].append(conflict)
    for (what, cause), same in groups.items():
        yield noted(
            _NOTES,
            "columns-disagree",
            len(same),
            what=what,
            ratio=same[0].ratio,
            where=same[0].where,
            more=f" and {len(same) - 1:,} more" if len(same) > 1 else "",
            cause=cause,
        )


def _unknowns(kernels: Sequence[Kernel]) -> Iterator[Diagnostic]:
    """Kernels without FLOPs, bytes or times, and names of levels and precisions without meaning."""
    predicted = sum(kernel.time_s is None and not kernel.is_rate for kernel in kernels)
    rates = sum(kernel.is_rate for kernel in kernels)
    of_levels = [name for kernel in kernels for name in kernel.unknown_levels]
    counts = {
        "flop-not-counted": sum(kernel.flop is None for kernel in kernels),
        "bytes-not-counted": sum(not kernel.moved for kernel in kernels),
        "time-unknown": predicted,
        "rates-only": rates,
        "levels-left-out": sum(bool(kernel.unknown_levels) for kernel in kernels),
    }
    yield from counted(
        _NOTES,
        counts,
        kernels=len(kernels),
        predicted_have="has" if predicted == 1 else "have",
        rates_have="has" if rates == 1 else "have",
        levels=", ".join(f"“{name[:40]}”" for name in list(dict.fromkeys(of_levels))[:_SHOWN]),
    )
    odd = sorted({k.precision for k in kernels if k.precision and not precision_named(k.precision)})
    names = ", ".join(odd[:_SHOWN])
    yield from counted(_NOTES, {"precision-unknown": len(odd)}, precisions=names)
