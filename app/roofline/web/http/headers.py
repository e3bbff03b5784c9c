"""The headers of one request, for those who ask for several of them and mostly find none."""

from functools import lru_cache
from typing import Any

from starlette.datastructures import Headers
from starlette.types import Scope


class IndexedHeaders(Headers):
    """Starlette's `Headers`, which would walk through all of them for each question."""

    def __init__(self, scope: Scope) -> None:
        super().__init__(scope=scope)
        self._first: dict[bytes, bytes] = dict(reversed(self._list))

    def __getitem__(self, key: str) -> str:
        return self._first[_name(key)].decode("latin-1")

    def __contains__(self, key: Any) -> bool:
        return _name(key) in self._first

    def get(self, key: str, default: Any = None) -> Any:
        """The first header of this name, or `default`."""
        found = self._first.get(_name(key))
        return default if found is None else found.decode("latin-1")

    def getlist(self, key: str) -> list[str]:
        """All headers of this name."""
        return super().getlist(key) if _name(key) in self._first else []


@lru_cache(maxsize=256)
def _name(key: str) -> bytes:
    """As ASGI names it. Names that are asked for are in our own code: they are few."""
    return key.lower().encode("latin-1")
