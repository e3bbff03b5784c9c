"""The effect of other peaks, in a sentence for the headline and one below it.

Measured times and rates stay; bounds, shares of roofs and savings follow from the peaks.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.subjects.records import OpPart
from roofline.analysis.verdict_records import Verdict
from roofline.devices.choice import PeakChoice
from roofline.model.memory import MemoryLevel
from roofline.presentation.goal_numbers import COMPLETE, Scale, whole_percent
from roofline.presentation.sentences import Number, Segment, Sentence, plain, ratio, say
from roofline.presentation.shown import shown_peaks
from roofline.presentation.verdict import Answer, Lines, bound_clause
from roofline.presentation.words import bound_by, ceiling_token

_MOST_NAMED = 3  # more peaks than these are counted, not listed


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OwnPeaks:
    """A profile under its own peaks with the answer there, and the choice that took their place."""

    analysis: RooflineAnalysis
    answer: Answer
    choice: PeakChoice


_WORKS = {OpPart.WORK, OpPart.IMPOSSIBLE}


def what_if_lines(analysis: RooflineAnalysis, answer: Answer, own: OwnPeaks) -> Lines:
    """The first lines under other peaks, of the same subject as under its own."""
    return Lines(
        headline=[*_peaks(analysis, own.choice), *_placed(analysis, answer, own)],
        do_first=[],
        standing=_lead(analysis, answer, own),
    )


def _peaks(analysis: RooflineAnalysis, choice: PeakChoice) -> Sentence:
    """ "With the peaks of H100 SXM5 80GB", "… with HBM at 1.2 TB/s", "With compute at …"."""
    edits = _edits(analysis, choice)
    if choice.part_id is None:
        return [*say("whatif_edits"), *edits]
    name = Segment(kind="strong", text=analysis.device.part_name)
    opening = say("whatif_device", device=name)
    return [*opening, *say("whatif_with"), *edits] if edits else opening


def _edits(analysis: RooflineAnalysis, choice: PeakChoice) -> Sentence:
    labels = {peak.unit: peak.label for peak in analysis.device.compute}
    main = next((one.label for one in analysis.levels if one.is_main), MemoryLevel.HBM.label)
    edits = [
        *(
            (labels.get(unit, unit.label) if unit else "compute", Number(peak, "gflops"))
            for unit, peak in choice.gflops.items()
        ),
        *(
            (main if level.is_main else level.label, Number(peak, "gbs"))
            for level, peak in choice.gbs.items()
        ),
    ]
    if len(edits) > _MOST_NAMED:
        return say("whatif_many_peaks", count=Number(len(edits), "count"))
    return _joined([say("whatif_peak", name=name, peak=peak) for name, peak in edits])


def _joined(sentences: Sequence[Sentence]) -> Sentence:
    return [
        part
        for at, sentence in enumerate(sentences)
        for part in [*(say("whatif_and") if at else []), *sentence]
    ]


def _placed(analysis: RooflineAnalysis, answer: Answer, own: OwnPeaks) -> Sentence:
    """The share of the roof and what binds, beside those under its own peaks."""
    share, own_share = _share(analysis, answer), _share(own.analysis, own.answer)
    if share is None:
        return say("whatif_unplaced")
    bound, own_bound = _bound(answer.verdict), _bound(own.answer.verdict)
    parts = answer.subject.parts
    known = (parts.known + parts.impossible) / (parts.work or 1.0)
    part = say("stands_known", share=whole_percent(known)) if known < COMPLETE else []
    placed = say("whatif_placed", share=whole_percent(share), known=part, bound=bound)
    if own_share is None or (share, bound) == (own_share, own_bound):
        return placed
    is_same = answer.verdict.ceiling == own.answer.verdict.ceiling
    other = [] if is_same else own_bound
    return [*placed, *say("whatif_own", share=whole_percent(own_share), bound=other)]


def _bound(verdict: Verdict) -> Sentence:
    """ ", mostly compute-bound", also where work is faster than these peaks allow."""
    clause = bound_clause(verdict)
    if not clause and verdict.ceiling:
        text, token = bound_by(verdict.ceiling), ceiling_token(verdict.ceiling)
        clause = [Segment(kind="bound", text=text, token=token)]
    return [plain(", "), *clause] if clause else []


def _share(analysis: RooflineAnalysis, answer: Answer) -> float | None:
    """The share of the roof; above 1 where work is faster than these peaks allow."""
    subject, ratios = answer.subject, analysis.ops.cells.roofline_efficiency_ratio
    if not subject.parts.impossible:
        return subject.roof_ratio
    works = np.array([one in _WORKS for one in subject.ops.part], np.bool_)
    width_us = np.where(works & np.isfinite(ratios), subject.ops.width_us, 0.0)
    known_us = float(width_us.sum())
    return float((np.nan_to_num(ratios) * width_us).sum()) / known_us if known_us > 0 else None


def _lead(analysis: RooflineAnalysis, answer: Answer, own: OwnPeaks) -> Sentence:
    """Which operations change, and what reaching every roof would save."""
    subject = answer.subject
    scale = Scale.of(subject.time_us)
    saving = scale.length(subject.gain_us or 0.0)
    if own.answer.subject.gain_us is None and not shown_peaks(own.analysis):
        return say("whatif_first_peaks", saving=saving)
    differs = analysis.ops.cells.bound != own.analysis.ops.cells.bound
    share = float(subject.ops.width_us[differs].sum()) / (subject.time_us or 1.0)
    changes = {"count": Number(int(differs.sum()), "count"), "share": ratio(share)}
    return [
        *(say("whatif_changes", **changes) if differs.any() else say("whatif_no_change")),
        *say("whatif_saving", saving=saving, own=scale.length(own.answer.subject.gain_us or 0.0)),
        *say("whatif_stay"),
    ]
