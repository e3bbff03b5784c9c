"""The device list over HTTP: built once, and again when this machine is measured."""

import gzip
import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache

from fastapi import APIRouter, Request, Response

from roofline.devices.listing import device_list
from roofline.devices.table import query_of, records_of
from roofline.devices.this_machine import read_machine, written_at_ns
from roofline.web.http.encodings import accepts_gzip, matches

router = APIRouter(prefix="/api/v1", tags=["devices"])


@dataclass(frozen=True, slots=True, kw_only=True)
class _DeviceList:
    plain: bytes
    packed: bytes
    etag: str


@router.get("/devices")
def devices(request: Request) -> Response:
    """Parts with their published peaks, each with its source, per profiler device.

    With `columns`, the table of `/devices` in their place: values per chip, unknown ones null.
    """
    if "columns" in request.query_params:
        query = query_of(request.query_params, request.query_params.getlist("columns"))
        return Response(json.dumps(records_of(query)), media_type="application/json")
    listed = _device_list(written_at_ns())
    packed = accepts_gzip(request)
    headers = {
        "etag": f'"{listed.etag}{"-gz" if packed else ""}"',
        "vary": "accept-encoding",
        "cache-control": "no-cache",
    }
    if matches(request, headers["etag"]):
        return Response(status_code=304, headers=headers)
    if packed:
        headers["content-encoding"] = "gzip"
    content = listed.packed if packed else listed.plain
    return Response(content, headers=headers, media_type="application/json")


@lru_cache(maxsize=1)
def _device_list(_written_at_ns: int) -> _DeviceList:
    """The answer for this machine's measurements of that time."""
    listing = device_list(read_machine())
    plain = json.dumps(listing, ensure_ascii=False, separators=(",", ":")).encode()
    return _DeviceList(
        plain=plain,
        packed=gzip.compress(plain, 9, mtime=0),
        etag=hashlib.sha256(plain).hexdigest()[:32],
    )
