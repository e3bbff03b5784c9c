"""Which connections the event loop looks at next: a few at a time, and uploads first.

asyncio looks at everything that is ready in each turn. Beside 200 viewers without a pause that is
all of them, and a turn takes as long as all their answers: 40 to 100 ms. An import needs dozens of
turns: one for each piece of its body, and one for each thread that has done something for it.

Here a turn has at most `USUAL_AT_ONCE` connections, so it takes some milliseconds. The others stay
ready, and Linux hands them out in the order in which they became so. A body that comes in does not
queue with them: up to `HURRIED_AT_ONCE` such connections are in each turn, whatever else is ready.
"""

import contextlib
import math
import selectors
from collections.abc import Mapping
from select import EPOLLIN, EPOLLOUT, epoll
from typing import Any

from roofline.model.units import MS_PER_S

USUAL_AT_ONCE = 8
HURRIED_AT_ONCE = 2
_FOR_EVER = -1.0
_Ready = list[tuple[selectors.SelectorKey, int]]


class ShortTurns(selectors.BaseSelector):
    """A selector for asyncio that returns a few ready files at a time, hurried ones first.

    Linux only: the order of files that are ready is that of its `epoll`.
    """

    def __init__(self) -> None:
        self._keys: dict[int, selectors.SelectorKey] = {}
        self._hurried: set[int] = set()
        self._usual_files = epoll()
        self._hurried_files = epoll()
        # A wait for the usual ones ends when a hurried one becomes ready.
        self._usual_files.register(self._hurried_files.fileno(), EPOLLIN)

    def hurry(self, fd: int) -> None:
        """From now on the file is in the next turn whenever it is ready."""
        if fd not in self._hurried:
            self._move(fd, self._usual_files, self._hurried_files)
            self._hurried.add(fd)

    def calm(self, fd: int) -> None:
        """The file waits for its turn again; also before its number is another file's."""
        if fd in self._hurried:
            self._hurried.discard(fd)
            self._move(fd, self._hurried_files, self._usual_files)

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        """See `BaseSelector`."""
        fd = _number(fileobj)
        if fd in self._keys:
            raise KeyError(f"{fileobj!r} is registered already")
        key = selectors.SelectorKey(fileobj, fd, events, data)
        self._files_of(fd).register(fd, _flags(events))
        self._keys[fd] = key
        return key

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        """See `BaseSelector`."""
        key = self._keys.pop(_number(fileobj))
        with contextlib.suppress(OSError):  # closed before: Linux has forgotten it
            self._files_of(key.fd).unregister(key.fd)
        return key

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        """See `BaseSelector`."""
        key = self._keys[_number(fileobj)]
        if events != key.events:
            self._files_of(key.fd).modify(key.fd, _flags(events))
        changed = self._keys[key.fd] = key._replace(events=events, data=data)
        return changed

    def select(self, timeout: float | None = None) -> _Ready:
        """At most `HURRIED_AT_ONCE` + `USUAL_AT_ONCE` files; waits `timeout` seconds for one."""
        found = self._hurried_files.poll(0, HURRIED_AT_ONCE) if self._hurried else []
        usual = self._usual_files.poll(0 if found else _seconds(timeout), USUAL_AT_ONCE)
        if not found and self._hurried:
            found = self._hurried_files.poll(0, HURRIED_AT_ONCE)
        ready = []
        for fd, flags in (*found, *usual):
            key = self._keys.get(fd)
            if key is not None:
                ready.append((key, _events(flags) & key.events))
        return ready

    def close(self) -> None:
        """See `BaseSelector`."""
        self._usual_files.close()
        self._hurried_files.close()
        self._keys.clear()

    def get_key(self, fileobj: Any) -> selectors.SelectorKey:
        """See `BaseSelector`."""
        return self._keys[_number(fileobj)]

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        """See `BaseSelector`: by the number of each file."""
        return self._keys

    def _files_of(self, fd: int) -> epoll:
        return self._hurried_files if fd in self._hurried else self._usual_files

    def _move(self, fd: int, before: epoll, after: epoll) -> None:
        key = self._keys.get(fd)
        if key is not None:
            before.unregister(fd)
            after.register(fd, _flags(key.events))


def _number(fileobj: Any) -> int:
    return fileobj if isinstance(fileobj, int) else int(fileobj.fileno())


def _seconds(timeout: float | None) -> float:
    """The time that `epoll` waits: at least `timeout`, in whole milliseconds."""
    if timeout is None:
        return _FOR_EVER
    return math.ceil(max(0.0, timeout) * MS_PER_S) / MS_PER_S


def _flags(events: int) -> int:
    reads = EPOLLIN if events & selectors.EVENT_READ else 0
    return reads | (EPOLLOUT if events & selectors.EVENT_WRITE else 0)


def _events(flags: int) -> int:
    """The events to try: on an error both, so that each of them hears of it."""
    reads = selectors.EVENT_READ if flags & ~EPOLLOUT else 0
    return reads | (selectors.EVENT_WRITE if flags & ~EPOLLIN else 0)
