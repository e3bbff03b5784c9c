"""Runs of many hosts on the home page: a short list above profiles, which search narrows, too.

Beside the profiles are runs that the watch found and that were not imported yet.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

import orjson

from roofline.exports.run_page import Arriving
from roofline.exports.run_preview import Preview, run_preview
from roofline.library.run_places import RunFound
from roofline.library.runs import RunLibrary
from roofline.presentation.quantities import count, size
from roofline.storage.run_records import READING, Run
from roofline.storage.visibility import Viewer
from roofline.web.http.access import shown_owner
from roofline.web.pages.profile_view import list_url
from roofline.web.pages.views import FoundRunsView, FoundRunView, ListedRun, RunListView
from roofline.web.parts import ServerParts

PAGE_SIZE = 5
FOUND_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowed:
    """The filter and the order of the list."""

    query: str
    tag: str
    sort: str

    def url(self, page: int = 1, sort: str | None = None, runs: int = 1) -> str:
        """The path of a page of the list, perhaps in another order."""
        order = self.sort if sort is None else sort
        return list_url(self.query, self.tag, page, order, runs)


def run_list(parts: ServerParts, viewer: Viewer, narrowed: Narrowed, page: int) -> RunListView:
    """A page of the runs that `viewer` sees."""
    offset = (page - 1) * PAGE_SIZE
    found = parts.runs.listed(viewer, text=narrowed.query, offset=offset, limit=PAGE_SIZE)
    has_later = offset + PAGE_SIZE < found.total
    return RunListView(
        runs=tuple(_listed(parts, one) for one in found.runs),
        total=found.total,
        first=offset + 1,
        earlier_url=narrowed.url(runs=page - 1) if page > 1 else None,
        later_url=narrowed.url(runs=page + 1) if has_later else None,
    )


def _listed(parts: ServerParts, run: Run) -> ListedRun:
    return ListedRun(
        run=run,
        url=f"/r/{run.id}",
        preview=_preview(parts, run),
        uploader=shown_owner(run.uploader or ""),
    )


def _preview(parts: ServerParts, run: Run) -> Preview | None:
    arriving = Arriving(read=run.read, total=run.wanted) if run.state == READING else None
    key = f"{run.document} {arriving}"
    if (kept := parts.run_previews.get(key)) is not None:
        return kept
    document = parts.runs.document(run)
    if document is None:
        return None
    return parts.run_previews.put(key, run_preview(orjson.loads(document), arriving))


def found_runs(runs: RunLibrary, viewer: Viewer) -> FoundRunsView:
    """Runs that the watch found, without those that `viewer` sees in the list of runs."""
    found = runs.found(viewer)
    shown = tuple(map(_found, found[:FOUND_SHOWN]))
    return FoundRunsView(shown=shown, more=len(found) - len(shown))


def _found(run: RunFound) -> FoundRunView:
    written = datetime.fromtimestamp(run.newest_at, UTC)
    return FoundRunView(
        address=run.place,
        name=run.name,
        hosts=f"{count(run.hosts)} host{'' if run.hosts == 1 else 's'}",
        size=size(run.size_bytes),
        newest_at=f"{written:%Y-%m-%dT%H:%M:%SZ}",
        is_complete=run.is_complete,
    )
