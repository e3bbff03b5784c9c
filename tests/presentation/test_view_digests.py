"""Views under other peaks are those that the page computed itself, before the server did."""

import pytest

from tests.tools.view_digests import digest, read

KEPT = read()


@pytest.mark.parametrize(("number", "name"), list(enumerate(KEPT)))
def test_views_are_those_that_were_kept(number: int, name: str) -> None:
    """All edited peaks, and each part with five samples: its peaks are numbers."""
    alone = [key for key in KEPT[name] if " " not in key]
    assert len(alone) >= 37
    chosen = KEPT[name].keys() - alone | {*alone[number % 3 :: 3]}
    choices = {key: key.split() for key in sorted(chosen)}
    changed = [
        key
        for key, (part, *peaks) in choices.items()
        if digest(name, "" if part == "own" else part, tuple(peaks)) != KEPT[name][key]
    ]
    assert changed == []
