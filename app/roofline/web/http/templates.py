"""Templates of the pages, with the person who looks at them."""

from dataclasses import dataclass
from functools import lru_cache

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from roofline import __version__
from roofline.api.packaged import assets_dir
from roofline.presentation.quantities import duration, percent
from roofline.web.http.assets import StaticFiles
from roofline.web.http.encodings import best_encoding, packed
from roofline.web.http.guard import actor_of


@dataclass(frozen=True, slots=True, kw_only=True)
class WhoView:
    """The person who looks at the page. `csrf` goes along with every change, if it is needed."""

    name: str = ""
    csrf: str = ""
    has_session: bool = False


class Templates:
    """Renders templates with `view`, `who`, `version` and addresses of static files.

    Everything is escaped.
    """

    def __init__(self, static: StaticFiles) -> None:
        self._environment = _environment(static)

    def page(self, name: str, view: object, request: Request, *, status: int = 200) -> HTMLResponse:
        """The template `name` as a response to `request`."""
        actor = actor_of(request)
        who = WhoView(name=actor.name, csrf=actor.csrf, has_session=actor.has_session)
        content = self._environment.get_template(name).render(view=view, who=who)
        encoding = best_encoding(request)
        return as_page(packed(content.encode(), encoding), encoding, status)


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
        thousands="{:,}".format, duration=duration, predicted=_predicted, percent=percent
    )
    environment.globals.update(
        static_url=static.url, imported_urls=static.imported, version=__version__
    )
    return environment


def _predicted(us: float) -> str:
    """A predicted time has two digits: the third would promise more than a prediction can."""
    return duration(float(f"{us:.1e}"), 2)
