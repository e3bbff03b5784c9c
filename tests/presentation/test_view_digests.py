"""Views under other peaks are those that the page computed itself, before the server did."""

import pytest

from tests.tools.view_digests import digest, read

KEPT = read()


@pytest.mark.parametrize("name", KEPT)
def test_views_are_those_that_were_kept(name: str) -> None:
    choices = {key: key.split() for key in KEPT[name]}
    assert len(choices) >= 37
    changed = [
        key
        for key, (part, *peaks) in choices.items()
        if digest(name, "" if part == "own" else part, tuple(peaks)) != KEPT[name][key]
    ]
    assert changed == []
