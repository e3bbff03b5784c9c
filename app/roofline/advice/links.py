"""C1, C3 and C5: time that waits for transfers over a link.

They are three ways to save the same wait: work meanwhile, a fuller link, and both directions at
once. `docs/advice.md` has the formulas.
"""

from collections.abc import Iterator

import numpy as np

from roofline.advice import thresholds as limit
from roofline.advice.candidates import part_candidate
from roofline.advice.findings import Candidate
from roofline.advice.rows import EXPOSED, HOST, IDLE, UNKNOWN, Rows
from roofline.analysis.records import Cost, RooflineAnalysis
from roofline.analysis.time_records import TransferRecord, at_peak_us
from roofline.model.device import DeviceKind
from roofline.model.memory import MemoryLevel


def link_candidates(analysis: RooflineAnalysis, rows: Rows) -> Iterator[Candidate]:
    """The findings of every link that the program waits for."""
    exposed = [name for name in rows.parts if name.startswith(EXPOSED) or name == HOST]
    is_gpu = analysis.device.kind is DeviceKind.GPU
    least = limit.EXPOSED_GPU if is_gpu else limit.EXPOSED
    does_wait = sum(map(rows.part_us, exposed)) >= least * (1 - 1e-9) * rows.total_us > 0
    for name in exposed:
        found = _Wait(analysis, rows, name)
        yield from found.fuller_link(does_wait=does_wait)
        if does_wait:
            yield from found.work_meanwhile()
        yield from found.both_directions()


class _Wait:
    """The wait for one link, its transfers, and the ops that wait."""

    def __init__(self, analysis: RooflineAnalysis, rows: Rows, part: str) -> None:
        self._analysis, self._rows, self._part = analysis, rows, part
        self._link = part.removeprefix(EXPOSED) if part != HOST else MemoryLevel.HOST.value
        self._us = rows.part_us(part)
        mine = [row for row in analysis.transfers.rows if (row.link or UNKNOWN) == self._link]
        self._transfers = sorted(mine, key=lambda row: -row.exposed_us)

    def work_meanwhile(self) -> Iterator[Candidate]:
        """C1: a part of the wait is hidden behind work, but no more than there is work."""
        work_us = self._rows.total_us - self._rows.part_us(IDLE) - self._us
        hidden_us = min(limit.HIDDEN * self._us, work_us)
        yield self._candidate("C1", 1 - hidden_us / self._us, ("work_us", work_us))

    def fuller_link(self, *, does_wait: bool) -> Iterator[Candidate]:
        """C3: the same bytes at the rate that large messages reach, or at the link's peak."""
        reached, best = self._reached(), self._best()
        if reached is None or reached >= limit.STOP:
            return
        if reached < best or does_wait:
            kept = reached / best if reached < best else reached
            yield self._candidate("C3", kept, ("reached", reached))

    def both_directions(self) -> Iterator[Candidate]:
        """C5: both directions at once, at the peak, while the work that is needed runs."""
        inward, outward = (self._at_peak_us(kind) for kind in ("in", "out"))
        if min(inward, outward) < limit.TWO_WAYS * self._us or not self._us:
            return
        stays_us = max(max(inward, outward) - self._needed_us(), 0.0)
        if stays_us < self._us:
            yield self._candidate("C5", stays_us / self._us, ("link_us", max(inward, outward)))

    def _candidate(self, rule: str, kept: float, fact: tuple[str, float]) -> Candidate:
        return part_candidate(
            self._rows,
            rule,
            (self._part,),
            kept,
            term="transfers" if self._part == HOST else "communication",
            what=self._link,
            group=f"link:{self._link}",
            ops=self._waiting_ops(),
            kind=self._link,
            facts=dict([fact]),
        )

    def _needed_us(self) -> float:
        """Work that stays however fast it is: at its roof, and what is not known."""
        state, count = self._rows.state, len(self._rows.calls)
        own_us, roof_us = state.own_us[:count], state.roof_us()[:count]
        return float(np.where(roof_us > 0, np.minimum(roof_us, own_us), own_us).sum())

    def _at_peak_us(self, kind: str) -> float:
        """Time of one direction at the link's peak, per unit of the advice and core."""
        whole = sum(
            at_peak_us(row.bytes, row.peak_gbs)
            for row in self._transfers
            if row.kind == kind and row.bytes and row.peak_gbs
        )
        exposed_us = sum(row.exposed_us for row in self._transfers)
        return whole * self._us / exposed_us if exposed_us else 0.0

    def _waiting_ops(self) -> tuple[int, ...]:
        """Ops that wait for transfers over this link, by exposed time."""
        if self._analysis.transfers.rows:
            waits = [row.waits for row in self._transfers if row.exposed_us > 0]
            return tuple(dict.fromkeys(waits))
        cost, moved = self._analysis.ops.cost, self._analysis.ops.moved.link
        return tuple(
            op
            for op in range(len(self._analysis.profile.ops))
            if cost[op] is Cost.TRANSFER and (moved[op] or UNKNOWN) == self._link
        )

    def _best(self) -> float:
        """The share of a link's peak below which C3 holds: 80 % of what is known to be reached."""
        links = self._analysis.device.links
        told = next((one.sustained for one in links if one.level.value == self._link), None)
        return limit.LINK_REACHED * (told.ratio if told is not None else 1.0)

    def _reached(self) -> float | None:
        """The share of the link's peak over transfers whose rate is known and exact."""
        exact = [one for row in self._transfers for one in _clocks_of(row)]
        took = sum(time for _, time in exact)
        return sum(least for least, _ in exact) / took if took else None


def _clocks_of(row: TransferRecord) -> Iterator[tuple[float, float]]:
    if row.bytes and row.peak_gbs and row.achieved_gbs and not row.is_lower_bound:
        yield row.bytes / row.peak_gbs, row.bytes / row.achieved_gbs
