"""Templates of the pages, with the person who looks at them."""

from fastapi import Request
from fastapi.responses import HTMLResponse

from roofline.web.http.encodings import best_encoding
from roofline.web.http.forwarded import origin_of
from roofline.web.http.guard import actor_of
from roofline.web.offline.assets import packed
from roofline.web.offline.templates import Templates, WhoView


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
