"""The HTTP API, version 1: runs of one title or tag over time."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool

from roofline.errors import RooflineError
from roofline.library.series import RunNumbers, numbers_of, unit_of_all
from roofline.storage.queries import ProfileQueries
from roofline.storage.records import Manifest
from roofline.storage.results import COMPARED
from roofline.web.parts import Parts, ServerParts

MOST_RUNS = 60
_MOST_FOUND = 1000

By = Annotated[
    Literal["title", "tag"], Query(description="Whether `name` is a title or a tag of the runs.")
]
Name = Annotated[str, Query(min_length=1, max_length=200)]

router = APIRouter(prefix="/api/v1", tags=["compare"])


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesRun:
    """One run: step time, time at the roofs, and the share of the step that this is."""

    id: str
    url: str
    title: str
    created_at: str
    device: str
    time_us: float
    roof_us: float | None
    efficiency_ratio: float | None
    known_ratio: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """The newest runs in the order of time, all in one `unit`; `unread` ones have no numbers yet.

    `total` counts all runs of the title or tag.
    """

    name: str
    by: str
    unit: str
    runs: tuple[SeriesRun, ...]
    total: int
    unread: int


@router.get("/series")
async def series(parts: Parts, name: Name, by: By = "title") -> Series:
    """Step time, roof time and share of the roofs over the newest runs of a title or tag."""
    return await run_in_threadpool(series_of, parts, name, by)


def series_of(parts: ServerParts, name: str, by: str) -> Series:
    """The series; reads each run's numbers once."""
    found = _runs(parts.queries, name, by)
    newest = found[-MOST_RUNS:]
    numbers = [(one, _numbers(parts, one)) for one in newest]
    read = [(one, units) for one, units in numbers if units is not None]
    unit = unit_of_all([units for _, units in read])
    return Series(
        name=name,
        by=by,
        unit=unit,
        runs=tuple(_run(one, units[unit]) for one, units in read),
        total=len(found),
        unread=len(newest) - len(read),
    )


def _runs(queries: ProfileQueries, name: str, by: str) -> list[Manifest]:
    """All ready runs of a title or tag, the oldest first."""
    if by == "tag":
        listing = queries.search(tag=name, limit=_MOST_FOUND)
    else:
        listing = queries.search(name, limit=_MOST_FOUND)
    found = [one for one in listing.profiles if by == "tag" or one.title == name]
    return sorted(found, key=lambda one: one.created_at)


def _numbers(parts: ServerParts, one: Manifest) -> Mapping[str, RunNumbers] | None:
    """The numbers of a run; `None` while its results are computed again, or cannot be read."""
    try:
        file, packed = parts.reader.packed(one.id, COMPARED)
        kept = parts.run_numbers.get(file.etag)
        return kept if kept is not None else parts.run_numbers.put(file.etag, numbers_of(packed))
    except RooflineError:
        return None


def _run(one: Manifest, numbers: RunNumbers) -> SeriesRun:
    return SeriesRun(
        id=one.id,
        url=f"/p/{one.id}",
        title=one.title,
        created_at=one.created_at,
        device=one.summary.device,
        time_us=numbers.time_us,
        roof_us=numbers.roof_us,
        efficiency_ratio=numbers.efficiency_ratio,
        known_ratio=numbers.known_ratio,
    )
