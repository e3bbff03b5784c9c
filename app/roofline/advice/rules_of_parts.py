"""Findings about time that no op has: communication, idle time, infeed."""

from collections.abc import Iterator

import numpy as np

from roofline.advice import thresholds as limit
from roofline.advice.findings import Candidate, Confidence
from roofline.advice.formulas import modified_z
from roofline.advice.plan import Lever
from roofline.advice.rows import EXPOSED, HOST, IDLE, INFEED, LAUNCH_GAPS, START, Rows
from roofline.analysis.records import Cost, RooflineAnalysis
from roofline.model.device import DeviceKind
from roofline.model.memory import MemoryLevel
from roofline.model.timeline import WHOLE_CAPTURE
from roofline.model.units import PS_PER_US


def part_candidates(analysis: RooflineAnalysis, rows: Rows) -> Iterator[Candidate]:
    """C1, C3, C4, H1 and H2, as far as the profile tells."""
    running_us = rows.total_us - rows.part_us(START)
    yield from _communication(analysis, rows, running_us)
    yield from _idle(rows, running_us)
    if rows.part_us(INFEED) >= limit.INFEED * running_us > 0:
        yield _part(rows, "H2", (INFEED,), 0.0, "transfers", "low", INFEED)
    yield from _stragglers(analysis)


def _communication(
    analysis: RooflineAnalysis, rows: Rows, running_us: float
) -> Iterator[Candidate]:
    exposed = [name for name in rows.parts if name.startswith(EXPOSED) or name == HOST]
    is_gpu = analysis.device.kind is DeviceKind.GPU
    least = limit.EXPOSED_GPU if is_gpu else limit.EXPOSED
    is_bound = sum(map(rows.part_us, exposed)) >= least * (1 - 1e-9) * running_us > 0
    for name in exposed:
        ops, reached = _transfers(analysis, name)
        term = "transfers" if name == HOST else "communication"
        if is_bound:
            kept = 1 - limit.HIDDEN
            yield _part(rows, "C1", (name,), kept, term, "low", _link(name), ops=ops)
        elif reached is not None and reached < (best := _best(analysis, name)):
            kept = reached / best
            yield _part(
                rows, "C3", (name,), kept, term, "low", _link(name), ops=ops, reached=reached
            )


def _best(analysis: RooflineAnalysis, part: str) -> float:
    """The share of a link's peak below which C3 holds: 80 % of what is known to be reached."""
    told = next(
        (one.sustained for one in analysis.device.links if one.level.value == _link(part)), None
    )
    return limit.LINK_REACHED * (told.ratio if told is not None else 1.0)


def _link(part: str) -> str:
    return part.removeprefix(EXPOSED) if part != HOST else MemoryLevel.HOST.value


def _transfers(analysis: RooflineAnalysis, part: str) -> tuple[tuple[int, ...], float | None]:
    """Ops that wait for transfers over this link, by exposed time, and the share of its peak.

    The share is that over all transfers whose rate is known and exact; `None` without any.
    """
    link = _link(part)
    rows = [row for row in analysis.transfers.rows if (row.link or "unknown") == link]
    rows.sort(key=lambda row: -row.exposed_us)
    ops = tuple(dict.fromkeys(row.waits for row in rows if row.exposed_us > 0))
    if not analysis.transfers.rows:
        cost, moved = analysis.ops.cost, analysis.ops.moved.link
        ops = tuple(
            op
            for op in range(len(analysis.profile.ops))
            if cost[op] is Cost.TRANSFER and (moved[op] or "unknown") == link
        )
    exact = [
        (row.bytes / row.peak_gbs, row.bytes / row.achieved_gbs)
        for row in rows
        if row.bytes and row.peak_gbs and row.achieved_gbs and not row.is_lower_bound
    ]
    took = sum(time for _, time in exact)
    return ops, sum(least for least, _ in exact) / took if took else None


def _idle(rows: Rows, running_us: float) -> Iterator[Candidate]:
    names = tuple(name for name in (IDLE, LAUNCH_GAPS) if name in rows.parts)
    if names and sum(map(rows.part_us, names)) >= limit.IDLE * running_us > 0:
        yield _part(rows, "H1", names, 0.0, "idle", "low", IDLE)


def _part(
    rows: Rows,
    rule: str,
    names: tuple[str, ...],
    kept: float,
    term: str,
    confidence: Confidence,
    what: str,
    *,
    ops: tuple[int, ...] = (),
    **facts: float | str,
) -> Candidate:
    places = np.array([rows.row_of(name) for name in names], np.int64)
    time_us = float(rows.state.own_us[places].sum())
    return Candidate(
        rule=rule,
        ops=ops,
        what=what,
        resource=names[0],
        factor=kept,
        lever=Lever(rows=places, time_us=rows.state.own_us[places] * kept),
        term=term,
        confidence=confidence,
        time_us=time_us,
        facts={"share": time_us / rows.total_us, **facts},
    )


def _stragglers(analysis: RooflineAnalysis) -> Iterator[Candidate]:
    """C4: a core whose work takes much longer than that of the others."""
    timeline = analysis.profile.timeline
    if timeline is None or len(timeline.cores) < limit.STRAGGLER_LEAST:
        return
    mine = (timeline.work.scope == WHOLE_CAPTURE) & timeline.work.is_work
    work_us = np.bincount(
        timeline.work.core[mine], timeline.work.time_ps[mine] / PS_PER_US, len(timeline.cores)
    )
    median = float(np.median(work_us))
    mad = float(np.median(np.abs(work_us - median)))
    worst = int(work_us.argmax())
    slowest_us = float(work_us[worst])
    if not mad or modified_z(x=slowest_us, med=median, mad=mad) <= limit.STRAGGLER_Z:
        return
    whole_us = float(timeline.times.total_ps[timeline.times.scope == WHOLE_CAPTURE].mean())
    if slowest_us - median < limit.LEAST_SAVING * whole_us / PS_PER_US:
        return
    yield Candidate(
        rule="C4",
        ops=(),
        what=timeline.cores[worst],
        resource="core",
        factor=None,
        lever=None,
        term="communication",
        confidence="medium",
        time_us=slowest_us,
        facts={"ratio": slowest_us / median},
    )
