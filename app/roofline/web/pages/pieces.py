"""Sentences as templates write them: pieces of text with their kind."""

from collections.abc import Sequence

from roofline.presentation.quantities import quantity
from roofline.presentation.sentences import Segment
from roofline.web.pages.views import Piece


def pieces(sentence: Sequence[Segment]) -> tuple[Piece, ...]:
    """Segments with their numbers written out."""
    return tuple(
        (one["kind"], quantity(one["value"], one["unit"]) if "value" in one else one["text"])
        for one in sentence
    )
