"""The first sentences of a profile's page, for commands that end with them."""

from collections.abc import Sequence
from pathlib import Path


def first_sentence(paths: Sequence[Path], of: str | None = None) -> str:
    """Headline and lead of the profile in these files. Raises `RooflineError`."""
    from roofline.exports.answering import answer_of
    from roofline.pipeline import analyse_files
    from roofline.presentation.sentences import Segment, plain_text
    from roofline.presentation.verdict import lines_of

    analysis = analyse_files(paths)
    lines = lines_of(analysis, answer_of(analysis, of))
    space = Segment(kind="plain", text=" ")
    return plain_text([*lines.headline, space, *lines.lead]).strip()
