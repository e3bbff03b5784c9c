"""One program, two files: one says when its kernels ran, the other what was counted of them.

The time is always that of the timeline. Counted work replaces what shapes say of an op if all
its kernels were counted; how busy units were is taken over only where the kernels took about as
long as when they were counted.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from roofline.importers.shared.join_kernels import (
    Match,
    Matches,
    Shape,
    is_same_speed,
    matched,
    speed_note,
)
from roofline.model.categories import is_container
from roofline.model.device import ReportedDevice
from roofline.model.memory import main_level
from roofline.model.notes import NO_PEAKS, noted, notes_beside
from roofline.model.op_columns import F64, I64, SCHEMA, Bools, OpColumns
from roofline.model.profile import (
    CellSource,
    Diagnostic,
    JoinedCells,
    Kernels,
    OpTable,
    Profile,
    Provenance,
    StepTable,
)

_LEAST_COVERED = 0.01  # of the busy time: with less, these are two programs
_WORTH_A_WORD = 0.1  # spread of counted launches
_DIFFERS, _OF_TIME = 0.05, 0.01
_ABSENT = -1
_WORK = ("flop", "bytes_accessed", "unit_flop", "traffic_bytes")
_QUALITY = {
    Provenance.MEASURED: "counted",
    Provenance.MODELLED: "by definition",
    Provenance.ESTIMATED: "by definition",
    Provenance.STATED: "stated",
}
_NOTES = notes_beside(__file__)
_CAUSES = (
    # what, least, most, words of the kernel, cause: of counted ÷ defined work
    ("FLOPs", 0.0, 0.0, "", "counters of the unit that does this work are missing"),
    ("FLOPs", 0.40, 0.50, "conv|winograd|fprop|dgrad|wgrad", "Winograd or FFT does fewer"),
    ("FLOPs", 0.45, 0.55, "attn|attention|fmha|flash", "a mask that the trace did not record"),
    ("FLOPs", 1.0, 1.3, "", "tiles are padded"),
    ("bytes", 0.0, 1.0, "", "data is reused in L2, or a tensor is not read whole"),
    ("bytes", 1.0, float("inf"), "", "data is read again, spilled, or not read in whole lines"),
)


class NotOneProgramError(Exception):
    """Two files that are not of one program; the text says why, as part of a sentence."""


def with_roofs(profile: Profile, roofs: ReportedDevice) -> Profile:
    """A profile that states no peaks, with those that a benchmark measured."""
    limits = tuple(text for text in profile.limits if text != NO_PEAKS)
    return replace(profile, device=_with_peaks(profile.device, roofs), limits=limits)


def _with_peaks(ours: ReportedDevice, theirs: ReportedDevice) -> ReportedDevice:
    """A device with the name and the peaks of another file of its program, where it has none."""
    if not ours.name:
        ours = replace(ours, kind=theirs.kind, name=theirs.name, traits=theirs.traits)
    has_peaks = ours.unit_gflops or ours.bandwidth_gbs or ours.peak_gflops
    if has_peaks or theirs.peak_clock_ghz is not None:
        return ours
    return replace(
        ours,
        unit_gflops=theirs.unit_gflops,
        bandwidth_gbs=theirs.bandwidth_gbs,
        derivation=theirs.derivation,
        peak_origin=theirs.peak_origin,
    )


def with_cells(program: Profile, counted: Profile) -> Profile:
    """`program` with the work that `counted` has of its kernels.

    Raises `NotOneProgramError` where these are less than a hundredth of the program's busy time.
    """
    kernels, cells = program.kernels, counted.kernels
    if kernels is None or cells is None or cells.work is None:
        raise NotOneProgramError("none of them has both times and counters of single kernels")
    found = matched(kernels, cells)
    covered = sum(int(kernels.time_ps[one.timed].sum(dtype=np.uint64)) for one in found.found)
    total_ps = int(program.ops.self_time_ps.sum(dtype=np.uint64))
    if not found.found or covered < _LEAST_COVERED * total_ps:
        raise NotOneProgramError(_why(found))
    return _Joined(program, counted, kernels, cells, found.found).profile()


def _why(found: Matches) -> str:
    if found.other_shapes is None:
        return "no kernel of one has the name of a kernel of the other"
    ours, theirs = (_blocks(shape) for shape in found.other_shapes)
    return (
        f"kernels of the same names have other launch sizes ({ours} and {theirs}), so their work"
        " differs"
    )


def _blocks(shape: Shape) -> str:
    sizes = shape[:3] if len(shape) > 2 else shape[:1]
    return f"{' × '.join(f'{size:,}' for size in sizes)} blocks" if sizes else "not recorded"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Sums:
    """Counted work per group of kernels, which share an op and a step.

    `columns` are those of `_WORK`, busy and use times; `ran`, `with_flop`, `with_bytes` and
    `with_busy` are how many kernels of a group there are, and of how many these are known.
    """

    op: I64
    step: I64
    columns: Mapping[str, Any]
    counted_ps: F64
    ran: F64
    with_flop: F64
    with_bytes: F64
    with_busy: F64


class _Joined:
    def __init__(
        self,
        program: Profile,
        counted: Profile,
        kernels: Kernels,
        cells: Kernels,
        matches: Sequence[Match],
    ) -> None:
        assert cells.work is not None
        self._program, self._counted, self._matches = program, counted, matches
        self._kernels, self._cells = kernels, cells
        self._main = main_level(program.ops.traffic_bytes)
        self._work = self._under_our_levels(cells.work)
        self._sums = self._added_up()
        self._file = ", ".join(dict.fromkeys(host.file_name for host in counted.hosts))

    def profile(self) -> Profile:
        """The program with counted cells."""
        program, before = self._program, self._program.ops
        ops = self._ops()
        has_flop, has_bytes, _ = self._known()
        measured = Provenance.MEASURED
        all_flop = not (before.flop_known & ~has_flop & (before.flop > 0)).any()
        all_bytes = not (before.bytes_known & ~has_bytes & (before.bytes_accessed > 0)).any()
        rest = before.flop.astype(np.float64)[~has_flop].sum()
        whole = max(float(ops.flop.sum(dtype=np.float64)), 1.0)
        return replace(
            program,
            device=self._device(),
            ops=ops,
            steps=self._steps(ops),
            diagnostics=tuple(self._diagnostics(ops)),
            flop_provenance=measured if all_flop else program.flop_provenance,
            bytes_provenance=measured if all_bytes else program.bytes_provenance,
            flop_slack_ratio=program.flop_slack_ratio * float(rest) / whole,
            cells=self._cell_sources(ops),
            stated=(*program.stated, *self._counted.stated),
            limits=tuple(self._limits()),
            kernels=None,
        )

    def _limits(self) -> Sequence[str]:
        """Those of both files, without what the other file knows: the times, and peaks."""
        limits = dict.fromkeys([*self._program.limits, *self._counted.limits[1:]])
        has_peaks = self._device().unit_gflops
        return [limit for limit in limits if limit != NO_PEAKS or not has_peaks]

    # ----------------------------------------------------------------------------------------- sums

    def _under_our_levels(self, work: OpColumns) -> OpColumns:
        """Counted bytes of the main memory under the program's name for it."""
        levels = {self._main if k.is_main else k: v for k, v in work.traffic_bytes.items()}
        return replace(work, traffic_bytes=levels)

    def _added_up(self) -> _Sums:
        kernels, n_steps = self._kernels, len(self._program.steps) + 1
        keys = kernels.op * n_steps + kernels.step + 1
        groups, group = np.unique(keys, return_inverse=True)
        place, row, weight, is_same_speed = self._pairs(group)

        def total(values: Any) -> F64:
            column = values.astype(np.float64)[row] * weight
            return _added(place, column, len(groups))

        def count(known: Bools) -> F64:
            return _added(place, weight * known, len(groups))

        columns = {name: _each(getattr(self._work, name), total) for name in _WORK}
        for name in ("busy_ps", "use_ps"):
            columns[name] = _each(getattr(self._work, name), total)
        has_busy = np.zeros(len(self._work), np.bool_)
        for column in self._work.busy_ps.values():
            has_busy |= np.isfinite(column)
        return _Sums(
            op=groups // n_steps,
            step=groups % n_steps - 1,
            columns=columns,
            counted_ps=total(self._cells.time_ps),
            ran=np.bincount(group, minlength=len(groups)).astype(np.float64),
            with_flop=count(self._work.flop_known[row]),
            with_bytes=count(self._work.bytes_known[row]),
            with_busy=count(has_busy[row] & is_same_speed),
        )

    def _pairs(self, group: I64) -> tuple[NDArray[Any], ...]:
        """Group, counted row and weight: the k-th kernel is the k-th counted one where both files
        have as many, else each has the mean. And whether both ran about equally fast."""
        places, rows, weights, same = [], [], [], []
        for one in self._matches:
            if len(one.timed) == len(one.counted):
                place, row, weight = group[one.timed], one.counted, np.ones(len(one.counted))
            else:
                mine, calls = np.unique(group[one.timed], return_counts=True)
                place, row = np.repeat(mine, len(one.counted)), np.tile(one.counted, len(mine))
                weight = np.repeat(calls / len(one.counted), len(one.counted))
            places.append(place)
            rows.append(row)
            weights.append(weight)
            same.append(np.full(len(row), is_same_speed(one.ratio)))
        return tuple(np.concatenate(column) for column in (places, rows, weights, same))

    def _by_op(self, values: F64) -> F64:
        return _added(self._sums.op, values, len(self._program.ops))

    def _known(self) -> tuple[Bools, Bools, Bools]:
        """Ops of which all kernels have FLOPs, bytes and busy shares."""
        sums = self._sums
        ran = self._by_op(sums.ran)
        flop, moved, busy = (
            (ran > 0) & (self._by_op(count) > ran - 0.5)
            for count in (sums.with_flop, sums.with_bytes, sums.with_busy)
        )
        return flop, moved, busy

    # ------------------------------------------------------------------------------------- op table

    def _ops(self) -> OpTable:
        ops, (flop, moved, busy) = self._program.ops, self._known()
        columns = self._replaced(ops, lambda values: self._by_op(values), flop, moved)
        times, slow = ops.time_ps.astype(np.float64), self._slow(busy)
        counted_ps = self._by_op(self._sums.counted_ps)
        stretch = np.divide(times, counted_ps, out=np.ones(len(ops)), where=counted_ps > 0)

        def shares(name: str, scale: F64) -> dict[Any, F64]:
            known = {
                k: np.minimum(self._by_op(v) * scale, times)
                for k, v in self._sums.columns[name].items()
            }
            before: Mapping[Any, F64] = getattr(ops, name)
            unknown = np.full(len(ops), np.nan)
            keys = SCHEMA[name].split_by or ()
            return {
                k: np.where(busy, known.get(k, unknown), before.get(k, unknown))
                for k in keys
                if k in known or k in before
            }

        return replace(
            ops,
            **columns,
            model_flop=np.where(ops.flop_known, ops.model_flop, columns["flop"]),
            flop_known=ops.flop_known | flop,
            bytes_known=ops.bytes_known | moved,
            traffic_known=ops.traffic_known | moved,
            cost_known=ops.cost_known | flop | moved,
            busy_ps=shares("busy_ps", np.ones(len(ops))),
            use_ps=shares("use_ps", stretch),
            slow_why=slow["slow_why"],
            slow_words=slow["slow_words"],
        )

    def _replaced(self, rows: OpColumns, of: Any, flop: Bools, moved: Bools) -> dict[str, Any]:
        """The columns of work of `rows`, with the sums that `of` gives where they are known."""

        def mixed(before: Any, after: F64 | None, known: Bools) -> Any:
            old = np.zeros(len(rows), np.uint64) if before is None else before
            new = np.zeros(len(rows)) if after is None else np.rint(np.maximum(of(after), 0))
            return np.where(known, new.astype(np.uint64), old)

        counted = self._sums.columns
        return {
            name: _by_key(name, (getattr(rows, name), counted.get(name, {})), mixed, known)
            for name, known in _known_by(flop, moved).items()
        }

    def _slow(self, busy: Bools) -> dict[str, tuple[str, ...]]:
        """Why no unit is busy, of the longest counted kernel of each op."""
        names = ("slow_why", "slow_words")
        columns = {name: list(getattr(self._program.ops, name)) for name in names}
        longest: dict[int, int] = {}
        time_ps = self._kernels.time_ps
        for one in sorted(self._matches, key=lambda one: int(time_ps[one.timed].sum())):
            for op in np.unique(self._kernels.op[one.timed]).tolist():
                longest[op] = int(self._cells.op[one.counted[0]])
        for op, row in longest.items():
            for name in names:
                if busy[op]:
                    columns[name][op] = getattr(self._counted.ops, name)[row]
        return {name: tuple(column) for name, column in columns.items()}

    # ---------------------------------------------------------------------------------------- steps

    def _steps(self, ops: OpTable) -> StepTable:
        """The steps, whose sums lose what the ops were thought to do and get what was counted."""
        steps = self._program.steps
        if not len(steps):
            return replace(
                steps, sums=steps.sums.split(tuple(ops.traffic_bytes), tuple(ops.unit_flop))
            )
        sums, (flop, moved, _) = self._sums, self._known()
        inside = sums.step >= 0
        of_op = sums.op[inside]
        share = sums.ran[inside] / self._by_op(sums.ran)[of_op]
        size = len(steps)

        def at_steps(values: F64) -> F64:
            return _added(sums.step[inside], values, size)

        def changed(here: Any, old: Any, new: F64 | None, known: Bools) -> Any:
            column = np.zeros((size, 2), np.uint64) if here is None else here.copy()
            before = 0.0 if old is None else old.astype(np.float64)[of_op] * share
            added = 0.0 if new is None else new[inside]
            change = at_steps(np.where(known[of_op], added - before, 0.0))
            column[:, 0] = np.rint(np.maximum(column[:, 0].astype(np.float64) + change, 0))
            return column

        before, mine = self._program.ops, steps.sums

        def column(name: str, known: Bools, of: str) -> Any:
            parts = (getattr(mine, name), getattr(before, name), sums.columns.get(of, {}))
            return _by_key(name, parts, changed, known)

        work = {name: column(name, known, name) for name, known in _known_by(flop, moved).items()}
        work["model_flop"] = column("model_flop", flop & ~before.flop_known, "flop")
        any_flop, any_bytes = (
            at_steps(known[of_op].astype(np.float64)) > 0 for known in (flop, moved)
        )
        marks = {"flop_known": any_flop, "bytes_known": any_bytes, "traffic_known": any_bytes,
                 "cost_known": any_flop | any_bytes}  # fmt: skip
        for name, here in marks.items():
            known = getattr(mine, name)
            work[name] = np.stack([known[:, 0] | here, known[:, 1]], axis=1)
        return replace(steps, sums=replace(mine, **work))

    # --------------------------------------------------------------------------------------- device

    def _device(self) -> ReportedDevice:
        """The program's device. What it lacks is the other file's: its name, and peaks that a
        benchmark measured, not those at the clock that the counting profiler had set."""
        return _with_peaks(self._program.device, self._counted.device)

    # ----------------------------------------------------------------------------------- provenance

    def _cell_sources(self, ops: OpTable) -> JoinedCells:
        program, (flop, moved, busy) = self._program, self._known()
        known = program.cells
        own = CellSource(
            file=", ".join(dict.fromkeys(host.file_name for host in program.hosts)),
            format=program.format_label,
            quality=_QUALITY[program.flop_provenance],
            note="times",
        )
        sources = known.sources if known else (own,)
        new = len(sources)
        now = {
            "flop": (ops.flop_known, flop),
            "bytes": (ops.bytes_known, moved),
            "busy": (busy, busy),
        }
        nothing = {
            "flop": program.ops.flop_known,
            "bytes": program.ops.bytes_known,
            "busy": np.zeros(len(ops), np.bool_),
        }
        before = known.of if known else {k: np.where(v, 0, _ABSENT) for k, v in nothing.items()}
        words = list(known.words) if known else [""] * len(ops)
        for op, text in self._words(flop | moved):
            words[op] = f"{words[op]}; {text}" if words[op] else text
        counted = CellSource(
            file=self._file,
            format=self._counted.format_label,
            quality="counted",
            note=f"{len(self._matches):,} kinds of kernels, by name and launch size",
        )
        return JoinedCells(
            sources=(*sources, counted),
            of={k: np.where(mine, new, before[k]) for k, (_, mine) in now.items()},
            words=tuple(words),
        )

    def _words(self, counted: Bools) -> Iterator[tuple[int, str]]:
        """How each op was counted: of how many launches, and how far these are apart."""
        launches: dict[int, list[Match]] = {}
        for one in self._matches:
            for op in np.unique(self._kernels.op[one.timed]).tolist():
                launches.setdefault(op, []).append(one)
        for op, matches in launches.items():
            if counted[op]:
                ran, seen = (sum(map(len, sides)) for sides in (
                    [one.timed for one in matches], [one.counted for one in matches]))  # fmt: skip
                text = f"counted in {self._file}, {min(seen, ran):,} of {ran:,} launches"
                spread = max(map(self._spread, matches))
                if spread > _WORTH_A_WORD:
                    text += f", which differ by {100 * spread:.0f} %"
                yield op, text

    def _spread(self, one: Match) -> float:
        """(Largest - smallest) ÷ mean of counted FLOPs, bytes or times, whichever is most."""
        columns = (self._work.flop, self._work.bytes_accessed, self._cells.time_ps)
        picked = np.stack([column[one.counted].astype(np.float64) for column in columns])
        mean = picked.mean(axis=1)
        return float(np.divide(np.ptp(picked, axis=1), mean, out=np.zeros(3), where=mean > 0).max())

    # ---------------------------------------------------------------------------------------- notes

    def _diagnostics(self, ops: OpTable) -> Iterator[Diagnostic]:
        shares = [self._share(ops, known) for known in (ops.flop_known, ops.bytes_known)]
        kinds = {
            (int(name), int(shape))
            for name, shape in zip(self._cells.name, self._cells.shape, strict=True)
        }
        yield from self._program.diagnostics
        yield noted(
            _NOTES, "cells-joined", len(self._matches), kernels=len(kinds), file=self._file,
            format=self._counted.format_label, flop=_percent(self._share(ops, self._known()[0])),
            moved=_percent(self._share(ops, self._known()[1])),
            rest="The rest has no counters." if min(shares) < 1 - _LEAST_COVERED else "",
        )  # fmt: skip
        yield from self._speeds()
        yield from self._differences(ops)
        yield from self._counted.diagnostics

    def _share(self, ops: OpTable, known: Bools) -> float:
        is_op = ~np.array([is_container(category) for category in ops.category], np.bool_)
        time = ops.self_time_ps.astype(np.float64) * is_op
        return float(time[known].sum() / max(time.sum(), 1.0))

    def _speeds(self) -> Iterator[Diagnostic]:
        """The matches that took longer or shorter than when they were counted."""
        timed = [one for one in self._matches if not np.isnan(one.ratio)]
        if far := [one for one in timed if not is_same_speed(one.ratio)]:
            one = max(far, key=lambda one: int(self._kernels.time_ps[one.timed].sum()))
            ours_ps = float(self._kernels.time_ps[one.timed].astype(np.float64).mean())
            yield speed_note(len(far), ours_ps, one.ratio, self._file)

    def _differences(self, ops: OpTable) -> Iterator[Diagnostic]:
        """Work that was counted and is defined by shapes, too, by the cause of the difference."""
        before, (flop, moved, _) = self._program.ops, self._known()
        if Provenance.ESTIMATED not in (
            self._program.flop_provenance,
            self._program.bytes_provenance,
        ):
            return
        pairs = (
            ("FLOPs", before.flop, ops.flop, flop & before.flop_known),
            ("bytes", before.bytes_accessed, ops.bytes_accessed, moved & before.bytes_known),
        )
        least_ps = _OF_TIME * float(ops.self_time_ps.sum(dtype=np.float64))
        for what, old, new, both in pairs:
            ratio = new.astype(np.float64) / np.maximum(old.astype(np.float64), 1.0)
            far = both & (old > 0) & (np.abs(ratio - 1) > _DIFFERS) & (ops.self_time_ps > least_ps)
            by_cause: dict[str, list[int]] = {}
            for op in np.flatnonzero(far).tolist():
                cause = _cause(
                    what, float(ratio[op]), f"{ops.name[op]} {ops.long_name[op]}".lower()
                )
                by_cause.setdefault(cause, []).append(op)
            for cause, rows in by_cause.items():
                sums = [float(column[rows].sum(dtype=np.float64)) for column in (new, old)]
                yield noted(
                    _NOTES, "counted-otherwise", len(rows), what=what, cause=cause,
                    ratio=f"{sums[0] / sums[1]:.3g}",
                )  # fmt: skip


def _known_by(flop: Bools, moved: Bools) -> dict[str, Bools]:
    """The columns of counted work, and for which rows each is known."""
    by_flop = dict.fromkeys(("flop", "unit_flop", "undecided_flop"), flop)
    return {**by_flop, "bytes_accessed": moved, "traffic_bytes": moved}


def _by_key(name: str, columns: Sequence[Any], one: Callable[..., Any], known: Bools) -> Any:
    """The column `name` that `one` makes of others, or of each key of these (`None`: not there)."""
    keys = SCHEMA[name].split_by
    if keys is None:
        return one(*columns, known)
    used = [key for key in keys if any(key in column for column in columns)]
    return {key: one(*(column.get(key) for column in columns), known) for key in used}


def _added(place: I64, values: F64, size: int) -> F64:
    """The sum of `values` at each of `size` places."""
    return np.bincount(place, values, minlength=size).astype(np.float64)


def _cause(what: str, ratio: float, names: str) -> str:
    for of, least, most, words, cause in _CAUSES:
        fits = of == what and least <= ratio <= most
        if fits and (not words or any(word in names for word in words.split("|"))):
            return cause
    return "the reason is not known"


def _each(values: Any, change: Any) -> Any:
    return (
        {key: change(one) for key, one in values.items()}
        if isinstance(values, Mapping)
        else change(values)
    )


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
