"""The verdict on a subject: one decision table for all that speaks of a bound.

The first sentence, the lead, rows, lists, comparisons, advice and `roofline check` read what is
decided here and decide nothing themselves. `docs/verdict.md` has the tables.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from roofline.analysis.knowledge import NEARLY_ALL, both_known, bytes_known, coverage, flop_known
from roofline.analysis.nearest_records import OP_CLASSES, SLACK, TIE, NearestOps, OpClass
from roofline.analysis.records import RooflineAnalysis, Timing
from roofline.analysis.roofline import Floats
from roofline.analysis.subjects.records import Kind, OpPart, OpTimes, Subject
from roofline.analysis.verdict_records import KnownShares, Place, Verdict, VerdictClass
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import Bools
from roofline.model.plain_data import alike

BUSY_LEAST = 0.60
"""Below it a busy share is latency: NVIDIA's rule, in the text of its Speed Of Light section."""

USEFUL_LEAST = 0.20
"""The same where only work is known, which is a lower bound of the busy share."""

MOSTLY = 0.5
"""From this share on a part speaks for the whole: of launches, idle time, known work, a ceiling."""

DOUBTFUL = 0.05
"""From this share of the busy time on, impossible numbers put the whole picture in doubt."""

WAITS_LEAST = 0.2
"""From this share of all time on, the wait for one link is the verdict."""


LATENCY = OpClass.LATENCY.value
"""The name of latency among what holds the time."""


def is_bound(share: Floats, *, has_counters: bool) -> Bools:
    """Where an op with this largest share is bound by its ceiling, and not by latency."""
    found: Bools = share >= (BUSY_LEAST if has_counters else USEFUL_LEAST)
    return found


def is_slack(share: Floats) -> Bools:
    """Where a share is so small that naming its ceiling says nothing."""
    found: Bools = share < SLACK
    return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Case:
    """The facts that a verdict is decided by; times in us, per unit and core of the subject.

    `time_us` has the time that each op of `nearest` alone explains, of a transfer its exposed time
    (0 for IDLE); `waits_us` is exposed time by link. `without` is the class of a subject that has
    no device time at all, else `None`.
    """

    nearest: NearestOps
    time_us: Floats
    total_us: float
    idle_us: float
    waits_us: Mapping[str, float]
    impossible_us: float
    known: KnownShares
    has_peaks: bool
    is_serving: bool
    coverage: float | None = None
    without: VerdictClass | None = None

    @property
    def busy_us(self) -> float:
        """Time in which anything ran."""
        return max(self.total_us - self.idle_us, 0.0)

    def without_waits(self) -> "Case":
        """The time that neither idles nor waits for a link."""
        moves = self.nearest.is_kind(OpClass.TRANSFER)
        return replace(
            self,
            time_us=np.where(moves, 0.0, self.time_us),
            total_us=max(self.busy_us - sum(self.waits_us.values()), 0.0),
            idle_us=0.0,
        )

    def of_all(self, part_us: float) -> float:
        """A part as a share of all time."""
        return part_us / self.total_us if self.total_us > 0 else 0.0


def verdict_of(analysis: RooflineAnalysis, subject: Subject) -> Verdict:
    """The verdict on a subject of `analysis`."""
    ops, parts = subject.ops, subject.parts
    waits = {**parts.links, MemoryLevel.HOST.value: parts.transfers}
    return decide(
        Case(
            nearest=_without_input(analysis.nearest, ops),
            time_us=ops.width_us,
            total_us=subject.time_us,
            idle_us=parts.idle,
            waits_us=waits,
            impossible_us=float(ops.width_us[ops.doubtful].sum()),
            known=_known(analysis, ops.width_us),
            has_peaks=subject.has_ceilings,
            is_serving=subject.kind is Kind.SERVING,
            coverage=coverage(analysis.profile),
            without=_without(analysis, subject),
        )
    )


def _without_input(nearest: NearestOps, ops: OpTimes) -> NearestOps:
    """The same, but infeed and outfeed have no class: they wait for the host, so that neither
    latency nor a ceiling holds their time. What they move counts as use of its memory."""
    is_input = np.array([part is OpPart.INPUT for part in ops.part], np.bool_)
    return replace(
        nearest, kind=np.where(is_input, OP_CLASSES.index(OpClass.UNKNOWN), nearest.kind)
    )


def _without(analysis: RooflineAnalysis, subject: Subject) -> VerdictClass | None:
    """The class of a subject without operations, a device or times; `None` with all of them."""
    timings = set(analysis.ops.timing[: len(analysis.profile.ops)])
    if not timings:
        return VerdictClass.NOTHING
    if subject.kind is Kind.HOST:
        return VerdictClass.HOST_ONLY
    if Timing.MEASURED in timings:
        return None
    return VerdictClass.POINTS if Timing.RATE in timings else VerdictClass.PREDICTED


def _known(analysis: RooflineAnalysis, time_us: Floats) -> KnownShares:
    """Of which shares of the work's time FLOPs, bytes, both, or busy shares are known."""
    work, times = analysis.profile.ops, time_us[: len(analysis.profile.ops)]
    times = np.where(analysis.nearest.is_kind(OpClass.TRANSFER)[: len(work)], 0.0, times)
    whole = float(times.sum())

    def share(rows: Bools) -> float:
        return float(times[rows].sum()) / whole if whole > 0 else 0.0

    return KnownShares(
        flop=share(flop_known(work)),
        bytes=share(bytes_known(work)),
        both=share(both_known(analysis.profile, work)),
        busy=share(analysis.nearest.is_busy_known[: len(work)]),
    )


def decide(case: Case) -> Verdict:
    """The first row of the decision table that holds."""
    idle = case.of_all(case.idle_us)
    waits = {link: case.of_all(us) for link, us in _largest_first(case.waits_us).items() if us > 0}
    place, then = _decided(case, idle, waits)
    return alike(
        Verdict,
        place,
        is_least=_known_us(case) < NEARLY_ALL * case.busy_us,
        idle_ratio=idle if case.total_us > 0 else None,
        waits=waits,
        then=then,
        known=case.known,
        held=_held(case),
        coverage=case.coverage,
    )


def _decided(case: Case, idle: float, waits: Mapping[str, float]) -> tuple[Place, Place | None]:
    if case.without is not None:
        return Place(kind=case.without), None
    if case.coverage is not None and case.coverage < MOSTLY:
        return Place(kind=VerdictClass.UNKNOWN, why="coverage"), None
    work = _of_work(case)
    is_known = work.kind is not VerdictClass.UNKNOWN
    if is_known and case.impossible_us > DOUBTFUL * case.busy_us:
        return Place(kind=VerdictClass.DOUBT, ceiling=work.ceiling, ratio=work.ratio), None
    if is_known and case.is_serving:
        return _of_step(case, work), None
    longest = next(iter(waits.items()), ("", 0.0))
    wait = Place(kind=VerdictClass.WAITS, ceiling=longest[0], ratio=longest[1])
    does_wait = longest[1] >= WAITS_LEAST
    if idle >= MOSTLY:
        return Place(kind=VerdictClass.IDLE), wait if does_wait else work
    if does_wait:
        return wait, _of_work(case.without_waits())
    return work, None


def _of_step(case: Case, work: Place) -> Place:
    """What binds a server's step; its shares are of the whole step, as those of the memory are."""
    busy = 1.0 - case.of_all(case.idle_us)
    return replace(
        work,
        kind=VerdictClass.SERVING,
        ratio=None if work.ratio is None else work.ratio * busy,
        useful_ratio=None if work.useful_ratio is None else work.useful_ratio * busy,
    )


def _of_work(case: Case) -> Place:
    """What binds the busy time."""
    unknown = _unknown(case)
    if unknown:
        return Place(kind=VerdictClass.UNKNOWN, why=unknown)
    if float(case.time_us[case.nearest.is_busy_known].sum()) >= MOSTLY * _known_us(case):
        return _by_counters(case)
    return _by_work(case)


def _unknown(case: Case) -> str:
    """What is missing for a bound; "" for nothing."""
    if not case.busy_us > 0:
        return "time"
    if not case.has_peaks and not case.nearest.is_busy_known.any():
        return "peaks"
    return "work" if _known_us(case) < MOSTLY * case.busy_us else ""


def _known_us(case: Case) -> float:
    return float(case.time_us[np.isfinite(case.nearest.largest)].sum())


# ------------------------------------------------------------------------------- with busy shares


def _by_counters(case: Case) -> Place:
    """The ceiling, or latency, that holds most of the time; else the two that hold most."""
    held = _held(case)
    first = next(iter(held), "")
    if not first:  # none of the units that were looked at is busy, and others may be
        best = _most_used(case)
        ratio = _sum(case, best) / case.busy_us
        return Place(kind=VerdictClass.UNKNOWN, why="work", ceiling=best, ratio=ratio)
    if held[first] < MOSTLY:
        return Place(kind=VerdictClass.MIXED, ceiling=first, also=tuple(held)[1:2])
    return _latency(case, is_counted=True) if first == LATENCY else _bound(case, first)


def _held(case: Case) -> dict[str, float]:
    """Shares of the busy time that each ceiling holds, or latency; the largest first."""
    near, busy_us = case.nearest, case.busy_us
    if not busy_us > 0:
        return {}
    is_bound = near.is_kind(OpClass.BOUND)
    held = {LATENCY: float(case.time_us[near.is_kind(OpClass.LATENCY)].sum()) / busy_us}
    for place, name in enumerate(near.ceilings):
        mine = is_bound & (near.named == place)
        held[name] = float(case.time_us[mine].sum()) / busy_us
    return {name: share for name, share in _largest_first(held).items() if share > 0}


# --------------------------------------------------------------------------------- with work alone


def _by_work(case: Case) -> Place:
    """The ceiling that is used most over all ops, unless all of them are far below their roofs."""
    if _mean_nearest(case) < USEFUL_LEAST:
        return _latency(case, is_counted=False)
    best = max(case.nearest.ceilings, key=lambda name: _sum(case, name))
    return _bound(case, best)


def _bound(case: Case, ceiling: str) -> Place:
    shares = {name: _sum(case, name) / case.busy_us for name in case.nearest.ceilings}
    near = [name for name, share in shares.items() if abs(share - shares[ceiling]) <= TIE]
    return Place(
        kind=VerdictClass.BOUND,
        ceiling=ceiling,
        ratio=min(shares[ceiling], 1.0),
        useful_ratio=min(_sum(case, ceiling, useful=True) / case.busy_us, 1.0),
        also=tuple(name for name in near if name != ceiling),
    )


def _latency(case: Case, *, is_counted: bool) -> Place:
    """Latency: the ceiling that is used most and, as counted, its share; by work alone, and where
    none is named, the mean of the nearest ceilings."""
    share = _mean_nearest(case)
    best = _most_used(case)
    is_named = best and not is_slack(np.array(share))
    why, words = _main_reason(case)
    return Place(
        kind=VerdictClass.LATENCY,
        ceiling=best if is_named else "",
        ratio=_sum(case, best) / case.busy_us if is_named and is_counted else share,
        useful_ratio=min(_sum(case, best, useful=True) / case.busy_us, 1.0) if is_named else None,
        why=why,
        why_words=words,
    )


def _main_reason(case: Case) -> tuple[str, str]:
    """The reason of most of the time that is latency, and its words where that is of one op."""
    near = case.nearest
    times: dict[str, float] = {}
    ops: dict[str, list[int]] = {}
    for op in np.flatnonzero(near.is_kind(OpClass.LATENCY) & (case.time_us > 0)).tolist():
        times[near.why[op]] = times.get(near.why[op], 0.0) + float(case.time_us[op])
        ops.setdefault(near.why[op], []).append(op)
    why = max(times, key=lambda code: times[code], default="")
    mine = ops.get(why, [])
    return why, near.why_words[mine[0]] if len(mine) == 1 else ""


def _mean_nearest(case: Case) -> float:
    """Time-weighted mean of the nearest ceilings' shares, of the ops that have one."""
    known_us = _known_us(case)
    share = np.nan_to_num(np.minimum(case.nearest.largest, 1.0))
    return float((share * case.time_us).sum()) / known_us if known_us > 0 else 0.0


def _sum(case: Case, ceiling: str, *, useful: bool = False) -> float:
    """Time in us for which one ceiling is used, over all ops, each held to 100 %."""
    near = case.nearest
    place = near.ceilings.index(ceiling)
    share = near.useful[place] if useful else near.shares()[place]
    return float((np.clip(np.nan_to_num(share), 0.0, 1.0) * case.time_us).sum())


def _most_used(case: Case) -> str:
    """The ceiling that is used most over all ops: of equally near ones the first, as of an op."""
    used_us = {name: _sum(case, name) for name in case.nearest.ceilings}
    least_us = max(used_us.values(), default=0.0) - TIE * case.busy_us
    return next((name for name, time_us in used_us.items() if time_us >= least_us), "")


def _largest_first(parts: Mapping[str, float]) -> dict[str, float]:
    return dict(sorted(parts.items(), key=lambda part: -part[1]))
