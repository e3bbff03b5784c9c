"""The page that a share link opens."""

from fastapi import APIRouter, Request, Response

from roofline.web.api.ranges import Range, results_for
from roofline.web.api.shared import Shared
from roofline.web.http.share_tokens import LINK_FOLDER
from roofline.web.pages.profile_view import in_range, shared_view
from roofline.web.parts import Parts

router = APIRouter(include_in_schema=False)


@router.api_route(f"{LINK_FOLDER}{{token}}", methods=["GET", "HEAD"])
def shared_profile(request: Request, shared: Shared, parts: Parts, part: Range) -> Response:
    """The profile of a link, without what only people with access may do."""
    view = shared_view(shared.reader, shared.id, shared.path)
    if part is not None and view.state == "ready":
        view = in_range(view, part, results_for(parts, shared.reader, shared.id, part))
    return parts.templates.page("profile.html", view, request)
