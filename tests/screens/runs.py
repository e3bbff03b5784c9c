"""Runs of many hosts, and their pages in every state."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import httpx
import numpy as np
from playwright.sync_api import Page, expect

from roofline.pods.partial import BYTES, FLOP, Partial, pack
from tests.browser.watching import is_ready
from tests.pods import runs
from tests.screens.site import Site

API = "/api/v1/runs"
READ_SECONDS = 120
MOST_FILES = 100
"""Hosts sent with one request."""

Show = Callable[[Page, Site], None]
Files = list[tuple[str, bytes]]


def _spread(hosts: Sequence[Partial]) -> list[Partial]:
    """The hosts with operations from memory-bound to compute-bound, at 20 to 90 % of their roof."""
    rng = np.random.default_rng(11)
    ops = hosts[0].ops.shape[1]
    intensity = 10 ** rng.uniform(0, 3.2, ops)
    rate = rng.uniform(0.2, 0.9, ops) * np.minimum(197e12, 819e9 * intensity)
    flop = rate * hosts[0].ops[0] * 1e-12
    changed = []
    for one in hosts:
        columns = one.ops.copy()
        columns[FLOP], columns[BYTES] = flop, flop / intensity
        changed.append(replace(one, ops=columns))
    return changed


def _with_collectives(hosts: Sequence[Partial]) -> list[Partial]:
    """Each host waits less than the one before."""
    ranks = runs.CHIPS * len(hosts)
    return [
        runs.with_collective(one, [[90_000_000 - 60_000 * at, 50_000_000]] * 4, group_size=ranks)
        for at, one in enumerate(_spread(hosts))
    ]


def _sent(hosts: Sequence[Partial]) -> Files:
    return [(f"{one.header.file_name}.partial", pack(one)) for one in hosts]


def _many(count: int) -> Files:
    """One slow chip, a host that is slow now and then, one with more work, one unreadable."""
    hosts = runs.run(7, hosts=count, fault=runs.slow_chip(47, 2, 1.073), noise=0.03)
    fault = runs.slow_now_and_then(21, [2, 5], 1.1)
    hosts[21] = runs.run(7, hosts=count, fault=fault, noise=0.03)[21]
    hosts = _with_collectives(hosts)
    hosts[9] = runs.given_more(hosts[9], 1.031)
    return [*_sent(hosts), ("host-9999.xplane.pb", b"cut off")]


def _clean(count: int) -> Files:
    return _sent(_with_collectives(runs.run(3, hosts=count)))


def _without_steps() -> Files:
    """As PyTorch ranks without step marks: no steps, no collectives."""
    none = np.zeros((0,), np.int64)
    return _sent(
        [
            replace(
                one,
                header=replace(one.header, steps=()),
                step_ps=none,
                step_work_ps=np.zeros((runs.CHIPS, 0), np.int64),
            )
            for one in runs.run(4, hosts=24)
        ]
    )


FILES: Mapping[str, Callable[[], Files]] = {
    "many": lambda: _many(256),
    "clean": lambda: _clean(24),
    "three": lambda: _clean(3),
    "one": lambda: _clean(1),
    "no-steps": _without_steps,
    "unreadable": lambda: [(f"rank{rank}.json", b"{" + str(rank).encode()) for rank in range(3)],
}


def made(url: str, name: str, **wish: Any) -> str:
    """A new run that takes hosts: its id."""
    answer = httpx.post(f"{url}{API}", json={"title": f"pretrain, {name}", **wish}, timeout=60)
    answer.raise_for_status()
    return str(answer.json()["id"])


def push(url: str, run: str, files: Files) -> None:
    """Sends hosts to a run."""
    for at in range(0, len(files), MOST_FILES):
        sent = [("file", one) for one in files[at : at + MOST_FILES]]
        httpx.post(f"{url}{API}/{run}/hosts", files=sent, timeout=120).raise_for_status()


def is_read(url: str, run: str, wanted: Callable[[Any], bool]) -> None:
    """Waits until the run is as wanted."""
    deadline = time.monotonic() + READ_SECONDS
    while not wanted(httpx.get(f"{url}{API}/{run}", timeout=60).json()):
        assert time.monotonic() < deadline, "the hosts of a run are not read"
        time.sleep(0.2)  # between two questions


def complete(url: str, name: str) -> str:
    """The id of a run whose hosts were all read."""
    run = made(url, name)
    push(url, run, FILES[name]())
    httpx.post(f"{url}{API}/{run}/close", timeout=60).raise_for_status()
    is_read(url, run, lambda said: said["state"] != "reading")
    return run


def _run(name: str, query: str = "", then: Callable[[Page], None] | None = None) -> Show:
    def show(page: Page, site: Site) -> None:
        run = site.kept(f"run-{name}", lambda: complete(site.server.url, name))
        page.goto(f"{site.server.url}/r/{run}{query}")
        is_ready(page)
        if then is not None:
            then(page)

    return show


def _waiting(page: Page, site: Site) -> None:
    page.goto(f"{site.server.url}/r/{made(site.server.url, 'waiting', hosts=64)}")
    expect(page.locator("progress")).to_be_visible()


def _arriving(page: Page, site: Site) -> None:
    url = site.server.url
    run = made(url, "arriving", hosts=64)
    push(url, run, _clean(64)[::3])
    is_read(url, run, lambda said: said["read"] >= 16)
    page.wait_for_timeout(1000)
    page.goto(f"{url}/r/{run}")
    is_ready(page)


def _none_read(page: Page, site: Site) -> None:
    run = site.kept("run-unreadable", lambda: complete(site.server.url, "unreadable"))
    page.goto(f"{site.server.url}/r/{run}")


def _pointed(page: Page) -> None:
    page.locator("[data-heat] > i").nth(47).hover(force=True)


STATES: dict[str, Show] = {
    "run-waiting": _waiting,
    "run-arriving": _arriving,
    "run-many": _run("many"),
    "run-host": _run("many", "?host=host-0047"),
    "run-wait": _run("many", "?metric=wait&tab=collectives"),
    "run-steps": _run("many", "?tab=steps"),
    "run-hosts": _run("many", "?tab=hosts"),
    "run-nothing-found": _run("many", "?q=nothing+of+this+name"),
    "run-pointed": _run("many", then=_pointed),
    "run-clean": _run("clean"),
    "run-three": _run("three"),
    "run-one": _run("one"),
    "run-no-steps": _run("no-steps"),
    "run-none-read": _none_read,
}
