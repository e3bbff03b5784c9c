"""The HTTP API, version 1: a stored profile with other number formats."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool

from roofline.library.comparing import formats_over
from roofline.web.api.comparing import sides_of
from roofline.web.api.responses import NOT_READY
from roofline.web.parts import Reader

_LONGEST = 300

router = APIRouter(prefix="/api/v1", tags=["estimates"])

_Text = Annotated[str, Query(max_length=_LONGEST)]
_Format = Annotated[str | None, Query(max_length=20, description="An element type: int4:g128.")]


@router.get("/profiles/{profile_id}/whatif", responses=NOT_READY)
async def whatif(
    request: Request,
    profile_id: str,
    reader: Reader,
    storage: _Format = None,
    compute: _Format = None,
    tensors: Literal["auto", "weights", "all"] = "auto",
    category: _Text = "",
    op: _Text = "",
) -> dict[str, Any]:
    """The profile with other number formats: stored ones change bytes, computed ones the roof."""
    formats = {
        "storage": storage,
        "tensors": tensors,
        "compute": compute,
        "category": category,
        "op": op,
    }
    stored = (await sides_of(reader, (profile_id,), ())).a[0]
    return await run_in_threadpool(formats_over, stored, formats)
