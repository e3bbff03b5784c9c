"""Every operation of the API under input that no schema allows: a problem with a remedy, never a
fault of the server."""

import json
import random
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from roofline.settings import Settings
from tests.conftest import SAMPLES
from tests.web.conftest import PROBLEM_KEYS, Client, address_of, running

SEED = 30
JUNK = (
    *("", " ", "0", "-1", "1e400", "NaN", "9" * 400, "x" * 5_000, "\x00", "漢字", "%00", "\u202e"),
    *("../../etc/passwd", "' OR 1=1 --", "{}", "[]", "null", "true", "1,2,3", "a=b", "5ms..1ms"),
    *("step:99999999999999999999", "category:", "1/0", "hbm=1TB/s", "hbm=-1"),
)
VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    1e308,
    10**400,
    [],
    {},
    [[]],
    {"a": {"b": []}},
    ["x"] * 50,
    *JUNK,
)
BODIES = (
    *((text, "application/json") for text in (b"", b"{", b"[]", b"null", b"5", b'"x"', b"{}")),
    *((text, "application/json") for text in (b"[" * 20_000, b'{"\\ud800": 1e999}', b"\xff\xfe")),
    (b"x" * 1000, "text/plain"),
    (b"--x\r\n\r\n", "multipart/form-data; boundary=x"),
    (b"--x--\r\n", "multipart/form-data"),
    (b"a=b", "application/x-www-form-urlencoded"),
)
Chosen = tuple[str, dict[str, Any]]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Client, str]]:
    """A server of its own, for orders are given there, with a profile."""
    with running(Settings.from_env(data_dir=tmp_path_factory.mktemp("orders"))) as client:
        address = address_of(client, SAMPLES / "xspace" / "v6e-training.xplane.pb")
        yield client, address.rpartition("/")[2]


def _request(path: str, operation: dict[str, Any], profile: str, dice: random.Random) -> Chosen:
    """An address with values that are allowed or not, its query, its headers and a body."""
    query, headers = [], {}
    for one in operation.get("parameters", ()):
        value = _value(one["schema"], dice)
        if one["in"] == "path":
            value = profile if profile and dice.random() < 0.6 else value or "x"
            path = path.replace(f"{{{one['name']}}}", quote(value, safe=""))
        elif dice.random() < 0.6 and one["in"] == "query":
            query.append((one["name"], value))
        elif value.isascii() and value.isprintable():
            headers[one["name"]] = value
    content, headers["content-type"] = _body(operation, dice)
    return path, {"params": query, "headers": headers, "content": content}


def _value(schema: dict[str, Any], dice: random.Random) -> str:
    kinds = (schema, *schema.get("anyOf", ()))
    allowed = [word for one in kinds for word in (*one.get("enum", ()), *one.get("examples", ()))]
    return str(dice.choice(allowed)) if allowed and dice.random() < 0.4 else dice.choice(JUNK)


def _body(operation: dict[str, Any], dice: random.Random) -> tuple[bytes, str]:
    """Mostly the fields of the body with values of any type."""
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    fields = content.get("schema", {}).get("properties", {})
    if not fields or dice.random() < 0.3:
        return dice.choice(BODIES)
    chosen = {field: dice.choice(VALUES) for field in fields if dice.random() < 0.7}
    return json.dumps(chosen).encode(), "application/json"


def _resolved(document: dict[str, Any], part: Any) -> Any:
    """`part` with its references to bodies replaced by what they name."""
    if isinstance(part, dict) and "$ref" in part:
        return document["components"]["schemas"][part["$ref"].rpartition("/")[2]]
    if isinstance(part, dict):
        return {key: _resolved(document, value) for key, value in part.items()}
    return part


@pytest.mark.parametrize("turns", [2, pytest.param(25, marks=pytest.mark.long)])
def test_bad_input_is_a_problem_at_every_route(served: tuple[Client, str], turns: int) -> None:
    client, profile = served
    dice, wrong = random.Random(SEED), []
    document = client.get("/openapi.json").json()
    operations = [
        (method, path, _resolved(document, operation))
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    for method, path, operation in operations * turns:
        target, options = _request(path, operation, profile if method == "get" else "", dice)
        answer = client.request(method.upper(), target, **options)
        kind = answer.headers.get("content-type")
        is_problem = kind == "application/problem+json" and answer.json().keys() >= PROBLEM_KEYS
        if answer.status_code >= 500 or (answer.status_code >= 400 and not is_problem):
            wrong.append((method, target, options, answer.status_code, answer.text[:300]))
    assert wrong == []
    assert len(operations) > 60
