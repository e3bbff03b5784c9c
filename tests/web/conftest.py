"""An application on a temporary data folder, called in-process through ASGI."""

import secrets
import shutil
import sqlite3
from collections.abc import Callable, Iterator, MutableMapping
from concurrent.futures import Future
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
import structlog
from anyio.from_thread import BlockingPortal, start_blocking_portal

from roofline.settings import Settings
from roofline.storage.database import FILE_NAME, Database
from roofline.web.app import Application, create_app
from roofline.web.parts import ServerParts
from tests.conftest import SAMPLES
from tests.tools.generate_xspace import Config, write_profile


@pytest.fixture(scope="session", autouse=True)
def plain_logs() -> None:
    """Unconfigured, structlog draws every traceback with all variables, which takes seconds."""
    structlog.configure(processors=[structlog.processors.KeyValueRenderer()])


PROBLEM_KEYS = {"title", "status", "detail", "message", "remedy", "code"}
MULTIPART = "multipart/form-data; boundary=XX"


class Client:
    """A blocking client of one application; `start` sends a request without waiting."""

    def __init__(
        self,
        app: Application,
        portal: BlockingPortal,
        settings: Settings,
        address: str = "127.0.0.1",
    ) -> None:
        self.app = app
        self.parts: ServerParts = app.state.parts
        self.settings = settings
        self.address = address
        self._portal = portal
        self._http = httpx.AsyncClient(
            transport=httpx.ASGITransport(
                app, raise_app_exceptions=False, client=(address, 40_000)
            ),
            base_url="http://localhost",
            timeout=120,
        )

    def at(self, address: str) -> "Client":
        """The same application, called from another address."""
        return Client(self.app, self._portal, self.settings, address)

    def forget_cookies(self) -> None:
        """As another browser."""
        self._http.cookies.clear()

    def cookies(self) -> str:
        """The cookies of this browser, as a header."""
        return "; ".join(f"{one.name}={one.value}" for one in self._http.cookies.jar)

    def start(self, method: str, path: str, **options: Any) -> "Future[httpx.Response]":
        async def send() -> httpx.Response:
            return await self._http.request(method, path, **options)

        return self._portal.start_task_soon(send)

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        return self.start(method, path, **options).result(timeout=120)

    def call(
        self,
        method: str,
        path: str,
        arriving: list[dict[str, Any]],
        content_type: str = MULTIPART,
    ) -> list[int]:
        """A request whose body comes as the ASGI messages `arriving`, then nothing more ever."""
        statuses: list[int] = []
        messages = list(arriving)

        async def receive() -> dict[str, Any]:
            if not messages:
                await anyio.sleep_forever()
            return messages.pop(0)

        async def send(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        headers = [(b"host", b"localhost"), (b"content-type", content_type.encode())]
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "query_string": b"",
            "headers": headers,
            "scheme": "http",
            "http_version": "1.1",
        }
        self._portal.call(self.app, scope, receive, send)
        return statuses

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.request("GET", path, **options)

    def delete(self, path: str, **options: Any) -> httpx.Response:
        return self.request("DELETE", path, **options)

    def erase(self, profile_id: str, **options: Any) -> None:
        """Deletes a profile, and then what the trash has kept of it."""
        for place in ("profiles", "trash"):
            answer = self.delete(f"/api/v1/{place}/{profile_id}", **options)
            assert answer.status_code == 204, answer.text

    def post(self, path: str, **options: Any) -> httpx.Response:
        return self.request("POST", path, **options)

    def upload(
        self, *contents: bytes, names: tuple[str, ...] = (), wait: float = 60, **options: Any
    ) -> httpx.Response:
        """Uploads `contents`, named `names` or host_0.xplane.pb and so on, with form fields."""
        named = names or tuple(f"host_{number}.xplane.pb" for number in range(len(contents)))
        files = [("file", pair) for pair in zip(named, contents, strict=True)]
        headers = options.pop("headers", None)
        return self.post(
            f"/api/v1/profiles?wait={wait}", files=files, data=options or None, headers=headers
        )

    def raw(self, body: bytes, content_type: str = MULTIPART) -> httpx.Response:
        """Posts a hand-made body."""
        return self.post("/api/v1/profiles", content=body, headers={"content-type": content_type})

    def listing(self) -> dict[str, int]:
        """Every file that holds a profile's bytes, with its size."""
        return listing_of(self.settings.data_dir)


def listing_of(data_dir: Path) -> dict[str, int]:
    """Every file below a data folder but the database and locks, with its size."""
    files = [path for path in data_dir.rglob("*") if path.is_file()]
    return {
        path.relative_to(data_dir).as_posix(): path.stat().st_size
        for path in files
        if path.name != "lock" and not path.name.startswith("roofline.db")
    }


@contextmanager
def running(settings: Settings) -> Iterator[Client]:
    """A started application."""
    app = create_app(settings)
    with start_blocking_portal() as portal, ExitStack() as stack:
        stack.enter_context(portal.wrap_async_context_manager(app.router.lifespan_context(app)))
        yield Client(app, portal, settings)


Launch = Callable[..., Client]


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database without profiles: making its tables takes half of the start of a server."""
    folder = tmp_path_factory.mktemp("schema")
    database = Database(folder)
    database.migrate()
    database.close()
    return folder / FILE_NAME


@pytest.fixture
def launch(tmp_path: Path, empty_database: Path) -> Iterator[Launch]:
    """Starts applications with the given settings; they stop with the test."""
    with ExitStack() as stack:

        def start(**options: Any) -> Client:
            folder = Path(options.setdefault("data_dir", tmp_path / "data"))
            if "database_url" not in options and not folder.exists():
                folder.mkdir(parents=True)
                copied = Path(shutil.copy(empty_database, folder))
                with closing(sqlite3.connect(copied)) as rows, rows:  # each is a server of its own
                    rows.execute("UPDATE instance SET id = ?", [secrets.token_hex(16)])
            return stack.enter_context(running(Settings.from_env(**options)))

        yield start


@pytest.fixture
def client(launch: Launch) -> Client:
    return launch()


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """One application for all tests of a module that read, or are refused."""
    with running(Settings.from_env(data_dir=tmp_path_factory.mktemp("reader"))) as client:
        yield client


@pytest.fixture(scope="module")
def base(reader: Client) -> str:
    """The address of a training step of a TPU v6e, there."""
    return address_of(reader, SAMPLES / "xspace" / "v6e-training.xplane.pb")


def address_of(client: Client, sample: Path) -> str:
    """The address of a profile, once it is uploaded."""
    uploaded = client.upload(sample.read_bytes(), names=(sample.name,)).json()
    return f"/api/v1/profiles/{uploaded['id']}"


@pytest.fixture(scope="session")
def capture(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A small TPU profile, as its capture file."""
    folder = tmp_path_factory.mktemp("capture")
    (path,) = write_profile(Config(n_events=600, n_steps=3, n_distinct_ops=40), folder)
    return path.read_bytes()


@pytest.fixture(scope="session")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, ...]:
    """Three hosts of one program."""
    folder = tmp_path_factory.mktemp("hosts")
    config = Config(n_events=900, n_steps=3, n_distinct_ops=40, n_hosts=3)
    return tuple(path.read_bytes() for path in write_profile(config, folder))
