"""C1, C2, C3 and C5: links, and the time that waits for transfers over them.

C1, C3 and C5 are three ways to save the same wait: work meanwhile, a fuller link, and both
directions at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from roofline.advice.diagnosis import Label
from roofline.advice.formula import STOP, Case, Formula, Threshold
from roofline.advice.rule import (
    BOOK,
    EXPOSED,
    HOST,
    IDLE,
    UNEXPLAINED,
    UNKNOWN,
    Cure,
    Form,
    Found,
    Rule,
    Run,
)
from roofline.analysis.records import Cost
from roofline.analysis.time_records import TransferRecord, at_peak_us
from roofline.model.device import DeviceKind
from roofline.model.memory import MemoryLevel

WAITS = Threshold("EXPOSED", 0.30, "exposed communication, as a share of the time")
WAITS_GPU = Threshold("EXPOSED_GPU", 0.20, "EXPOSED where the device is known to be a GPU")
HIDDEN = Threshold("HIDDEN", 0.70, "part of a wait that overlap is taken to hide")
REACHED = Threshold("LINK_REACHED", 0.80, "share of what a link reaches at best, or of its peak")
TWO_WAYS = Threshold("TWO_WAYS", 0.10, "the lesser direction at the peak, as a share of the wait")


@dataclass(frozen=True, eq=False)
class _Wait:
    """The wait for one link, its transfers, and the ops that wait; `part` names the time."""

    run: Run
    part: str

    @property
    def link(self) -> str:
        """The level of the link, or "unknown"."""
        is_host = self.part == HOST
        return MemoryLevel.HOST.value if is_host else self.part.removeprefix(EXPOSED)

    @property
    def us(self) -> float:
        """The time of the wait."""
        return self.run.part_us(self.part)

    @cached_property
    def transfers(self) -> list[TransferRecord]:
        """Transfers over the link, the longest exposed one first."""
        rows = self.run.analysis.transfers.rows
        mine = [row for row in rows if (row.link or UNKNOWN) == self.link]
        return sorted(mine, key=lambda row: -row.exposed_us)

    def left(self, kept: float, **facts: float) -> Found:
        """A finding after which the share `kept` of the wait is left."""
        return self.run.of_part(
            self.part,
            kept,
            term="transfers" if self.part == HOST else "communication",
            what=self.link,
            group=f"link:{self.link}",
            ops=self.ops(),
            kind=self.link,
            facts=facts,
        )

    def ops(self) -> tuple[int, ...]:
        """Ops that wait for transfers over this link, by exposed time."""
        analysis = self.run.analysis
        if analysis.transfers.rows:
            return tuple(dict.fromkeys(row.waits for row in self.transfers if row.exposed_us > 0))
        cost, moved = analysis.ops.cost, analysis.ops.moved.link
        return tuple(
            op
            for op in range(len(self.run.table))
            if cost[op] is Cost.TRANSFER and (moved[op] or UNKNOWN) == self.link
        )

    def at_peak_us(self, kind: str) -> float:
        """Time of one direction at the link's peak, per unit of the advice and core."""
        whole = sum(
            at_peak_us(row.bytes, row.peak_gbs)
            for row in self.transfers
            if row.kind == kind and row.bytes and row.peak_gbs
        )
        exposed_us = sum(row.exposed_us for row in self.transfers)
        return whole * self.us / exposed_us if exposed_us else 0.0

    def best(self) -> float:
        """The share of the link's peak below which C3 holds: of what is known to be reached."""
        links = self.run.analysis.device.links
        sustained = next((row.sustained for row in links if row.level.value == self.link), None)
        return REACHED.value * (sustained.ratio if sustained is not None else 1.0)

    def reached(self) -> float | None:
        """The share of the link's peak over transfers whose rate is known and exact."""
        exact = [
            (row.bytes / row.peak_gbs, row.bytes / row.achieved_gbs)
            for row in self.transfers
            if row.bytes and row.peak_gbs and row.achieved_gbs and not row.is_lower_bound
        ]
        took = sum(time for _, time in exact)
        return sum(least for least, _ in exact) / took if took else None


def _waits(run: Run) -> list[_Wait]:
    exposed = (name for name in run.parts if name.startswith(EXPOSED) or name == HOST)
    return [_Wait(run, name) for name in exposed]


def _does_wait(run: Run) -> bool:
    """True where so much of the time waits for links that work should go on meanwhile."""
    least = WAITS_GPU if run.analysis.device.kind is DeviceKind.GPU else WAITS
    exposed_us = sum(wait.us for wait in _waits(run))
    return exposed_us >= least.value * (1 - 1e-9) * run.total_us > 0


def _hidden_us(exposed_us: float, work_us: float) -> float:
    return min(HIDDEN.value * exposed_us, work_us)


def _work_meanwhile(run: Run) -> Iterator[Found]:
    """A part of the wait is hidden behind work, but no more than there is work."""
    for wait in _waits(run) if _does_wait(run) else ():
        work_us = run.total_us - run.part_us(IDLE) - run.part_us(UNEXPLAINED) - wait.us
        yield wait.left(1 - _hidden_us(wait.us, work_us) / wait.us, work_us=work_us)


C1 = Rule(
    id="C1",
    when="exposed transfers ≥ {EXPOSED} of the time ({EXPOSED_GPU} on GPUs)",
    source=BOOK + "sharding",
    formula=Formula(
        "T' = T - min(0.7 × exposed, other work)", lambda t, *wait: t - _hidden_us(*wait)
    ),
    cases=(
        Case({"T": 100.0, "exposed": 40.0, "other work": 60.0}, 72.0),
        Case({"T": 100.0, "exposed": 90.0, "other work": 10.0}, 90.0),
    ),
    thresholds=(WAITS, WAITS_GPU, HIDDEN),
    label=Label(4, lambda ops: ops.is_link),
    finds=_work_meanwhile,
    title="Overlap the transfers over {level} with work",
    why="For {share} of the time the device only waits for transfers over {level}. There is "
    "{work_us} of work that could run meanwhile, and 70 % of a wait can be hidden.",
    cure=Cure(
        "Overlap transfers with work (asynchronous collectives, prefetch), move fewer bytes, or "
        "keep the data where it is used."
    ),
    forms={
        "host": Form(
            title="Copy while it computes",
        ),
        "unknown": Form(
            title="Overlap the transfers with work",
            why="For {share} of the time the device only waits for transfers. There is {work_us} "
            "of work that could run meanwhile, and 70 % of a wait can be hidden.",
        ),
    },
)


def _divided(link_us: float, work_us: float) -> float:
    """With twice the tokens per chip the work doubles; traffic of weights and gradients stays."""
    return 2 * link_us / max(2 * work_us, link_us)


def _sharding(run: Run) -> Iterator[Found]:
    rows = run.analysis.transfers.rows
    moved = [row for row in rows if row.link is not MemoryLevel.HOST]
    work_us, link_us = float(run.state.roof_us().sum()), run.state.least_us
    if not moved or len(moved) < len(rows) or not 0 < work_us < link_us:
        return
    yield Found(
        what=next((row.link.label for row in moved if row.link is not None), "the links"),
        resource="sharding",
        time_us=link_us,
        gain=_divided(link_us, work_us),
        facts={"link_us": link_us, "work_us": work_us, "longer": link_us / work_us},
    )


C2 = Rule(
    id="C2",
    when="the busiest link between chips needs longer at its peak than all work at its roof",
    source=BOOK + "training",
    formula=Formula("2 T_link ÷ max(2 T_work, T_link)", _divided),
    cases=(
        Case({"T_link": 180.0, "T_work": 139.0}, 360 / 278),
        Case({"T_link": 180.0, "T_work": 50.0}, 2.0),
    ),
    finds=_sharding,
    changes_results=True,
    title="Give each chip more tokens, or divide the work otherwise",
    why="{what} needs {link_us} for its traffic at its peak, {longer} times the {work_us} of all "
    "work at its roof: no overlap hides that.",
    cure=Cure(
        "A larger batch per chip; tensor parallelism within a node, weights shared across nodes "
        "(FSDP, ZeRO) or a pipeline; another mesh. The gain takes twice the tokens per chip with "
        "the same traffic, and all of it overlapped."
    ),
)


def _fuller(exposed: float, reached: float, best: float) -> float:
    return exposed * reached / best


def _fuller_link(run: Run) -> Iterator[Found]:
    """The same bytes at the rate that large messages reach, or at the link's peak."""
    for wait in _waits(run):
        reached, best = wait.reached(), wait.best()
        if reached is None or reached >= STOP.value:
            continue
        if reached < best or _does_wait(run):
            left = _fuller(1.0, reached, best if reached < best else 1.0)
            yield wait.left(left, reached=reached)


C3 = Rule(
    id="C3",
    when="exposed transfers over a link at less than {LINK_REACHED} of what it reaches at best, or "
    "beside C1",
    source=BOOK + "gpus",
    formula=Formula(
        "exposed' = exposed × reached ÷ max(0.80, reached to the peak)",
        lambda exposed, reached, to_peak: _fuller(exposed, reached, max(REACHED.value, to_peak)),
    ),
    cases=(
        Case({"exposed": 10.0, "reached": 0.4, "reached to the peak": 0.8}, 5.0),
        Case({"exposed": 10.0, "reached": 0.9, "reached to the peak": 1.0}, 9.0),
    ),
    thresholds=(REACHED, STOP),
    finds=_fuller_link,
    title="Use {level} better",
    why="Transfers over {level} reach {reached} of its peak; {share} of the time waits for them.",
    cure=Cure("Put small collectives into buckets, and fuse those that follow each other."),
    forms={
        "host": Form(
            title="Use the host link better",
        ),
    },
)


def _stays(busier_us: float, needed_us: float) -> float:
    return busier_us - needed_us


def _both_directions(run: Run) -> Iterator[Found]:
    """Both directions at once, at the peak, while the work that is needed runs."""
    for wait in _waits(run):
        inward, outward = (wait.at_peak_us(kind) for kind in ("in", "out"))
        if min(inward, outward) < TWO_WAYS.value * wait.us or not wait.us:
            continue
        stays_us = max(_stays(max(inward, outward), _needed_us(run)), 0.0)
        if stays_us < wait.us:
            yield wait.left(stays_us / wait.us, link_us=max(inward, outward))


def _needed_us(run: Run) -> float:
    """Work that stays however fast it is: at its roof, and what is not known."""
    roof_us = run.state.roof_us()[: len(run.calls)]
    return float(np.where(roof_us > 0, np.minimum(roof_us, run.own_us), run.own_us).sum())


C5 = Rule(
    id="C5",
    when="both directions of one link move bytes, and less time if at once; the lesser one at "
    "least {TWO_WAYS} of the wait",
    source=BOOK + "gpus",
    formula=Formula("exposed' = T_link of the busier direction - T_needed", _stays),
    cases=(Case({"T_link of the busier direction": 50.3, "T_needed": 2.0}, 48.3),),
    thresholds=(TWO_WAYS,),
    finds=_both_directions,
    title="Copy in both directions at once",
    why="{level} moves bytes in both directions, one after the other. The busier direction needs "
    "{link_us} at the peak: at once, and with the link full throughout, the rest of the wait goes.",
    cure=Cure("Transfers in both directions at once: two streams."),
)
