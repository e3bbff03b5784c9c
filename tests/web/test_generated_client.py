"""The API as a client sees it that openapi-python-client generates of /openapi.json."""

import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import jsonschema_rs
import orjson
import pytest

from roofline.settings import Settings
from roofline.web.api.openapi import EXAMPLES
from roofline.web.app import create_app
from tests.browser.serving import Server, serving
from tests.conftest import ROOT, SAMPLES

BIN = f"{Path(sys.executable).parent}"
OVERRIDES = """\
content_type_overrides:
  application/x-ndjson: application/octet-stream
  image/svg+xml: application/octet-stream
  application/pdf: application/octet-stream
post_hooks: []
"""
BEFORE = SAMPLES / "pytorch" / "h100-training.json"
AFTER = SAMPLES / "pytorch" / "h100-training-unfused.json"
KEY = "0c1fa3d2-5f55-4a36-8a9c-0d5c6a1f2b11"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return create_app(Settings.from_env(data_dir=tmp_path_factory.mktemp("data"))).openapi()


@pytest.fixture(scope="module")
def folder(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the package `roofline_client` is, and beside it the program of docs/sharing.md."""
    folder = tmp_path_factory.mktemp("client")
    (folder / "config.yml").write_text(OVERRIDES)
    command = [f"{BIN}/openapi-python-client", "generate", "--meta", "none", "--fail-on-warning"]
    places = ["--url", f"{server.url}/openapi.json", "--output-path", f"{folder}/roofline_client"]
    config = ["--config", f"{folder}/config.yml"]
    made = subprocess.run([*command, *places, *config], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout + made.stderr
    code = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "sharing.md").read_text(), re.S)
    (folder / "of_the_docs.py").write_text(code[0])
    return folder


@pytest.fixture
def program(folder: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(folder)
    return importlib.import_module("of_the_docs")


def test_a_generated_client_uploads_waits_reads_and_compares(
    program: ModuleType, server: Server
) -> None:
    with program.Client(base_url=server.url) as client:
        before, after = (program.uploaded(client, path) for path in (BEFORE, AFTER))
        ceiling, change_us, headline = program.changed(client, before, after)
    assert ceiling == "matrix_bf16"
    assert change_us > 0
    assert "more a step" in headline


def test_the_program_has_no_any(folder: Path) -> None:
    command = [
        f"{BIN}/mypy",
        "--strict",
        "--follow-imports=silent",
        "--config-file=",
        "of_the_docs.py",
    ]
    checked = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout


def test_operations_are_named_and_described(document: dict[str, Any]) -> None:
    found = [one for path in document["paths"].values() for one in path.values()]
    names = [one["operationId"] for one in found]
    assert len(set(names)) == len(names)
    assert [name for name in names if not re.fullmatch(r"[a-z]+(_[a-z]+)*", name)] == []
    unsaid = [
        (one["operationId"], parameter["name"])
        for one in found
        for parameter in one.get("parameters", ())
        if not parameter.get("description")
    ]
    assert unsaid == []


def test_every_answer_has_a_schema_and_an_example_of_it(document: dict[str, Any]) -> None:
    examples = orjson.loads(EXAMPLES.read_bytes())
    seen, wrong = set(), []
    for operation in (one for path in document["paths"].values() for one in path.values()):
        for status, answer in operation["responses"].items():
            content = answer.get("content", {}).get("application/json")
            if not status.startswith("2") or content is None:
                continue
            name = operation["operationId"].removeprefix("shared_")
            seen.add(name)
            schema = {**content["schema"], "components": document["components"]}
            validator = jsonschema_rs.validator_for(schema)
            wrong += [f"{name}: {one.message}" for one in validator.iter_errors(examples[name])]
            assert content["example"] == examples[name]
    assert wrong == []
    assert seen == set(examples)


def test_an_error_is_a_problem(server: Server) -> None:
    answer = httpx.get(f"{server.url}/api/v1/profiles/none")
    assert answer.headers["content-type"] == "application/problem+json"
    said = answer.json()
    assert (said["title"], said["status"], said["code"]) == ("Not Found", 404, "profile-not-found")
    assert said["detail"] == said["message"]


def _send(server: Server, *paths: Path) -> httpx.Response:
    files = [("file", (path.name, path.read_bytes())) for path in paths]
    headers = {"Idempotency-Key": KEY}
    return httpx.post(f"{server.url}/api/v1/profiles", files=files, headers=headers, timeout=60)


def test_an_upload_sent_again_with_its_key_is_stored_once(server: Server) -> None:
    solver = SAMPLES / "generic" / "cfd-cpu.csv"
    first, again = _send(server, solver), _send(server, solver)
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    other = _send(server, SAMPLES / "generic" / "attention-h100.json")
    assert other.status_code == 400
    assert "Other files were uploaded" in other.json()["detail"]
    place, token = (
        f"{server.url}/api/v1/profiles/{first.json()['id']}",
        first.json()["delete_token"],
    )
    httpx.delete(place, headers={"X-Delete-Token": token})
    assert "is in the trash" in _send(server, solver).json()["detail"]
