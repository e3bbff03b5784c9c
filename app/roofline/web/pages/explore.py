"""The page `/explore`: a stored profile with other number formats, and on other parts.

Its address holds every input. Without scripts it has words and tables in place of charts.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from roofline.errors import ProfileNotFoundError
from roofline.library.comparing import StoredRun
from roofline.library.ranges import Part
from roofline.web.api.advice import stored_record
from roofline.web.api.comparing import note_compared, sides_of
from roofline.web.api.ranges import results_for
from roofline.web.pages.explore_views import ExploreView
from roofline.web.parts import Parts, Reader

if TYPE_CHECKING:
    from roofline.web.pages.explore_cards import OnParts

_READ = ["GET", "HEAD"]
_MOST_TEXT = 300

router = APIRouter(include_in_schema=False)


@router.api_route("/explore", methods=_READ)
async def explore(request: Request, parts: Parts, reader: Reader) -> Response:
    """The form as the address fills it in, and the answer for the profile `of`."""
    given = {key: value[:_MOST_TEXT] for key, value in request.query_params.items()}
    profile_id = given.get("of", "")
    if not profile_id:
        raise ProfileNotFoundError("No profile is named.", remedy="Open this page from a profile.")
    stored = (await sides_of(reader, (profile_id,), ())).a[0]
    note_compared(request, (profile_id,))
    beside = request.query_params.getlist("vs") if "storage" in given else None
    advice = await stored_record(reader, profile_id)

    def on_parts(names: Sequence[str]) -> Mapping[str, Any]:
        return results_for(parts, reader, profile_id, Part()).on_parts(names, usual=True)

    view = await run_in_threadpool(_view, stored, advice, given, beside, on_parts)
    return parts.templates.page("explore.html", view, request, status=400 if view.error else 200)


def _view(
    stored: StoredRun,
    advice: bytes,
    given: Mapping[str, str],
    beside: Sequence[str] | None,
    on_parts: "OnParts",
) -> ExploreView:
    # Loaded when somebody asks: most servers answer other requests first.
    from roofline.web.pages.explore_cards import explore_view

    return explore_view(stored, advice, given, beside, on_parts)
