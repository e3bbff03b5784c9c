"""The home page's preview of a run beside its row: its first sentence and a map of its hosts."""

import orjson
from fastapi import APIRouter, Response
from starlette.concurrency import run_in_threadpool

from roofline.exports.run_page import Arriving
from roofline.exports.run_preview import run_preview
from roofline.presentation.first_view.thumbnail import Preview
from roofline.storage.run_records import READING, Run
from roofline.web.api.runs import Seen
from roofline.web.parts import Parts, ServerParts

_FRESH_S = 300  # its address changes with each document

router = APIRouter(include_in_schema=False)


@router.api_route("/r/{run_id}/preview", methods=["GET", "HEAD"])
async def preview_of_run(run: Seen, parts: Parts) -> Response:
    """`headline` and `svg` of one run; 204 before hosts were read."""
    found = await run_in_threadpool(_preview, run, parts)
    if found is None:
        return Response(status_code=204)
    headers = {"cache-control": f"private, max-age={_FRESH_S}"}
    return Response(orjson.dumps(found), media_type="application/json", headers=headers)


def _preview(run: Run, parts: ServerParts) -> Preview | None:
    arriving = Arriving(read=run.read, total=run.wanted) if run.state == READING else None
    key = f"{run.document} {arriving}"
    if (kept := parts.run_previews.get(key)) is not None:
        return kept
    document = parts.runs.document(run)
    if document is None:
        return None
    return parts.run_previews.put(key, run_preview(orjson.loads(document), arriving))
