"""The page that a share link opens."""

from fastapi import APIRouter, Request, Response

from roofline.library.ranges import Part
from roofline.web.api.ranges import PageRange, results_for
from roofline.web.api.shared import Shared
from roofline.web.http.api_tokens import LINK_FOLDER
from roofline.web.pages.profile_view import card_of, in_range, shared_view
from roofline.web.parts import Parts

router = APIRouter(include_in_schema=False)


@router.api_route(f"{LINK_FOLDER}{{token}}", methods=["GET", "HEAD"])
def shared_profile(request: Request, shared: Shared, parts: Parts, part: PageRange) -> Response:
    """The profile of a link, without what only people with access may do."""
    view = shared_view(shared.reader, shared.id, shared.path)
    if part is not None and view.state == "ready":
        view = in_range(view, part, results_for(parts, shared.reader, shared.id, part))
    return parts.templates.page("profile.html", view, request)


@router.api_route(f"{LINK_FOLDER}{{token}}/advice-card", methods=["GET", "HEAD"])
def shared_advice_card(request: Request, shared: Shared, parts: Parts, part: PageRange) -> Response:
    """The card "What would help" by the peaks that the page was given."""
    found = results_for(parts, shared.reader, shared.id, part or Part())
    return parts.templates.page("advice_card.html", card_of(shared.id, found.advice()), request)
