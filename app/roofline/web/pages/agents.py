"""What coding agents read of a server: `/p/ID.md`, `/llms.txt`, and the tools at `/mcp`."""

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import wait
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from roofline.api import agents
from roofline.errors import CaptureFailedError, ExtraMissingError, ProfileNotFoundError
from roofline.library.comparing import budget_of_server
from roofline.library.ranges import Part
from roofline.library.reader import ProfileLists, ProfileReader
from roofline.web.api.captures import INTERVAL_S, NewCaptureBody, begun
from roofline.web.api.ranges import PageRange, results_for
from roofline.web.api.results import COMPUTE_WAIT_S, computed
from roofline.web.http.api_tokens import TOOLS_PATH
from roofline.web.http.guard import actor_of, peer_of_request
from roofline.web.parts import Parts, Reader, ServerParts

if TYPE_CHECKING:
    from roofline.api.agents.reading import Reading
    from roofline.compare.gate.baseline import Baseline
    from roofline.compare.gate.budget import Budget

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

    def baseline(self, name: str) -> "Baseline":
        """The profile with this id, as a baseline of one capture."""
        from roofline.api.comparing import runs_of
        from roofline.compare.gate.baseline import baseline_of

        return baseline_of(runs_of(self.open(name).profile, None, None))

    def budget(self) -> "Budget":
        """The limits of this server's series."""
        return budget_of_server(self.parts.settings.budget_file)

    def capture(self, address: str, duration_ms: int) -> "Reading":
        """The profile that the program at this address becomes, as *Capture* of the page."""
        wish = NewCaptureBody(addresses=(address,), duration_ms=duration_ms)
        capture = begun(self.request, wish, self.parts)
        while not capture.is_ended:
            time.sleep(INTERVAL_S)
        if capture.profile_id is None:
            raise CaptureFailedError(capture.hosts[0].text, remedy="")
        reader = self.parts.reader_for(actor_of(self.request).viewer)
        reading = reader.pending(capture.profile_id)
        if reading is not None:
            wait([reading], COMPUTE_WAIT_S)
        return self.open(capture.profile_id)

    def _latest(self) -> str:
        newest = self._lists().search(limit=1).profiles
        if not newest:
            raise ProfileNotFoundError("There is no profile yet.", remedy="Upload one.")
        return newest[0].id

    def _lists(self) -> ProfileLists:
        return self.parts.lists_for(actor_of(self.request).viewer)


def _tools(
    parts: ServerParts, *, captures: bool
) -> tuple[ASGIApp, Callable[[], AbstractAsyncContextManager[None]]]:
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

    tools = server(source_of, captures=captures)
    # The server's guard has looked at Host and Origin already.
    unguarded = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    app = tools.streamable_http_app(
        streamable_http_path=TOOLS_PATH,
        json_response=True,
        stateless_http=True,
        transport_security=unguarded,
    )
    app.state.parts = parts  # where requests have them
    return app, tools.session_manager.run


class ToolsByHttp:
    """The tools on this server; their library is loaded for the first request. Those who may have
    programs captured have one more."""

    def __init__(self, parts: ServerParts) -> None:
        self._parts = parts
        self._apps: dict[bool, ASGIApp] = {}
        self._starts = asyncio.Lock()
        self._ends = asyncio.Event()
        self._running: list[asyncio.Task[None]] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a message of the protocol. A stream of the server's own messages would hold a
        place for ever, and there are none."""
        if scope["method"] != "POST":
            raise HTTPException(405, headers={"allow": "POST"})
        captures = bool(self._parts.captures.targets) and actor_of(Request(scope)).may_capture
        async with self._starts:
            if captures not in self._apps:
                self._apps[captures] = await self._started(captures=captures)
        await self._apps[captures](scope, receive, send)

    async def stop(self) -> None:
        """Ends the tasks that answer."""
        self._ends.set()
        await asyncio.gather(*self._running)

    async def _started(self, *, captures: bool) -> ASGIApp:
        app, runs = await run_in_threadpool(_tools, self._parts, captures=captures)
        is_ready = asyncio.Event()

        async def run() -> None:
            async with runs():
                is_ready.set()
                await self._ends.wait()

        self._running.append(asyncio.create_task(run()))
        await is_ready.wait()
        return app
