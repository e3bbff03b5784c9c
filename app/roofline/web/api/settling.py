"""Waiting for an import to end, for routes that answer when it has."""

import asyncio
from typing import Annotated

from fastapi import Query
from starlette.concurrency import run_in_threadpool

from roofline.library.reader import ProfileReader

MAX_WAIT_S = 300.0

Wait = Annotated[
    float, Query(ge=0, le=MAX_WAIT_S, description="Seconds to wait for the import to end.")
]


async def settle(reader: ProfileReader, profile_id: str, seconds: float) -> None:
    """Waits until no import of the profile is under way, at most `seconds`."""
    future = await run_in_threadpool(reader.pending, profile_id) if seconds > 0 else None
    if future is not None:
        # `wait` leaves the import alone when the time is up or the client hangs up.
        await asyncio.wait({asyncio.wrap_future(future)}, timeout=seconds)
