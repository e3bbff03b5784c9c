"""The device list over HTTP: built once, and again when this machine is measured.

And machines that were measured with `roofline calibrate`, as people sent them. A measurement never
changes and is chosen by its own id, so that another one changes the peaks of no profile.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import date
from functools import lru_cache
from typing import Annotated, Any, Literal

import orjson
from fastapi import APIRouter, Body, Request, Response
from starlette.concurrency import run_in_threadpool

from roofline.devices.listing import device_list
from roofline.devices.measured import (
    measured_devices,
    measured_documents,
    measured_id,
    part_of_entry,
    read_machine,
    written_at_ns,
)
from roofline.devices.table import query_of, records_of
from roofline.errors import BadEditError, NotAllowedError, ProfileNotFoundError
from roofline.model.device import LEAST_PEAK, MOST_PEAK
from roofline.model.units import GIGA
from roofline.storage.machines import SentMachine
from roofline.storage.records import timestamp
from roofline.web.api.audit import log_action
from roofline.web.api.responses import Responses
from roofline.web.http.access import shown_owner
from roofline.web.http.encodings import sent_json
from roofline.web.http.guard import actor_of, peer_of_request
from roofline.web.offline.views import ErrorBody
from roofline.web.parts import Parts, ServerParts

NO_MACHINE: Responses = {404: {"model": ErrorBody, "description": "There is no such measurement."}}
_ID_LENGTH = 16
_Host = Annotated[str, Body(min_length=1, max_length=253)]
_Word = Annotated[str, Body(min_length=1, max_length=100)]
_Words = Annotated[str, Body(max_length=300)]
_Rate = Annotated[float, Body(ge=LEAST_PEAK, lt=MOST_PEAK * GIGA)]
_Count = Annotated[int, Body(ge=0, lt=2**53)]

router = APIRouter(prefix="/api/v1", tags=["devices"])


@router.get("/devices")
async def devices(request: Request, parts: Parts) -> Response:
    """Parts with their peaks, each with its source, per profiler device: this machine and others
    that were measured, then the catalogue.

    With `columns`, the table of `/devices` in their place: values per chip, unknown ones null.
    """
    return await listed_devices(request, await run_in_threadpool(documents_of, parts))


def documents_of(parts: ServerParts) -> tuple[tuple[str, str], ...]:
    """What was measured, by the ids of the devices: sent to this server, or of its own machine."""
    sent = ((one.device, one.document) for one in parts.instance.store.machines.list())
    return (*sent, *measured_documents())


async def listed_devices(request: Request, measured: Iterable[tuple[str, str]]) -> Response:
    """The same, with what was `measured`."""
    if "columns" in request.query_params:
        query = query_of(request.query_params, request.query_params.getlist("columns"))
        records = await run_in_threadpool(records_of, query)
        return Response(json.dumps(records), media_type="application/json")
    made = await run_in_threadpool(_device_list, written_at_ns(), tuple(measured))
    return await sent_json(request, made)


@lru_cache(maxsize=1)
def _device_list(_written_at_ns: int, documents: tuple[tuple[str, str], ...]) -> bytes:
    """The answer for this machine's measurements of that time, and for others."""
    measured = [one.part for one in measured_devices(documents)]
    listing = device_list(read_machine(), measured)
    return json.dumps(listing, ensure_ascii=False, separators=(",", ":")).encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredValueBody:
    """A rate in FLOP/s or B/s: at once (`burst`), and while the work goes on (`sustained`).

    `spread` is that of the timings (0 to 1), `how` what was run, `disturbed` why it is not used.
    """

    burst: _Rate
    sustained: _Rate | None = None
    spread: Annotated[float, Body(ge=0, le=100)]
    how: _Words
    disturbed: _Words = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMachineBody:
    """What `roofline calibrate --export` writes: one device of one machine."""

    schema: Literal["roofline.machine/1"]
    host: _Host
    device: _Word
    kind: Literal["cpu"] | None = None
    vendor: Annotated[str, Body(max_length=100)] = ""
    count: _Count
    memory_bytes: _Count
    library: _Word
    measured_on: date
    values: Annotated[dict[_Word, MeasuredValueBody], Body(min_length=1, max_length=40)]


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineBody:
    """A measurement that was sent. `device` is as profiles take it: `?device=measured:…`."""

    id: str
    device: str
    sent_by: str
    sent_at: str
    measured: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineList:
    """All measurements of this server, the newest first."""

    machines: tuple[MachineBody, ...]


@router.get("/machines")
def list_machines(parts: Parts) -> MachineList:
    """Machines that were measured, with their peaks. Everybody here sees all of them."""
    return MachineList(machines=tuple(map(_body, parts.instance.store.machines.list())))


@router.post("/machines", status_code=201)
def add_machine(request: Request, new: NewMachineBody, parts: Parts) -> MachineBody:
    """Keep a measurement beside those that are there; none is replaced.

    It changes no profile by itself: people choose it.
    """
    actor = actor_of(request)
    parts.upload_rate.check(actor.owner or peer_of_request(request).address)
    document = orjson.dumps({**asdict(new), "sent_by": shown_owner(actor.owner)})
    key = hashlib.sha256(actor.owner.encode() + b"\0" + document).hexdigest()[:_ID_LENGTH]
    device = f"{measured_id(new.host, new.device)}-{key}"
    try:
        part_of_entry(orjson.loads(document), device)
    except (ValueError, KeyError) as error:
        raise BadEditError(
            f"This is not a measurement of a device that is known here: {error}.",
            remedy="Send what `roofline calibrate` measured.",
        ) from error
    machine = SentMachine(
        id=key,
        device=device,
        owner=actor.owner,
        created_at=timestamp(),
        document=document.decode(),
    )
    parts.instance.store.machines.add(machine)
    log_action(request, "add machine", key, details=device)
    return _body(machine)


@router.get("/machines/{machine_id}", responses=NO_MACHINE)
def read_measurement(machine_id: str, parts: Parts) -> dict[str, Any]:
    """The measurement alone, as `roofline calibrate --import` takes it."""
    return dict(_found(machine_id, parts).entry)


@router.delete("/machines/{machine_id}", status_code=204, responses=NO_MACHINE)
def remove_machine(request: Request, machine_id: str, parts: Parts) -> None:
    """Remove a measurement; for the person who sent it, and administrators."""
    found = _found(machine_id, parts)
    if not actor_of(request).may_change(found.owner):
        raise NotAllowedError(
            "Only the person who sent this measurement, or an administrator, can remove it.",
            remedy="Ask one of them.",
        )
    parts.instance.store.machines.remove(machine_id)
    log_action(request, "remove machine", machine_id, details=found.device)


def _found(machine_id: str, parts: ServerParts) -> SentMachine:
    found = parts.instance.store.machines.get(machine_id)
    if found is None:
        raise ProfileNotFoundError(
            "There is no such measurement.", remedy="The page /devices lists them."
        )
    return found


def _body(machine: SentMachine) -> MachineBody:
    return MachineBody(
        id=machine.id,
        device=machine.device,
        sent_by=shown_owner(machine.owner),
        sent_at=machine.created_at,
        measured=dict(machine.entry),
    )
