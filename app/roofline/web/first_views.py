"""First views of pages, which the server writes before their script: made once per result.

Pieces of them are in every view that a page asks for, as HTML: one template writes both.
"""

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from threading import Condition
from typing import Any, Literal

import orjson
from cachetools import LRUCache, cached

from roofline.api.packaged import assets_dir
from roofline.library.reader import Ready, State
from roofline.presentation.first_view import view as written
from roofline.presentation.first_view.view import FirstView, first_view, pieces_of
from roofline.presentation.page_rows import Page, Rows
from roofline.storage.results import DamagedResultError, ResultFile
from roofline.web.http.templates import Templates

Infeed = Literal["in", "out"]
FIRST_VIEWS = 64  # kept for viewers whose page differs in nothing but their name
PIECES = "_pieces.html"


def first_of(state: State) -> FirstView | None:
    """The first view of a profile; `None` while there is none.

    A request for one that is being made waits for it.
    """
    try:
        return _first_view(state.page) if isinstance(state, Ready) else None
    except DamagedResultError:  # the script finds that out, too, and has it computed again
        return None


@cached(LRUCache(FIRST_VIEWS), condition=Condition())
def _first_view(page: ResultFile) -> FirstView:
    return first_view(orjson.loads(page.plain()))


def pieces(templates: Templates, page: Page, infeed: str) -> dict[str, str]:
    """Pieces of the page as HTML, by the names of their places: those of one view of `page`."""
    return templates.macros(PIECES, pieces_of(Rows(page, infeed)))


def view_of(
    templates: Templates, page: dict[str, Any], advice: Mapping[str, Any], infeed: Infeed
) -> dict[str, Any]:
    """The document `view` of page data that were made before."""
    from roofline.presentation.page import view_of_page  # loads numpy

    beside = {"advice": advice, "pieces": pieces(templates, page, infeed)}
    return view_of_page(page, infeed) | beside


@cache
def pieces_version() -> str:
    """Of all that writes the pieces beside what a version of results has, by its content."""
    templates, modules = assets_dir("templates"), Path(written.__file__).parent
    sources = [*sorted(templates.glob("_*.html")), *sorted(modules.glob("*.py"))]
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in sources)).hexdigest()[:16]
