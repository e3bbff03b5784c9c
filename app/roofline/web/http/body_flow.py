"""Bodies on their way in: before viewers who ask again and again, and ahead of what writes them.

uvicorn stops reading at 64 KiB, until the route asks for more. Beside many viewers each such
question costs several turns of the loop, and 60 MB took over 10 s to come in. Here reading goes on
while a thread writes what came before, so the thread finds some MiB when it comes back.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from uvicorn.protocols.http.flow_control import FlowControl

if TYPE_CHECKING:
    from roofline.web.http.short_turns import ShortTurns

# asyncio's own pieces have 256 KiB. What one piece costs does not depend on its size up to here.
READ_BYTES = 1 << 20
# The bytes in memory before the route has asked for them, of one body and of all.
AHEAD_BYTES = 4 << 20
ALL_AHEAD_BYTES = 64 << 20


class Bodies:
    """The connections that a body comes in on. `turns` is the loop's; without it none is first."""

    def __init__(self) -> None:
        self.turns: ShortTurns | None = None
        self._files: set[int] = set()

    def begin(self, transport: asyncio.Transport) -> int:
        """A body comes in on `transport`; the number to give to `end`."""
        file: int = transport.get_extra_info("socket").fileno()
        if hasattr(transport, "max_size"):
            transport.max_size = READ_BYTES
        self._files.add(file)
        if self.turns is not None:
            self.turns.hurry(file)
        return file

    def end(self, file: int) -> None:
        """It has been answered, or its connection has gone."""
        self._files.discard(file)
        if self.turns is not None:
            self.turns.calm(file)

    def ahead_bytes(self) -> int:
        """How much of each body may lie in memory."""
        return min(AHEAD_BYTES, ALL_AHEAD_BYTES // max(1, len(self._files)))


class BodyFlow(FlowControl):
    """uvicorn's flow control, which does not pause a body while `may_go_on`."""

    def __init__(self, transport: asyncio.Transport, may_go_on: Callable[[], bool]) -> None:
        super().__init__(transport)
        self._may_go_on = may_go_on

    def pause_reading(self) -> None:
        """See `FlowControl`."""
        if not self._may_go_on():
            super().pause_reading()
