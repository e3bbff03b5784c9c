"""Findings about time that no op has and no link: idle time, infeed, slow cores."""

from collections.abc import Iterator

import numpy as np

from roofline.advice import thresholds as limit
from roofline.advice.candidates import part_candidate
from roofline.advice.findings import Candidate
from roofline.advice.formulas import modified_z
from roofline.advice.op_kinds import is_graph_capture
from roofline.advice.rows import IDLE, INFEED, Rows
from roofline.analysis.records import RooflineAnalysis
from roofline.model.device import DeviceKind
from roofline.model.timeline import WHOLE_CAPTURE
from roofline.model.units import PS_PER_US


def part_candidates(analysis: RooflineAnalysis, rows: Rows) -> Iterator[Candidate]:
    """C4, H1 and H2, as far as the profile tells."""
    if _is_program(analysis):
        yield from _waits(rows, "H1", IDLE, limit.IDLE, "idle")
        yield from _waits(rows, "H2", INFEED, limit.INFEED, "transfers")
    yield from _stragglers(analysis)


def _is_program(analysis: RooflineAnalysis) -> bool:
    """False where the host's part in idle time is not in the profile: of kernels measured alone,
    of a graph that was only recorded, and of programs on the host itself."""
    has_host = analysis.device.kind is not DeviceKind.CPU
    return has_host and len(analysis.profile.ops) > 1 and not is_graph_capture(analysis)


def _waits(rows: Rows, rule: str, name: str, least: float, term: str) -> Iterator[Candidate]:
    """A wait that was measured, from its share of the time on."""
    if rows.part_us(name) >= least * rows.total_us > 0:
        yield part_candidate(
            rows, rule, (name,), 0.0, term=term, what=name, group=name, is_measured=True
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
