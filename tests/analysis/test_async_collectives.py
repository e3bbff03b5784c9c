"""Fusions called `async-collective-*` that do no FLOPs are a line of their own among the notes."""

import pytest

from roofline.model.profile import Diagnostic
from tests.builders import analysis_on, profile_from_table

OPS = """
op                       | category      | self_us | times | flop | hbm_bytes
matmul                   | fusion        | 100     | 10    | 9e9  | 5000000
async-collective-start.1 | custom fusion | 60      | 10    | 0    | 1000000
async-collective-done.1  | custom fusion | 40      | 10    | 0    | 1000000
"""


def note_of(table: str) -> Diagnostic | None:
    profile = profile_from_table(table)
    found = analysis_on(profile).diagnostics
    return next((one for one in found if one.code == "async-collectives"), None)


def test_their_time_is_said_to_hold_communication_or_copies() -> None:
    note = note_of(OPS)
    assert note is not None
    assert note.count == 2
    assert "2 async-collective ops do no FLOPs and take 50.0 % of the time" in note.message
    assert "which this table does not tell apart" in note.message


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("| 10    | 0    |", "| 10    | 9e9  |"),  # fused with work that counts
        ("async-collective", "my-collective"),
    ],
)
def test_other_ops_are_not_named(before: str, after: str) -> None:
    assert note_of(OPS.replace(before, after)) is None
