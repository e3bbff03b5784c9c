"""New runs of a series, as an open page is told of them."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import orjson
import pytest

from roofline.storage.visibility import ALL_SEEING
from roofline.web.api import events as arrivals
from roofline.web.http.rate_limit import Streams
from tests.web.conftest import Client


def test_newest_run_of_exactly_this_title_or_tag_is_told(
    client: Client, capture: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrivals, "SERIES_INTERVAL_S", 0.01)
    lists = client.parts.lists_for(ALL_SEEING)
    streams = Streams()

    async def told() -> list[dict[str, Any]]:
        events = arrivals.follow_series("nightly", lists, streams)
        first = await anext(events)
        await asyncio.to_thread(client.upload, capture, title="nightly build")
        second = await asyncio.to_thread(client.upload, capture, title="nightly")
        event = await anext(events)
        streams.is_closing = True
        assert [one async for one in events] == []
        assert orjson.loads(event.raw_data or "")["id"] == second.json()["id"]
        return [orjson.loads(first.raw_data or "")]

    with ThreadPoolExecutor() as thread:  # which has no loop of another test
        assert thread.submit(asyncio.run, told()).result() == [{"id": ""}]
    assert arrivals.newest_run(lists, "missing", "tag") is None
