"""The sentences at the top: what bounds the program, how far it is from its roof, what to fix.

Every number comes from the same records as the tables. A verdict says of which share of the busy
time the work is known, and none is given where that is less than half.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from roofline.analysis.records import RooflineAnalysis, View
from roofline.model.categories import IDLE_CATEGORY
from roofline.model.profile import Severity
from roofline.presentation.category_shares import CategoryShare, category_shares
from roofline.presentation.headline import headline
from roofline.presentation.incomplete import incomplete
from roofline.presentation.lead import lead
from roofline.presentation.placed import has_peaks, plain
from roofline.presentation.sentences import Segment, Sentence, say
from roofline.presentation.untimed import untimed

# Warnings that do not explain why there is no op.
_BESIDE_THE_POINT = {"no-steps", "steps-do-not-intersect", "hosts-differ", "no-peaks"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Headline and lead as segments."""

    headline: Sentence = field(default_factory=list)
    lead: Sentence = field(default_factory=list)


def build_verdict(
    analysis: RooflineAnalysis, view: View, shares: Sequence[CategoryShare] | None = None
) -> Verdict:
    """The first sentences for a reader. Reads well for every kind of profile, empty ones too."""
    shares = category_shares(analysis, view) if shares is None else shares
    work = [share for share in shares if share.name != IDLE_CATEGORY]
    if not work:
        return _without_ops(analysis)
    without_kernels = incomplete(analysis)
    if without_kernels is not None:
        return Verdict(headline=without_kernels[0], lead=without_kernels[1])
    without_times = untimed(analysis)
    if without_times is not None:
        opening, meaning = without_times
        rest = [] if has_peaks(analysis) else say("choose_device")
        return Verdict(headline=opening, lead=_without_last_space([*meaning, *rest]))
    idle = next((share.share_ratio or 0.0 for share in shares if share not in work), 0.0)
    return Verdict(
        headline=headline(analysis, view, idle),
        lead=_without_last_space([*lead(analysis, view, idle)]),
    )


def _without_ops(analysis: RooflineAnalysis) -> Verdict:
    if len(analysis.profile.ops):
        reasons = ["All ops are infeed or outfeed; without them nothing is left."]
    else:
        reasons = [
            f"{found.message} {found.remedy}".strip()
            for found in analysis.diagnostics
            if found.severity is not Severity.INFO and found.code not in _BESIDE_THE_POINT
        ] or ["The capture holds no ops of a device."]
    return Verdict(headline=say("nothing"), lead=[plain(reasons[0])])


def _without_last_space(sentence: Sequence[Segment]) -> Sentence:
    if not sentence or "text" not in sentence[-1]:
        return [*sentence]
    *others, last = sentence
    return [*others, {**last, "text": last["text"].rstrip(" ")}]
