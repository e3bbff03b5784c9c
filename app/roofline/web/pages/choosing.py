"""Which run a profile is compared with: the likeliest one, or one that a reader chooses."""

from collections.abc import Sequence
from urllib.parse import quote, urlencode

from fastapi import Request, Response
from starlette.responses import RedirectResponse

from roofline.library.partners import Partner, partners
from roofline.library.reader import ProfileLists, ProfileReader
from roofline.presentation.titles import series_name
from roofline.storage.records import Manifest
from roofline.web.pages import views
from roofline.web.parts import ServerParts

_MOST_TEXT = 200
_OWN_KEYS = {"choose", "q", "to"}


def choose(
    request: Request,
    profile_id: str,
    parts: ServerParts,
    reader: ProfileReader,
    lists: ProfileLists,
) -> Response:
    """The comparison with the likeliest partner; where none is likely, or with `choose`, the list.

    With `to=A..B` a chosen run joins that comparison.
    """
    own, given = reader.manifest(profile_id), request.query_params
    query, to = given.get("q", "")[:_MOST_TEXT], given.get("to", "")[:_MOST_TEXT]
    found = partners(reader, lists, profile_id, query)
    rest = [(key, value) for key, value in given.multi_items() if key not in _OWN_KEYS]
    if found and found[0].reason and not _OWN_KEYS & set(given):
        return RedirectResponse(_address(own, found[0].manifest, to, rest), status_code=303)
    view = views.ChooseView(
        profile_id=profile_id,
        title=own.title,
        query=query,
        to=to,
        rest=tuple(rest),
        series_url=f"/s/{quote(series_name(own.title), safe='')}",
        partners=tuple(_row(own, one, to, rest) for one in found),
    )
    return parts.templates.page("choose.html", view, request)


def _row(
    own: Manifest, one: Partner, to: str, rest: Sequence[tuple[str, str]]
) -> views.PartnerView:
    return views.PartnerView(
        title=one.manifest.title,
        device=one.manifest.summary.device,
        created_at=one.manifest.created_at,
        reason=one.reason,
        url=_address(own, one.manifest, to, rest),
    )


def _address(own: Manifest, other: Manifest, to: str, rest: Sequence[tuple[str, str]]) -> str:
    """Of the comparison of both, the older one as A; or of that at `to`, with `other` as well."""
    if to:
        return f"/c/{quote(to)}?{urlencode([*rest, ('vs', other.id)])}"
    a, b = sorted((own, other), key=lambda one: (one.created_at, one.id))
    return f"/c/{quote(a.id)}..{quote(b.id)}" + (f"?{urlencode(rest)}" if rest else "")
