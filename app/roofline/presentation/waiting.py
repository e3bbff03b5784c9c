"""Time in which the device only waited for transfers: said first where it is much of the time."""

from dataclasses import dataclass

from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.time_records import TransferRecord
from roofline.model.categories import is_async_copy, is_collective
from roofline.model.device import DeviceKind
from roofline.model.memory import MemoryLevel
from roofline.presentation.largest_saving import LargestSaving
from roofline.presentation.palette import LEVEL_STYLES
from roofline.presentation.placed import ratio
from roofline.presentation.sentences import Number, Segment, Sentence, say

OFTEN = 0.2  # from this share of the time on, waiting belongs in the headline
_HOST = "exposed_transfer.host"
_UNKNOWN_TOKEN = "--warn"


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Exposed time on one link (`None`: unknown), as a share of the whole time.

    `is_copy` says that the wait is for copies whose memories the profile does not name.
    """

    link: MemoryLevel | None
    share: float
    is_copy: bool = False

    @property
    def name(self) -> str:
        """The transfers that were awaited, within a sentence."""
        if self.is_copy:
            return "asynchronous copies"
        if self.link is MemoryLevel.HOST:
            return "host transfers"
        return "communication" if self.link is None else f"communication over {self.link.label}"


def waits(analysis: RooflineAnalysis) -> list[Waiting]:
    """Exposed time by link, the longest first; of a table without events, the waits of its ops."""
    if analysis.budgets is None or analysis.profile.timeline is None:
        return _waits_of_table(analysis)
    budget = analysis.budgets.capture
    exposed = [part for part in budget.parts if part.id.startswith("exposed")]
    found = [Waiting(link=_link(part.id), share=part.time_us / budget.total_us) for part in exposed]
    return sorted(found, key=lambda one: -one.share)


def _waits_of_table(analysis: RooflineAnalysis) -> list[Waiting]:
    """Waits of a TPU, which runs one op at a time: ops that only move data are waits."""
    if analysis.device.kind is not DeviceKind.TPU or analysis.options.xprof_compat:
        return []
    every, category = analysis.with_infeed.every, analysis.ops.category
    copies = communication = 0.0
    for op, share in zip(every.op.tolist(), every.self_share_ratio.tolist(), strict=True):
        if is_async_copy(category[op]):
            copies += share
        elif is_collective(category[op]):
            communication += share
    found = [
        Waiting(link=None, share=copies, is_copy=True),
        Waiting(link=None, share=communication),
    ]
    return sorted(found, key=lambda one: -one.share)


def _link(part: str) -> MemoryLevel | None:
    if part == _HOST:
        return MemoryLevel.HOST
    key = part.removeprefix("exposed.")
    return None if key == "unknown" else MemoryLevel(key)


def is_mostly_waiting(analysis: RooflineAnalysis) -> bool:
    """True where the wait for one link is so long that the headline names it."""
    return any(one.share >= OFTEN for one in waits(analysis))


def waiting_headline(analysis: RooflineAnalysis) -> Sentence:
    """ "Waiting for host transfers for 84 % of the time"."""
    first, *others = waits(analysis)
    token = _UNKNOWN_TOKEN if first.link is None else LEVEL_STYLES[first.link].token
    word = Segment(kind="bound", text=f"Waiting for {first.name}", token=token)
    sentence = say("exposed", word=word, exposed=ratio(first.share))
    if others and others[0].share >= OFTEN:
        sentence += say("exposed_more", more=others[0].name, exposed=ratio(others[0].share))
    return sentence


def link_rates(analysis: RooflineAnalysis) -> Sentence:
    """The rates of the awaited transfers, beside the peak of their link where that is known."""
    if waits(analysis)[0].is_copy:
        return say("copies_unnamed")
    link = waits(analysis)[0].link
    rows = [row for row in analysis.transfers.rows if row.link is link and row.achieved_gbs]
    exact = [row for row in rows if not row.is_lower_bound]
    achieved, peak = _rate(exact or rows), next((row.peak_gbs for row in rows), None)
    if link is None or not achieved or not peak:
        return []
    what = waits(analysis)[0].name
    return say(
        "link_rate" if exact else "link_rate_or_more",
        what=f"{what[:1].upper()}{what[1:]}",
        achieved=Number(achieved, "gbs"),
        peak=Number(peak, "gbs"),
        link=_spoken(link),
    )


def _spoken(link: MemoryLevel) -> str:
    return "host link" if link is MemoryLevel.HOST else f"{link.label} link"


def _rate(rows: list[TransferRecord]) -> float | None:
    """Bytes of all rows over the time that they took."""
    moved = sum(row.bytes or 0.0 for row in rows)
    took = sum((row.bytes or 0.0) / row.achieved_gbs for row in rows if row.achieved_gbs)
    return moved / took if took else None


def link_saving(analysis: RooflineAnalysis, best: LargestSaving) -> Sentence:
    """The saving of the transfers over one link at its peak."""
    total_us = analysis.with_infeed.total_time_us / max(analysis.device.core_count, 1)
    if analysis.budgets is not None:
        total_us = analysis.budgets.capture.total_us
    awaited = {analysis.ops.category[op] for op in best.ops}
    name = Waiting(link=best.link, share=0.0).name
    return say(
        "link_saving",
        what=Segment(kind="link", text=name, filter={"cat": sorted(awaited)}),
        saving=Number(best.saving_us, "time_us"),
        total=Number(total_us, "time_us"),
        core=analysis.device.core_word,
    )
