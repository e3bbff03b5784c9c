"""The verdict on a profile whose ops have no times: predictions, or points of rates."""

from collections import Counter

from roofline.analysis.records import RooflineAnalysis, Timing
from roofline.presentation.sentences import Number, Sentence, say


def untimed(analysis: RooflineAnalysis) -> tuple[Sentence, Sentence] | None:
    """Headline and lead of a profile without any measured time; `None` where an op has one."""
    counts = Counter(analysis.ops.timing[: len(analysis.profile.ops)])
    points, predictions = counts[Timing.RATE], counts[Timing.PREDICTED]
    if counts[Timing.MEASURED] or not counts:
        return None
    if not points:
        return say("predictions_only"), say("of_predictions")
    if not predictions:
        return say("points_only"), say("of_points")
    every = Number(points + predictions, "count")
    return say("points_and_predictions"), say(
        "of_both", points=Number(points, "count"), every=every
    )
