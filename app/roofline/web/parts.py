"""ServerParts: all that the routes of one server use, as `app.state.parts`; its templates."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse

from roofline.compare.series_records import RunNumbers, Standing
from roofline.exports.run_page import Preview
from roofline.library.advising import AdviceBook
from roofline.library.captures import CaptureBook
from roofline.library.comparing import ComparedPage
from roofline.library.instance import Instance
from roofline.library.profiles import ProfileLibrary
from roofline.library.ranges import PreparedPart, RangeResults
from roofline.library.reader import ProfileLists, ProfileReader
from roofline.library.runs import RunLibrary
from roofline.settings import Settings
from roofline.storage.visibility import Viewer
from roofline.web.http.api_tokens import TokenHolders
from roofline.web.http.computing import (
    PREPARED_BYTES,
    RANGES_BYTES,
    RENDERED_BYTES,
    Changes,
    Computations,
    Memory,
)
from roofline.web.http.encodings import best_encoding
from roofline.web.http.forwarded import origin_of
from roofline.web.http.guard import actor_of
from roofline.web.http.oidc_provider import OidcLogIn
from roofline.web.http.rate_limit import Attempts, Door, RateLimit, Streams, UploadRate
from roofline.web.http.server_metrics import ServerMetrics
from roofline.web.offline.assets import StaticFiles, packed
from roofline.web.offline.templates import Templates, WhoView

# One thread hashes and compresses 300 MB/s. With two, answers to others wait twice as long.
UPLOAD_WRITERS = 1
# Of comparisons that somebody looks at: 100 kB each for a thousand operations.
COMPARISONS_KEPT = 32
# Four numbers a run and unit.
RUNS_KEPT = 2048
# Of runs of many hosts in lists: at most 15 kB each.
RUN_PREVIEWS_KEPT = 256


class ServedTemplates(Templates):
    """Renders templates for the person who asks."""

    def page(self, name: str, view: object, request: Request, *, status: int = 200) -> HTMLResponse:
        """The template `name` as a response to `request`."""
        actor = actor_of(request)
        who = WhoView(
            name=actor.name,
            csrf=actor.csrf,
            has_session=actor.has_session,
            origin=origin_of(request),
        )
        written = self._environment.get_template(name).generate(view=view, who=who)
        encoding = best_encoding(request)
        return as_page(packed(b"".join(map(str.encode, written)), encoding), encoding, status)


def as_page(content: bytes, encoding: str, status: int = 200) -> HTMLResponse:
    """The response with a page that is packed in this encoding, or in none if it is empty."""
    headers = {"vary": "accept-encoding"}
    if encoding:
        headers["content-encoding"] = encoding
    return HTMLResponse(content, status, headers)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerParts:
    """The parts of one server. `door` is `None` where no token is entered, `oidc` in other modes.

    `token_holders` is `None` on an open server, which does not know its users. Profiles are read
    and listed for one viewer only: see `Reader` and `Lists`.
    """

    settings: Settings
    instance: Instance
    library: ProfileLibrary
    runs: RunLibrary
    advice: AdviceBook
    captures: CaptureBook
    reader_for: Callable[[Viewer], ProfileReader]
    lists_for: Callable[[Viewer], ProfileLists]
    static: StaticFiles
    templates: ServedTemplates
    metrics: ServerMetrics
    answers: Memory[bytes]
    """Bodies of pages, by all that they depend on, and of results, by their ETag."""
    changes: Changes
    upload_rate: UploadRate
    capture_rate: RateLimit
    attempts: Attempts
    door: Door | None
    oidc: OidcLogIn | None
    token_holders: TokenHolders | None
    comparisons: Memory[ComparedPage] = field(default_factory=lambda: Memory(COMPARISONS_KEPT))
    run_numbers: Memory[Mapping[str, RunNumbers]] = field(default_factory=lambda: Memory(RUNS_KEPT))
    standings: Memory[Standing] = field(default_factory=lambda: Memory(RUNS_KEPT))
    change_words: Memory[str] = field(default_factory=lambda: Memory(RUNS_KEPT))
    ranges: Memory[RangeResults] = field(
        default_factory=lambda: Memory(RANGES_BYTES, lambda found: found.part.memory_bytes)
    )
    prepared: Memory[PreparedPart] = field(
        default_factory=lambda: Memory(PREPARED_BYTES, lambda part: part.memory_bytes)
    )
    rendered: Memory[bytes] = field(default_factory=lambda: Memory(RENDERED_BYTES, len))
    computations: Computations = field(default_factory=Computations)
    run_previews: Memory[Preview] = field(default_factory=lambda: Memory(RUN_PREVIEWS_KEPT))
    streams: Streams = field(default_factory=Streams)
    upload_writers: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(UPLOAD_WRITERS)
    )

    def end_waits(self) -> None:
        """Ends what waits for imports and runs, so that the server can stop."""
        self.streams.is_closing = True
        self.instance.waiting.close()


def parts_of(request: Request) -> ServerParts:
    """The parts of the server that answers `request`."""
    parts: ServerParts = request.app.state.parts
    return parts


# `async`: FastAPI would hand each of them to a thread, which takes longer than they do.
async def _parts(request: Request) -> ServerParts:
    return parts_of(request)


async def _library(request: Request) -> ProfileLibrary:
    return parts_of(request).library


async def _reader(request: Request) -> ProfileReader:
    return parts_of(request).reader_for(actor_of(request).viewer)


async def _lists(request: Request) -> ProfileLists:
    return parts_of(request).lists_for(actor_of(request).viewer)


Parts = Annotated[ServerParts, Depends(_parts)]
Library = Annotated[ProfileLibrary, Depends(_library)]
Reader = Annotated[ProfileReader, Depends(_reader)]
Lists = Annotated[ProfileLists, Depends(_lists)]
