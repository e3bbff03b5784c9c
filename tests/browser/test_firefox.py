"""The page as one file in Firefox, which is asked by WebDriver BiDi on its own socket."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tornado.websocket import WebSocketClientConnection, websocket_connect

import roofline
from roofline.library.samples import find_samples
from tests.agents.test_server import in_a_thread
from tests.browser.test_report import sentences
from tests.conftest import SAMPLES

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
# Everything but files goes to a port on which nothing listens.
NO_NETWORK = """
user_pref("network.proxy.type", 1);
user_pref("network.proxy.http", "127.0.0.1");
user_pref("network.proxy.http_port", 9);
user_pref("network.proxy.ssl", "127.0.0.1");
user_pref("network.proxy.ssl_port", 9);
user_pref("remote.active-protocols", 1);
"""
SHOWN = """(async () => {
  const still = () => document.body.dataset.ready !== "true"
    || document.querySelector("#op-chart")?.ariaBusy === "true";
  for (let turn = 0; turn < 1200 && still(); turn += 1)
    await new Promise((done) => setTimeout(done, 50));
  const text = (found) => [...document.querySelectorAll(found)].map((one) => one.innerText);
  return JSON.stringify({
    said: text("[data-headline], [data-lead]").join(" "),
    result: text("[data-result]")[0],
    marks: document.querySelectorAll("#op-chart [class*='tracemarks'] .point:not(.ghost)").length,
  });
})()"""

PAIR = ("pytorch/h100-training-unfused.json", "pytorch/h100-training.json")
CALCULATORS = {
    "calculator": "op=matmul&m=4096&k=4096&n=4096&device=h100-sxm",
    "model": "model=llama-3-8b&phase=decode&device=h100-sxm",
}


@pytest.fixture
def socket(tmp_path: Path) -> Iterator[str]:
    """The address on which a Firefox without a window and without a network listens."""
    if FIREFOX is None:
        pytest.skip("Firefox is not installed")
    (tmp_path / "user.js").write_text(NO_NETWORK, "utf-8")
    process = subprocess.Popen(
        [FIREFOX, "--headless", "--no-remote", "--profile", tmp_path, "--remote-debugging-port=0"],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "HOME": str(tmp_path)},
    )
    assert process.stderr is not None
    try:
        lines = (re.search(r"WebDriver BiDi listening on (\S+)", line) for line in process.stderr)
        yield next(f"{found[1]}/session" for found in lines if found)
    finally:
        process.terminate()
        process.communicate(timeout=30)


class Tab:
    """A page of Firefox, and what it asked for and said since the last file was opened."""

    def __init__(self, connection: WebSocketClientConnection, context: str = "") -> None:
        self.connection = connection
        self.context = context
        self.heard: list[Any] = []
        self._sent = 0

    async def call(self, method: str, **params: Any) -> Any:
        self._sent += 1
        await self.connection.write_message(
            json.dumps({"id": self._sent, "method": method, "params": params})
        )
        while True:
            message = json.loads(await self.connection.read_message() or "")
            if message.get("id") == self._sent:
                assert message["type"] == "success", message
                return message["result"]
            self.heard.append(message["params"])

    async def opened(self, path: Path) -> tuple[Any, list[str]]:
        """What the page of a file shows, and every message and request but those of the file."""
        self.heard = []
        await self.call(
            "browsingContext.navigate", context=self.context, url=path.as_uri(), wait="complete"
        )
        target = {"context": self.context}
        found = await self.call(
            "script.evaluate", expression=SHOWN, target=target, awaitPromise=True
        )
        said = [one["text"] for one in self.heard if "text" in one]
        asked = [one["request"]["url"] for one in self.heard if "request" in one]
        own = ("blob:", "data:", path.as_uri())
        return json.loads(found["result"]["value"]), [
            *said, *(url for url in asked if not url.startswith(own)),
        ]  # fmt: skip


@asynccontextmanager
async def tab(socket: str) -> AsyncIterator[Tab]:
    found = Tab(await websocket_connect(socket))
    await found.call("session.new", capabilities={})
    await found.call("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"])
    found.context = (await found.call("browsingContext.getTree"))["contexts"][0]["context"]
    yield found
    found.connection.close()
    while await found.connection.read_message() is not None:
        pass


@pytest.mark.long
def test_the_file_of_every_sample_shows_its_numbers_in_firefox(socket: str, tmp_path: Path) -> None:
    profiles = {one.name: roofline.open_profile(*one.files) for one in find_samples(SAMPLES)}
    for name, profile in profiles.items():
        profile.report(tmp_path / f"{name}.html")
    others = {"compare": roofline.compare(*(SAMPLES / one for one in PAIR)).report()}
    others |= {name: roofline.report(f"/{name}?{query}") for name, query in CALCULATORS.items()}
    for name, report in others.items():
        report.save(tmp_path / f"{name}.html")

    async def look() -> dict[str, tuple[Any, list[str]]]:
        async with tab(socket) as found:
            files = (*profiles, *others)
            return {name: await found.opened(tmp_path / f"{name}.html") for name in files}

    shown = in_a_thread(look)
    assert len(shown) > 10
    for name, (page, faults) in shown.items():
        assert faults == [], name
        if name in others:
            continue
        profile = profiles[name]
        assert page["said"], name
        assert sentences(page["said"]) <= sentences(profile.sentence)
        assert page["result"].replace(",", "").startswith(f"{len(profile.ops)} op")
        marks = [one for one in profile.figure().data if one.meta["role"] == "marks"]
        assert page["marks"] == sum(len(one.customdata) for one in marks), name
