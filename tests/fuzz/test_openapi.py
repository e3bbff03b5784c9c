"""Every operation of the OpenAPI document, asked by schemathesis for what it allows and not."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import requests
import schemathesis
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from app.settings import Settings
from tests.tools.generate_xspace import Config, write_profile
from tests.web.conftest import Client, running

EXAMPLES = 6
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    folder = tmp_path_factory.mktemp("server")
    (path,) = write_profile(Config(n_events=60, n_steps=2, n_distinct_ops=10), folder)
    with running(Settings.from_env(data_dir=folder / "data")) as client:
        client.upload(path.read_bytes())
        yield client


def operations(client: Client) -> dict[str, Any]:
    schema = schemathesis.openapi.from_dict(client.app.openapi())
    found = [result.ok() for result in schema.get_all_operations()]
    return {f"{operation.method} {operation.path}": operation for operation in found}


def takes_values(operation: Any) -> bool:
    """True if a request can be wrong: every path is a text, and texts in paths are all right."""
    raw = operation.definition.raw
    return "requestBody" in raw or any(p["in"] != "path" for p in raw.get("parameters", ()))


def ask(client: Client, case: schemathesis.Case, known_id: str) -> httpx.Response:
    if "profile_id" in case.path_parameters and known_id:
        case.path_parameters["profile_id"] = known_id
    if "wait" in case.query:
        case.query["wait"] = (
            0 if isinstance(case.query["wait"], int | float) else case.query["wait"]
        )
    sent = case.as_transport_kwargs(base_url="http://localhost")
    known = {"method", "url", "params", "headers", "cookies", "data", "json", "files"}
    prepared = requests.Request(**{k: v for k, v in sent.items() if k in known}).prepare()
    # Headers that no HTTP library would send are not the server's to answer.
    headers = [(name, value) for name, value in prepared.headers.items() if _can_be_sent(value)]
    return client.request(
        prepared.method or "", prepared.url or "", headers=headers, content=prepared.body
    )


def _can_be_sent(value: str | bytes) -> bool:
    text = value.decode("latin-1") if isinstance(value, bytes) else value
    return text.isascii() and text.isprintable()


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.name.lower())
def test_every_operation_answers_as_documented(server: Client, mode: GenerationMode):
    known = server.get("/api/v1/profiles").json()["profiles"][0]["id"]
    for name, operation in operations(server).items():
        if name.startswith("delete"):
            continue  # the profile is needed by the others; `test_rights` deletes
        if mode is GenerationMode.NEGATIVE and not takes_values(operation):
            continue

        @settings(max_examples=EXAMPLES, phases=[Phase.generate], database=None)
        @given(
            case=operation.as_strategy(generation_mode=mode), known_id=st.sampled_from(["", known])
        )
        def answers(case: schemathesis.Case, known_id: str) -> None:
            answer = ask(server, case, known_id)
            case.validate_response(answer, checks=CHECKS)

        answers()
