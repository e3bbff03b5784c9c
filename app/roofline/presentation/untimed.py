"""What a profile without times shows: predictions, or points of rates."""

from collections import Counter

from roofline.analysis.records import RooflineAnalysis, Timing
from roofline.presentation.sentences import Number, Sentence, say


def untimed(analysis: RooflineAnalysis) -> Sentence:
    """How the chart of such a profile reads."""
    counts = Counter(analysis.ops.timing[: len(analysis.profile.ops)])
    points, predictions = counts[Timing.RATE], counts[Timing.PREDICTED]
    if not points:
        return say("of_predictions")
    if not predictions:
        return say("of_points")
    every = Number(points + predictions, "count")
    return say("of_both", points=Number(points, "count"), every=every)
