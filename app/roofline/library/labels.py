"""People's words about profiles: titles, notes and tags, cleaned and checked."""

from collections.abc import Sequence

from roofline.errors import BadEditError
from roofline.presentation import titles

TITLE_LENGTH = titles.LENGTH
NOTE_LENGTH = 10_000
TAG_LENGTH = 40
MAX_TAGS = 20


def title(text: str) -> str:
    """`text` as a title: one line, cut to its length; empty when nothing is left."""
    return _line(text, TITLE_LENGTH)


def given_title(text: str) -> str:
    """A title that may be left out; `BadEditError` if it is too long."""
    return new_title(text) if title(text) else ""


def new_title(text: str) -> str:
    """A title somebody typed; `BadEditError` if it is empty or too long."""
    cleaned = _line(text, TITLE_LENGTH + 1)
    if cleaned and len(cleaned) <= TITLE_LENGTH:
        return cleaned
    raise BadEditError(
        "The title is too long." if cleaned else "The title is empty.",
        remedy=f"Write 1 to {TITLE_LENGTH} characters.",
    )


def note(text: str) -> str:
    """Plain text of several lines; `BadEditError` if it is too long."""
    kept = lines(text)
    if len(kept) > NOTE_LENGTH:
        raise BadEditError(
            f"The note has {len(kept):,} characters.", remedy=f"Shorten it to {NOTE_LENGTH:,}."
        )
    return kept


def lines(text: str) -> str:
    """Text of several lines without what cannot be printed, and without space around it."""
    clean = text.replace("\r\n", "\n")
    return "".join(ch for ch in clean if ch.isprintable() or ch in "\n\t").strip()


def tags(words: Sequence[str]) -> tuple[str, ...]:
    """Each tag once, in order; `BadEditError` if there are too many or one is too long."""
    cleaned = tuple(dict.fromkeys(filter(None, (_line(word, TAG_LENGTH + 1) for word in words))))
    too_long = next((tag for tag in cleaned if len(tag) > TAG_LENGTH), None)
    if too_long is None and len(cleaned) <= MAX_TAGS:
        return cleaned
    raise BadEditError(
        f"There are more than {MAX_TAGS} tags."
        if too_long is None
        else f"The tag {too_long[:20]}… is too long.",
        remedy=f"Give up to {MAX_TAGS} tags of up to {TAG_LENGTH} characters.",
    )


def _line(text: str, length: int) -> str:
    return " ".join("".join(ch if ch.isprintable() else " " for ch in text).split())[:length]
