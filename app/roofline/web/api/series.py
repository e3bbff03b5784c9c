"""The HTTP API, version 1: runs of one title or tag over time, and the gate's word on each."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query
from starlette.concurrency import run_in_threadpool

from roofline.compare.series_records import (
    Checked,
    RunNumbers,
    Standing,
    TimeChange,
    check_series,
)
from roofline.errors import ProfileNotFoundError, RooflineError
from roofline.library.advising import runs_of_series
from roofline.library.comparing import (
    Sides,
    StoredRun,
    budget_of_server,
    changes_of,
    numbers_of,
    report_of_pair,
    standing_of_pair,
    unit_of,
    words_of_change,
    words_of_report,
)
from roofline.library.reader import ProfileLists, ProfileReader
from roofline.model.plain_data import alike
from roofline.storage.records import Manifest
from roofline.storage.results import COMPARED
from roofline.web.api.responses import NOT_THERE
from roofline.web.parts import Lists, Parts, Reader, ServerParts

if TYPE_CHECKING:
    from roofline.compare.gate.budget import Budget

MOST_RUNS = 60

By = Annotated[
    Literal["title", "tag"], Query(description="Whether `name` is a title or a tag of the runs.")
]
Name = Annotated[str, Query(min_length=1, max_length=200)]
Id = Annotated[str, Query(min_length=1, max_length=64, description="The id of a run.")]

router = APIRouter(prefix="/api/v1", tags=["compare"])


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesRun:
    """One run: its time, what would do, its share of the roof, and its standing at the gate.

    `time_us`, `floor_us`, `roof_ratio` and `known_ratio` are those of its subject. `roof_us` is the
    time of all known work at the peaks: the same in each capture of one program.

    `gate` is base, passed, better, broken, accepted (until the day `accepted_until`), inconclusive
    or untested, by the rules of this server, against the run `base_id`: the newest one before that
    passed. `rules` are those that are broken or accepted. `done` says of findings that were done
    before it what was promised and measured, and of its own what waits for the next capture.
    """

    id: str
    url: str
    title: str
    created_at: str
    device: str
    time_us: float
    floor_us: float | None
    roof_us: float | None
    roof_ratio: float | None
    known_ratio: float | None
    gate: str
    base_id: str | None
    rules: tuple[str, ...]
    accepted_until: str
    done: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesChange:
    """A lasting change of time, that of the runs together: it began with the run `id`.

    `start`, `first` and `end` are places among the runs: those from `start` on took `before_us`,
    those from `first` to before `end` take `after_us` (medians). `words` say it, with the modules
    that changed most between the runs `before_ids` and `after_ids`.
    """

    id: str
    start: int
    first: int
    end: int
    before_us: float
    after_us: float
    before_ids: tuple[str, ...]
    after_ids: tuple[str, ...]
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """The newest runs in the order of time, all in one `unit`; `unread` ones have no numbers yet.

    `total` counts all runs of the title or tag. `changes` are lasting changes of time.
    """

    name: str
    by: str
    unit: str
    runs: tuple[SeriesRun, ...]
    changes: tuple[SeriesChange, ...]
    total: int
    unread: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesCheck:
    """The gate's verdict on one run of a series: every rule, and in words the parts that grew."""

    id: str
    base_id: str | None
    gate: str
    accepted_until: str
    rules: Sequence[Mapping[str, Any]]
    lines: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """A run whose numbers were read: its row, its stored document, and its numbers by unit."""

    manifest: Manifest
    etag: str
    units: Mapping[str, RunNumbers]


@dataclass(frozen=True, slots=True)
class RunsSeen:
    """The runs that one viewer sees, and what this server keeps of them."""

    parts: ServerParts
    lists: ProfileLists
    reader: ProfileReader


async def _seen(parts: Parts, lists: Lists, reader: Reader) -> RunsSeen:
    return RunsSeen(parts, lists, reader)


Seen = Annotated[RunsSeen, Depends(_seen)]


@router.get("/series")
async def series(seen: Seen, name: Name, by: By = "title") -> Series:
    """Step time, roof time, share of the roofs and gate over the newest runs of a title or tag."""
    return await run_in_threadpool(series_of, seen, name, by)


@router.get("/series/check", responses=NOT_THERE)
async def series_check(seen: Seen, name: Name, run: Id, by: By = "title") -> SeriesCheck:
    """The gate's rules for one run of a series, against the newest run before it that passed."""
    return await run_in_threadpool(_check_of, seen, name, by, run)


def series_of(seen: RunsSeen, name: str, by: str) -> Series:
    """The series; reads each run's numbers once."""
    found, read, unread = _read_runs(seen, name, by)
    unit = unit_of([one.units for one in read])
    checked = _Gate(seen, read, unit).checked()
    return Series(
        name=name,
        by=by,
        unit=unit,
        runs=tuple(_run(seen, read, k, unit, one) for k, one in enumerate(checked)),
        changes=tuple(_changes(seen, read, unit)),
        total=found,
        unread=unread,
    )


def _changes(seen: RunsSeen, read: Sequence[_Read], unit: str) -> Iterator[SeriesChange]:
    for one in changes_of([each.units[unit] for each in read]):
        before, after = ([read[at] for at in side] for side in one.sides)
        yield alike(
            SeriesChange,
            one,
            id=read[one.first].manifest.id,
            before_ids=tuple(each.manifest.id for each in before),
            after_ids=tuple(each.manifest.id for each in after),
            words=_words_of(seen, one, (before, after), unit, len(read)),
        )


def _words_of(
    seen: RunsSeen,
    one: TimeChange,
    sides: tuple[Sequence[_Read], Sequence[_Read]],
    unit: str,
    runs: int,
) -> str:
    """The words of a change; "" where a run beside it was deleted, or computed again, just now."""
    etags = [each.etag for side in sides for each in side]
    key = hashlib.sha256("\0".join((*etags, unit, repr(one), str(runs))).encode()).hexdigest()
    kept = seen.parts.change_words.get(key)
    if kept is not None:
        return kept
    try:
        a, b = (tuple(_stored(seen, each) for each in side) for side in sides)
    except RooflineError:
        return ""
    return seen.parts.change_words.put(key, words_of_change(one, Sides(a=a, b=b), unit, runs))


def _stored(seen: RunsSeen, one: _Read) -> StoredRun:
    packed = seen.reader.packed(one.manifest.id, COMPARED)[1]
    return StoredRun(title=one.manifest.title, etag=one.etag, packed=packed)


def _check_of(seen: RunsSeen, name: str, by: str, run_id: str) -> SeriesCheck:
    _, read, _ = _read_runs(seen, name, by)
    unit = unit_of([one.units for one in read])
    gate = _Gate(seen, read, unit)
    at = next((k for k, one in enumerate(read) if one.manifest.id == run_id), None)
    if at is None:
        raise ProfileNotFoundError(
            "This run is not in the series.", remedy="Check its id, and the title or tag."
        )
    one = gate.checked()[at]
    words = {"rules": [], "lines": []} if one.base is None else gate.words(one.base, at)
    return SeriesCheck(
        id=run_id,
        base_id=None if one.base is None else read[one.base].manifest.id,
        gate=one.standing.state,
        accepted_until=one.standing.until,
        rules=words["rules"],
        lines=words["lines"],
    )


class _Gate:
    """The rules of this server, applied to the runs of a series."""

    def __init__(self, seen: RunsSeen, read: Sequence[_Read], unit: str) -> None:
        self._seen, self._read, self._unit = seen, read, unit
        self._budget: Budget = budget_of_server(seen.parts.settings.budget_file)

    def checked(self) -> list[Checked]:
        """Each run against the newest one before it that passed."""
        return check_series(len(self._read), self._standing)

    def words(self, base: int, run: int) -> dict[str, Any]:
        """The whole report on one run."""
        packed = self._packed(base), self._packed(run)
        return words_of_report(report_of_pair(*packed, self._budget, self._unit, self._day(run)))

    def _standing(self, base: int, run: int) -> Standing:
        told = (self._read[base].etag, self._read[run].etag, self._unit, str(self._day(run)))
        key = hashlib.sha256("\0".join((*told, repr(self._budget))).encode()).hexdigest()
        kept = self._seen.parts.standings.get(key)
        if kept is not None:
            return kept
        try:
            packed = self._packed(base), self._packed(run)
        except RooflineError:  # deleted, or computed again, a moment ago
            return Standing(state="untested")
        found = standing_of_pair(*packed, self._budget, self._unit, self._day(run))
        return self._seen.parts.standings.put(key, found)

    def _packed(self, run: int) -> bytes:
        return self._seen.reader.packed(self._read[run].manifest.id, COMPARED)[1]

    def _day(self, run: int) -> date:
        return datetime.fromisoformat(self._read[run].manifest.created_at).date()


def _read_runs(seen: RunsSeen, name: str, by: str) -> tuple[int, list[_Read], int]:
    """How many runs there are, those of the newest that were read, and how many were not."""
    found = runs_of_series(seen.lists, name, by)
    newest = found[-MOST_RUNS:]
    read = [one for one in (_numbers(seen, each) for each in newest) if one is not None]
    return len(found), read, len(newest) - len(read)


def _numbers(seen: RunsSeen, one: Manifest) -> _Read | None:
    """The numbers of a run; `None` while its results are computed again, or cannot be read."""
    try:
        file, packed = seen.reader.packed(one.id, COMPARED)
        kept = seen.parts.run_numbers.get(file.etag)
        units = (
            kept if kept is not None else seen.parts.run_numbers.put(file.etag, numbers_of(packed))
        )
    except RooflineError:
        return None
    return _Read(manifest=one, etag=file.etag, units=units)


def _run(seen: RunsSeen, read: Sequence[_Read], at: int, unit: str, checked: Checked) -> SeriesRun:
    one, numbers = read[at].manifest, read[at].units[unit]
    return alike(
        SeriesRun,
        numbers,
        id=one.id,
        url=f"/p/{one.id}",
        title=one.title,
        created_at=one.created_at,
        device=one.summary.device,
        gate=checked.standing.state,
        base_id=None if checked.base is None else read[checked.base].manifest.id,
        rules=checked.standing.rules,
        accepted_until=checked.standing.until,
        done=seen.parts.advice.done_lines(seen.reader, seen.lists, one, numbers.time_us),
    )
