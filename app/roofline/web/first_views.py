"""First views of pages, which the server writes before their script: made once per result."""

from threading import Condition

import orjson
from cachetools import LRUCache, cached

from roofline.library.reader import Ready, State
from roofline.presentation.first_view.view import FirstView, first_view
from roofline.storage.results import DamagedResultError, ResultFile

FIRST_VIEWS = 64  # kept for viewers whose page differs in nothing but their name


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
