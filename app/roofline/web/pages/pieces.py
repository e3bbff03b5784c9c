"""Sentences as templates write them: pieces of text with their kind."""

from collections.abc import Sequence
from itertools import groupby

from roofline.presentation.quantities import quantity
from roofline.presentation.sentences import Segment
from roofline.web.pages.views import Piece


def pieces(sentence: Sequence[Segment]) -> tuple[Piece, ...]:
    """Segments with their numbers written out, neighbours of one kind as one piece."""
    kinds = groupby(sentence, key=lambda one: one["kind"])
    return tuple((kind, "".join(map(_text, found))) for kind, found in kinds)


def with_lead(said: Sequence[Piece]) -> tuple[Piece, ...]:
    """A headline, its words up to the colon apart: they carry its colour."""
    lead, colon, rest = "".join(text for _, text in said).partition(":")
    return (("lead", lead), ("plain", colon + rest))


def _text(one: Segment) -> str:
    return quantity(one["value"], one["unit"]) if "value" in one else one["text"]
