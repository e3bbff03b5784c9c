"""Templates of the pages, with the person who looks at them."""

import secrets
import sys
from dataclasses import dataclass
from functools import lru_cache

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from jinja2.runtime import Macro

from roofline import __version__
from roofline.api.packaged import assets_dir
from roofline.presentation.first_view.summary import moment_text
from roofline.presentation.quantities import cell, counted, duration, percent, size
from roofline.web.http.assets import StaticFiles
from roofline.web.http.computing import Memory
from roofline.web.http.encodings import best_encoding, packed
from roofline.web.http.guard import actor_of

FRAMES_BYTES = 8 << 20
"""Of rendered pages: about 70 of a thousand operations."""
# In the place of a person in a frame. No stranger can write them: they are drawn at each start.
_NAME, _CSRF, _ORIGIN = (secrets.token_hex(16) for _ in range(3))


@dataclass(frozen=True, slots=True, kw_only=True)
class WhoView:
    """The person who looks at the page, and the address of the server that it was asked of.

    `csrf` goes along with every change, if it is needed.
    """

    name: str = ""
    csrf: str = ""
    has_session: bool = False
    origin: str = ""


class Templates:
    """Renders templates with `view`, `who`, `version` and addresses of static files.

    Everything is escaped.
    """

    def __init__(self, static: StaticFiles) -> None:
        self._environment = _environment(static)
        self._frames: Memory[str] = Memory(FRAMES_BYTES, sys.getsizeof)

    def text(self, name: str, **values: object) -> str:
        """The template `name` with these values, for a page that is a file."""
        return self._environment.get_template(name).render(who=WhoView(), **values)

    def macros(self, name: str, shown: object) -> dict[str, str]:
        """What each macro of the template `name` writes of `shown`, by the names of their places.

        A macro `device_strip` writes what stands in the place `data-device-strip`.
        """
        found = sorted(vars(self._environment.get_template(name).module).items())
        macros = [(key, one) for key, one in found if isinstance(one, Macro)]
        return {key.replace("_", "-"): str(macro(shown)) for key, macro in macros}

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
        said = {_NAME: actor.name, _CSRF: actor.csrf, _ORIGIN: str(request.base_url).rstrip("/")}
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


@lru_cache(maxsize=4)
def _environment(static: StaticFiles) -> Environment:
    """Applications of one process share it, and so the compiled templates."""
    environment = Environment(
        loader=FileSystemLoader(assets_dir("templates")),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        thousands="{:,}".format,
        duration=duration,
        predicted=_predicted,
        percent=percent,
        size=size,
        cell=cell,
        moment=moment_text,
    )
    environment.globals.update(static_url=static.url, version=__version__, counted=counted)
    return environment


def _predicted(us: float) -> str:
    """A predicted time has two digits: the third would promise more than a prediction can."""
    return duration(float(f"{us:.1e}"), 2)
