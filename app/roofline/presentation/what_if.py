"""The effect of other peaks, in a sentence for the headline and one below it.

Measured times and rates stay; bounds, shares of roofs and savings follow from the peaks.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from roofline.analysis.knowledge import is_part_unknown
from roofline.analysis.records import RooflineAnalysis, View
from roofline.devices.choice import PeakChoice
from roofline.model.memory import MemoryLevel
from roofline.presentation.page_roofs import bounds
from roofline.presentation.sentences import Number, Segment, Sentence, plain, ratio, say
from roofline.presentation.shown import shown_peaks
from roofline.presentation.verdict import Lines

_MOST_NAMED = 3  # more peaks than these are counted, not listed


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OwnPeaks:
    """A profile under its own peaks, and the choice that took their place."""

    analysis: RooflineAnalysis
    choice: PeakChoice


def what_if_lines(analysis: RooflineAnalysis, own: OwnPeaks, *, infeed: bool) -> Lines:
    """The first lines under other peaks, with or without infeed and outfeed."""
    views = [one.with_infeed if infeed else one.without_infeed for one in (analysis, own.analysis)]
    view, own_view = views
    placed = _placed(analysis, view, _place(own.analysis, own_view))
    return Lines(
        headline=[*_peaks(analysis, own.choice), *placed],
        do_first=[],
        standing=_lead(analysis, view, own.analysis),
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


Place = tuple[str, Segment, float]
"""What binds a program: its id, the word for it, and the share of its roof."""


def _place(analysis: RooflineAnalysis, view: View) -> Place | None:
    """The place of the program as a whole; `None` where it is not known."""
    measures = view.program.measures
    if not len(measures.bound) or np.isnan(measures.roofline_efficiency_ratio[0]):
        return None
    bound = bounds(analysis)[int(measures.bound[0])]
    word = plain(bound["spoken"])
    if bound["kind"] != "none":
        word = Segment(kind="bound", text=bound["spoken"], token=bound["token"])
    return bound["id"], word, float(measures.roofline_efficiency_ratio[0])


def _placed(analysis: RooflineAnalysis, view: View, own: Place | None) -> Sentence:
    place = _place(analysis, view)
    if place is None:
        return say("whatif_unplaced")
    placed = say("whatif_placed", bound=place[1], share=ratio(place[2]))
    is_same = own is not None and place[0] == own[0]
    if own is not None and is_same and round(place[2], 2) != round(own[2], 2):
        placed += say("whatif_same_bound", share=ratio(own[2]))
    if is_part_unknown(view.known):
        placed += say("whatif_of_known")
    if own is not None and not is_same:
        placed += say("whatif_other_bound", bound=own[1], share=ratio(own[2]))
    return placed


def _lead(analysis: RooflineAnalysis, view: View, own: RooflineAnalysis) -> Sentence:
    """Which operations change, and what reaching every roof would save."""
    word = analysis.device.core_word
    core = "core" if word == "TensorCore" else word
    saving = Number(_saving_us(analysis, view), "time_us")
    if not own.device.compute and not shown_peaks(own):
        return say("whatif_first_peaks", saving=saving, core=core)
    differs = analysis.ops.cells.bound[view.op] != own.ops.cells.bound[view.op]
    share = float(np.nansum(view.self_share_ratio[differs]))
    changes = {"count": Number(int(differs.sum()), "count"), "share": ratio(share)}
    return [
        *(say("whatif_changes", **changes) if differs.any() else say("whatif_no_change")),
        *say(
            "whatif_saving",
            saving=saving,
            core=core,
            own=Number(_saving_us(own, view), "time_us"),
        ),
        *say("whatif_stay"),
    ]


def _saving_us(analysis: RooflineAnalysis, view: View) -> float:
    return float(np.nansum(analysis.ops.saving_per_core_us[view.op]))
