"""Rows of profiles on the home page: first sentence, of the roof, idle, do first.

They are of its subject, as its page says them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from roofline.library.reader import Failed
from roofline.presentation.first_view.summary import Piece, pieces
from roofline.presentation.goal_numbers import COMPLETE, marked, whole_percent
from roofline.storage.records import Manifest
from roofline.web.bodies import retry_url
from roofline.web.http.access import shown_owner
from roofline.web.pages.profile_view import tag_view
from roofline.web.pages.views import FailedUploadView, ListedProfile

_DO_FIRST = "Do first: "  # the column's heading says it


def row_of(manifest: Manifest) -> ListedProfile:
    """A row of the list; one stored by an earlier release says nothing of its subject."""
    subject, lines = manifest.summary.subject or {}, manifest.summary.lines
    known = subject.get("known_ratio")
    saving, do_first = _first(lines.get("do_first", ()), subject)
    return ListedProfile(
        manifest=manifest,
        url=f"/p/{manifest.id}",
        tags=tuple(map(tag_view, manifest.tags)),
        uploader=shown_owner(manifest.uploader or ""),
        headline=pieces(lines.get("headline", ())),
        saving=saving,
        do_first=do_first,
        share=_percent("roof_share", subject.get("roof_ratio")),
        idle=_percent("idle", subject.get("idle_ratio")),
        is_part_known=known is not None and known < COMPLETE,
    )


def failed_row(state: Failed) -> FailedUploadView:
    """A failed upload of this person, with another try where that may help."""
    return FailedUploadView(
        title=state.title,
        url=f"/p/{state.id}",
        message=state.error.message,
        retry_url=retry_url(state.id) if state.can_retry else "",
    )


def _first(
    said: Sequence[Mapping[str, Any]], subject: Mapping[str, Any]
) -> tuple[Piece | None, str]:
    """What the first finding saves and its title; without a saving, the sentence said instead."""
    found = pieces(said)
    saving = next((one for one in found if one.quantity == "saving"), None)
    if saving is not None:
        return saving, subject["first"]["title"]
    text = "".join(one.text for one in found).removeprefix(_DO_FIRST)
    return None, text[:1].upper() + text[1:]


def _percent(quantity: str, ratio: float | None) -> Piece | None:
    """A ratio of a subject, marked as what it is; `None` where it is not known."""
    return None if ratio is None else pieces([marked(whole_percent(ratio), quantity, ratio)])[0]
