"""The profiles that one is likely compared with: those that ran the same operations come first."""

from collections.abc import Iterator
from dataclasses import dataclass

from roofline.compare.partners import LEAST_SAME, same_ratio
from roofline.errors import ProfileNotFoundError
from roofline.library.reader import ProfileLists, ProfileReader
from roofline.presentation.titles import series_name
from roofline.storage.records import Manifest

MOST_LISTED = 30
MOST_LOOKED_AT = 500
"""Profiles whose operations are compared, the newest ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Partner:
    """A profile to compare with.

    `same_ratio` is the share of the operations' time that both spend in the same ones, `None` where
    it is not known; `reason` says why it is likely, "" where it is not.
    """

    manifest: Manifest
    same_ratio: float | None
    reason: str


def partners(
    reader: ProfileReader, lists: ProfileLists, profile_id: str, text: str = ""
) -> tuple[Partner, ...]:
    """The partners of a ready profile, the likeliest one first; those with the words of `text`.

    First those with `LEAST_SAME` of the operations' time in common, then those of the same title,
    those with the same tag, and all others; the newest of equal ones first.
    """
    own = reader.manifest(profile_id)
    shares = lists.op_shares(profile_id, MOST_LOOKED_AT)
    mine = shares.pop(profile_id, {})
    same = {one: same_ratio(mine, other) for one, other in shares.items()} if mine else {}
    offered = _found(lists, text) if text else _likely(reader, lists, own, same)
    found = {one.id: one for one in offered if one.id != profile_id}
    listed = [_partner(own, one, same.get(one.id)) for one in found.values()]
    listed.sort(key=lambda one: one.manifest.created_at, reverse=True)
    listed.sort(key=lambda one: _rank(own, one))
    return tuple(listed[:MOST_LISTED])


def _found(lists: ProfileLists, text: str) -> Iterator[Manifest]:
    yield from lists.search(text, limit=MOST_LISTED + 1).profiles


def _likely(
    reader: ProfileReader, lists: ProfileLists, own: Manifest, same: dict[str, float]
) -> Iterator[Manifest]:
    for one in sorted(same, key=same.__getitem__, reverse=True)[:MOST_LISTED]:
        if same[one] >= LEAST_SAME:
            try:
                yield reader.manifest(one)
            except ProfileNotFoundError:  # deleted since
                continue
    yield from _found(lists, series_name(own.title))
    for tag in own.tags:
        yield from lists.search(tag=tag, limit=MOST_LISTED + 1).profiles
    yield from _found(lists, "")


def _partner(own: Manifest, other: Manifest, same: float | None) -> Partner:
    return Partner(manifest=other, same_ratio=same, reason=_reason(own, other, same or 0.0))


def _reason(own: Manifest, other: Manifest, same: float) -> str:
    if same >= LEAST_SAME:
        return f"{same:.0%} the same operations".replace("%", " %")
    if series_name(other.title) == series_name(own.title):
        return "same title"
    tag = next((one for one in own.tags if one in other.tags), "")
    return f"same tag: {tag}" if tag else ""


def _rank(own: Manifest, one: Partner) -> tuple[float, bool, bool]:
    same = one.same_ratio or 0.0
    return (
        -round(same, 2) if same >= LEAST_SAME else 0.0,
        series_name(one.manifest.title) != series_name(own.title),
        not set(own.tags) & set(one.manifest.tags),
    )
