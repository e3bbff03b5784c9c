"""What a profile is whose ops have no times: predictions, or points of rates."""

from collections import Counter
from dataclasses import dataclass

from roofline.analysis.records import RooflineAnalysis, Timing

_NO_TOTAL = "There is no total."


@dataclass(frozen=True, slots=True)
class UntimedWords:
    """The sentence at the top and what it means."""

    headline: str
    lead: str


def untimed_words(analysis: RooflineAnalysis) -> UntimedWords | None:
    """Words for a profile without any measured time; `None` where an op has one."""
    counts = Counter(analysis.ops.timing[: len(analysis.profile.ops)])
    points, predictions = counts[Timing.RATE], counts[Timing.PREDICTED]
    if counts[Timing.MEASURED] or not counts:
        return None
    if not points:
        return UntimedWords(
            "Predictions only: no time was measured",
            "Each operation stands at its roof: this is the best rate that the device allows for "
            f"its work. {_NO_TOTAL}",
        )
    if not predictions:
        return UntimedWords(
            "Points only: no time was measured",
            f"Each point has the rate and the intensity that the file states. {_NO_TOTAL}",
        )
    return UntimedWords(
        "Points and predictions only: no time was measured",
        f"{points:,} of {points + predictions:,} operations have the rates that the file states; "
        f"the others stand at their roof, the best rate for their work. {_NO_TOTAL}",
    )
