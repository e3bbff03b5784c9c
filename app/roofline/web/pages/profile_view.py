"""The view of a profile's page: for people of this server, and for holders of a link."""

from dataclasses import replace
from functools import cache, lru_cache
from urllib.parse import urlencode

import orjson

from roofline.library.advising import AdviceBook
from roofline.library.ranges import Part, RangeResults
from roofline.library.reader import Failed, Importing, ProfileLists, ProfileReader, Ready, State
from roofline.model.plain_data import alike
from roofline.presentation.first_view.summary import pieces
from roofline.presentation.first_view.view import first_view
from roofline.settings import Settings
from roofline.storage.records import Manifest
from roofline.storage.results import DamagedResultError, ResultFile
from roofline.web.api.notes import notes_of
from roofline.web.api.ranges import query_of
from roofline.web.bodies import computed_by, progress_body
from roofline.web.http.access import Actor, shown_owner
from roofline.web.offline.templates import stored_pieces
from roofline.web.offline.views import (
    AboutView,
    ProfileView,
    Shown,
    TagView,
    error_body,
    profile_view,
)


def own_view(
    reader: ProfileReader,
    lists: ProfileLists,
    profile_id: str,
    actor: Actor,
    settings: Settings,
    book: AdviceBook,
) -> ProfileView:
    """The page as `actor` sees it; `ProfileNotFoundError` when there is none."""
    state = reader.state(profile_id)
    uploader = state.manifest.uploader if isinstance(state, Ready) else state.uploader
    may_change = actor.may_change(uploader or "")
    advice = None
    if isinstance(state, Ready):
        advice = book.advice(reader, lists, state.manifest, lambda: _plain(state.advice))
    base = f"/api/v1/profiles/{profile_id}"
    view = _profile(state, base)
    return replace(
        view,
        may_change=may_change,
        is_own=actor.owner != "" and actor.owner == uploader,
        max_upload_bytes=settings.max_upload_bytes,
        max_files=settings.max_files,
        shown=_shown(state, advice, may_change),
        notes=notes_of(reader, profile_id),
        trash_days=settings.trash_days,
    )


def shared_view(reader: ProfileReader, profile_id: str, base: str) -> ProfileView:
    """The page of a share link, all of whose addresses begin with `base`.

    It shows what the profile holds, and not the person who uploaded it.
    """
    state = reader.state(profile_id)
    view = _profile(state, base)
    return replace(
        view,
        status_url=f"{base}/state",
        devices_url=f"{base}/devices",
        report_url="",
        is_shared=True,
        about=None if view.about is None else replace(view.about, uploader=""),
        shown=_shown(state, None, None),
        notes=tuple(replace(one, by="") for one in notes_of(reader, profile_id)),
    )


def in_range(view: ProfileView, part: Part, found: RangeResults) -> ProfileView:
    """The view of a part of the profile: its words and numbers, and addresses."""
    own_peaks = replace(part, device="", peaks=())
    queries = query_of(own_peaks), query_of(part.measured)
    own, measured = (f"?{query}" if query else "" for query in queries)
    return replace(
        view,
        facts_url=f"{view.facts_url}{measured}",
        view_url=f"{view.view_url}{own}",
        parts_url=f"{view.parts_url}{own}",
        cards_url=f"{view.cards_url}{own}",
        roofline_url=f"{view.roofline_url}{own}",
        csv_url=f"{view.csv_url}{own}",
        ops_query=own,
        figures_url=f"{view.figures_url}{own}",
        report_url=view.report_url and f"{view.report_url}{own}",
        part=found.words,
        whole_label=_whole_label(part),
        shown=Shown(
            cache(lambda: first_view(orjson.loads(found.page()))),
            cache(lambda: orjson.loads(found.advice())),
            {},
        ),
        is_by_other_peaks=part != own_peaks,
    )


def _whole_label(part: Part) -> str:
    """What the link to the page of the whole says."""
    if part.has_times:
        return "Show the whole capture"
    if part.host:
        return "Show all hosts"
    return "Use the peaks of the default clock" if part.dvfs else "Show the default subject"


def _shown(state: State, advice: bytes | None, may_change: bool | None) -> Shown | None:
    """The results of a whole profile, with other `advice` than is stored where it is given.

    `may_change` is `None` on the page of a link: addresses in stored advice are of the own page.
    """
    if not isinstance(state, Ready):
        return None
    pieces = stored_pieces(_plain(state.pieces[bool(may_change)]))
    if advice is not None or may_change is None:
        pieces = {key: one for key, one in pieces.items() if not key.startswith("advice")}
    return Shown(
        cache(lambda: first_view(orjson.loads(found)) if (found := _plain(state.page)) else None),
        cache(lambda: orjson.loads(found) if (found := advice or _plain(state.advice)) else None),
        pieces,
    )


def _plain(found: ResultFile | None) -> bytes | None:
    """A result; `None` where it cannot be read: the page's script has it computed again."""
    try:
        return None if found is None else found.plain()
    except DamagedResultError:
        return None


def _profile(state: State, base: str) -> ProfileView:
    match state:
        case Ready(manifest=manifest):
            view = profile_view(manifest.id, manifest.title, manifest.files, "ready", base)
            return replace(view, about=_about(manifest), description=_line(manifest))
        case Importing():
            view = profile_view(state.id, state.title, state.files, "importing", base)
            return replace(view, progress=progress_body(state))
        case Failed(error=error):
            view = profile_view(state.id, state.title, state.files, "failed", base)
            return replace(view, failure=error_body(error), can_retry=state.can_retry)


def _about(manifest: Manifest) -> AboutView:
    return alike(
        AboutView,
        manifest,
        tags=tuple(tag_view(name) for name in manifest.tags),
        uploader=shown_owner(manifest.uploader or ""),
        computed_by=computed_by(manifest),
    )


def _line(manifest: Manifest) -> str:
    """One line for link previews: the first sentence, what to do first, and the device."""
    summary = manifest.summary
    said = [
        "".join(piece.text for piece in pieces(summary.lines[name]))
        for name in ("headline", "do_first")
        if name in summary.lines
    ]
    plural = "" if summary.core_count == 1 else "s"
    device = f"{summary.device}, {summary.core_count} {summary.core_word}{plural}"
    return " · ".join([" ".join(filter(None, said)), device] if any(said) else [device])


# Tags repeat: a list of 50 profiles has a hundred of them.
@lru_cache(maxsize=1024)
def list_url(query: str, tag: str, page: int, sort: str = "", runs: int = 1) -> str:
    """The path of a page of the list; `runs` is the page of the runs above it."""
    wanted = {"q": query, "tag": tag, "sort": sort, "page": str(page) if page > 1 else ""}
    wanted["runs"] = str(runs) if runs > 1 else ""
    given = {name: value for name, value in wanted.items() if value}
    return f"/?{urlencode(given)}" if given else "/"


def tag_view(name: str) -> TagView:
    """A tag, and the path of the profiles that have it."""
    return TagView(name=name, url=list_url("", name, 1))
