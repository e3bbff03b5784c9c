"""The page of a stored profile as one file."""

import orjson
from fastapi import APIRouter, Request, Response

from roofline.library.ranges import RangeResults
from roofline.library.reader import ProfileReader
from roofline.storage.results import ADVICE, PAGE
from roofline.web.api.audit import log_action
from roofline.web.api.ranges import Range, check_names, results_for
from roofline.web.api.responses import NO_SUCH_VIEW, sent_as
from roofline.web.api.results import attachment
from roofline.web.http.guard import actor_of
from roofline.web.offline.report import Content, report
from roofline.web.pages.profile_view import in_range, own_view
from roofline.web.parts import Parts, Reader

router = APIRouter(prefix="/api/v1", tags=["profiles"])


@router.get(
    "/profiles/{profile_id}/report.html",
    response_class=Response,
    responses={200: sent_as("text/html"), **NO_SUCH_VIEW},
)
def report_html(
    request: Request, profile_id: str, reader: Reader, parts: Parts, part: Range
) -> Response:
    """The page of the profile as one file, which needs no server: for a mail, or for CI."""
    check_names(request)
    actor, lists = actor_of(request), parts.lists_for(actor_of(request).viewer)
    view = own_view(reader, lists, profile_id, actor, parts.settings, parts.advice)
    content = _stored(reader, profile_id)
    if part is not None:
        found = results_for(parts, reader, profile_id, part)
        view, content = in_range(view, part, found), _computed(found)
    log_action(request, "download", profile_id)
    return Response(
        report(parts.templates, parts.static, view, content),
        media_type="text/html",
        headers={"content-disposition": attachment(f"{view.title}.html")},
    )


def _stored(reader: ProfileReader, profile_id: str) -> Content:
    page, advice = (reader.result(profile_id, name).plain() for name in (PAGE, ADVICE))
    count = len(orjson.loads(page)["ops"]["columns"]["name"])
    ops = [reader.op_details(profile_id, at) for at in range(count)]
    return Content(page=page, advice=advice, ops=ops)


def _computed(found: RangeResults) -> Content:
    from roofline.presentation.op_details import op_details  # loads numpy

    ops = list(op_details(found.analysis))
    return Content(page=found.page(), advice=found.advice(), ops=ops)
