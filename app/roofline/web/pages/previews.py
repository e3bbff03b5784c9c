"""Previews of a profile beside its row in lists: its verdict and a small drawing."""

from functools import lru_cache

import orjson
from fastapi import APIRouter, Response
from starlette.concurrency import run_in_threadpool

from roofline.library.reader import ProfileReader, Ready
from roofline.presentation.first_view.thumbnail import Preview, preview
from roofline.storage.results import DamagedResultError, ResultFile
from roofline.web.parts import Reader

PREVIEWS = 1024  # kept: one takes about 4 kB
_FRESH_S = 300  # a result changes when peaks of this machine are measured anew, which is rare

router = APIRouter(include_in_schema=False)


@router.api_route("/p/{profile_id}/preview", methods=["GET", "HEAD"])
async def profile_preview(profile_id: str, reader: Reader) -> Response:
    """`headline` and `svg` of one profile; 204 while there are no results to draw."""
    found = await run_in_threadpool(_preview, reader, profile_id)
    headers = {"cache-control": f"private, max-age={_FRESH_S}"}
    if found is None:
        return Response(status_code=204)
    return Response(orjson.dumps(found), media_type="application/json", headers=headers)


def _preview(reader: ProfileReader, profile_id: str) -> Preview | None:
    state = reader.state(profile_id)
    try:
        return _drawn(state.page) if isinstance(state, Ready) else None
    except DamagedResultError:  # opening the profile finds that out, too, and has it computed again
        return None


@lru_cache(maxsize=PREVIEWS)
def _drawn(page: ResultFile) -> Preview:
    return preview(orjson.loads(page.plain()))
