"""Rules about time that no op has and no link: idle time, infeed, slow cores."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from roofline.advice.formula import LEAST_SAVING, Case, Formula, Threshold
from roofline.advice.op_kinds import is_graph_capture
from roofline.advice.rule import BRRR, IDLE, INFEED, XPROF, Cure, Form, Found, Rule, Run
from roofline.model.timeline import WHOLE_CAPTURE
from roofline.model.units import PS_PER_US

STRAGGLER_Z = Threshold("STRAGGLER_Z", 3.5, "modified z of a core's work")
STRAGGLER_LEAST = Threshold("STRAGGLER_LEAST", 3, "least number of cores")
LEAST_IDLE = Threshold("IDLE", 0.10, "share of the time that waits for the host")
SELDOM = Threshold("SELDOM", 1_000, "us that each kernel waits: launches take less than a tenth")
LEAST_INFEED = Threshold("INFEED", 0.10, "share of the time in infeed and outfeed")


def _modified_z(work: float, median: float, deviation: float) -> float:
    """How far `work` is off the median, in units of the median absolute deviation."""
    return 0.6745 * (work - median) / deviation


def _stragglers(run: Run) -> Iterator[Found]:
    """A core whose work takes much longer than that of the others."""
    timeline = run.analysis.profile.timeline
    if timeline is None or len(timeline.cores) < STRAGGLER_LEAST.value:
        return
    mine = (timeline.work.scope == WHOLE_CAPTURE) & timeline.work.is_work
    work_us = np.bincount(
        timeline.work.core[mine], timeline.work.time_ps[mine] / PS_PER_US, len(timeline.cores)
    )
    median = float(np.median(work_us))
    mad = float(np.median(np.abs(work_us - median)))
    worst = int(work_us.argmax())
    slowest_us = float(work_us[worst])
    if not mad or _modified_z(slowest_us, median, mad) <= STRAGGLER_Z.value:
        return
    whole_us = float(timeline.times.total_ps[timeline.times.scope == WHOLE_CAPTURE].mean())
    if slowest_us - median >= LEAST_SAVING.value * whole_us / PS_PER_US:
        yield Found(
            what=timeline.cores[worst],
            resource="core",
            time_us=slowest_us,
            facts={"ratio": slowest_us / median},
        )


C4 = Rule(
    id="C4",
    when="work of one of at least {STRAGGLER_LEAST} cores off the median by a modified z over "
    "{STRAGGLER_Z}",
    source=XPROF,
    formula=Formula("0.6745 (x - median) ÷ MAD > 3.5", _modified_z),
    cases=(Case({"x": 1.3, "median": 1.0, "MAD": 0.05}, 4.047),),
    thresholds=(STRAGGLER_LEAST, STRAGGLER_Z, LEAST_SAVING),
    finds=_stragglers,
    confidence="medium",
    title="Look at {what}, which is slower than the others",
    why="Its work takes {ratio} times the median of the cores, more than their spread explains. "
    "The others wait for it.",
    cure=Cure("Compare its host, its clock and its share of the input with the others."),
)


def _late_launches(run: Run) -> Iterator[Found]:
    """The wait for the host; `seldom` where each kernel waits far longer than a launch takes."""
    for found in _waits(run, IDLE, LEAST_IDLE):
        each_us = found.time_us / max(float(run.calls.sum()), 1.0)
        is_seldom = each_us > SELDOM.value
        yield replace(
            found,
            facts={**found.facts, "each_us": each_us},
            forms=("seldom",) if is_seldom else (),
        )


def _waits(run: Run, part: str, least: Threshold) -> Iterator[Found]:
    """A wait that was measured; nothing of a graph that was only recorded."""
    if is_graph_capture(run.analysis):
        return
    if run.part_us(part) >= least.value * run.total_us > 0:
        yield run.of_part(part, 0.0, group=part)


H1 = Rule(
    id="H1",
    when="waits for the host ≥ {IDLE} of the time: until something was launched that ended them; "
    "another cure from {SELDOM} us for each kernel on",
    source=BRRR,
    formula=Formula("T' = T × (1 - idle)", lambda t, idle: t * (1 - idle)),
    cases=(Case({"T": 100.0, "idle": 0.25}, 75.0),),
    thresholds=(LEAST_IDLE, SELDOM),
    finds=_late_launches,
    lever="idle",
    is_measured=True,
    title="Launch ahead",
    why="For {share} of the time nothing ran, and what ran next was launched only then.",
    cure=Cure("Dispatch asynchronously, remove synchronisations, prefetch input."),
    forms={
        "torch": Form(
            title="Launch ahead (CUDA graphs)",
        ),
        "seldom": Form(
            title="Find what keeps the host from launching",
            why="For {share} of the time nothing ran, and what ran next was launched only then: "
            "{each_us} for each kernel, far more than a launch takes.",
        ),
    },
)
H2 = Rule(
    id="H2",
    when="infeed and outfeed ≥ {INFEED} of the time",
    source=XPROF,
    formula=Formula("T' = T × (1 - infeed)", lambda t, infeed: t * (1 - infeed)),
    cases=(Case({"T": 100.0, "infeed": 0.25}, 75.0),),
    thresholds=(LEAST_INFEED,),
    finds=lambda run: _waits(run, INFEED, LEAST_INFEED),
    lever="transfers",
    is_measured=True,
    title="Feed the device faster",
    why="Infeed and outfeed take {share} of the time.",
    cure=Cure("Prefetch, use more workers, decode on the device, pack records."),
)
