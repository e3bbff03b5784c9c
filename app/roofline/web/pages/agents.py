"""What coding agents read of a server: `/p/ID.md`, `/llms.txt`, and the tools at `/mcp`."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Receive, Scope, Send

from roofline.api import agents
from roofline.errors import ExtraMissingError, ProfileNotFoundError
from roofline.library.ranges import Part
from roofline.library.reader import ProfileLists, ProfileReader
from roofline.web.api.ranges import PageRange, results_for
from roofline.web.api.results import computed
from roofline.web.http.api_tokens import TOOLS_PATH
from roofline.web.http.guard import actor_of, peer_of_request
from roofline.web.parts import Parts, Reader, ServerParts

if TYPE_CHECKING:
    from roofline.api.agents.reading import Reading

_READ = ["GET", "HEAD"]
_MARKDOWN = "text/markdown; charset=utf-8"
_MOST_TEXT = 500

Text = Annotated[str, Query(max_length=_MOST_TEXT)]

router = APIRouter(include_in_schema=False)


@router.api_route("/llms.txt", methods=_READ)
def for_models() -> Response:
    """What a language model should know of this server."""
    text = Path(agents.__file__).with_name("llms.txt").read_bytes()
    return Response(text, media_type="text/plain; charset=utf-8")


@router.api_route("/p/{profile_id}.md", methods=_READ)
async def profile_text(
    profile_id: str,
    reader: Reader,
    parts: Parts,
    part: PageRange,
    op: Text = "",
    why: Text = "",
) -> Response:
    """A profile, one of its operations, or where a statement is from, as agents read it."""

    def made() -> str:
        from roofline.api.agents import answers  # loads numpy, which few requests need

        reading = _reading(parts, reader, profile_id, part or Part())
        if op:
            return answers.explain(reading, op)
        return answers.why(reading, why) if why else answers.summary(reading)

    return Response(await computed(reader, profile_id, made), media_type=_MARKDOWN)


def _reading(parts: ServerParts, reader: ProfileReader, profile_id: str, part: Part) -> "Reading":
    from roofline.api.agents.reading import Reading
    from roofline.api.profiles import Profile

    found = results_for(parts, reader, profile_id, part)
    title = reader.manifest(profile_id).title
    return Reading(Profile(title, found.analysis, part.of or None), profile_id)


@dataclass(frozen=True, slots=True)
class Stored:
    """The profiles that the sender of a request sees, for the tools; each read is in the audit."""

    parts: ServerParts
    request: Request

    def found(self, query: str, limit: int) -> tuple[list[Sequence[str]], int]:
        """When each was uploaded, its id, and its title."""
        from roofline.api.agents.answers import quoted

        listing = self._lists().search(query, limit=limit)
        rows = [(one.created_at, quoted(one.id), quoted(one.title)) for one in listing.profiles]
        return [*rows], listing.total

    def open(self, name: str) -> "Reading":
        """The profile with this id, or the `latest`."""
        parts, actor = self.parts, actor_of(self.request)
        profile_id = self._latest() if name == agents.LATEST else name
        found = _reading(parts, parts.reader_for(actor.viewer), profile_id, Part())
        address = peer_of_request(self.request).address
        parts.instance.store.audit.note_read("read by a tool", actor.name, address, profile_id)
        return found

    def _latest(self) -> str:
        newest = self._lists().search(limit=1).profiles
        if not newest:
            raise ProfileNotFoundError("There is no profile yet.", remedy="Upload one.")
        return newest[0].id

    def _lists(self) -> ProfileLists:
        return self.parts.lists_for(actor_of(self.request).viewer)


def _tools(parts: ServerParts) -> tuple[ASGIApp, Callable[[], AbstractAsyncContextManager[None]]]:
    """The application, and what must run while it answers; no session outlives its request."""
    try:  # a second, and 30 MB
        from mcp.server.mcpserver import Context
        from mcp.server.transport_security import TransportSecuritySettings

        from roofline.api.agents.server import server
    except ModuleNotFoundError as error:
        raise ExtraMissingError.of("mcp", agents.LIBRARY) from error

    def source_of(context: Context) -> Stored:
        request = context.request_context.request
        assert isinstance(request, Request)  # this transport has no other
        return Stored(parts, request)

    tools = server(source_of)
    # The server's guard has looked at Host and Origin already.
    unguarded = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    app = tools.streamable_http_app(
        streamable_http_path=TOOLS_PATH,
        json_response=True,
        stateless_http=True,
        transport_security=unguarded,
    )
    return app, tools.session_manager.run


class ToolsByHttp:
    """The tools on this server; their library is loaded for the first request."""

    def __init__(self, parts: ServerParts) -> None:
        self._parts = parts
        self._app: ASGIApp | None = None
        self._starts = asyncio.Lock()
        self._ends = asyncio.Event()
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a message of the protocol."""
        async with self._starts:
            if self._app is None:
                self._app = await self._started()
        await self._app(scope, receive, send)

    async def stop(self) -> None:
        """Ends the task that answers."""
        self._ends.set()
        if self._running is not None:
            await self._running

    async def _started(self) -> ASGIApp:
        app, runs = await run_in_threadpool(_tools, self._parts)
        is_ready = asyncio.Event()

        async def run() -> None:
            async with runs():
                is_ready.set()
                await self._ends.wait()

        self._running = asyncio.create_task(run())
        await is_ready.wait()
        return app
