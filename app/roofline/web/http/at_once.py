"""Answers that are in memory, given while the request is read: no task, no routing, no copies."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from starlette.types import Scope

Headers = tuple[tuple[bytes, bytes], ...]
# As uvicorn checks the headers that it sends itself.
_NO_VALUE = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAnswer:
    """A whole answer. `lines` are its headers as they are sent, each with its end."""

    status: int
    lines: bytes
    body: bytes


AtOnce = Callable[[Scope], KnownAnswer | None]
"""The answer to a request without a body, logged and counted; `None` if it takes work.

After `None` the request goes to the application, which begins anew.
"""


def never(_scope: Scope) -> None:
    """For applications that keep no answers."""


@dataclass(frozen=True, slots=True, eq=False)
class UsualHeaders:
    """Headers of every answer that does not set its own; two of these are equal if they are one."""

    pairs: Headers

    def added_to(self, own: Iterable[tuple[bytes, bytes]]) -> Headers:
        """`own`, then those that it does not name."""
        given = tuple(own)
        named = {name for name, _ in given}
        return given + tuple(pair for pair in self.pairs if pair[0] not in named)


def written_lines(headers: Headers) -> bytes:
    """The headers as HTTP/1.1 writes them; `ValueError` for one that would end its line."""
    if any(_NO_VALUE.search(value) for _, value in headers):
        raise ValueError("a header with control characters")
    return b"".join(b"%b: %b\r\n" % pair for pair in headers)
