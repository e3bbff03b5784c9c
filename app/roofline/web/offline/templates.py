"""What templates write as text: whole pages, and the pieces of them that a view brings along."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from jinja2.runtime import Macro

from roofline import __version__
from roofline.api.packaged import assets_dir
from roofline.presentation.first_view import view as written
from roofline.presentation.first_view.summary import moment_text
from roofline.presentation.first_view.view import first_view, pieces_of
from roofline.presentation.goal_numbers import Scale
from roofline.presentation.page_rows import Page, Rows
from roofline.presentation.quantities import cell, counted, duration, percent, size
from roofline.web.offline.assets import StaticFiles
from roofline.web.offline.views import NOTHING, ProfileView, Shown, profile_view

if TYPE_CHECKING:
    from roofline.presentation.charts.choices import Infeed

_PIECES = "_pieces.html"
_CODE = re.compile(r"`([^`]*)(?:`|\Z)")
_PICTURE = re.compile(
    r'<svg xmlns="http://www\.w3\.org/2000/svg" width="\d+" height="\d+" viewBox="[\d ]+"'
    r'(?: preserveAspectRatio="none")? role="img"><title>[\w ]+</title>'
    r'(?:<path(?: (?:d|fill|stroke|vector-effect)[a-z-]*="[\w .()-]*")+/>)*</svg>|'
)
"""What `figures.gain_pair.picture` and `exports.run_page` draw: paths with numbers and tokens."""


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

    def pieces(self, page: Page, infeed: str) -> dict[str, str]:
        """Pieces of the page as HTML, by the names of their places: those of one view of `page`."""
        return self.macros(_PIECES, pieces_of(Rows(page, infeed)))

    def drawn(self, page: bytes, advice: bytes) -> dict[bool, bytes]:
        """What its results alone decide of the page of a profile, for people who may change it, and
        for others: see `stored_pieces`."""
        data, record = orjson.loads(page), orjson.loads(advice)
        first, profile_id = first_view(data), data["profile"]["id"]
        view = profile_view(profile_id, "", (), "ready", f"/api/v1/profiles/{profile_id}")
        found = {}
        for may_change in (False, True):
            shown = Shown(lambda: first, lambda: record, {})
            seen = replace(view, about=NOTHING, shown=shown, may_change=may_change)
            self.text("profile.html", view=seen)
            found[may_change] = orjson.dumps([pieces_version(), shown.pieces])
        return found

    def view_of(
        self, page: dict[str, Any], advice: Mapping[str, Any], infeed: "Infeed"
    ) -> dict[str, Any]:
        """The document `view` of page data that were made before."""
        from roofline.presentation.page import view_of_page  # loads numpy

        beside = {"advice": advice, "pieces": self.pieces(page, infeed)}
        return view_of_page(page, infeed) | beside


@lru_cache(maxsize=4)
def _environment(static: StaticFiles) -> Environment:
    """Applications of one process share it, and so the compiled templates."""
    environment = Environment(
        loader=FileSystemLoader(assets_dir("templates")),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.policies["json.dumps_function"] = _json
    environment.filters.update(
        thousands="{:,}".format,
        duration=duration,
        saving=_saving,
        percent=percent,
        size=size,
        cell=cell,
        coded=partial(_coded, environment.filters["escape"]),
        moment=moment_text,
    )
    environment.filters["drawn"] = partial(_drawn, environment.filters["safe"])
    environment.globals.update(static_url=static.url, version=__version__, counted=counted)
    environment.globals["kept"] = partial(_kept, environment.filters["safe"])
    return environment


def _json(value: object, **usual: Any) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # half of a surrogate pair in a stranger's name, or a key that is a number
        return json.dumps(value, **usual)


def _kept(safe: Callable[[str], Any], view: ProfileView, name: str, caller: Any) -> Any:
    """The piece `name` of a page: as it was stored, or what `caller` writes, the template."""
    pieces = {} if view.shown is None else view.shown.pieces
    if name not in pieces:
        pieces[name] = str(caller())
    return safe(pieces[name])


def _drawn(safe: Callable[[str], Any], picture: str) -> Any:
    """A small picture of ours as markup; nothing where a child that a file took over wrote more."""
    return safe(picture) if _PICTURE.fullmatch(picture) else ""


def stored_pieces(drawn: bytes | None) -> dict[str, str]:
    """HTML by name, as `Templates.drawn` wrote it; none where templates have changed since."""
    version, pieces = ("", {}) if drawn is None else orjson.loads(drawn)
    return pieces if version == pieces_version() else {}


def _coded(escape: Callable[[str], Any], text: str) -> Any:
    """A text in which commands and names stand between backticks, as in static/js/ui/dom.js."""
    safe = escape(text)
    return type(safe)(_CODE.sub(r"<code>\1</code>", str(safe)))


def _saving(us: float, whole_us: float) -> str:
    """What a finding saves of `whole_us`, as the first line says it."""
    return Scale.of(whole_us).saving(us)


@cache
def pieces_version() -> str:
    """Of all that writes the pieces beside what a version of results has, by its content."""
    templates, modules = assets_dir("templates"), Path(written.__file__).parent
    sources = [*sorted(templates.glob("*.html")), *sorted(modules.glob("*.py")), Path(__file__)]
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in sources)).hexdigest()[:16]
