"""The kernels of two files of one program, matched by name, launch shape and order.

Work depends on the launch shape, so kernels of one name and another shape are never matched. Names
are brought to one form first: profilers differ in blanks, casts and suffixes.

One program, two profilers: work counted by the hardware joins the profile of the whole program.

A program's capture knows steps, idle time and the compiler's costs; a kernel profiler knows what
the hardware counted, for kernels it replayed. Kernels match by name; what counts is the mean of a
kernel's launches times how often the program ran it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from roofline.importers.shared.kernel_names import is_communication
from roofline.model.device import MeasuredWork
from roofline.model.memory import MemoryLevel, main_level
from roofline.model.notes import noted, notes_beside
from roofline.model.op_columns import F64, I64, U64, Bools
from roofline.model.profile import Diagnostic, Kernels, OpTable, Profile
from roofline.model.units import PS_PER_US

_NOTES = notes_beside(__file__)

Shape = tuple[int, ...]
_NO_SHAPE: Shape = ()
_WORDS = (
    (r"\s*(?:\[clone [^\[\]]*\]|\((?:\.kd|\.cold)\)|\.kd|\.cold)\s*$", ""),
    (r"^(?:void|__global__|static)\s+", ""),
    (r"\((?:unsigned |signed )?(?:int|long|short|char|bool)\)\s*", ""),
    (r"(?<=\d)(?:ull|ul|u|ll|l)\b", ""),
    (r"\btrue\b", "1"),
    (r"\bfalse\b", "0"),
    (r"\b__nv_bfloat16\b", "bfloat16"),
    (r"<unnamed>", "(anonymous namespace)"),
    (r"\s+", ""),
)
_FORMS = tuple((re.compile(pattern, re.IGNORECASE), to) for pattern, to in _WORDS)
_ANONYMOUS = "(anonymousnamespace)"
_MANGLED = re.compile(r"_ZN?K?(?=\d)")
_PLAIN = re.compile(r"[A-Za-z_]\w{2,}", re.ASCII)
_MOST_NAMED, _MOST_LETTERS = 5, 60
_IDENTIFIER = re.compile(r"(\d{1,3})(?=[A-Za-z_])")


@lru_cache(maxsize=100_000)
def one_form(name: str) -> str:
    """A kernel's name without return type, parameters and blanks; template arguments stay."""
    text = _demangled(name.strip())
    for pattern, to in _FORMS:
        text = pattern.sub(to, text)
    return _without_parameters(text)


def _demangled(name: str) -> str:
    """The identifiers of a mangled name: its template arguments are left out."""
    start = _MANGLED.match(name)
    if start is None:
        return name
    parts, at = [], start.end()
    while match := _IDENTIFIER.match(name, at):
        end = match.end() + int(match[1])
        parts.append(name[match.end() : end])
        at = end
    return "::".join(parts) or name


def _without_parameters(name: str) -> str:
    """Up to the first bracket that is neither in template arguments nor a namespace."""
    depth = at = 0
    while at < len(name):
        if name.startswith(_ANONYMOUS, at):
            at += len(_ANONYMOUS)
            continue
        letter = name[at]
        depth += (letter == "<") - (letter == ">" and name[at - 1 : at] != "-")
        if letter == "(" and depth <= 0 and at:
            return name[:at]
        at += 1
    return name


def base_name(form: str) -> str:
    """The last identifier before the template arguments, of a name in one form."""
    return form.partition("<")[0].removesuffix("...").rpartition("::")[2]


def longest(kernels: Kernels | None, ops: Bools) -> dict[str, str]:
    """The beginnings of names of kernels of `ops` that take most time, at most five, the longest
    first, each with a kernel's whole name. A profiler finds a kernel by these 60 letters.

    Those without a name of letters, digits and underscores alone are left out: a name stands in a
    command.
    """
    if kernels is None:
        return {}
    time_ps = np.bincount(kernels.name, kernels.time_ps * ops[kernels.op], len(kernels.names))
    times: dict[str, float] = {}
    whole: dict[str, str] = {}
    for ps, name in sorted(zip(time_ps.tolist(), kernels.names, strict=True), reverse=True):
        base = base_name(one_form(name))[:_MOST_LETTERS]
        if ps and _PLAIN.fullmatch(base) and not is_communication(base):
            times[base] = times.get(base, 0.0) + ps
            whole.setdefault(base, name)
    chosen = sorted(times, key=lambda base: -times[base])[:_MOST_NAMED]
    return {base: whole[base] for base in chosen}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Match:
    """Kernels of one name and launch shape in both files: their rows in order of start.

    `ratio` is the time of one in the timeline ÷ that of one when it was counted, NaN where a time
    is unknown.
    """

    timed: I64
    counted: I64
    ratio: float


@dataclass(slots=True, kw_only=True)
class Matches:
    """All matches, and one launch shape of each file of a name whose shapes differ."""

    found: list[Match] = field(default_factory=list)
    other_shapes: tuple[Shape, Shape] | None = None


def matched(timeline: Kernels, counted: Kernels) -> Matches:
    """The kernels of `timeline` that `counted` has, too. Collectives are left out: their time is
    that of waiting, and their work is on a link."""
    in_totals = _has_totals(timeline) or _has_totals(counted)
    ours, theirs = _classes(timeline, in_totals), _classes(counted, in_totals)
    by_name = _Named(theirs)
    mine = _Named(ours)
    result = Matches()
    for (form, shape), rows in ours.items():
        if is_communication(form):
            continue
        candidates = by_name.like(form, mine)
        chosen = _of_shape(candidates, shape)
        if chosen is not None:
            ratio = _mean_time(timeline, rows) / _mean_time(counted, chosen)
            result.found.append(Match(timed=rows, counted=chosen, ratio=ratio))
        elif candidates and result.other_shapes is None:
            result.other_shapes = shape, next(iter(candidates))
    return result


def _of_shape(candidates: Mapping[Shape, I64], shape: Shape) -> I64 | None:
    """The rows of this shape; where a file does not say, those of the only shape that there is."""
    if shape in candidates:
        return candidates[shape]
    is_open = shape == _NO_SHAPE or set(candidates) == {_NO_SHAPE}
    return next(iter(candidates.values())) if is_open and len(candidates) == 1 else None


class _Named:
    """The classes of one file by name."""

    def __init__(self, classes: Mapping[tuple[str, Shape], I64]) -> None:
        self._of: dict[str, dict[Shape, I64]] = {}
        self._of_base: dict[str, set[str]] = {}
        for (form, shape), rows in classes.items():
            self._of.setdefault(form, {})[shape] = rows
            self._of_base.setdefault(base_name(form), set()).add(form)

    def like(self, form: str, others: "_Named") -> Mapping[Shape, I64]:
        """The rows of this name by shape; by its base where one file has no more than that, and
        where the base is that of one name in each file."""
        if form in self._of:
            return self._of[form]
        base = base_name(form)
        names = self._of_base.get(base, set())
        if len(names) != 1 or len(others._of_base[base]) != 1:
            return {}
        theirs = next(iter(names))
        is_short = "<" not in form or "<" not in theirs
        return self._of[theirs] if is_short else {}


def _classes(kernels: Kernels, in_totals: bool) -> dict[tuple[str, Shape], I64]:
    """Rows in their order by name and shape."""
    forms = [one_form(name) for name in kernels.names]
    shapes = [_shape(row, in_totals) for row in kernels.shapes.tolist()]
    width = max(len(shapes), 1)
    pairs = kernels.name * width + kernels.shape
    result: dict[tuple[str, Shape], list[I64]] = {}
    for pair, rows in _grouped(pairs):
        key = (forms[pair // width], shapes[pair % width])
        result.setdefault(key, []).append(rows)
    return {key: np.sort(np.concatenate(parts)) for key, parts in result.items()}


def _grouped(keys: I64) -> Iterable[tuple[int, I64]]:
    order = np.argsort(keys, kind="stable")
    distinct, first = np.unique(keys[order], return_index=True)
    return zip(distinct.tolist(), np.split(order, first[1:]), strict=True) if len(keys) else ()


def _has_totals(kernels: Kernels) -> bool:
    """Whether the profiler wrote blocks and threads in total, not along each axis."""
    shapes = kernels.shapes
    return bool(((shapes[:, 0] > 0) & (shapes[:, 1] == 0)).any())


def _shape(axes: list[int], in_totals: bool) -> Shape:
    blocks, threads = axes[:3], axes[3:]
    if not blocks[0] or not threads[0]:
        return _NO_SHAPE
    if not in_totals:
        return tuple(axes)
    return tuple(int(np.prod([size for size in part if size])) for part in (blocks, threads))


def _mean_time(kernels: Kernels, rows: I64) -> float:
    times: F64 = kernels.time_ps[rows].astype(np.float64)
    return float(times.mean()) if times.all() else float("nan")


_ARGUMENTS = re.compile(r"[<(].*$", re.DOTALL)
_RETURN_TYPE = re.compile(r"^(?:void|__global__)\s+")
_NO_NAME = re.compile(r"[^0-9a-z]+")


def with_counters(program: Profile, counted: Profile) -> Profile | None:
    """`program` with the counters of `counted`; `None` if they share no kernel's name."""
    pairs = _matches(program.ops, counted.ops)
    if not pairs:
        return None
    measured = _measured(program, counted, pairs)
    notes = (_coverage(program, measured), *_other_speed(program, counted, pairs))
    counters = replace(program.device.counters, measured=measured)
    return replace(
        program,
        device=replace(program.device, counters=counters),
        diagnostics=(*program.diagnostics, *notes, *counted.diagnostics),
    )


def kernel_key(name: str) -> str:
    """The part that a kernel's name shares with its operation's: "loop_add_fusion.3" runs as
    "loop_add_fusion_3", and a demangled name has arguments and a return type around it."""
    return _plain(_ARGUMENTS.sub("", _RETURN_TYPE.sub("", name.strip())))


def _plain(name: str) -> str:
    return _NO_NAME.sub("_", name.lower()).strip("_")


def _coverage(program: Profile, measured: MeasuredWork) -> Diagnostic:
    share = measured.time_ps / program.op_time_ps if program.op_time_ps else 0.0
    return noted(
        _NOTES,
        "counters-joined",
        source=measured.source,
        kernels=measured.total_kernels,
        matched=measured.matched_kernels,
        percent=100 * share,
    )


def is_same_speed(ratio: float) -> bool:
    """True for times of the timeline ÷ times when counted for which busy shares are the same."""
    return 0.67 <= ratio <= 1.5


def _other_speed(
    program: Profile, counted: Profile, matches: list["_Match"]
) -> Iterator[Diagnostic]:
    op, kernel = np.array(matches, np.int64).T
    runs = program.ops.occurrences[op] / counted.ops.occurrences[kernel]
    ours_ps = float(program.ops.self_time_ps[op].sum(dtype=np.float64))
    theirs_ps = float((counted.ops.time_ps[kernel] * runs).sum())
    if theirs_ps and not is_same_speed(ours_ps / theirs_ps):
        files = ", ".join(host.file_name for host in counted.hosts)
        yield speed_note(len(matches), ours_ps, ours_ps / theirs_ps, files)


def speed_note(count: int, ours_ps: float, ratio: float, file: str) -> Diagnostic:
    """The note that `count` kernels took so long in the timeline, `ratio` of when counted."""
    ours, theirs = (f"{time_ps / PS_PER_US:,.3g} µs" for time_ps in (ours_ps, ours_ps / ratio))
    code, ratio_text = "counted-at-another-speed", f"{ratio:,.2g}"
    return noted(_NOTES, code, count, ours=ours, theirs=theirs, ratio=ratio_text, file=file)


class _Match(NamedTuple):
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
