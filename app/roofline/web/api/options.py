"""Options in a JSON body: every key means something, every value is in range."""

from collections.abc import Iterable, Mapping

from roofline.errors import BadViewError

_MOST_TEXT = 100
_MOST_NUMBER = 10**9


def check_options(given: Mapping[str, object], sent: Iterable[str], what: str) -> None:
    """Raise `BadViewError` for a key of `sent` that means nothing and for a value out of range.

    `given` are the options as they were read, without unknown keys; `what` is "an estimate".
    """
    for name in sent:
        if name not in given:
            raise BadViewError(
                f'"{name[:_MOST_TEXT]}" is not an option of {what}.',
                remedy=f"Options are {', '.join(given)}.",
            )
    for name, value in given.items():
        if not _is_in_range(value):
            raise BadViewError(
                f"The option {name} has a value that it cannot have.",
                remedy="Texts have up to 100 characters; numbers are not negative.",
            )


def _is_in_range(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= _MOST_TEXT
    return not isinstance(value, int | float) or 0 <= value <= _MOST_NUMBER
