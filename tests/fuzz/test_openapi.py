"""Every operation of the OpenAPI document, asked by schemathesis for what it allows and not."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import requests
import schemathesis
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    positive_data_acceptance,
    response_schema_conformance,
    status_code_conformance,
)

from roofline.settings import Settings
from tests.tools.generate_xspace import Config, write_profile
from tests.web.conftest import Client, running

# Requests for each operation: few in `make test`, many in `make test-long`.
EXAMPLES = {"few": 3, "many": 12}
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
# Not of forms: sound ones may hold bytes that are not a profile, and every value in them is a text.
CHECKS_OF_VALUES = [*CHECKS, negative_data_rejection, positive_data_acceptance]
# Which shape an op takes, and which devices there are, no schema says.
CHECKS_OF_ESTIMATES = [*CHECKS, negative_data_rejection]
PATH_PARAMETERS = (
    *("profile_id", "index", "name", "token_id", "token", "link_id"),
    *("run_id", "op_id", "file", "note_id", "form", "capture_id", "machine_id"),
)
VIEWS = (
    *("/facts", "/view", "/parts", "/figures", "/figure.{form}", "}/page"),
    *("/roofline", "/roofline.csv", "/ops/{index}", "/report.html"),
)
ESTIMATES = ("/machines", "/estimate", "/predict", "/whatif", "/advice", *VIEWS)


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    config = Config(n_events=60, n_steps=2, n_distinct_ops=10)
    (path,) = write_profile(config, tmp_path_factory.mktemp("profile"))
    return path.read_bytes()


@contextmanager
def serving(folder: Path, profile: bytes, **options: Any) -> Iterator[Client]:
    """A server of its own with one profile."""
    with running(Settings.from_env(data_dir=folder / "data", **options)) as client:
        client.upload(profile)
        yield client


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, profile: bytes) -> Iterator[Client]:
    with serving(tmp_path_factory.mktemp("server"), profile) as client:
        yield client


@pytest.fixture(scope="module")
def other_server(tmp_path_factory: pytest.TempPathFactory, profile: bytes) -> Iterator[Client]:
    """A server whose profiles no other test needs."""
    with serving(tmp_path_factory.mktemp("server"), profile) as client:
        yield client


def operations(client: Client) -> dict[str, Any]:
    schema = schemathesis.openapi.from_dict(client.app.openapi())
    results = list(schema.get_all_operations())
    found = [result.ok() for result in results if isinstance(result, Ok)]
    assert len(found) == len(results), "an operation is not described as OpenAPI wants it"
    return {f"{operation.method} {operation.path}": operation for operation in found}


def takes_values(operation: Any) -> bool:
    """True if a request can be wrong: every path is a text, and texts in paths are all right."""
    raw = operation.definition.raw
    return "requestBody" in raw or any(p["in"] != "path" for p in raw.get("parameters", ()))


def ask(client: Client, case: schemathesis.Case[Any], known_id: str) -> httpx.Response:
    if "profile_id" in case.path_parameters and known_id:
        case.path_parameters["profile_id"] = known_id
    if "wait" in case.query:
        case.query["wait"] = (
            0 if isinstance(case.query["wait"], int | float) else case.query["wait"]
        )
    sent = case.as_transport_kwargs(base_url="http://localhost")
    known = {"method", "url", "params", "headers", "cookies", "data", "json", "files"}
    prepared = requests.Request(**{k: v for k, v in sent.items() if k in known}).prepare()
    headers = [(name, value) for name, value in prepared.headers.items() if _can_be_sent(value)]
    return client.request(
        prepared.method or "", prepared.url or "", headers=headers, content=prepared.body
    )


def _can_be_sent(value: str | bytes) -> bool:
    """False for headers that no HTTP library would send: they are not the server's to answer."""
    text = value.decode("latin-1") if isinstance(value, bytes) else value
    return text.isascii() and text.isprintable()


def check(
    client: Client,
    operation: Any,
    mode: GenerationMode,
    known: Callable[[], str],
    examples: int = EXAMPLES["few"],
) -> None:
    """Asks for `examples` of what `operation` allows, or not; `known` makes a profile's id."""

    is_form = "multipart" in str(operation.definition.raw)

    @settings(max_examples=examples, phases=[Phase.generate], database=None)
    @given(case=operation.as_strategy(generation_mode=mode), is_known=st.booleans())
    def answers(case: schemathesis.Case[Any], is_known: bool) -> None:
        answer = ask(client, case, known() if is_known else "")
        # Which numbers of operations or groups of files there are depends on the profile, and which
        # places are read on the server.
        depends = (
            "index" in case.path_parameters
            or operation.path.endswith(("/split", "/notes"))
            or operation.path == "/api/v1/runs"
        )
        is_plain = not is_form and not depends
        is_judged = is_plain and all(map(_can_be_sent, case.headers.values()))
        of_values = CHECKS_OF_ESTIMATES if operation.path.endswith(ESTIMATES) else CHECKS_OF_VALUES
        case.validate_response(answer, checks=of_values if is_judged else CHECKS)

    answers()


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.name.lower())
@pytest.mark.parametrize("count", EXAMPLES)
def test_every_operation_answers_as_documented(
    server: Client, count: str, mode: GenerationMode
) -> None:
    known = server.get("/api/v1/profiles").json()["profiles"][0]["id"]
    for name, operation in operations(server).items():
        if name.startswith("delete"):
            continue  # the profile is needed by the others
        if mode is GenerationMode.POSITIVE or takes_values(operation):
            check(server, operation, mode, lambda: known, EXAMPLES[count])


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.name.lower())
def test_deleting_answers_as_documented(
    other_server: Client, profile: bytes, mode: GenerationMode
) -> None:
    def fresh() -> str:
        return str(other_server.upload(profile, wait=0).json()["id"])

    deleting = [one for name, one in operations(other_server).items() if name.startswith("delete")]
    assert deleting
    for operation in deleting:
        if mode is GenerationMode.POSITIVE or takes_values(operation):
            check(other_server, operation, mode, fresh)


def test_methods_that_are_not_documented_are_refused(other_server: Client) -> None:
    paths: dict[str, set[str]] = {}
    for name in operations(other_server):
        method, _, path = name.partition(" ")
        paths.setdefault(path, set()).add(method)
    for path, known in paths.items():
        for method in {"get", "put", "post", "patch", "delete"} - known:
            answer = other_server.request(method, path.replace("{", "").replace("}", ""))
            assert answer.status_code == 405, (method, path)
            assert {one.lower() for one in answer.headers["allow"].split(", ")} <= known | {"head"}


def test_every_operation_asks_who_is_there(tmp_path: Path, profile: bytes) -> None:
    with serving(tmp_path, profile, auth="token", token="k3vQ7-xTz9Lw2Rb8-Hn5Yc1Pd6Gs4J") as client:
        for operation in operations(client).values():
            case = operation.Case(path_parameters=dict.fromkeys(PATH_PARAMETERS, "1"))
            answer = ask(client, case, "")
            is_link = operation.path.startswith("/l/")  # without a log-in, and this one is unknown
            assert answer.status_code == (404 if is_link else 401), operation.label
            case.validate_response(answer, checks=CHECKS)
