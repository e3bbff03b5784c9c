"""What a test knows about a value and its type does not say."""

from typing import TypeVar

T = TypeVar("T")


def known(value: T | None) -> T:
    """`value`, which is there: a test that gets `None` fails here."""
    assert value is not None
    return value
