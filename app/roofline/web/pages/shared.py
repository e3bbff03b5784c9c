"""The page that a share link opens."""

from dataclasses import replace

from fastapi import APIRouter, Request, Response

from roofline.library.ranges import Part
from roofline.web.api.ranges import PageRange, written_results
from roofline.web.api.shared import Shared, SharedProfile
from roofline.web.http.api_tokens import LINK_FOLDER
from roofline.web.offline.views import ProfileView
from roofline.web.pages.profile_view import in_range, shared_view
from roofline.web.pages.xprof import WantedXprof, xprof_page
from roofline.web.parts import Parts, ServerParts

router = APIRouter(include_in_schema=False)


@router.api_route(f"{LINK_FOLDER}{{token}}", methods=["GET", "HEAD"])
def shared_profile(
    request: Request, shared: Shared, parts: Parts, part: PageRange, xprof: WantedXprof
) -> Response:
    """The profile of a link, without what only people with access may do."""
    if xprof is not None:
        view = _profile(shared, parts, None)
        if view.state == "ready":
            return xprof_page(request, parts, shared.reader, view, xprof)
    is_out = request.query_params.get("infeed") == "out"
    view = replace(_profile(shared, parts, part), is_without_infeed=is_out)
    return parts.templates.page("profile.html", view, request, frame=view.frame)


@router.api_route(f"{LINK_FOLDER}{{token}}/advice-card", methods=["GET", "HEAD"])
def shared_advice_card(request: Request, shared: Shared, parts: Parts, part: PageRange) -> Response:
    """The card of advice by the peaks that the page was given."""
    return parts.templates.page("advice_card.html", _profile(shared, parts, part), request)


def _profile(shared: SharedProfile, parts: ServerParts, part: Part | None) -> ProfileView:
    view = shared_view(shared.reader, shared.id, shared.path)
    if part is None or view.state != "ready":
        return view
    return in_range(view, part, written_results(parts, shared.reader, shared.id, part))
