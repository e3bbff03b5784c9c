"""What changed in the numbers, by results version: a profile that another release computed says so.

A change of a number that users see is a row of the next version in `number_changes.json`, in plain
words.
"""

from dataclasses import dataclass

from roofline.model.plain_data import read_beside


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberChange:
    """A change of numbers: its sentence, and how the names of its formats begin (none: all)."""

    results_version: int
    said: str
    formats: tuple[str, ...] = ()


CHANGES = tuple(
    NumberChange(**{**row, "formats": tuple(row.get("formats", ()))})
    for row in read_beside(__file__, "number_changes.json")
)
RESULTS_VERSION = max(one.results_version for one in CHANGES)


def changes_since(version: str | None, format_name: str) -> tuple[str, ...]:
    """The sentences on numbers of a format that changed after results of `version`.

    `version` is one of `results_version`, none for results that were not computed before.
    """
    if version is None:
        return ()
    before = results_number(version)
    return tuple(
        one.said
        for one in CHANGES
        if one.results_version > before and format_name.startswith(one.formats or "")
    )


def results_number(version: str) -> int:
    """The results version in the name of a version, 0 in one of another form."""
    number = version.partition("-")[0].removeprefix("v")
    return int(number) if number.isdecimal() else 0
