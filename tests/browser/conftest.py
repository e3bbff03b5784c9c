"""Chromium and one server for all journeys.

The first page of a test is a returning visitor's: the browser still holds the scripts compiled,
which is half the cost of a page, and has forgotten all else. Every other page is a stranger's.
"""

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, ViewportSize, expect, sync_playwright

from tests.browser.serving import Server, serving
from tests.browser.watching import Watch, is_ready
from tests.tools.generate_xspace import Config, write_profile

ROOT = Path(__file__).resolve().parents[2]
# Captures of real hardware, beside the checkout where there are any; too large to be part of it.
CAPTURES = ROOT.parent / "shared" / "profiles"
# The first is Chromium without windows, which needs a quarter less processor time for a page.
CHROMIUM = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    # Pages of one context share a process: starting one is a tenth of the cost of a page.
    "--process-per-site",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    # Nothing but this machine can be reached: a foreign request fails, it is not only noted.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]

# Blank pages have no storage.
UNFOLDED = """try { localStorage.setItem("roofline-open", "device,ops,timeline,hardware,details"); }
  catch {}"""

VIEWPORT: ViewportSize = {"width": 1280, "height": 900}

# A claim that holds is answered at once; a busy machine needs longer than the usual 5 s.
expect.set_options(timeout=20_000)

NewPage = Callable[..., Page]
ColorScheme = Literal["dark", "light"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The server of every test that does not need one of its own."""
    with serving(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture(scope="session")
def visitor(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    """The browser's own context. Only it keeps compiled scripts.

    Its first page stays, without scripts, so that the process for pages of the server stays, too.
    """
    path = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if path is None:
        pytest.fail("Chromium is needed: apt-get install chromium, or pytest -m 'not browser'.")
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("visitor"),
            executable_path=path,
            args=ARGUMENTS,
            base_url=server.url,
            viewport=VIEWPORT,
        )
        context.pages[0].goto("/healthz")
        yield context
        context.close()


@pytest.fixture
def watches() -> list[Watch]:
    """What was noted about the pages of this test, one entry per page, in order of opening."""
    return []


@pytest.fixture
def new_page(visitor: BrowserContext, server: Server, watches: list[Watch]) -> Iterator[NewPage]:
    """Opens pages, each in another context and watched; faults fail the test.

    Their visitor has opened every fold of a profile before, unless `folded`: tests look into them.

    The first is the visitor's, unless it is of another server, wants options of a context or is
    `cold`, without compiled scripts.
    """
    opened: list[BrowserContext] = []

    def open_page(
        url: str = server.url,
        *,
        folded: bool = False,
        cold: bool = False,
        viewport: ViewportSize = VIEWPORT,
        color_scheme: ColorScheme | None = None,
        permissions: Sequence[str] = (),
        **options: Any,
    ) -> Page:
        if visitor not in opened and url == server.url and not options and not cold:
            context = visitor
        else:
            assert visitor.browser is not None
            context = visitor.browser.new_context(base_url=url, viewport=viewport, **options)
        opened.append(context)
        watches.append(Watch(context, url))
        if permissions:
            context.grant_permissions(permissions)
        page = context.new_page()
        if not folded:
            page.add_init_script(UNFOLDED)
        if viewport != VIEWPORT:
            page.set_viewport_size(viewport)
        if color_scheme:
            page.emulate_media(color_scheme=color_scheme)
        return page

    yield open_page
    for context in opened:
        if context is visitor:
            forget_visit(visitor, server.url)
        else:
            context.close()
    server.check()
    for watch in watches:
        watch.check()


def forget_visit(visitor: BrowserContext, url: str) -> None:
    """Leaves nothing of a test's visit but what the browser keeps of files it has fetched."""
    staying, *visited = visitor.pages
    for page in visited:
        page.close()
    visitor.clear_cookies()
    visitor.clear_permissions()
    visitor.set_offline(False)
    visitor.unroute_all()
    session = visitor.new_cdp_session(staying)
    session.send("Storage.clearDataForOrigin", {"origin": url, "storageTypes": "all"})
    session.detach()
    assert "native" in staying.evaluate("String(Date)"), "a clock stays installed: use fresh_page"


@pytest.fixture
def page(new_page: NewPage) -> Page:
    return new_page()


@pytest.fixture
def fresh_page(new_page: NewPage, server: Server) -> Page:
    """A stranger's page, which may have another clock."""
    return new_page(cold=True)


@pytest.fixture(scope="session")
def captures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with host_0 to host_2.xplane.pb: a training run on three hosts."""
    folder = tmp_path_factory.mktemp("captures")
    config = Config(
        device="v4", n_events=3000, n_steps=4, n_distinct_ops=60, n_hosts=3, mix="training"
    )
    write_profile(config, folder)
    return folder


@pytest.fixture(scope="session")
def capture(captures: Path) -> Path:
    """One host of a training run."""
    return captures / "host_0.xplane.pb"


@pytest.fixture(scope="session")
def hostile_capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A capture whose names are HTML, quotes, control characters and 4 kB long."""
    folder = tmp_path_factory.mktemp("hostile")
    config = Config(n_events=600, n_steps=2, n_distinct_ops=40, traits=("hostile_names",))
    (path,) = write_profile(config, folder)
    return path


@pytest.fixture(scope="session")
def real_capture() -> Path:
    """A TPU v6e inference run of 17 ops, captured on hardware."""
    path = CAPTURES / "tpu-v6e-inference" / "host_0.xplane.pb"
    if not path.is_file():
        pytest.skip("the real capture tpu-v6e-inference is not beside this checkout")
    return path


@pytest.fixture(scope="session")
def profile_url(visitor: BrowserContext, capture: Path) -> str:
    """The address of a ready profile, for tests that begin there."""
    return uploaded(visitor, capture)


def uploaded(visitor: BrowserContext, *paths: Path) -> str:
    """Uploads `paths` as one profile by the API and waits until it is ready; its page's address."""
    server = visitor.request.get("/healthz").url.removesuffix("/healthz")
    files = [("file", (path.name, path.read_bytes())) for path in paths]
    answer = httpx.post(f"{server}/api/v1/profiles?wait=60", files=files, timeout=90)
    return f"{server}/p/{answer.raise_for_status().json()['id']}"


@pytest.fixture
def profile(page: Page, profile_url: str) -> Page:
    """The page of a ready profile."""
    page.goto(profile_url)
    is_ready(page)
    return page
