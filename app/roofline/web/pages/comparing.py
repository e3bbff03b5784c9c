"""The page of a comparison: two profiles, or several captures of each, against each other."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Query, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse

from roofline.errors import NotReadyError, ProfileNotFoundError
from roofline.library.comparing import ComparedPage, Partner, partners
from roofline.library.reader import Failed, Importing, ProfileLists, ProfileReader, Ready
from roofline.presentation.titles import series_name
from roofline.storage.records import Manifest
from roofline.web.api.comparing import (
    MOST_CAPTURES,
    Of,
    UnitName,
    compared_page,
    note_compared,
    sides_of,
    sides_of_subject,
)
from roofline.web.http.guard import actor_of
from roofline.web.offline.views import CompareView, RunView, SideView, with_frame
from roofline.web.pages import views
from roofline.web.parts import Lists, Parts, Reader, ServerParts

_READ = ["GET", "HEAD"]
_UNITS = {"step": "Step", "execution": "Execution", "capture": "Capture"}

More = Annotated[
    list[str] | None, Query(max_length=MOST_CAPTURES - 1, description="More captures of a side.")
]

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The comparison that an address asks for: ids of the captures of both sides, unit, subject."""

    a: tuple[str, ...]
    b: tuple[str, ...]
    unit: str | None
    of: str = ""

    @property
    def query(self) -> str:
        """As the API takes it."""
        pairs = [("a", one) for one in self.a] + [("b", one) for one in self.b]
        return urlencode(pairs + self._how)

    @property
    def _how(self) -> list[tuple[str, str]]:
        """The unit and the subject, where they are given."""
        return [(name, one) for name, one in (("unit", self.unit), ("of", self.of)) if one]

    def in_unit(self, unit: str) -> str:
        """The address of the same comparison in another unit."""
        address = f"/c/{quote(self.a[0])}..{quote(self.b[0])}"
        more = [("a", one) for one in self.a[1:]] + [("b", one) for one in self.b[1:]]
        of = [("of", self.of)] if self.of else []
        return f"{address}?{urlencode([*more, ('unit', unit), *of])}"

    @property
    def swapped(self) -> str:
        """The address of the comparison from B to A."""
        more = [("a", one) for one in self.b[1:]] + [("b", one) for one in self.a[1:]]
        query = urlencode(more + self._how)
        return f"/c/{quote(self.b[0])}..{quote(self.a[0])}" + (f"?{query}" if query else "")


@router.api_route("/c/{pair}", methods=_READ)
async def compare(
    request: Request,
    pair: str,
    parts: Parts,
    reader: Reader,
    lists: Lists,
    a: More = None,
    b: More = None,
    unit: UnitName | None = None,
    of: Of = "",
) -> Response:
    """The changes from the runs of A to those of B, or how far their imports are.

    With one id alone: those to its likeliest partner, or the list of partners.
    """
    first, dots, second = pair.partition("..")
    if not dots:
        return await run_in_threadpool(choose, request, pair, parts, reader, lists)
    if not (first and second):
        raise HTTPException(404)
    wanted = Wanted(a=(first, *(a or ())), b=(second, *(b or ())), unit=unit, of=of)
    view = await run_in_threadpool(_standing, reader, wanted)
    rest = urlencode([("to", pair), *request.query_params.multi_items()])
    view = replace(view, add_url=f"/c/{quote(first)}?{rest}")
    note_compared(request, (*wanted.a, *wanted.b))
    if view.state == "ready":
        view = await _compared(parts, reader, wanted, view)
        folds = request.query_params.get("open", "").split(",")
        view = replace(view, folds=frozenset(folds))
        view = await _with_measured(request, parts, reader, wanted, view)
    return parts.templates.page("compare.html", view, request)


def _standing(reader: ProfileReader, wanted: Wanted) -> CompareView:
    """The captures of both sides, and whether they can be compared now."""
    sides = _side(reader, "A", wanted.a), _side(reader, "B", wanted.b)
    states = {run.state for side in sides for run in side.runs}
    state = next((one for one in ("failed", "importing") if one in states), "ready")
    return CompareView(state=state, sides=sides, swap_url=wanted.swapped, add_url="")


def _side(reader: ProfileReader, letter: str, ids: Sequence[str]) -> SideView:
    return SideView(letter=letter, runs=tuple(_run(reader, letter, one) for one in ids))


def _run(reader: ProfileReader, letter: str, profile_id: str) -> RunView:
    try:
        state = reader.state(profile_id)
    except ProfileNotFoundError as missing:
        raise ProfileNotFoundError(
            f"Run {letter} of this comparison does not exist.",
            remedy="Check the link; the profile may have been deleted, or have expired.",
        ) from missing
    address = quote(profile_id)
    urls = {"url": f"/p/{address}", "status_url": f"/api/v1/profiles/{address}"}
    match state:
        case Ready(manifest=manifest):
            return RunView(id=profile_id, title=manifest.title, state="ready", **urls)
        case Importing():
            return RunView(id=profile_id, title=state.title, state="importing", **urls)
        case Failed(error=reason):
            said = f"{reason.message} {reason.remedy}"
            return RunView(id=profile_id, title=state.title, state="failed", message=said, **urls)


async def _compared(
    parts: ServerParts, reader: ProfileReader, wanted: Wanted, view: CompareView
) -> CompareView:
    try:
        sides = await sides_of_subject(parts, reader, wanted.a, wanted.b, wanted.of)
    except NotReadyError:  # results that were there a moment ago are computed again
        return replace(view, state="importing")
    found = await compared_page(parts, sides, wanted.unit)
    return _ready(wanted, view, found, f"/api/v1/compare/page?{wanted.query}")


async def _with_measured(
    request: Request,
    parts: ServerParts,
    reader: ProfileReader,
    wanted: Wanted,
    view: CompareView,
) -> CompareView:
    """The predictions of accepted findings of A, against the times of B."""
    before, after = wanted.a[0], wanted.b[0]
    if view.state != "ready" or not await run_in_threadpool(parts.advice.has_accepted, before):
        return view
    sides = await sides_of(reader, wanted.a, wanted.b)
    lines = await run_in_threadpool(parts.advice.measured_lines, before, after, sides)
    ownership = await run_in_threadpool(parts.library.ownership, before)
    may_keep = actor_of(request).may_change(ownership.uploader or "") and len(wanted.b) == 1
    keep_url = f"/api/v1/profiles/{quote(before)}/measured" if may_keep else ""
    return replace(view, measured=lines, keep_url=keep_url)


def _ready(wanted: Wanted, view: CompareView, found: ComparedPage, data_url: str) -> CompareView:
    units = found.frame["units"]
    view = replace(
        view,
        units=tuple(
            (_UNITS[one], wanted.in_unit(one), one == found.frame["unit"]) for one in units
        ),
    )
    return with_frame(view, found.frame, data_url)


_MOST_TEXT = 200
_OWN_KEYS = {"choose", "q", "to"}


def choose(
    request: Request,
    profile_id: str,
    parts: ServerParts,
    reader: ProfileReader,
    lists: ProfileLists,
) -> Response:
    """The comparison with the likeliest partner; where none is likely, or with `choose`, the list.

    With `to=A..B` a chosen run joins that comparison.
    """
    own, given = reader.manifest(profile_id), request.query_params
    query, to = given.get("q", "")[:_MOST_TEXT], given.get("to", "")[:_MOST_TEXT]
    found = partners(reader, lists, profile_id, query)
    rest = [(key, value) for key, value in given.multi_items() if key not in _OWN_KEYS]
    if found and found[0].reason and not _OWN_KEYS & set(given):
        return RedirectResponse(_address(own, found[0].manifest, to, rest), status_code=303)
    view = views.ChooseView(
        profile_id=profile_id,
        title=own.title,
        query=query,
        to=to,
        rest=tuple(rest),
        series_url=f"/s/{quote(series_name(own.title), safe='')}",
        partners=tuple(_row(own, one, to, rest) for one in found),
    )
    return parts.templates.page("choose.html", view, request)


def _row(
    own: Manifest, one: Partner, to: str, rest: Sequence[tuple[str, str]]
) -> views.PartnerView:
    return views.PartnerView(
        title=one.manifest.title,
        device=one.manifest.summary.device,
        created_at=one.manifest.created_at,
        reason=one.reason,
        url=_address(own, one.manifest, to, rest),
    )


def _address(own: Manifest, other: Manifest, to: str, rest: Sequence[tuple[str, str]]) -> str:
    """Of the comparison of both, the older one as A; or of that at `to`, with `other` as well."""
    if to:
        return f"/c/{quote(to)}?{urlencode([*rest, ('vs', other.id)])}"
    a, b = sorted((own, other), key=lambda one: (one.created_at, one.id))
    return f"/c/{quote(a.id)}..{quote(b.id)}" + (f"?{urlencode(rest)}" if rest else "")
