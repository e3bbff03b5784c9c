"""Templates of the pages, with the person who looks at them."""

import secrets
import sys

from fastapi import Request
from fastapi.responses import HTMLResponse

from roofline.web.http.computing import Memory
from roofline.web.http.encodings import best_encoding
from roofline.web.http.forwarded import origin_of
from roofline.web.http.guard import actor_of
from roofline.web.offline.assets import StaticFiles, packed
from roofline.web.offline.templates import Templates, WhoView

FRAMES_BYTES = 8 << 20
"""Of rendered pages: about 70 of a thousand operations."""
# In the place of a person in a frame. No stranger can write them: they are drawn at each start.
_NAME, _CSRF, _ORIGIN = (secrets.token_hex(16) for _ in range(3))


class ServedTemplates(Templates):
    """Renders templates for the person who asks."""

    def __init__(self, static: StaticFiles) -> None:
        super().__init__(static)
        self._frames: Memory[str] = Memory(FRAMES_BYTES, sys.getsizeof)

    def page(
        self, name: str, view: object, request: Request, *, status: int = 200, frame: str = ""
    ) -> HTMLResponse:
        """The template `name` as a response to `request`.

        Views with the same `frame` show the same: it is rendered once for everybody, and each
        person's name and token are put in. Without one it is rendered each time.
        """
        actor = actor_of(request)
        who = WhoView(
            name=_NAME if actor.name else "",
            csrf=_CSRF if actor.csrf else "",
            has_session=actor.has_session,
            origin=_ORIGIN,
        )
        text = self._frame(name, view, who, frame)
        escape = self._environment.filters["escape"]
        said = {_NAME: actor.name, _CSRF: actor.csrf, _ORIGIN: origin_of(request)}
        for place, value in said.items():
            text = text.replace(place, escape(value))
        encoding = best_encoding(request)
        return as_page(packed(text.encode(), encoding), encoding, status)

    def _frame(self, name: str, view: object, who: WhoView, frame: str) -> str:
        key = repr((name, who, frame))
        found = self._frames.get(key) if frame else None
        if found is not None:
            return found
        text = self._environment.get_template(name).render(view=view, who=who)
        return self._frames.put(key, text) if frame else text


def as_page(content: bytes, encoding: str, status: int = 200) -> HTMLResponse:
    """The response with a page that is packed in this encoding, or in none if it is empty."""
    headers = {"vary": "accept-encoding"}
    if encoding:
        headers["content-encoding"] = encoding
    return HTMLResponse(content, status, headers)
